"""Joins intervals that overlap or touch: [(1, 3), (2, 5), (8, 9)] -> [(1, 5), (8, 9)]."""


def merge(intervals):
    merged = []
    for start, end in intervals:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged
