#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibrations of phones that count instructions and cache events: programs of other kinds than the calibration's load
have the right price, and without counters they are off.

Usage: test-kind-calibration.py BUILD-DIR SOURCE-DIR
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, SOURCE + "/tests/accuracy")
import world  # noqa: E402

# Instructions per cycle and misses in 1,000 instructions of apps that a poller sees; the first is a usual one.
APPS = {"usual": (1.1, 5), "codec": (2.5, 1), "search": (0.6, 25), "sort": (0.4, 45), "crypto": (2.8, 0.1)}
WORK = "spin_ipc = 1.1\ninstruction_cycles = 0.6\nmiss_cycles = 9\n"


class Kinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *arguments):
        environment = {**os.environ, "HOME": self.folder, "XDG_STATE_HOME": self.folder}
        done = subprocess.run([os.path.join(BUILD, arguments[0]), *map(str, arguments[1:])], capture_output=True,
                              text=True, check=False, timeout=300, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def calibrate(self, seed, method, edit, **keys):
        device = world.Device(seed, 1, False, 1)
        device.physics.update(keys)
        with open(self.path("truth.ini"), "w", encoding="utf-8") as file:
            file.write(edit(device.text()))
        for name in ("profile.ini", "observations.db"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        self.run_it("calibrate/joulecast-calibrate", "--device", "virtual:" + self.path("truth.ini"), "--profile",
                    self.path("profile.ini"), "--observations", self.path("observations.db"), "--database",
                    self.path("none.db"), "--yes", "--json", "--method", method, "--seed", seed,
                    "--start-percent", 95.5,
                    *(["--passes", 4] if method == "gauge" else []))
        return device

    def errors(self, seed, method, **keys):
        """Error of the CPU energy of each program, in percent."""
        self.calibrate(seed, method, lambda text: re.sub(r"(\[cpu 0\]\n)", r"\1" + WORK, text), **keys)
        priced = self.run_it("tests/calibrate/price-kinds", self.path("truth.ini"), self.path("profile.ini"))
        found = [line.split() for line in priced.splitlines()]
        return [100 * (float(priced) / float(truth) - 1) for _, truth, priced in found]

    def profile(self, key):
        with open(self.path("profile.ini"), encoding="utf-8") as file:
            found = re.search("^%s = (.*)$" % key, file.read(), re.M)
        return found and found[1]

    def test_gauge(self):
        plain = self.errors(502001, "gauge")
        self.assertIsNone(self.profile("instruction_part"))
        self.assertGreater(max(map(abs, plain)), 15)
        counted = self.errors(502001, "gauge", counters="all")
        part, cycles = (float(self.profile(key).split()[0]) for key in ("instruction_part", "miss_cycles"))
        self.assertEqual(self.profile("x-miss_event"), "l2d_cache")
        self.assertAlmostEqual(part, 0.66 / 1.66, delta=0.06)
        self.assertAlmostEqual(cycles, 9, delta=2)
        self.assertLess(max(map(abs, counted)), 5)
        print("gauge:", *("%+.1f" % error for error in plain), "counted:", *("%+.1f" % error for error in counted))

    def test_gauge_of_odd_loops(self):
        errors = [error for seed in (502002, 502003) for error in
                  self.errors(seed, "gauge", counters="all", kind_residual=0.055)]
        self.assertLess(statistics.median(map(abs, errors)), 6)
        print("gauge, residual:", *("%+.1f" % error for error in errors))

    def test_instructions_alone(self):
        self.errors(502001, "gauge", counters="instructions")
        self.assertAlmostEqual(float(self.profile("instruction_part").split()[0]), 0.66 / 1.66, delta=0.06)
        self.assertIsNone(self.profile("miss_cycles"))
        self.assertIsNone(self.profile("x-miss_event"))

    def test_percent(self):
        plain = self.errors(502004, "percent")
        counted = self.errors(502004, "percent", counters="all")
        self.assertLess(statistics.median(map(abs, counted)), statistics.median(map(abs, plain)) / 2)
        self.assertIsNotNone(self.profile("miss_cycles")) # by what is usual
        print("percent:", *("%+.1f" % error for error in plain), "counted:", *("%+.1f" % error for error in counted))

    def recorded(self, counters):
        """Error and half width of each of APPS, recorded by a simulation and priced by the profile, in percent."""
        with open(self.path("truth.ini"), encoding="utf-8") as file:
            device = re.sub("counters = .*", "counters = " + counters, file.read())
        with open(self.path("recorded.ini"), "w", encoding="utf-8") as file:
            file.write(device)
        with open(self.path("scenario.ini"), "w", encoding="utf-8") as file:
            file.write("[scenario]\nwifi = off\n")
            for number, (app, (ipc, mpk)) in enumerate(APPS.items()):
                file.write("[segment %d]\napp = %s\nstate = background\nstart_s = %d\nlength_s = 600\nkhz = 100 %%\n"
                           "threads = 0.9\ninstructions_per_cycle = %g\nmisses_per_kinstruction = %g\n" %
                           (number + 1, app, 700 * number, ipc, mpk))
        self.run_it("predict/joulecast", "simulate", "--device", "virtual:" + self.path("recorded.ini"), "--scenario",
                    self.path("scenario.ini"), "--database", self.path("usage.db"), "--truth",
                    self.path("truth.json"), "--seed", 7)
        cost = json.loads(self.run_it("predict/joulecast", "cost", "--database", self.path("usage.db"), "--profile",
                                      self.path("profile.ini"), "--json"))
        with open(self.path("truth.json"), encoding="utf-8") as file:
            truth = json.load(file)["apps"]
        apps = {app["app"]: app["energy_j"] for app in cost["apps"]}
        found = [(apps[app], truth[app + "/background"]) for app in APPS]
        return ([100 * (energy["value"] / joules - 1) for energy, joules in found],
                [50 * (energy["high"] - energy["low"]) / energy["value"] for energy, _ in found])

    def test_recorded(self):
        self.calibrate(502001, "gauge", lambda text: re.sub(r"(\[cpu 0\]\n)", r"\1" + WORK, text), counters="all")
        counted, narrow = self.recorded("all")
        columns = self.run_it("predict/joulecast", "usage", "--database", self.path("usage.db"), "--csv")
        self.assertIn(",cycles.0,instructions.0,misses.0\n", columns)
        alone, _ = self.recorded("instructions")
        plain, wide = self.recorded("none")
        for errors in counted, alone, plain:
            print("recorded:", *("%+.1f" % error for error in errors))
        print("half widths:", *("%.1f" % width for width in narrow), "without:", *("%.1f" % width for width in wide))
        unusual = range(1, len(APPS))
        self.assertLess(max(abs(counted[i]) for i in unusual), 6)
        self.assertGreater(max(abs(plain[i]) for i in unusual), 15)
        self.assertLess(statistics.mean(abs(counted[i]) for i in unusual),
                        statistics.mean(abs(plain[i]) for i in unusual) / 3)
        self.assertTrue(all(map(lambda one, other: one < 0.8 * other, narrow, wide)))

    def idle_error(self, seed, method, share, **keys):
        """Error of the idle power at the highest frequency, in percent of a busy core's power there."""
        device = self.calibrate(seed, method, lambda text: re.sub(r"(\[cpu 0\]\n)", r"\1idle_share = %g\n" % share,
                                                                  re.sub("idle_mw.*\n", "", text)), **keys)
        policy = device.policies[0]
        found = self.profile(r"idle_mw\.%d" % policy.khz[-1])
        truth = share * (policy.active[-1] - policy.active[0])
        return 100 * ((float(found.split()[0]) if found else 0) - truth) / policy.active[-1]

    def test_idling(self):
        for method in "gauge", "percent":
            plain = self.idle_error(502005, method, 0.55)
            known = self.idle_error(502005, method, 0.55, idle_states="shallow")
            print("idling, %s: %+.1f, states shown: %+.1f" % (method, plain, known))
            self.assertLess(abs(known), 10)
        self.assertLess(abs(self.idle_error(502006, "percent", 0.02, idle_states="deep")), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
