def check_report():
    from bucket import Bucket
    bucket = Bucket(rate=1, capacity=1)
    assert bucket.take(1, 0.0)


def check_fractions_add_up():
    from bucket import Bucket
    bucket = Bucket(rate=1, capacity=1)
    bucket.take(1, 0.0)
    assert [bucket.take(1, step / 4) for step in range(1, 5)] == [False, False, False, True]


def check_never_above_capacity():
    from bucket import Bucket
    bucket = Bucket(rate=10, capacity=5)
    assert bucket.take(5, 0.0) and bucket.take(5, 100.0) and not bucket.take(1, 100.0)


def check_a_clock_that_goes_back_takes_nothing():
    from bucket import Bucket
    bucket = Bucket(rate=1, capacity=2, now=10.0)
    bucket.take(1, 10.0)
    bucket.take(0, 9.0)
    assert bucket.take(1, 10.0)
