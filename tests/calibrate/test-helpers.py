#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The helpers of a calibration, started by hand: wrong usage is 2 and one sentence, and so on.

Usage: test-helpers.py PROGRAM...
"""
import os
import subprocess
import sys

failures = 0


def check(good, *words):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", *words, flush=True)


def run(*arguments, stdout=subprocess.PIPE):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                          timeout=20,
                          check=False)


for path in sys.argv[1:]:
    name = os.path.basename(path)
    wrong = [["--bogus"], ["-x"], ["-xV"], ["--\x1b[31mred"], ["word"]]
    if name == "joulecast-picture":
        wrong += [["--on"], ["--on", "bogus"], ["--on", ""]]
    for arguments in wrong:
        done = run(path, *arguments)
        check(done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, name, arguments, done)
        check(done.stderr.startswith(name + ": ") and done.stderr.endswith("; see %s --help\n" % name),
              done.stderr.strip())
        check("\x1b" not in done.stderr and "/" not in done.stderr, "neither a path nor what is not printable")
    for option in "--help", "--version":
        done = run(path, option)
        check(done.returncode == 0 and name in done.stdout and not done.stderr, name, option)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(path, option, stdout=full)
        check((done.returncode, done.stderr) == (1, name + ": the answer could not be written\n"), name, option, done)
sys.exit(1 if failures else 0)
