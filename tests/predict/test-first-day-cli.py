#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Without any calibration every command answers, by a profile that ships for the device or by one of its class, and
says so.

Usage: test-first-day-cli.py JOULECAST JOULECASTD MACHINES
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, JOULECASTD, MACHINES = sys.argv[1:]
CLASSES = {"nexus-7": "phone", "nexus-one": "phone", "big-little": "phone", "handheld": "handheld", "laptop": "laptop",
           "hybrid-laptop": "laptop"}
CALIBRATE = "joulecast calibrate makes them this device's own"
BRINGS = CALIBRATE + ", and a total is then off by some 1 % instead of 7 %."
SYSTEM_PROFILE = "/etc/joulecast/profile.ini"
SCENARIO = """[scenario]
brightness = %d
[segment 1]
app = game
state = foreground
start_s = 0
length_s = 1800
khz = %d
cores = 0.8
read_mb_per_s = 0.1
write_mb_per_s = 0.02
rx_mb_per_s = 0.05
tx_mb_per_s = 0.01
wakes_per_s = 0.1
[segment 2]
app = behind
state = background
start_s = 600
length_s = 3000
khz = %d
cores = 0.2
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="joulecast-first-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {**os.environ, "XDG_STATE_HOME": self.folder + "/state", "XDG_CONFIG_HOME": self.folder + "/config"}

    def run_it(self, *arguments, code=0):
        done = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, check=False, env=self.env,
                              timeout=60)
        self.assertEqual(done.returncode, code, (arguments, done))
        return " ".join((done.stdout if code == 0 else done.stderr).split())

    def ask(self, *arguments):
        return json.loads(self.run_it(*arguments, "--json"))

    def simulate(self, device):
        """An hour; what really happened."""
        shown = self.ask("doctor", "--device", device)
        khz = shown["policies"][0]["khz"][len(shown["policies"][0]["khz"]) // 2]
        brightest = {"virtual:laptop": 1500, "virtual:handheld": 65535}.get(device, 255)
        with open(self.folder + "/scenario.ini", "w", encoding="utf-8") as file:
            file.write(SCENARIO % (brightest // 2, khz, khz))
        self.run_it("simulate", "--device", device, "--scenario", self.folder + "/scenario.ini", "--truth",
                    self.folder + "/truth.json")
        with open(self.folder + "/truth.json", encoding="utf-8") as file:
            return json.load(file)


class Virtual(Case):
    def test_every_command_answers(self):
        for name, kind in CLASSES.items():
            with self.subTest(name):
                device = "virtual:" + name
                truth = self.simulate(device)
                cost = self.ask("cost", "--device", device)
                self.assertEqual((cost["profile"], cost["profile_basis"], cost["validated"]),
                                 ("class-" + kind, "class", None))
                held = [(cost["total"]["energy_j"], truth["total_j"])]
                held += [(app["energy_j"], truth["apps"][app["app"] + "/" + app["state"]]) for app in cost["apps"]]
                self.assertEqual(len(held), 3)
                for interval, true in held:
                    self.assertTrue(interval["low"] <= true <= interval["high"], (interval, true))
                    self.assertGreater(interval["high"] - interval["low"], 0.3 * interval["value"])
                forecast = self.ask("predict", "--app", "game", "--minutes", "20", "--device", device)
                self.assertEqual(forecast["profile_basis"], "class")
                self.assertLess(forecast["percent"]["low"], forecast["percent"]["high"])
                budget = self.ask("budget", "--app", "game", "--device", device)
                self.assertEqual(budget["profile_basis"], "class")
                self.assertGreater(budget["minutes"]["high"], budget["minutes"]["low"])
                self.assertEqual(self.ask("profile", "show", "--device", device)["path"], None)
                line = "These numbers are of a usual %s; %s" % (kind, BRINGS)
                for question in (["cost"], ["predict", "--app", "game", "--minutes", "20"], ["budget", "--app", "game"],
                                 ["profile", "show"]):
                    self.assertEqual(self.run_it(*question, "--device", device).count(line), 1, question)

    def test_doctor_says_which_and_why(self):
        answer = self.ask("doctor", "--device", "virtual:nexus-7")
        self.assertEqual((answer["profile_basis"], answer["profile_device"]), ("class", "class-phone"))
        self.assertEqual(answer["profile_why"], "a battery of 15 Wh, 4 CPUs up to 1.5 GHz")
        self.assertIn("made by class-phone (a battery of 15 Wh, 4 CPUs up to 1.5 GHz)",
                      self.run_it("doctor", "--device", "virtual:nexus-7"))

    def test_a_named_profile_must_exist(self):
        self.simulate("virtual:nexus-7")
        for question in ["cost"], ["predict", "--app", "game", "--minutes", "1"], ["profile", "show"]:
            self.assertIn("no profile", self.run_it(*question, "--device", "virtual:nexus-7", "--profile",
                                                    self.folder + "/none.ini", code=3))

    def test_use_writes_it_for_the_device(self):
        device = "virtual:big-little"
        for own in ([], ["--profile", self.folder + "/own.ini"]):
            self.run_it("profile", "use", "class-tablet", "--device", device, *own)
            shown = self.ask("profile", "show", "--device", device, *own)
            self.assertEqual((shown["profile_basis"], shown["device"], shown["method"]),
                             ("class", "class-tablet", "class"))
            self.assertTrue(os.path.exists(shown["path"]))
            keys = {coefficient["key"] for coefficient in shown["coefficients"]}
            self.assertTrue({"cpu.4.active_mw.2361600", "cpu.0.shared_mw.300000", "display.power_mw.255"} <= keys, keys)
        self.simulate(device)
        self.assertEqual(self.ask("cost", "--device", device)["profile"], "class-tablet")
        self.assertEqual(self.ask("cost", "--device", device, "--profile", "class-laptop")["profile"], "class-laptop")
        self.assertIn("display.power_mw.255", self.run_it("profile", "show", "class-laptop", "--device", device))

    def test_a_calibrated_one_says_so(self):
        truth = os.path.join(os.path.dirname(MACHINES), "..", "data", "virtual", "nexus-7.ini")
        self.simulate("virtual:nexus-7")
        self.assertEqual(self.ask("cost", "--device", "virtual:nexus-7", "--profile", truth)["profile_basis"],
                         "calibrated")
        self.assertNotIn(CALIBRATE, self.run_it("cost", "--device", "virtual:nexus-7", "--profile", truth))


@unittest.skipIf(os.path.exists(SYSTEM_PROFILE), "this machine has a profile of its own")
class Machine(Case):
    """A recorded machine with a database as if it had recorded it."""
    def setUp(self):
        super().setUp()
        self.machine = self.folder + "/machine"
        subprocess.run([os.path.join(os.path.dirname(MACHINES), "gather-machine"), "--unpack",
                        os.path.join(MACHINES, "phone.tree"), self.machine], check=True, stdout=subprocess.DEVNULL)
        self.simulate("virtual:big-little")
        self.database = self.folder + "/usage.db"
        shutil.move(self.folder + "/state/joulecast/virtual/big-little/usage.db", self.database)
        usage_db.change(self.database, "PRAGMA application_id = 0x4a4f554c",
                        "UPDATE app SET uid = 1000 WHERE app <> ''")
        self.where = ["--machine", self.machine, "--database", self.database]

    def test_class(self):
        budget = self.ask("budget", "--app", "game", "--battery-percent", "80", *self.where)
        self.assertEqual(budget["profile_basis"], "class")
        answer = self.ask("doctor", *self.where)
        self.assertEqual((answer["profile_device"], answer["profile_why"]),
                         ("class-phone", "a battery of 11 Wh, 8 CPUs up to 2.4 GHz"))
        with open(self.machine + "/sys/class/power_supply/bms/uevent", "w", encoding="ascii") as file:
            file.write("")
        self.assertIn("no battery shows", self.run_it("budget", "--app", "game", *self.where, code=3))

    def test_shipped(self):
        base = self.machine + "/sys/firmware/devicetree/base"
        os.makedirs(base)
        with open(base + "/compatible", "w", encoding="ascii") as file:
            file.write("asus,flo\0qcom,apq8064\0")
        self.assertEqual(self.ask("doctor", *self.where)["profile_basis"], "shipped")
        question = ["budget", "--app", "game", "--battery-percent", "80", *self.where]
        self.assertEqual(self.ask(*question)["profile_basis"], "shipped")
        self.assertIn("These numbers are of another nexus-7-sapp; " + CALIBRATE, self.run_it(*question))

    def test_trace(self):
        question = ["trace", "--machine", self.machine, "--count", "1", "--interval", "0.1"]
        self.assertEqual(self.ask(*question)["profile_basis"], "class")
        self.assertIn("These numbers are of a usual phone; " + BRINGS, self.run_it(*question))

    def test_service(self):
        path = self.folder + "/joulecast.sock"
        daemon = subprocess.Popen([JOULECASTD, "--machine", self.machine, "--database", self.database, "--interval",
                                   "3600",
                                   "--focus-socket", self.folder + "/focus.sock", "--socket", path],
                                  stderr=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        for line in daemon.stderr:
            if "watching" in line:
                break
        for question in ({"ask": "cost"}, {"ask": "predict", "app": "game", "minutes": 20}):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(30)
                connection.connect(path)
                connection.sendall(json.dumps(question).encode() + b"\n")
                with connection.makefile() as file:
                    answer = json.load(file)
            self.assertEqual(answer.get("profile_basis"), "class", answer)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
