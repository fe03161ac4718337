#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-focus with fake compositors (Hyprland, niri, i3, a kiosk), some of which send malformed messages.

Usage: test-focus-peers.py JOULECAST-FOCUS
"""
import json
import os
import queue
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

AGENT = sys.argv[1]
FOLDER = tempfile.TemporaryDirectory(prefix="joulecast-focus-")
failures = []


def check(good, *words):
    print("ok  " if good else "FAIL", *words, flush=True)
    if not good:
        failures.append(words)


class Listener:
    """A socket of a compositor; what comes and goes is up to the test."""

    def __init__(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(8)

    def accept(self):
        if not select.select([self.socket], [], [], 8)[0]:
            raise TimeoutError("nobody connected")
        connection = self.socket.accept()[0]
        connection.settimeout(8)
        return connection


class Agent:
    def __init__(self, *arguments, **env):
        self.process = subprocess.Popen([AGENT, "--print", "--socket", FOLDER.name + "/no-service", *arguments],
                                        text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": FOLDER.name,
                                             "LC_ALL": "C.UTF-8", **env})
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def wait(self, what, **wanted):
        seen = None
        end = time.monotonic() + 6
        while time.monotonic() < end:
            try:
                seen = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                break
            if all(seen[key] == value for key, value in wanted.items()):
                check(True, what)
                return seen
        check(False, what, "- wanted", wanted, "- last", seen)
        return None

    def end(self):
        self.process.terminate()
        code = self.process.wait(5)
        log = self.process.stderr.read()
        check(code == 0, "ends well", code, log if code else "")
        check("secret" not in log, "no title in the log")


def hyprland():
    folder = FOLDER.name + "/hypr/instance"
    events, requests = Listener(folder + "/.socket2.sock"), Listener(folder + "/.socket.sock")
    active = {"address": "0x1", "title": "secret \"class\": \"evil\"", "class": "firefox", "pid": os.getpid()}
    asked = []

    def answer():
        while True:
            connection = requests.accept()
            asked.append(connection.recv(100))
            connection.sendall(b"" if mute.is_set() else json.dumps(active).encode())
            connection.close()
    mute = threading.Event()
    threading.Thread(target=answer, daemon=True).start()
    agent = Agent(HYPRLAND_INSTANCE_SIGNATURE="instance")
    stream = events.accept()
    agent.wait("hyprland: the first state", known=True, app_id="firefox", pid=os.getpid())
    active.update({"class": "foot", "pid": 1})
    stream.sendall(b"activewindow>>foot,secret\nactivewindowv2>>55\n")
    agent.wait("hyprland: another window", app_id="foot", pid=1)
    mute.set()
    stream.sendall(b"activewindowv2>>56\n")
    agent.wait("hyprland: another window, and it does not say which", known=False, backend="hyprland")
    mute.clear()
    active.clear()
    stream.sendall(b"closewindow>>55\nactivewindow>>,\nactivewindowv2>>,\n")
    agent.wait("hyprland: nobody", known=True, app_id="", pid=0)
    check(set(asked) == {b"j/activewindow"}, "hyprland: asked for nothing else")
    stream.sendall(b"x" * 100000)
    stream.close()
    agent.wait("hyprland: gone", known=False)
    agent.end()


def niri():
    path = FOLDER.name + "/niri.sock"
    listener = Listener(path)
    agent = Agent(NIRI_SOCKET=path)
    stream = listener.accept()
    check(stream.recv(100) == b'"EventStream"\n', "niri: asked for its events")

    def tell(event):
        stream.sendall(json.dumps(event).encode() + b"\n")
    stream.sendall(b'{"Ok":"Handled"}\n')
    tell({"WorkspacesChanged": {"workspaces": []}})
    tell({"WindowsChanged": {"windows": [{"id": 1, "title": "secret", "app_id": "foot", "pid": 11, "is_focused": False},
                                         {"id": 2, "title": None, "app_id": "org.gnome.Maps", "pid": 12,
                                          "is_focused": True}]}})
    agent.wait("niri: the first state", app_id="org.gnome.Maps", pid=12)
    tell({"WindowFocusChanged": {"id": 1}})
    agent.wait("niri: another window", app_id="foot", pid=11)
    tell({"WindowOpenedOrChanged": {"window": {"id": 3, "title": "}{", "app_id": "caf\u00e9", "pid": None,
                                               "is_focused": True}}})
    agent.wait("niri: a new one, of a niri that tells no pid", app_id="caf\u00e9", pid=0)
    tell({"WindowClosed": {"id": 3}})
    tell({"WindowFocusChanged": {"id": None}})
    agent.wait("niri: nobody", known=True, app_id="", pid=0)
    stream.close()
    agent.wait("niri: gone", known=False)
    stream = listener.accept()
    stream.recv(100)
    tell({"WindowsChanged": {"windows": [{"id": 1, "app_id": "back", "pid": 5, "is_focused": True}]}})
    agent.wait("niri: came back", app_id="back")
    agent.end()


def dripping():
    """Hyprland that never ends its answer delays neither the report nor the agent's end; half an answer is unknown."""
    folder = FOLDER.name + "/hypr/dripping"
    events, requests = Listener(folder + "/.socket2.sock"), Listener(folder + "/.socket.sock")

    def answer():
        for text in b'{"pid": 7, "class": "foot"}', b'{"pid": 8, "class": "mpv"':
            connection = requests.accept()
            connection.sendall(text)
            try:
                while True:
                    connection.sendall(b" ")
                    time.sleep(0.1)
            except OSError:
                connection.close()
    threading.Thread(target=answer, daemon=True).start()
    agent = Agent(HYPRLAND_INSTANCE_SIGNATURE="dripping")
    stream = events.accept()
    agent.wait("hyprland: an answer that has no end", app_id="foot", pid=7)
    stream.sendall(b"activewindowv2>>56\n")
    agent.wait("hyprland: half an answer", known=False, backend="hyprland")
    stream.close()
    agent.end()


def jammed():
    """A compositor that hangs accepts nobody; the next one is asked all the same."""
    path = FOLDER.name + "/jammed.sock"
    waiting = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(0)
        while True:  # until its queue is full
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            if waiting[-1].connect_ex(path):
                break
        niri_listener = Listener(FOLDER.name + "/niri.sock")
        agent = Agent(SWAYSOCK=path, NIRI_SOCKET=FOLDER.name + "/niri.sock")
        stream = niri_listener.accept()
        stream.sendall(b'{"WindowsChanged":{"windows":[{"id":1,"app_id":"foot","pid":11,"is_focused":true}]}}\n')
        agent.wait("past a compositor that accepts nobody", app_id="foot")
        agent.end()
        for one in waiting:
            one.close()


def silent():
    """A display server that accepts and then says nothing does not keep the agent from its end."""
    listed = subprocess.run([AGENT, "--list"], capture_output=True, text=True, timeout=5).stdout
    number = str(10000 + os.getpid())
    for backend, address, env in (("wlr-foreign-toplevel", FOLDER.name + "/wayland-1",
                                   {"WAYLAND_DISPLAY": "wayland-1"}),
                                  ("x11", "\0/tmp/.X11-unix/X" + number, {"DISPLAY": ":" + number})):
        if backend not in listed:
            print("skipped:", backend, "is not built in")
            continue
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(1)
            agent = Agent("--backend", backend, **env)
            connection = listener.accept()[0]
            connection.recv(100)  # its first words: it waits for an answer now
            agent.end()
            connection.close()


def ipc(kind, payload):
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return b"i3-ipc" + struct.pack("<II", len(body), kind) + body


def i3(first, variable):
    """sway's and i3's trees; i3 has no pid and no app_id."""
    path = FOLDER.name + "/ipc.sock"
    listener = Listener(path)
    agent = Agent(**{variable: path})
    stream = listener.accept()
    stream.recv(1000)
    window = {"id": 7, "type": "con", "focused": True, "nodes": [], "floating_nodes": [], "name": "secret", **first}
    tree = {"id": 1, "focused": False,
            "nodes": [{"id": 2, "focused": False, "nodes": [{"id": 3, "name": "{[\\\"", "focused": False,
            "nodes": []}], "floating_nodes": [window]}], "floating_nodes": []}
    stream.sendall(ipc(2, {"success": True}))
    reply = ipc(4, tree)
    stream.sendall(reply[:20])
    time.sleep(0.05)
    stream.sendall(reply[20:])
    agent.wait(variable + ": a floating window of the tree", known=True, pid=first.get("pid", 0))
    stream.sendall(ipc(0x80000003,
                       {"change": "focus", "container": {
                           "id": 8, "pid": 21, "app_id": None, "name": "secret",
                           "window_properties": {"class": "Gimp", "title": "secret"}}}))
    agent.wait(variable + ": an X client", app_id="Gimp", pid=21)
    began = time.monotonic()
    for i in range(20):  # a storm that ends where it began is nothing
        stream.sendall(ipc(0x80000003, {"change": "focus", "container": {"id": 9, "pid": 22, "app_id": "other"}}))
        stream.sendall(ipc(0x80000003,
                           {"change": "focus",
                            "container": {"id": 8, "pid": 21, "window_properties": {"class": "Gimp"}}}))
    time.sleep(0.4)
    check(agent.lines.empty(), "a storm within the settle time is not told", "(%.1f s)" % (time.monotonic() - began))
    stream.sendall(ipc(0x80000003, {"change": "close", "container": {"id": 8, "pid": 21}}))
    agent.wait(variable + ": closed", known=True, pid=0, app_id="")
    stream.sendall(ipc(0x80000006, {"change": "exit"}))
    agent.wait(variable + ": its exit", known=False)
    agent.end()


APP = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.recv(1)
"""


def kiosk():
    """A dying compositor closes its descriptors one by one: its app may see the end, and end, before the socket is
    gone."""
    path = FOLDER.name + "/wayland-7"
    listener = Listener(path)
    app = subprocess.Popen([sys.executable, "-c", APP, path])
    connection = listener.accept()
    agent = Agent("--backend", "wayland-clients", WAYLAND_DISPLAY="wayland-7")
    agent.wait("kiosk: the only client", known=True, pid=app.pid)
    connection.close()
    app.wait(8)
    agent.wait("kiosk: nobody", known=True, pid=0, app_id="")
    listener.socket.close()
    agent.wait("kiosk: gone", known=False)
    agent.end()


def nonsense():
    """None of these may crash, hang or fill the memory."""
    path = FOLDER.name + "/ipc.sock"
    replies = [b"\0" * 64, b"i3-ipc" + struct.pack("<II", 0xffffffff, 4), ipc(4, b"{" * 100000),
               ipc(4, b"[[[[[\"\\"), ipc(4, b""),
               ipc(0x80000003, b'{"change":"focus","container":{"id":1e999,"pid":99999999999999999999,"app_id":"' +
                   b"\x1b\xff" * 400),
               ipc(4, b'{"focused":true,"pid":5,"app_id":"\\u001b]0;x\\u0007"}')]
    for reply in replies:
        listener = Listener(path)
        agent = Agent(SWAYSOCK=path)
        stream = listener.accept()
        stream.recv(1000)
        stream.sendall(reply)
        time.sleep(0.3)
        check(agent.process.poll() is None, "survived", reply[:24])
        stream.close()
        listener.socket.close()
        agent.end()


def only_one():
    path = FOLDER.name + "/ipc.sock"
    listener = Listener(path)
    agent = Agent(SWAYSOCK=path)
    listener.accept()
    second = subprocess.run([AGENT], env={"XDG_RUNTIME_DIR": FOLDER.name}, capture_output=True, text=True, timeout=5)
    check(second.returncode == 0 and "another one runs" in second.stderr, "a second one ends")
    agent.end()


def usage():
    for arguments, code in ((["--help"], 0), (["--list"], 0), (["--version"], 0), (["--nonsense"], 2),
                            (["--backend", "x"], 2),
                            (["--socket"], 2), (["x"], 2)):
        got = subprocess.run([AGENT, *arguments], capture_output=True, text=True, timeout=5)
        check(got.returncode == code and (code == 0 or got.stderr.count("\n") == 1), *arguments, got.returncode)


usage()
hyprland()
dripping()
niri()
jammed()
silent()
i3({"pid": 20, "app_id": "foot"}, "SWAYSOCK")
i3({"window": 4194305, "window_properties": {"class": "XTerm"}}, "I3SOCK")
kiosk()
nonsense()
only_one()
FOLDER.cleanup()
sys.exit(1 if failures else 0)
