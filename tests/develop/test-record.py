#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast record` on real programs: which calls their energy is charged to, what a folder has, and what is refused.

Needs a kernel that lets this user watch programs; root, for tracepoints and probes. Skips what is missing.

Usage: test-record.py JOULECAST DATA-DIR CAREFUL WASTEFUL WORK [.../record-frames] [.../record-glib] [.../record-dbus]
                   [.../record-surface]
"""
import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

JOULECAST, DATA, CAREFUL, WASTEFUL, WORK = map(os.path.abspath, sys.argv[1:6])
OTHERS = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[6:]}  # what needs a library
FRAMES, GLIB, DBUS, SURFACE = (OTHERS.get(name) for name in ("record-frames", "record-glib", "record-dbus",
                                                             "record-surface"))
PROFILE = os.path.join(DATA, "profiles", "class-phone.ini")


def paranoid():
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return 99


def sum_of(lines, frame):
    return sum(value for stack, value in lines if frame in stack)


class Record(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory(dir="/var/tmp")  # on a storage, where /tmp may be memory
        self.addCleanup(self.folder.cleanup)

    def call(self, *words, code=0, within=()):
        done = subprocess.run([*within, JOULECAST, "record", *map(str, words)], capture_output=True, check=False,
                              text=True,
                              errors="surrogateescape", stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_json(self, run):
        with open(self.path(run, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def folded(self, run, number=1):
        lines = []
        with open(self.path(run, "runs", f"{number}.folded"), encoding="utf-8") as file:
            for line in file:
                stack, value = line.rstrip("\n").rsplit(" ", 1)
                self.assertGreaterEqual(int(value), 0)
                frames = stack.split(";")
                self.assertEqual(frames[0], "app")
                lines.append((frames, int(value)))
        return lines

    def components(self, run, number=1):
        with open(self.path(run, "runs", f"{number}.components.tsv"), encoding="utf-8") as file:
            head, *rows = (line.rstrip("\n").split("\t") for line in file)
        return [dict(zip(head, row)) for row in rows]

    def nothing_left(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder.name)), sorted(names))

    def test_who_is_charged(self):
        self.call("-o", "run", "--runs", 2, "--profile", PROFILE, "--", WASTEFUL, 2)
        lines = self.folded("run")
        total = sum(value for _, value in lines)
        for task in "compress2@libz.so.1", "read@libc.so.6":
            self.assertGreater(sum_of(lines, task), .02 * total, task)
        # A hardened build calls the checked one.
        written = sum_of(lines, "fprintf@libc.so.6") + sum_of(lines, "__fprintf_chk@libc.so.6")
        self.assertGreater(written, .02 * total)
        self.assertGreater(sum_of(lines, "main@wasteful-player"), .95 * total)
        found = self.run_json("run")
        self.assertEqual([run["file"] for run in found["runs"]], ["runs/1.folded", "runs/2.folded"])
        self.assertEqual(found["command"], [WASTEFUL, "2"])
        self.assertEqual(found["unit"], "nJ")
        for run in found["runs"]:
            self.assertEqual((run["exit_status"], run["samples_lost"]), (0, 0))
            self.assertLess(run["without_app_frame"], .05)
            # A sample stands for 1/997 s: together they are the CPU time that the kernel counted.
            self.assertAlmostEqual(run["samples"] / 997 / run["cpu_s"], 1, delta=.15)
        self.assertAlmostEqual(total / 1e9, found["runs"][0]["energy_j"], delta=1e-3 * total / 1e9)

    def test_components_sum(self):
        self.call("-o", "run", "--runs", 1, "--profile", PROFILE, "--", CAREFUL, 2)
        rows = self.components("run")
        self.assertEqual([row["stack"] for row in rows], [";".join(stack) for stack, _ in self.folded("run")])
        for row, (_, value) in zip(rows, self.folded("run")):
            self.assertAlmostEqual(sum(int(row[key]) for key in ("cpu_nj", "disk_nj", "wifi_nj", "gpu_nj")), value,
                                   delta=2)
            self.assertGreaterEqual(float(row["variance_nj2"]) * 1.001, float(row["largest_nj"]) ** 2)
            self.assertEqual(float(row["variance_nj2"]) > 0, float(row["largest_nj"]) > 0)

    def test_without_profile(self):
        home = self.path("home")
        os.mkdir(home)
        done = subprocess.run([JOULECAST, "record", "-o", self.path("run"), "--runs", "1", "--", CAREFUL, "2"],
                              capture_output=True, text=True, check=True, timeout=300,
                              env={**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home})
        found = self.run_json("run")
        if found["profile"] is None:  # else this machine has a battery, and a class, or a profile
            self.assertIn("CPU time", done.stderr)
            self.assertEqual(found["unit"], "ns of CPU time")
            self.assertIsNone(found["runs"][0]["energy_j"])
            self.assertAlmostEqual(found["runs"][0]["sum"] / 1e9, found["runs"][0]["cpu_s"],
                                   delta=.15 * found["runs"][0]["cpu_s"])

    @unittest.skipUnless(os.geteuid() == 0, "tracepoints need root")
    def test_short_programs(self):
        """Much of their time is exec and exit, which belong to them although they have no stack then."""
        many = "for i in $(seq 100); do /usr/bin/env true; done"
        self.call("-o", "run", "--runs", 1, "--", "/bin/sh", "-c", many)
        with open(self.path("run", "run.json"), encoding="utf-8") as file:
            run = json.load(file)["runs"][0]
        self.assertLess(run["without_app_frame"], .02)
        self.assertLess(run["stacks_cut"] / run["samples"], .05)

    def test_causes(self):
        self.call("-o", "run", "--runs", 1, "--profile", PROFILE, "--", WORK, self.path("file"), "12")
        lines, found = self.folded("run"), self.run_json("run")["runs"][0]
        if found["bytes"]["disk_write"] is None:
            self.skipTest("this kernel shows no tracepoints")
        written = sum(float(row["disk_write_bytes"]) for row in self.components("run") if "save@" in row["stack"])
        self.assertAlmostEqual(written, 12 << 20, delta=.1 * (12 << 20))
        for row in self.components("run"):
            if "save@" not in row["stack"]:
                self.assertLess(float(row["disk_write_bytes"]), 1 << 20, row["stack"])
        burnt = [stack for stack, _ in lines if "in_thread@record-work" in stack]
        self.assertTrue(burnt)
        for stack in burnt:  # below what made the thread
            self.assertIn("start_thread_here@record-work", stack)
        for stack, _ in lines:  # what the child burns may be too short for a sample
            if any("gzip" in frame for frame in stack):
                self.assertIn("run_child@record-work", stack)
        self.assertEqual((found["threads"] >= 2, found["threads_placed"]), (True, found["threads"]))
        if found["bytes"]["net_received"] is not None:
            received = sum(float(row["net_received_bytes"]) for row in self.components("run")
                           if "receive@" in row["stack"])
            self.assertAlmostEqual(received, 100 * 1000, delta=1)

        slept = [(row["stack"], float(row["wakeups"])) for row in self.components("run")]
        self.assertAlmostEqual(sum(count for stack, count in slept if "wait_often@" in stack), 50, delta=5)
        self.assertAlmostEqual(found["wakeups"], sum(count for _, count in slept), delta=1)
        self.assertEqual(found["radio_wakes"], 0)  # nothing leaves this machine

    @unittest.skipUnless(os.geteuid() == 0 and GLIB, "needs root and GLib")
    def test_work_passed(self):
        """Work that is passed on through GLib is below the call that asked for it, not below the event loop or the
        thread."""
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        with subprocess.Popen("true") as killed:  # its probes are left
            killed.wait()
        if os.path.exists("/sys/kernel/tracing/uprobe_events"):
            events = os.open("/sys/kernel/tracing/uprobe_events", os.O_WRONLY | os.O_APPEND)
            os.write(events, f"p:joulecast/attach_{killed.pid} {os.path.realpath(GLIB)}:0x1000\n".encode())
            os.close(events)
        self.call("-o", "run", "--runs", 1, "--", GLIB)
        found, lines = self.run_json("run")["runs"][0], self.folded("run")
        if not any("other than GLib's" in note for note in self.run_json("run")["notes"]):
            self.skipTest(self.run_json("run")["notes"][-1])
        for work, asked in (("idle_work", "ask_idle"), ("timeout_work", "ask_timeout"), ("nested_work", "ask_nested"),
                            ("step_work", "ask_step"), ("pool_work", "ask_pool"), ("queue_work", "ask_queue"),
                            ("last_work", "ask_last"), ("task_work", "ask_task"), ("task_end_work", "ask_task")):
            stacks = [stack for stack, _ in lines if work + "@record-glib" in stack]
            self.assertTrue(stacks, work)
            for stack in stacks:
                self.assertEqual(stack[:3], ["app", "main@record-glib", asked + "@record-glib"], work)
                self.assertNotIn("g_main_loop_run@libglib-2.0.so.0", stack)
                # Each step asks for the next; one below the other they would be five.
                self.assertLessEqual(stack.count("g_source_attach@libglib-2.0.so.0"), 3)
        self.assertGreaterEqual(found["work_passed"], 17)
        self.assertEqual(found["work_placed"], found["work_passed"])
        # What probes do to a stack, also to that of a thread that waits in a function whose return has one, loses
        # no caller.
        self.assertFalse([stack for stack, _ in lines if "[truncated]" in stack
                          and any("libglib" in frame for frame in stack)
                          # the loader has no first function
                          and not any(frame.startswith("_dl_init@") for frame in stack)])
        if os.path.exists("/sys/kernel/tracing/uprobe_events"):  # other recordings may be running
            with open("/sys/kernel/tracing/uprobe_events", encoding="utf-8") as file:
                for line in file:
                    if line.split()[0].startswith("p:joulecast/attach_"):
                        self.assertTrue(os.path.exists("/proc/" + line.split()[0].rsplit("_", 1)[1]), line)

    @unittest.skipUnless(os.geteuid() == 0 and DBUS and shutil.which("dbus-run-session"),
                         "needs root, GLib and dbus-daemon")
    def test_dbus(self):
        """What is done for a call over D-Bus, for its answer and for a signal is below who sent it, though a thread
        of GIO's reads it."""
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        self.call("-o", "run", "--runs", 1, "--", DBUS, within=("dbus-run-session", "--"))
        if not any("other than GLib's" in note for note in self.run_json("run")["notes"]):
            self.skipTest(self.run_json("run")["notes"][-1])
        for work, asked in (("cheap_work", "ask_cheap"), ("dear_work", "ask_dear"), ("proxy_work", "ask_proxy"),
                            ("cheap_method", "ask_cheap"), ("dear_method", "ask_dear"), ("proxy_method", "ask_proxy"),
                            ("signal_work", "ask_dear")):
            stacks = [stack for stack, _ in self.folded("run") if work + "@record-dbus" in stack]
            self.assertTrue(stacks, work)
            for stack in stacks:
                self.assertEqual(stack[:4], ["app", "main@record-dbus", "ask_all@record-dbus",
                                             asked + "@record-dbus"], work)
                # The answer's work does not hang below the method's, which has ended then.
                self.assertEqual("g_task_new@libgio-2.0.so.0" in stack,
                                 work in ("cheap_work", "dear_work", "proxy_work"), work)
                self.assertEqual("serve@record-dbus" in stack,
                                 work in ("cheap_method", "dear_method", "proxy_method", "signal_work"), work)

    def test_names(self):
        """Functions inside others by debug information, names of C++, and code that is mapped twice."""
        self.call("-o", "run", "--runs", 1, "--", WORK, self.path("file"), 1)
        self.assertTrue([stack for stack, _ in self.folded("run") if stack[-1] == "mix@record-work"])
        ticks = [stack for stack, _ in self.folded("run") if any("tick" in frame for frame in stack)]
        self.assertTrue(ticks)
        if "_ZN4game5World4tickEi@record-work" in ticks[0]:
            self.skipTest("this build has no libstdc++")
        inside = [stack for stack in ticks if stack[-2:] == ["game::World::tick@record-work",
                                                             "burn_inside@record-work"]]
        self.assertTrue(inside, ticks)

    def interpreted(self, needs, command, *frames):
        if not shutil.which(needs):
            self.skipTest(f"needs {needs}")
        self.call("-o", "run", "--runs", 1, "--stack", 32, "--", *command)
        self.assertTrue([stack for stack, _ in self.folded("run")
                         if all(any(wanted in frame for frame in stack) for wanted in frames)], self.folded("run"))

    def test_not_played(self):
        """One program whose input script did not come to its end is no recording, and nothing is left of it."""
        with open(self.path("keys"), "w", encoding="utf-8") as file:
            file.write("sleep 9s\n")
        done = self.call("-o", "run", "--runs", 1, "--terminal", "--input", self.path("keys"), "--", WORK,
                         self.path("file"), 1, code=1)
        self.assertIn("ended before its input script did", done.stderr)
        self.assertFalse([name for name in os.listdir(self.folder.name) if name.startswith("run")])

    def test_killed(self):
        """What a killed recording left goes with the next of its name; what is held, another's, or a link stays."""
        for name in ("run.new-abcdef", "run.new-abcdeg", "other.new-abcdef"):
            os.makedirs(self.path(f"{name}/runs"))
            open(self.path(f"{name}/runs/1.folded"), "wb").close()
        os.symlink(self.path("other.new-abcdef"), self.path("run.new-abcdeh"))
        with open(self.path("run.new-abcdeg/held"), "wb"):
            held = os.open(self.path("run.new-abcdeg"), os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
            self.call("-o", "run", "--runs", 1, "--", WORK, self.path("file"), 1)
            os.close(held)
        left = {name for name in os.listdir(self.folder.name) if ".new-" in name}
        self.assertEqual(left, {"run.new-abcdeg", "other.new-abcdef", "run.new-abcdeh"})
        self.assertTrue(os.path.exists(self.path("other.new-abcdef/runs/1.folded")))

    def test_node(self):
        script = self.path("work.js")
        with open(script, "w", encoding="utf-8") as file:
            file.write("function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }\n"
                       "function outer() { let t = 0; for (let k = 0; k < 2000; k++) t ^= leaf(100000); return t; "
                       "}\nouter();\n")
        self.interpreted("node", ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", script],
                         f"outer {script}:", f"leaf {script}:")

    def test_python(self):
        """Functions of Python have names, also after fork(), and the user's own sitecustomize is loaded."""
        if sys.version_info[:2] != (3, 11) or os.uname().machine not in ("x86_64", "aarch64"):
            self.skipTest("needs Python 3.11")
        script = self.path("work.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import os, seen\n"
                       "def leaf(n):\n    for i in range(n): pass\n"
                       "def passes():\n    try:\n        yield 1\n    except ValueError:\n        yield 2\n"
                       "def outer():\n    for k in range(300): leaf(20000)\n"
                       "at = passes(); next(at); assert at.throw(ValueError()) == 2\n"
                       "pid = os.fork()\nif pid == 0: outer(); os._exit(0)\n"
                       "assert os.waitpid(pid, 0)[1] == 0\nouter()\n")
        os.mkdir(self.path("user"))
        with open(self.path("user/sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import sys, types\nsys.modules['seen'] = types.ModuleType('seen')\n")
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = self.path("user")
        try:
            self.interpreted("env", [sys.executable, script], f"py::outer:{script}", f"py::leaf:{script}")
        finally:
            os.environ.pop("PYTHONPATH")
            if before is not None:
                os.environ["PYTHONPATH"] = before

    def test_java(self):
        if not shutil.which("javac"):
            self.skipTest("needs javac")
        with open(self.path("Hot.java"), "w", encoding="utf-8") as file:
            file.write("class Hot { static int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + "
                       "i; return s; }\n"
                       "public static void main(String[] a) { int t = 0; for (int k = 0; k < 20000; k++) t ^= "
                       "leaf(100000 + (k & 7));\n"
                       "System.exit(t == 1 ? 1 : 0); } }\n")
        subprocess.run(["javac", self.path("Hot.java")], check=True, timeout=300)
        self.interpreted("java", ["java", "-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions",
                                  "-XX:+DumpPerfMapAtExit",
                                  "-cp", self.folder.name, "Hot"], "Hot.leaf(int)@[jit]")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("Xvfb") and FRAMES, "needs root, Xvfb and libx11")
    def test_frames(self):
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("wait-window Frames\nkey q\n")
        done = self.call("-o", "a", "--also", "b", "--runs", 1, "--calls", "--input", script, "--", FRAMES, 30,
                         ":::", FRAMES, 60,
                         code=None)
        if done.returncode and "made without libxtst" in done.stderr:
            self.skipTest("this build has no XTEST")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.run_json("a")["frames_shown"], self.run_json("b")["frames_shown"]), (30, 60))
        self.assertIn("the first program showed 30 frames, and the second 60; is it the same work?", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and SURFACE, "needs root and libwayland")
    def test_frames_wayland(self):
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        self.call("-o", "run", "--runs", 1, "--calls", "--", SURFACE, 200)
        self.assertEqual(self.run_json("run")["frames_shown"], 200)

    @unittest.skipUnless(os.geteuid() == 0, "probes need root")
    def test_calls(self):
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        self.call("-o", "run", "--runs", 1, "--calls", "--", WASTEFUL, 1)
        with open(self.path("run", "calls.tsv"), encoding="utf-8") as file:
            head, *rows = (line.rstrip("\n").split("\t") for line in file)
        self.assertEqual(head, ["function", "calls"])
        calls = {name: int(count) for name, count in rows}
        self.assertEqual(calls["compress2@libz.so.1"], 1)
        self.assertGreaterEqual(calls["read@libc.so.6"], 400000)

    @unittest.skipUnless(os.geteuid() == 0 and GLIB, "needs root and GLib")
    def test_calls_of_threads(self):
        """Probes leave a program that makes threads as it is."""
        if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
            self.skipTest("this kernel has no uprobes")
        done = self.call("-o", "run", "--runs", 1, "--calls", "--", GLIB)
        self.assertNotIn("pthread_create", done.stderr)
        with open(self.path("run", "calls.tsv"), encoding="utf-8") as file:
            calls = dict(line.rstrip("\n").split("\t") for line in file)
        self.assertEqual(calls.get("g_thread_pool_push@libglib-2.0.so.0"), "2")  # by ask_pool, and by GIO for ask_task

    def test_two_sides(self):
        self.call("-o", "a", "--also", "b", "--runs", 2, "--", CAREFUL, 1, ":::", CAREFUL, 2)
        self.assertEqual(self.run_json("a")["command"][0], CAREFUL)
        self.assertEqual(self.run_json("b")["command"], [CAREFUL, "2"])
        self.assertEqual(len(self.run_json("b")["runs"]), 2)
        done = subprocess.run([JOULECAST, "diff", self.path("a"), self.path("b")], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stdout.split()),
                         "They did not do the same, so look at this first: .*read [0-9.]+ MB")

    def test_two_sides_differ(self):
        done = self.call("-o", "a", "--also", "b", "--runs", 1, "--", CAREFUL, 2, ":::", "/bin/sh", "-c",
                         "'%s' 2; exit 3" % CAREFUL, code=1)
        self.assertIn("exit status 0", done.stderr)
        self.nothing_left()

    def test_terminal(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("# asks for a number\nwait-text READY\ntype 2\nkey Return\nwait-text DONE\nsleep 10ms\nkey "
                       "ctrl+d\n")
        self.call("-o", "run", "--runs", 1, "--input", script, "--terminal", "--", "/bin/sh", "-c",
                  "echo READY; read n; '%s' $n; echo DONE; cat >/dev/null" % CAREFUL)
        self.assertEqual(self.run_json("run")["runs"][0]["exit_status"], 0)

    def test_typed(self):
        """What is typed into a terminal becomes a script, which plays the same again."""
        script, kept = self.path("script"), self.path("kept")
        command = ["/bin/sh", "-c", f"echo READY; read a; read b; printf %s \"$a|$b\" >'{kept}'; exec '{CAREFUL}' 2"]
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(JOULECAST, [JOULECAST, "record", "--input-save", script, "--terminal", "--", *command])
        seen = b""
        while b"READY" not in seen:
            seen += os.read(fd, 1000)
        os.write(fd, b"hello  world \r")
        while b"world" not in seen:
            seen += os.read(fd, 1000)
        os.write(fd, b"x\177y\r")
        try:
            while os.read(fd, 1000):
                pass
        except OSError:  # the other end is closed
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(fd)
        with open(script, encoding="utf-8") as file:
            steps = [line for line in file.read().splitlines() if not line.startswith("sleep ")]
        self.assertEqual(steps, ["type hello  world", "key space", "key Return", "type x", "key BackSpace",
                                 "type y", "key Return"])
        with open(kept, encoding="utf-8") as file:
            first = file.read()
        self.assertEqual(first, "hello  world|y")
        os.unlink(kept)
        self.call("-o", "run", "--runs", 1, "--input", script, "--terminal", "--", *command)
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), first)
        self.assertIn("is there already", self.call("--input-save", script, "--terminal", "--", "true", code=1).stderr)
        self.assertIn("terminal", self.call("--input-save", self.path("other"), "--terminal", "--", "true",
                                            code=1).stderr)

    @unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xterm"), "needs Xvfb and xterm")
    def test_display(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("wait-window Editor\nwait-quiet 300ms\ntype echo \"A b_C\" >'%s'; exit\nkey Return\n"
                       % self.path("typed"))
        done = self.call("-o", "run", "--runs", 1, "--stack", 48, "--input", script, "--", "xterm", "-T",
                         "My Editor", "-e", "/bin/sh", code=None)
        if done.returncode and "made without libxtst" in done.stderr:
            self.skipTest("this build has no XTEST")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("typed"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "A b_C\n")

    def test_script_refused(self):
        script = self.path("script")
        for text, said in (("push Return\n", ":1: one of: key"), ("\nclick 1\n", ":2: two numbers"),
                           ("", ":1: at least"),
                           ("end\nkey a\n", ":2: nothing after end"), ("sleep 0s\n", ":1: a time"),
                           ("type\n", ":1: text")):
            with open(script, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIn(said, self.call("-o", "run", "--input", script, "--", CAREFUL, code=1).stderr)
        self.nothing_left("script")

    def test_refused(self):
        for words, code, said in (
                (("--", CAREFUL), 2, "-o RUN is needed"), (("-o", "run"), 2, "a command is needed"),
                (("-o", "run", "--"), 2, "a command is needed"), (("-o", "run", "--runs", 0, "--", CAREFUL), 2, "1"),
                (("-o", "run", "--also", "run", "--", CAREFUL, 1, ":::", CAREFUL, 1), 2,
                 "-o and --also name the same folder"),
                (("-o", "run", "--also", "b", "--", CAREFUL), 2, "two commands"),
                (("-o", "run", "--wayland", "--", CAREFUL), 2, "--wayland is for --input"),
                (("-o", "run", "--terminal", "--", CAREFUL), 2, "--terminal is for --input and --input-save"),
                (("-o", "run", "--input", "x", "--terminal", "--wayland", "--", CAREFUL), 2, "exclude each other"),
                (("--probe", "read", "--wayland", "--", CAREFUL), 2, "exclude each other"),
                (("--input-save", "x", "--runs", 3, "--", CAREFUL), 2, "exclude each other"),
                (("-o", "run", "--", "/nonexistent/program"), 1, "cannot be run"),
                (("-o", "run", "--runs", 1, "--", "/bin/true"), 1, "give it more to do"),
                (("-o", "no/such/run", "--", CAREFUL), 1, "cannot be written"),
                (("--input-save", "no/such/script", "--", CAREFUL), 1, "no/such/script cannot be written"),
                (("-o", "run", "--profile", "/nonexistent", "--", CAREFUL), 3, "no profile")):
            done = self.call(*words, code=code)
            self.assertIn(said, done.stderr)
            self.nothing_left()
        os.mkdir(self.path("there"))
        self.assertIn("is there already", self.call("-o", "there", "--", CAREFUL, code=1).stderr)
        self.nothing_left("there")

    def test_stopped(self):
        for stop in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([JOULECAST, "record", "-o", "run", "--profile", PROFILE, "--", "sh", "-c",
                                   "echo $$; while :; do :; done"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  cwd=self.folder.name) as ran:
                program = int(ran.stdout.readline())  # it runs
                ran.send_signal(stop)
                said = ran.communicate(timeout=120)[1]
                self.assertEqual(ran.returncode, -stop, said)
                self.assertIn("stopped; nothing was written", said)
            self.nothing_left()
            self.assertFalse(os.path.exists(f"/proc/{program}"))


if paranoid() > (2 if os.geteuid() else 4):
    print("skipped: perf_event_paranoid does not let this user watch programs")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
