#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers and tables in README.md are what its commands print, and its commands exist.

Usage: test-readme.py README.md BUILD

A block "$ joulecast ..." is run on a virtual device that was calibrated, and learnt from five days of use. It has
all lines of the answer, but for those where "..." stands. "tests/accuracy/run ..." below a table is run, too; the
table has its row. What differs is printed as it would be right.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

README, BUILD = map(os.path.abspath, sys.argv[1:])
SOURCE = os.path.dirname(README)
JOULECAST = BUILD + "/predict/joulecast"
DEVICE, SCENARIO = SOURCE + "/data/virtual/nexus-7.ini", SOURCE + "/data/virtual/scenarios/airport.ini"
failures = 0


def fail(what, right):
    global failures
    failures += 1
    print(f"failed: {what}\n{right}")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def prepare():
    """In this folder; what a day of use is afterwards in usage.db ends now, for --from -2h."""
    virtual = ["--device", "virtual:" + DEVICE]
    run(JOULECAST, "calibrate", *virtual, "--method", "percent", "--yes", "--profile", "profile.ini",
        "--observations", "observations.db")
    for seed, percent in enumerate((95, 75, 55, 85, 65), 1):
        run(JOULECAST, "simulate", *virtual, "--scenario", SCENARIO, "--database", "before.db", "--seed", str(seed),
            "--start-percent", str(percent), "--append")
    run(JOULECAST, "learn", *virtual, "--profile", "profile.ini", "--database", "before.db", "--observations",
        "observations.db")


def shows(block, printed):
    """Is a block that text, with "..." for any lines of it?"""
    pattern = "".join(r"(?:.*\n)+?" if line == "..." else re.escape(line) + "\n" for line in block.splitlines())
    return re.fullmatch(pattern, printed) is not None


def simulate():
    run(JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database", "usage.db",
        "--truth", "truth.json")


def check_truth():
    """It is inside each interval of the cost, as the text below says."""
    simulate()
    with open("truth.json", encoding="utf-8") as file:
        truth = json.load(file)
    cost = json.loads(run(JOULECAST, "cost", "--json", "--profile", "profile.ini", "--database", "usage.db"))
    pairs = [(cost["total"]["energy_j"], truth["total_j"]), (cost["measured"]["interval_j"], truth["total_j"])]
    pairs += [(app["energy_j"], truth["apps"][app["app"] + "/" + app["state"]]) for app in cost["apps"]]
    for interval, true in pairs:
        if not interval["low"] <= true <= interval["high"]:
            fail("a true value is not inside its interval", f"{true} J, {interval}")


def check_answers(blocks):
    prepare()
    check_truth()
    for command, block in blocks:
        simulate()
        printed = run(JOULECAST, *shlex.split(command), "--profile", "profile.ini", "--database", "usage.db")
        if not shows(block, printed):
            fail(f"joulecast {command} prints", printed)


def check_tables(text, commands):
    for command in commands:
        printed = run(*shlex.split(SOURCE + "/" + command), "--build", BUILD)
        for row in printed.splitlines()[:3]:
            if row + "\n" not in text:
                fail(f"no table has what {command} prints", row)


def check_commands(text):
    """Each that is named, with its options."""
    named = {found for found in re.findall(r"(?:`|^ +(?:sudo )?|\$ )joulecast ([a-z-]+)((?: [^`#|\n]+)?)", text, re.M)}
    for command, words in sorted(named):
        done = subprocess.run([JOULECAST, command, "--help"], capture_output=True, text=True, check=False)
        for option in re.findall(r" (--[a-z-]+)", words):
            if done.returncode != 0 or not re.search(option + r"\b", done.stdout):
                fail(f"joulecast {command}{words}", f"there is no {option}")
        if done.returncode != 0:
            fail(f"joulecast {command} --help", done.stderr)
    return len(named)


def main():
    with open(README, encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"^```\n\$ joulecast (.*)\n((?:.*\n)*?)```$", text, flags=re.M)
    tables = re.findall(r"^    (tests/accuracy/run .*)$", text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder + "/config",
                          XDG_CACHE_HOME=folder)
        os.chdir(folder)
        n = check_commands(text)
        check_answers(blocks)
        check_tables(text, tables)
    if len(blocks) < 2 or len(tables) < 2 or n < 10:
        fail("README.md", f"{len(blocks)} answers, {len(tables)} tables and {n} commands were found")
    return 1 if failures else 0


sys.exit(main())
