from tests.stores.conftest import postgres, postgres_database, postgres_server

__all__ = ["postgres", "postgres_database", "postgres_server"]
