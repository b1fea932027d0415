"""Durations such as `90s`, `1h30m` or `2d` in seconds, and back."""

import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse(text):
    seconds = 0
    for amount, unit in re.findall(r"(\d+)([smhd])", text):
        seconds = int(amount) * UNITS[unit]
    return seconds


def show(seconds):
    parts = []
    for unit in ("d", "h", "m", "s"):
        amount, seconds = divmod(seconds, UNITS[unit])
        if amount:
            parts.append(f"{amount}{unit}")
    return "".join(parts)
