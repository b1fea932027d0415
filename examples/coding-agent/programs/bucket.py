"""A token bucket: `rate` tokens a second, never more than `capacity` of them."""


class Bucket:
    def __init__(self, rate, capacity, now=0.0):
        self.rate = rate
        self.capacity = capacity
        self.tokens = capacity
        self.last = now

    def take(self, count, now):
        """Whether `count` tokens could be taken at time `now`, in seconds."""
        self.tokens += int((now - self.last) * self.rate)
        self.last = now
        if self.tokens > count:
            self.tokens -= count
            return True
        return False
