"""Which labels are wrong: the page on which a person reviews the suspects."""
