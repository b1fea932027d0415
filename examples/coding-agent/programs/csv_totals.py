"""Sums the last column of a CSV text by its first: {"north": 12.5, ...}. The first line holds the names."""


def totals(text):
    sums = {}
    for line in text.strip().split("\n")[1:]:
        fields = line.split(",")
        key, amount = fields[0], float(fields[-1])
        sums[key] = sums.get(key, 0) + amount
    return sums
