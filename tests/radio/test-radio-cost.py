#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares packets stored by polls and priced by the device's own radios with the truth packet by packet.

The seven uses of issue 17 and two more on a device with each shipped radio, polled each 30 s. Within 2 % of the
radio's energy above its rest, and within 5 % of an app's that takes at least a 20th of it. Two things are known to
be beyond that: a download whose packets come as evenly as a virtual device's (lib/radio/METHOD.md), and ssh and mail
together by app.

Usage: test-radio-cost.py JOULECAST SOURCE-DIR [show]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

JOULECAST, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SHOW = sys.argv[3:] == ["show"]

DEVICE = """[profile]
version = 1
device = plain
[battery]
energy_full_mwh = 100000
[base]
power_mw = 100
[cpu 0]
cpus = 0-3
active_mw.500000 = 200
[wifi]
on_mw = 30
rx_mj_per_mb = 1e6
tx_mj_per_mb = 1e6
wake_mj = 1e6
[virtual]
seed = 1
"""
SEGMENT = """[segment {}]
app = {}
state = background
start_s = 0
length_s = 1800
radio = {}
{}
"""
USES = {
    "call": "packets_per_s = 100\npacket_bytes = 200",
    "ssh": "packets_per_s = 1\npacket_bytes = 120\npattern = poisson",
    "game": "packets_per_s = 25\npacket_bytes = 150\npattern = poisson",
    "stream": "packets_per_s = 50\npacket_bytes = 1400\npattern = bursts\nburst_packets = 400",
    "mail": "packets_per_s = 0.1\npacket_bytes = 500\npattern = bursts\nburst_packets = 8",
    "download": "rx_mb_per_s = 0.8\ntx_mb_per_s = 0.03",
}
RADIOS = (("wifi", "wifi"), ("wifi-nexus-one", "wifi"), ("3g", "cellular"), ("lte", "cellular"))
EVEN = ("wifi", "download"), ("wifi", "all")
MIXED = "ssh+mail"


class RadioCost(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def run_it(self, *arguments):
        done = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def energies(self, shipped, radio, uses):
        """The radio energy of each app by the cost, and by the truth; and the same two for the base."""
        with open(os.path.join(SOURCE, "data/radios", shipped + ".ini"), encoding="utf-8") as file:
            text = re.sub(r"radio (= )?(3g|lte)", r"radio \1cellular", file.read())
        device, truth, database = self.path("device.ini", DEVICE + text), self.path("truth.json"), self.path("usage.db")
        scenario = self.path("s.ini", "".join(SEGMENT.format(i + 1, use, radio, USES[use])
                                              for i, use in enumerate(uses)))
        self.run_it("simulate", "--device", "virtual:" + device, "--scenario", scenario, "--database", database,
                    "--truth", truth)
        cost = json.loads(self.run_it("cost", "--profile", device, "--database", database, "--json"))
        with open(truth, encoding="utf-8") as file:
            really = json.load(file)
        got = {app["app"]: app["components_j"][radio] for app in cost["apps"]}
        want = {app.split("/")[0]: parts[radio] for app, parts in really["components_j"].items()}
        return got, want, cost["base"]["energy_j"], really["base_j"]

    def test_uses(self):
        for shipped, radio in RADIOS:
            for name, uses in {**{use: [use] for use in USES}, "all": list(USES), MIXED: ["ssh", "mail"]}.items():
                got, want, base, real_base = self.energies(shipped, radio, uses)
                total = sum(want.values())
                errors = {use: got[use] / want[use] - 1 for use in want if want[use] >= total / 20}
                if SHOW:
                    print(f"{shipped:15}{name:10}{100 * (sum(got.values()) / total - 1):+6.1f} %  ",
                          " ".join(f"{use} {100 * error:+.1f}" for use, error in errors.items()))
                with self.subTest(radio=shipped, use=name):
                    self.assertAlmostEqual(sum(got.values()) / total, 1,
                                           delta=0.12 if (shipped, name) in EVEN else 0.02)
                    for use, error in errors.items():
                        self.assertLess(abs(error), 0.2 if name == MIXED else 0.12 if (shipped, name) in EVEN
                                        else 0.05, use)
                    self.assertAlmostEqual(base / real_base, 1, delta=0.01)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
