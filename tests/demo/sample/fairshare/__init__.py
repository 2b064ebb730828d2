"""Split a bill between people, to the cent."""

from fairshare.bill import Bill, Item
from fairshare.split import split_evenly, split_by_weight

__all__ = ["Bill", "Item", "split_by_weight", "split_evenly"]
