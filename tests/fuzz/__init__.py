"""Random cases that must not crash, tear files or lose data.

A case is a function of a ``random.Random``: it does something with splboost, raises an
``AssertionError`` where a promise is broken, and returns whether splboost has refused
what it was given. ``tests/test_fuzz.py`` runs some, ``make fuzz`` as many as there is
time for; ``make torture`` (``fuzz.torture``) kills everything that writes a file.
"""
