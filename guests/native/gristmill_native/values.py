"""Tables, arrays and figures as results."""

import sys


def install():
    """Done once, before children are forked."""


def reseed():
    """numpy draws its seed when it is imported, which was before the fork."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
