# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The desktop tests, inside their root: a desktop, windows on it, the agent, and the service's end of the link."""
import ctypes
import fcntl
import json
import os
import pwd
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

BUILD = "/joulecast/build"
AGENT = BUILD + "/poller/focus/joulecast-focus"
SERVICE = BUILD + "/tests/desktop/focus-service"
SOURCE = "/joulecast/source"
PLAYER = pwd.getpwnam("player")
RUNTIME = "/run/user/%d" % PLAYER.pw_uid
SOCKET = "/run/joulecast/focus.sock"
SETTLE_MS = 150  # as in poller/focus/main.c
LATENCY_MS = 250  # from the settle time to the stored state
RSS_KB, ANONYMOUS_KB = 6144, 1024

failures = []
children = []


def check(good, *words):
    print("ok  " if good else "FAIL", *words, flush=True)
    if not good:
        failures.append(" ".join(map(str, words)))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def boottime_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def loopback_up():
    """A new network namespace has its loopback down, and D-Bus and X11 only need local sockets; some want it all
    the same."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sH14x", b"lo", 1 | 64)  # IFF_UP | IFF_RUNNING
        try:
            fcntl.ioctl(s, 0x8914, request)  # SIOCSIFFLAGS
        except OSError as error:
            print("no loopback:", error)


def environment(**more):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games", "LC_ALL": "C.UTF-8", "HOME": PLAYER.pw_dir,
           "USER": "player",
           "XDG_RUNTIME_DIR": RUNTIME, "SHELL": "/bin/sh", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1",
           "XDG_CACHE_HOME": RUNTIME + "/cache", "XDG_CONFIG_HOME": RUNTIME + "/config",
           "XDG_DATA_HOME": RUNTIME + "/data",
           "GSETTINGS_BACKEND": "keyfile"}
    env.update({key: value for key, value in more.items() if value is not None})
    return env


def as_player(command, log=None, user=PLAYER, **env):
    """Starts a program as the player, in a group of its own, with its output in a file of /tmp."""
    def become():
        os.setpgid(0, 0)
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        os.chdir("/tmp")
    output = open("/tmp/%s.log" % (log or os.path.basename(command[0])), "ab")
    process = subprocess.Popen(command, env=environment(**env), preexec_fn=become, stdin=subprocess.DEVNULL,
                               stdout=output, stderr=output)
    children.append(process)
    return process


def run_as_player(command, **env):
    process = subprocess.run(["setpriv", "--reuid", "player", "--regid", "player", "--clear-groups"] + command,
                             env=environment(**env), capture_output=True, text=True, timeout=10)
    if process.returncode:
        print(command, process.stdout, process.stderr)
    return process.stdout


def stop(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(3)


def wait_for(what, seconds=8):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.02)
    return None


def first_file(folder, prefix, suffix=""):
    """A Wayland socket's lock is there before the socket."""
    def look():
        found = sorted(name for name in os.listdir(folder) if name.startswith(prefix) and name.endswith(suffix) and
                       not name.endswith(".lock"))
        return os.path.join(folder, found[0]) if found else None
    return look


class Service:
    """The service's end of the link, which prints each state when it has stored it."""

    def __init__(self, *arguments, **env):
        os.makedirs("/run/joulecast", exist_ok=True)
        self.process = subprocess.Popen([SERVICE, SOCKET, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=dict(os.environ, **env))
        children.append(self.process)
        self.lines = queue.Queue()
        self.last = None
        threading.Thread(target=self.listen, daemon=True).start()
        wait_for(lambda: self.process.poll() is not None or os.path.exists(SOCKET))

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def wait(self, wanted, seconds=6):
        """The first line of which wanted() is true; None if none comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.last = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                break
            if wanted(self.last):
                return self.last
        return None

    def poll(self):
        self.process.stdin.write("poll\n")
        self.process.stdin.flush()


def is_app(*names):
    return lambda state: state["known"] and state["app"] in names


def is_nobody(state):
    return state["known"] and state["app"] == ""


def is_unknown(state):
    return not state["known"]


class Agent:
    def __init__(self, *arguments, **env):
        self.process = as_player([AGENT, *arguments], log="agent", **env)

    def log(self):
        with open("/tmp/agent.log", encoding="utf-8") as file:
            return file.read()

    def status(self, key):
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            for line in file:
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        return None

    def check_chosen(self, backend, seconds=8):
        text = "the focus comes from " + backend
        check(wait_for(lambda: text in self.log(), seconds), "the agent chose", backend)
        if text not in self.log():
            print(self.log())

    def check_idle(self, seconds=2.0):
        time.sleep(0.5)  # the change before this has settled
        before = self.status("voluntary_ctxt_switches")
        time.sleep(seconds)
        wakeups = self.status("voluntary_ctxt_switches") - before
        check(wakeups == 0, wakeups, "wakeups in", seconds, "s in which nothing changed")
        rss, anonymous = self.status("VmRSS"), self.status("RssAnon")
        check(rss <= RSS_KB and anonymous <= ANONYMOUS_KB, "the agent's memory is", rss, "kB, of it anonymous",
              anonymous, "kB")


def check_change(service, what, act, wanted, seconds=6):
    """Does something, and wants the state to be stored soon after it settled."""
    began = boottime_ns()
    act()
    state = service.wait(wanted, seconds)
    if not state:
        check(False, what, "was never heard; last", service.last)
        return
    # `act` ends when the desktop was told, and what follows the event is ours: the settle time, and the link.
    took = (state["now_ns"] - began) / 1e6
    check(True, what, "is", repr(state["app"]) if state["known"] else "unknown", "after %.0f ms" % took)
    latencies.append(took)


latencies = []


def check_latency(settle_ms=SETTLE_MS):
    """Checks the median latency so far, as a tool that makes a change may itself be slow on a busy machine."""
    median = sorted(latencies)[len(latencies) // 2] - settle_ms
    check(median < LATENCY_MS, "%.0f ms from a change to the stored state, beyond the settle time" % median)


def session_bus():
    path = RUNTIME + "/bus"
    as_player(["dbus-daemon", "--session", "--nofork", "--nosyslog", "--nopidfile", "--address=unix:path=" + path],
              log="dbus")
    wait_for(lambda: os.path.exists(path))
    return "unix:path=" + path


def system_bus():
    """Starts a bus without Debian's policy, so that the mocks can own names as any user."""
    config = "/tmp/system-bus.conf"
    path = "/run/dbus/system_bus_socket"
    os.makedirs("/run/dbus", exist_ok=True)
    with open(config, "w", encoding="utf-8") as file:
        file.write("<busconfig><type>system</type><listen>unix:path=%s</listen><policy context='default'><allow "
                   "user='*'/>"
                   "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/></policy>"
                   "</busconfig>" % path)
    children.append(subprocess.Popen(["dbus-daemon", "--config-file=" + config, "--nofork", "--nosyslog",
                                      "--nopidfile"]))
    wait_for(lambda: os.path.exists(path))
    return "unix:path=" + path


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def prepare():
    os.makedirs(RUNTIME, mode=0o700)
    os.chown(RUNTIME, PLAYER.pw_uid, PLAYER.pw_gid)
    os.makedirs("/tmp/.X11-unix", mode=0o1777, exist_ok=True)
    os.chmod("/tmp/.X11-unix", 0o1777)
    for name in ("agent", "dbus"):
        open("/tmp/%s.log" % name, "w", encoding="utf-8").close()
        os.chmod("/tmp/%s.log" % name, 0o666)
    loopback_up()


def main():
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    import desktops
    import pictures
    import records
    import seats
    module = {"picture": pictures, "record": records, "seat": seats}.get(sys.argv[1].split("-")[0], desktops)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    prepare()
    began = time.monotonic()
    try:
        getattr(module, "test_" + sys.argv[1].replace("-", "_"))()
    finally:
        if failures:
            for name in sorted(os.listdir("/tmp")):
                if name.endswith(".log"):
                    print("== " + name)
                    with open("/tmp/" + name, encoding="utf-8", errors="replace") as file:
                        text = file.read()
                        print(text if len(text) < 4000 else text[:2000] + '\n...\n' + text[-2000:])
    print("%.1f s" % (time.monotonic() - began))
    if failures:
        sys.exit(1)


if __name__ == "__main__":
    sys.modules["inside"] = sys.modules["__main__"]
    main()
