#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""From an agent's message to the answer of `joulecast cost`: foreground time to the millisecond, changes inside a poll.

Usage: test-focus-service.py JOULECASTD JOULECAST PROFILE
"""
import atexit
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

JOULECASTD, JOULECAST, PROFILE = sys.argv[1:]
failures = 0


def check(good, *words):
    global failures
    if not good:
        failures += 1
        print("failed:", *words)


def start_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[19])


def message(have, pid):
    """lib/focus/focus-link.h; and when it was sent."""
    now_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return struct.pack("<IHHIiQQ128s", 0x4A434631, 1, 160, have, pid, start_time(pid) if pid else 0, now_ns,
                       b""), now_ns


with tempfile.TemporaryDirectory() as folder:
    path, database = folder + "/focus.sock", folder + "/usage.db"
    busy = subprocess.Popen(["yes"], stdout=subprocess.DEVNULL)
    atexit.register(busy.kill)  # also if this test breaks off
    ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ready.bind(folder + "/ready.sock")
    ready.settimeout(30)
    service = subprocess.Popen([JOULECASTD, "--interval", "0.4", "--count", "7", "--database", database,
                                "--focus-socket", path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "NOTIFY_SOCKET": folder + "/ready.sock"})
    agent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    until = time.monotonic() + 30
    while agent.connect_ex(path) != 0 and time.monotonic() < until:
        time.sleep(0.02)
    check(b"READY=1" in ready.recv(100), "not ready")  # the first poll begins the first interval
    ready.close()
    wanted_ns = 0
    for wait in (0.23, 0.05, 0.51):  # in and out, more than once in a poll
        text, began_ns = message(3, busy.pid)
        agent.send(text)
        time.sleep(wait)
        text, ended_ns = message(1, 0)
        agent.send(text)
        time.sleep(0.07)
        wanted_ns += ended_ns - began_ns
    said = service.communicate(timeout=60)[1]
    busy.kill()
    check(service.returncode == 0, said)
    ran = subprocess.run([JOULECAST, "cost", "--profile", PROFILE, "--database", database, "--json"],
                         capture_output=True, text=True)
    rows = [app for app in json.loads(ran.stdout)["apps"] if app["app"] == "yes"]
    got = sum(app["active_s"] for app in rows if app["state"] == "foreground")
    check(abs(got - wanted_ns / 1e9) < 0.001, f"in the foreground for {got} s instead of {wanted_ns / 1e9} s")
    check(not os.path.exists(path), "the socket stays behind")
sys.exit(1 if failures else 0)
