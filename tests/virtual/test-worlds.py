#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The worlds of tests/worlds/make-world: the same by seed, each with its own physics only, and simulated without a
word.

Usage: test-worlds.py JOULECAST SOURCE-DIR
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

JOULECAST, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MAKE = os.path.join(SOURCE, "tests/worlds/make-world")
WORLDS = ("our-form", "our-form-12", "no-calibration", "kind-of-work", "oled", "unseen", "signal", "idle-lowers",
          "stale-full",
          "pieces", "varied")
CONSTANTS = re.compile(r"^(cpu_factor|content|unseen_mw) = .*\n", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Worlds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, world, seed, sessions=2, again=""):
        folder = os.path.join(self.folder.name, "%s-%d%s" % (world, seed, again))
        subprocess.run([MAKE, "--world", world, "--seed", str(seed), "--sessions", str(sessions), "--out", folder],
                       check=True)
        return folder, {name: read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}

    def simulate(self, folder, described):
        """The truth of each session; all in one database."""
        truths = []
        for session in described["sessions"]:
            truth = os.path.join(folder, "truth.json")
            done = subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + os.path.join(folder, "device.ini"),
                                   "--scenario", os.path.join(folder, session["scenario"]), "--database",
                                   os.path.join(folder, "usage.db"), "--truth", truth, "--append", "--start-percent",
                                   str(session["start_percent"]), "--seed", str(session["seed"])],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            truths.append(json.loads(read(truth)))
        return truths

    def test_same_by_seed(self):
        one, same, other = (self.make(*words)[1] for words in (("oled", 5), ("oled", 5, 2, "again"), ("oled", 6)))
        self.assertEqual(one, same)
        self.assertNotEqual(one["device.ini"], other["device.ini"])
        self.assertNotEqual(one["session-00.ini"], other["session-00.ini"])
        more = self.make("oled", 5, 4, "more")[1]
        self.assertEqual(more["session-01.ini"], one["session-01.ini"])
        self.assertEqual(sorted(more), ["calibrate.ini", "device.ini", "session-00.ini", "session-01.ini",
                                        "session-02.ini",
                                        "session-03.ini", "world.json"])

    def test_each_world(self):
        _, plain = self.make("our-form", 3)
        for world in WORLDS:
            with self.subTest(world=world):
                folder, files = self.make(world, 3)
                self.assertEqual(files["calibrate.ini"], files["device.ini"])
                if world != "varied":  # the same owner of the same device
                    for name in ("session-00.ini", "session-01.ini"):
                        self.assertEqual(CONSTANTS.sub("", files[name]), plain[name])
                described = json.loads(files["world.json"])
                for session, truth in zip(described["sessions"], self.simulate(folder, described)):
                    self.assertGreater(truth["percent_end"], 20)
                    self.check_constants(described["apps"], read(os.path.join(folder, session["scenario"])))

    def check_constants(self, apps, scenario):
        """An app's constants are the same in all its segments; in the background its unseen power is less."""
        for part in scenario.split("[segment ")[1:]:
            said = dict(re.findall(r"^(\w+) = (.*)$", part, re.M))
            for key, value in apps.get(said["app"], {}).items():
                part_of = 0.2 if key == "unseen_mw" and said["state"] == "background" else 1
                self.assertAlmostEqual(float(said[key]), value * part_of, delta=1e-9)

    def test_physics(self):
        """Each world's truth contains its own effect and no other."""
        joules, unseen = {}, {}
        for world in ("our-form", "kind-of-work", "oled", "unseen", "signal"):
            folder, files = self.make(world, 4)
            described = json.loads(files["world.json"])
            parts = [truth["components_j"] for truth in self.simulate(folder, described)]
            joules[world] = {part: sum(app[part] for apps in parts for app in apps.values())
                             for part in ("cpu", "display", "wifi", "disk")}
            unseen[world] = {name.split("/")[0] for apps in parts for name, app in apps.items() if app["unseen"] > 0}
            dear = {name for name, constants in described["apps"].items() if "unseen_mw" in constants}
            self.assertEqual(len(dear), 4 if world == "unseen" else 0)
            self.assertLessEqual(unseen[world], dear)
        plain = joules["our-form"]
        for world, part in (("kind-of-work", "cpu"), ("oled", "display"), ("signal", "wifi")):
            self.assertGreater(abs(joules[world][part] / plain[part] - 1), 0.01)
            for other in set(plain) - {part}:  # less than a warmer device leaks more
                self.assertAlmostEqual(joules[world][other] / plain[other], 1, delta=0.01)
        self.assertLess(joules["oled"]["display"], 0.95 * plain["display"])
        self.assertTrue(unseen["unseen"])


sys.argv[1:] = []
unittest.main()
