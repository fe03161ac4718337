#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`cost --csv` and `joulecast metrics` say what JSON says, also of apps with hostile names; promtool, if it is there,
has nothing to say.

Usage: test-machine-readable.py JOULECAST DEVICE-INI SCENARIO-INI
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, DEVICE, SCENARIO = sys.argv[1:]
HOSTILE = 'comma, "quote" back\\slash\nnewline =SUM(A1) \u4f60\u597d'
SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>-?[0-9.e+]+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')


def run(*arguments, code=0):
    done = subprocess.run([JOULECAST, *arguments], capture_output=True, timeout=60)
    assert done.returncode == code, (arguments, done)
    return (done.stderr if code else done.stdout).decode()


def near(a, b):
    return abs(a - b) <= 1e-8 * max(abs(a), abs(b))


def samples(text):
    """{(name, labels): value}; every sample below the TYPE of its family."""
    found, family = {}, None
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            family, kind = line.split()[2:]
            assert (kind == "counter") == family.endswith("_total"), line
            continue
        match = SAMPLE.match(line)
        assert match and match["name"] == family, line
        labels = match["labels"] or ""
        assert LABEL.sub("", labels) == "", line
        plain = tuple((key, value.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"))
                      for key, value in LABEL.findall(labels))
        assert (family, plain) not in found, line
        found[family, plain] = float(match["value"])
    return found


def check_metrics(where, folder):
    cost, budget = (json.loads(run(command, *where, "--json")) for command in ("cost", "budget"))
    text = run("metrics", *where)
    found = samples(text)
    for app in cost["apps"]:
        labels = (("app", app["app"]), ("state", app["state"]))
        assert near(found["joulecast_app_energy_joules_total", labels], app["energy_j"]["value"]), app
        assert near(found["joulecast_app_active_seconds_total", labels], app["active_s"]), app
    assert near(found["joulecast_base_energy_joules_total", ()], cost["base"]["energy_j"])
    for component in ("cpu", "display", "wifi"):
        assert near(found["joulecast_component_energy_joules_total", (("component", component),)],
                    sum(app["components_j"][component] for app in cost["apps"])), component
    for bound, key in ("low", "low"), ("likely", "value"), ("high", "high"):
        minutes, sample = budget["minutes"][key], ("joulecast_battery_remaining_seconds", (("bound", bound),))
        assert (minutes is None) == (sample not in found) and (minutes is None or near(found[sample], 60 * minutes))
    assert found["joulecast_battery_charge_ratio", ()] == budget["battery_percent"] / 100
    file = folder + "/joulecast.prom"
    run("metrics", *where, "--output", file)
    with open(file, encoding="utf-8", newline="") as written:
        assert written.read() == text and os.stat(file).st_mode & 0o777 == 0o644
    assert "cannot write" in run("metrics", *where, "--output", folder + "/none/x.prom", code=1)
    if shutil.which("promtool"):
        told = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert told.returncode == 0 and not told.stdout + told.stderr, told


def check_csv(where):
    for by in [], ["--by", "day"]:
        answer = json.loads(run("cost", *where, *by, "--json"))
        costs = answer["days"] if by else [answer]
        rows = list(csv.DictReader(io.StringIO(run("cost", *where, *by, "--csv"), newline="")))
        apps = [row for row in rows if row["kind"] == "app"]
        wanted = [app for cost in costs for app in cost["apps"]]
        assert [row["app"] for row in apps] == [app["app"] for app in wanted]
        for row, app in zip(apps, wanted):
            assert row["state"] == app["state"] and row["name"] == app["name"]
            for key, value in (("energy_j", app["energy_j"]["value"]), ("energy_low_j", app["energy_j"]["low"]),
                               ("percent_high", app["percent"]["high"]), ("active_s", app["active_s"]),
                               *((part + "_j", joules) for part, joules in app["components_j"].items())):
                assert (row[key] == "") == (value is None) and (value is None
                                                                or near(float(row[key]), value)), (key, row, app)
        totals = [float(row["energy_j"]) for row in rows if row["kind"] == "total"]
        assert all(map(near, totals, (cost["total"]["energy_j"]["value"] for cost in costs)))
    assert "exclude each other" in run("cost", *where, "--csv", "--json", code=2)


with tempfile.TemporaryDirectory() as folder:
    database = folder + "/usage.db"
    run("simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database", database)
    usage_db.change(database, ("UPDATE app SET app = ? WHERE app = 'phone'", (HOSTILE,)))
    where = ["--device", "virtual:" + DEVICE, "--profile", DEVICE, "--database", database]
    check_metrics(where, folder)
    check_csv(where)
