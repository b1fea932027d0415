def check_report():
    from csv_totals import totals
    assert totals('region,items,amount\n"north, east",2,10\n"north, east",1,2.5\n') == {"north, east": 12.5}


def check_plain():
    from csv_totals import totals
    assert totals("region,amount\nnorth,1\nsouth,2\nnorth,3\n") == {"north": 4, "south": 2}


def check_lines_of_windows():
    from csv_totals import totals
    assert totals("region,amount\r\nnorth,1\r\nnorth,3\r\n") == {"north": 4}


def check_line_break_inside_quotes():
    from csv_totals import totals
    assert totals('region,note,amount\nnorth,"two\nlines",5\n') == {"north": 5}


def check_quote_inside_quotes():
    from csv_totals import totals
    assert totals('region,amount\n"the ""old"" town",5\n') == {'the "old" town': 5}
