#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/worlds/run: a row for each world and stage, scored by the sessions kept aside; one broken device ends nothing.

Usage: test-worlds-run.py BUILD-DIR SOURCE-DIR
"""
import importlib.machinery
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import types
import unittest

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RUN = os.path.join(SOURCE, "tests/worlds/run")
WORLDS = ["our-form", "oled"]
COLUMNS = 10


def run(*words):
    return subprocess.run([RUN, "--build", BUILD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("worlds_run", RUN)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("worlds_run", loader))
    loader.exec_module(module)
    return module


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Device 9601 of the world oled cannot be made: its folder is there already."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.kept, file = (os.path.join(cls.folder.name, name) for name in ("kept", "answers.json"))
        os.makedirs(os.path.join(cls.kept, "oled-9601"))
        cls.done = run("--world", ",".join(WORLDS), "--devices", "2", "--first-seed", "9600", "--sessions", "4",
                       "--keep", cls.kept, "--json", file)
        with open(file, encoding="utf-8") as text:
            cls.worlds = json.load(text)["worlds"]
        cls.stages = ["before"] if "no learn yet" in cls.done.stderr else ["before", "after 1 day", "after"]

    def test_table(self):
        lines = [line for line in self.done.stdout.splitlines() if line.startswith("|")]
        self.assertEqual({len(cells(line)) for line in lines}, {COLUMNS})
        rows = [cells(line) for line in lines[2:]]
        self.assertEqual([row[:2] for row in rows], [[world, stage] for world in WORLDS for stage in self.stages])
        self.assertEqual([row[2] for row in rows], ["2"] * len(self.stages) + ["1"] * len(self.stages))

    def test_broken_device(self):
        self.assertEqual(self.done.returncode, 1)
        failed = [line for line in self.done.stdout.splitlines() if "failed" in line]
        self.assertEqual(len(failed), 1)
        self.assertIn("oled, device 9601: failed: ", failed[0])
        self.assertIn("oled-9601", failed[0])

    def test_scores(self):
        """The table's numbers from the files that were kept."""
        for world in self.worlds:
            totals = []
            for device in world["devices"]:
                folder = os.path.join(self.kept, "%s-%d" % (world["world"], device["seed"]))
                for stage, answers in device["answers"].items():
                    self.check_answers(folder, answers)
                    totals += [a for a in answers if a["kind"] == "total"] if stage == "before" else []
            before = world["stages"][0]
            self.assertEqual(before["stage"], "before")
            errors = [abs(100 * (a["value"] / a["truth"] - 1)) for a in totals]
            self.assertAlmostEqual(before["total"]["median"], statistics.median(errors), delta=1e-9)
            inside = [a["low"] <= a["truth"] <= a["high"] for a in totals]
            self.assertAlmostEqual(before["total"]["hold"], 100 * statistics.mean(inside), delta=1e-9)
            self.assertEqual(before["total"]["answers"], 3 * before["devices"])

    def check_answers(self, folder, answers):
        """Answers are about the last three sessions only, and about the apps that count by the truth."""
        truths = []
        for number in (4, 5, 6):
            with open(os.path.join(folder, "truth-%02d.json" % number), encoding="utf-8") as file:
                truths.append(json.load(file))
        self.assertEqual([a["truth"] for a in answers if a["kind"] == "total"], [truth["total_j"] for truth in truths])
        apps = [(name, joules) for truth in truths for name, joules in truth["apps"].items()
                if joules >= 0.01 * truth["total_j"] and name != "system/background"]
        self.assertEqual([(a["app"], a["truth"]) for a in answers if a["kind"] == "app"], apps)
        self.assertEqual([a["app"] for a in answers if a["kind"] == "percent"], [name for name, _ in apps])

    def test_learnt_from(self):
        """Only the first four sessions were learnt from."""
        if len(self.stages) == 1:
            self.skipTest("no learn yet")
        folder = os.path.join(self.kept, "our-form-9600")
        database, profile = os.path.join(folder, "usage.db"), os.path.join(folder, "profile.ini")
        cost = json.loads(subprocess.run([os.path.join(BUILD, "predict/joulecast"), "cost", "--database", database,
                                          "--profile", profile, "--json"], stdout=subprocess.PIPE, check=True).stdout)
        seconds = 0
        for number in range(4):
            with open(os.path.join(folder, "session-%02d.ini" % number), encoding="utf-8") as file:
                spans = re.findall(r"^start_s = (\d+)\nlength_s = (\d+)$", file.read(), re.M)
            seconds += max(int(start) + int(length) for start, length in spans)
        self.assertAlmostEqual(cost["recorded_s"], seconds, delta=4)

    def test_marks(self):
        worlds = load()
        arguments = types.SimpleNamespace(method="percent", last="after")
        good = {"median": 0.6, "p90": 1.6, "hold": 95, "half_width": 2, "oracle": 1.6}
        s = {"stage": "after", "devices": 1, "battery_percent": 30, "total": good, "app": good, "percent": good,
             "joules": good}
        self.assertNotIn("*", worlds.row(arguments, "our-form", s))
        for column, value in (("median", 0.61), ("p90", 1.61), ("hold", 92.9), ("hold", 98.1), ("oracle", 1.61)):
            missed = dict(s, total=dict(good, **{column: value}))
            self.assertEqual(worlds.row(arguments, "our-form", missed).count("*"), 1)
        self.assertNotIn("*", worlds.row(arguments, "our-form", dict(s, stage="after 1 day")))
        varied = worlds.row(arguments, "varied", dict(s, stage="before"))
        self.assertIn("30.0* | battery 25, hold 93-98 |", varied)

    def test_usage(self):
        done = run("--world", "flat-earth")
        self.assertEqual(done.returncode, 2)
        self.assertIn("flat-earth", done.stderr)


sys.argv[1:] = []
unittest.main()
