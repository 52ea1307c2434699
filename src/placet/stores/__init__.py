"""Remember: runs, approvals, limits, effects and the audit log, in memory, SQLite or PostgreSQL."""
