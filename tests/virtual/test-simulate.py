#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast simulate` as a user calls it: what it writes, its exit codes, its sentences.

Usage: test-simulate.py JOULECAST SOURCE-DIR
"""
import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

JOULECAST, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SCENARIO = os.path.join(SOURCE, "data/virtual/scenarios/airport.ini")

DEVICE = """[profile]
version = 1
device = plain
[battery]
energy_full_mwh = 10000
[base]
power_mw = 100
[cpu 0]
cpus = 0-3
active_mw.500000 = 200
[display]
max_brightness = 255
power_mw.100 = 500
[virtual]
seed = 1
"""
SHORT = """[scenario]
brightness = 100
[segment 1]
app = game
state = foreground
start_s = 10
length_s = 100
khz = 500000
cores = 1 0.5
"""


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.truth = self.path("truth.json")

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def call(self, *arguments):
        environment = dict(os.environ, HOME=self.folder.name, XDG_STATE_HOME=self.folder.name)
        return subprocess.run([JOULECAST, "simulate", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment, timeout=60)

    def simulate(self, device="nexus-7", scenario=SCENARIO, *more):
        """Runs in a database of its own; returns (answer, truth)."""
        self.runs = getattr(self, "runs", 0) + 1
        got = self.call("--device", "virtual:" + device, "--scenario", scenario, "--truth", self.truth, "--json",
                        "--database", self.path(f"usage-{self.runs}.db"), *more)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        with open(self.truth, encoding="utf-8") as file:
            return json.loads(got.stdout), json.load(file)

    def cost(self, profile):
        done = subprocess.run([JOULECAST, "cost", "--json", "--profile", profile, "--database",
                               self.path(f"usage-{self.runs}.db")], stdout=subprocess.PIPE, text=True, check=True,
                              timeout=60)
        return json.loads(done.stdout)

    def refused(self, code, words, *arguments):
        got = self.call(*arguments)
        self.assertEqual(got.returncode, code, got.stderr)
        self.assertEqual(got.stdout, "")
        self.assertEqual(got.stderr.count("\n"), 1, got.stderr)
        self.assertIn(words, got.stderr)

    def test_truth_adds_up(self):
        answer, truth = self.simulate()
        self.assertEqual(set(truth), {"total_j", "base_j", "percent_start", "percent_end", "apps", "components_j"})
        self.assertEqual(set(truth["apps"]), {"angry-birds/foreground", "browser/foreground", "phone/foreground",
                                              "music/background", "system/background"})
        self.assertAlmostEqual(truth["total_j"], truth["base_j"] + sum(truth["apps"].values()), delta=1e-6)
        self.assertEqual(set(truth["components_j"]), set(truth["apps"]))
        for app, parts in truth["components_j"].items():
            self.assertEqual(set(parts), {"cpu", "display", "disk", "wifi", "cellular", "gpu", "gps", "audio",
                                          "camera", "unseen"})
            self.assertAlmostEqual(sum(parts.values()) / truth["apps"][app], 1, delta=1e-9)
        self.assertEqual(truth["percent_start"], 90)
        self.assertEqual(answer["percent_start"], 90)
        # in whole percent, seldom looked at
        self.assertAlmostEqual(answer["percent_end"], truth["percent_end"], delta=2)
        self.assertLess(truth["percent_end"], 80)
        self.assertEqual(answer["polls"], 241)
        self.assertEqual(answer["seconds"], 7200)

    def test_seed_is_another_night(self):
        _, one = self.simulate()
        _, same = self.simulate()
        _, other = self.simulate("nexus-7", SCENARIO, "--seed", "2")
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertAlmostEqual(one["total_j"] / other["total_j"], 1, delta=0.1)

    def test_looking_changes_nothing(self):
        _, often = self.simulate("nexus-7", SCENARIO, "--interval", "1")
        _, seldom = self.simulate("nexus-7", SCENARIO, "--interval", "600")
        self.assertAlmostEqual(often["total_j"], seldom["total_j"], delta=1e-6)

    def test_plain_numbers(self):
        device, scenario = self.path("plain.ini", DEVICE), self.path("short.ini", SHORT)
        answer, truth = self.simulate(device, scenario, "--start-percent", "50.5", "--interval", "7.5")
        self.assertAlmostEqual(truth["apps"]["game/foreground"], 100 * (0.3 + 0.5), delta=1e-9)
        self.assertAlmostEqual(truth["base_j"], 110 * 0.1, delta=1e-9)
        self.assertEqual(truth["percent_start"], 50.5)
        self.assertAlmostEqual(truth["percent_end"], 50.5 - truth["total_j"] / 360, delta=1e-9)
        self.assertEqual(answer["polls"], 16)  # 0, 7.5, .. 105, and the end
        self.assertEqual((answer["percent_start"], answer["percent_end"]), (50, 50))

    def test_what_the_model_has_no_term_for(self):
        """An app at 0.7 of the load's power, before a picture of 0.4 of white, with a camera that no counter shows."""
        device = self.path("oled.ini", DEVICE.replace("[virtual]", "emission_mw.100 = 250\n[virtual]"))
        scenario = self.path("other.ini", SHORT + "cpu_factor = 0.7\ncontent = 0.4\nunseen_mw = 300\n"
                             "[segment 2]\napp = reader\nstate = foreground\nstart_s = 110\nlength_s = 100\n")
        _, truth = self.simulate(device, scenario)
        parts = truth["components_j"]["game/foreground"]
        self.assertAlmostEqual(parts["cpu"], 100 * 0.3 * 0.7, delta=1e-9)
        self.assertAlmostEqual(parts["display"], 100 * (0.5 + 0.4 * 0.25), delta=1e-9)
        self.assertAlmostEqual(parts["unseen"], 30, delta=1e-9)
        self.assertAlmostEqual(truth["apps"]["game/foreground"], 21 + 60 + 30, delta=1e-9)
        self.assertAlmostEqual(truth["apps"]["reader/foreground"], 100 * 0.75, delta=1e-9)  # white, as it says nothing
        self.assertAlmostEqual(truth["base_j"], 210 * 0.1, delta=1e-9)

    def price(self, radio, rows, until):
        """Energy by `joulecast price-packets`, which is another implementation."""
        packets = self.path("packets.csv", "".join(f"{time:.9f},{way},{size}\n" for time, way, size in rows))
        got = subprocess.run([JOULECAST, "price-packets", "--profile", self.path("radio.ini"), "--radio", radio,
                              packets, "--until",
                              str(until), "--json"], capture_output=True, check=True, timeout=60)
        return json.loads(got.stdout)["energy_j"]

    def radios(self, *names):
        """A device with shipped radios; [radio 3g] and the like are its [radio cellular]."""
        text = ""
        for name in names:
            with open(os.path.join(SOURCE, "data/radios", name + ".ini"), encoding="utf-8") as file:
                text += re.sub(r"radio (= )?(3g|lte)", r"radio \1cellular", file.read())
        return self.path("radio.ini",
                         DEVICE + "[wifi]\non_mw = 30\nrx_mj_per_mb = 1e6\ntx_mj_per_mb = 1e6\nwake_mj = 1e6\n" + text)

    def test_radios(self):
        """The truth is the automaton's, packet by packet; no price of [wifi] counts but that of being associated."""
        ways = ("tx", "rx")
        call = [(i / 50, ways[i % 2], 200) for i in range(3000)]
        bursts = [(100 + i // 7 * 3.5, ways[i % 2], 1200) for i in range(140)]
        rates = sorted([(200 + i * 0.03, "rx", 1500) for i in range(1000)] + [(200 + i * 0.1, "tx", 1500)
                                                                              for i in range(300)])
        keepalives = [(300 + 5 * i, "tx", 100) for i in range(10)]
        segment = "[segment {}]\napp = {}\nstate = background\nstart_s = {}\nlength_s = {}\nradio = {}\n"
        for radio, name, shipped in (("wifi", "wifi", "wifi"), ("wifi", "wifi", "wifi-nexus-one"),
                                     ("cellular", "3g", "3g"),
                                     ("cellular", "lte", "lte")):
            device = self.radios(shipped)
            scenario = self.path("s.ini", segment.format(1, "call", 0, 60,
                                                         radio) + "packets_per_s = 50\npacket_bytes = 200\n" +
                                 segment.format(2, "feed", 100, 70, radio) + "packets_per_s = 2\npacket_bytes = 1200\n"
                                 "pattern = bursts\nburst_packets = 7\n" +
                                 segment.format(3, "load", 200, 30,
                                                radio) + "rx_mb_per_s = 0.05\ntx_mb_per_s = 0.015\n" +
                                 segment.format(4, "mail", 300, 50, radio) + "wakes_per_s = 0.2\n" +
                                 segment.format(5, "end", 350, 50, radio))
            base = 400 * (0.1 + 0.03)
            want = self.price(radio, call + bursts + rates + keepalives, 400)
            with self.subTest(radio=name):
                truths = [self.simulate(device, scenario, *more)[1]
                          for more in ((), ("--interval", "0.7"), ("--seed", "2"))]
                self.assertAlmostEqual(truths[0]["total_j"], base + want, delta=1e-6)
                for truth in truths:  # whoever looks when; and there is nothing random
                    self.assertAlmostEqual(truth["total_j"], truths[0]["total_j"], delta=1e-6)
                    self.assertEqual(truth["components_j"], truths[0]["components_j"])
                    self.assertAlmostEqual(truth["total_j"], truth["base_j"] + sum(truth["apps"].values()), delta=1e-6)
                parts = truths[0]["components_j"]
                self.assertEqual(set(parts), {"call/background", "feed/background", "load/background",
                                              "mail/background"})
                for app, packets in (("call", call), ("mail", keepalives)):  # alone, it pays for all but the sleep
                    alone = self.price(radio, packets, 400) - self.price(radio, [], 400)
                    self.assertAlmostEqual(parts[app + "/background"][radio] / alone, 1, delta=0.01)
                self.assertEqual(parts["call/background"]["cellular" if radio == "wifi" else "wifi"], 0)

    def test_uses_by_hand(self):
        """A call, a mail program that asks once a minute, and a download, with the sums that the shipped files say.
        The time in which a radio is up is that between packets, and a tail. What it draws at rest is the base's all
        the time, in whole uW."""
        call = "packets_per_s = 50\npacket_bytes = 200\n"  # the last at 59.98 s
        mail = f"packets_per_s = {2 / 60!r}\npacket_bytes = 500\npattern = bursts\nburst_packets = 2\n"  # ten pairs
        load = "rx_mb_per_s = 1\ntx_mb_per_s = 0.03\n"  # 66,667 packets, the last at 99.999 s, and 2,000
        tail = 0.405 + 0.0625  # WiFi: a second of idle and half of light sleep, with their beacons
        drx = 0.02244 + 10.91  # LTE: 20 ms short and 10 s long
        tx_j, rx_j = 3507.12e-9, 415.76e-9  # LTE, a byte
        wifi_rest, lte_rest = 0.0148, 0.019955
        # WiFi: 1,500 bytes at 20 Mbit/s; between two of them always a beacon's 2 ms, from idle's begin
        busy = 68667 * 600e-6
        wifi_up, lte_up = 1 + 0.5, 0.1 + 0.02 + 10  # after the last packet
        cases = (("wifi", "wifi", call, 60, 3000 * 48e-6 + 2999 * (0.01992 * 0.4 + 0.002 * 0.25) + tail -
                  (59.98 + 80e-6 + wifi_up) * wifi_rest),
                 ("wifi", "wifi", mail, 600, 10 * (2 * 200e-6 * 0.6 + tail - (2 * 200e-6 + wifi_up) * wifi_rest)),
                 ("wifi", "wifi", load, 100,
                  busy * 0.6 + (99.9996 - busy) * 0.65 + tail - (99.9996 + wifi_up) * wifi_rest),
                 ("3g", "cellular", call, 60, 0.6 + (59.98 + 5 - 2) * 0.6 + 3.6),
                 ("3g", "cellular", mail, 600, 10 * (0.6 + 3 + 3.6)),
                 ("3g", "cellular", load, 100, 0.6 + (99.999 + 5 - 2) * 0.6 + 3.6),
                 ("lte", "cellular", call, 60, 0.3146 + (59.98 + 0.1 - 0.26) * 1.2 + drx + 300e3 * (tx_j + rx_j) -
                  (59.98 + lte_up) * lte_rest),
                 ("lte", "cellular", mail, 600,
                  10 * (0.3146 + 0.1 * 1.2 + drx + 500 * (tx_j + rx_j) - (0.26 + lte_up) * lte_rest)),
                 ("lte", "cellular", load, 100,
                  0.3146 + (99.999 + 0.1 - 0.26) * 1.2 + drx + 3e6 * tx_j + 100000500 * rx_j -
                  (99.999 + lte_up) * lte_rest))
        for shipped, radio, keys, length, want in cases:
            with self.subTest(radio=shipped, keys=keys):
                segment = "[segment {}]\napp = {}\nstate = background\nstart_s = {}\nlength_s = {}\nradio = {}\n"
                _, truth = self.simulate(self.radios(shipped),
                                         self.path("s.ini", segment.format(1, "app", 0, length, radio) + keys +
                                                                         segment.format(2, "end", length, 40, radio)))
                self.assertEqual(list(truth["apps"]), ["app/background"])
                self.assertAlmostEqual(truth["components_j"]["app/background"][radio], want, delta=1e-6)

    def test_several_at_once(self):
        """Each app's part by AppScope's rule, reckoned here from the times of packets; apps and base are all."""
        apps = {"a": (0, 200, 0.05), "b": (3.3, 300, 0.021), "c": (10.7, 400, 0.3), "d": (500, 100, 5),
                "e": (0.5, 900, 0.03)}
        packets, want, text = [], dict.fromkeys(apps, 0.0), ""
        for number, (app, (start, length, per_s)) in enumerate(apps.items()):
            text += (f"[segment {number}]\napp = {app}\nstate = background\nstart_s = {start}\nlength_s = {length}\n"
                     f"radio = cellular\npackets_per_s = {per_s}\n")
            packets += [(start + k / per_s, app) for k in range(1000) if k / per_s < length - 1e-9]
        packets.sort()
        while packets:  # one span: 2 s of promotion, then 5 s of DCH and 12 s of FACH after each packet
            up = packets[0][0] + 2
            n = 1
            while n < len(packets) and packets[n][0] < max(packets[n - 1][0], up) + 17:
                n += 1
            times = [up] + [max(time, up) for time, _ in packets[:n]]
            between = sum(0.6 * min(gap, 5) + 0.3 * max(0, gap - 5)
                          for gap in (b - a for a, b in zip(times, times[1:])))
            want[packets[0][1]] += 0.6 + 5 * 0.6 + 12 * 0.3
            for _, app in packets[:n]:
                want[app] += between / n
            del packets[:n]
        text += "[segment 9]\napp = end\nstate = background\nstart_s = 900\nlength_s = 100\n"
        _, truth = self.simulate(self.radios("3g"), self.path("s.ini", text))
        for app, energy_j in want.items():
            self.assertAlmostEqual(truth["components_j"][app + "/background"]["cellular"], energy_j, delta=1e-6)
            self.assertAlmostEqual(truth["apps"][app + "/background"], energy_j, delta=1e-6)
        self.assertAlmostEqual(truth["total_j"], truth["base_j"] + sum(truth["apps"].values()), delta=1e-9)

    def test_random_packets(self):
        device = self.radios("wifi")
        poisson = ("[segment {}]\napp = {}\nstate = background\nstart_s = 0\nlength_s = 600\npackets_per_s = 1\n"
                   "pattern = poisson\n")
        one, two = poisson.format(1, "chat"), poisson.format(2, "game")
        truths = {}
        for name, text, more in (("often", one + two, ("--interval", "0.5")),
                                 ("seldom", one + two, ("--interval", "600")),
                                 ("seed", one + two, ("--seed", "2")), ("alone", one, ())):
            truths[name] = self.simulate(device, self.path("s.ini", text), *more)[1]
        self.assertEqual(truths["often"]["components_j"], truths["seldom"]["components_j"])
        self.assertNotEqual(truths["often"]["components_j"], truths["seed"]["components_j"])
        chat, game = (truths["often"]["components_j"][app + "/background"]["wifi"] for app in ("chat", "game"))
        self.assertNotEqual(chat, game)
        self.assertAlmostEqual(chat / game, 1, delta=0.2)
        self.assertLess(chat, truths["alone"]["components_j"]["chat/background"]["wifi"])  # now it shares

    def test_what_is_held(self):
        device = self.path("held.ini",
                           DEVICE + "[gps]\non_mw = 350\nsleep_mw = 20\n[audio]\non_mw = 60\n[camera]\non_mw = 500\n")
        segment = ("[segment {}]\napp = {}\nstate = background\nstart_s = {}\nlength_s = {}\ngps = {}\naudio = {}\n"
                   "camera = {}\n")
        _, truth = self.simulate(device, self.path("s.ini", segment.format(1, "map", 0, 100, "on", "off", "on") +
                                                   segment.format(2, "run", 50, 100, "on", "on", "on") +
                                                   segment.format(3, "idle", 150, 50, "off", "off", "off")))
        parts = truth["components_j"]
        self.assertEqual(set(parts), {"map/background", "run/background"})
        self.assertAlmostEqual(parts["map/background"]["gps"], 0.35 * (50 + 50 / 2), delta=1e-9)
        self.assertAlmostEqual(parts["run/background"]["gps"], 0.35 * (50 + 50 / 2), delta=1e-9)
        self.assertAlmostEqual(parts["run/background"]["audio"], 6, delta=1e-9)
        self.assertEqual(parts["map/background"]["audio"], 0)
        self.assertAlmostEqual(parts["map/background"]["camera"], 0.5 * (50 + 50 / 2), delta=1e-9)
        self.assertAlmostEqual(truth["base_j"], 200 * 0.1 + 50 * 0.02, delta=1e-9)
        cost = self.cost(device)
        for app in cost["apps"]:
            for part in "gps", "audio", "camera":
                true = parts.get(app["app"] + "/background", {part: 0})[part]
                self.assertAlmostEqual(app["components_j"][part], true, delta=1e-6)
        self.assertEqual(cost["not_measured"], [])
        self.assertAlmostEqual(cost["base"]["energy_j"], truth["base_j"], delta=1e-6)
        cost = self.cost(self.path("plain.ini", DEVICE))
        self.assertEqual(set(cost["not_measured"]), {"gps", "audio", "camera"})
        by_app = {app["app"]: app["components_j"] for app in cost["apps"]}
        self.assertEqual((by_app["map"]["gps"], by_app["map"]["audio"], by_app["run"]["audio"]), (None, 0, None))

    def test_packets_of_a_plain_radio(self):
        """Without [radio wifi] bytes and bursts have their prices; without a modem nothing is sent."""
        device = self.path("plain.ini",
                           DEVICE + "[wifi]\non_mw = 0\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n")
        segment = "[segment {}]\napp = {}\nstate = background\nstart_s = 0\nlength_s = 100\npackets_per_s = {}\n"
        _, truth = self.simulate(device, self.path("s.ini", segment.format(1, "ping", 0.1) + "packet_bytes = 1000\n" +
                                                   segment.format(2, "call",
                                                                  50) + "radio = cellular\nrx_mb_per_s = 1\n"))
        self.assertEqual(set(truth["apps"]), {"ping/background"})
        self.assertAlmostEqual(truth["apps"]["ping/background"], 5e-3 * (0.35 + 0.55) + 10 * 0.12, delta=1e-9)

    def test_too_many_wait(self):
        """For a pulse of the radio: it ends with one sentence."""
        device = self.path("plain.ini",
                           DEVICE + "[wifi]\non_mw = 0\n[radio wifi]\ninitial = off\n[radio wifi off]\npower_mw = 0\n"
                           "pulse = 10 1 600000\non_rx = up at pulse\n[radio wifi up]\npower_mw = 1000\nafter = "
                           "2000 off\n")
        scenario = self.path("s.ini", "[segment 1]\napp = call\nstate = background\nstart_s = 1\nlength_s = 200\n"
                                      "rx_mb_per_s = 150\n")
        got = self.call("--device", "virtual:" + device, "--scenario", scenario, "--database", self.path("usage.db"))
        self.assertEqual(got.returncode, 1)
        self.assertEqual(got.stderr.count("\n"), 1, got.stderr)
        self.assertIn("[radio wifi]: more than 1000000 packets wait for a pulse", got.stderr)

    def test_battery_dies(self):
        device, scenario = self.path("plain.ini", DEVICE), self.path("short.ini", SHORT)
        got = self.call("--device", "virtual:" + device, "--scenario", scenario, "--start-percent", "0.1",
                        "--truth", self.truth, "--database", self.path("usage.db"))
        self.assertEqual(got.returncode, 0)
        self.assertIn("empty after", got.stderr)
        with open(self.truth, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["percent_end"], 0)

    def test_own_folder(self):
        got = self.call("--device", "virtual:nexus-7", "--scenario", "airport")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue(os.path.exists(self.path("joulecast/virtual/nexus-7/usage.db")))

    def seconds(self, database):
        with contextlib.closing(sqlite3.connect(database)) as rows:
            return rows.execute("SELECT sum(elapsed_ns) / 1e9, (max(end_ns) - min(start_ns)) / 1e9 FROM "
                                "interval").fetchone()

    def test_begins_anew(self):
        """Two nights in one database would overlap, and double everything."""
        for more in ([], ["--database", self.path("named.db")]):
            for seed in ("1", "2"):
                got = self.call("--device", "virtual:nexus-7", "--scenario", "airport", "--seed", seed, *more)
                self.assertEqual((got.returncode, got.stderr), (0, ""))
        for database in (self.path("joulecast/virtual/nexus-7/usage.db"), self.path("named.db")):
            self.assertEqual(self.seconds(database), (7200, 7200))

    def test_append(self):
        """A week of sessions: time goes on from one to the next, past now, and charging takes none of it."""
        device, database = self.path("plain.ini", DEVICE), self.path("week.db")
        scenario = self.path("short.ini", SHORT)
        more = ["--device", "virtual:" + device, "--scenario", scenario, "--database", database, "--truth", self.truth]
        joules = []
        for arguments in (["--append"], ["--append", "--start-percent", "60"], ["--append", "--seed", "3"]):
            got = self.call(*more, *arguments)
            self.assertEqual((got.returncode, got.stderr), (0, ""))
            with open(self.truth, encoding="utf-8") as file:
                joules.append(json.load(file)["total_j"])
        with contextlib.closing(sqlite3.connect(database)) as rows:
            intervals = rows.execute("SELECT start_ns, end_ns, capacity_percent, discharge_uj FROM interval ORDER BY "
                                     "start_ns").fetchall()
        self.assertEqual(len(intervals), 12)  # each of 110 s
        self.assertEqual([row[1] for row in intervals[:-1]], [row[0] for row in intervals[1:]])
        self.assertEqual(intervals[-1][1] - intervals[0][0], 330 * 10**9)
        self.assertEqual([row[2] for row in intervals], [89] * 4 + [59] * 4 + [89] * 4)
        self.assertAlmostEqual(sum(row[3] for row in intervals) / 1e6, sum(joules), delta=0.01)  # in uWh
        self.assertLess(abs(intervals[3][1] / 1e9 - time.time()), 60)  # the first ended then; the others are to come
        got = self.call(*more)
        self.assertEqual(got.returncode, 0)
        self.assertEqual(self.seconds(database), (110, 110))  # without --append, the database begins anew

    def record(self, database):
        """This machine, as joulecastd does, which does not come with every build."""
        return subprocess.run([JOULECAST, "trace", "--count", "2", "--interval", "0.1", "--profile", "nexus-one",
                               "--database",
                               database], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)

    def test_never_a_machines_database(self):
        """Nor is a virtual device's a machine's."""
        machine, simulated = self.path("machine.db"), self.path("simulated.db")
        self.assertEqual(self.record(machine).returncode, 0)
        before = self.seconds(machine)
        self.refused(1, "machine.db is no database of a virtual device", "--device", "virtual:nexus-7", "--scenario",
                     "airport", "--database", machine)
        self.assertEqual(self.seconds(machine), before)
        self.refused(1, "machine.db is no database of a virtual device", "--device", "virtual:nexus-7", "--scenario",
                     "airport", "--database", machine, "--append")
        got = self.call("--device", "virtual:nexus-7", "--scenario", "airport", "--database", simulated)
        self.assertEqual(got.returncode, 0, got.stderr)
        got = self.record(simulated)
        self.assertEqual(got.returncode, 1)
        self.assertIn("simulated.db is the database of a virtual device", got.stderr)
        self.assertEqual(self.seconds(simulated), (7200, 7200))

    def test_every_shipped_device(self):
        for name in ("nexus-one", "big-little", "laptop", "handheld", "hybrid-laptop"):
            scenario = self.path("idle.ini", "[segment 1]\napp = system\nstate = background\nstart_s = 0\n"
                                 "length_s = 3600\ncores = 0.1\nwakes_per_s = 0.1\n")
            _, truth = self.simulate(name, scenario)
            self.assertGreater(truth["apps"]["system/background"], 0)

    def test_every_shipped_scenario_on_every_shipped_device(self):
        folder = os.path.join(SOURCE, "data/virtual")
        devices, scenarios = ([name[:-4] for name in sorted(os.listdir(where)) if name.endswith(".ini")]
                              for where in (folder, folder + "/scenarios"))
        self.assertTrue(len(devices) >= 6 and "airport" in scenarios)
        for device in devices:
            for scenario in scenarios:
                with self.subTest(device=device, scenario=scenario):
                    _, truth = self.simulate(device, scenario)
                    self.assertTrue(all(joules > 0 for joules in truth["apps"].values()), truth)

    def test_for_any_device(self):
        """Percent and threads are frequencies, brightness and cores of each device."""
        steps = DEVICE.replace("active_mw.500000 = 200\n", "active_mw.500000 = 200\nactive_mw.1000000 = 500\n")
        any_device = SHORT.replace("brightness = 100", "brightness = 40 %").replace("cores =", "threads =")
        for percent, khz in (("10 %", 500000), ("74%", 500000), ("76 %", 1000000), ("100 %", 1000000)):
            device = self.path("steps.ini", steps)
            _, got = self.simulate(device, self.path("any.ini", any_device.replace("500000", percent)))
            _, want = self.simulate(device, self.path("short.ini", SHORT.replace("brightness = 100", "brightness = 102")
                                                      .replace("500000", str(khz))))
            self.assertEqual(got, want, percent)
        one = self.path("one.ini", DEVICE.replace("0-3", "0"))  # 1 and 0.5 of one CPU are all of it
        _, got = self.simulate(one, self.path("any.ini", any_device))
        _, want = self.simulate(one, self.path("short.ini", SHORT.replace("brightness = 100", "brightness = 102")
                                               .replace("cores = 1 0.5", "cores = 1")))
        self.assertEqual(got, want)
        for text, words in ((SHORT.replace("1 0.5", "1") + "threads = 1\n", "cores and threads"),
                            (any_device + "threads = 1\n", "second time"),
                            (any_device.replace("40 %", "101 %"), "brightness = 101 %"),
                            (any_device.replace("500000", "150 %"), "150 % is no frequency"),
                            (any_device.replace("threads = 1 0.5", "threads ="), "threads has no value"),
                            (any_device.replace("threads = 1", "threads = 2"), "threads")):
            self.refused(1, words, "--device", "virtual:" + one, "--scenario", self.path("wrong.ini", text))

    def test_mistakes(self):
        short = self.path("short.ini", SHORT)
        plain = self.path("plain.ini", DEVICE)
        real = self.path("real.ini", DEVICE.replace("[virtual]\nseed = 1\n", ""))
        fast = self.path("fast.ini", SHORT.replace("500000", "600000"))
        bright = self.path("bright.ini", SHORT.replace("brightness = 100", "brightness = 300"))
        self.refused(2, "--device virtual:NAME is needed", "--scenario", short)
        self.refused(2, "is not virtual:NAME or virtual:FILE", "--device", "nexus-7", "--scenario", short)
        self.refused(2, "--scenario FILE", "--device", "virtual:nexus-7")
        self.refused(2, "--interval: 0 s is below 0.1 s", "--device", "virtual:nexus-7", "--scenario", short,
                     "--interval", "0")
        self.refused(2, "--start-percent: 101 % is above 100 %", "--device", "virtual:nexus-7", "--scenario", short,
                     "--start-percent", "101")
        self.refused(2, "--seed: -1 is below 0", "--device", "virtual:nexus-7", "--scenario", short, "--seed", "-1")
        self.refused(2, "unknown option --speed", "--device", "virtual:nexus-7", "--scenario", short, "--speed", "1")
        self.refused(1, 'no virtual device pixel', "--device", "virtual:pixel", "--scenario", short)
        self.refused(1, "no [virtual] section", "--device", "virtual:" + real, "--scenario", short)
        self.refused(1, "no scenario harbour", "--device", "virtual:nexus-7", "--scenario", "harbour")
        self.refused(1, "no-such.ini", "--device", "virtual:" + plain, "--scenario", self.path("no-such.ini"))
        self.refused(1, "fast.ini:8: khz = 600000", "--device", "virtual:" + plain, "--scenario", fast)
        self.refused(1, "bright.ini:2: brightness = 300", "--device", "virtual:" + plain, "--scenario", bright)
        for line, words in (("cpu_factor = 0", "cpu_factor = 0 is out of range"),
                            ("content = 1.1", "content = 1.1 is out of"),
                            ("unseen_mw = -1", "unseen_mw = -1 is out of range"),
                            ("unseen_mw = nan", "unseen_mw = nan"),
                            ("packets_per_s = 10001", "packets_per_s = 10001 is out of range"),
                            ("radio = lte", "radio = lte is unknown")):
            self.refused(1, "odd.ini:10: " + words, "--device", "virtual:" + plain, "--scenario",
                         self.path("odd.ini", SHORT + line + "\n"))
        self.refused(1, "usage.db", "--device", "virtual:" + plain, "--scenario", short,
                     "--database", "/proc/nowhere/usage.db")
        self.refused(1, "its folder does not exist", "--device", "virtual:" + plain, "--scenario", short,
                     "--database", self.path("mistyped/usage.db"))
        self.assertFalse(os.path.exists(self.path("mistyped")))
        self.refused(1, "no usage database", "--device", "virtual:nexus-7", "--scenario", SCENARIO, "--database",
                     self.path("other.db", "this is no database " * 100))


sys.argv[1:] = []
unittest.main()
