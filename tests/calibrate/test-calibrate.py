#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-calibrate as a user calls it: runs on virtual devices, interruptions, limits, its sentences and exit codes.

Usage: test-calibrate.py JOULECAST-CALIBRATE ["fit"]
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

CALIBRATE = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
HAVE_FIT = sys.argv[2:] == ["fit"]
F_SETPIPE_SZ = 1031
DONE = {"done", "battery_percent_used", "hours", "observations", "validated", "stopped", "profile", "kept", "worse",
        "schema"}

PLAIN = """[profile]
version = 1
device = plain
[battery]
energy_full_mwh = 10000
[base]
power_mw = 100
[cpu 0]
cpus = 0-1
active_mw.500000 = 200
active_mw.900000 = 350
shared_mw.500000 = 40
shared_mw.900000 = 60
[virtual]
seed = 1
level_step_percent = %s
level_refresh_s = %s
"""


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.profile, self.observations = self.path("profile.ini"), self.path("observations.db")
        self.environment = dict(os.environ, HOME=self.folder.name, XDG_STATE_HOME=self.path("state"),
                                XDG_CONFIG_HOME=self.path("config"))

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def call(self, *arguments):
        return subprocess.run([CALIBRATE, *arguments], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    def calibrate(self, *arguments, device="nexus-7", code=None):
        done = self.call("--device", "virtual:" + device, "--profile", self.profile, "--observations",
                         self.observations,
                         "--yes", "--json", *arguments)
        self.assertEqual(done.returncode, (0 if HAVE_FIT else 1) if code is None else code, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def rows(self, sql, name=None):
        with contextlib.closing(sqlite3.connect(self.path(name) if name else self.observations)) as database:
            return database.execute(sql).fetchall()

    def refused(self, code, *arguments, says=""):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("joulecast-calibrate: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_wrong_usage(self):
        for arguments in (["--method", "x"], ["--plan", "x"], ["--stop", "0"], ["--stop", "3%%"], ["--stop", "nan"],
                          ["--passes", "0"], ["--passes", "1.5"], ["--battery-limit", "101"], ["--time-limit", "-1"],
                          ["--seed", "-1"], ["--seed", "x"], ["--nonsense"], ["--stop"], ["word"],
                          ["--device", "nexus"],
                          ["--device", "virtual:"], ["--start-percent", "50"], ["--profile", ""],
                          ["--plan", "sapp", "--method", "gauge"], ["--schedule", "24:00"], ["--schedule", "1:30x"],
                          ["--schedule", "1:30", "--force-discharge"],
                          ["--schedule", "1:30", "--device", "virtual:nexus-7"],
                          ["--schedule", "1:30", "--schedule", "2:30"],
                          ["--restore", "--dry-run"], ["--restore", "--device", "virtual:nexus-7"],
                          ["--wifi-url", "ftp://host/file"], ["--wifi-url", "http://host/a file"], ["--wifi-url", ""]):
            with self.subTest(arguments):
                self.refused(2, *arguments)
        self.refused(2, "--method", "\x1b[31mred", says="?[31mred")
        for arguments in (["--disk", "/var/tmp"], ["--write-limit", "1G"], ["--wifi-url", "http://host/file"],
                          ["--wifi-peer", "host"], ["--wifi-limit", "1G"], ["--cellular-peer", "host"],
                          ["--allow-disconnect"], ["--force-discharge"]):
            self.refused(2, "--device", "virtual:nexus-7", *arguments, says=arguments[0] + " is about this machine")

    def test_modem_only_when_asked(self):
        """Neither a peer without a limit nor a limit without a peer, and nothing without a modem."""
        self.refused(2, "--cellular-peer", "host", says="needs --cellular-limit")
        self.refused(2, "--cellular-limit", "5M", says="needs --cellular-peer")
        self.refused(2, "--device", "virtual:nexus-7", "--only", "cellular", says="needs --cellular-limit")
        self.refused(2, "--device", "virtual:nexus-7", "--only", "cpu", "--cellular-limit", "5M",
                     says="leaves the modem out")
        self.refused(2, "--device", "virtual:nexus-7", "--plan", "sapp", "--cellular-limit", "5M", says="sapp")
        self.refused(1, "--device", "virtual:nexus-7", "--cellular-limit", "5M", "--yes", says="no modem")
        for name, kind in (("wlan0", "wlan"), ("wwan0", "wwan")):
            os.makedirs(self.path("tree/sys/class/net/%s/device" % name))
            asked = ["--machine", self.path("tree"), "--dry-run", "--cellular-peer", "host", "--cellular-limit", "5M"]
            if kind == "wwan":
                self.refused(1, *asked, says="wwan")
            self.path("tree/sys/class/net/%s/uevent" % name, "DEVTYPE=%s\n" % kind)
        done = self.call(*asked)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at most 5.0 MB over the modem, with host", " ".join(done.stdout.split()))
        self.assertIn("cellular.large.0.053", done.stdout)
        self.assertNotIn("cellular", self.call("--machine", self.path("tree"), "--dry-run").stdout)

    def test_refusals(self):
        self.refused(1, "--device", "virtual:no-such-device", "--yes", says="no-such-device")
        self.refused(1, "--device", "virtual:" + self.path("broken.ini", "nonsense\n"), "--yes", says="broken.ini")
        self.refused(1, "--device", "virtual:nexus-7", "--start-percent", "22", "--yes", says="22 %")
        self.refused(1, "--device", "virtual:nexus-one", "--method", "gauge", "--yes", says="power_now")
        self.refused(1, "--device", "virtual:nexus-one", "--method", "ticks", "--yes", says="charge_now")
        self.path("garbage.db", "this is no database " * 100)
        self.refused(1, "--device", "virtual:nexus-7", "--observations", self.path("garbage.db"), says="garbage.db")
        self.refused(1, "--device", "virtual:nexus-7", "--observations", "/proc/nope/o.db", says="/proc/nope")
        self.refused(1, "--device", "virtual:nexus-7", "--yes", "--profile", "/proc/nope.ini", says="/proc/nope.ini")
        self.refused(1, "--device", "virtual:nexus-7", "--yes", "--profile", self.folder.name, says="Is a directory")
        for option in "--profile", "--observations":
            self.refused(1, "--device", "virtual:nexus-7", "--yes", "--passes", "1", "--profile", self.profile, option,
                         self.path("mistyped/file"), says="its folder does not exist")
        fit = [os.path.join(os.path.dirname(CALIBRATE), "joulecast-fit"), "--profile", self.path("mistyped/file"),
               "--usage", os.path.join(SOURCE, "tests/data/sapp-figure3-usage.csv"), "--costs",
               os.path.join(SOURCE, "tests/data/sapp-figure4-cost.csv"), "--energy-full-mwh", "5180"]
        if HAVE_FIT:
            done = subprocess.run(fit, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("its folder does not exist", done.stderr)
        self.assertFalse(os.path.exists(self.path("mistyped")))
        self.refused(1, "--disk", self.path("nowhere"), says="--disk %s: no storage" % self.path("nowhere"))
        self.refused(1, "--disk", "/usr/bin", says="nothing is written below /usr")

    def test_refusals_come_alone(self):
        """No terminal, or no battery: only the refusal is printed, no warnings."""
        folder = "/var/tmp"
        done = self.call("--dry-run", "--disk", folder, "--disk", folder)
        if "is measured already" not in done.stderr:
            self.skipTest("%s is on no storage" % folder)
        self.assertEqual(done.returncode, 0)
        self.refused(1, "--disk", folder, "--disk", folder)
        self.refused(1, "--disk", folder, "--disk", folder, "--disk", self.path("nowhere"), says="nowhere")

    def test_help(self):
        done = self.call("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--method", "--plan sapp", "--stop", "--passes", "--battery-limit", "--time-limit",
                       "--start-percent", "--seed", "--dry-run", "--profile", "--observations", "--yes", "--json",
                       "--resume", "--device", "--database"):
            self.assertIn(option, done.stdout)
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()))

    def test_dry_run(self):
        done = self.call("--dry-run", "--device", "virtual:nexus-7", "--method", "percent")
        self.assertEqual(done.returncode, 0)
        for text in ("A calibration of nexus-7 by percent, not started:", "idle", "cpu.0.384000.one",
                     "cpu.0.1512000.all",
                     "display.178", "disk.read", "disk.write", "wifi.on", "wifi.rx", "wifi.tx", "wifi.wake",
                     "mixed.held-back.1", "Expected: about ", "Frequency policies\n",
                     "Changed while it runs, and restored\n  nothing on this machine"):
            self.assertIn(text, done.stdout)
        self.assertIn("/profile.ini (written)", done.stdout.split("\nUsed or written permanently\n")[1])
        self.assertFalse(os.path.exists(self.path("state")))
        plan = json.loads(self.call("--dry-run", "--json", "--device", "virtual:big-little").stdout)
        names = {mode["name"] for mode in plan["modes"]}
        self.assertTrue({"cpu.0.300000.one", "cpu.4.2361600.all", "wifi.wake"} <= names)
        self.assertGreater(plan["expected_hours"], 1)
        self.assertIsInstance(plan["policies"], list)
        this = self.call("--dry-run")
        self.assertEqual(this.returncode, 0)
        self.assertIn("libcpupower", this.stdout)

    def test_dry_run_of_a_laptop(self):
        """12 CPUs with a policy each and no list of frequencies: two groups, each on a grid without boost."""
        for cpu in range(12):
            for name, value in (("related_cpus", cpu), ("cpuinfo_min_freq", 400000), ("scaling_driver", "intel_pstate"),
                                ("cpuinfo_max_freq", (4700000, 4800000, 3500000)[(cpu in (2, 3)) + 2 * (cpu >= 4)]),
                                ("base_frequency", 1800000 if cpu < 4 else 1300000)):
                path = self.path("tree/sys/devices/system/cpu/cpufreq/policy%d/%s" % (cpu, name))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                self.path(path, "%s\n" % value)
        plan = json.loads(self.call("--dry-run", "--json", "--machine", self.path("tree")).stdout)
        self.assertEqual([(policy["cpus"], policy["members"], policy["khz"]) for policy in plan["policies"]],
                         [("0-3", [0, 1, 2, 3], [400000, 600000, 800000, 1000000, 1200000, 1400000, 1600000, 1800000]),
                          ("4-11", list(range(4, 12)), [400000, 500000, 700000, 800000, 900000, 1000000, 1200000,
                                                        1300000])])
        block = [mode["name"] for mode in plan["modes"] if mode["kind"] == "cpu" and mode["role"] == "block"]
        self.assertEqual(len(block), 4)
        self.assertEqual([mode["load"] for mode in plan["modes"] if mode["name"] == "cpu.4.1300000.all"],
                         ["8 cores at 1300 MHz"])
        said = self.call("--dry-run", "--machine", self.path("tree")).stdout
        self.assertIn("4 policies of a kind, measured as one: CPUs 0-3, 8 frequencies of 400 to 1800 MHz", said)
        self.assertIn("8 policies of a kind, measured as one: CPUs 4-11", said)

    def test_dry_run_of_a_tree(self):
        for name, text in (("cpu/cpufreq/policy4/related_cpus", "4 5 6 7"),
                           ("cpu/cpufreq/policy4/scaling_available_frequencies", "1800000 600000 1200000")):
            path = self.path("tree/sys/devices/system/" + name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self.path(path, text + "\n")
        for name, text in (("power_supply/BAT0/type", "Battery"), ("power_supply/BAT0/power_now", "3000000"),
                           ("power_supply/BAT0/capacity", "50"),
                           ("power_supply/mouse/type", "Battery"), ("power_supply/mouse/scope", "Device"),
                           ("backlight/panel/max_brightness", "1000"), ("net/wlan0/phy80211/name", "phy0"),
                           ("../../dev/dri/renderD128", "")):
            path = os.path.normpath(self.path("tree/sys/class/" + name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self.path(path, text + "\n")
        plan = json.loads(self.call("--dry-run", "--json", "--machine", self.path("tree")).stdout)
        names = {mode["name"] for mode in plan["modes"]}
        self.assertTrue({"cpu.4.600000.one", "cpu.4.1200000.all", "cpu.4.1800000.all", "display.1000",
                         "wifi.on"} <= names)
        self.assertNotIn("disk.read", names)
        for what in ("scaling_{governor", "brightness", "rfkill", "a GPU", "lid's switch", "load on every core",
                     "profile.ini"):
            self.assertTrue(any(what in line for line in plan["touched"]), what)
        self.assertEqual((plan["method"], plan["battery"]), ("gauge", True))
        self.refused(1, "--dry-run", "--machine", self.path("tree"), "--method", "ticks",
                     says="shows no charge_now or energy_now")
        said = self.call("--dry-run", "--machine", self.path("tree"), "--disk", "/var/tmp").stdout
        back, staying = said.split("\nChanged while it runs, and restored\n")[1].split(
            "\nUsed or written permanently\n")
        self.assertNotIn("written", back)
        self.assertNotIn("scaling_", staying)
        self.refused(2, "--machine", self.path("tree"), says="--dry-run")
        self.assertNotIn("no WiFi", self.call("--dry-run", "--machine", self.path("tree"), "--wifi-peer",
                                              "host").stderr)
        shutil.rmtree(self.path("tree/sys/class/net"))
        self.assertIn("--wifi-peer: this machine has no WiFi interface",
                      self.call("--dry-run", "--machine", self.path("tree"), "--wifi-peer", "host").stderr)
        self.refused(1, "--dry-run", "--machine", self.path("nowhere"), says="nowhere")

    def test_dry_run_of_a_tree_without_frequencies(self):
        """The CPUs of the virtual device, not this machine's."""
        os.makedirs(self.path("tree/sys/devices/system/cpu"))
        plan = json.loads(self.call("--dry-run", "--json", "--machine", self.path("tree")).stdout)
        self.assertEqual(plan["policies"], [])
        self.path("tree/sys/devices/system/cpu/online", "0-4,7\n")
        plan = json.loads(self.call("--dry-run", "--json", "--machine", self.path("tree")).stdout)
        self.assertEqual([policy["cpus"] for policy in plan["policies"]], ["0-4,7"])
        self.assertIn("cpu.0.0.all", {mode["name"] for mode in plan["modes"]})

    def check_done(self, lines):
        self.assertEqual(set(lines[-1]), DONE)
        self.assertIs(lines[-1]["done"], True)
        self.assertIsInstance(lines[-1]["validated"], bool)
        self.assertEqual(lines[-1]["observations"], self.rows("SELECT count(*) FROM observation")[0][0])
        return lines[-1]

    def test_what_is_announced_knows_a_slow_gauge(self):
        """The second time: its period is in the observations of the first. tests/accuracy/announced has usual ones."""
        device = self.nexus(gauge_period_s=30)
        first, *_ = self.calibrate("--passes", "1", device=device)[0]
        again, *_, done = self.calibrate("--passes", "1", "--seed", "2", device=device)[0]
        self.assertLess(first["expected_hours_high"], done["hours"])
        self.assertTrue(again["expected_hours_low"] <= done["hours"] <= again["expected_hours_high"], (again, done))

    def test_a_gauge_takes_half_an_hour(self):
        """As README and --help say, where nothing else is asked for."""
        lines, _ = self.calibrate("--method", "gauge", device="laptop")
        self.assertEqual(lines[-1]["stopped"], "all passes made")
        self.assertTrue(0.4 < lines[-1]["hours"] < 0.6, lines[-1])

    def test_what_is_announced_by_nothing(self):
        """No class's file, and a profile that cannot be read: a guess, which says so."""
        self.environment["JOULECAST_DATADIR"] = self.path("none")
        self.path("profile.ini", "nonsense")
        done = self.call("--device", "virtual:" + os.path.join(SOURCE, "data/virtual/laptop.ini"), "--profile",
                         self.profile, "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("That is a guess: no profile says how much such a device uses.", " ".join(done.stdout.split()))

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_fast_gauges(self):
        """A gauge that is faster than the polling must not make a state take hours."""
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            nexus = file.read()
        for period in (0.02, 0.1, 0.12):
            with self.subTest(period):
                text = nexus.replace("gauge_period_s = 3.5", "gauge_period_s = %g" % period)
                self.assertNotEqual(text, nexus)
                device = self.path("fast.ini", text)
                lines, _ = self.calibrate("--method", "gauge", "--passes", "1", device=device)
                self.assertLess(lines[-1]["hours"], 0.3 + 5 / 60) # with the step test
                shown = self.rows("SELECT max(refresh_s) FROM observation")[0][0]
                self.assertLessEqual(shown, max(1.1 * period, 0.06))
                os.unlink(self.observations)

    def nexus(self, **keys):
        """The path of a nexus-7 with another gauge."""
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            text = file.read()
        for key, value in keys.items():
            text, n = re.subn("^%s = .*$" % key, "%s = %s" % (key, value), text, flags=re.M)
            self.assertEqual(n, 1, key)
        return self.path("nexus.ini", text)

    def test_coarse_gauges(self):
        """They are found out within a few states, and no profile is made."""
        for method, keys, says in (
                ("percent", {"level_step_percent": 5},
                 ["the battery's percentage moves in steps of 5 %, which is too coarse"]),
                ("percent", {"level_refresh_s": 300},
                 ["the battery's percentage is refreshed only every 300 s, which is too"]),
                ("gauge", {"gauge_quantum_mw": 100}, ["power_now moves in steps of 100 mW", "with --method percent"]),
                ("gauge", {"gauge_period_s": 250}, ["power_now is updated only every 250 s", "with --method percent"]),
                ("ticks", {"level_step_percent": 0.1, "level_refresh_s": 300}, [
                    "the battery's charge_now ", "with --method percent"])):
            with self.subTest(keys):
                self.path("profile.ini", "kept\n")
                done = self.call("--device", "virtual:" + self.nexus(**keys), "--profile", self.path("profile.ini"),
                                 "--observations", self.observations, "--yes", "--json", "--method", method)
                self.assertEqual(done.returncode, 1, done.stderr)
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), len(says), done.stderr)
                for line, words in zip(lines, says):
                    self.assertIn(words, line)
                with open(self.path("profile.ini"), encoding="utf-8") as profile:
                    self.assertEqual(profile.read(), "kept\n")
                self.assertLess(json.loads(done.stdout.splitlines()[-1]).get("battery_percent_used", 0), 25)
                if os.path.exists(self.observations):
                    os.unlink(self.observations)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_somewhat_coarse_gauges(self):
        """A coarse sensor is left for the percentage; coarse steps of that are said, and paid for."""
        lines, said = self.calibrate("--stop", "20", device=self.nexus(gauge_quantum_mw=100))
        self.assertIn("going on with the method percent", said)
        self.assertEqual(lines[-1]["stopped"], "precision reached")
        os.unlink(self.observations)
        lines, said = self.calibrate("--method", "percent", device=self.nexus(level_step_percent=2))
        self.assertEqual(said.count("moves in steps of 2 %, so that the calibration takes"), 1, said)
        self.assertIs(lines[-1]["validated"], True)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_what_was_held_back_comes_again(self):
        """A daemon's spike in one of three measurements does not fail a profile; a device of another form does."""
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            nexus = file.read()
        other = nexus.replace("sub_additivity_percent = 4", "sub_additivity_percent = 60")
        self.assertNotEqual(other, nexus)
        for device, seed, validated in (("nexus-7", 21, True), (self.path("other.ini", other), 1, False)):
            with self.subTest(device):
                lines, _ = self.calibrate("--seed", str(seed), device=device)
                self.assertIs(self.check_done(lines)["validated"], validated)
                with open(self.profile, encoding="utf-8") as profile: # how far it was off widens the intervals
                    misfit = re.search(r"^misfit_percent = (.*)$", profile.read(), re.M)
                self.assertEqual(misfit is None, validated)
                self.assertTrue(validated or 4 < float(misfit[1]) < 20, misfit)
                times = self.rows("SELECT count(*) FROM observation WHERE held_back GROUP BY mode ORDER BY 1")
                self.assertEqual(times, [(1,), (3,)])
                names = [name for (name,) in self.rows("SELECT mode FROM observation ORDER BY sequence")]
                self.assertTrue(all(a != b for a, b in zip(names, names[1:])))
                os.unlink(self.observations)
                os.unlink(self.profile)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_daemons_of_a_faster_world(self):
        self.environment["JOULECAST_DAEMONS_TAU_S"] = "7.5"
        self.calibrate("--method", "gauge", "--passes", "1")
        with open(self.profile, encoding="utf-8") as profile:
            self.assertIn("x-background_tau_s = 7.5\n", profile.read())
        for wrong in ("", "x", "0", "-1", "1e9", "nan"):
            done = subprocess.run([os.path.join(os.path.dirname(CALIBRATE), "joulecast-fit"), "--observations",
                                   self.observations], env={**self.environment, "JOULECAST_DAEMONS_TAU_S": wrong},
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "joulecast-fit: JOULECAST_DAEMONS_TAU_S wants 0.1 to 86400 seconds,"
                                          " not \"%s\"\n" % wrong)

    def beside(self):
        """Names of the versions kept beside the profile."""
        return sorted(name for name in os.listdir(self.folder.name) if name.startswith("profile.ini."))

    def changed_device(self):
        """nexus-7 with a display that takes 30 % more, and its true coefficients."""
        section, lines, truth = "", [], {}
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            for line in file:
                section = line.strip() if line.startswith("[") else section
                key, _, value = line.partition("=")
                if section == "[display]" and key.startswith("power_mw."):
                    truth[key.strip()] = 1.3 * float(value.split()[0])
                    line = f"{key.strip()} = {truth[key.strip()]}\n"
                lines.append(line)
        self.assertGreater(len(truth), 2)
        return self.path("changed.ini", "".join(lines)), truth

    def lines_of(self, path):
        """{section and key: value}, with the covariance by pairs."""
        section, lines = "", {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                section = line.strip() if line.startswith("[") else section
                key, equals, value = line.partition("=")
                if equals:
                    lines[section, key.strip()] = value.strip()
        return lines

    def check_only(self, method):
        device, truth = self.changed_device()
        more = ["--passes", "4"] if method == "gauge" else []
        whole = self.calibrate("--method", method, *more)[0][-1]
        before = self.lines_of(self.profile)
        start, *_, done = self.calibrate("--only", "display", "--seed", "2", *more, device=device)[0]
        after = self.lines_of(self.profile)
        self.assertEqual((start["plan"], start["method"]), ("only display", method))
        self.assertLess(done["battery_percent_used"], 0.5 * whole["battery_percent_used"])
        self.assertEqual({row[0] for row in self.rows("SELECT kind FROM observation WHERE run = 2")} - {"burn"},
                         {"idle", "display", "picture"})
        for (section, key), value in before.items():
            ours = section in ("[display]", "[base]", "[fit]", "[profile]") or "curve" in key or \
                "base." in key or "display." in key or key.startswith("x-charge_full")
            if not ours:
                self.assertEqual(after[section, key], value, (section, key))
        self.assertEqual(after["[profile]", "created"], before["[profile]", "created"])
        self.assertIn(("[profile]", "x-measured_display"), after)
        measured = {key: value for key, value in truth.items() if ("[display]", key) in after}
        self.assertGreater(len(measured), 2)
        for key, value in measured.items():
            mean, error = map(float, after["[display]", key].split())
            self.assertLess(abs(mean - value), min(3.5 * error, 0.1 * value))
        return before, after

    @unittest.skipUnless(HAVE_FIT, "without joulecast-fit nothing is fitted")
    def test_only_by_gauge(self):
        self.check_only("gauge")
        done = self.call("--device", "virtual:" + self.path("changed.ini"), "--profile", self.profile, "--observations",
                         self.observations, "--yes", "--only", "display")
        said = " ".join(done.stdout.split())
        self.assertIn("The validation stays that of the calibration before", said)
        self.assertNotIn("Not validated", said)

    @unittest.skipUnless(HAVE_FIT, "without joulecast-fit nothing is fitted")
    def test_only_by_percent(self):
        _, after = self.check_only("percent")
        # The observations have the profile that it began with: it can be fitted again, and gone on with.
        fit = [os.path.join(os.path.dirname(CALIBRATE), "joulecast-fit"), "--observations", self.observations,
               "--run", "2"]
        done = subprocess.run([*fit, "--profile", self.path("again.ini")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = self.lines_of(self.path("again.ini"))
        for lines in after, again:
            for key in "x-measured_display", "x-measured_base":
                lines.pop(("[profile]", key))
        self.assertEqual(again, after)
        done = subprocess.run([*fit, "--estimator", "sapp"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("only display", done.stderr)
        start = self.calibrate("--only", "display", "--resume", device=self.path("changed.ini"))[0][0]
        self.assertEqual((start["run"], start["resumed"]), (2, True))
        start = self.calibrate("--only", "wifi", "--resume", device=self.path("changed.ini"))[0][0]
        self.assertEqual((start["run"], start["resumed"]), (3, False))

    def test_only_is_refused(self):
        profile = ["--profile", self.profile, "--observations", self.observations, "--yes"]
        device = ["--device", "virtual:nexus-7", *profile]
        for names in "", "screen", "display,", ",wifi", "display,display", "unseen", "display wifi", "cpu,,gpu":
            self.refused(2, *device, "--only", names, says="--only")
        self.refused(2, *device, "--only", "display", "--only", "wifi", says="--only")
        self.refused(2, *device, "--only", "display", "--plan", "sapp", says="--plan sapp")
        self.refused(2, "--only", "display", "--restore", says="--restore")
        self.refused(1, *device, "--only", "display", says="profile.ini")
        if not HAVE_FIT:
            return
        self.calibrate("--method", "percent")
        self.refused(2, *device, "--only", "gpu", says="gpu")
        self.refused(1, *device, "--only", "display", "--method", "gauge", says="leave --method out")
        self.refused(1, "--device", "virtual:laptop", *profile, "--only", "display", says="another device")
        shutil.copy(os.path.join(SOURCE, "data/profiles/class-phone.ini"), self.profile)
        self.refused(1, *device, "--only", "display", says="calibrate the whole device")
        done = self.call(*device, "--dry-run", "--only", "display")
        self.assertEqual(done.returncode, 1)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_never_worse(self):
        """A calibration that learnt nothing writes none; a worse profile is put beside; a like one is kept in the
        history."""
        lines, _ = self.calibrate("--method", "gauge")
        self.assertEqual((lines[-1]["profile"], lines[-1]["kept"], lines[-1]["worse"]), (self.profile, None, None))
        with open(self.profile, encoding="utf-8") as file:
            good = file.read()
        _, error = self.calibrate("--method", "percent", "--time-limit", "1", "--stop", "0.1%", code=1)
        self.assertIn("nothing was learnt", error)
        with open(self.profile, encoding="utf-8") as file:
            self.assertEqual(file.read(), good)
        self.assertEqual(self.beside(), [])
        lines, _ = self.calibrate("--method", "percent", "--time-limit", "3")
        self.assertIn("gives the energy of typical use within +- ", lines[-1]["worse"])
        with open(self.profile, encoding="utf-8") as file:
            self.assertEqual(file.read(), good)
        self.assertEqual([self.path(name) for name in self.beside()], [lines[-1]["profile"]])
        self.assertRegex(lines[-1]["profile"], r"/profile\.ini\.\d{4}-\d\d-\d\dT\d{6}Z\.unused$")
        radios = ("\n[gps]\non_mw = 350\nsleep_mw = 20\n\n[audio]\non_mw = 60\n\n[radio cell]\ninitial = idle\n\n"
                  "[radio cell idle]\npower_mw = 9\nafter = 5 idle\n\n[carrier c]\nradio = cell\nidle.after_ms = 7\n")
        with open(self.profile, "w", encoding="utf-8") as file:
            file.write(good + radios)
        lines, _ = self.calibrate("--method", "gauge", "--seed", "3")
        self.assertEqual((lines[-1]["profile"], lines[-1]["worse"]), (self.profile, None))
        with open(lines[-1]["kept"], encoding="utf-8") as file:
            self.assertEqual(file.read(), good + radios)
        with open(self.profile, encoding="utf-8") as file:
            # A calibration measures none, and its base has the GPS that sleeps.
            self.assertIn(radios.replace("350\nsleep_mw = 20", "330"), file.read())
        base = []
        for modem in ("[radio cell]\ninitial = idle\n[radio cell idle]\npower_mw = 40\n",
                      "[radio cellular]\ninitial = idle\n[radio cellular idle]\npower_mw = 40\n"):
            with open(self.profile, "w", encoding="utf-8") as file:
                file.write(good + modem)
            lines, _ = self.calibrate("--method", "gauge", "--seed", "3")
            with open(self.profile, encoding="utf-8") as file:
                written = file.read()
            base.append(float(re.search(r"\[base\]\npower_mw = ([\d.]+)", written).group(1)))
        # a modem whose packets are counted has a price of its own: its idle power is taken out of the base
        self.assertAlmostEqual(base[0] - base[1], 40, delta=0.01)
        self.assertTrue("[cellular]\nradio = 1 0.2\n" in written)
        done = self.call("--device", "virtual:nexus-7", "--profile", self.profile, "--observations", self.observations,
                         "--yes", "--method", "percent", "--time-limit", "3")
        said = " ".join(done.stdout.split())
        self.assertIn("profile.ini stays in use: the new profile gives the energy of typical use within", said)
        self.assertIn("joulecast profile use " + self.profile + ".2", said)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_radio_that_stays_awake(self):
        """The run finds the states of data/radios/wifi.ini: awake for a second, half of one asleep lightly; and
        keeps a modem's."""
        text = ""
        for name in "virtual/nexus-7.ini", "radios/wifi.ini":
            with open(os.path.join(SOURCE, "data", name), encoding="utf-8") as file:
                text += re.sub(r"\n(on_mw|[rt]x_mj_per_mb|wake_mj) = .*", "", file.read())
        with open(self.profile, "w", encoding="utf-8") as file:
            file.write("[profile]\nversion = 1\ndevice = other\n[battery]\nenergy_full_mwh = 15000\n[base]\n"
                       "power_mw = 1\n"
                       "[radio wifi]\ninitial = old\n[radio wifi old]\npower_mw = 1\n"
                       "[radio cellular]\ninitial = idle\n[radio cellular idle]\npower_mw = 9\n")
        lines, _ = self.calibrate("--method", "gauge", device=self.path("radio.ini", text))
        self.assertEqual(lines[-1]["profile"], self.profile)
        with open(self.profile, encoding="utf-8") as file:
            written = file.read()
        factor, error = [float(word) for word in re.search(r"\n\[wifi\]\non_mw.*\nradio = (\S+) (\S+)\n",
                                                           written).groups()]
        self.assertAlmostEqual(factor, 1, delta=0.05)
        self.assertLess(error, 0.2)
        states = dict(re.findall(r"\[radio wifi (\S+)\]\npower_mw = (\S+)", written))
        self.assertEqual(states["rest"], "0")
        self.assertTrue(370 < float(states["awake"]) < 480, states)  # with what follows each packet
        timers = [float(ms) for ms in re.findall(r"\[radio wifi awake.*\](?:\n.+)*?\nafter = (\S+)", written)]
        self.assertTrue(950 < sum(timers) < 1700, timers)
        self.assertEqual(re.findall(r"\nsource = (.*)", written), ["calibration"])
        self.assertTrue("[radio cellular idle]\npower_mw = 9" in written)
        self.assertEqual(re.findall(r"radio wifi old|[rt]x_mj_per_mb", written), [])

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_wider_intervals_are_worse(self):
        """As many components, and an error that is clearly larger; a profile of another device counts for nothing."""
        self.calibrate("--method", "gauge")
        with open(self.profile, encoding="utf-8") as file:
            good = file.read()
        with open(self.profile, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(\n[a-z_]+(?:\.\d+)? = [\d.e-]+) [\d.e-]+", r"\1 0.01", good.split("[covariance]")[0])
                       .replace("scale_percent = 1", "scale_percent = 0.1"))
        lines, _ = self.calibrate("--method", "gauge")
        self.assertRegex(lines[-1]["worse"],
                         r"gives the energy of typical use within \+- [\d.]+ % \(95 %\), and not within \+- ")
        with open(self.profile, "w", encoding="utf-8") as file:
            file.write(good.replace("device = nexus-7", "device = another"))
        lines, _ = self.calibrate("--method", "percent", "--time-limit", "3")
        self.assertIsNone(lines[-1]["worse"])

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_percent(self):
        lines, _ = self.calibrate("--method", "percent", "--stop", "3%")
        done = self.check_done(lines)
        self.assertEqual(done["stopped"], "precision reached")
        self.assertTrue(15 < done["battery_percent_used"] < 32 and 4 < done["hours"] < 9, done)
        with open(self.profile, encoding="utf-8") as profile:
            self.assertIn("[base]", profile.read())
        self.assertEqual(self.rows("SELECT device, method, finished FROM run"), [("nexus-7", "percent", 1)])
        names = [row[0] for row in self.rows("SELECT mode FROM observation ORDER BY sequence")]
        self.assertEqual(names[:5], ["burn"] * 5) # the partial step, and four percents that are compared
        self.assertTrue(all(a != b for a, b in zip(names[5:], names[6:])))
        self.assertEqual(self.rows("SELECT count(*) FROM observation WHERE rejected != ''"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM observation WHERE held_back"), [(2,)])

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_stop_is_written_two_ways(self):
        first, _ = self.calibrate("--method", "percent", "--stop", "4", "--seed", "5")
        os.unlink(self.observations)
        os.unlink(self.profile)
        second, _ = self.calibrate("--method", "percent", "--stop", "4%", "--seed", "5")
        self.assertEqual(first[-1], second[-1])

    def test_gauge(self):
        lines, _ = self.calibrate("--passes", "2")
        done = self.check_done(lines)
        self.assertEqual(done["stopped"], "all passes made")
        self.assertLess(done["battery_percent_used"], 1.8 + 0.6) # with the step test
        self.assertEqual(self.rows("SELECT max(pass) FROM observation"), [(1,)])

    def test_ticks(self):
        lines, _ = self.calibrate("--stop", "5", device=self.path("fine.ini", PLAIN % ("0.1", "1")))
        self.check_done(lines)
        self.assertEqual(self.rows("SELECT method FROM run"), [("ticks",)])
        self.assertGreaterEqual(self.rows("SELECT min(elapsed_ns) FROM observation WHERE NOT burn")[0][0], 60e9)

    def test_sapp(self):
        lines, _ = self.calibrate("--plan", "sapp")
        done = self.check_done(lines)
        self.assertEqual(done["stopped"], "plan completed")
        self.assertTrue(46 < done["battery_percent_used"] < 50, done)
        self.assertEqual(self.rows("SELECT plan, method FROM run"), [("sapp", "percent")])
        self.assertEqual({row[0] for row in self.rows("SELECT count(*) FROM observation WHERE NOT burn GROUP BY "
                                                      "mode")}, {3})
        self.assertEqual({row[0] for row in self.rows("SELECT DISTINCT pass FROM observation")}, {0, 1, 2})

    def test_limits(self):
        for arguments, key, limit in ((["--battery-limit", "7%", "--method", "percent"], "battery_percent_used", 7),
                                      (["--battery-limit", "0.5"], "battery_percent_used", 0.5),
                                      (["--time-limit", "0.2"], "hours", 0.2),
                                      (["--time-limit", "3", "--method", "percent"], "hours", 3)):
            with self.subTest(arguments):
                done = self.calibrate(*arguments)[0][-1]
                self.assertLessEqual(done[key], limit + 0.01)
                self.assertGreater(done[key], 0.3 * limit)
                self.assertIn("limit", done["stopped"])
                os.unlink(self.observations)
        done = self.calibrate("--method", "percent", "--start-percent", "26")[0][-1]
        self.assertEqual(done["stopped"], "20 % of charge")
        self.assertGreaterEqual(self.rows("SELECT min(percent) FROM observation")[0][0], 20)

    def extras(self):
        """The x- keys of the profile, as numbers where they are."""
        with open(self.profile, encoding="utf-8") as file:
            return dict(line.strip().split(" = ") for line in file if line.startswith("x-"))

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_the_picture_of_an_oled(self):
        """Half of what white costs is its content; an LCD shows black for the same. By percent grey comes only
        after that."""
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            nexus = file.read()
        lines = [line for line in nexus.splitlines() if re.match(r"power_mw\.\d+ =", line)]
        emission = "".join(line.replace("power_mw", "emission_mw") + "\n" for line in lines)
        oled = self.path("oled.ini", nexus.replace("[disk]\n", emission + "[disk]\n"))
        for device, percent in ((oled, 50), (None, 0)):
            for method in "gauge", "percent":
                with self.subTest(device=device, method=method):
                    self.calibrate("--method", method, **({"device": device} if device else {}))
                    said = self.extras()
                    self.assertLess(abs(float(said["x-emission_percent"]) - percent),
                                    3.5 * float(said["x-emission_se"]))
                    self.assertLess(float(said["x-emission_se"]), 5)
                    self.assertNotIn("x-emission_bend_percent", said)
                    greys = self.rows("SELECT count(*) FROM observation WHERE mode LIKE 'picture.%.grey'")[0][0]
                    self.assertEqual(greys, 2 if method == "gauge" else 1 if percent else 0)
                    os.unlink(self.profile)
                    os.unlink(self.observations)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_a_stale_full_charge(self):
        with open(os.path.join(SOURCE, "data/virtual/nexus-7.ini"), encoding="utf-8") as file:
            nexus = file.read()
        for error, stale in (10, True), (0, False):
            with self.subTest(error):
                device = self.path("stale.ini",
                                   nexus.replace("[virtual]\n", "[virtual]\ncharge_full_error_percent = %d\n" % error))
                _, said = self.calibrate("--method", "percent", device=device)
                self.assertEqual("the full charge that the battery shows is stale" in said, stale, said)
                extras = self.extras()
                self.assertLess(abs(float(extras["x-charge_full_percent"]) - error),
                                3 * float(extras["x-charge_full_se"]))
                os.unlink(self.profile)
                os.unlink(self.observations)

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_a_limit_leaves_no_component_out(self):
        for limit in ("8%", "12%"):
            with self.subTest(limit):
                _, said = self.calibrate("--method", "percent", "--battery-limit", limit)
                self.assertNotIn("coefficients will be missing", said)
                with open(self.profile, encoding="utf-8") as file:
                    keys = {line.split(" = ")[0] for line in file}
                wanted = {"power_mw", "active_mw.384000", "shared_mw.1512000", "power_mw.178", "read_mj_per_mb",
                          "write_mj_per_mb", "on_mw", "rx_mj_per_mb", "tx_mj_per_mb", "wake_mj"}
                self.assertEqual(wanted - keys, set())
                os.unlink(self.profile)
                os.unlink(self.observations)

    def test_nothing_to_fit(self):
        _, error = self.calibrate("--time-limit", "0.01", "--method", "percent", code=1)
        errors = [line for line in error.splitlines() if "warning: joulecast-fit was not found" not in line]
        self.assertIn("the limit is too low to measure every component once", errors.pop(0))
        self.assertEqual(errors, ["joulecast-calibrate: nothing could be fitted (time limit); the observations are "
                                  "kept in "
                                  + self.observations])
        self.assertFalse(os.path.exists(self.profile))

    def test_a_limit_too_low_for_an_observation(self):
        for device, method in ("nexus-7", "percent"), ("nexus-one", "auto"):
            self.refused(1, "--device", "virtual:" + device, "--method", method, "--battery-limit", "1.9%", "--yes",
                         says="--battery-limit 1.9: with the method percent the first observation takes up to 2 %")
        self.assertFalse(os.path.exists(self.path("state")))
        lines, _ = self.calibrate("--method", "percent", "--battery-limit", "2", code=1)  # one tells nothing
        self.assertLessEqual(lines[0]["expected_percent"], 2)
        self.assertLess(lines[0]["expected_hours"], 1)
        self.assertGreater(lines[-1]["observations"], 1)

    def test_runs_do_not_pool(self):
        self.calibrate("--passes", "1")
        self.calibrate("--passes", "1", "--seed", "9")
        self.assertEqual(self.rows("SELECT count(*) FROM run WHERE finished"), [(2,)])
        self.calibrate("--passes", "1", "--seed", "9", "--resume")
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(2,)])
        self.assertEqual(self.rows("SELECT max(pass) FROM observation WHERE run = 1"), [(0,)])
        self.assertEqual(self.rows("SELECT max(pass) FROM observation WHERE run = 2"), [(1,)])

    @unittest.skipUnless(HAVE_FIT, "no joulecast-fit in this build")
    def test_a_refused_attempt_hides_nothing(self):
        """A refused run has no observations: the run before it is fitted and resumed."""
        self.calibrate("--passes", "1")
        for again in ([], ["--resume"]):
            _, error = self.calibrate("--passes", "1", "--start-percent", "10", *again, code=1)
            self.assertIn("10 %", error)
        fit = subprocess.run([os.path.join(os.path.dirname(CALIBRATE), "joulecast-fit"), "--observations",
                              self.observations],
                             env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((fit.returncode, fit.stderr), (0, ""))
        # one of all rows, one of one
        self.assertRegex(fit.stdout, r"\nmode +rows +power mW +mean off by mW +worst z\n")
        self.assertTrue(all(len(line) <= 80 for line in fit.stdout.splitlines()), fit.stdout)
        self.calibrate("--passes", "1", "--resume")
        self.assertEqual(self.rows("SELECT DISTINCT run FROM observation"), [(1,)])
        self.assertEqual(self.rows("SELECT max(pass) FROM observation"), [(1,)])

    def interrupt(self, number, *arguments):
        """Kills a run in its middle: it blocks on a full pipe after some lines."""
        read, write = os.pipe()
        fcntl.fcntl(read, F_SETPIPE_SZ, 4096)
        child = subprocess.Popen([CALIBRATE, "--device", "virtual:nexus-7", "--profile", self.profile, "--observations",
                                  self.observations, "--yes", "--json", *arguments], env=self.environment, stdout=write,
                                 stderr=subprocess.PIPE, text=True)
        os.close(write)
        with os.fdopen(read) as lines:
            for _ in range(4):
                lines.readline()
            child.send_signal(number)
            rest = lines.read() if number == signal.SIGINT else ""
        error = child.stderr.read()
        child.stderr.close()
        return child.wait(), error, rest

    def check_resumed(self, before, *arguments):
        lines, _ = self.calibrate("--resume", *arguments)
        self.assertTrue(lines[0]["resumed"])
        done = self.check_done(lines)
        self.assertGreater(done["observations"], before)
        self.assertEqual(self.rows("SELECT count(*), sum(finished) FROM run"), [(1, 1)])
        sequences = [row[0] for row in self.rows("SELECT sequence FROM observation ORDER BY id")]
        self.assertEqual(sequences, list(range(len(sequences))))
        return done

    def test_killed_and_resumed(self):
        for method in ("percent", "gauge"):
            with self.subTest(method):
                code, error, _ = self.interrupt(signal.SIGKILL, "--method", method)
                self.assertEqual(code, -signal.SIGKILL, error)
                before = self.rows("SELECT count(*) FROM observation")[0][0]
                self.assertGreaterEqual(before, 3)
                done = self.check_resumed(before, "--method", method)
                # As often as in a run that was not killed.
                whole, _ = self.calibrate("--method", method, "--observations", self.path(method + ".db"))
                planned = "SELECT mode, pass, count(*) FROM observation WHERE NOT burn AND (pass = 0 OR method = " \
                          "'gauge') GROUP BY mode, pass ORDER BY mode, pass"
                self.assertEqual(self.rows(planned), self.rows(planned, method + ".db"))
                self.assertLess(abs(whole[-1]["observations"] - done["observations"]), 12)
                os.unlink(self.observations)

    def test_asked_to_stop(self):
        code, error, rest = self.interrupt(signal.SIGINT, "--method", "percent")
        self.assertEqual(code, 1, error)
        self.assertIn("--resume", error)
        self.assertNotIn('"done":true', rest)
        self.assertFalse(os.path.exists(self.profile))
        self.check_resumed(self.rows("SELECT count(*) FROM observation")[0][0], "--method", "percent")

    def with_fit(self, script):
        """A copy of the program beside another joulecast-fit."""
        folder = self.path("programs")
        os.makedirs(folder, exist_ok=True)
        program = shutil.copy(CALIBRATE, folder)
        if script:
            with open(os.path.join(folder, "joulecast-fit"), "w", encoding="utf-8") as file:
                file.write(script)
            os.chmod(file.name, 0o755)
        self.environment["PATH"] = "/usr/bin:/bin"
        return subprocess.run([program, "--device", "virtual:" + self.path("plain.ini", PLAIN % ("1", "10")),
                               "--profile",
                               self.profile, "--observations", self.observations], env=self.environment,
                              capture_output=True, text=True, timeout=60, check=False)

    def test_bad_followers(self):
        """A fit that is missing, dies, answers wrongly or not at all costs no observations."""
        answer = "#!/bin/sh\nread line; echo '%s'; read line; echo '%s'; %s\n"
        for script in (None, "#!/bin/sh\nexit 3\n", "#!/bin/sh\nyes nonsense\n",
                       "#!/bin/sh\nread line; echo '{\"error\": \"\\u001b[31mno\"}'; cat\n",
                       answer % ('{"ready": true}', "[]", "exit 1"),
                       answer % ('{"ready": true}', '{"rows": -1}', "exit 0"),
                       answer % ('{"ready": true, "parameters": 1}', '{"next": "no such mode"}', "cat")):
            with self.subTest(script):
                done = self.with_fit(script)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("kept in", done.stderr)
                self.assertEqual("nothing can be fitted" in done.stderr.splitlines()[0], script is None, done.stderr)
                self.assertNotIn("\x1b", done.stderr)
                self.assertGreaterEqual(self.rows("SELECT count(*) FROM observation")[0][0], 5)
                os.unlink(self.observations)

    def test_why_it_is_not_validated(self):
        held_back = [("a", 100, 110, 20, True), ("b", 150, 120, 20, False), ("c", 300, 200, 30, False),
                     ("d", 110, 100, 9, False)]
        checks = [dict(zip(("mode", "measured_mw", "predicted_mw", "half_width_mw", "inside"), row))
                  for row in held_back]
        for number, checked, says in (
                (0, None, "Not validated: no held-back mixtures were measured."),
                (1, True, "Validated: the mixtures that were held back came out as predicted."),
                (4, False, "Not validated: the held-back mixture c drew 300 mW, predicted were 200 +- 30 mW (99 %).")):
            with self.subTest(number):
                answer = json.dumps({"profile": "p", "validated": checked, "held_back": checks[:number]})
                done = self.with_fit("#!/bin/sh\n[ \"$1\" = --follow ] && exit 3\necho '%s'\n" % answer)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(says, " ".join(done.stdout.split()))
                self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)
                os.unlink(self.observations)

    def test_an_answer_that_cannot_be_written(self):
        """A failed write of the output is reported; a closed pipe is not."""
        run = ["--device", "virtual:nexus-7", "--passes", "1", "--yes", "--profile", self.profile, "--observations",
                 self.observations]
        for arguments in (run, [*run, "--json"], ["--restore", "--json"], ["--dry-run"], ["--help"], ["--version"]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([CALIBRATE, *arguments], env=self.environment, stdout=full,
                                      stderr=subprocess.PIPE,
                                      text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertTrue(done.stderr.endswith("joulecast-calibrate: the answer could not be written\n"),
                                done.stderr)
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as gone:
            done = subprocess.run([CALIBRATE, *run, "--json"], env=self.environment, stdout=gone,
                                  stderr=subprocess.PIPE,
                                  text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
        self.assertEqual(done.returncode, 0 if HAVE_FIT else 1, done.stderr)
        self.assertNotIn("could not be written", done.stderr)

    def test_one_writer(self):
        with open(self.path("observations.db"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _, error = self.calibrate(code=1)
        self.assertIn("another calibration", error)

    def test_default_files(self):
        done = self.call("--device", "virtual:nexus-7", "--passes", "1", "--yes")
        folder = self.path("state/joulecast/virtual/nexus-7")
        self.assertTrue(os.path.exists(os.path.join(folder, "observations.db")), done.stderr)
        self.assertEqual(os.path.exists(os.path.join(folder, "profile.ini")), HAVE_FIT)
        self.assertEqual(os.stat(os.path.join(folder, "observations.db")).st_mode & 0o777, 0o600)
        if HAVE_FIT:
            self.assertIn("The profile is in " + folder, done.stdout)

    def test_harsh_device_is_not_refused(self):
        """All effects of docs/physics.md at twice the size of nexus-7's: nothing is rejected."""
        harsh = PLAIN % ("1", "20") + """voltage_mv.0 = 3300
voltage_mv.100 = 4190
resistance_mohm = 240
nonlinearity_percent = 2.4
background_mw = 24
background_tau_s = 300
spike_mw = 500
spike_s = 60
spike_per_h = 2
sub_additivity_percent = 8
leakage_percent_per_c = 0.3
thermal_c_per_w = 16
thermal_tau_s = 400
ambient_sd_c = 4
rate_variation_percent = 20
"""
        lines, _ = self.calibrate("--method", "percent", "--stop", "8", device=self.path("harsh.ini", harsh))
        self.check_done(lines)
        self.assertEqual(self.rows("SELECT mode, rejected FROM observation WHERE rejected != ''"), [])

    def test_a_gauge_that_is_stuck(self):
        """With --method auto the percentage is used instead; otherwise an error is printed."""
        stuck = self.path("stuck.ini", PLAIN % ("1", "1") + "gauge_period_s = 3.5\ngauge_quantum_mw = 100000\n")
        lines, errors = self.calibrate("--stop", "10", device=stuck)
        self.check_done(lines)
        self.assertEqual([line["method"] for line in lines if "method" in line], ["gauge", "percent"])
        self.assertIn("power_now did not change", errors)
        self.assertGreater(lines[-1]["battery_percent_used"], 2)
        _, errors = self.calibrate("--method", "gauge", device=stuck, code=1)
        self.assertIn("--method percent", errors)

    def test_without_a_question(self):
        """No battery, or no consent: one sentence, and nothing begins."""
        done = self.call()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
