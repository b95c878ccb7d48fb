"""The version of polymat."""

__version__ = "0.1.0"
