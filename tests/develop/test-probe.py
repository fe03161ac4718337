#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast diff --probe on the two players of examples/diff: compress2 is called with level 9 by one, with 1 by
the other.

Usage: test-probe.py JOULECAST WASTEFUL CAREFUL. Skipped where the kernel does not let us.
"""
import json
import os
import subprocess
import sys
import tempfile

JOULECAST, WASTEFUL, CAREFUL = map(os.path.abspath, sys.argv[1:])


def run(*words):
    return subprocess.run([JOULECAST, *words], capture_output=True, text=True, timeout=100)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    for side, command in (("A", WASTEFUL), ("B", CAREFUL)):
        os.makedirs(f"{side}/runs")
        with open(f"{side}/run.json", "w") as file:
            json.dump({"command": [command, "1"], "unit": "ns of CPU time",
                       "runs": [{"file": "runs/1.folded", "samples": 500}]}, file)
        with open(f"{side}/runs/1.folded", "w") as file:
            file.write(f"app;main@{os.path.basename(command)};compress2@libz.so.1 500000000\n")
    ran = run("diff", "A", "B", "--probe", "compress2")
    if ran.returncode == 1 and any(words in ran.stderr for words in ("root", "uprobe events", "paranoid",
                                                                     "perf_event_open")):
        print(ran.stderr)
        sys.exit(77)
    wrong = [ran.returncode != 0, "5  9      100 %    0 %" not in ran.stdout,
             "5  1        0 %  100 %" not in ran.stdout]
    ran = run("diff", "A", "B", "--probe", "nothing")
    wrong += [ran.returncode != 1, ran.stderr.count("\n") != 1]
    ran = run("record", "--probe", "nothing@libc.so.6", "--", "true")
    wrong += [ran.returncode != 1, "nothing@libc.so.6" not in ran.stderr]
    for words in (("record", "--probe", "x", "-o", "R", "--", "true"), ("record", "--probe", "x"),
                  ("diff", "A", "B", "--probe", "x", "--json"),
                  ("record", "--probe", "x", "--", "true", ":::")):
        ran = run(*words)
        wrong += [ran.returncode != 2, ran.stderr.count("\n") != 1]
    if any(wrong):
        print(wrong, ran)
        sys.exit(1)
