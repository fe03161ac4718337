#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibrations of phones whose gauges smooth, average, are late, rise faster than they fall, or show unequal
percents: the step test finds it, and the coefficients are right, or there is no profile.

Usage: test-gauges.py BUILD-DIR SOURCE-DIR
"""
import importlib.machinery
import importlib.util
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, SOURCE + "/tests/accuracy")
import world  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("accuracy", SOURCE + "/tests/accuracy/run")
ACCURACY = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy", LOADER))
LOADER.exec_module(ACCURACY)
MAIN = ("base", "cpu 1 core", "cpu 4 cores", "display", "disk.read_mj_per_mb", "disk.write_mj_per_mb",
        "wifi.rx_mj_per_mb", "wifi.tx_mj_per_mb")


class Gauges(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, name, *arguments):
        environment = {**os.environ, "HOME": self.folder, "XDG_STATE_HOME": self.folder}
        return subprocess.run([os.path.join(BUILD, "calibrate", name), *map(str, arguments)], capture_output=True,
                              text=True, check=False, timeout=300, env=environment)

    def calibrate(self, seed, method, code=0, **keys):
        """Errors of the main coefficients in percent, and what was said."""
        device = world.Device(seed, 1, False, 1)
        device.physics.update(keys)
        with open(self.path("truth.ini"), "w", encoding="utf-8") as file:
            file.write(device.text())
        for name in ("profile.ini", "observations.db"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        done = self.run_it("joulecast-calibrate", "--device", "virtual:" + self.path("truth.ini"), "--profile",
                           self.path("profile.ini"), "--observations", self.path("observations.db"), "--database",
                           self.path("none.db"), "--yes", "--json", "--method", method, "--seed", seed,
                           "--start-percent", 95.5, *(["--passes", 4] if method == "gauge" else []))
        self.assertEqual(done.returncode, code, done.stderr)
        if code:
            self.assertFalse(os.path.exists(self.path("profile.ini")))
            return [], done.stderr
        result = ACCURACY.Result()
        ACCURACY.judge(ACCURACY.Profile(self.path("profile.ini")), device, result)
        return [abs(found[0]) for found in result.coefficient if found[3] in MAIN], done.stderr

    def profile(self, key):
        with open(self.path("profile.ini"), encoding="utf-8") as file:
            found = re.search("^%s = (.*)$" % key, file.read(), re.M)
        return found and found[1]

    def kind(self):
        database = sqlite3.connect(self.path("observations.db"))
        found = database.execute("SELECT gauge_kind, gauge_kernel_s FROM observation ORDER BY id DESC LIMIT 1")
        found = found.fetchone()
        database.close()
        return found

    def check_right(self, errors, median, p90):
        self.assertLess(statistics.median(errors), median)
        self.assertLess(sorted(errors)[len(errors) * 9 // 10], p90)
        self.assertEqual(self.profile("x-validated"), "true")

    def test_exponential_mean(self):
        errors = []
        for seed in (402011, 402012, 402013):
            errors += self.calibrate(seed, "gauge", gauge_period_s=6, gauge_smoothing_s=37)[0]
            kind, seconds = self.kind()
            self.assertEqual(kind, "exponential")
            self.assertTrue(30 < seconds < 44, seconds)
        self.check_right(errors, 1.5, 4)

    def test_mean(self):
        errors = []
        for seed in (402011, 402012):
            errors += self.calibrate(seed, "gauge", gauge_period_s=2, gauge_average_s=40)[0]
            kind, seconds = self.kind()
            self.assertEqual(kind, "mean")
            self.assertTrue(35 < seconds < 45, seconds)
        self.check_right(errors, 2.2, 5) # plain gauges of these two: as much

    def test_late_one_that_skips(self):
        errors = self.calibrate(402014, "gauge", gauge_period_s=4, gauge_delay_s=6, gauge_skip_percent=2)[0]
        self.check_right(errors, 2.5, 6)

    def test_another_filter(self):
        _, said = self.calibrate(402015, "gauge", code=1, gauge_period_s=5, gauge_smoothing_s=45, gauge_attack=0.8)
        self.assertIn("power_now rises and falls in no known way", said)
        errors, said = self.calibrate(402015, "auto", gauge_period_s=5, gauge_smoothing_s=45, gauge_attack=0.8,
                                      level_step_percent=0.1, level_refresh_s=1)
        self.assertIn("going on with the method ticks", said)
        self.assertLess(statistics.median(errors), 5)

    def test_unequal_percents(self):
        _, said = self.calibrate(402016, "percent", code=1, level_scatter_percent=40)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("percents of the battery hold unequal charges", said)
        self.calibrate(402017, "percent")
        database = sqlite3.connect(self.path("observations.db"))
        self.assertEqual(database.execute("SELECT count(*) FROM observation WHERE burn").fetchone(), (5,))
        database.close()

    def cost(self):
        """Relative half-widths of an hour's energy: in joules, and in percent of the battery."""
        with open(self.path("usage.csv"), "w", encoding="utf-8") as file:
            file.write("name,state,time_ms,display_ms,read_kb,write_kb,rx_kb,tx_kb,384000\n"
                       "game,foreground,3600000,0,0,0,0,0,180000\n")
        done = subprocess.run([os.path.join(BUILD, "predict", "joulecast"), "cost", "--usage", self.path("usage.csv"),
                               "--profile", self.path("profile.ini"), "--json"], capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        total = json.loads(done.stdout)["total"]
        return [(total[key]["high"] - total[key]["value"]) / total[key]["value"] for key in ("energy_j", "percent")]

    def test_joules(self):
        """A sensor and a charge counter that disagree; and what cancels in percent of the battery."""
        for gain, low, high in ((0.5, 5, 5), (20, 6, 60)):
            self.calibrate(402019, "gauge", gauge_gain_percent=gain, level_step_percent=0.02, level_refresh_s=1)
            scale, found = float(self.profile("scale_percent")), float(self.profile("x-sensor_percent"))
            self.assertTrue(low <= scale <= high, (gain, scale))
            self.assertEqual(abs(found) > 3, gain == 20, found)
            joules, percent = self.cost()
            self.assertGreater(joules ** 2, percent ** 2 + (1.9 * scale / 100) ** 2)
        done = self.run_it("joulecast-fit", "--observations", self.path("observations.db"))
        self.assertIn("than the battery's charge counter over the same run", done.stdout + done.stderr)
        for method, scale in (("ticks", 5), ("percent", 10)):
            sensor = {} if method == "ticks" else {"gauge_period_s": 0}
            self.calibrate(402020, method, level_step_percent=0.1 if method == "ticks" else 1, level_refresh_s=1,
                           **sensor)
            self.assertEqual(float(self.profile("scale_percent")), scale)
            self.assertIsNone(self.profile("x-sensor_percent"))

    def test_old_database(self):
        """One without the step test's columns is fitted as it is, and gets them when it is written."""
        self.calibrate(402018, "gauge")
        database = sqlite3.connect(self.path("observations.db"))
        for column in ("gauge_begin_mw", "gauge_end_mw", "gauge_kind", "gauge_kernel_s", "gauge_delay_s", "drawn_j",
                       "counted_j"):
            database.execute("ALTER TABLE observation DROP COLUMN " + column)
        database.execute("PRAGMA user_version = 2")
        database.commit()
        database.close()
        done = self.run_it("joulecast-fit", "--observations", self.path("observations.db"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Validated", done.stdout)
        done = self.run_it("joulecast-calibrate", "--device", "virtual:" + self.path("truth.ini"), "--profile",
                           self.path("profile.ini"), "--observations", self.path("observations.db"), "--database",
                           self.path("none.db"), "--yes", "--json", "--method", "gauge", "--passes", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.kind()[0], "plain")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
