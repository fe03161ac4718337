#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast usage` and `joulecast apps`: what they list is what was recorded, and the CSV prices like the database.

Usage: test-recorded.py JOULECAST SOURCE-DIR
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, SOURCE = sys.argv[1:]
DEVICES = ["nexus-7", "big-little", "hybrid-laptop"]
SCENARIO = """[scenario]
brightness = 60
[segment 1]
app = game, "the best"
state = foreground
start_s = 0
length_s = 300
khz = %d
cores = 0.8
read_mb_per_s = 0.1
write_mb_per_s = 0.02
rx_mb_per_s = 0.05
tx_mb_per_s = 0.01
wakes_per_s = 0.1
gpu = 0.4
[segment 2]
app = behind
state = background
start_s = 100
length_s = 400
khz = %d
cores = 0.2
"""


def run(*arguments, code=0):
    process = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, timeout=120)
    assert process.returncode == code, (arguments, process.returncode, process.stderr)
    return process.stdout if code == 0 else process.stderr


def frequencies(device):
    """The lowest and the highest of policy 0."""
    khz, section = [], ""
    with open(device, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                section = line.strip()
            if section == "[cpu 0]" and line.startswith("active_mw."):
                khz.append(int(line.split(".")[1].split()[0]))
    return min(khz), max(khz)


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.environ.update(HOME=self.folder.name, XDG_STATE_HOME=self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def simulate(self, name):
        device, database = f"{SOURCE}/data/virtual/{name}.ini", self.path(name + ".db")
        low, high = frequencies(device)
        with open(self.path("scenario.ini"), "w", encoding="utf-8") as file:
            file.write(SCENARIO % (high, low))
        run("simulate", "--device", "virtual:" + device, "--scenario", self.path("scenario.ini"), "--database",
            database)
        return device, database

    def test_round_trip_prices_the_same(self):
        for name in DEVICES:
            with self.subTest(device=name):
                device, database = self.simulate(name)
                with open(self.path("usage.csv"), "w", encoding="utf-8") as file:
                    file.write(run("usage", "--database", database, "--csv"))
                direct = json.loads(run("cost", "--database", database, "--profile", device, "--json"))
                table = json.loads(run("cost", "--usage", self.path("usage.csv"), "--profile", device, "--json"))
                for key in ("total", "base", "not_measured"):
                    self.assertEqual(direct[key], table[key])
                self.assertEqual([(app["app"], app["state"], app["energy_j"], app["components_j"])
                                  for app in direct["apps"]],
                                 [(app["app"], app["state"], app["energy_j"], app["components_j"])
                                  for app in table["apps"]])
                self.assertGreater(len(direct["apps"]), 1)

    def test_what_was_counted_in_part_is_unknown_everywhere(self):
        device, database = self.simulate("nexus-7")
        usage_db.change(database, "UPDATE usage SET have = have & ~17 WHERE id % 5 = 0")  # CPU and display
        with open(self.path("usage.csv"), "w", encoding="utf-8") as file:
            file.write(run("usage", "--database", database, "--csv"))
        direct = json.loads(run("cost", "--database", database, "--profile", device, "--json"))
        table = json.loads(run("cost", "--usage", self.path("usage.csv"), "--profile", device, "--json"))
        self.assertEqual(direct["total"], table["total"])
        self.assertEqual(set(direct["not_measured"]), set(table["not_measured"]))
        self.assertIn("cpu", direct["not_measured"])
        self.assertIn("--usage", run("cost", "--usage", self.path("usage.csv"), "--profile", device, "--from",
                                     "-1h", code=2))

    def test_csv_and_json_say_the_same(self):
        _, database = self.simulate("nexus-7")
        rows = {(row["name"], row["state"]): row
                for row in csv.DictReader(io.StringIO(run("usage", "--database", database, "--csv")))}
        answer = json.loads(run("usage", "--database", database, "--json"))
        self.assertEqual({(app["app"], app["state"]) for app in answer["apps"]} | {("base", "base")}, set(rows))
        game = rows[('game, "the best"', "foreground")]
        usage = next(app for app in answer["apps"] if app["state"] == "foreground")["usage"]
        self.assertEqual(float(game["time_ms"]), 300e3)
        self.assertEqual(float(game["display_ms"]) * 1e6, sum(level["on_ns"] for level in usage["screen"]))
        self.assertEqual(int(game["cpu_busy_ns"]), sum(point["busy_ns"] for point in usage["cpu"]))
        self.assertEqual(int(game["cpu_busy_ns"]),
                         sum(int(value) for key, value in game.items() if key.startswith("cpu.")))
        self.assertEqual(int(game["read_bytes"]), usage["read_bytes"])
        self.assertEqual(round(float(game["rx_kb"]) * 1e3), usage["wifi_rx_bytes"])
        self.assertEqual(int(game["gpu_busy_ns"]), usage["gpu_busy_ns"])
        self.assertEqual(game["other_rx_bytes"], "")  # this device counts no such interfaces
        self.assertIsNone(usage["other_rx_bytes"])
        self.assertEqual(int(rows[("base", "base")]["time_ns"]), 500 * 10**9)
        self.assertEqual(answer["base"]["time_ns"], 500 * 10**9)

    def test_parts_that_few_devices_have(self):
        """Modem, GPS, sound and camera have a column where they were used, also where bytes of a modem are."""
        with open(self.path("scenario.ini"), "w", encoding="utf-8") as file:
            file.write("[scenario]\n" + "".join(
                f"[segment {i}]\napp = {app}\nstate = background\nstart_s = 0\nlength_s = 60\n{keys}\n"
                for i, (app, keys) in enumerate((("map", "gps = on"), ("call", "audio = on\ncamera = on"),
                                                 ("idler", "cores = 0.1"), (
                    "mail", "packets_per_s = 10\npacket_bytes = 1000\nradio = cellular")), 1)))
        device, database = self.path("phone.ini"), self.path("held.db")
        with open(f"{SOURCE}/data/virtual/nexus-one.ini",
                  encoding="utf-8") as file, open(device, "w", encoding="utf-8") as out:
            out.write(file.read() + "\n[radio cellular]\ninitial = idle\n\n[radio cellular idle]\npower_mw = 9\n")
        run("simulate", "--device", "virtual:" + device, "--scenario", self.path("scenario.ini"), "--database",
            database)
        lines = run("usage", "--database", database).splitlines()
        head = next(line for line in lines if line.startswith("App"))
        ends = [found.end() for found in re.finditer(r"\S+( \S+)*", head)]  # right ends of the columns
        cells = {line.split()[0]: {head[begin:end].strip(): line[begin:end].strip()
                                   for begin, end in zip(ends[-5:], ends[-4:])}
                 for line in lines if "background" in line}
        self.assertRegex(cells["mail"].pop("Modem"), r"^0\.6 MB$")
        self.assertEqual(cells, {"map": {"Modem": "", "GPS": "1 min", "Sound": "", "Camera": ""},
                                 "call": {"Modem": "", "GPS": "", "Sound": "1 min", "Camera": "1 min"},
                                 "idler": {"Modem": "", "GPS": "", "Sound": "", "Camera": ""},
                                 "mail": {"GPS": "", "Sound": "", "Camera": ""}})
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(run("usage", "--database", database, "--csv")))}
        self.assertEqual([int(rows["map"][key]) for key in ("gps_on_ns", "audio_on_ns", "cellular_bytes")],
                         [60 * 10**9, 0, 0])
        self.assertEqual([int(rows["call"][key]) for key in ("gps_on_ns", "audio_on_ns", "camera_on_ns")],
                         [0] + [60 * 10**9] * 2)
        self.assertAlmostEqual(int(rows["mail"]["cellular_bytes"]), 60 * 10 * 1000, delta=20000)
        device, database = self.simulate("nexus-7")
        head = next(line for line in run("usage", "--database", database).splitlines() if line.startswith("App"))
        self.assertFalse({"Modem", "GPS", "Sound", "Camera"} & set(head.split()), head)

    def test_one_app(self):
        _, database = self.simulate("nexus-7")
        answer = json.loads(run("usage", "--database", database, "--app", "behind", "--json"))
        self.assertEqual([app["app"] for app in answer["apps"]], ["behind"])
        self.assertIsNone(answer["base"])
        self.assertIn("was not seen", run("usage", "--database", database, "--app", "nobody", code=3))
        self.assertIn("exclude", run("usage", "--database", database, "--csv", "--json", code=2))

    def test_apps(self):
        _, database = self.simulate("nexus-7")
        apps = {app["app"]: app for app in json.loads(run("apps", "--database", database, "--json"))["apps"]}
        self.assertEqual(set(apps), {'game, "the best"', "behind"})
        self.assertAlmostEqual(apps['game, "the best"']["foreground_s"], 300)
        self.assertAlmostEqual(apps["behind"]["background_s"], 400)
        self.assertLess(apps["behind"]["first"], apps["behind"]["last"])
        self.assertIn("behind", run("apps", "--database", database))


unittest.main(argv=sys.argv[:1], verbosity=0)
