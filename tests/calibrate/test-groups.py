#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices with a frequency policy for each CPU are measured in groups; the profile is right for each policy.

Usage: test-groups.py JOULECAST JOULECAST-CALIBRATE DEVICES
"""
import configparser
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

JOULECAST, CALIBRATE, DEVICES = (os.path.abspath(path) for path in sys.argv[1:4])
TERMS = ("active", "shared", "idle")

QUIET = """[display]
max_brightness = 100
power_mw.10 = 900
power_mw.100 = 3000
[virtual]
seed = 3
level_step_percent = 1
level_refresh_s = 2
background_mw = 40
background_tau_s = 300
gauge_period_s = 1
gauge_noise_percent = 0.5
"""


def points(policy, section):
    return {int(key.split(".")[1]): [float(section.get("%s_mw.%s" % (term, key.split(".")[1]), "0").split()[0])
                                     for term in TERMS]
            for key in section if key.startswith("active_mw.")}


class Model:
    """Coefficients of each policy in a device file or profile, and whether policies of a kind share S."""

    def __init__(self, path):
        file = configparser.ConfigParser(comment_prefixes=(";",), inline_comment_prefixes=(";",), strict=True)
        file.read(path)
        self.file, self.policies, self.alike = file, {}, {}
        for name in file.sections():
            if name.startswith("cpu "):
                policy = int(name[4:])
                self.alike[policy] = int(file[name].get("as", policy))
        for policy, other in self.alike.items():
            self.policies[policy] = points(policy, file["cpu %d" % other])

    def busy_mw(self, policies, khz):
        """Power above idle with these single cores busy at khz, without leakage and other power that cores share."""
        each = [self.policies[policy][khz] for policy in policies]
        packages = {self.alike[policy] for policy in policies}
        shares = any(self.alike[policy] != policy for policy in self.alike)
        shared = sum(self.policies[policy][khz][1] for policy in (packages if shares else policies))
        lowest = [self.policies[policy][min(self.policies[policy])][2] for policy in policies]
        return sum(active + idle - low for (active, _, idle), low in zip(each, lowest)) + shared


class Groups(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.profile = self.path("profile.ini")
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

    def plan(self, device):
        return json.loads(self.call(CALIBRATE, "--device", "virtual:" + device, "--dry-run", "--json"))

    def calibrate(self, device, *arguments):
        lines = self.call(CALIBRATE, "--device", "virtual:" + device, "--profile", self.profile, "--observations",
                          self.path("observations.db"), "--yes", "--json", *arguments).splitlines()
        return json.loads(lines[-1]), Model(self.profile)

    def compare(self, truth, learnt, kinds, within):
        """One core and all cores of each kind, at each frequency; and each policy is the one it stands for."""
        self.assertEqual(set(learnt.policies), set(truth.policies))
        for kind in kinds:
            for policy in kind:
                self.assertEqual(learnt.alike[policy], kind[0])
                self.assertEqual(learnt.file["cpu %d" % policy]["cpus"], str(policy))
            for khz in truth.policies[kind[0]]:
                for policies in (kind[:1], kind):
                    want, got = truth.busy_mw(policies, khz), learnt.busy_mw(policies, khz)
                    self.assertLess(abs(got / want - 1), within, (policies, khz, want, got))

    def plain(self, kinds, spread=0.0):
        """A file that says each policy by itself; then each has an S of its own, too."""
        rng = random.Random(4)
        text = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 50000\n[base]\npower_mw = 2000\n"
        for cpus, table in kinds:
            for cpu in cpus:
                factor = 1 + rng.uniform(-spread, spread)
                text += "[cpu %d]\ncpus = %d\n" % (cpu, cpu)
                for khz, active, shared in table:
                    text += "active_mw.%d = %.1f\nshared_mw.%d = %.1f\n" % (khz, active * factor, khz, shared * factor)
        return self.path("plain.ini", text + QUIET)

    def test_one_kind(self):
        device = self.plain([(range(8), [(800000, 200, 40), (1600000, 580, 90), (2400000, 1000, 160)])])
        plan = self.plan(device)
        self.assertEqual([(policy["cpus"], policy["members"]) for policy in plan["policies"]],
                         [("0-7", list(range(8)))])
        self.assertEqual({mode["name"] for mode in plan["modes"] if mode["kind"] == "cpu"},
                         {"cpu.0.%d.%s" % (khz, cores) for khz in (800000, 1600000, 2400000)
                          for cores in ("one", "all")} |
                         {"cpu.0.1600000.idle", "cpu.0.2400000.idle"})
        self.assertIn("8 policies of a kind, measured as one: CPUs 0-7", self.call(
            CALIBRATE, "--device", "virtual:" + device, "--dry-run"))
        for within, *method in ((0.05, "gauge"), (0.1, "percent", "--stop", "2%")):
            with self.subTest(method):
                done, learnt = self.calibrate(device, "--method", *method)
                self.assertTrue(done["validated"])
                self.compare(Model(device), learnt, [list(range(8))], within)
                # nothing is shared in this file, so nothing is found to be
                self.assertEqual([shared for _, shared, _ in learnt.policies[3].values()], [0, 0, 0])

    def test_two_kinds_of_uneven_cores(self):
        """Sixteen policies in turn, of cores that differ by 2 % either way, and each is predicted by its kind."""
        big, little = list(range(0, 16, 2)), list(range(1, 16, 2))
        device = self.plain([(big, [(800000, 300, 0), (2000000, 900, 0), (3000000, 1900, 0)]),
                             (little, [(600000, 90, 0), (1200000, 200, 0), (1800000, 420, 0)])], 0.02)
        self.assertEqual([policy["members"] for policy in self.plan(device)["policies"]], [big, little])
        done, learnt = self.calibrate(device, "--method", "gauge", "--passes", "6")
        self.assertTrue(done["validated"])
        self.compare(Model(device), learnt, [big, little], 0.07)

    def test_two_are_told_apart(self):
        """Two are measured each by itself, as they may differ."""
        device = self.plain([(range(1), [(800000, 200, 0), (2400000, 1000, 0)]),
                             (range(1, 2), [(800000, 300, 0), (2400000, 1500, 0)])])
        self.assertEqual([policy["members"] for policy in self.plan(device)["policies"]], [[0], [1]])
        _, learnt = self.calibrate(device, "--method", "gauge")
        self.compare(Model(device), learnt, [[0], [1]], 0.05)

    def test_hybrid_laptop(self):
        """A package's shared power is found, and counted once, by comparing one core with all of them."""
        device = os.path.join(DEVICES, "hybrid-laptop.ini")
        truth, kinds = Model(device), [list(range(8)), list(range(8, 16))]
        done, learnt = self.calibrate(device, "--method", "gauge", "--passes", "12", "--seed", "2")
        self.assertLess(done["battery_percent_used"], 24)
        # three cells in series; the battery reports charge and voltage
        self.assertLess(abs(float(learnt.file["battery"]["energy_full_mwh"]) / 57000 - 1), 0.05)
        for kind in kinds:
            for khz, (_, shared, _) in truth.policies[kind[0]].items():
                self.assertLess(abs(learnt.policies[kind[0]][khz][1] / shared - 1), 0.25)
        shown = self.call(JOULECAST, "profile", "show", self.profile)
        self.assertIn("cpu.0: also of policies 1-7\n", shown)
        self.assertIn("cpu.8: also of policies 9-15\n", shown)
        said = json.loads(self.call(JOULECAST, "profile", "show", self.profile, "--json"))["policies"]
        self.assertEqual([policy["as"] for policy in said], [0] * 8 + [8] * 8)
        self.compare(truth, learnt, kinds, 0.07)  # all cores cost 6 % less than the sum, which no model here has

    def test_hybrid_laptop_in_use(self):
        """An hour of several apps on both kinds costs what it did, by the profile of a calibration."""
        device = os.path.join(DEVICES, "hybrid-laptop.ini")
        database, truth = self.path("usage.db"), self.path("truth.json")
        scenario = "[scenario]\nbrightness = 700\n"
        for i, (app, start, keys) in enumerate((
                ("compiler", 0, ["khz.%d = 2000000\ncores.%d = 0.9" % (cpu, cpu) for cpu in range(0, 6)]),
                ("browser", 600, ["khz.6 = 1200000\ncores.6 = 0.4", "khz.9 = 1300000\ncores.9 = 0.5"]),
                ("indexer", 1200, ["khz.%d = 1000000\ncores.%d = 0.3" % (cpu, cpu) for cpu in range(10, 16)]))):
            scenario += "[segment %d]\napp = %s\nstate = background\nstart_s = %d\nlength_s = 1800\n%s\n" % (
                i + 1, app, start, "\n".join(keys))
        self.calibrate(device, "--method", "gauge", "--passes", "12")
        self.call(JOULECAST, "simulate", "--device", "virtual:" + device, "--scenario", self.path("use.ini", scenario),
                  "--database", database, "--truth", truth)
        cost = json.loads(self.call(JOULECAST, "cost", "--profile", self.profile, "--database", database, "--json"))
        with open(truth, encoding="utf-8") as file:
            told = json.load(file)
        self.assertLess(abs(cost["total"]["energy_j"]["value"] / told["total_j"] - 1), 0.06)
        for app in cost["apps"]:
            want = told["apps"].get("%s/%s" % (app["app"], app["state"]))
            if want and want > 100:
                self.assertLess(abs(app["energy_j"]["value"] / want - 1), 0.12, app["app"])


sys.argv[1:] = []
unittest.main()
