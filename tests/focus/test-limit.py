#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the saving that joulecast limit reports, from an app's background energy before and since.

Usage: test-limit.py JOULECAST DEVICE-INI
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

JOULECAST, DEVICE = sys.argv[1:]
SCENARIO = """
[scenario]
brightness = 178
wifi = on
[segment 1]
app = game
state = foreground
start_s = 0
length_s = {seconds}
khz = 1026000
cores = 0.5 0.3 0 0
[segment 2]
app = sync
state = background
start_s = 0
length_s = {seconds}
khz = 702000
cores = 0 0 {cores} {cores}
"""


def run(*arguments, code=0):
    done = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, (arguments, done)
    return done.stderr if code else done.stdout


def simulate(folder, database, *sessions):
    for i, (hours, cores) in enumerate(sessions):
        with open(folder + "/scenario.ini", "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(seconds=int(3600 * hours), cores=cores))
        run("simulate", "--device", "virtual:" + DEVICE, "--scenario", file.name, "--database", database,
            "--start-percent", "95",
            *(["--append"] if i else []))


def profile_with_errors(folder):
    with open(DEVICE, encoding="utf-8") as file:
        text = file.read().split("\n[virtual]")[0].replace("method = virtual", "method = gauge")
    with open(folder + "/errors.ini", "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(\w+_m[wj](?!h)\S* = )([\d.]+)$",
                          lambda found: f"{found[0]} {0.03 * float(found[2]):g}", text,
                          flags=re.M) + "\n[fit]\ndegrees_of_freedom = 20\n")
    return file.name


def wish(app, since_s):
    path = os.environ["XDG_CONFIG_HOME"] + "/joulecast/limits.ini"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"[limit 1]\napp = {app}\ncpu_percent = 10\nfreeze_after_s = 300\nsince_s = {since_s}\n")
    return path


def main(folder):
    os.environ.update(XDG_CONFIG_HOME=folder + "/config", XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder + "/state",
                      TZ="UTC")
    database = folder + "/usage.db"
    simulate(folder, database, (2, 0.45), (2, 0.4), (3, 0.02))
    where = ["--device", "virtual:" + DEVICE, "--profile", profile_with_errors(folder), "--database", database]
    last = json.loads(run("apps", *where, "--json"))["to"]
    end = int(datetime.datetime.fromisoformat(last.replace("Z", "+00:00")).timestamp())
    wish("sync", end - 3 * 3600)
    one = json.loads(run("limit", *where, "--json"))["limits"][0]
    saved = one["saved"]
    assert 2.9 < saved["hours"] < 3.1, saved
    assert saved["since_percent_per_hour"] < 0.2 * saved["before_percent_per_hour"], saved
    wanted = (saved["before_percent_per_hour"] - saved["since_percent_per_hour"]) * saved["hours"]
    assert abs(saved["percent"]["value"] - wanted) < 1e-6, saved
    assert 0 < saved["percent"]["low"] < wanted < saved["percent"]["high"], saved
    assert one["state"] is None and one["cpu_percent"] == 10, one
    assert one["freeze_after_s"] == 300 and one["when"] == "background", one
    said = run("limit", *where)
    assert re.search(r"sync +10 % CPU, frozen after 5 min\w* +background +not done +"
                     r"\d{4}-\d\d-\d\d \d\d:\d\d +[\d.]+ % \([\d.]+ \.\. [\d.]+\)", said), said
    assert "joulecast-focus does not run" in said, said
    wish("sync", end - 300)  # too short
    assert "not enough yet" in run("limit", *where)
    wish("sync", end - int(6.5 * 3600))  # too little before
    assert "not enough yet" in run("limit", *where)
    wish("game", end - 3 * 3600)  # which was always in front
    saved = json.loads(run("limit", *where, "--json"))["limits"][0]["saved"]
    assert saved == {"percent": {"value": None, "low": None, "high": None}, "before_percent_per_hour": None,
                     "since_percent_per_hour": None, "hours": None}, saved
    said = run("limit", "sync", "--cpu", "5%", *where)  # by its name in the database, although it does not run
    assert "sync in the background: 5 % CPU" in said and "does not run in this session" in said, said
    assert "no longer limited" in run("limit", "gam", "--off", *where)
    assert "did you mean sync?" in run("limit", "snyc", "--off", *where, code=1)
    run("limit", "--off")
    assert "No app is limited." in run("limit")
    os.environ.pop("XDG_RUNTIME_DIR")
    assert "limits belong to a user's session" in run("limit", code=1)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
