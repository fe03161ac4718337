#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices whose kernel tells no frequency: by cycles work costs what it did; without them the answer is wide, and
says why.

Usage: test-clocks.py JOULECAST JOULECAST-CALIBRATE DEVICES
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import unittest

JOULECAST, CALIBRATE, DEVICES = (os.path.abspath(path) for path in sys.argv[1:4])
# each with the calibration that it has: by its current sensor, or by percents
METHODS = {"laptop": ("gauge", "--passes", "6"), "hybrid-laptop": ("gauge", "--passes", "12"),
           "nexus-7": ("gauge", "--passes", "6"), "handheld": ("gauge", "--passes", "6"),
           "big-little": ("percent", "--stop", "2%")}
NAMES = os.environ.get("JOULECAST_CLOCKS_DEVICES", "laptop hybrid-laptop nexus-7").split()
SEEDS = int(os.environ.get("JOULECAST_CLOCKS_SEEDS", "1"))


def scenario(seed):
    """Half an hour of a compiler: its threads, and the clock that they ask for, change in the midst of polls."""
    rng, text, at = random.Random(seed), "[scenario]\nbrightness = 50 %\n", 0
    for number in range(1, 41):
        length = rng.randint(10, 90)
        khz, threads = rng.choice((60, 80, 100, 100)), ["%.2f" % rng.uniform(.6, 1)] * rng.randint(1, 4)
        text += "[segment %d]\napp = compiler\nstate = background\nstart_s = %d\nlength_s = %d\n" % (number, at, length)
        text += "khz = %d %%\nthreads = %s\n" % (khz, " ".join(threads))
        at += length
    return text


class Clocks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, HOME=self.folder.name, XDG_STATE_HOME=self.path("state"),
                                XDG_CONFIG_HOME=self.path("config"))

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def call(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def device(self, name, *keys):
        with open(os.path.join(DEVICES, name + ".ini"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("\n[virtual]\n", text)
        return self.path(name + ".ini", text.replace("\n[virtual]\n", "\n[virtual]\n%s\n" % "\n".join(keys), 1))

    def compiler(self, name, seed, *keys):
        """Its cost by a calibration of its own, the true one, and the text that people read."""
        device, tail = self.device(name, *keys), "%s-%d" % (name, seed)
        profile, database, truth = self.path(tail + "-profile"), self.path(tail + ".db"), self.path(tail + ".json")
        self.call(CALIBRATE, "--device", "virtual:" + device, "--profile", profile, "--observations",
                  self.path(tail + "-observations.db"), "--yes", "--seed", str(seed), "--method", *METHODS[name])
        self.call(JOULECAST, "simulate", "--device", "virtual:" + device, "--scenario",
                  self.path(tail + "-use.ini", scenario(seed)), "--database", database, "--truth", truth,
                  "--seed", str(seed))
        cost = (JOULECAST, "cost", "--profile", profile, "--database", database)
        with open(truth, encoding="utf-8") as file:
            want = json.load(file)["apps"]["compiler/background"]
        answer, text = json.loads(self.call(*cost, "--json")), self.call(*cost)
        return answer, [app["energy_j"] for app in answer["apps"] if app["app"] == "compiler"][0], want, text

    def test_cycles(self):
        errors, held, runs = [], 0, [(name, seed) for name in NAMES for seed in range(1, SEEDS + 1)]
        for name, seed in runs:
            answer, got, want, text = self.compiler(name, seed, "frequencies = hidden")
            errors.append(abs(got["value"] / want - 1))
            held += got["low"] <= want <= got["high"]
            print("%s %d: %.1f of %.1f J, %.1f .. %.1f" % (name, seed, got["value"], want, got["low"], got["high"]))
            self.assertEqual(answer["cpu_spread_j"], 0)
            self.assertNotIn("frequency of the CPUs is unknown", " ".join(text.split()))
        print("error: median %.1f %%, largest %.1f %%; held %d of %d" % (
            100 * statistics.median(errors), 100 * max(errors), held, len(runs)))
        self.assertLess(statistics.median(errors), 0.05)
        self.assertLess(sorted(errors)[int(0.9 * len(errors))], 0.15)
        self.assertGreaterEqual(held, 0.9 * len(runs))

    def test_no_cycles(self):
        for name, seed in [(name, seed) for name in NAMES for seed in range(1, SEEDS + 1)]:
            for keys in (("cycles = none",), ("collector = proc",))[:2 if seed == 1 else 1]:
                answer, got, want, text = self.compiler(name, seed, "frequencies = hidden", *keys)
                print("%s %d: %.1f of %.1f J, %.1f .. %.1f" % (name, seed, got["value"], want, got["low"], got["high"]))
                self.assertLess(got["low"], want)
                self.assertLess(want, got["high"])
                self.assertGreater(answer["cpu_spread_j"], 0.2 * got["value"])
                self.assertIn("the frequency of the CPUs is unknown", " ".join(text.split()))


sys.argv[1:] = []
unittest.main()
