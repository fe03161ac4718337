#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast community` with a folder and a server: what is shared, what never is, and that it ends where its owner
says so.

Usage: test-share.py JOULECAST JOULECAST-COMMUNITY DEVICE-INI LAPTOP-TREE GATHER-MACHINE MAKE-COMMUNITY [reach] [serve]
"""
import contextlib
import datetime
import gzip
import hashlib
import json
import os
import pwd
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from server import Server

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, SERVER, DEVICE, TREE, GATHER, GENERATOR = map(os.path.abspath, sys.argv[1:7])
REACHES, SERVES = "reach" in sys.argv[7:], "serve" in sys.argv[7:]
HASH = r"h:[0-9a-f]{32}"
PLAIN = r"[\w.+:-]{1,64}"
# All that an upload may be made of: nothing else passes.
FEATURES = {
    "kernel": r"[\d.]+", "mesa": r"[\w.+~]+", "firmware": r"[\w ._+~:/()-]+", "battery_wear": r"\d+-\d+|100",
    "power_model": "calibrated|shipped|class", "refresh": "30|40|48|60|75|90|1[0246]{2}|165|180|200|240|[34][068]0",
    "power_profile": "low-power|balanced|performance|powersave|schedutil", "external_screen": "yes|no",
    "brightness": r"off|0-20|20-40|40-60|60-80|80-100", "network": "none|wifi|other",
}
COMPONENTS = {"cpu", "display", "disk", "wifi", "gpu", "cellular", "gps", "audio", "camera", "unseen"}
PLANTED = ("/home/alice/Tagebuch 2026.py", "usr:app-Kündigung (Entwurf) - Mozilla@alice.service", "ctr:192.168.7.9")
TITLE = "Arztbrief an Bob Meier - LibreOffice"


def hash_of(name):
    return "h:" + hashlib.sha256(b"joulecast-app:" + name.encode()).hexdigest()[:32]


class Share(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.top = place.name
        self.database, self.folder, self.machine = (os.path.join(self.top, name)
                                                    for name in ("usage.db", "folder", "machine"))
        self.state = os.path.join(self.top, "community.json")
        os.mkdir(self.folder)
        subprocess.run([GATHER, "--unpack", TREE, self.machine], check=True)
        self.battery("Charging")
        self.simulate()
        self.date_back()

    def date_back(self):
        """Simulated time ends now; the rest of the two days is for --append."""
        usage_db.change(self.database,
                        *(f"UPDATE {table} SET {column} = {column} - 40 * 3600 * 1000000000" for table, column in (
            ("interval", "end_ns"), ("interval", "start_ns"), ("usage", "interval"), ("period", "bucket_ns"),
            ("period", "start_ns"),
            ("period", "end_ns"), ("charge", "start_ns"), ("sleep", "end_ns"))))

    def simulate(self, *more):
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", "airport",
                        "--database", self.database, *more],
                       check=True, stdout=subprocess.DEVNULL)

    def battery(self, status):
        supply = os.path.join(self.machine, "sys", "class", "power_supply")
        for name in os.listdir(supply):
            path = os.path.join(supply, name, "uevent")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "POWER_SUPPLY_STATUS" in text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(re.sub("(POWER_SUPPLY_STATUS)=.*", rf"\1={status}", text))

    def run_it(self, *words, code=0):
        done = subprocess.run([JOULECAST, "community", *words, "--database", self.database, "--profile", DEVICE,
                               "--machine", self.machine],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        self.assertNotRegex(done.stderr, "AddressSanitizer|runtime error")
        return done.stdout if code == 0 else done.stderr

    def ask_it(self, answer, *words):
        """On a terminal, where it asks."""
        parent, child = os.openpty()
        os.write(parent, answer.encode())
        done = subprocess.run([JOULECAST, "community", *words, "--database", self.database, "--profile", DEVICE,
                               "--machine", self.machine],
                              stdin=child, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        os.close(child)
        os.close(parent)
        self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))
        return done.stdout

    def status(self):
        return json.loads(self.run_it("status", "--json"))

    def files(self):
        return sorted(os.listdir(self.folder))

    def load(self):
        done = subprocess.run([SERVER, "load", self.folder, "--database", os.path.join(self.top, "all.db")],
                              capture_output=True, text=True,
                              check=True)
        self.assertEqual(done.stderr, "")
        return [int(number) for number in re.findall(r"\d+", done.stdout)]

    def change_state(self, **keys):
        with open(self.state, encoding="utf-8") as file:
            state = json.load(file)
        with open(self.state, "w", encoding="utf-8") as file:
            json.dump({**state, **keys}, file)

    def days_later(self):
        """The last upload was longer ago."""
        self.change_state(sent_ns=str(int(self.now() - 2 * 86400) * 10**9))

    @staticmethod
    def now():
        return datetime.datetime.now().timestamp()

    def check_upload(self, text, names=()):
        """Each line has the keys of community/METHOD.md, and values of the classes above."""
        samples, apps = [], {}
        for line in text.splitlines():
            row = json.loads(line)
            if "v" not in row:
                if "asleep" in row:
                    self.assertEqual(set(row), {"t", "t2", "level_ppm", "level2_ppm", "asleep"})
                    samples.append(row)
                    continue
                self.assertLessEqual(set(row), {"t", "t2", "level_ppm", "level2_ppm", "apps", "own_mj", "parts_mj"})
                self.assertTrue(set(map(str, row["apps"])) <= set(apps)
                                and set(row.get("own_mj", {})) <= set(map(str, row["apps"])), row)
                for app, parts in row.get("parts_mj", {}).items():
                    self.assertLessEqual(set(parts), COMPONENTS)
                    self.assertLessEqual(sum(parts.values()), 1.25 * row["own_mj"][app], row)
                self.assertEqual((row["t"] % 10**9, row["t2"] % 10**9), (0, 0))
                samples.append(row)
                continue
            self.assertLessEqual(set(row), {"v", "client", "first", "os", "model", "features", "apps", "versions"})
            self.assertEqual(row["first"], self.first + len(samples))
            apps = row["apps"]
            for key, value in row["features"].items():
                self.assertRegex(value, f"^(?:{FEATURES[key]})$")
            for app, name in apps.items():
                self.assertRegex(name, f"^(?:{HASH})$" if name not in names else f"^(?:{PLAIN})$")
        return samples

    first = 0

    def test_life(self):
        self.assertIn("nothing is shared", self.run_it("status", code=3))
        self.assertIn("nothing is shared", self.run_it("send", code=3))
        self.assertIn("nothing is shared", self.run_it("forget", code=3))
        self.assertGreater(len(self.check_upload(self.run_it("preview"))), 3)
        self.assertFalse(os.path.exists(self.state), "a preview joins")
        self.assertIn("is no folder", self.run_it("join", os.path.join(self.top, "missing"), code=1))
        self.assertIn("no folder", self.run_it("join", self.database, code=1))
        for url in ("http://example.org/", "ftp://example.org", "https://user:word@example.org/",
                    "https://example.org/?a=1", "file:///etc"):
            self.run_it("join", url, code=1)
        self.assertFalse(os.path.exists(self.state))
        self.assertIn("Shared with " + self.folder, self.run_it("join", self.folder))
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o600)
        self.assertIn("already shared", self.run_it("join", self.folder, code=1))
        status = self.status()
        self.assertEqual((status["sent"], status["sent_samples"], status["not_now"]), (None, 0, []))
        # The upload is byte for byte the previewed text.
        shown = self.run_it("preview")
        samples = self.check_upload(shown)
        self.assertEqual(status["waiting_samples"], len(samples))
        self.run_it("send")
        self.assertEqual(self.files(), [f"{status['client']}-{0:020}.ndjson.gz"])
        with gzip.open(os.path.join(self.folder, self.files()[0]), "rt", encoding="utf-8") as file:
            self.assertEqual(file.read(), shown)
        self.assertEqual(self.load()[1:], [len(samples), 0, 0])
        after = self.status()
        self.assertEqual((after["sent_samples"], after["waiting_samples"]), (len(samples), 0))
        self.assertEqual(after["sent_bytes"], status["waiting_bytes"])
        self.assertIn("less than a day", self.run_it("send", code=3))
        self.assertIn("no sample to send", self.run_it("preview", code=3))
        # Forgotten: the file is gone, a request is there, and another id goes on.
        self.run_it("forget")
        self.assertEqual(self.files(), [status["client"] + "-forget.json"])
        fresh = self.status()
        self.assertNotEqual(fresh["client"], status["client"])
        self.assertEqual((fresh["forgotten"], fresh["sent_samples"]), (False, 0))
        with open(os.path.join(self.folder, f".{status['client']}-forgotten.json"), "w", encoding="utf-8") as file:
            file.write("{}")
        self.assertTrue(self.status()["forgotten"])
        # The end.
        self.assertIn("Nothing is shared", self.run_it("leave"))
        self.assertFalse(os.path.exists(self.state))
        self.run_it("send", code=3)
        self.run_it("leave", code=3)
        self.assertEqual([name for name in os.listdir(self.top) if "tmp" in name], [])

    def test_questions(self):
        """Nothing of the past is shared without a yes; who leaves is offered to have all removed first."""
        self.assertNotIn("What was recorded before is shared", self.ask_it("n\n", "join", self.folder))
        self.assertEqual(self.status()["waiting_samples"], 0)
        self.assertIn("Nothing is shared", self.ask_it("", "leave"))  # nothing was sent: nothing to ask
        self.assertIn("What was recorded before is shared", self.ask_it("y\n", "join", self.folder))
        self.run_it("send")
        client = self.status()["client"]
        self.assertIn("They can be removed only with the id", " ".join(self.ask_it("y\n", "leave").split()))
        self.assertEqual((self.files(), os.path.exists(self.state)), ([client + "-forget.json"], False))
        self.ask_it("y\n", "join", self.folder)
        self.run_it("send")
        self.assertIn("stay at", self.ask_it("n\n", "leave"))

    def test_samples_are_what_was_recorded(self):
        samples = self.check_upload(self.run_it("preview"))
        shown = {}
        for sample in samples:
            self.assertGreaterEqual(sample["t2"] - sample["t"], 600 * 10**9)
            self.assertGreater(sample["level_ppm"], sample["level2_ppm"])
        times = sorted((sample["t"], sample["t2"]) for sample in samples)
        self.assertTrue(all(a[1] <= b[0] for a, b in zip(times, times[1:])), times)
        apps = json.loads(self.run_it("preview").splitlines()[0])["apps"]
        self.assertIn(hash_of("angry-birds"), apps.values())
        for sample in samples:
            for app, mj in sample["own_mj"].items():
                shown[app] = shown.get(app, 0) + mj
        span = [datetime.datetime.fromtimestamp(times[i][i] / 1e9,
                                                datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") for i in (0, -1)]
        cost = json.loads(subprocess.run([JOULECAST, "cost", "--database", self.database, "--profile", DEVICE,
                                          "--json", "--from", span[0],
                                          "--to", span[1]], capture_output=True, check=True).stdout)
        for app in ("angry-birds", "browser"):
            ours = sum(mj for key, mj in shown.items() if apps.get(key) == hash_of(app)) / 1000
            theirs = sum(row["energy_j"]["value"] for row in cost["apps"] if row["app"] == app)
            self.assertAlmostEqual(ours / theirs, 1, delta=0.1, msg=app)

    def test_twice_is_once(self):
        self.run_it("join", self.folder)
        with open(self.state, encoding="utf-8") as file:
            before = file.read()
        self.run_it("send")
        first = self.load()[1]
        self.simulate("--append")
        with open(self.state, "w", encoding="utf-8") as file:
            file.write(before)  # as if the answer had not arrived
        self.run_it("send")
        self.assertEqual(len(self.files()), 1)
        added, known, bad = self.load()[1:]
        self.assertGreater(added, 2)
        self.assertEqual((known, bad), (first, 0))
        self.days_later()
        self.simulate("--append")
        self.first = self.status()["sent_samples"]
        self.check_upload(self.run_it("preview"))
        self.run_it("send")
        self.assertEqual(len(self.files()), 2)
        self.assertEqual(self.load()[2:], [first + added, 0])

    def test_no_gap_becomes_a_sample(self):
        """A charge, a suspend, and a pause: whoever reads the database again would find no span over them."""
        self.simulate("--append")
        samples = self.check_upload(self.run_it("preview"))
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as database:
            rows = database.execute("SELECT start_ns, end_ns, suspend_ns, battery_status FROM interval ORDER BY "
                                    "end_ns").fetchall()
        middle = [row[1] for row in rows][len(rows) // 4], [row[1] for row in rows][len(rows) // 2]
        usage_db.change(self.database, ("UPDATE interval SET suspend_ns = 20000000000 WHERE end_ns = ?", (middle[0],)),
                        ("UPDATE interval SET battery_status = 2 WHERE end_ns = ?", (middle[1],)))
        fewer = self.check_upload(self.run_it("preview"))
        self.assertLess(len(fewer), len(samples))
        for sample in fewer:
            for at in middle:
                self.assertFalse(sample["t"] < at <= sample["t2"], (sample, at))

    def suspend(self, first, n, part=0.97, minutes=240):
        """Polls from the one at index @first on become one that slept for @part of its time; what followed is later
        by @minutes."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT start_ns, end_ns, discharge_npercent, discharge_uj FROM interval ORDER "
                                    "BY end_ns").fetchall()
        start, end, elapsed = rows[first][0], rows[first + n - 1][1], minutes * 60 * 10**9
        sums = [sum(row[i] for row in rows[first:first + n]) for i in (2, 3)]
        later = elapsed - (end - start)
        usage_db.change(
            self.database, ("DELETE FROM interval WHERE start_ns >= ? AND end_ns < ?", (start, end)),
            ("UPDATE interval SET start_ns = ?, elapsed_ns = ?, suspend_ns = ?, discharge_npercent = ?, "
             "discharge_uj = ? WHERE end_ns = ?",
             (start, elapsed, int(part * elapsed), *sums, end)),
            ("UPDATE interval SET start_ns = start_ns - ? WHERE end_ns <= ?", (later, end)),
            ("UPDATE interval SET end_ns = end_ns - ? WHERE end_ns < ?", (later, end)),
            ("UPDATE usage SET interval = interval - ? WHERE interval < ?", (later, end)))
        return start - later, end

    def asleep(self):
        return [row for row in self.check_upload(self.run_it("preview")) if "asleep" in row]

    def test_asleep(self):
        """A suspend is a sample without apps from the reading before to the one after, is sent once, and has its
        own rate in a report."""
        before = len(self.check_upload(self.run_it("preview")))
        start, end = self.suspend(100, 20)
        second = 10**9
        (row,) = self.asleep()
        self.assertEqual((row["t"], row["t2"], row["asleep"]), (start // second * second, end // second * second, True))
        self.assertGreater(row["level_ppm"], row["level2_ppm"])
        samples = self.check_upload(self.run_it("preview"))
        self.assertGreaterEqual(len(samples), before - 2)
        times = sorted((sample["t"], sample["t2"]) for sample in samples)
        self.assertTrue(all(a[1] <= b[0] for a, b in zip(times, times[1:])), times)
        header = next(json.loads(line) for line in self.run_it("preview").splitlines() if '"apps":{}' in line)
        self.assertNotIn("brightness", header["features"])
        # Not one: awake for a part, or on a charger before it, or with a clock that was set, or with a level that rose.
        for column, value in (("suspend_ns", "elapsed_ns / 2"), ("elapsed_ns", "elapsed_ns + 120000000000"),
                              ("discharge_npercent", "discharge_npercent - 2000000000"),
                              ("battery_status", "2"),
                              ("charge_now_uah", "NULL, capacity_percent = 100, discharge_npercent = NULL")):
            with open(self.database, "rb") as file:
                kept = file.read()
            usage_db.change(self.database, (f"UPDATE interval SET {column} = {value} WHERE end_ns = ?", (end,)))
            self.assertEqual(self.asleep(), [], (column, value))
            with open(self.database, "wb") as file:
                file.write(kept)
        # At the end, it is sent, and is not there again when the device has been used since.
        self.run_it("join", self.folder)
        usage_db.change(self.database, ("DELETE FROM interval WHERE end_ns > ?", (end,)),
                        ("DELETE FROM usage WHERE interval > ?", (end,)))
        self.assertEqual(self.check_upload(self.run_it("preview"))[-1], row)
        self.run_it("send")
        self.assertIn("half an hour suspended", self.run_it("preview", code=3))
        self.assertEqual(self.load()[2:], [0, 0])
        self.days_later()
        self.simulate("--append")
        self.first = self.status()["sent_samples"]
        self.assertEqual(self.asleep(), [])

    def test_report_of_asleep(self):
        self.run_it("join", self.folder)
        rate = {"value": 2200, "low": 1700, "high": 3000}
        answer = self.report(asleep={"samples": 40, "clients": 12, "own_rate": 5300, "rate": rate,
                                     "same_model": True})["asleep"]
        self.assertAlmostEqual(answer["percent_per_hour"], 1.908)
        self.assertAlmostEqual(answer["others_percent_per_hour"]["low"], 0.612)
        self.assertEqual((answer["clients"], answer["same_model"]), (12, True))
        text = " ".join(self.run_it("report").split())
        self.assertIn("Suspended, this device loses 1.9 % of a full charge an hour. 12 devices of the same model "
                      "lose 0.79 % (median; 95 % bounds 0.61 to 1.1).", text)
        for wrong in (None, 5, {}, {"own_rate": -1, "rate": rate}, {"own_rate": "x", "rate": rate}, {"rate": rate}):
            self.assertIsNone(self.report(asleep=wrong)["asleep"]["percent_per_hour"])
            self.assertNotIn("Suspended", self.run_it("report"))
        self.report(asleep={"own_rate": 1e300, "clients": 1e300, "rate": {"value": 1e300, "low": 5, "high": None}})
        self.assertNotIn("bounds", self.run_it("report"))

    def test_nothing_private(self):
        usage_db.change(self.database,
                        *[("UPDATE app SET app = ?, name = ?, uid = 4321 WHERE app = ?", (name, TITLE, app))
                                         for name, app in zip(PLANTED, ("angry-birds", "music", "phone"))])
        secrets = [*PLANTED, TITLE, "alice", "Bob", "Meier", "Tagebuch", "192.168", "4321", self.top,
                   os.uname().nodename]
        text = self.run_it("preview")
        self.check_upload(text)
        for secret in secrets:
            self.assertNotIn(secret, text)
        # Also when everybody seems to have them: only a name that is a plain program's is named.
        for client in range(5):
            names = {"1": "browser", **{str(i + 2): hash_of(name) for i, name in enumerate(PLANTED)}}
            text = json.dumps({"v": 1, "client": f"{client:032x}", "first": 0, "apps": names}) + "\n"
            with gzip.open(os.path.join(self.folder, f"{client:032x}-{0:020}.ndjson.gz"), "wt",
                           encoding="utf-8") as file:
                file.write(text)
        self.run_it("join", self.folder)
        text = self.run_it("preview")
        self.check_upload(text, names=("browser",))
        self.assertIn('"browser"', text)
        for secret in secrets:
            self.assertNotIn(secret, text)
        for name in PLANTED:
            self.assertIn(hash_of(name), text)

    def test_names_need_five(self):
        for client in range(4):
            with gzip.open(os.path.join(self.folder, f"{client:032x}-{0:020}.ndjson.gz"), "wt",
                           encoding="utf-8") as file:
                file.write(json.dumps({"v": 1, "client": f"{client:032x}", "first": 0,
                                       "apps": {"1": "browser"}}) + "\n")
        # One client under another's name, and files that are none, do not count.
        with gzip.open(os.path.join(self.folder, f"{9:032x}-{0:020}.ndjson.gz"), "wt", encoding="utf-8") as file:
            file.write(json.dumps({"v": 1, "client": f"{1:032x}", "first": 0, "apps": {"1": "browser"}}) + "\n")
        with open(os.path.join(self.folder, f"{10:032x}-{0:020}.ndjson.gz"), "wb") as file:
            file.write(os.urandom(5000))
        self.run_it("join", self.folder)
        self.assertNotIn("browser", self.run_it("preview"))
        self.run_it("send")  # the fifth is this device
        self.assertNotIn("browser", self.run_it("status"))
        self.days_later()
        self.simulate("--append")
        self.first = self.status()["sent_samples"]
        self.check_upload(self.run_it("preview"), names=("browser",))

    def report(self, **more):
        """This device's part of a report, from a server's answer with the given keys."""
        with open(os.path.join(self.folder, f".{self.status()['client']}-report.json"), "w", encoding="utf-8") as file:
            json.dump({"clients": 9, "samples": 99, "hogs": [], "bugs": [], "jscore": {"clients": 9}, **more}, file)
        return json.loads(self.run_it("report", "--json"))

    def test_report(self):
        self.assertIn("nothing is shared", self.run_it("report", code=3))
        self.assertIn("What was recorded before is shared, too", self.run_it("join", self.folder))
        self.assertIn("Not enough yet: 0 of 5 devices so far.", self.run_it("report"))
        client = self.status()["client"]
        minutes = {"value": 44, "low": 30, "high": 61}
        hogs = [{"app": "system", "minutes": {"value": 5, "low": 1, "high": 9}, "clients": 6},
                {"app": "stranger", "minutes": minutes, "clients": 7},
                {"app": hash_of("angry-birds"), "hash": hash_of("angry-birds"), "minutes": minutes, "clients": 8,
                 "why": [{"feature": "power_model", "is": "calibrated", "actionable": True, "minutes_there": 9,
                          "minutes_else": 1, "gain": {"low": 5, "high": 11}, "clients": 5},
                         {"feature": "kernel", "is": "6.1.0", "actionable": False, "minutes_there": 9,
                          "minutes_else": 1, "clients": 5}]}]
        bugs = [{"app": "system", "client": client, "watts": 0.42, "others_watts": 0.1, "clients": 6},
                {"app": "angry-birds", "client": "0" * 32, "watts": 4, "others_watts": 1, "clients": 6}]
        answer = self.report(hogs=hogs, bugs=bugs, jscore={"clients": 9, "own_score": 63},
                             not_yet=[{"app": "system", "hours": 139.5}])
        self.assertEqual([(row["do"], row["app"], row["minutes"]["value"], row["clients"])
                          for row in answer["findings"]],
                         [("close", "angry-birds", 44, 8), ("close", "system", 5, 6), ("restart", "system", None, 6)])
        self.assertEqual((answer["jscore"], answer["not_yet"]),
                         ({"score": 63, "clients": 9}, [{"app": "system", "hours": 139.5}]))
        text = self.run_it("report")
        for words in ("44 min", "30 .. 61", "0.42 W here, 0.1 W on others",
                      "Without minutes: the report does not say",
                      "Not enough yet about system: about 140 more hours.", "63 % of 9 devices"):
            self.assertIn(words, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        full_j, rate = 15000 * 3.6, 2e-5  # that of DEVICE; of full a second
        known = {**bugs[0], "rate": rate * 1e9, "others_low": 0.02, "others_high": 0.22}
        row, = self.report(bugs=[known])["findings"]
        self.assertEqual(row["do"], "restart")
        for key, others in (("value", 0.1), ("low", 0.22), ("high", 0.02)):
            self.assertAlmostEqual(row["minutes"][key], (1 / (rate - (0.42 - others) / full_j) - 1 / rate) / 60, 3)
        self.assertNotIn("Without minutes", self.run_it("report"))
        # it cannot have taken more than all there was
        row, = self.report(bugs=[{**known, "rate": rate * 1e9 / 4}])["findings"]
        self.assertIsNone(row["minutes"]["value"])
        self.assertIn("none is known to cost more", self.report() and self.run_it("report"))
        for wrong in ("", "[]", "{", '{"clients":-1,"samples":1,"hogs":[]}', '{"clients":1,"samples":1}', "[" * 3000):
            with open(os.path.join(self.folder, f".{client}-report.json"), "w", encoding="utf-8") as file:
                file.write(wrong)
            self.assertIn("cannot be read", self.run_it("report", code=1))
        self.assertIn("community.db", os.listdir(self.top))  # from the first report, when nothing had been shared
        self.run_it("leave")
        self.assertEqual([name for name in os.listdir(self.top) if name.startswith("community.")], [])

    def test_gains(self):
        """Advice that was shown is remembered; once it is followed, the battery's spans before and since give the
        gain."""
        self.run_it("join", self.folder)
        hog = {"minutes": {"value": 44, "low": 30, "high": 61}, "clients": 8, "why": []}
        hogs = [{**hog, "app": "angry-birds"}, {**hog, "app": "system"}]
        gains = {row["app"]: row for row in self.report(hogs=hogs)["gains"]}
        self.assertEqual({app: (row["do"], row["since"], row["minutes"]["value"], row["spans_since"])
                          for app, row in gains.items()},
                         {app: ("close", None, None, 0) for app in ("angry-birds", "system")})
        self.assertGreater(gains["angry-birds"]["spans_before"], 3)
        with open(self.state, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["watches"]), 2)
        # Told two days ago, and closed in the middle: spans without it count since then, as if all were read now.
        samples = [json.loads(line) for line in self.run_it("preview").splitlines() if '"v"' not in line]
        middle = samples[len(samples) // 2]["t"]
        usage_db.change(self.database, ("UPDATE app SET app = 'later' WHERE app = 'angry-birds'",))
        none = {"n": 0, "sum": 0, "squares": 0, "lagged": 0, "last": 0}
        before = {"n": 12, "sum": 12e-4, "squares": 12.2e-8, "lagged": 10.9e-8, "last": 1e-4}
        with open(self.state, encoding="utf-8") as file:
            watches = json.load(file)["watches"]
        watch = next(row for row in watches if row["app"] == "angry-birds")
        told = {**watch, "told_ns": str(middle), "until_ns": str(middle), "before": before, "after": none}
        self.change_state(watches=[told])
        text = self.run_it("report")
        answer = json.loads(self.run_it("report", "--json"))["gains"]
        gain = next(row for row in answer if row["app"] == "angry-birds")
        after = [row for row in samples if row["t"] >= middle]
        self.assertAlmostEqual(gain["spans_since"], len(after), delta=1)
        mean = sum((row["level_ppm"] - row["level2_ppm"]) * 1e3 / (row["t2"] - row["t"]) for row in after) / len(after)
        self.assertAlmostEqual(gain["minutes"]["value"], (1 / mean - 1e4) / 60, delta=0.1 / mean / 60)
        self.assertTrue(gain["minutes"]["low"] < gain["minutes"]["value"] < gain["minutes"]["high"])
        self.assertRegex(text, r"close +angry-birds +\d{4}-\d\d-\d\d")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(json.loads(self.run_it("report", "--json"))["gains"], answer, "spans are counted twice")
        # It is opened again: nothing was gained.
        usage_db.change(self.database, ("UPDATE app SET app = 'angry-birds' WHERE app = 'later'",))
        self.simulate("--append")
        self.run_it("send", "--now")  # the timer's, too
        gain = next(row for row in json.loads(self.run_it("report", "--json"))["gains"] if row["app"] == "angry-birds")
        self.assertTrue(gain["spans_before"] > 12, gain)
        for wrong in ({"do": "restart"}, {"app": ""}, {"told_ns": 5}, {"before": {**none, "n": -1}},
                      {"after": {**none, "n": 3}}, {"was": 7}):
            self.change_state(watches=[{**told, **wrong}])
            self.assertIn("damaged", self.run_it("status", code=1))
        self.change_state(watches=[told] * 17)
        self.assertIn("damaged", self.run_it("status", code=1))

    def test_gains_of_an_update(self):
        """A newer version, and another kernel, are seen where they are there; spans up to then are before."""
        def write(path, text):
            path = os.path.join(self.machine, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        status = "Package: angry-birds\nStatus: install ok installed\nVersion: %s\n\n"
        write("var/lib/dpkg/status", status % "2.9-1")
        write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
        self.run_it("join", self.folder)
        effects = {"app": "angry-birds", "clients": 7, "effect_low": 0.2, "effect_high": 0.4}
        more = {"versions": [{**effects, "version": "2.9", "effect": 0.3},
                             {**effects, "version": "2.10", "effect": 0.05, "effect_high": 0.1, "effect_low": 0}],
                "hogs": [{"app": "angry-birds", "clients": 8, "minutes": {"value": 44, "low": 30, "high": 61}, "why": [
                    {"feature": "kernel", "is": "6.1.0", "actionable": True, "minutes_there": 50,
                     "minutes_else": 12, "clients": 5}]}],
                "jscore": {"clients": 9, "mean_rate": 20000}}
        answer = self.report(**more)
        update = next(row for row in answer["findings"] if row["do"] == "update")
        self.assertAlmostEqual(update["minutes"]["value"], (1 / 1.05 - 1 / 1.3) / 20000e-9 / 60, places=3)
        self.assertTrue(update["minutes"]["low"] < update["minutes"]["value"] < update["minutes"]["high"])
        self.assertEqual({(row["do"], row["what"], row["since"]) for row in answer["gains"]},
                         {("close", "", None), ("change", "kernel", None), ("update", "2.10", None)})
        write("var/lib/dpkg/status", status % "2.9-2")  # the same, built anew
        self.assertTrue(all(row["since"] is None for row in self.report(**more)["gains"]))
        write("var/lib/dpkg/status", status % "2.11-1")
        write("proc/sys/kernel/osrelease", "6.2.0-1-amd64\n")
        self.assertEqual({row["do"] for row in self.report(**more)["gains"] if row["since"]}, {"change", "update"})
        self.assertIn("Not enough yet about the gain with angry-birds", self.run_it("report"))

    def test_versions_and_settings(self):
        """Versions are sent for named apps, from the package of that name; and the gain of a newer version or another
        kernel is reported."""
        for path, text in (("var/lib/dpkg/status",
                            "Package: angry-birds\nStatus: install ok installed\nVersion: 1:2.9+dfsg-3~deb12u1\n\n"
                                                   "Package: libgl1-mesa-dri\nVersion: 22.3.6-1\n"),
                           ("proc/sys/kernel/osrelease", "6.1.0-18-alice-amd64\n"),
                           ("etc/os-release", 'ID=debian\nVERSION_ID="12"\n')):
            path = os.path.join(self.machine, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.run_it("join", self.folder)
        header = json.loads(self.run_it("preview").splitlines()[0])
        self.assertNotIn("versions", header)  # a version of a hash would tell what it is
        self.assertEqual((header["os"], header["features"]["kernel"], header["features"]["mesa"]),
                         ("debian 12", "6.1.0", "22.3.6"))
        self.change_state(named=[hash_of("angry-birds")])
        text = self.run_it("preview")
        self.check_upload(text, names=("angry-birds",))
        header = json.loads(text.splitlines()[0])
        self.assertEqual({header["apps"][key]: value for key, value in header["versions"].items()},
                         {"angry-birds": "2.9+dfsg"})
        effects = {"app": "angry-birds", "clients": 7, "effect_low": 0.2, "effect_high": 0.4}
        why = {"actionable": True, "minutes_there": 50, "minutes_else": 12, "clients": 5}
        answer = self.report(
            versions=[{**effects, "version": "2.9+dfsg", "effect": 0.3},
                      {**effects, "version": "2.10", "effect": 0.05, "effect_high": 0.1},
                      {**effects, "version": "2.11", "effect": 0.25},
                      {**effects, "version": "2.8", "effect": 0.01, "effect_high": 0.02}],
            hogs=[{"app": "angry-birds", "clients": 8, "minutes": {"value": 44, "low": 30, "high": 61},
                   "why": [{**why, "feature": "kernel", "is": "6.1.0"}, {**why, "feature": "mesa", "is": "23"}]}])
        self.assertEqual([(row["do"], row["minutes"]["value"], row["why"]) for row in answer["findings"]],
                         [("close", 44, ""), ("change", 38, "kernel"),
                          ("update", None, "to 2.10: +5 % instead of +30 %")])

    def test_versions_of_flatpaks(self):
        """The user's own flatpak is before the system's, as flatpak runs it; what is in the description is no more
        than a version."""
        app = "org.example.Game"
        home = pwd.getpwuid(os.geteuid()).pw_dir.lstrip("/")

        def write(root, text):
            path = os.path.join(self.machine, root, "app", app, "current/active/files/share/metainfo",
                                app + ".metainfo.xml")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

        def version():
            return json.loads(self.run_it("preview").splitlines()[0]).get("versions", {}).values()

        usage_db.change(self.database, ("UPDATE app SET app = ? WHERE app = 'angry-birds'", (app,)))
        write("var/lib/flatpak",
              "<component><releases><release version='1.4'/><release version='1.3'/></releases></component>")
        self.run_it("join", self.folder)
        self.assertEqual(list(version()), [])  # a version of a hash would tell what it is
        self.change_state(named=[hash_of(app)])
        self.assertEqual(list(version()), ["1.4"])
        own = os.path.join(home, ".local/share/flatpak")
        write(own, '<release date="x" version="1.5~rc1">')
        self.assertEqual(list(version()), ["1.5~rc1"])
        for text in ("", "<release", "<release version='", "<release version='" + "1" * 500 + "'>", "\0" * 5000,
                     "<release version='\"\\'>"):
            write(own, text)
            self.assertEqual(list(version()), ["1.4"], text[:40])

    def test_report_of_a_community(self):
        """Others' uploads are loaded here, and what is found is what joulecast-community finds."""
        subprocess.run([GENERATOR, self.folder, "--clients", "300", "--apps", "60"], check=True)
        database = os.path.join(self.top, "theirs.db")
        subprocess.run([SERVER, "load", self.folder, "--database", database], check=True, stdout=subprocess.DEVNULL)
        theirs = json.loads(subprocess.run([SERVER, "report", "--database", database, "--json"], check=True,
                                           capture_output=True).stdout)
        self.assertGreater(len(theirs["hogs"]), 0)
        hog = theirs["hogs"][0]
        usage_db.change(self.database, ("UPDATE app SET app = ? WHERE app = 'angry-birds'", (hog["app"],)))
        self.run_it("join", self.folder)
        found = json.loads(self.run_it("report", "--json"))["findings"]
        self.assertEqual([(row["do"], row["app"], row["minutes"]) for row in found],
                         [("close", hog["app"], hog["minutes"])])

    @unittest.skipUnless(SERVES and REACHES, "built without a server, or without libcurl")
    def test_server(self):
        with Server(SERVER, os.path.join(self.top, "server.db")) as server:
            self.run_it("join", f"http://127.0.0.1:{server.port}/some/place/")
            shown, status = self.run_it("preview"), self.status()
            self.assertEqual(status["where"], f"http://127.0.0.1:{server.port}/some/place")
            with open(self.state, encoding="utf-8") as file:
                token = json.load(file)["token"]
            self.run_it("send", "--now")
            kept = server.ask("GET", "/v1/me", None, token)[1]
            rows = [sorted(line for line in text.splitlines() if '"t"' in line) for text in (kept, shown)]
            self.assertEqual(len(rows[0]), len(rows[1]))
            for mine, its in zip(*rows):
                mine, its = json.loads(mine), json.loads(its)
                self.assertEqual([mine[key] for key in ("t", "t2", "level_ppm", "level2_ppm")],
                                 [its[key] for key in ("t", "t2", "level_ppm", "level2_ppm")])
            self.assertEqual(self.status()["waiting_samples"], 0)
            said = self.run_it("forget")
            self.assertIn(f"confirms: {status['waiting_samples']} samples were removed", said)
            self.assertEqual(server.ask("GET", "/v1/me", None, token)[0], 404)
            self.assertIn("0 samples were removed", self.run_it("forget"))
            self.assertNotEqual(self.status()["client"], status["client"])
            server.stop()
            for action in ("send", "forget", "report"):
                words = ("send", "--now") if action == "send" else (action,)
                said = self.run_it(*words, code=3 if action == "send" else 1)  # nothing is left to send
                self.assertIn("no sample" if action == "send" else "cannot be reached", said)

    def serve(self, answers):
        """The URL of a server that always gives the first of @answers."""
        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, text = answers[0]
                self.send_response(status)
                self.send_header("Location", "http://127.0.0.1:1/")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                try:
                    self.wfile.write(text)
                except OSError:
                    pass  # it has enough

            do_POST = do_GET = do_DELETE = answer

            def log_message(self, *words):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    @unittest.skipUnless(REACHES, "built without libcurl")
    def test_last_report(self):
        """Where the server does not answer, its last report counts, until the device leaves."""
        answers = [(200, json.dumps({"clients": 9, "samples": 90, "hogs": [], "bugs": []}).encode())]
        self.run_it("join", self.serve(answers))
        kept = os.path.join(self.top, "community-report.json")
        first = json.loads(self.run_it("report", "--json"))
        self.assertEqual((first["clients"], os.stat(kept).st_mode & 0o777), (9, 0o600))
        answers[0] = (500, b"{}")
        self.assertEqual(json.loads(self.run_it("report", "--json")), first)
        answers[0] = (401, b"{}")  # it is there, and gives nothing
        self.run_it("report", code=1)
        answers[0] = (200, b"nonsense")
        self.run_it("report", code=1)
        self.assertTrue(os.path.exists(kept))
        self.run_it("leave", "--yes")
        self.assertFalse(os.path.exists(kept))

    @unittest.skipUnless(REACHES, "built without libcurl")
    def test_refused(self):
        """A refusal is in `send` and `status`, until the server takes an upload."""
        why = "the database of this server has as much as it may have"
        answers = [(507, json.dumps({"error": why}).encode())]
        self.run_it("join", self.serve(answers))
        self.assertIsNone(self.status()["refused"])
        self.assertIn("answers 507: " + why, self.run_it("send", "--now", code=1))
        self.assertEqual(self.status()["refused_why"], "507: " + why)
        self.assertRegex(self.run_it("status"), "refused +.*507: the database")
        waiting = self.status()["waiting_samples"]
        answers[0] = (413, b"\x1b[31m{}")
        self.run_it("send", "--now", code=1)
        self.assertEqual((self.status()["refused_why"], self.status()["waiting_samples"]), ("413", waiting))
        for wrong in ({"refused": 5}, {"refused": "x" * 280}, {"refused_ns": "0"}):
            with open(self.state, encoding="utf-8") as file:
                state = file.read()
            self.change_state(**wrong)
            self.assertIn("damaged", self.run_it("status", code=1))
            with open(self.state, "w", encoding="utf-8") as file:
                file.write(state)
        answers[0] = (200, json.dumps({"next": 99, "added": waiting, "bad": 0}).encode())
        self.run_it("send", "--now")
        self.assertIsNone(self.status()["refused"])

    @unittest.skipUnless(REACHES, "built without libcurl")
    def test_server_names(self):
        """Apps whose names the server may know are named from then on; other entries of its list are ignored."""
        answer = {"next": 40, "added": 3, "known": 1, "bad": 1,
                  "named": [hash_of("angry-birds"), "browser", hash_of("music")[:-1], 7, None]}
        self.run_it("join", self.serve([(200, json.dumps(answer).encode())]))
        self.run_it("send", "--now")
        self.simulate("--append")
        self.first = 40  # the server has more than was sent: the state here is from a backup
        text = self.run_it("preview")
        self.check_upload(text, names=("angry-birds",))
        self.assertIn('"angry-birds"', text)

    @unittest.skipUnless(SERVES and REACHES, "built without a server, or without libcurl")
    def test_cut_network(self):
        """A connection that ends in the middle of an upload, or before its answer: a message, and the same lines are
        sent again, which count once."""
        with Server(SERVER, os.path.join(self.top,
                                         "cut.db")) as server, socket.create_server(("127.0.0.1", 0)) as entry:
            # bytes that go there, and bytes that come back
            cuts = [(1, 0), (1000, 0), (10**9, 0), (10**9, 20), (10**9, 10**9)]

            def carry():
                for there, back in cuts:
                    client = entry.accept()[0]
                    with client, socket.create_connection(("127.0.0.1", server.port)) as other:
                        text = b""
                        while len(text) < there and not self.is_request(text):
                            text += client.recv(min(65536, there - len(text)))
                        other.sendall(text)
                        if there == 10**9:
                            client.sendall(other.recv(65536)[:back])  # its answer: so it has committed

            thread = threading.Thread(target=carry)
            thread.start()
            self.run_it("join", f"http://127.0.0.1:{entry.getsockname()[1]}")
            shown, status = self.run_it("preview"), self.status()
            for _ in cuts[:-1]:
                self.assertEqual(len(self.run_it("send", "--now", code=1).splitlines()), 1)
                self.assertEqual((self.run_it("preview"), self.status()), (shown, status))
            self.run_it("send", "--now")
            thread.join()
            self.assertEqual(self.status()["sent_samples"], status["waiting_samples"])
            server.stop()
        done = subprocess.run([SERVER, "report", "--database", os.path.join(self.top, "cut.db"), "--json"],
                              capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["samples"], status["waiting_samples"])

    @staticmethod
    def is_request(text):
        head, _, body = text.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        return bool(length) and len(body) >= int(length.group(1))

    def test_full_disk(self):
        """A folder that is full: a sentence, nothing half-written, and all of it when there is room."""
        self.run_it("join", self.folder)
        status = self.status()
        script = ('mount -t tmpfs -o size=8k none "$1" || exit 77; head -c 8192 /dev/zero > "$1/fill"; shift; '
                  '"$@"; test $? = 1 || exit 5;'
                  'ls -A "$PLACE"; rm "$PLACE/fill"; "$@" > /dev/null || exit 6; ls "$PLACE"')
        words = [JOULECAST, "community", "send", "--database", self.database, "--profile", DEVICE, "--machine",
                 self.machine]
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.folder, *words],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "PLACE": self.folder})
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("a full disk needs a namespace of its own: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        self.assertIn("cannot be written: No space left on device; waiting samples are kept", done.stderr)
        self.assertEqual(done.stdout.split(), ["fill", f"{status['client']}-{0:020}.ndjson.gz"])
        self.assertEqual(self.status()["sent_samples"], status["waiting_samples"])

    def test_hostile_folder(self):
        """Files that others put there are read within limits; links are not followed, and pipes not waited for."""
        self.run_it("join", self.folder)
        client = self.status()["client"]
        secret = os.path.join(self.top, "secret")
        with gzip.open(secret, "wt", encoding="utf-8") as file:
            file.write(json.dumps({"v": 1, "client": f"{1:032x}", "first": 0, "apps": {"1": "browser"}}) + "\n")
        for number in range(1, 7):
            os.symlink(secret, os.path.join(self.folder, f"{number:032x}-{0:020}.ndjson.gz"))
        os.mkfifo(os.path.join(self.folder, f"{7:032x}-{0:020}.ndjson.gz"))
        os.mkdir(os.path.join(self.folder, f"{8:032x}-{0:020}.ndjson.gz"))
        with gzip.open(os.path.join(self.folder, f"{9:032x}-{0:020}.ndjson.gz"), "wb") as file:
            file.write(b"\0" * 50_000_000)
        os.mkfifo(os.path.join(self.folder, f".{client}-report.json"))
        self.assertNotIn("browser", self.run_it("preview"))
        self.run_it("report", code=1)
        self.run_it("send")
        self.run_it("forget")
        self.assertFalse([name for name in self.files() if client in name and not name.endswith("-forget.json")])

    @unittest.skipUnless(os.geteuid() == 0, "only root gives its rights up")
    def test_root_is_not_root(self):
        """A command that root starts runs as the owner of the database, who also owns the files that it writes."""
        for where, folders, names in os.walk(self.top):
            for name in [".", *folders, *names]:
                os.chown(os.path.join(where, name), 65534, 65534)
        self.run_it("join", self.folder)
        self.run_it("send")
        for path in (self.state, os.path.join(self.folder, self.files()[0])):
            self.assertEqual(os.stat(path).st_uid, 65534)
        os.mkdir(os.path.join(self.top, "roots"))
        self.run_it("leave")
        self.assertIn("cannot be written", self.run_it("join", os.path.join(self.top, "roots"), code=1))

    @unittest.skipUnless(REACHES, "built without libcurl")
    def test_hostile_server(self):
        answers = [(200, b"<html>"), (200, b""), (200, b"{}"), (200, b'{"next":1e300,"added":1,"bad":0}'),
                   (200, b"x\0y"), (200, b"[" * 100000),
                   (200, b'{"next":-5,"added":0,"bad":0}'), (500, b'{"error":"\\u001b[31mred"}'), (302, b""),
                   (404, b"<html>"),
                   (429, b'{"error":"too many"}'), (200, b"x" * 9_000_000)]

        self.run_it("join", self.serve(answers))
        with open(self.state, encoding="utf-8") as file:
            before = json.load(file)
        while answers:
            for words in (("send", "--now"), ("forget",), ("report",)):
                if words == ("report",) and answers[0][0] in (404, 503):
                    self.assertIn("no report yet", self.run_it(*words, code=3))
                    continue
                said = self.run_it(*words, code=1)
                self.assertEqual(len(said.splitlines()), 1, said)
                self.assertNotIn("\x1b", said)
            answers.pop(0)
        with open(self.state, encoding="utf-8") as file:
            after = json.load(file)
        self.assertGreater(int(after.pop("refused_ns")), 0)  # the last refusal, which status shows, and nothing else
        self.assertEqual((after.pop("refused"), after), ("429: too many", before))

    def test_when(self):
        self.run_it("join", self.folder)
        self.battery("Discharging")
        self.assertEqual(self.status()["not_now"], ["the device runs on its battery"])
        self.assertIn("runs on its battery", self.run_it("send", code=3))
        self.assertEqual(self.files(), [])
        self.run_it("send", "--now")
        self.assertEqual(len(self.files()), 1)
        self.battery("Full")
        self.change_state(sent_ns=str(int(self.now() + 10 * 365 * 86400) * 10**9))  # by a clock that was wrong by years
        self.assertEqual(self.status()["not_now"], [])

    def test_settings(self):
        """Settings seen while the device runs on battery are sent with the spans around that time only."""
        for path, text in (("firmware/acpi/platform_profile", "low-power\n"),
                           ("class/drm/card9-HDMI-A-9/status", "connected\n")):
            path = os.path.join(self.machine, "sys", path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        rate = os.path.join(self.machine, "run", "joulecast", "refresh-rate")
        os.makedirs(os.path.dirname(rate))
        with open(rate, "w", encoding="utf-8") as file:
            file.write("143981\n")
        self.run_it("join", self.folder)
        self.battery("Discharging")
        self.run_it("send", code=3)
        with open(self.state, encoding="utf-8") as file:
            settings = json.load(file)["settings"]
        self.assertEqual([(row["profile"], row["external"], row["refresh_hz"]) for row in settings],
                         [("low-power", True, 144)])
        self.assertNotIn("power_profile", self.run_it("preview"))  # the recording is much older
        samples = self.check_upload(self.run_it("preview"))
        self.change_state(settings=[{**settings[0], "time_ns": str(samples[2]["t2"] - 10**9)}])
        text = self.run_it("preview")
        self.check_upload(text)
        headers = [json.loads(line) for line in text.splitlines() if '"v"' in line]
        features = [header["features"] for header in headers]
        self.assertEqual([(row.get("power_profile"), row.get("external_screen")) for row in features],
                         [(None, None), ("low-power", "yes")])
        self.assertEqual([row.get("refresh") for row in features], [None, "144"])
        self.assertEqual(headers[1]["first"], 2)
        for wrong in ({"profile": "alice's"}, {"refresh_hz": 61}, {"refresh_hz": -60}, {"refresh_hz": 1e300}):
            self.change_state(settings=[{"time_ns": "1", **wrong}])
            self.assertIn("damaged", self.run_it("status", code=1))
        for text in ("", "x\n", "-60000\n", "60\n", "1e9\n", "9" * 5000, "nan\n"):
            with open(rate, "w", encoding="utf-8") as file:
                file.write(text)
            self.change_state(settings=[])
            self.run_it("send", code=3)
            with open(self.state, encoding="utf-8") as file:
                self.assertNotIn("refresh_hz", json.load(file)["settings"][0], text[:20])

    def test_from(self):
        self.run_it("join", self.folder, "--from", "1m")
        self.assertEqual(self.status()["waiting_samples"], 0)

    def test_failures(self):
        self.run_it("join", self.folder)
        os.rename(self.folder, self.folder + "-away")
        self.assertIn("cannot be read", self.run_it("send", code=1))
        os.rename(self.folder + "-away", self.folder)
        self.assertEqual(self.status()["sent_samples"], 0)
        for text in ("", "{}", "[]", "{\"version\":\"1\"", "x" * 2_000_000, "{\"version\":\"2\",\"where\":\"/\"}"):
            with open(self.state, "w", encoding="utf-8") as file:
                file.write(text)
            for action in ("status", "send", "preview", "forget"):
                self.assertEqual(len(self.run_it(action, code=1).splitlines()), 1)
        self.assertEqual(self.files(), [])
        self.run_it("leave")
        self.assertIn("join: give", self.run_it("join", code=2))
        self.assertIn("unknown argument", self.run_it("dance", code=2))
        self.assertIn("unknown argument", self.run_it("leave", "now", code=2))

    def test_small_enough(self):
        """A day at most of 1,728 bytes, also where many apps run."""
        for _ in range(6):
            self.simulate("--append")
        self.assertLessEqual(json.loads(self.run_it("join", self.folder)
                                        and self.run_it("status", "--json"))["waiting_bytes"], 1728)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
