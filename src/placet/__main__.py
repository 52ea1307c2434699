"""`python -m placet` is `placet`."""

from placet.cli.app import main

if __name__ == "__main__":
    main()
