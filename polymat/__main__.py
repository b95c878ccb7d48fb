"""`python -m polymat`."""

import sys

from polymat.cli import main

if __name__ == "__main__":
    sys.exit(main())
