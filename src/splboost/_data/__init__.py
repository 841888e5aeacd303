"""What the data of users become: a table of columns, classes and weights."""
