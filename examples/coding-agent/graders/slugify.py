def check_report():
    from slugify import slugify
    assert slugify("Rock & Roll") == "rock-roll"


def check_spaces_at_the_ends():
    from slugify import slugify
    assert slugify("  Hello, World! ") == "hello-world"


def check_dashes_and_underscores_part_words():
    from slugify import slugify
    assert slugify("read-me_first") == "read-me-first"


def check_plain():
    from slugify import slugify
    assert slugify("Chapter 12") == "chapter-12"


def check_nothing_left():
    from slugify import slugify
    assert slugify("!!!") == ""
