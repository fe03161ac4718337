# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Usage: words.py list|dict FILE: counts the words of a text, and keeps those that it saw in a list or a dictionary."""
import collections
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split()


def unique(words, kind):
    seen = [] if kind == "list" else {}
    for word in words[:9000]:
        if word not in seen:
            if kind == "list":
                seen.append(word)
            else:
                seen[word] = True
    return len(seen)


def count(words):
    return collections.Counter(words).most_common(3)


def lengths(words):
    return sum(len(word) for word in words)


WORDS = load(sys.argv[2])
print(unique(WORDS, sys.argv[1]), count(WORDS), lengths(WORDS))
