#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits by a real systemd of a user, in namespaces of its own: what is in front is free at once, and nothing stays
limited without an agent, however it ends.

Usage: test-limit-systemd.py JOULECAST JOULECAST-FOCUS
"""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
from user_systemd import GROUP, SERVICE, outside, prepare, wait_for  # noqa: E402

KILLS = 20


class App:
    """A process in a unit as desktops make them."""

    def __init__(self, unit, part="app.slice", program="sleep"):
        self.unit = unit
        self.folder = f"{GROUP}/{SERVICE}/{part}/{unit}"
        self.process = subprocess.Popen(["systemd-run", "--user", "--scope", "--quiet", "--slice=" + part,
                                         "--unit=" + unit,
                                         program, "100000"])
        wait_for(lambda: os.path.exists(self.folder) and self.pid(), unit)

    def pid(self):
        with open(self.folder + "/cgroup.procs", encoding="utf-8") as file:
            return next((int(line) for line in file), 0)

    def name(self):
        with open(f"/proc/{self.pid()}/comm", encoding="utf-8") as file:
            return file.read().rstrip("\n")

    def frozen(self):
        with open(self.folder + "/cgroup.freeze", encoding="utf-8") as file:
            return file.read().strip() == "1"

    def quota(self):
        return subprocess.run(["systemctl", "--user", "show", "-P", "CPUQuotaPerSecUSec", self.unit],
                              capture_output=True, text=True,
                              check=True).stdout.strip()

    def free(self):
        return not self.frozen() and self.quota() == "infinity"


class Desktop:
    """niri, as far as the agent asks it."""

    def __init__(self):
        self.path = os.environ["XDG_RUNTIME_DIR"] + "/niri.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.listener.settimeout(20)
        self.windows = {}
        self.stream = None

    def add(self, pid, app_id):
        self.windows[len(self.windows) + 1] = (pid, app_id)
        return len(self.windows)

    def accept(self, focused):
        self.stream = self.listener.accept()[0]
        self.stream.settimeout(20)
        self.stream.recv(100)
        windows = [{"id": key, "app_id": app_id, "pid": pid, "is_focused": key == focused}
                   for key, (pid, app_id) in self.windows.items()]
        self.tell({"WindowsChanged": {"windows": windows}})

    def tell(self, event):
        self.stream.sendall(json.dumps(event).encode() + b"\n")

    def tell_of(self, pid, app_id):
        key = self.add(pid, app_id)
        self.tell({"WindowOpenedOrChanged": {"window": {"id": key, "app_id": app_id, "pid": pid, "is_focused": False}}})
        return key

    def focus(self, window):
        self.tell({"WindowFocusChanged": {"id": window}})


class Agent:
    def __init__(self, desktop, focused):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([FOCUS, "--warn-every", "0", "--backend", "niri"], stderr=self.log,
                                        env={**os.environ, "NIRI_SOCKET": desktop.path})
        desktop.accept(focused)

    def said(self):
        return os.pread(self.log.fileno(), 1 << 20, 0).decode()

    def guard(self):
        """The process that undoes what this one leaves; 0: there is none."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            return next((int(pid) for pid in file.read().split()), 0)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(timeout=20)


def limit(*arguments, code=0):
    done = subprocess.run([JOULECAST, "limit", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, (arguments, done)
    return done.stderr if code else done.stdout


def effect(name):
    return next(one["state"] for one in json.loads(limit("--json"))["limits"] if one["app"] == name)


def front_is_free(desktop, burner, other):
    app, editor = desktop.add(burner.pid(), "burner"), desktop.add(other.pid(), "editor")
    by_id = desktop.add(None, "BURNER")
    agent = Agent(desktop, app)
    said = limit("burn", "--cpu", "20%", "--freeze-after", "1s")
    assert "burner" in said, said
    wait_for(lambda: effect("burner") == "front", "known to be in front")
    assert burner.free()
    slowest = 0
    for window in app, by_id, app:
        desktop.focus(editor)
        wait_for(burner.frozen, "frozen in the background")
        wait_for(lambda: effect("burner") == "frozen", "and told")
        assert burner.quota() == "200ms" and other.free()
        begin = time.monotonic()
        desktop.focus(window)
        wait_for(lambda: not burner.frozen(), "thawed in front")
        slowest = max(slowest, time.monotonic() - begin)
        wait_for(burner.free, "with all its CPU time")
    print(f"thawed {1000 * slowest:.0f} ms after the focus, at most")
    desktop.focus(editor)
    wait_for(burner.frozen, "frozen again")
    desktop.stream.close()
    wait_for(burner.free, "free where it is not known what is in front")
    desktop.accept(editor)
    wait_for(burner.frozen, "frozen once more")
    assert limit("burner", "--off") and burner.free(), "undone when the command returns"
    assert not json.loads(limit("--json"))["limits"]
    limit("burner", "--freeze-after", "1s")
    wait_for(burner.frozen, "frozen for the last time")
    limit("--off")
    assert burner.free()
    agent.end(signal.SIGTERM)


def unknown_frees_all(desktop, burner):
    """An id that names no running app, also beside the pid of an X server, may be that of the limited one."""
    # as the program itself, and not its unit, says what it is
    program = os.path.join(tempfile.mkdtemp(), "xwayland-satellite")
    os.symlink(shutil.which("sleep"), program)
    satellite = App("app-niri-xwayland\\x2dsatellite-103.scope", program=program)
    # systemd-run puts itself into the unit first
    wait_for(lambda: satellite.name() == "xwayland-satell", "the satellite")
    shutil.rmtree(os.path.dirname(program))
    agent = Agent(desktop, 2)
    limit("burner", "--freeze-after", "1s")
    for pid, app_id, state in ((satellite.pid(), "Burner", "front"), (satellite.pid(), "org.x.unknown", "unseen"),
                               (None, "org.x.unknown", "unseen"), (None, "burner-4711-window", "unseen")):
        wait_for(burner.frozen, "frozen in the background")
        desktop.focus(desktop.tell_of(pid, app_id))
        wait_for(lambda: not burner.frozen(), f"free while {app_id} is in front")
        wait_for(lambda: effect("burner") == state, f"and told: {state}")
        time.sleep(1.2)
        assert burner.free(), app_id
        desktop.focus(2)
    limit("--off")
    agent.end(signal.SIGTERM)


def others_are_refused(desktop, editor):
    session = App("app-gnome-lonely-7.scope", "session.slice")
    agent = Agent(desktop, 2)
    said = limit("lonely", "--freeze-after", "1s", code=1)
    assert "not in a unit of its own" in said, said
    said = limit("burnre", code=1)
    assert "did you mean burner?" in said, said
    assert "which app?" in limit("--cpu", "10%", code=2)
    assert "always" in limit("burner", "--when", "always", code=2)
    assert "1" in limit("burner", "--cpu", "0%", code=2)
    assert "1s to 7d" in limit("burner", "--freeze-after", "8d", code=2)
    assert "--off goes with neither" in limit("burner", "--off", "--cpu", "5", code=2)
    assert "burner is not limited; see" in limit("burner", "--off", code=1)
    path = os.environ["XDG_CONFIG_HOME"] + "/joulecast/limits.ini"
    with open(path, "w", encoding="utf-8") as file:  # by hand
        file.write("[limit 1]\napp = lonely\nfreeze_after_s = 1\n[limit 2]\napp = nobody\ncpu_percent = 5\n")
    wait_for(lambda: effect("lonely") == "refused" and effect("nobody") == "absent", "told why not")
    assert not session.frozen() and editor.free()
    with open(path, "w", encoding="utf-8") as file:
        file.write("[limit 1]\napp = lonely\nfreeze = 1\n")
    assert "there is no key" in limit(code=1)
    wait_for(lambda: "there is no key" in agent.said(), "told of the file")
    os.unlink(path)
    agent.end(signal.SIGTERM)


def nothing_stays(desktop, burner):
    """However the agent ends."""
    limit("burner", "--cpu", "20%", "--freeze-after", "1s")
    agent = Agent(desktop, 2)
    wait_for(burner.frozen, "frozen")
    agent.end(signal.SIGTERM)
    assert burner.free(), "at its end"
    seed = random.randrange(1 << 32)
    moments, frozen, limited, slowest = random.Random(seed), 0, 0, 0
    for i in range(KILLS):
        agent = Agent(desktop, 2)
        if i % 2:
            time.sleep(moments.uniform(1.0, 1.3))  # it limits it in the middle
        else:
            wait_for(burner.frozen, "frozen")
            desktop.focus(1)  # or frees it just now
            time.sleep(moments.uniform(0, 0.01))
        agent.process.kill()
        begin = time.monotonic()
        frozen += burner.frozen()
        limited += burner.quota() != "infinity"
        agent.process.communicate(timeout=20)
        wait_for(burner.free, f"free after a kill, seed {seed}", 5)
        slowest = max(slowest, time.monotonic() - begin)
    print(f"{KILLS} kills, {frozen} while it was frozen, {limited} while it was limited: free after {slowest:.2f} "
          f"s at most")
    agent = Agent(desktop, 2)
    wait_for(burner.frozen, "frozen")
    guard = agent.guard()
    os.kill(guard, signal.SIGKILL)
    wait_for(lambda: agent.guard() not in (0, guard), "another guard")
    os.kill(agent.process.pid, signal.SIGSTOP)  # both killed, as when the unit is
    os.kill(agent.guard(), signal.SIGKILL)
    agent.end(signal.SIGKILL)
    assert burner.frozen()
    subprocess.run([FOCUS, "--restore"], stdin=subprocess.DEVNULL, check=True)  # ExecStopPost
    assert burner.free()
    agent = Agent(desktop, 2)
    wait_for(burner.frozen, "frozen")
    os.kill(agent.process.pid, signal.SIGSTOP)
    os.kill(agent.guard(), signal.SIGKILL)
    agent.end(signal.SIGKILL)
    agent = Agent(desktop, 1)  # the next one undoes it, and burner is in front
    wait_for(burner.free, "free again")
    agent.end(signal.SIGTERM)
    limit("--off")


def main():
    prepare()
    burner, editor = App("app-gnome-burner-101.scope"), App("app-gnome-editor-102.scope")
    desktop = Desktop()
    front_is_free(desktop, burner, editor)
    unknown_frees_all(desktop, burner)
    others_are_refused(desktop, editor)
    nothing_stays(desktop, burner)
    assert not re.search(r"^unit", open(os.environ["XDG_RUNTIME_DIR"] + "/joulecast-limits",
                                        encoding="utf-8").read(), re.M)


JOULECAST, FOCUS = sys.argv[1:3]
if sys.argv[3:] != ["--inside"]:
    outside(FOCUS)
main()
