"""The little that is needed of them."""


def quantile(values, share):
    """The value below which that share of them lies: one of them, nothing in between."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def median(values):
    return quantile(values, 0.5)


def summary(values):
    if not values:
        return {"count": 0}
    return {"median": median(values), "p99": quantile(values, 0.99), "count": len(values)}
