#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast top` of a recorded virtual device: rows that add up, widths, keys, and a terminal that is given back.

Usage: test-top.py JOULECAST DEVICE-INI SCENARIO-INI screen|text
"""
import contextlib
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, DEVICE, SCENARIO, BUILT = sys.argv[1:]
WHAT = []


def batch(*arguments, code=0, **environment):
    done = subprocess.run([JOULECAST, "top", *WHAT, *arguments], capture_output=True, text=True, timeout=60,
                          check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    assert done.returncode == code, (arguments, done)
    return done.stdout if code == 0 else done.stderr


def power_of(line):
    return float(re.search(r" (-?[\d.]+)", line[20:]).group(1))


def adds_up():
    lines = batch("--once", COLUMNS="60").splitlines()
    heads = next(i for i, line in enumerate(lines) if line.startswith(" App"))
    sums = next(i for i, line in enumerate(lines) if line.startswith(" base"))
    apps = sum(power_of(line) for line in lines[heads + 1:sums])
    base, total, rest, battery = (power_of(line) for line in lines[sums:sums + 4])
    assert abs(apps + base - total) < 0.0006 * (sums - heads + 1), lines
    assert abs(total + rest - battery) < 0.002, lines


def fits():
    for columns in (20, 30, 40, 46, 60, 80, 120, 200):
        for line in batch("--batch", "3", COLUMNS=str(columns)).splitlines():
            assert len(line) <= columns, (columns, line)
    text = batch("--once", LC_ALL="C", COLUMNS="80")
    assert text.isascii(), text


def what_is_used_comes_first():
    """In a terminal with room for few components, those that an app uses have a column."""
    with tempfile.TemporaryDirectory(prefix="joulecast-top-") as folder:
        device, scenario, database = (folder + name for name in ("/device.ini", "/scenario.ini", "/usage.db"))
        with open(DEVICE, encoding="utf-8") as file, open(device, "w", encoding="utf-8") as out:
            out.write(file.read() + "\n[gps]\non_mw = 300\n\n[audio]\non_mw = 100\n\n[camera]\non_mw = 500\n")
        with open(scenario, "w", encoding="utf-8") as out:
            out.write("[scenario]\n[segment 1]\napp = map\nstate = background\nstart_s = 0\nlength_s = 600\ngps = "
                      "on\ncamera = on\n")
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + device, "--scenario", scenario,
                        "--database", database],
                       check=True, stdout=subprocess.DEVNULL)
        before = WHAT[:]
        WHAT[:] = ["--device", "virtual:" + device, "--profile", device, "--database", database, "--from", "1970-01-02"]
        narrow, wide = (next(line.split() for line in batch("--once", COLUMNS=columns).splitlines()
                             if line.startswith(" App"))
                        for columns in ("70", "140"))
        WHAT[:] = before
        assert narrow[-2:] == ["GPS", "Cam"], narrow
        assert wide[-8:] == ["CPU", "Disp", "Disk", "WiFi", "GPU", "GPS", "Audio", "Cam"], wide


def width(line):
    return sum(0 if unicodedata.combining(c) or unicodedata.category(c) == "Cf" else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


# As the kernel, a desktop file or another user's program may name itself.
HOSTILE = (b"\x1b[2J\x1b[31mred\x07\r\n\x9b5m", "\u202etxt.exe\u2066\u200f".encode(), "\u5bbd".encode() * 60,
           b"\xff\xfe\xc3(\xed\xa0\x80\xf8\x88\x80\x80\x80", ("e" + "\u0301" * 90).encode())


def hostile_names():
    with tempfile.TemporaryDirectory(prefix="joulecast-top-") as folder:
        shutil.copy(WHAT[5], folder + "/usage.db")
        usage_db.change(folder + "/usage.db", *(
            ("UPDATE app SET app = CAST(? AS TEXT), name = CAST(? AS TEXT) WHERE id = ?", (name, name, i))
            for i, name in enumerate(HOSTILE, 2)))
        before, WHAT[5] = WHAT[5], folder + "/usage.db"
        for columns in (20, 46, 80, 200):
            for encoding in ("C.UTF-8", "C"):
                lines = batch("--batch", "2", COLUMNS=str(columns), LC_ALL=encoding).split("\n")
                assert any("\u2026" in line or "\u5bbd" in line or "?" in line for line in lines)
                for line in lines:
                    assert width(line) <= columns, (columns, line)
                    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in line), line
        if BUILT == "screen":
            screen = Screen(80, 24)
            screen.wait_for("unattributed")
            assert not any(c in screen.text for c in "\u202e\u2066\u200f\u009b"), screen.text
            assert "\x1b[2J\x1b[31mred" not in screen.text, screen.text
            screen.press("q")
            screen.ends()
        WHAT[5] = before


def many_apps():
    """300 more, which did nothing but one thing: all rows add up, and the last can be reached."""
    with tempfile.TemporaryDirectory(prefix="joulecast-top-") as folder:
        shutil.copy(WHAT[5], folder + "/usage.db")
        with contextlib.closing(sqlite3.connect(WHAT[5])) as database:
            first = database.execute("SELECT first_usage + n_usages - 1 FROM interval ORDER BY end_ns").fetchone()[0]
            columns = ", ".join(row[1] for row in database.execute("PRAGMA table_info(usage)")
                                if row[1] not in ("id", "app"))
        usage_db.change(folder + "/usage.db",
                        ("UPDATE usage SET id = id + 100000 WHERE id > ?", (first,)),
                        ("UPDATE interval SET first_usage = first_usage + 100000 WHERE first_usage > ?", (first,)),
                        *(("INSERT INTO app VALUES (?, ?, 1000, NULL)", (1000 + i, f"app-{i:03}")) for i in range(300)),
                        *((f"INSERT INTO usage (id, app, {columns}) SELECT ?, ?, {columns} FROM usage WHERE id = ?",
                           (first + 1 + i, 1000 + i, first)) for i in range(300)),
                        ("UPDATE interval SET n_usages = n_usages + 300 WHERE first_usage + n_usages - 1 = ?",
                         (first,)))
        before, WHAT[5] = WHAT[5], folder + "/usage.db"
        adds_up()
        text = batch("--once", COLUMNS="80")
        assert all(f"app-{i:03} " in text for i in range(300)), text
        if BUILT == "screen":
            screen = Screen(80, 24)
            screen.wait_for("unattributed")
            screen.press("n/app-\r")
            screen.press("\x1bOF")  # the End key
            screen.press("\r")      # its page, whose title has no cell in common with the list's
            screen.wait_for("app-299")
            screen.press("x")
            screen.press("q")
            screen.ends()
        WHAT[5] = before


def refuses():
    assert "--batch N" in batch(code=2) and "trace --json" in batch("--json", code=2)
    assert "half a second" in batch("--interval", "0.1", "--once", code=2)
    assert batch("--interval", "2s", "--once")
    assert "not shown" in batch("--once", "--filter", "no such app")
    assert "--from is not before --to" in batch("--from", "1970-01-05", "--to", "1970-01-02", "--once", code=2)
    assert "cannot open the machine tree" in live("--machine", "/no/such/folder", "--once")[1]


def live(*arguments):
    done = subprocess.run([JOULECAST, "top", "--profile", DEVICE, *arguments], capture_output=True, text=True,
                          timeout=60, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


def rows_end():
    """As the manual page has it: after the last poll, where nobody reads on, at a signal, and without any poll."""
    assert batch("--batch", "1000000").count(" App") > 1
    assert "no polls of that time" in batch("--from", "2030-01-01", "--once", code=3)
    command = shlex.join([JOULECAST, "top", *WHAT, "--batch", "1000000"])
    for sink, code in ((" | head -n 1; exit ${PIPESTATUS[0]}", 0), (" > /dev/full", 1), (" >&-", 1)):
        done = subprocess.run(["bash", "-c", command + sink], check=False, capture_output=True, timeout=60)
        assert done.returncode == code, (sink, done)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        with tempfile.TemporaryDirectory(prefix="joulecast-top-") as tree:
            os.makedirs(tree + "/proc")
            with open(tree + "/proc/uptime", "w", encoding="ascii") as file:
                file.write("1 1\n")
            with subprocess.Popen([JOULECAST, "top", "--profile", DEVICE, "--machine", tree, "--batch", "1000"],
                                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                  preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as top:  # nohup ignores one
                assert top.stdout.readline()
                top.send_signal(number)
                assert top.wait(timeout=60) == -number, (number, top.returncode)


class Screen:
    """`joulecast top` on a terminal of its own."""
    def __init__(self, columns, lines, term="xterm", at=()):
        self.ours, self.its = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.its)
        self.text = ""
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([JOULECAST, "top", *WHAT, *at, "--interval", "0.5"], stdin=self.its,
                                        stdout=self.its, start_new_session=True,
                                        env={**os.environ, "TERM": term, "LC_ALL": "C.UTF-8"})

    def resize(self, columns, lines):
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def wait_for(self, word):
        self.text, until = "", time.monotonic() + 30
        while word not in self.text:
            assert time.monotonic() < until, (word, self.text[-500:])
            if select.select([self.ours], [], [], 1)[0]:
                self.text += os.read(self.ours, 65536).decode(errors="replace")

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def ends(self, code=0):
        assert self.process.wait(timeout=60) == code, self.process
        assert termios.tcgetattr(self.its) == self.before
        os.close(self.ours)
        os.close(self.its)


def keys():
    screen = Screen(80, 24)
    screen.wait_for("unattributed")
    screen.press("n")
    screen.wait_for("name")
    screen.press("/zzz")
    screen.wait_for("not shown")
    screen.press("\r")
    screen.press("\x1b")
    screen.wait_for("system")  # it was hidden
    screen.press("\r")
    screen.wait_for("any key")
    screen.press("x")
    screen.wait_for("unattributed")
    screen.press("w")
    screen.wait_for("any key")
    screen.press("x")
    screen.resize(40, 20)
    screen.process.send_signal(signal.SIGWINCH)
    screen.wait_for("unattributed")
    screen.press("q")
    screen.ends()


def is_given_back():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        screen = Screen(80, 24, "vt100")
        screen.wait_for("unattributed")
        assert termios.tcgetattr(screen.its) != screen.before
        screen.process.send_signal(number)
        screen.ends()
    screen = Screen(80, 24)
    screen.wait_for("unattributed")
    screen.process.send_signal(signal.SIGSEGV)
    screen.ends(-signal.SIGSEGV)
    screen = Screen(80, 24, "no-such-terminal")
    screen.ends(1)
    screen = Screen(80, 24)
    screen.wait_for("unattributed")
    os.close(screen.its)
    os.close(screen.ours)  # the terminal is gone
    assert screen.process.wait(timeout=60) == 0, screen.process
    screen = Screen(80, 24, at=["--from", "2030-01-01"])
    screen.ends(3)


def stops_and_goes_on():
    """Ctrl-Z and fg of a shell with job control: the terminal is as it was in between. SIGSTOP: the shell sees to
    that."""
    for by_key in (True, False):
        stop_and_go_on(by_key)


def stop_and_go_on(by_key):
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = " ".join(map(shlex.quote, (JOULECAST, "top", *WHAT, "--interval", "0.5")))
    script = ("set -m; %s; stty -a; stty sane; echo 'stopped' here; read -r go; fg >/dev/null; echo 'ended' with $?" %
              command)
    screen = Screen.__new__(Screen)
    # pylint: disable=consider-using-with
    shell = subprocess.Popen(["sh", "-c", script], stdin=its, stdout=its, stderr=its, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                             env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    screen.ours, screen.its, screen.text, screen.process = ours, its, "", shell
    screen.wait_for("unattributed")
    if by_key:
        screen.press("\x1a")
    else:
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGSTOP)
    screen.wait_for("stopped here")
    if by_key:
        assert " icanon" in screen.text and " echo " in screen.text, screen.text
        assert "\x1b[?1049l" in screen.text, screen.text  # the screen of before
    screen.press("\r")
    screen.wait_for("unattributed")
    screen.press("q")
    screen.wait_for("ended with 0")
    assert shell.wait(timeout=60) == 0
    after = termios.tcgetattr(its)
    assert after[3] & termios.ICANON and after[3] & termios.ECHO, after
    os.close(ours)
    os.close(its)


def colors_are_optional():
    for name, value, wanted in (("NO_COLOR", "", True), ("NO_COLOR", "1", False)):
        os.environ[name] = value
        screen = Screen(80, 24, "xterm-256color")
        screen.wait_for("unattributed")
        screen.press("q")
        screen.ends()
        assert bool(re.search("\x1b\\[[0-9;]*3[0-7]m", screen.text)) == wanted, (value, screen.text)
    del os.environ["NO_COLOR"]


def grows_and_shrinks():
    """To next to nothing, and to more than it has lines for."""
    screen = Screen(80, 24)
    screen.wait_for("unattributed")
    for columns, lines in ((1, 1), (5, 2), (20, 4), (300, 100)):
        screen.resize(columns, lines)
        screen.process.send_signal(signal.SIGWINCH)
        time.sleep(0.1)
    screen.wait_for("unattributed")
    screen.press("q")
    screen.ends()


def main():
    with tempfile.TemporaryDirectory(prefix="joulecast-top-") as folder:
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database",
                        folder + "/usage.db"], check=True, stdout=subprocess.DEVNULL)
        WHAT[:] = ["--device", "virtual:" + DEVICE, "--profile", DEVICE, "--database", folder + "/usage.db", "--from",
                   "1970-01-02"]
        for test in (adds_up, fits, what_is_used_comes_first, refuses, rows_end, hostile_names, many_apps) + ((
                keys, is_given_back, stops_and_goes_on, colors_are_optional,
                grows_and_shrinks) if BUILT == "screen" else ()):
            test()
            print(test.__name__)


main()
