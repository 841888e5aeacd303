"""Which labels are wrong, why, and what they should be."""

from splboost.audit.label_audit import LabelAudit, find_label_issues

__all__ = ["LabelAudit", "find_label_issues"]
