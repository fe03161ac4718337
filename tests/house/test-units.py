#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""systemd accepts our unit files, also those of --schedule with unusual file names.

Usage: test-units.py TEST-SCHEDULE UNIT...
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

if not shutil.which("systemd-analyze"):
    print("systemd-analyze is not there to read units")
    sys.exit(77)
failures = 0
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder], check=True)
    for unit in sys.argv[2:]:
        with open(unit, encoding="utf-8") as file:
            # it is not installed
            text = re.sub(r"^(Exec(?:Start|StopPost)=)\S+", r"\1/bin/true", file.read(), flags=re.M)
        with open(os.path.join(folder, os.path.basename(unit)), "w", encoding="utf-8") as file:
            file.write(text)
    units = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    if len(units) < 2:
        failures += 1
        print("no units were written")
    for broken in (False, True):  # the second time to see that it would be seen
        if broken:
            with open(units[-1], "a", encoding="utf-8") as file:
                file.write("Nonsense=1\n")
        done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, timeout=60,
                              check=False)
        said = [line for line in done.stderr.splitlines() if "Command 'man" not in line and folder in line
                or "joulecast" in line and "Command 'man" not in line]
        if not broken:
            for name, most in (("joulecastd.service", 2.0), ("joulecast-learn.service", 1.5),
                               ("joulecast-share.service", 3.0),
                               ("joulecast-community.service", 1.5), ("joulecast-calibrate-night.service", 5.0),
                               ("joulecast-calibrate.service", 5.0)):
                if os.path.join(folder, name) not in units:
                    continue
                rated = subprocess.run(["systemd-analyze", "security", "--offline=true", os.path.join(folder, name)],
                                       capture_output=True, text=True, timeout=60, check=False).stdout
                level = re.search(r"Overall exposure level for .*: ([0-9.]+)", rated)
                if level and float(level.group(1)) > most:  # before systemd 250 it could rate installed units only
                    failures += 1
                    print("%s: at most %.1f is wanted\n%s" % (name, most, rated))
        if bool(said) != broken:
            failures += 1
            print("\n".join(said) if said else "a wrong line was not seen")
sys.exit(failures > 0)
