#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks of whole commands: what a user waits for. Prints medians beside their goals; never fails for being slow.

Usage: bench.py night|fit|simulate|cost|poll|first BUILD-DIR SOURCE-DIR [DATABASE]
"""
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

what, build, source = sys.argv[1:4]
filled = sys.argv[4] if len(sys.argv) > 4 else None
joulecast = os.path.join(build, "predict", "joulecast")
folder = tempfile.mkdtemp(prefix="joulecast-bench-")
environment = {**os.environ, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}


def call(*command, code=0):
    ran = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ran.returncode != code:
        sys.exit(f"{' '.join(command)}: exit {ran.returncode}: {ran.stderr}")


def seconds(command, times, before=lambda: None, code=0):
    """Wall-clock and CPU seconds of each run, children included; it ends with @code."""
    wall, cpu = [], []
    for _ in range(times):
        before()
        used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        call(*command, code=code)
        wall.append(time.monotonic() - began)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)
    return statistics.median(wall), statistics.median(cpu)


def least_cpu(command, code=0):
    """CPU seconds of the run of five that was disturbed least."""
    return min(seconds(command, 1, code=code)[1] for _ in range(5))


def report(name, value_s, goal_s):
    print(f"{name:<58} {value_s * 1000:9.1f} ms   goal {goal_s * 1000:6.0f} ms   "
          f"{'met' if value_s <= goal_s else 'MISSED'}")


def path(name):
    return os.path.join(folder, name)


def clear(*names):
    def run():
        for name in names:
            for ending in ("", "-wal", "-shm", "-lock", "-journal"):
                if os.path.exists(path(name) + ending):
                    os.remove(path(name) + ending)
    return run


def calibration(method):
    return [joulecast, "calibrate", "--device", "virtual:nexus-7", "--method", method, "--yes", "--json",
            "--profile", path("profile.ini"), "--observations", path("observations.db")]


def night():
    for method in ("percent", "gauge"):
        report(f"a virtual night: calibrate and fit, {method}", seconds(calibration(method), 5,
               clear("profile.ini", "observations.db"))[0], 2)


def fit():
    for method in ("percent", "gauge"):
        clear("profile.ini", "observations.db")()
        call(*calibration(method))
        print(subprocess.run([os.path.join(build, "tests", "bench", "bench-fit"), path("observations.db")],
                             stdout=subprocess.PIPE, check=True, text=True).stdout, end="")


def simulate():
    report("simulate two hours, 241 polls", seconds(
        [joulecast, "simulate", "--device", "virtual:nexus-7", "--database", path("usage.db"), "--scenario",
         os.path.join(source, "data", "virtual", "scenarios", "airport.ini")], 7, clear("usage.db"))[0], 0.2)


def cost():
    fill = os.path.join(build, "tests", "bench", "fill-store")
    began = time.monotonic()
    call(fill, path("usage.db"))
    size = os.path.getsize(path("usage.db"))
    print(f"30 days of polls of 300 processes: written and rolled up in {time.monotonic() - began:.0f} s, "
          f"{size / 1e6:.1f} MB")
    profile = os.path.join(source, "data", "profiles", "nexus-one.ini")
    command = [joulecast, "cost", "--profile", profile, "--database", path("usage.db"), "--json"]
    report("cost over 30 days of polls of 300 processes", seconds(command, 7)[0], 0.1)
    budget = os.path.join(build, "tests", "bench", "bench-budget")
    print(subprocess.run([budget, profile, path("usage.db"), "app-7", "app-9"], env=environment, stdout=subprocess.PIPE,
                         check=True, text=True).stdout, end="")


def poll():
    """One more poll's CPU time, from the difference of two runs, beside pidstat's for one sample."""
    idle = [subprocess.Popen(["sleep", "1000"])
            for _ in range(max(0, 500 - len([n for n in os.listdir("/proc") if n.isdigit()])))]
    try:
        n = len([name for name in os.listdir("/proc") if name.isdigit()])
        daemon = os.path.join(build, "poller", "joulecastd")

        def polls(count):
            return seconds([daemon, "--interval", "0.1", "--count", str(count), "--database", path("usage.db")], 3,
                           clear("usage.db"))[1]
        ours = (polls(41) - polls(1)) / 40
        print(f"one poll of {n} processes: {ours * 1000:.2f} ms of CPU")
        if shutil.which("pidstat"):
            def samples(count):
                return seconds(["pidstat", "-dru", "-p", "ALL", "1", str(count)], 3)[1]
            theirs = (samples(6) - samples(1)) / 5
            print(f"one sample of pidstat -dru: {theirs * 1000:.2f} ms; the poll needs {ours / theirs:.2f} of it"
                  f"   goal 1   {'met' if ours <= theirs else 'MISSED'}")
        else:
            print("pidstat is not installed (package sysstat): nothing to compare with")
    finally:
        for process in idle:
            process.kill()
            process.wait()


def ask_service(profile, questions):
    """Response time of each question at the service's socket: of the first one, and the median of later ones."""
    with subprocess.Popen([os.path.join(build, "poller", "joulecastd"), "--database", path("year.db"), "--interval",
                           "3600",
                           "--focus-socket", path("focus"), "--socket", path("socket"), "--profile", profile],
                          env=environment, stderr=subprocess.DEVNULL) as service:
        def ask(question):
            began = time.monotonic()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path("socket"))
                client.sendall(json.dumps(question).encode() + b"\n")
                while client.recv(1 << 16):
                    pass
            return time.monotonic() - began

        def memory_kb():
            with open(f"/proc/{service.pid}/smaps_rollup", encoding="utf-8") as file:
                return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))
        try:
            while not os.path.exists(path("socket")):
                time.sleep(0.1)
            time.sleep(2)
            before = memory_kb()
            for question in questions:
                took = [ask(question) for _ in range(21)]
                report(f"service, {question['ask']}: the first after a poll", took[0], 0.05)
                report(f"service, {question['ask']}: the next ones", statistics.median(took[1:]), 0.02)
            print(f"memory of the service's own: {before} kB before, {memory_kb()} kB after")
        finally:
            service.terminate()


def first():
    """First answers on a year of history; CPU time, the least of five."""
    if filled:
        shutil.copy(filled, path("year.db"))
    else:
        call(os.path.join(build, "tests", "bench", "fill-store"), path("year.db"), "365", "12")
    call(*calibration("percent"))
    profile = ["--profile", path("profile.ini")]
    for arguments in (["status", *profile], ["budget", "--battery-percent", "40", *profile],
                      ["predict", "--app", "app-7", "--minutes", "30", *profile],
                      ["whatif", "--battery-percent", "40", "--close", "app-7", *profile],
                      ["warn", *profile], ["apps"], ["cost", "--since", "24 h", *profile], ["cost", *profile],
                      ["cost", "--by", "day", *profile], ["metrics", *profile]):
        name = " ".join(word for word in arguments[:3] if word not in ("--profile", path("profile.ini")))
        report(f"{name}, on a year", least_cpu([joulecast, *arguments, "--database", path("year.db")]), 0.05)
    no_data = 3
    for arguments in (["predict", "--app", "never-seen", "--minutes", "30"],
                      ["learn", "--dry-run", "--observations", path("everyday.db")]):
        report(f"{arguments[0]}, without an answer",
               least_cpu([joulecast, *arguments, *profile, "--database", path("year.db")], no_data), 0.05)
    report("--version", least_cpu([joulecast, "--version"]), 0.01)
    page = [joulecast, "report", "-o", path("page.html"), *profile, "--database", path("year.db")]
    report("report, on a year", least_cpu(page), 0.3)
    ask_service(path("profile.ini"), [{"ask": "budget", "battery_percent": 40}])


try:
    {"night": night, "fit": fit, "simulate": simulate, "cost": cost, "poll": poll, "first": first}[what]()
finally:
    shutil.rmtree(folder)
