#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings: when they hold, each off by its key, and on a desktop each once.

Usage: test-warn.py JOULECAST DEVICE-INI JOULECAST-FOCUS [NOTIFICATIONS]
"""
import contextlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, DEVICE, FOCUS = sys.argv[1:4]
NOTIFICATIONS = sys.argv[4] if sys.argv[4:] else None
HOSTILE = "<b>app</b> & co"
SCENARIO = """
[scenario]
brightness = 178
wifi = on
[segment 1]
app = game
state = foreground
start_s = 0
length_s = {seconds}
khz = 1026000
cores = 0.8 0.3 0 0
[segment 2]
app = sync
state = background
start_s = 0
length_s = {seconds}
khz = 702000
cores = 0 0 {cores} {cores}
[segment 3]
app = phone
state = foreground
start_s = {seconds}
length_s = 600
khz = 702000
cores = 0.3 0 0 0
"""


def run(*arguments, code=0, env=None):
    done = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})})
    assert done.returncode == code, (arguments, done)
    return done.stderr if code else done.stdout


def simulate(folder, database, percent, *sessions):
    for i, (seconds, cores) in enumerate(sessions):
        with open(folder + "/scenario.ini", "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(seconds=seconds, cores=cores))
        run("simulate", "--device", "virtual:" + DEVICE, "--scenario", folder + "/scenario.ini", "--database", database,
            "--start-percent", str(percent), *(["--append"] if i else []))


def with_errors(folder):
    """A profile like that of a calibration: the device's truth, with standard errors."""
    with open(DEVICE, encoding="utf-8") as file:
        text = file.read().split("\n[virtual]")[0].replace("method = virtual", "method = gauge")
    with open(folder + "/errors.ini", "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(\w+_m[wj](?!h)\S* = )([\d.]+)$",
                          lambda found: f"{found[0]} {0.03 * float(found[2]):g}", text,
                          flags=re.M) + "\n[fit]\ndegrees_of_freedom = 20\n")
    return file.name


class Warn:
    def __init__(self, folder):
        self.folder = folder
        self.profile = with_errors(folder)
        self.low, self.dear = folder + "/low.db", folder + "/dear.db"
        simulate(folder, self.low, 30, (5400, 0.05))
        # The same work on one day after the other, and then ten times as much in the background.
        simulate(folder, self.dear, 90, (28800, 0.05), (7200, 0.95))
        usage_db.change(self.dear, ("UPDATE app SET app = ? WHERE app = 'sync'", (HOSTILE,)))

    def where(self, database):
        return ["--device", "virtual:" + DEVICE, "--profile", self.profile, "--database", database]

    def config(self, text):
        with open(self.folder + "/joulecast.conf", "w", encoding="utf-8") as file:
            file.write("[warn]\n" + text)
        return ["--config", file.name]

    def warnings(self, database, text):
        return json.loads(run("warn", *self.where(database), *self.config(text), "--json"))["warnings"]

    def reserve(self):
        budget = json.loads(run("budget", *self.where(self.low), "--reserve", "phone=10m",
                                "--json"))["minutes"]["value"]
        assert 1 < budget < 1000, budget
        found = self.warnings(self.low, f"reserve = phone=10m\nminutes = {int(budget) + 2}\n")
        assert [one["id"]
                for one in found] == ["reserve"] and "10 minutes of phone is at risk" in found[0]["summary"], found
        assert not self.warnings(self.low, f"reserve = phone=10m\nminutes = {max(1, int(budget) - 2)}\n")
        assert not self.warnings(self.low, "reserve = none\nminutes = 1440\n")
        found = self.warnings(self.low, "reserve = phone=10h game=1h\n")
        assert "Too little is left for 10 h of phone, 60 minutes of game" == found[0]["summary"], found
        said = run("warn", *self.where(self.low), *self.config("reserve = phone\n"), code=2)
        assert "[warn] reserve = phone is not APP=TIME" in said, said
        assert "fax was never seen" in run("warn", *self.where(self.low), *self.config("reserve = fax=1m\n"), code=3)

    def background(self):
        found = self.warnings(self.dear, "")
        assert [one["id"] for one in found] == ["background " + HOSTILE], found
        now, before = map(float, re.search(r"took ([\d.]+) % in the last hour .* it was ([\d.]+) % an hour",
                                           found[0]["sentence"]).groups())
        assert now > 2 * before > 0, found
        assert not self.warnings(self.dear, "background = off\n")
        # An app that was never seen hides no other warning.
        done = subprocess.run([JOULECAST, "warn", *self.where(self.dear), *self.config("reserve = fax=1m\n"), "--json"],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3 and "fax was never seen" in done.stderr, done
        assert [one["id"] for one in json.loads(done.stdout)["warnings"]] == ["background " + HOSTILE], done
        said = run("warn", *self.where(self.dear), *self.config("background = maybe\n"), code=2)
        assert "background = maybe is neither on nor off" in said, said
        assert "Nothing to warn of." in run("warn", *self.where(self.low), *self.config(""))


@contextlib.contextmanager
def session_bus(folder):
    address = f"unix:path={folder}/bus"
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--nosyslog", "--address=" + address],
                              stderr=subprocess.DEVNULL)
    env = {"DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": folder + "/run", "XDG_STATE_HOME": folder + "/state"}
    os.mkdir(folder + "/run", 0o700)
    try:
        for _ in range(200):
            if os.path.exists(folder + "/bus"):
                break
            time.sleep(0.05)
        yield env
    finally:
        daemon.kill()
        daemon.wait()


def lines_of(shown, seconds, first=None):
    """Lines printed until it is silent for @seconds; the first one may take up to @first seconds."""
    text = b""
    while select.select([shown.stdout], [], [], seconds if text or first is None else first)[0]:
        more = os.read(shown.stdout.fileno(), 65536)
        if not more:
            break
        text += more
    return text.decode().splitlines()


def on_a_desktop(warn):
    with session_bus(warn.folder) as env:
        arguments = ["warn", "--notify", *warn.where(warn.dear), *warn.config("reserve = phone=20h\n")]
        assert "no service for notifications" in run(*arguments, code=1, env=env)
        shown = subprocess.Popen([NOTIFICATIONS], stdout=subprocess.PIPE, env={**os.environ, **env})
        assert lines_of(shown, 5, 20)[:1] == ["ready"]
        run(*arguments, env=env)  # nobody had seen it
        first = lines_of(shown, 0.5, 20)
        assert len(first) == 1 and first[0].startswith("Too little is left for 20 h of phone|"), first
        run(*arguments, env=env)  # not the next one at once
        assert not lines_of(shown, 0.5)
        file = env["XDG_STATE_HOME"] + "/joulecast/warned"
        with open(file, encoding="utf-8") as kept:
            text = kept.read()
        with open(file, "w", encoding="utf-8") as kept:  # ten minutes later
            kept.write(re.sub(r"^\d+ sent", f"{(int(time.time()) - 601) * 10**9} sent", text))
        run(*arguments, env=env)
        second = lines_of(shown, 0.5, 20)
        assert len(second) == 1 and "uses much battery in the background|" in second[0], second
        assert "&lt;b&gt;app&lt;/b&gt; &amp; co took" in second[0], second
        with open(file, "w", encoding="utf-8") as kept:
            kept.write(re.sub(r"^\d+ sent", "0 sent", text).replace("phone=20h",
                                                                    "phone=20h\nnonsense\n9 \n" + 300 * "x"))
        run(*arguments, env=env)  # the first was told, and the second is forgotten
        assert "in the background|" in "".join(lines_of(shown, 0.5, 20))
        assert "HOME is not set" in run(*arguments, code=1, env={**env, "XDG_STATE_HOME": "", "HOME": ""})
        with open(file, "w", encoding="utf-8") as kept:
            kept.write(re.sub(r"^\d+ sent", "0 sent", text))
        run(*arguments, env={**env, "XDG_RUNTIME_DIR": warn.folder})  # another session: the first was told
        assert "in the background|" in "".join(lines_of(shown, 0.5, 20))
        # another reserve is a new warning
        for reserve, wanted in ("phone=19h", "Too little is left for 19 h of phone|"), ("phone=19h", ""):
            with open(file, encoding="utf-8") as kept:
                text = kept.read()
            with open(file, "w", encoding="utf-8") as kept:
                kept.write(re.sub(r"^\d+ sent", "0 sent", text))
            run("warn", "--notify", *warn.where(warn.dear), *warn.config(f"reserve = {reserve}\n"), env=env)
            said = "".join(lines_of(shown, 0.5, 20 if wanted else None))
            assert said.startswith(wanted) and bool(said) == bool(wanted), said
        # The agent starts it: here as whoever runs the test, whose own usage may be none.
        agent = subprocess.Popen([FOCUS, "--warn-every", "0.2", "--socket", warn.folder + "/none.sock"],
                                 env={**os.environ, **env}, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        children = subprocess.run(["ps", "--ppid", str(agent.pid), "-o", "args="], capture_output=True,
                                  text=True).stdout
        agent.terminate()
        words = agent.communicate()[1]
        assert "there are no warnings" not in words and children.count("joulecast") <= 1, (words, children)
        shown.kill()
        shown.wait()


with tempfile.TemporaryDirectory() as folder:
    warn = Warn(folder)
    warn.reserve()
    warn.background()
    if NOTIFICATIONS and shutil.which("dbus-daemon"):
        on_a_desktop(warn)
