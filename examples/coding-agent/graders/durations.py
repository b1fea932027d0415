def check_report():
    from durations import parse
    assert parse("1h30m") == 5400


def check_back_and_forth():
    from durations import parse, show
    assert [n for n in (1, 59, 60, 3661, 90061) if parse(show(n)) != n] == []


def check_zero():
    from durations import show
    assert show(0) == "0s"


def check_nonsense_is_refused():
    from durations import parse
    for text in ("", "abc", "5", "1h x", "m5"):
        try:
            parse(text)
        except ValueError:
            continue
        raise AssertionError(text)
