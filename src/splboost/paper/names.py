"""Methods and levels of noise, as the table of results has them."""

RIVALS = "AdaBoost", "LogitBoost", "SavageBoost", "RBoost", "RobustBoost"
REGULARISERS = "hard", "linear", "lower convex", "upper convex"
SPL = tuple(f"SPL {regulariser}" for regulariser in REGULARISERS)
PAPER = (*RIVALS, *SPL)

FOREST = "SPLForest"
PLATEAU_SPL = tuple(f"{name} (plateau)" for name in SPL)
UNTIL_CONVERGENCE = "SPL hard until convergence"
ONE_STEP = "SPL hard"

NOISE = 0, 5, 10, 20, 30  # percent of wrong training labels
