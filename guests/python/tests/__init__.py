"""Tests on ordinary CPython 3.11 or newer: python3 -m unittest discover -s tests -t . (from guests/python)."""
