#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The socket of joulecastd: the same answers as the commands, access by user, and hostile users.

Usage: test-service.py JOULECASTD JOULECAST LIST-COSTS DEVICE-INI SCENARIO-INI
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECASTD, JOULECAST, LIST_COSTS, DEVICE, SCENARIO = sys.argv[1:]
USER = 65534
AS_USER = {"user": USER, "group": USER, "extra_groups": []}
ASK = """import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])  # waits for its place in the queue
s.settimeout(30)
s.sendall(sys.argv[2].encode() + b"\\n")
sys.stdout.write(s.makefile().read())"""
HOLD = """import socket, sys
held = [socket.socket(socket.AF_UNIX) for _ in range(4)]
for s in held:
    s.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()"""
FLOOD = """import os, socket, sys
for _ in range(20):
    if os.fork() == 0:
        break
while True:
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(30)
            s.connect(sys.argv[1])
            s.sendall(b'{"ask":"cost"}\\n')
            while s.recv(65536):
                pass
    except OSError:
        pass"""


def can_be_user():
    """Root can become somebody else, if that one may enter the build folder."""
    try:
        return subprocess.run([JOULECAST, "--version"], check=False, stdout=subprocess.DEVNULL,
                              **AS_USER).returncode == 0
    except PermissionError:
        return False


USERS = os.geteuid() == 0 and can_be_user()


def keys_of(answer):
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield key
            yield from keys_of(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from keys_of(value)


def documented():
    """Keys of a cost and of the service that docs/json.md names."""
    with open(os.path.join(os.path.dirname(__file__), "../..", "docs", "json.md"), encoding="utf-8") as file:
        text = file.read()
    head = text[:text.index("## status")]
    parts = head + text[text.index("## cost"):text.index("## predict")] + text[text.index("## The service"):]
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", parts)))) | set(re.findall(r'"(\w+)"', head))


class Case(unittest.TestCase):
    """A day of a simulated phone: only angry-birds is the user's, the phone and the system are not."""
    own = ("angry-birds",)
    interval = "3600"

    @classmethod
    def setUpClass(cls):
        cls.simulated = tempfile.mkdtemp(prefix="joulecast-service-")
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database",
                        cls.simulated + "/usage.db"], check=True, stdout=subprocess.DEVNULL)
        usage_db.change(cls.simulated + "/usage.db",
                        "PRAGMA application_id = 0x4a4f554c",  # as if this machine had recorded it
                        "UPDATE app SET uid = 1000 WHERE app <> ''",
                        *(("UPDATE app SET uid = ? WHERE app = ?", (USER, app)) for app in cls.own))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.simulated)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="joulecast-service-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        os.mkdir(self.folder + "/joulecast")
        self.database = self.folder + "/joulecast/usage.db"
        self.copy = self.folder + "/copy.db"
        self.socket = self.folder + "/joulecast.sock"
        for path in (self.database, self.copy):
            shutil.copy(self.simulated + "/usage.db", path)
        os.chmod(self.database, 0o600)
        self.daemon = self.start()

    def start(self):
        """joulecastd, once it listens."""
        # pylint: disable=consider-using-with
        daemon = subprocess.Popen([JOULECASTD, "--database", self.database, "--interval", self.interval,
                                   "--focus-socket", self.folder + "/focus.sock", "--socket", self.socket,
                                   "--profile", DEVICE], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, daemon)
        self.assertIn("watching", daemon.stderr.readline())
        self.assertIn(b"EINVAL", self.send(b"{}\n"))
        return daemon

    def stop(self, daemon):
        if daemon.returncode is None:
            daemon.terminate()
            _, words = daemon.communicate(timeout=30)
            words = [line for line in words.splitlines()
                     if "ended since the last poll" not in line]  # others' processes
            self.assertEqual((daemon.returncode, words), (0, []))

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.connect(self.socket)  # waits for its place in the queue
        connection.settimeout(30)
        return connection

    def send(self, data, end=False):
        """Sends bytes; all that comes back."""
        connection = self.connect()
        try:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            pass
        answer = b""
        try:
            while chunk := connection.recv(65536):
                answer += chunk
        except ConnectionResetError:
            pass  # it did not read all that was sent
        connection.close()
        return answer

    def ask(self, **question):
        return json.loads(self.send(json.dumps(question).encode() + b"\n"))

    def ask_as_user(self, user=USER, **question):
        done = subprocess.run([sys.executable, "-c", ASK, self.socket, json.dumps(question)], check=True, text=True,
                              stdout=subprocess.PIPE, user=user, group=user, extra_groups=[])
        return json.loads(done.stdout)

    def command(self, *arguments, code=0, **how):
        done = subprocess.run([*map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False, **how)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def direct(self, *arguments):
        """Answer that root gets from the database itself."""
        return json.loads(self.command(JOULECAST, *arguments, "--profile", DEVICE, "--database", self.copy, "--json"))

    def user(self, *arguments, code=0):
        """A command of a user who may not read the database."""
        environment = {**os.environ, "XDG_STATE_HOME": self.folder, "JOULECAST_SOCKET": self.socket}
        return self.command(*arguments, code=code, env=environment, **AS_USER)

    def user_json(self, *arguments):
        return json.loads(self.user(JOULECAST, *arguments, "--profile", DEVICE, "--json"))

    def still_answers(self):
        end = time.monotonic() + 30
        while "apps" not in self.ask(ask="apps") and time.monotonic() < end:
            time.sleep(0.2)  # it says "ask again" while questions of this user wait
        self.assertEqual({app["app"] for app in self.ask(ask="apps")["apps"]}, {"angry-birds", "phone", "system"})


class Answers(Case):
    def test_they_are_those_of_the_commands(self):
        self.assertEqual(self.ask(ask="cost"), self.direct("cost"))
        whole = self.direct("cost")
        half = ("2026-01-01T00:00:00Z", whole["from"][:-1] + ".5+00:00")
        self.assertEqual(self.ask(ask="cost", **{"from": "-90m"})["from"],
                         self.direct("cost", "--from", "-90m")["from"])
        self.assertEqual(self.ask(ask="cost", **{"from": half[0], "to": half[1]})["error"], "ENODATA")
        self.assertEqual(self.ask(ask="predict", app="phone", minutes=7.5),
                         self.direct("predict", "--app", "phone", "--minutes", "7.5"))
        self.assertEqual(self.ask(ask="budget", app="phone", reserve=[{"app": "angry-birds", "minutes": 10}],
                                  standby=90,
                                  keep=20, battery_percent=77),
                         self.direct("budget", "--app", "phone", "--reserve", "angry-birds=10m", "--standby", "90m",
                                     "--keep", "20", "--battery-percent", "77"))
        self.assertEqual(self.ask(ask="whatif", close=["angry"], off=["wifi", "gps"], brightness_percent=40,
                                  keep_minutes=90,
                                  battery_percent=50),
                         self.direct("whatif", "--close", "angry-birds", "--wifi", "off", "--gps", "off",
                                     "--brightness", "40%",
                                     "--keep", "90m", "--battery-percent", "50"))
        self.assertEqual(self.ask(ask="advise"), self.direct("advise"))
        planned, direct = self.ask(ask="endure", minutes=900,
                                   without=["close"]), self.direct("advise", "--for", "900m", "--without", "close")
        self.assertEqual(planned["changed_minutes"], direct["changed_minutes"])
        self.assertEqual([change["action"] for change in planned["changes"]],
                         [change["action"] for change in direct["changes"]])
        self.assertEqual((planned["suffices"], planned["short_minutes"]), (direct["suffices"], direct["short_minutes"]))
        self.assertEqual(self.ask(ask="budget", keep=20), self.direct("budget", "--keep", "20"))
        apps = self.ask(ask="apps")
        self.assertEqual((apps["from"], apps["to"]), (whole["from"], whole["to"]))
        self.assertEqual({(app["app"], app["state"], app["active_s"]) for app in apps["apps"]},
                         {(app["app"], app["state"], app["active_s"]) for app in whole["apps"]})
        self.assertIn("percent", apps["battery"])
        since = self.ask(ask="since")
        self.assertEqual(since["full"], None)
        self.assertEqual(self.ask(ask="cost", **{"from": "full"})["sentence"],
                         "the battery was never full in what is recorded")

    def test_errors_have_a_sentence(self):
        for question, error, words in (
                ({"ask": "predict", "app": "chess", "minutes": 1}, "ENODATA", "chess was never seen"),
                ({"ask": "predict", "app": "phone"}, "EINVAL", "minutes"),
                ({"ask": "predict", "app": "phone", "minutes": -1}, "EINVAL", "minutes"),
                ({"ask": "budget", "app": ""}, "EINVAL", "app"), ({"ask": "all"}, "EINVAL", "ask"),
                ({}, "EINVAL", "ask"),
                ({"ask": "cost", "form": "-1h"}, "EINVAL", "form"), ({"ask": "cost", "from": 7}, "EINVAL", "from"),
                ({"ask": "cost", "from": "-1h", "to": "-2h"}, "EINVAL", "before"),
                ({"ask": "budget", "app": "phone", "reserve": [{"app": "phone"}]}, "EINVAL", "reserve"),
                ({"ask": "budget", "app": "phone", "reserve": [{"app": "phone", "minutes": 1}] * 17}, "EINVAL",
                 "reserve"),
                ({"ask": "whatif"}, "EINVAL", "brightness_percent"),
                ({"ask": "whatif", "close": "phone"}, "EINVAL", "close"),
                ({"ask": "whatif", "off": ["cpu"]}, "EINVAL", "off"), ({"ask": "whatif", "off": [7]}, "EINVAL", "off"),
                ({"ask": "whatif", "brightness_percent": 101}, "EINVAL", "brightness_percent"),
                ({"ask": "whatif", "close": ["phone"] * 17}, "EINVAL", "close"),
                ({"ask": "whatif", "close": ["chess"]}, "ENODATA", "chess was never seen"),
                ({"ask": "endure"}, "EINVAL", "minutes"), ({"ask": "endure", "minutes": 0}, "EINVAL", "minutes"),
                ({"ask": "endure", "minutes": 9, "without": "wifi"}, "EINVAL", "without"),
                ({"ask": "endure", "minutes": 9, "without": ["close"] * 33}, "EINVAL", "without"),
                ({"ask": "endure", "minutes": 9, "app": "chess"}, "ENODATA", "chess was never seen"),
                ({"ask": "cost", "profile": "0123456789abcdef"}, "EACCES", "profile")):
            answer = self.ask(**question)
            self.assertEqual((answer["error"], words in answer["sentence"]), (error, True), (question, answer))

    def test_it_tells_how_it_collects(self):
        answer = self.ask(ask="service")
        self.assertIn(answer["collector"], ("bpf", "bpf-iter", "kept", "proc"))
        self.assertEqual(answer["lost"], 0)

    @unittest.skipUnless(os.geteuid() == 0, "the slack of another's timers is root's to read")
    def test_who_asks_does_not_wait_until_wakeups_coincide(self):
        def wait_for(slack_ns):
            end, seen = time.monotonic() + 30, None
            while seen != slack_ns and time.monotonic() < end:
                with open(f"/proc/{self.daemon.pid}/timerslack_ns", encoding="ascii") as file:
                    seen = int(file.read())
                time.sleep(0.02)
            self.assertEqual(seen, slack_ns)
        wait_for(10**9)
        with contextlib.closing(self.connect()):
            wait_for(50000)
        wait_for(10**9)

    def test_nothing_wakes_it_while_nobody_asks(self):
        self.still_answers()
        time.sleep(0.5)

        def switches():
            with open(f"/proc/{self.daemon.pid}/status", encoding="utf-8") as file:
                return [line for line in file if "ctxt_switches" in line]
        before = switches()
        time.sleep(2)
        self.assertEqual(switches(), before)

    def test_sockets_of_the_dead_are_replaced_and_no_others(self):
        second = [JOULECASTD, "--database", self.folder + "/other.db", "--count", "1", "--socket"]
        self.assertIn("cannot answer users at the socket", self.command(*second, self.socket, code=1).splitlines()[0])
        self.assertIn("cannot answer", self.command(*second, self.copy, code=1))
        self.assertIn("cannot answer", self.command(*second, "/x" * 100, code=1))
        self.still_answers()
        self.daemon.kill()
        self.daemon.communicate()
        self.assertTrue(os.path.exists(self.socket))
        daemon = self.start()
        self.still_answers()
        self.stop(daemon)
        self.assertFalse(os.path.exists(self.socket))


@unittest.skipUnless(USERS, "only root can become somebody else")
class Users(Case):
    def test_they_see_their_own_and_one_row_a_state_for_the_rest(self):
        whole, seen = self.direct("cost"), self.ask_as_user(ask="cost")
        for key in ("from", "to", "measured", "total", "base", "unexplained", "not_measured"):
            self.assertEqual(seen[key], whole[key])
        for state in ("foreground", "background"):
            rows = {app["app"]: app for app in seen["apps"] if app["state"] == state}
            self.assertLessEqual(set(rows), {"angry-birds", "other-users"})
            others = [app for app in whole["apps"] if app["state"] == state and app["app"] != "angry-birds"]
            self.assertEqual(rows["other-users"]["name"], "other users")
            self.assertAlmostEqual(rows["other-users"]["energy_j"]["value"],
                                   sum(app["energy_j"]["value"] for app in others))
        self.assertEqual([app for app in seen["apps"] if app["app"] == "angry-birds"],
                         [app for app in whole["apps"] if app["app"] == "angry-birds"])
        self.assertEqual({app["app"] for app in self.ask_as_user(ask="apps")["apps"]}, {"angry-birds", "other-users"})

    def look_again(self, ask, after):
        """Readings are half a second apart, or twenty times as long as one takes."""
        for _ in range(60):
            time.sleep(1)
            answer = ask(ask="live", after=after)
            if answer["number"] > after:
                break
        return answer

    @unittest.skipUnless(USERS, "needs root")
    def test_live_is_their_own_and_one_for_the_rest(self):
        """Other users' programs are busy, and so is one of the user's."""
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"], **who) for who in ({}, AS_USER)]
        try:
            first = self.ask_as_user(ask="live")["number"]
            mine = self.look_again(self.ask_as_user, first)
            number = mine["number"]
            all_of_it = self.look_again(self.ask, number)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertGreater(all_of_it["number"], number)
        self.assertLessEqual(set(keys_of(mine)), documented())
        self.assertGreater(mine["recorded_s"], 0.5)
        self.assertIn("other-users", {app["app"] for app in mine["apps"]})
        self.assertGreater(len(all_of_it["apps"]), 1)
        self.assertNotIn("other-users", {app["app"] for app in all_of_it["apps"]})
        own = {app["app"] for app in mine["apps"]} - {"other-users"}
        self.assertTrue(own, mine["apps"])
        others = {app["app"] for app in all_of_it["apps"]} - own
        self.assertTrue(others and not others & own, (own, others))

    def test_no_other_way_names_another_users_app(self):
        """Root's answers contain another user's app each time, which shows that the right text is searched for it."""
        profile = ("--profile", DEVICE)
        # Answers from the whole database; answers of the service to a user.
        ways = {way: (json.dumps(self.ask(ask=way)), json.dumps(self.ask_as_user(ask=way)))
                for way in ("timeline", "since", "live", "advise")}
        for way in (("metrics",), ("cost", "--csv"), ("report", "--json")):
            ways[way] = (self.command(JOULECAST, *way, *profile, "--database", self.copy),
                         self.user(JOULECAST, *way, *profile))
        for way in ("timeline", ("metrics",), ("cost", "--csv"), ("report", "--json")):
            self.assertRegex(ways[way][0], r"\bphone\b", way)
            self.assertRegex(ways[way][1], r"\bangry-birds\b", way)
        for way, (_, seen) in ways.items():
            self.assertTrue(seen.strip(), way)
            self.assertNotRegex(seen, r"\bphone\b", way)

    def test_top_waits_for_a_service_that_restarts(self):
        with subprocess.Popen([JOULECAST, "top", "--batch", "1000", "--interval", "0.5", "--profile", DEVICE],
                              text=True, env={**os.environ, "JOULECAST_SOCKET": self.socket}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as top:
            def rows():
                return next(line for line in top.stdout if "unattributed" in line)

            self.assertTrue(rows())
            self.stop(self.daemon)
            self.assertIn("trying again", top.stderr.readline())
            self.daemon = self.start()
            self.assertTrue(rows())
            self.stop(self.daemon)
            _, words = top.communicate(timeout=120)
            self.assertEqual(top.returncode, 1)
            self.assertIn("has not answered for 20 seconds", words)

    def test_top_names_no_other_users_program(self):
        """One with a name of its own is busy, as root."""
        shutil.copy("/bin/sh", self.folder + "/a-secret")
        # pylint: disable=consider-using-with
        busy = subprocess.Popen([self.folder + "/a-secret", "-c", "while :; do :; done"])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        seen = self.user(JOULECAST, "top", "--batch", "2", "--interval", "1", "--profile", DEVICE)
        self.assertIn("unattributed", seen)
        self.assertNotIn("a-secret", seen)
        environment = {**os.environ, "JOULECAST_SOCKET": self.socket, "XDG_STATE_HOME": self.folder}
        self.assertIn("a-secret", self.command(JOULECAST, "top", "--batch", "2", "--interval", "1", "--profile", DEVICE,
                                                   env=environment))

    def test_a_limit_is_told_nothing_of_another_users_app(self):
        """Not even that there is one: as of an app that nobody has."""
        environment = {**os.environ, "XDG_STATE_HOME": self.folder, "XDG_CONFIG_HOME": self.folder + "/mine",
                       "XDG_RUNTIME_DIR": self.folder + "/mine", "JOULECAST_SOCKET": self.socket}
        os.mkdir(self.folder + "/mine", mode=0o700)
        os.chown(self.folder + "/mine", USER, USER)
        words = []
        for app in ("chess", "phone", "phon"):
            done = subprocess.run([JOULECAST, "limit", app, "--cpu", "10%", "--profile", DEVICE],
                                  capture_output=True, text=True,
                                  timeout=60, check=False, env=environment, **AS_USER)
            words.append((done.returncode, (done.stdout + done.stderr).replace(app, "APP")))
        self.assertEqual(words[1:], words[:1] * 2)

    def test_usage_is_their_own_and_one_for_the_rest(self):
        whole, seen = self.direct("usage"), self.ask_as_user(ask="usage")
        self.assertEqual(seen["base"], whole["base"])
        self.assertEqual({app["app"] for app in seen["apps"]}, {"angry-birds", "other-users"})
        self.assertEqual(self.user_json("usage"), seen)
        for app in ("phone", "chess"):  # another user's, and nobody's
            self.assertEqual(self.ask_as_user(ask="usage", app=app)["error"], "ENODATA")

    def rows_of_file(self, but=()):
        """All that the database has, with names in place of ids; without the apps @but."""
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % self.database, uri=True)) as database:
            names = dict(database.execute("SELECT id, app || ' of ' || uid FROM app"))
            rows = [tuple(row) for table in ("interval", "period", "sleep", "charge", "key")
                    for row in database.execute("SELECT * FROM %s" % table)]
            columns = [row[1] for table in ("usage",) for row in database.execute("PRAGMA table_info(%s)" % table)]
            for row in database.execute("SELECT * FROM usage ORDER BY id"):
                if names[row[columns.index("app")]].split(" of ")[0] not in but:
                    rows.append(tuple(names[value] if name == "app" else value for name, value in zip(columns, row)))
        return rows

    def test_they_forget_only_what_is_their_own(self):
        before = self.rows_of_file()
        for question in ({"app": "phone"}, {"app": "other-users"}, {"app": ""}, {"app": "no-such-app"}):
            answer = self.ask_as_user(ask="forget", **question)
            self.assertTrue("error" in answer
                            or answer["apps"] + answer["polls"] + answer["hours"] + answer["days"] == 0, answer)
        self.assertEqual(self.rows_of_file(), before)
        others = self.rows_of_file(but=("angry-birds", "other programs"))
        whole = self.direct("usage")
        words = self.user(JOULECAST, "forget", "--all", "--yes")
        self.assertIn("Forgotten: 1 app, in ", words)
        self.assertEqual([row for row in self.rows_of_file(but=("angry-birds", "other programs")) if len(row) > 30],
                         [row for row in others if len(row) > 30])
        seen = json.loads(self.command(JOULECAST, "usage", "--database", self.database, "--json"))
        for app in whole["apps"]:
            if app["app"] != "angry-birds":
                self.assertIn(app, seen["apps"])
        self.assertEqual({app["app"] for app in seen["apps"]},
                         {app["app"] for app in whole["apps"]} - {"angry-birds"} | {"other programs"})
        self.assertEqual(self.ask_as_user(ask="usage", app="angry-birds")["error"], "ENODATA")
        with open(self.database, "rb") as file:
            self.assertNotIn(b"angry-birds", file.read())
        self.assertIn("nothing of yours", self.user(JOULECAST, "forget", "--all", "--yes", code=3))

    def test_root_forgets_all_and_recording_goes_on(self):
        done = self.ask(ask="forget")
        self.assertTrue(done["whole"] and done["polls"] > 100 and not done["stayed_large"], done)
        self.assertEqual(self.ask(ask="apps")["error"], "ENODATA")
        self.stop(self.daemon)  # a last poll
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % self.database, uri=True)) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM interval").fetchone()[0], 1)
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")

    def test_a_report_is_of_their_own_and_one_for_the_rest(self):
        seen = self.user_json("report")
        self.assertEqual({app["app"] for app in seen["apps"]}, {"angry-birds", "other-users"})
        page = self.user(JOULECAST, "report", "-o", "-", "--profile", DEVICE)
        self.assertIn(">angry-birds<", page)
        for app in {app["app"] for app in self.direct("cost")["apps"]} - {"angry-birds"}:
            self.assertNotIn(">%s<" % app, page)

    def test_they_hear_of_no_other_app(self):
        never = self.ask_as_user(ask="predict", app="chess", minutes=1)
        for app in ("phone", "system", "other-users", "other users", "Other Users"):
            answer = self.ask_as_user(ask="predict", app=app, minutes=1)
            self.assertEqual(answer, {**never, "sentence": never["sentence"].replace("chess", app)})
            self.assertEqual(self.ask_as_user(ask="budget", app=app)["error"], "ENODATA")
            reserve = [{"app": app, "minutes": 1}]
            self.assertEqual(self.ask_as_user(ask="budget", app="angry-birds", reserve=reserve)["error"], "ENODATA")
            self.assertEqual(self.ask_as_user(ask="whatif", close=[app]),
                             {**self.ask_as_user(ask="whatif", close=["chess"]),
                              "sentence": never["sentence"].replace("chess", app)})
            self.assertEqual(self.ask_as_user(ask="whatif", close=["angry-birds", app])["error"], "ENODATA")

    def test_no_advice_is_about_another_app(self):
        apps = {one["app"] for one in self.ask_as_user(ask="advise")["advice"]}
        self.assertLessEqual(apps, {"angry-birds", None})

    def test_commands_ask_by_themselves(self):
        self.assertEqual(self.user_json("cost"), self.ask_as_user(ask="cost"))
        question = ("predict", "--app", "angry-birds", "--minutes", "12.25")
        self.assertEqual(self.user_json(*question), self.direct(*question))
        question = ("budget", "--app", "angry-birds", "--reserve", "angry-birds=7m", "--keep", "12.5", "--standby",
                    "1h",
                    "--battery-percent", "50")
        self.assertEqual(self.user_json(*question), self.direct(*question))
        self.assertEqual(self.user_json("budget"), self.ask_as_user(ask="budget"))
        question = ("whatif", "--brightness", "30%", "--close", "angry", "--wifi", "off", "--keep", "2h",
                    "--battery-percent", "50")
        self.assertEqual(self.user_json(*question), self.direct(*question))
        words = self.user(JOULECAST, "predict", "--app", "phone", "--minutes", "1", "--profile", DEVICE, code=3)
        self.assertIn("phone was never seen", words)
        words = self.user(JOULECAST, "cost", "--to", "2020-01-01", "--profile", DEVICE, code=3)
        self.assertIn("nothing was recorded", words)

    def test_commands_say_that_their_users_others_keep_the_service_busy(self):
        # pylint: disable=consider-using-with
        hold = subprocess.Popen([sys.executable, "-c", HOLD, self.socket], **AS_USER, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        self.addCleanup(hold.communicate)
        hold.stdout.readline()
        for command in (("cost",), ("predict", "--app", "angry-birds", "--minutes", "1"), ("budget",)):
            self.assertIn("busy with other questions", self.user(JOULECAST, *command, "--profile", DEVICE, code=1))

    def test_another_profile_is_told(self):
        other = self.folder + "/other.ini"
        with open(DEVICE, encoding="utf-8") as file, open(other, "w", encoding="utf-8") as copy:
            copy.write(file.read().replace("nexus-7", "nexus-8"))
        self.assertIn("machine's profile", self.user(JOULECAST, "cost", "--profile", other, code=1))

    def test_without_a_service_it_is_one_sentence(self):
        self.stop(self.daemon)
        words = self.user(JOULECAST, "cost", "--profile", DEVICE, code=1)
        self.assertIn("no service answers at " + self.socket, words)

    def test_a_named_database_is_not_asked_for(self):
        words = self.user(JOULECAST, "cost", "--profile", DEVICE, "--database", self.database, code=1)
        self.assertIn("cannot read", words)

    def test_answers_that_are_none(self):
        self.stop(self.daemon)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.socket)
            os.chmod(self.socket, 0o666)
            listener.listen()
            for answer in (b"", b"\n", b"{\n", b"[]\n", b"{}", b"\xff\xfe\n", b"[" * 5000 + b"\n", b'{"error":7}\n',
                           b'{"error":"EACCES","sentence":"\\u001b[31m\\n"}\n', b'{"apps":[7,{}]}\n', b"nonsense\n",
                           b'{"to":"9999-12-31T23:59:59Z"}\n', b'{"from":"1600-01-01T00:00:00Z"}\n'):
                def serve(answer=answer):
                    for _ in range(4):  # a command's first connection only checks that the service is there
                        connection, _ = listener.accept()
                        connection.settimeout(10)
                        if connection.recv(65536):
                            connection.sendall(answer)
                        connection.close()
                server = threading.Thread(target=serve)
                server.start()
                words = self.user(JOULECAST, "cost", "--profile", DEVICE, code=1)
                self.assertNotIn("\x1b", words)
                usage = self.user(JOULECAST, "usage", code=1)
                self.assertNotIn("\x1b", usage)
                self.assertIn("joulecast: ", usage)
                if answer.startswith((b'{"apps"', b'{"to"', b'{"from"')):
                    self.assertIn("is not valid", words)
                server.join()


@unittest.skipUnless(USERS, "only root can become somebody else")
class Example(Case):
    own = ("angry-birds", "phone", "system")

    def test_the_library_gives_the_same_numbers(self):
        self.assertEqual(self.user(LIST_COSTS, DEVICE), self.command(LIST_COSTS, DEVICE, self.copy))
        self.assertEqual(self.user_json("cost"), self.direct("cost"))


class Hostile(Case):
    def test_nonsense(self):
        for line in (b"", b" ", b"null", b"7", b'"cost"', b"[]", b"{", b'{"ask"', b'{"ask":"cost"}}',
                     b'{"ask":"cost"} x',
                     b"\x00", b"\xff\xfe\xfd", b'{"ask":"\xff"}', b'{"\xc3\x28\x1b[31m":1}', b'{"ask":"\\u0000cost"}',
                     b'{"ask":"predict","app":"\xff\xfe\\u001b\\ud800","minutes":1}', b"[" * 4000, b'{"ask":' * 500,
                     b'{"ask":"predict","app":"phone","minutes":1e999}',
                     b'{"ask":"predict","app":"phone","minutes":NaN}',
                     b'{"ask":null,"ask":[],"ask":{}}', b"%s%n%x" * 100, os.urandom(3000).replace(b"\n", b"")):
            answer = json.loads(self.send(line + b"\n"))
            self.assertIn(answer["error"], ("EINVAL", "ENODATA"), line)
            self.assertTrue(answer["sentence"].isprintable(), answer)
        self.still_answers()

    def test_a_question_without_its_newline(self):
        self.assertEqual(json.loads(self.send(b'{"ask":"apps"}', end=True)), self.ask(ask="apps"))
        self.assertEqual(json.loads(self.send(b'{"ask":"ap', end=True))["error"], "EINVAL")
        self.assertEqual(self.send(b"", end=True), b"")

    def test_too_long(self):
        self.assertIn("4096", json.loads(self.send(b"x" * 4096))["sentence"])
        self.assertIn("4096", json.loads(self.send(b" " * 1000000))["sentence"])
        self.assertNotIn("error", json.loads(self.send(b" " * (4095 - 14) + b'{"ask":"apps"}\n')))
        self.still_answers()

    def test_too_long_is_told_and_not_reset(self):
        connection = self.connect()
        connection.sendall(b"x" * 1000000)  # the service reads it, although it has answered
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        self.assertIn("4096", json.loads(answer)["sentence"])
        with self.assertRaises(OSError):
            for _ in range(100):  # but not for ever
                connection.sendall(b"x" * 65536)
        self.still_answers()

    def test_the_question_of_who_has_gone_is_dropped(self):
        def read():
            with open(f"/proc/{self.daemon.pid}/io", encoding="utf-8") as file:
                return int(file.readline().split()[1])
        before = read()
        self.still_answers()
        one, before = read() - before, read()
        self.daemon.send_signal(signal.SIGSTOP)
        for _ in range(20):
            connection = self.connect()
            connection.sendall(b'{"ask":"apps"}\n')
            connection.close()
        self.daemon.send_signal(signal.SIGCONT)
        self.assertIn("collector", self.ask(ask="service"))  # which reads no database
        self.assertLess(read() - before, one)

    def test_half_a_line_does_not_keep_a_place(self):
        begun = time.monotonic()
        idle, half, drip = self.connect(), self.connect(), self.connect()
        half.sendall(b'{"ask":')
        try:
            while time.monotonic() < begun + 20:
                drip.sendall(b" ")
                self.still_answers()
                time.sleep(0.5)
        except BrokenPipeError:
            pass
        for connection in (idle, half):
            self.assertEqual(connection.recv(10), b"")
        self.assertTrue(4.5 < time.monotonic() - begun < 19, time.monotonic() - begun)
        self.still_answers()

    def test_many_connections(self):
        def files():
            return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
        before = files()
        idle = [self.connect() for _ in range(200)]
        if USERS:  # those of one user take no place of another's
            self.assertIn("apps", self.ask_as_user(ask="apps"))
        for connection in idle[:20]:
            connection.close()
        connections = [self.connect() for _ in range(100)]
        for connection in connections:
            try:
                connection.sendall(b'{"ask":"apps"}\n')
            except BrokenPipeError:
                pass
        for connection in idle + connections:
            connection.close()
        self.still_answers()
        self.assertLessEqual(files(), before + 16)

    def test_who_does_not_read_the_answer(self):
        for _ in range(50):
            connection = self.connect()
            try:
                connection.sendall(b'{"ask":"cost"}\n')
            except BrokenPipeError:
                pass
            connection.close()
        self.still_answers()

    def test_stops_in_the_middle_of_it(self):
        connection = self.connect()
        connection.sendall(b'{"ask":')
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.communicate(timeout=30)
        self.assertEqual(self.daemon.returncode, 0)


class Flood(Case):
    interval = "0.2"

    def test_polls_go_on(self):
        end = time.monotonic() + 3

        def flood():
            while time.monotonic() < end:
                try:
                    self.send(b'{"ask":"cost"}\n')
                except ConnectionError:
                    pass  # one user has four places
        threads = [threading.Thread(target=flood) for _ in range(6)]
        with sqlite3.connect(self.database) as database:
            before = database.execute("SELECT count(*) FROM interval").fetchone()[0]
        database.close()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with sqlite3.connect(self.database) as database:
            after = database.execute("SELECT count(*) FROM interval").fetchone()[0]
        database.close()
        self.assertGreater(after - before, 3)

    @unittest.skipUnless(USERS, "only root can become somebody else")
    def test_another_user_is_answered_meanwhile(self):
        self.stop(self.daemon)
        self.interval = "12"
        self.daemon = self.start()
        # pylint: disable=consider-using-with
        flood = subprocess.Popen([sys.executable, "-c", FLOOD, self.socket], start_new_session=True, **AS_USER)
        self.addCleanup(flood.wait)
        self.addCleanup(os.killpg, flood.pid, signal.SIGKILL)
        begun, longest = time.monotonic(), 0
        while time.monotonic() < begun + 18:  # from one poll to the next, and on
            asked = time.monotonic()
            self.assertIn("apps", self.ask_as_user(USER - 1, ask="cost"))
            self.assertIn("apps", self.ask(ask="cost"))
            longest = max(longest, time.monotonic() - asked)
            time.sleep(0.5)  # who asks without pause uses up what an innocent user may take
        self.assertLess(longest, 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
