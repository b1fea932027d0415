def check_report():
    from intervals import merge
    assert merge([(1, 10), (2, 3)]) == [(1, 10)]


def check_touching():
    from intervals import merge
    assert merge([(1, 3), (3, 5)]) == [(1, 5)]


def check_any_order():
    from intervals import merge
    assert merge([(8, 9), (1, 3), (2, 5)]) == [(1, 5), (8, 9)]


def check_input_is_kept():
    from intervals import merge
    given = [(4, 5), (1, 2)]
    merge(given)
    assert given == [(4, 5), (1, 2)]


def check_nothing():
    from intervals import merge
    assert merge([]) == []
