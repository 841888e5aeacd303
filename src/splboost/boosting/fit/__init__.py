"""A fit from the call to the fitted model.

data.py          rows, labels and weights as they come
validation.py    rows that judge, and early stopping
continuation.py  what a warm start needs to go on
fitting.py       the loop with what surrounds it
watch.py         callbacks and interrupts
reporting.py     progress on the screen
"""
