#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages against the programs: every option and command that --help names is in the page; help fits 80 columns.

Usage: test-man.py SOURCE-DIR PAGE PROGRAM [COMMAND...]
"""
import re
import subprocess
import sys

source, page, program, *commands = sys.argv[1:]
with open(f"{source}/docs/man/{page}.scd", encoding="utf-8") as file:
    text = file.read().replace("\\", "")
failures = 0


def options(*arguments):
    ran = subprocess.run([program, *arguments, "--help"], capture_output=True, text=True)
    if ran.returncode or not ran.stdout:
        print(f"failed: {arguments} --help: {ran}")
        sys.exit(1)
    longest = max(len(line) for line in ran.stdout.splitlines())
    if longest > 80:
        print(f"failed: {arguments} --help has a line of {longest} characters")
        sys.exit(1)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", ran.stdout)), ran.stdout


wanted, overview = options()
for command in commands:
    if f"\n  {command} " not in overview:
        continue  # not in this build
    wanted |= options(command)[0]
    if f"*{command}*" not in text:
        failures += 1
        print(f"failed: {page} does not tell about the command {command}")
for option in sorted(wanted - {"--help", "--version"}):
    if not re.search(re.escape(option) + r"(?![a-z-])", text):
        failures += 1
        print(f"failed: {page} does not tell about {option}")
sys.exit(1 if failures else 0)
