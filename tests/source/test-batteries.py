#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command tells the same of batteries and chargers, on machine trees and on one whose level falls.

Usage: test-batteries.py JOULECAST GATHER-MACHINE TREES
"""
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

JOULECAST, GATHER, TREES = (os.path.abspath(argument) for argument in sys.argv[1:4])

# Percent (None: unknown), plugged, words of `joulecast status`, units that count, and those that doctor leaves out.
CASES = {
    "charger-chip": (41, False, "on battery, drawing", ["bq27541-0"], ["bq24192-battery"]),
    "two-drivers": (62, False, "on battery, drawing 2.36 W", ["axp288_fuel_gauge"], ["BATC"]),
    "two-alike": (100, True, "plugged in, full", ["BAT0", "BAT1"], []),
    "dead-one": (71, False, "on battery, drawing 6.81 W", ["BAT0"], ["BAT1"]),
    "dead-by-voltage": (99, True, "plugged in", ["BAT1"], ["BAT0"]),
    "two-by-letter": (60, False, "on battery, drawing 9.1 W", ["BATA", "BATB"], []),
    "weak-charger": (37, True, "plugged in", ["battery"], []),
    "stale-mains": (77, False, "on battery, drawing 8.3 W", ["BAT0"], []),
    "held-by-port": (79, True, "held at 79 % by the charge limit", ["BAT0"], []),
    "stale-port": (54, False, "on battery, drawing 5.93 W", ["BAT0"], []),
    "unknown-on-charger": (58, True, "plugged in", ["BAT0"], []),
    "unknown-off-charger": (58, False, "on battery, drawing 8.15 W", ["BAT0"], []),
    "full-at-rest": (100, True, "plugged in, full", ["CMB0"], []),
    "limit-at-rest": (79, True, "held at 79 % by the charge limit", ["CMB0"], []),
    "levels-in-another-scale": (72, False, "on battery, drawing 1.6 W", ["battery"], []),
    "full-zero": (64, False, "on battery, drawing 9.54 W", ["BAT1"], []),
    "full-tenfold": (50, False, "on battery, drawing 7.4 W", ["BAT0"], []),
    "zero-of-zero": (None, None, "unknown", ["BAT0"], []),
    "one-charges-the-other": (59, False, "on battery, drawing 7.2 W", ["BAT1", "BAT2"], []),
    "two-voltages": (40, False, "on battery, drawing 6.09 W", ["BAT0", "BAT1"], []),
    "headset-without-scope": (None, None, None, [], ["corsair-void-0-battery", "earbuds", "ups0"]),
    "port-without-word": (56, True, "plugged in", ["battery"], ["smbb-bif"]),
    "feeds-a-stick": (47, False, "on battery, drawing 1.56 W", ["battery"], []),
    "estimates-apart": (55, False, "on battery, drawing 1.97 W", ["bq27541-0"], ["BATC"]),
    "forced-without-word": (50, False, "on battery, drawing 9 W", ["BAT0"], []),
    "type-unknown": (33, False, "on battery", ["bat"], []),
}


def run(folder, *arguments):
    command = [JOULECAST, *arguments, "--machine", folder, "--database", folder + ".db"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def answer(folder, *arguments):
    ran = run(folder, *arguments, "--json")
    assert ran.returncode == 0, (arguments, ran.stderr)
    return json.loads(ran.stdout)


def poll(folder, count, interval):
    ran = run(folder, "poll", "--count", str(count), "--interval", str(interval), "--collector", "proc")
    assert ran.returncode == 0, ran.stderr


def check_tree(name, folder):
    percent, plugged, words, units, left_out = CASES[name]
    doctor = answer(folder, "doctor")
    assert [unit["name"] for unit in doctor["batteries"]] == units, doctor["batteries"]
    assert [unit["name"] for unit in doctor["left_out"]] == left_out, doctor["left_out"]
    assert all(unit["why"] for unit in doctor["left_out"])
    told = run(folder, "doctor").stdout
    for unit in left_out:
        assert f"{unit} is left out: " in told, told
    poll(folder, 2, 0.1)
    if words is None:
        return
    status = answer(folder, "status")
    assert (status["battery_percent"], status["plugged"]) == (percent, plugged), status
    assert words in run(folder, "status").stdout.splitlines()[0], run(folder, "status").stdout
    if percent is None:
        return
    budget = answer(folder, "budget")
    assert budget["battery_percent"] == percent, budget["battery_percent"]
    assert len(units) > 1 or doctor["batteries"][0]["percent"] == percent, doctor["batteries"]


def put(folder, unit, **keys):
    path = os.path.join(folder, "sys/class/power_supply", unit)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "new"), "w", encoding="utf-8") as file:
        file.write("".join(f"POWER_SUPPLY_{key}={value}\n" for key, value in keys.items()))
    os.rename(os.path.join(path, "new"), os.path.join(path, "uevent"))


def wait_for_intervals(poller, path, n):
    """Until so many are stored, however busy the machine is, or the poller has ended."""
    stored = 0
    while stored < n and poller.poll() is None:
        time.sleep(0.05)
        try:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                stored = database.execute("SELECT count(*) FROM interval").fetchone()[0]
        except sqlite3.OperationalError:  # it is not there yet
            pass


def check_fall(folder, status, online, plugged):
    """The level falls by four steps, one after each second poll."""
    os.makedirs(os.path.join(folder, "proc"))
    put(folder, "BAT0", TYPE="Battery", STATUS=status, VOLTAGE_NOW=7700000, CHARGE_FULL=5000000, CHARGE_NOW=2500000)
    if online is not None:
        put(folder, "USBC", TYPE="USB_C", ONLINE=online)
    with subprocess.Popen([JOULECAST, "poll", "--count", "16", "--interval", "0.25", "--collector", "proc",
                           "--machine", folder,
                           "--database", folder + ".db"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as poller:
        for i in range(1, 5):
            wait_for_intervals(poller, folder + ".db", 2 * i)
            put(folder, "BAT0", TYPE="Battery", STATUS=status, VOLTAGE_NOW=7700000, CHARGE_FULL=5000000,
                CHARGE_NOW=2500000 - i * 50000)
        poller.communicate()
    budget, cost = answer(folder, "budget"), answer(folder, "cost")
    assert answer(folder, "status")["plugged"] is plugged, (status, online)
    assert budget["charger_too_weak"] is plugged, budget
    assert (cost["measured"]["energy_j"] is None) is plugged, cost["measured"]
    assert ("charger" in run(folder, "warn").stdout) is plugged


def check_leap(folder):
    """A fall that no load explains is told as such at once, and is not yet counted."""
    os.makedirs(os.path.join(folder, "proc"))
    keys = {"TYPE": "Battery", "STATUS": "Discharging", "VOLTAGE_NOW": 7700000, "CHARGE_FULL": 5000000}
    put(folder, "BAT0", CHARGE_NOW=4000000, **keys)
    poll(folder, 3, 0.2)
    assert answer(folder, "status")["counted_percent"] is None
    put(folder, "BAT0", CHARGE_NOW=1000000, **keys)
    poll(folder, 3, 0.2)
    status = answer(folder, "status")
    # Who begins to record counts anew.
    assert (status["battery_percent"], status["counted_percent"]) == (20, None), status
    put(folder, "BAT0", CHARGE_NOW=3000000, **keys)
    status = answer(folder, "status")
    assert (status["battery_percent"], status["counted_percent"]) == (60, 20), status
    assert "it was 20 % just now" in run(folder, "status").stdout.splitlines()[0]


with tempfile.TemporaryDirectory() as scratch:
    for name in CASES:
        folder = os.path.join(scratch, name)
        subprocess.run([GATHER, "--unpack", os.path.join(TREES, name + ".tree"), folder], check=True)
        try:
            check_tree(name, folder)
        except AssertionError:
            print("in", name, file=sys.stderr)
            raise
    check_fall(os.path.join(scratch, "weak-discharging"), "Discharging", 1, True)
    check_fall(os.path.join(scratch, "weak-unknown"), "Unknown", 1, True)
    check_fall(os.path.join(scratch, "unknown-offline"), "Unknown", 0, False)
    check_fall(os.path.join(scratch, "full-offline"), "Full", 0, False)
    check_fall(os.path.join(scratch, "charging-offline"), "Charging", 0, False)
    check_fall(os.path.join(scratch, "unknown-alone"), "Unknown", None, False)
    check_leap(os.path.join(scratch, "leap"))
