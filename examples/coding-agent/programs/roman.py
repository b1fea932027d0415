"""Roman numerals from 1 to 3999, both ways."""

NUMERALS = [
    (1000, "M"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"),
    (5, "V"), (4, "IV"), (1, "I"),
]
VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def to_roman(number):
    text = ""
    for value, numeral in NUMERALS:
        while number >= value:
            text += numeral
            number -= value
    return text


def from_roman(text):
    return sum(VALUES[letter] for letter in text)
