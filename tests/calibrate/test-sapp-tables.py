#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-fit makes the included profile from the tables of the SApp paper, and it reproduces each printed cost."""

import csv
import json
import os
import subprocess
import sys
import tempfile

CELLS = (("display", "display_percent"), ("cpu", "cpu_percent"), ("disk", "io_percent"), ("wifi", "wifi_percent"))
ENERGY_MWH = 15000
J_PER_PERCENT = 0.036 * ENERGY_MWH
HALF_UNIT = 0.0005  # the rows with a partner are printed to three digits


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def coefficients(path):
    """key -> value of a profile, and its order."""
    section, found = "", {}
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif "_m" in line and "=" in line and not line.startswith(";"):
            key, value = line.split("=", 1)
            found[section + key.strip()] = float(value.split()[0])
    return found


def same_as_shipped(fit, usage, costs, shipped):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "again.ini")
        answer = json.loads(run(fit, "--usage", usage, "--costs", costs, "--energy-full-mwh", str(ENERGY_MWH),
                                "--profile", path, "--json"))
        again = coefficients(path)
    assert answer["warnings"] == [], answer["warnings"]
    want = coefficients(shipped)
    assert again.keys() == want.keys(), (sorted(again), sorted(want))
    for key, value in want.items():
        assert abs(again[key] - value) <= 1e-4 * value + 0.02, (key, again[key], value)
    rising = [value for key, value in want.items() if "active_mw" in key]
    assert len(rising) == 12 and rising == sorted(rising), rising


def with_carriage_returns(source, folder, last):
    """A copy, up to the column @last."""
    path = os.path.join(folder, os.path.basename(source))
    with open(source, encoding="utf-8", newline="") as file, open(path, "w", encoding="utf-8", newline="") as copy:
        rows = list(csv.reader(file))
        csv.writer(copy, lineterminator="\r\n").writerows(row[:rows[0].index(last) + 1] for row in rows)
    return path


def full_disk_is_told(fit, usage, costs):
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
        ran = subprocess.run([fit, "--usage", usage, "--costs", costs, "--energy-full-mwh", str(ENERGY_MWH),
                              "--profile",
                              os.path.join(folder, "again.ini"), "--json"], stdout=full, stderr=subprocess.PIPE)
    assert ran.returncode == 1, ran


def cells_come_back(joulecast, usage, costs, shipped):
    answer = json.loads(run(joulecast, "cost", "--usage", usage, "--profile", shipped, "--json"))
    ours = {(app["name"], app["state"]): app for app in answer["apps"]}
    cells = 0
    for row in csv.DictReader(open(costs, encoding="utf-8")):
        name = "Power Profiler" if row["name"] == "SApp" else row["name"]
        app = ours.get((name, row["state"]))
        if not app:
            continue
        for component, column in CELLS:
            percent = app["components_j"][component] / J_PER_PERCENT
            print("%-20s %-10s %-8s %.4f %s" % (row["name"], row["state"], component, percent, row[column]))
            assert abs(percent - float(row[column])) <= HALF_UNIT, (row["name"], component, percent, row[column])
            cells += 1
        assert abs(app["percent"]["value"] - float(row["total_percent"])) <= HALF_UNIT, row["name"]
    assert cells == 24, cells


def main():
    fit, joulecast, usage, costs, shipped = sys.argv[1:]
    same_as_shipped(fit, usage, costs, shipped)
    with tempfile.TemporaryDirectory() as folder:  # as spreadsheets write them
        same_as_shipped(fit, with_carriage_returns(usage, folder, "rx_kb"),
                        with_carriage_returns(costs, folder, "total_percent"), shipped)
    full_disk_is_told(fit, usage, costs)
    cells_come_back(joulecast, usage, costs, shipped)


if __name__ == "__main__":
    main()
