"""The Forq server: settings, processes and the forq command."""

__version__ = "0.1.0"
