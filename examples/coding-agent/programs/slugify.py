"""Turns titles into the last part of an address: `Hello, World!` -> `hello-world`."""

import re


def slugify(title):
    slug = title.lower()
    slug = re.sub(r"[^a-z0-9 ]", "", slug)
    return slug.replace(" ", "-")


if __name__ == "__main__":
    import sys

    print(slugify(" ".join(sys.argv[1:])))
