#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lint of the tree: licences of every file, shell scripts, python scripts. Skips (77) where the tool is missing.

Usage: test-tree.py reuse|shell|python|links|layout SOURCE-DIR
"""
import os
import re
import shutil
import subprocess
import sys

FOLDERS = {"LICENSES", "calibrate", "community", "data", "debian", "develop", "docs", "examples", "include", "lib",
           "packaging", "po", "poller",
           "predict", "tests"}


def files(source):
    """The files of the tree: what git tracks, or all of an unpacked archive."""
    got = subprocess.run(["git", "-c", "safe.directory=*", "-C", source, "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if got.returncode == 0:
        return [path for path in got.stdout.split("\0") if path and os.path.isfile(os.path.join(source, path))]
    print("not a git work tree: nothing to look at")
    sys.exit(77)


def scripts(source, *interpreters):
    for path in files(source):
        with open(os.path.join(source, path), "rb") as file:
            first = file.readline(100)
        if first.startswith(b"#!") and first.split()[-1].rsplit(b"/", 1)[-1].decode("utf-8", "replace") in interpreters:
            yield path


def need(tool):
    if not shutil.which(tool):
        print(f"{tool} is not installed")
        sys.exit(77)


def reuse(source):
    need("reuse")
    # git refuses the tree of another user (sudo): say that this one is meant.
    environment = dict(os.environ, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    return subprocess.run(["reuse", "--root", source, "lint"], env=environment).returncode


def shell(source):
    need("shellcheck")
    return subprocess.run(["shellcheck", "-x", *scripts(source, "sh", "bash")], cwd=source).returncode


def python(source):
    bad = 0
    for path in [*scripts(source, "python3"), *(path for path in files(source) if path.endswith(".py"))]:
        with open(os.path.join(source, path), encoding="utf-8") as file:
            try:
                compile(file.read(), path, "exec")
            except (SyntaxError, ValueError) as error:
                print(f"{path}: {error}")
                bad = 1
    return bad


def links(source):
    """Relative links of Markdown files lead somewhere."""
    bad = 0
    for path in files(source):
        if not path.endswith(".md"):
            continue
        with open(os.path.join(source, path), encoding="utf-8") as file:
            text = file.read()
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target and not os.path.exists(os.path.join(source, os.path.dirname(path), target)):
                print(f"{path}: {target} is not there")
                bad = 1
    return bad


def layout(source):
    """No other folders at top level, and no large files."""
    bad = 0
    for path in files(source):
        if "/" in path and not path.startswith(".") and path.split("/")[0] not in FOLDERS:
            print(f"{path}: not one of the folders at top level: {', '.join(sorted(FOLDERS))}")
            bad = 1
        if os.path.getsize(os.path.join(source, path)) > 1_000_000:
            print(f"{path}: larger than 1 MB")
            bad = 1
    return bad


if len(sys.argv) != 3 or sys.argv[1] not in ("reuse", "shell", "python", "links", "layout"):
    sys.exit(__doc__)
sys.exit(globals()[sys.argv[1]](os.path.realpath(sys.argv[2])))
