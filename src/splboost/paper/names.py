"""Methods, as the table of results has them."""

RIVALS = "AdaBoost", "LogitBoost", "SavageBoost", "RBoost", "RobustBoost"
REGULARISERS = "hard", "linear", "lower convex", "upper convex"
SPL = tuple(f"SPL {regulariser}" for regulariser in REGULARISERS)
PAPER = (*RIVALS, *SPL)

FOREST = "SPLForest"
PLATEAU_SPL = tuple(f"{name} (plateau)" for name in SPL)
ONE_STEP = "SPL hard"
UNTIL_CONVERGENCE = "SPL hard until convergence"
GRADIENT_KEPT = "LogitBoost (gradient kept)"
TWO_SIDED = "RobustBoost (two-sided)"
THREE_THETAS = "RobustBoost (three θ)"
WHOLE_TREES = "AdaBoost (whole trees)", "SPL hard (whole trees)"
WITH_CART = "AdaBoost (CART)", "SPL hard (CART)"
EXTRAS = (
    FOREST,
    *PLATEAU_SPL,
    UNTIL_CONVERGENCE,
    GRADIENT_KEPT,
    TWO_SIDED,
    THREE_THETAS,
    *WHOLE_TREES,
    *WITH_CART,
)
