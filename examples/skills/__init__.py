"""The shop's tools as skills: each a folder that proves itself."""
