#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Spans that people mean, apps as people call them, and `joulecast status`, on two sessions with a full charge between.

Usage: test-spans.py JOULECAST DEVICE-INI SCENARIO-INI
"""
import json
import os
import subprocess
import sys
import tempfile
import time

JOULECAST, DEVICE, SCENARIO = sys.argv[1:]

# A time zone whose last midnight was an hour ago, within the first session: days are cut at whatever hour this
# test runs.
MIDNIGHT = int(time.time()) - 3600
WEST = MIDNIGHT % 86400
ZONE = "TST%02d:%02d:%02d" % (WEST // 3600, WEST // 60 % 60, WEST % 60)
POLL_S = 30


def run(*arguments, code=0):
    done = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "TZ": ZONE})
    assert done.returncode == code, (arguments, done)
    return done.stderr if code else done.stdout


def answer(*arguments):
    return json.loads(run(*arguments, "--json"))


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def since(where):
    whole, full = answer("cost", *where), answer("cost", "--since", "full", *where)
    assert full == answer("cost", "--since", "unplug", *where) == answer("cost", "--from", "full", *where)
    assert full["recorded_s"] == 7200 and whole["recorded_s"] == 14400 and full["to"] == whole["to"], (full, whole)
    for command in ["usage"], ["apps"], ["usage", "--app", "phone"]:
        assert answer(*command, "--since", "full", *where)["from"] >= full["from"]
    lines = run("trace", "--since", "full", "--json", *where).splitlines()
    totals = json.loads(lines[-1])["totals"]
    assert near(totals["elapsed_s"], 7200) and near(totals["total_j"]["value"], full["total"]["energy_j"]["value"])
    assert "known for this machine only; give a time" in run("cost", "--since", "boot", *where, code=3)
    assert "no suspend is recorded" in run("usage", "--since", "resume", *where, code=3)
    assert "full, unplug, boot, resume" in run("cost", "--since", "fulll", *where, code=2)
    assert "--from is not before --to" in run("apps", "--from", "2h", "--to", "3h", *where, code=2)


def days(where):
    whole, answers = answer("cost", *where), answer("cost", "--by", "day", *where)
    days = answers["days"]
    assert answers["schema"] == 1 and days[0]["from"] == whole["from"] and days[-1]["to"] == whole["to"]
    assert near(sum(day["total"]["energy_j"]["value"] for day in days), whole["total"]["energy_j"]["value"])
    assert near(sum(day["recorded_s"] for day in days), whole["recorded_s"])
    # A poll is not cut: the one in which midnight falls belongs to the day that begins.
    first = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(MIDNIGHT - POLL_S))
    last = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(MIDNIGHT))
    assert len(days) == 2 and first <= days[1]["from"] <= last and days[0]["to"] == days[1]["from"], days
    text = run("cost", "--by", "day", *where)
    assert text.splitlines()[0].split()[0] == "Day" and text.count("angry-birds") == len(days), text
    assert "--usage" in run("cost", "--by", "day", "--usage", "x.csv", *where, code=2)


def names(where):
    exact = answer("usage", "--app", "angry-birds", *where)
    assert answer("usage", "--app", "ANGRY", *where) == exact
    assert answer("predict", "--app", "birds", "--minutes", "3", *where)["app"] == "angry-birds"
    assert answer("budget", "--app", "angry", "--reserve", "ph=1m", *where)["app"] == "angry-birds"
    for command in (["predict", "--minutes", "1"], ["usage"]):
        said = run(*command, "--app", "s", *where, code=3)
        assert "several apps are called s: " in said and "angry-birds" in said and "system" in said, said
    assert "did you mean phone?" in run("predict", "--app", "phoen", "--minutes", "1", *where, code=3)
    assert "did you mean" not in run("predict", "--app", "chess", "--minutes", "1", *where, code=3)
    assert "did you mean phone?" in run("cost", "phoen", *where, code=3)
    kinds = "brightness, limit, cellular_off, wifi_off, close, power_profile"
    for asked, offer in (("brightnes", "no kind of change: did you mean brightness? There are " + kinds),
                         ("chess", "no kind of change: there are " + kinds), ("phoen", "did you mean phone?"),
                         ("limit:phoen", "did you mean phone?"), ("limit:chess", "chess was never seen")):
        said = run("advise", "--for", "3h", "--without", asked, *where, code=3)
        assert offer in said and said.count("\n") == 1, said
    assert "kind" not in run("advise", "--for", "3h", "--app", "brightnes", *where, code=3)
    assert set(run("apps", "--ids", *where).split()) == {"angry-birds", "phone", "system"}


def status(where):
    text, json_ = run(*where), answer("status", *where)
    lines = [line.split()[0] for line in text.splitlines()]
    assert lines == ["Battery", "Remaining", "Dearest", "Advice", "Missing"] and text == run("status", *where), text
    full, budget = answer("cost", "--since", "full", *where), answer("budget", *where)
    assert json_["since"] == "full" and json_["minutes"] == budget["minutes"] and json_["level"] == budget["level"]
    assert json_["battery_percent"] == budget["battery_percent"] and json_["plugged"] is False
    assert [app["app"] for app in json_["dearest"]] == ["angry-birds", "phone", "system"], json_["dearest"]
    for dear in json_["dearest"]:
        percent = sum(app["percent"]["value"] for app in full["apps"] if app["app"] == dear["app"])
        assert near(dear["percent"], percent), (dear, percent)
    assert json_["power_w"] > 0 and json_["percent_per_hour"] > 0
    said = run("status", "--profile", DEVICE, "--database", "/nonexistent/usage.db", code=3)
    assert "nothing was recorded yet" in said, said


with tempfile.TemporaryDirectory() as folder:
    database = folder + "/usage.db"
    for percent, more in ("80", []), ("100", ["--append"]):
        run("simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database", database,
            "--start-percent", percent, *more)
    where = ["--device", "virtual:" + DEVICE, "--profile", DEVICE, "--database", database]
    since(where)
    days(where)
    names(where)
    status(where)
