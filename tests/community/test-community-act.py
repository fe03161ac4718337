#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast community act`: it asks each time, never acts as root, and what was done is followed.

Usage: test-community-act JOULECAST DEVICE-INI
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, DEVICE = map(os.path.abspath, sys.argv[1:3])
NOBODY = 65534
USER = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
MINUTES = {"minutes": {"value": 44, "low": 30, "high": 61}, "clients": 8}


class Act(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.top = place.name
        self.database, self.folder, self.bin = (os.path.join(self.top, name) for name in ("usage.db", "folder", "bin"))
        self.state = os.path.join(self.top, "community.json")
        os.mkdir(self.folder)
        os.mkdir(self.bin)
        self.own()
        self.simulate()
        self.run_it("join", self.folder)

    def own(self):
        if USER:
            for where, folders, names in os.walk(self.top):
                for name in [".", *folders, *names]:
                    os.lchown(os.path.join(where, name), NOBODY, NOBODY)

    def simulate(self):
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", "airport", "--database",
                        self.database], check=True, stdout=subprocess.DEVNULL, **USER)

    def run_it(self, *words, code=0, answer=None, user=USER):  # pylint: disable=dangerous-default-value
        """With an answer it runs on a terminal."""
        terminal, child = os.openpty() if answer is not None else (None, subprocess.DEVNULL)
        if answer is not None:
            os.write(terminal, answer.encode())
        path = self.bin + ":" + os.environ["PATH"]
        done = subprocess.run([JOULECAST, "community", *words, "--database", self.database, "--profile", DEVICE],
                              stdin=child, capture_output=True, text=True, check=False, cwd=self.top,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": self.top, "XDG_RUNTIME_DIR": self.top,
                                   "PATH": path}, **user)
        if answer is not None:
            os.close(terminal)
            os.close(child)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        self.assertNotRegex(done.stderr, "AddressSanitizer|runtime error")
        return done.stdout if code == 0 else done.stdout + done.stderr

    def report(self, **keys):
        with open(self.state, encoding="utf-8") as file:
            client = json.load(file)["client"]
        with open(os.path.join(self.folder, f".{client}-report.json"), "w", encoding="utf-8") as file:
            json.dump({"clients": 9, "samples": 99, "hogs": [], "bugs": [], **keys}, file)
        return json.loads(self.run_it("report", "--json"))

    def change_state(self, **keys):
        with open(self.state, encoding="utf-8") as file:
            state = json.load(file)
        with open(self.state, "w", encoding="utf-8") as file:
            json.dump({**state, **keys}, file)
        return state

    def start(self, name):
        """A program of that name, which runs until it is closed."""
        path = os.path.join(self.bin, name)
        if not os.path.exists(path):
            os.symlink("/bin/cat", path)
        process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.top, **USER)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()  # it has become that program
        return process

    def fake(self, name, code=0):
        """A program that writes what it was called with."""
        path, log = os.path.join(self.bin, name), os.path.join(self.top, name + ".log")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s|" "$@" >"{log}"\nexit {code}\n')
        os.chmod(path, 0o755)
        return log

    def test_close(self):
        self.assertIn("no finding to act on", self.run_it("act", "1", code=3, answer="y\n"))
        answer = self.report(hogs=[{"app": "angry-birds", **MINUTES}])
        self.assertEqual([(row["number"], row["do"]) for row in answer["findings"]], [(1, "close")])
        self.assertRegex(self.run_it("report"), r"(?m)^ *1 +close +angry-birds")
        self.assertIn("does not run", self.run_it("act", "1", code=1, answer="y\n"))
        process = self.start("angry-birds")
        self.assertIn("no terminal", self.run_it("act", "1", code=1))
        self.assertIn("leave out --yes", self.run_it("act", "1", "--yes", code=2, answer="y\n"))
        self.assertIn("this device alone", self.run_it("act", "1", "--machine", "/", code=2, answer="y\n"))
        for wrong in ("0", "2", "x", "1x", "9" * 30):
            self.assertIn("1 to 1", self.run_it("act", wrong, code=2, answer="y\n"))
        self.assertIn("act: give the number", self.run_it("act", code=2, answer="y\n"))
        self.assertIn("does not go with", self.run_it("act", "1", "update", code=2, answer="y\n"))
        self.assertIn("does not go with", self.run_it("act", "1", "rm", code=2, answer="y\n"))
        if USER:
            self.assertIn("nothing as root", self.run_it("act", "1", code=1, answer="y\n", user={}))
        for no in ("n\n", "\n", "nein\n"):
            self.assertIn("Nothing was done", self.run_it("act", "1", code=1, answer=no))
        self.assertIsNone(process.poll())
        self.assertIn(f'To close angry-birds, run "kill {process.pid}"?', self.run_it("act", "1", answer="y\n"))
        self.assertEqual(process.wait(60), -15)
        gain = self.report()["gains"][0]
        self.assertEqual((gain["do"], gain["act"], gain["since"], gain["percent_per_hour_since"]),
                         ("close", "close", None, None))
        self.assertGreater(gain["percent_per_hour_before"], 0)
        self.assertRegex(self.run_it("report"), r"close +angry-birds +\d{4}-\d\d-\d\d \d\d:\d\d +[\d.]+ %/h"
                                                r" +not known yet")

    def test_followed(self):
        """The battery's spans without the app since it was closed say what its rate is now."""
        self.report(hogs=[{"app": "angry-birds", **MINUTES}])
        self.start("angry-birds")
        self.run_it("act", "1", answer="y\n")
        samples = [json.loads(line) for line in self.run_it("preview").splitlines() if '"v"' not in line]
        middle = samples[len(samples) // 2]["t"]
        watch, = self.change_state()["watches"]
        none = {"n": 0, "sum": 0, "squares": 0, "lagged": 0, "last": 0}
        watch = {**watch, "told_ns": str(middle - 1), "acted_ns": str(middle), "until_ns": str(middle), "after": none,
                 "before": {"n": 12, "sum": 12e-4, "squares": 12.2e-8, "lagged": 10.9e-8, "last": 1e-4}}
        usage_db.change(self.database, ("UPDATE app SET app = 'later' WHERE app = 'angry-birds'",))
        self.own()
        self.change_state(watches=[watch])
        gain, = self.report()["gains"]
        after = [row for row in samples if row["t"] >= middle]
        mean = sum((row["level_ppm"] - row["level2_ppm"]) * 1e3 / (row["t2"] - row["t"]) for row in after) / len(after)
        self.assertAlmostEqual(gain["percent_per_hour_before"], 36, places=6)
        self.assertAlmostEqual(gain["percent_per_hour_since"], mean * 3600 * 100, delta=0.1 * mean * 3600 * 100)
        self.assertRegex(self.run_it("report"), r"close +angry-birds +[-\d]+ [:\d]+ +36 %/h +[\d.]+ %/h")
        for wrong in ({"act": ""}, {"act": "rm"}, {"acted_ns": "0"}, {"acted_ns": 7}):
            self.change_state(watches=[{**watch, **wrong}])
            self.assertIn("damaged", self.run_it("status", code=1))

    def test_restart_and_limit(self):
        """A bug is restarted by closing; what is in use since then tells. What failed is not followed."""
        with open(self.state, encoding="utf-8") as file:
            client = json.load(file)["client"]
        bug = {"app": "angry-birds", "client": client, "watts": 4, "others_watts": 1, "clients": 6}
        self.report(bugs=[bug], hogs=[{"app": "browser", **MINUTES}])
        self.assertEqual(self.report(bugs=[bug])["findings"][0]["do"], "restart")
        self.assertIn("does not go with", self.run_it("act", "1", "limit", code=2, answer="y\n"))
        process = self.start("angry-birds")
        self.run_it("act", "1", answer="y\n")
        process.wait(60)
        gain = next(row for row in self.report(hogs=[{"app": "angry-birds", **MINUTES}])["gains"]
                    if row["do"] == "restart")
        self.assertIsNotNone(gain["since"])
        self.start("angry-birds")
        # Without a unit of its own it cannot be limited, which joulecast limit says.
        self.assertIn("failed", self.run_it("act", "1", "limit", code=1, answer="y\n"))
        self.assertEqual([row["act"] for row in self.report()["gains"] if row["do"] == "close"], [None, None][:1])

    def test_update(self):
        """By the program that updates without root, with its arguments as they are."""
        if not os.path.exists("/var/lib/dpkg/info/bash.list"):
            self.skipTest("no Debian with bash")
        state = self.change_state(findings=[{"do": "update", "app": "bash", "value": "99; touch pwned"},
                                            {"do": "update", "app": "$(touch pwned)", "value": "1"},
                                            {"do": "update", "app": "--all", "value": "1"},
                                            {"do": "change", "app": "bash", "value": "kernel"},
                                            {"do": "close", "app": "$(touch pwned)", "value": ""}])
        self.assertEqual(state["findings"], [])
        log = self.fake("pkcon", code=3)
        self.assertIn("failed (3)", self.run_it("act", "1", code=1, answer="y\n"))
        self.assertEqual(self.report()["gains"], [])
        self.change_state(findings=[{"do": "update", "app": "bash", "value": "99; touch pwned"}])
        log = self.fake("pkcon")
        self.run_it("act", "1", answer="y\n")
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read(), "update|bash|")
        gain, = self.report()["gains"]
        self.assertEqual((gain["do"], gain["act"], gain["since"]), ("update", "update", None))
        self.change_state(**{"findings": [{"do": "update", "app": "$(touch pwned)", "value": "1"},
                                          {"do": "update", "app": "--all", "value": "1"},
                                          {"do": "change", "app": "bash", "value": "kernel"},
                                          {"do": "close", "app": "$(touch pwned)", "value": ""},
                                          {"do": "close", "app": "--", "value": ""}]})
        for number, sentence in enumerate(("nothing here updates", "nothing here updates", "cannot change the kernel",
                                           "does not run", "does not run"), 1):
            self.assertIn(sentence, self.run_it("act", str(number), code=1, answer="y\n"))
        self.assertNotIn("pwned", os.listdir(self.top))
        for wrong in ({"do": "rm"}, {"app": ""}, {"app": 5}, {"value": "x" * 128}, {"app": "x" * 256}):
            self.change_state(findings=[{"do": "close", "app": "a", "value": "", **wrong}])
            self.assertIn("damaged", self.run_it("status", code=1))
        self.change_state(findings=[{"do": "close", "app": "a", "value": ""}] * 65)
        self.assertIn("damaged", self.run_it("status", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
