def check_report():
    from wordwrap import wrap
    assert wrap("the quick brown fox", 9) == ["the quick", "brown fox"]


def check_width():
    from wordwrap import wrap
    text = "a bc def ghij klmno p qr stu vwxy z"
    assert all(len(line) <= width for width in range(5, 20) for line in wrap(text, width))


def check_nothing_is_lost():
    from wordwrap import wrap
    text = "a bc def ghij klmno"
    assert all(" ".join(wrap(text, width)) == text for width in range(5, 20))


def check_long_word_stands_alone():
    from wordwrap import wrap
    assert wrap("a extraordinarily b", 5) == ["a", "extraordinarily", "b"]


def check_empty():
    from wordwrap import wrap
    assert wrap("", 5) == [""]
