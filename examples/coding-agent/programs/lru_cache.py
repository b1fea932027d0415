"""A cache that forgets what was not used for the longest time once it holds `size` entries."""


class LruCache:
    def __init__(self, size):
        self.size = size
        self.entries = {}

    def get(self, key, default=None):
        return self.entries.get(key, default)

    def put(self, key, value):
        if len(self.entries) >= self.size:
            oldest = next(iter(self.entries))
            del self.entries[oldest]
        self.entries[key] = value

    def __len__(self):
        return len(self.entries)
