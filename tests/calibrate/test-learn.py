#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast learn: what it learns in worlds that differ from the calibration's, what it writes, and what it refuses.

Usage: test-learn.py JOULECAST SOURCE-DIR
"""
import datetime
import fcntl
import json
import os
import pty
import re
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

JOULECAST, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Learn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *arguments, code=0):
        done = subprocess.run([JOULECAST, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True,
                              timeout=120, check=False,
                              env={**os.environ, "HOME": self.folder, "XDG_STATE_HOME": self.folder})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)
        self.said = done.stderr
        return done.stdout if code == 0 else done.stderr

    def world(self, name, seed=73001, sessions=8, calibrate=True):
        subprocess.run([SOURCE + "/tests/worlds/make-world", "--world", name, "--seed", str(seed), "--sessions",
                        str(sessions), "--out", self.folder], check=True)
        self.device = ["--device", "virtual:" + self.path("device.ini")]
        if calibrate:
            self.run_it("calibrate", "--device", "virtual:" + self.path("calibrate.ini"), "--method", "percent",
                        "--yes",
                        "--profile", self.path("profile.ini"), "--observations", self.path("calibration.db"))
        with open(self.path("world.json"), encoding="utf-8") as file:
            self.described = json.load(file)
        for i in range(sessions - 1):
            self.session(i, "usage.db")

    def session(self, number, database):
        """The truth of a session."""
        session = self.described["sessions"][number]
        self.run_it("simulate", *self.device, "--scenario", self.path(session["scenario"]), "--database",
                    self.path(database),
                    "--truth", self.path("truth.json"), "--append", "--start-percent", session["start_percent"],
                    "--seed",
                    session["seed"])
        return json.loads(read(self.path("truth.json")))

    def in_terminal(self, columns, *arguments):
        """Output of joulecast on a terminal of so many columns."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.Popen([JOULECAST, *arguments], stdout=its, stdin=subprocess.DEVNULL,
                                env={**os.environ, "HOME": self.folder, "XDG_STATE_HOME": self.folder, "NO_COLOR": "1"})
        os.close(its)
        text = b""
        try:
            while more := os.read(ours, 65536):
                text += more
        except OSError:  # EIO: it has ended
            pass
        os.close(ours)
        self.assertEqual(done.wait(), 0)
        return text.decode().replace("\r\n", "\n")

    def learn(self, *arguments, code=0):
        said = self.run_it("learn", *self.device, "--profile", self.path("profile.ini"), "--database",
                           self.path("usage.db"),
                           "--observations", self.path("everyday.db"), *arguments, code=code)
        return json.loads(said) if "--json" in arguments and code == 0 else said

    def check_coverage(self, learnt):
        """Each kind of answer was scored; a miss widens answers of that kind, and doctor tells all."""
        coverage = json.loads(self.run_it("doctor", *self.device, "--profile", self.path("profile.ini"),
                                          "--json"))["coverage"]
        self.assertEqual(set(coverage["kinds"]), {"cost", "predict", "budget"})
        self.assertEqual(coverage["kinds"]["cost"], {key: coverage[key] for key in ("stretches", "held", "width")})
        for kind, said in learnt["coverage"]["kinds"].items():
            known = coverage["kinds"][kind]
            self.assertGreater(said["stretches"], 2, kind)
            self.assertGreaterEqual(said["stretches"], said["held"], kind)
            self.assertEqual(known["width"] > 1, said["held"] < said["stretches"], (kind, said))
            self.assertEqual((known["held"] < known["stretches"], known["width"]),
                             (said["held"] < said["stretches"], said["width"]), kind)
        budget = coverage["kinds"]["budget"]
        self.assertTrue(0 <= budget["likely"] <= budget["held"] <= budget["stretches"])

    def error_and_hold(self):
        """Error of the total of the last session, which was not learnt from, in percent; whether the truth is in the
        interval; and the cost with its interval."""
        truth = self.session(-1, "last.db")
        cost = json.loads(self.run_it("cost", "--profile", self.path("profile.ini"), "--database", self.path("last.db"),
                                      "--json"))["total"]
        os.unlink(self.path("last.db"))
        joules = cost["energy_j"]["value"] / cost["percent"]["value"]
        cost = {key: percent * joules for key, percent in cost["percent"].items()}
        return 100 * abs(cost["value"] / truth["total_j"] - 1), cost["low"] <= truth["total_j"] <= cost["high"], cost

    def brighter(self, name):
        """Makes the device's display take 30 % more from now on."""
        text = read(self.path(name))
        changed = re.sub(r"(?m)^(power_mw\.\d+ = )(\S+)", lambda found: found[1] + str(1.3 * float(found[2])), text)
        self.assertNotEqual(changed, text)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(changed)

    def test_a_display_drifts(self):
        """It is told with the command that measures it again, and not asked for any more once that was done."""
        self.world("our-form", seed=75002, sessions=9)
        self.assertEqual(self.learn("--json", "--dry-run")["drifted"], [])
        self.brighter("device.ini")
        self.brighter("calibrate.ini")
        for i in range(8):
            self.session(i, "usage.db")
        answer = self.learn("--json", "--dry-run")
        self.assertEqual([item["component"] for item in answer["drifted"]], ["display"])
        self.assertTrue(20 < answer["drifted"][0]["percent"] < 40, answer["drifted"])
        self.assertEqual((answer["changes"], answer["measure_again"]), ([], "joulecast calibrate --only display"))
        said = " ".join(self.learn().split())
        self.assertRegex(said, r"Component display needs about \d\d % more since 2\d\d\d-\d\d-\d\d\.")
        self.assertIn("To measure it again: joulecast calibrate --only display", said)
        self.run_it("calibrate", "--device", "virtual:" + self.path("calibrate.ini"), "--only", "display", "--yes",
                    "--profile", self.path("profile.ini"), "--observations", self.path("calibration.db"), "--seed", "2")
        measured = read(self.path("profile.ini"))
        self.assertNotIn("[learned]", measured)
        with open(self.path("profile.ini"), "w", encoding="utf-8") as file:  # the virtual days are later than today
            file.write(re.sub(r"(x-measured_display = ).*", r"\g<1>2100-01-01T00:00:00Z", measured))
        answer = self.learn("--json")
        self.assertEqual(answer["measure_again"], None)
        self.assertEqual([item["measured_since"] for item in answer["drifted"]], [True])
        error, held, _ = self.error_and_hold()
        self.assertTrue(held)
        self.assertLess(error, 3)

    def test_an_app_is_updated(self):
        """That it needs more is told, with the day from which on, and of no other app."""
        self.world("our-form", seed=75003, sessions=9)
        for session in self.described["sessions"]:
            with open(self.path(session["scenario"]), "r+", encoding="utf-8") as file:
                text = file.read().replace("app = app-0\n", "app = app-0\ncpu_factor = 1.8\n")
                file.seek(0)
                file.write(text)
        before = self.uses("app-0")  # and not in the last session before the update
        for i in range(8):
            self.session(i, "usage.db")
        after = datetime.datetime.fromisoformat(before[1][:-1]) + datetime.timedelta(minutes=1)
        first = self.uses("app-0", "--from", after.isoformat() + "Z")[0]
        answer = self.learn("--json", "--dry-run")
        self.assertEqual(([change["app"] for change in answer["changes"]], answer["drifted"]), (["app-0"], []))
        change = answer["changes"][0]
        self.assertTrue(40 < change["percent"] < 80, change)  # percent of its CPU and display energy together
        self.assertTrue(before[1] <= change["since"] <= first, (before, change, first))
        self.assertRegex(" ".join(self.learn().split()), r"app-0 needs about \d\d % more since 2\d\d\d-\d\d-\d\d\.")

    def test_what_would_be_worse_is_not_taken(self):
        """Old observations that are wrong would make the newest days less likely: the numbers stay, in the file,
        too."""
        self.world("our-form", seed=75003, sessions=9)
        measured = self.numbers()
        self.assertTrue(self.learn("--json")["taken"])
        self.run_it("profile", "undo", "--profile", self.path("profile.ini"))
        self.assertEqual(self.numbers(), measured)
        newest = "(SELECT max(end_ns) - (max(end_ns) - min(end_ns)) / 5 FROM everyday)"
        self.change("UPDATE everyday SET energy_j = 2 * energy_j WHERE end_ns < " + newest)
        answer = self.learn("--json")
        self.assertEqual((answer["taken"], answer["profile"]), (False, None))
        self.assertLess(answer["better"], -3)
        self.assertEqual(self.numbers(), measured)
        self.assertIn("Not taken: it predicts the newest days worse", self.learn())

    def uses(self, app, *span):
        """When it was first and last seen."""
        apps = json.loads(self.run_it("usage", "--app", app, "--database", self.path("usage.db"), *span,
                                      "--json"))["apps"]
        return min(row["first"] for row in apps), max(row["last"] for row in apps)

    def numbers(self):
        """The profile's coefficients: (key, value, standard error)."""
        shown = json.loads(self.run_it("profile", "show", "--profile", self.path("profile.ini"), "--json"))
        return [(row["key"], row["value"], row["standard_error"]) for row in shown["coefficients"]]

    def test_unseen_watts(self):
        self.world("unseen")
        before, held, wide = self.error_and_hold()
        self.assertTrue(held)
        answer = self.learn("--json")
        self.assertTrue(answer["taken"])
        self.check_coverage(answer)
        after, held, narrow = self.error_and_hold()
        self.assertTrue(held)
        self.assertGreater(before, 5)
        self.assertLess(after, 5)
        # The battery has narrowed the interval before, too.
        self.assertLess(narrow["high"] - narrow["low"], 0.6 * (wide["high"] - wide["low"]))
        learnt = {app["app"]: app for app in answer["apps"]}
        dear = [name for name, constants in self.described["apps"].items() if constants]
        watts = {name: learnt[name]["front_mw"]["value"] for name in self.described["apps"]
                 if learnt.get(name, {}).get("front_mw", {}).get("standard_error", 999) < 120}
        self.assertTrue(watts)
        self.assertGreater(min([mw for name, mw in watts.items() if name in dear], default=400),
                           max([mw for name, mw in watts.items() if name not in dear], default=0))
        self.check_forecast()
        self.check_new_calibration()

    def check_forecast(self):
        """Corrections learnt for apps are in a forecast once, and not again as measured drain."""
        self.session(-1, "last.db")
        cost = json.loads(self.run_it("cost", "--profile", self.path("profile.ini"), "--database",
                                      self.path("last.db"), "--json"))
        app = next(app for app in cost["apps"] if app["state"] == "foreground")
        minutes = app["active_s"] / 60
        predicted = json.loads(self.run_it("predict", "--app", app["app"], "--minutes", minutes, "--profile",
                                           self.path("profile.ini"), "--database", self.path("last.db"), "--json"))
        ratio = predicted["energy_j"]["value"] / app["energy_j"]["value"]
        self.assertTrue(0.9 < ratio < 1.1, ratio)

    def check_new_calibration(self):
        """A calibration has less data than was learnt since the last one, and is not called worse for that."""
        done = self.run_it("calibrate", "--device", "virtual:" + self.path("calibrate.ini"), "--method", "percent",
                           "--yes",
                           "--seed", "99", "--json", "--profile", self.path("profile.ini"), "--observations",
                           self.path("calibration.db")).splitlines()[-1]
        self.assertIsNone(json.loads(done)["worse"])
        self.assertNotIn("[learned]", read(self.path("profile.ini")))

    def test_in_its_own_world_little_changes(self):
        self.world("our-form")
        answer = self.learn("--json")
        self.check_coverage(answer)
        self.assertLess(answer["misfit_cpu_percent"], 15)
        for app in answer["apps"]:
            self.assertLess(abs(app["cpu"]["value"]), 0.1)
        after, held, _ = self.error_and_hold()
        self.assertTrue(held)
        self.assertLess(after, 4)
        self.assertEqual(answer["changes"], [])

    def test_a_stale_full_charge(self):
        self.world("stale-full")
        answer = self.learn("--json")
        self.assertLess(abs(answer["charge_full_percent"] - 10), 4)
        self.assertIn("full charge that the battery shows is", self.learn())
        truth = self.session(-1, "last.db")
        cost = json.loads(self.run_it("cost", "--profile", self.path("profile.ini"), "--database",
                                      self.path("last.db"), "--json"))
        self.assertLess(abs(cost["measured"]["energy_j"] / truth["total_j"] - 1), 0.07)
        predicted = json.loads(self.run_it("predict", "--app", cost["apps"][0]["app"], "--minutes", 30, "--profile",
                                           self.path("profile.ini"), "--database", self.path("last.db"), "--json"))
        app = cost["apps"][0]
        wanted = app["percent"]["value"] / app["active_s"] * 1800
        self.assertTrue(0.93 < predicted["percent"]["value"] / wanted < 1.07, (predicted["percent"], wanted))
        os.unlink(self.path("last.db"))
        after, held, _ = self.error_and_hold()
        self.assertTrue(held)
        self.assertLess(after, 5)

    def test_without_a_calibration(self):
        self.world("no-calibration", calibrate=False)
        self.assertTrue(self.learn("--json")["taken"])
        after, held, _ = self.error_and_hold()
        self.assertTrue(held)
        self.assertLess(after, 10)
        self.assertIn("method = class", read(self.path("profile.ini")))

    def test_files(self):
        self.world("our-form", sessions=4)
        radios = "\n[radio cell]\ninitial = idle\n\n[radio cell idle]\npower_mw = 9\n"
        with open(self.path("profile.ini"), "a", encoding="utf-8") as file:
            file.write(radios)
        measured = read(self.path("profile.ini"))
        self.assertIn("Nothing was written", self.learn("--dry-run"))
        self.assertEqual(self.said, "")
        self.assertFalse(os.path.exists(self.path("everyday.db")))
        self.assertEqual(read(self.path("profile.ini")), measured)
        first = self.learn("--json")
        self.assertEqual(first["profile"], self.path("profile.ini"))
        learnt = read(self.path("profile.ini"))
        base = re.search(r"^\[base\]\npower_mw = (.*)", measured, re.M).group(1)
        self.assertIn("[measured base]\npower_mw = %s\n" % base, learnt)
        self.assertRegex(learnt, r"\[app 1\]\nid = ")
        self.assertIn(radios, learnt)
        # The same use once more tells nothing new.
        again = self.learn("--json")
        self.assertEqual((again["spans"], again["coverage"]["stretches"]), (first["spans"], 0))
        # Recorded usage may be deleted; observations learnt from it stay.
        os.unlink(self.path("usage.db"))
        self.session(3, "usage.db")
        self.assertGreater(self.learn("--json")["spans"], first["spans"])
        self.run_it("profile", "undo", "--profile", self.path("profile.ini"))
        self.assertIn("Measured", self.run_it("profile", "show", self.path("profile.ini")))
        for _ in range(9):
            if "[learned]" not in read(self.path("profile.ini")):
                break
            self.run_it("profile", "undo", "--profile", self.path("profile.ini"))
        self.assertEqual(read(self.path("profile.ini")), measured)
        # A damaged profile of an older learning is one sentence.
        for wrong, sentence in ((learnt.replace("id = ", "id =", 1).replace("[app 1]\nid =", "[app 1]\nx-id = "),
                                 "has no id"),
                                (learnt + "[measured profile]\nversion = 1\n", "nothing that is measured"),
                                (learnt + "[app 70000]\ncpu = 1 1\n", "no section of a profile"),
                                (re.sub(r"\[measured battery\]\nenergy.*\n", "", learnt),
                                 "energy_full_mwh of [measured battery]")):
            with open(self.path("wrong.ini"), "w", encoding="utf-8") as file:
                file.write(wrong)
            self.assertIn(sentence, self.run_it("profile", "show", self.path("wrong.ini"), code=1))

    def test_what_people_read(self):
        """Names and not ids, as in other commands, and the level of each interval; what nobody measured is not
        called so."""
        self.world("our-form", sessions=4)
        entries = self.path(".local/share/applications")
        os.makedirs(entries)
        for app in self.described["apps"]:
            with open("%s/%s.desktop" % (entries, app), "w", encoding="utf-8") as file:
                file.write("[Desktop Entry]\nType=Application\nExec=%s\nName=Game %s\n" % (app, app[-1]))
        self.device = []  # names are those of a machine
        said = self.learn("--dry-run")
        self.assertRegex(said, r"Coefficient +Measured +Now +Unit\n\S.* [\d.]+ ± [\d.]+ +[\d.]+ ± [\d.]+  m")
        self.assertIn("(±: half of the 95 % CI)", " ".join(said.split()))
        for columns in 80, 60:
            text = self.in_terminal(columns, "learn", "--dry-run", "--profile", self.path("profile.ini"), "--database",
                                    self.path("usage.db"), "--observations", self.path("everyday.db"))
            self.assertLessEqual(max(map(len, text.splitlines())), columns, text)
            self.assertNotRegex(text, r"_|[a-z]\.[a-z0-9]")
            self.assertIn("Measured", text)
        self.learn()
        for text in said, self.run_it("profile", "show", "--profile", self.path("profile.ini")):
            self.assertIn("\nGame ", text)
            self.assertNotIn("app-", text)
        os.unlink(self.path("profile.ini"))
        self.run_it("profile", "use", "class-phone", "--profile", self.path("profile.ini"))
        self.assertRegex(self.learn("--dry-run"), "Coefficient +Before +Now")

    def change(self, *statements):
        with sqlite3.connect(self.path("everyday.db")) as database:
            for statement in statements:
                database.execute(statement)
        database.close()

    def test_strange_observations(self):
        self.world("our-form", sessions=6)
        measured = read(self.path("profile.ini"))
        self.learn()
        # Names that the value of a key cannot hold; what is learnt of them would make a profile that cannot be read.
        names = [" foo", "foo", "foo ", "foo ;bar", " ", "a=b", ";c", "x" * 127]
        with sqlite3.connect(self.path("everyday.db")) as database:
            ids = [row[0] for row in database.execute("SELECT id FROM everyday_app WHERE app != ''")]
            self.assertGreater(len(ids), 4)
            for name, number in zip(names, ids):
                database.execute("UPDATE everyday_app SET app = ? WHERE id = ?", (name, number))
        database.close()
        self.learn()
        self.run_it("profile", "show", self.path("profile.ini"))
        learnt = re.findall("^id =(.*)$", read(self.path("profile.ini")), re.M)
        self.assertIn(" foo", learnt)
        self.assertNotIn("  foo", learnt)
        # A sensor that shows a third tells nothing of the full charge.
        with open(self.path("profile.ini"), "w", encoding="utf-8") as file:
            file.write(measured)
        self.change("UPDATE everyday SET gauge_j = energy_j / 3")
        self.assertIsNone(self.learn("--json")["charge_full_percent"])
        self.run_it("profile", "show", self.path("profile.ini"))
        # A device that sleeps after each percent: as many stretches as spans.
        self.change("UPDATE everyday SET start_ns = start_ns + 1000000")
        for day in range(1, 8):
            span = "id + %d, start_ns + %d, end_ns + %d" % (day * 10000, day * 86400 * 10**9, day * 86400 * 10**9)
            self.change("INSERT INTO everyday SELECT %s, elapsed_ns, energy_j, percent, level, late_s, gauge_j,"
                        " wifi_signal_dbm, cellular_signal_percent, shared, screen_app, brightness, bytes FROM "
                        "everyday WHERE id < 10000" % span,
                        "INSERT INTO everyday_use SELECT everyday + %d, app, state, key, value, any_ns FROM "
                        "everyday_use"
                        " WHERE everyday < 10000" % (day * 10000))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        answer = self.learn("--json")
        self.assertGreater(answer["stretches"], 400)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 30) # with sanitizers; else 1

    def test_a_profile_that_is_too_sure(self):
        """Its intervals do not hold for use with unseen power, so that the widths grow."""
        self.world("unseen")
        with open(self.path("profile.ini"), "a", encoding="utf-8") as file:
            file.write("[learned]\nmisfit_front_mw = 0\nmisfit_behind_mw = 0\nmisfit_cpu_percent = 0\n"
                       "misfit_display_percent = 0\nmisfit_radio_percent = 0\n")
        answer = self.learn("--json")
        self.check_coverage(answer)
        cost = answer["coverage"]["kinds"]["cost"]
        self.assertLess(cost["held"], 0.7 * cost["stretches"])
        self.assertGreater(cost["width"], 1.5)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files to another user")
    def test_root_learns_as_the_user_of_the_files(self):
        """The files belong to another user, like those of the service, whose folder is not root's."""
        self.world("our-form", sessions=4)
        os.chmod(self.folder, 0o755)
        for name in (".", *os.listdir(self.folder)):
            os.chown(self.path(name), 65534, 65534)
        self.assertIn("Nothing was written", self.learn("--dry-run"))
        self.learn()
        for name in "profile.ini", "everyday.db":
            self.assertEqual(os.stat(self.path(name)).st_uid, 65534, name)
        self.assertIn("[learned]", read(self.path("profile.ini")))

    def test_nothing_to_learn_from(self):
        self.device = ["--device", "virtual:nexus-7"]
        self.run_it("calibrate", *self.device, "--method", "gauge", "--yes", "--profile", self.path("profile.ini"),
                    "--observations", self.path("calibration.db"))
        self.assertIn("nothing was recorded yet", self.learn(code=3))
        self.assertIn("unknown", self.learn("--nonsense", code=2))
        with open(self.path("short.ini"), "w", encoding="utf-8") as file:
            file.write("[scenario]\nbrightness = 100\n[segment 1]\napp = a\nstate = foreground\nstart_s = 0\n"
                       "length_s = 60\n")
        self.run_it("simulate", *self.device, "--scenario", self.path("short.ini"), "--database", self.path("usage.db"))
        self.assertIn("nothing to learn from yet", self.learn(code=3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
