#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast record --input-save` in a session of X: what is done in a program's windows becomes a script, and
nothing that is done in others; the script plays the same again.

The session is an Xvfb, and who uses it is XTEST. Skips without Xvfb, libXtst or the right to watch programs.

Usage: test-record-input.py JOULECAST RECORD-WINDOW
"""
import ctypes
import ctypes.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

JOULECAST, WINDOW = map(os.path.abspath, sys.argv[1:3])


class Session:
    """An X server, and a user's hands."""
    def __init__(self):
        read, write = os.pipe()
        # pylint: disable-next=consider-using-with
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x700x24",
                                        "-nolisten", "tcp"],
                                       pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as file:
            self.name = ":" + file.readline().strip()
        self.x11, self.xtst = (ctypes.CDLL(ctypes.util.find_library(name)) for name in ("X11", "Xtst"))
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.x11.XStringToKeysym.restype = ctypes.c_ulong
        self.x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self.display = ctypes.c_void_p(self.x11.XOpenDisplay(self.name.encode()))
        self.root = ctypes.c_ulong(self.x11.XDefaultRootWindow(self.display))

    def close(self):
        self.x11.XCloseDisplay(self.display)
        self.server.terminate()
        self.server.wait()

    def key(self, name, *held):
        codes = [self.x11.XKeysymToKeycode(self.display, ctypes.c_ulong(self.x11.XStringToKeysym(key.encode())))
                 for key in (*held, name)]
        for code, down in [(code, 1) for code in codes] + [(code, 0) for code in reversed(codes)]:
            self.xtst.XTestFakeKeyEvent(self.display, code, down, ctypes.c_ulong(0))
        self.x11.XFlush(self.display)

    def move(self, x, y):
        self.xtst.XTestFakeMotionEvent(self.display, -1, x, y, ctypes.c_ulong(0))
        self.x11.XFlush(self.display)

    def button(self, number, *downs):
        for down in downs or (1, 0):
            self.xtst.XTestFakeButtonEvent(self.display, number, down, ctypes.c_ulong(0))
        self.x11.XFlush(self.display)

    def windows(self):
        root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        self.x11.XQueryTree(self.display, self.root, *map(ctypes.byref, (root, parent, children, count)))
        found = {}
        for window in children[:count.value]:
            name = ctypes.c_char_p()
            if self.x11.XFetchName(self.display, ctypes.c_ulong(window), ctypes.byref(name)):
                found[name.value.decode("latin-1")] = window
        return found

    def focus(self, title):
        self.x11.XSetInputFocus(self.display, ctypes.c_ulong(self.windows()[title]), 1, ctypes.c_ulong(0))
        self.x11.XFlush(self.display)

    def close_window(self, title):
        """As a window manager's button does."""
        class Message(ctypes.Structure):  # XClientMessageEvent
            _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                        ("display", ctypes.c_void_p),
                        ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong), ("format", ctypes.c_int),
                        ("longs", ctypes.c_long * 5), ("room", ctypes.c_long * 12)]
        self.x11.XInternAtom.restype = ctypes.c_ulong
        names = [self.x11.XInternAtom(self.display, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")]
        window = self.windows()[title]
        message = Message(33, 0, 1, self.display, window, names[0], 32, (ctypes.c_long * 5)(names[1]))
        self.x11.XSendEvent(self.display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(message))
        self.x11.XFlush(self.display)


class Input(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.session = Session()
        self.addCleanup(self.session.close)
        self.log, self.script = (os.path.join(self.folder.name, name) for name in ("log", "script"))

    def lines(self, log=None):
        if not os.path.exists(log or self.log):
            return []
        with open(log or self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def wait(self, line, times=1, log=None):
        """Until the window has written that, so that nothing here depends on time."""
        end = time.monotonic() + 120
        while self.lines(log).count(line) < times:
            self.assertLess(time.monotonic(), end, (line, self.lines(log), self.started and self.started.poll()))
            time.sleep(.01)

    def start(self, *words):
        # pylint: disable-next=consider-using-with,attribute-defined-outside-init
        self.started = subprocess.Popen([JOULECAST, "record", "--input-save", self.script, *words],
                                        stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder.name,
                                        env={**os.environ, "DISPLAY": self.session.name,
                                             "WAYLAND_DISPLAY": "wayland-0"})
        self.addCleanup(self.started.wait)
        self.addCleanup(self.started.kill)

    def finish(self, code=0):
        out, err = self.started.communicate(timeout=120)
        if self.started.returncode and "this build keeps no input" in err:
            self.skipTest("this build has no XRecord")
        if self.started.returncode and "perf_event" in err:
            self.skipTest("programs cannot be watched here")
        self.assertEqual(self.started.returncode, code, (out, err))
        return err

    def done(self):
        return [line for line in self.lines() if not line.startswith("#")]

    def steps(self):
        """A line for each letter and each step of the wheel, without what depends on how fast this machine is."""
        steps = []
        with open(self.script, encoding="utf-8") as file:
            for line in file.read().splitlines():
                verb, _, rest = line.partition(" ")
                if verb == "type":
                    steps += ["type " + letter for letter in rest]
                elif verb == "scroll":
                    words = rest.split()
                    steps += ["scroll " + " ".join(words[:3])] * int((words + ["1"])[3])
                elif verb not in ("sleep", "wait-quiet", "move", "#"):
                    steps.append(line)
        return steps

    def begin(self, *words):
        self.start("--", WINDOW, self.log, *words)
        end = time.monotonic() + 120
        while "# main shown" not in self.lines():
            self.assertLess(time.monotonic(), end)
            if self.started.poll() is not None:
                self.finish()
            time.sleep(.01)
        self.session.focus("Main")
        self.wait("# main focus")

    def use(self):  # pylint: disable=too-many-statements
        """All kinds of keys, buttons and windows; each is awaited."""
        hands = self.session
        hands.key("a")
        self.wait("main up a 0")
        hands.key("b", "Shift_L")
        hands.key("space")
        hands.key("s", "Control_L")
        self.wait("main key s 4")
        hands.key("Left", "Shift_L")
        hands.key("Super_L")
        self.wait("main up Super_L 64")
        hands.move(150, 130)
        self.wait("# main at 50 50")
        hands.button(1)
        hands.button(3)
        hands.button(5)
        hands.button(5)
        self.wait("main release 5 at 50 50 with 4096", 2)
        hands.button(1, 1)
        hands.move(190, 180)
        self.wait("# main at 90 100")
        hands.button(1, 0)
        hands.key("d", "Control_L")
        self.wait("# dialog shown")
        hands.focus("Dialog")
        self.wait("# dialog focus")
        hands.key("x")
        hands.move(510, 320)
        self.wait("# dialog at 10 20")
        hands.button(2)
        hands.key("Return")
        self.wait("dialog key Return 0")
        hands.focus("Main")
        self.wait("# main focus", 2)
        hands.key("y")
        self.wait("main key y 0")

    def replay(self, *words):
        """In an X server of its own, at other places on the screen."""
        os.rename(self.log, self.log + ".first")
        replayed = os.path.join(self.folder.name, "replayed")
        done = subprocess.run([JOULECAST, "record", "--runs", "1", "--stack", "32", "-o", replayed,
                               "--input", self.script, "--", WINDOW, self.log, *words],
                              capture_output=True, text=True, check=False, timeout=300)
        # What the window does is too little to be recorded; it was played all the same.
        if done.returncode and "give it more to do" not in done.stderr and "perf_event" in done.stderr:
            self.skipTest("programs cannot be watched here")
        self.assertTrue(done.returncode == 0 or "give it more to do" in done.stderr, done.stderr)

    def test_same_again(self):
        self.check_same_again()

    def test_same_again_xi2(self):
        self.check_same_again("Main", "xi2")

    def check_same_again(self, *words):
        self.begin(*words)
        self.use()
        self.session.key("q")
        self.finish()
        self.assertEqual(self.steps(), ["wait-window Main", "type a", "type B", "key space", "key ctrl+s",
                                        "key shift+Left",
                                        "key Super_L", "click 50 50", "click 50 50 3", "scroll 50 50 down",
                                        "scroll 50 50 down",
                                        "press 50 50", "release 90 100", "key ctrl+d", "wait-window Dialog", "type x",
                                        "click 10 20 2", "key Return", "wait-window Main", "type y", "type q"])
        self.assertEqual(os.stat(self.script).st_mode & 0o777, 0o600)
        first = self.done()
        self.assertIn("ended", first)
        self.replay(*words)
        self.assertEqual(self.done(), first)

    def test_only_its_own(self):
        """What another program gets is not kept, also if it began later than ours."""
        other = os.path.join(self.folder.name, "other")
        self.begin()
        self.session.key("a")
        self.wait("main up a 0")
        # pylint: disable-next=consider-using-with
        asks = subprocess.Popen([WINDOW, other, "Password"], env={**os.environ, "DISPLAY": self.session.name})
        self.addCleanup(asks.wait)
        self.addCleanup(asks.kill)
        self.wait("# main shown", log=other)
        self.session.focus("Password")
        self.wait("# main focus", log=other)
        for letter in "secret":
            self.session.key(letter)
        self.wait("main up t 0", log=other)
        self.session.move(150, 130)
        self.session.button(1)
        self.wait("main release 1 at 50 50 with 256", log=other)
        self.session.key("q")
        self.wait("ended", log=other)
        asks.wait()
        self.session.focus("Main")
        self.wait("# main focus", 2)
        self.session.key("b")
        self.wait("main up b 0")
        self.session.close_window("Main")
        self.finish()
        self.assertEqual(self.steps(), ["wait-window Main", "type a", "type b", "close-window Main"])
        first = self.done()
        self.replay()
        self.assertEqual(self.done(), first)

    def test_letters_that_the_keyboard_lacks(self):
        """They are played although the server has no key for them."""
        with open(self.script, "w", encoding="utf-8") as file:
            file.write("wait-window Main\ntype \u00e4\u20ac\nkey Greek_alpha\nclick 5 6 ctrl+1\nscroll 5 6 "
                       "shift+up\nmove 7 8\nkey q\n")
        with open(self.log, "w", encoding="utf-8"):
            pass
        self.replay()
        self.assertEqual([line for line in self.done() if " up " not in line],
                         ["main key adiaeresis 0", "main key U20AC 0", "main key Greek_alpha 0",
                          "main press 1 at 5 6 with 4", "main release 1 at 5 6 with 260",
                          "main press 4 at 5 6 with 1", "main release 4 at 5 6 with 2049", "main key q 0", "ended"])

    def test_recorded_too(self):
        """With -o the run is recorded as well; the program needs time for that, and this one is a shell that works
        for a second."""
        self.start("-o", "run", "--", "/bin/sh", "-c",
                   f"'{WINDOW}' '{self.log}'; i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done")
        end = time.monotonic() + 120
        while "# main shown" not in self.lines():
            self.assertLess(time.monotonic(), end)
            if self.started.poll() is not None:
                self.finish()
            time.sleep(.01)
        self.session.focus("Main")
        self.wait("# main focus")
        self.session.key("q")
        self.finish()
        self.assertEqual(self.steps(), ["wait-window Main", "type q"])
        self.assertTrue(os.path.exists(os.path.join(self.folder.name, "run", "run.json")))

    def test_refused(self):
        self.start("--", "/bin/true")
        self.assertIn("no key or click came", self.finish(code=1))
        self.assertFalse(os.path.exists(self.script))
        self.start("--", "/nonexistent/program")
        self.assertIn("cannot be run", self.finish(code=1))
        name, self.session.name = self.session.name, ""
        self.start("--", WINDOW, self.log)
        self.assertIn("there is no X display", self.finish(code=1))
        self.session.name = ":3141"
        self.start("--", WINDOW, self.log)
        self.assertIn(":3141", self.finish(code=1))
        self.session.name = name
        for words, said in ((("--also", "b"), "exclude each other"), (("--terminal", "-o", "run"), "leave out -o")):
            self.start(*words, "--", WINDOW, self.log)
            self.assertIn(said, self.finish(code=2))
        with open(self.script, "w", encoding="utf-8"):
            pass
        self.start("--", WINDOW, self.log)
        self.assertIn("is there already", self.finish(code=1))
        self.assertEqual(os.listdir(self.folder.name), ["script"])


if not shutil.which("Xvfb") or not ctypes.util.find_library("Xtst"):
    print("skipped: needs Xvfb and libXtst")
    sys.exit(77)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
unittest.main(argv=sys.argv[:1])
