"""Breaks a text into lines of at most `width` characters, at spaces."""


def wrap(text, width):
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}"
    lines.append(line)
    return lines
