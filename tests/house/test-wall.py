#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""No code can read the truth of a virtual device, except its tests and `joulecast simulate --truth`.

A calibration that could read the truth would prove nothing. So the truth has a header of its own, which only the
device itself, `joulecast simulate --truth` and the tests of the physics may include. The internal headers of the device
are included by the device only.

Usage: test-wall.py SOURCE-DIR
"""
import os
import re
import sys

# header -> who may include it (paths, or folders ending in /)
MAY_INCLUDE = {
    "virtual-truth.h": ["lib/virtual/", "predict/simulate.c", "tests/virtual/", "tests/calibrate/price-kinds.c",
                        "tests/fuzz/fuzz-device.c", "tests/phone/"],
    "device.h": ["lib/virtual/"],
    "automaton.h": ["lib/virtual/", "tests/radio/test-automaton.c"],
    "noise.h": ["lib/virtual/"],
    "power.h": ["lib/virtual/"],
    "gauge.h": ["lib/virtual/"],
    "cell.h": ["lib/virtual/"],
    "wander.h": ["lib/virtual/"],
    "rng.h": ["lib/virtual/"],
    # who knows at all that there are virtual devices
    "virtual.h": ["lib/virtual/", "lib/api/first-day.c", "calibrate/hardware/virtual.c", "predict/doctor-virtual.c",
                  "tests/"],
    "scenario-packets.h": ["lib/virtual/"],
    "scenario.h": ["lib/virtual/", "predict/simulate.c", "tests/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
TRUTH = re.compile(r"\bvirtual_truth\w*")


def may(path, allowed):
    return any(path == place or place.endswith("/") and path.startswith(place) for place in allowed)


def own_header(path, header):
    """A file of that name in the folder of who includes it is another one: it has its own rules."""
    return os.path.dirname(path) != "lib/virtual" and "virtual/" not in header


def sources(root):
    for folder in ("include", "lib", "calibrate", "poller", "predict", "examples", "tests"):
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(where, name), root)


def check(root):
    seen = 0
    wrong = []
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        for header in INCLUDE.findall(text):
            name = os.path.basename(header)
            allowed = MAY_INCLUDE.get(name)
            if not allowed:
                continue
            if own_header(path, header) and os.path.exists(os.path.join(root, os.path.dirname(path), header)):
                continue
            seen += 1
            if not may(path, allowed):
                wrong.append(f"{path} includes {header}; only {', '.join(allowed)} may")
        if TRUTH.search(text) and not may(path, MAY_INCLUDE["virtual-truth.h"] + ["tests/house/test-wall.py"]):
            wrong.append(f"{path} names the truth: {TRUTH.search(text).group()}")
    return seen, wrong


def main():
    seen, wrong = check(sys.argv[1])
    for line in wrong:
        print(line, file=sys.stderr)
    if seen < 20:
        print(f"only {seen} includes found: this test looks in the wrong place", file=sys.stderr)
        return 1
    print(f"{seen} includes, {len(wrong)} through the wall")
    return 1 if wrong else 0


sys.exit(main())
