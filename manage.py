#!/usr/bin/env python3
"""Django's management commands, and forq's by the same names."""

import sys

from forq.cli import manage

if __name__ == "__main__":
    sys.exit(manage(sys.argv))
