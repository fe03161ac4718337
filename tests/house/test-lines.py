#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Long lines, and comments that are no sentences.

A line has at most 120 columns in C, headers, shell, Python and meson. A comment in C that begins with "of" or "what"
lacks its subject. There may be none of either.

Usage: test-lines.py SOURCE-DIR
"""
import os
import re
import subprocess
import sys

COLUMNS = 120
C = (".c", ".h")
CODE = C + (".py", ".sh", ".bash")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NO_SUBJECT = re.compile(r"/[/*][\s*]*(of|what)\b", re.I)
HASH_BANG = re.compile(r"#!\S*(?:/python3|/env python3|/(?:ba|da)?sh)\b")


def files(root):
    """The files under version control, or without git all that are not hidden or built."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    except OSError:
        listed = None
    if listed and listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    found = []
    for where, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "build")) and
                      not os.path.exists(os.path.join(where, name, "meson-private"))]
        found += [os.path.relpath(os.path.join(where, name), root) for name in names]
    return found


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def is_code(path, text):
    name = os.path.basename(path)
    return path.endswith(CODE) or name in ("meson.build", "meson_options.txt") or HASH_BANG.match(text)


def long_lines(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]


def without_subject(text):
    return [text.count("\n", 0, match.start()) + 1 for match in TOKEN.finditer(text) if NO_SUBJECT.match(match.group())]


def check_itself():
    """The counters count."""
    if long_lines("a" * 120) or long_lines("b\n" + "a" * 121) != [2]:
        sys.exit("long_lines() miscounts")
    if without_subject('"/* of */" /* offers */\n/*\n * What it is. */ x; /* of y */') != [2, 3]:
        sys.exit("without_subject() miscounts")


def main(root):
    check_itself()
    lines, comments = [], []
    for path in files(root):
        text = read(os.path.join(root, path))
        if not is_code(path, text):
            continue
        if path.endswith(C):
            comments += [f"{path}:{line}" for line in without_subject(text)]
        lines += [f"{path}:{line}" for line in long_lines(text)]
    for what, places in ((f"lines have more than {COLUMNS} columns", lines),
                         ('comments begin with "of" or "what"', comments)):
        print("\n".join([f"{len(places)} {what}", *places]))
    return 1 if lines or comments else 0


sys.exit(main(sys.argv[1]))
