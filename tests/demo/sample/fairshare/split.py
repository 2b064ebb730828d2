"""Splitting an amount of cents into parts that add up to it."""


def split_evenly(cents, parts):
    """`parts` amounts that differ by at most one cent; the first ones take the remainder."""
    if parts < 1:
        raise ValueError("parts must be at least 1")
    share = cents // parts
    return [share] * parts


def split_by_weight(cents, weights):
    """One amount for each weight, by largest remainder."""
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights must be positive")
    exact = [cents * weight / total for weight in weights]
    shares = [int(value) for value in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: shares[index] - exact[index])
    for index in by_remainder[: cents - sum(shares)]:
        shares[index] += 1
    return shares
