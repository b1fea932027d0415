def check_report():
    from lru_cache import LruCache
    cache = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def check_put_again_evicts_nothing():
    from lru_cache import LruCache
    cache = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("b", 3)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (1, 3, 2)


def check_put_again_is_a_use():
    from lru_cache import LruCache
    cache = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 4)
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b")) == (4, None)


def check_default():
    from lru_cache import LruCache
    cache = LruCache(1)
    cache.put("none", None)
    assert cache.get("none", 5) is None and cache.get("missing", 5) == 5
