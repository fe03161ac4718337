#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The name of a function says where it is.

Each function that is not static begins with a word of its file's name or with its room's name: in
lib/app/app-unit.c app_..., unit_... or app_unit_...; also with what the file's header is called.

Usage: test-prefixes.py SOURCE-DIR
"""
import os
import re
import sys

# At the left margin, up to the opening brace of the body.
DEFINITION = re.compile(r"^(?!static|typedef|struct \w+ \{|#|else)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*?\)\s*\n\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
MARK = re.compile(r"\b(JOULECAST_EXPORT|_Noreturn|inline)\b\s*|__attribute__\(\(.*?\)\)\s*")
FAMILIES = {
    "": ["errno_from"],         # foreign error codes become ours at their border
    "develop/python/": ["PyInit"],  # Python looks for that
    "lib/api/": ["joulecast"],  # the public header's
    "lib/app/": ["apps"],
    "lib/held/": ["holders"],
    "lib/source/": ["sources"],
}


def words_of(path):
    """Prefixes that names in a file may have."""
    parts = path.split(os.sep)
    stem = os.path.splitext(parts[-1])[0].split("-")
    words = {"_".join(stem[i:j]) for i in range(len(stem)) for j in range(i + 1, len(stem) + 1)}
    words.update(part.replace("-", "_") for part in parts[1:-1])
    for place, family in FAMILIES.items():
        if path.startswith(place):
            words.update(family)
    return words


def fits(name, words):
    return any(name == word or name.startswith(word + "_") for word in words)


def functions(path):
    with open(path, encoding="utf-8") as file:
        text = MARK.sub("", COMMENT.sub("", file.read()))
    return DEFINITION.findall(text)


def main():
    root = sys.argv[1]
    seen, wrong = 0, []
    for top in ("lib", "calibrate", "community/device", "community/shared", "develop", "poller", "predict"):
        for where, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), root)
                if not name.endswith(".c") or "/bpf/" in path:
                    continue
                for function in functions(os.path.join(root, path)):
                    seen += 1
                    if function != "main" and not fits(function, words_of(path)):
                        wrong.append((os.path.dirname(path), os.path.basename(path), function))
    for room, file, function in sorted(wrong):
        print(f"{room}/{file}: {function}()", file=sys.stderr)
    print(f"{seen} functions, {len(wrong)} without a word of their file or room")
    return 1 if wrong or seen < 500 else 0


sys.exit(main())
