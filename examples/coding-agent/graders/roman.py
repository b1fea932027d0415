def check_report():
    from roman import from_roman
    assert from_roman("IV") == 4


def check_both_ways():
    from roman import from_roman, to_roman
    assert [number for number in range(1, 4000) if from_roman(to_roman(number)) != number] == []


def check_nine_hundred():
    from roman import to_roman
    assert to_roman(900) == "CM" and to_roman(1994) == "MCMXCIV"


def check_plain():
    from roman import from_roman
    assert from_roman("MDCLXVI") == 1666
