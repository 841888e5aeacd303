"""Which labels are wrong, why, and what they should be."""

from splboost.audit.find import find_label_issues
from splboost.audit.label_audit import LabelAudit

__all__ = ["LabelAudit", "find_label_issues"]
