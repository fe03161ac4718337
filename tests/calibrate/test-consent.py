#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the text of joulecast-calibrate before it asks for consent, on a terminal, with a fake battery in /sys/class.

Usage: test-consent.py JOULECAST-CALIBRATE    exit 77: not root
"""
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CALIBRATE = os.path.abspath(sys.argv[1])
BATTERY = {"type": "Battery", "present": "1", "status": "Discharging", "capacity": "80", "voltage_now": "3800000",
           "charge_full": "3000000", "charge_full_design": "3000000", "charge_now": "2400000"}


class Consent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = ["--profile", folder.name + "/profile.ini", "--observations", folder.name + "/observations.db"]

    def battery(self, **attributes):
        os.makedirs("/sys/class/power_supply/BAT0", exist_ok=True)
        self.addCleanup(shutil.rmtree, "/sys/class/power_supply/BAT0", ignore_errors=True)
        for name, value in {**BATTERY, **attributes}.items():
            self.battery_attribute(name, value)

    def battery_attribute(self, name, value, supply="BAT0"):
        with open("/sys/class/power_supply/%s/%s" % (supply, name), "w", encoding="ascii") as file:
            file.write(value + "\n")

    def at_terminal(self, *arguments, answer="n"):
        """Its output and exit status; a question is answered."""
        ours, theirs = pty.openpty()
        said, end = "", time.monotonic() + 60
        with subprocess.Popen([CALIBRATE, *self.files, *arguments], stdin=theirs, stdout=theirs,
                              stderr=theirs) as process:
            os.close(theirs)
            while time.monotonic() < end:
                if not select.select([ours], [], [], 0.1)[0]:
                    continue
                try:
                    said += os.read(ours, 65536).decode()
                except OSError:  # it has ended
                    break
                if said.endswith("[y/N] "):
                    os.write(ours, (answer + "\n").encode())
            process.kill()
        os.close(ours)
        return said.replace("\r", ""), process.returncode

    def refused(self, words, *arguments):
        said, status = self.at_terminal(*arguments)
        self.assertEqual(status, 1, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn(words, said)

    def test_battery(self):
        warned = ("--disk", "/var/tmp", "--disk", "/var/tmp")
        self.battery(status="Charging")
        self.refused("unplug the charger", *warned)
        self.battery(capacity="10")
        self.refused("the battery is at 10 %", *warned)
        self.battery()
        self.refused("no power_now or current_now", "--method", "gauge", *warned)
        for name in ("capacity", "charge_full", "charge_full_design"):
            os.unlink("/sys/class/power_supply/BAT0/" + name)
        self.battery_attribute("current_now", "500000")
        self.refused("in percent is unknown", *warned)

    def test_weak_charger(self):
        """A weak charger: the battery discharges, but the load is fed by both."""
        self.battery()
        os.makedirs("/sys/class/power_supply/AC")
        self.addCleanup(shutil.rmtree, "/sys/class/power_supply/AC")
        for name, value in (("type", "Mains"), ("online", "1")):
            self.battery_attribute(name, value, "AC")
        self.refused("the charger is plugged in; unplug it", "--disk", "/var/tmp", "--disk", "/var/tmp")

    def test_rivals(self):
        """Services that set clocks: active in systemd, with or without a process, or a process of that name."""
        self.battery()
        warned = ("--disk", "/var/tmp", "--disk", "/var/tmp")
        os.makedirs("/run/systemd/units", exist_ok=True)
        for unit, command in (("power-profiles-daemon", "systemctl mask --runtime --now power-profiles-daemon"),
                              ("tlp", "systemctl stop tlp"), ("tuned", "systemctl stop tuned")):
            link = "/run/systemd/units/invocation:%s.service" % unit
            os.symlink("0123456789abcdef", link)
            self.refused("%s is active" % unit, *warned)
            self.refused("`%s`" % command, "--schedule", "01:30", *warned)
            os.unlink(link)
        program = os.path.join(os.path.dirname(self.files[1]), "auto-cpufreq")
        shutil.copy(shutil.which("sleep"), program)
        with subprocess.Popen([program, "60"]) as rival:
            self.refused("auto-cpufreq is active", *warned)
            rival.kill()
        self.assertIn("Start? [y/N]", self.at_terminal(*warned)[0])

    def test_nothing_left_to_write(self):
        self.battery()
        said = subprocess.run([CALIBRATE, *self.files, "--dry-run", "--write-limit", "100M"], capture_output=True,
                              text=True,
                              timeout=60, check=True)
        if "256 MB" not in said.stdout:
            self.skipTest("/var/tmp is on no storage")
        self.assertIn("--write-limit leaves 0 MB", said.stderr)

    def test_yes_is_no_silence(self):
        """With --yes the same text is printed before anything is changed."""
        self.battery()
        with subprocess.Popen([CALIBRATE, *self.files, "--yes"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Calibrating "):
                    process.send_signal(signal.SIGINT)
        said = "".join(lines)
        self.assertIn("Calibrating ", said)
        before = said[:said.index("Calibrating ")]
        self.assertIn("A calibration of ", before)
        self.assertIn("states, one after another, and takes about ", before)
        self.assertNotIn("[y/N]", said)

    def test_question(self):
        self.battery()
        said, status = self.at_terminal("--disk", "/var/tmp", "--disk", "/var/tmp")
        self.assertEqual(status, 1, said)
        lines = said.splitlines()
        asked = [i for i, line in enumerate(lines) if line.startswith("A calibration of ")]
        self.assertEqual(len(asked), 1, said)
        self.assertTrue(lines[asked[0]].endswith(", now."), said)
        self.assertGreater(asked[0], 0, "the warnings come before the question: " + said)
        self.assertTrue(all(line.startswith("joulecast-calibrate: ") for line in lines[:asked[0]]), said)
        self.assertIn("Start? [y/N] ", said)
        self.assertEqual(lines[-1], "joulecast-calibrate: not started, and nothing was changed")

    def test_gauge_that_may_be_stuck(self):
        """The question mentions the fallback of auto, which takes longer."""
        self.battery(current_now="500000")
        words = "If that gauge turns out to be unreliable, the calibration goes on by percent:"
        said = self.at_terminal("--disk", "/var/tmp")[0]
        self.assertIn(" by gauge, now.", said)
        self.assertIn(words, said)
        for method in ("gauge", "percent"):
            self.assertNotIn(words, self.at_terminal("--disk", "/var/tmp", "--method", method)[0])

    def test_nobody_to_ask(self):
        self.battery()
        done = subprocess.run([CALIBRATE, *self.files, "--disk", "/var/tmp", "--disk", "/var/tmp"],
                              stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("no terminal to ask on", done.stderr)


def main():
    if os.geteuid() != 0:
        print("only root can put a battery into /sys/class")
        sys.exit(77)
    if sys.argv[2:] != ["inside"]:
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-euc",
                              "mount -t tmpfs class /sys/class; mount -t tmpfs lib /var/lib; mount -t tmpfs run "
                              "/run; exec \"$@\"", "sh", sys.executable,
                              *sys.argv, "inside"])
    unittest.main(argv=sys.argv[:1])


main()
