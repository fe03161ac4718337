#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten thousand control groups, most of them idle, as on a host of containers: a poll takes no longer.

Usage: test-many-groups JOULECASTD
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

JOULECASTD = os.path.abspath(sys.argv[1])
GROUPS, PROCESSES, POLLS = 10000, 300, 4


def hierarchy():
    """Where control groups (v2) can be made."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            if " - cgroup2 " in line and os.access(line.split()[4], os.W_OK):
                return line.split()[4]
    return None


def cost_s(folder):
    """CPU time of some polls, the least of three runs."""
    costs = []
    for run in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([JOULECASTD, "--interval", "0.2", "--count", str(POLLS), "--collector", "proc",
                        "--database", "%s/%d.db" % (folder, run)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def sleeper():
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    return child


def main():
    root = hierarchy() if os.geteuid() == 0 else None
    if not root:
        print("skipped: needs root, and a hierarchy of control groups that can be written")
        sys.exit(77)
    top = "%s/joulecast-many-%d" % (root, os.getpid())
    slice_ = top + "/user@1000.service/app.slice"
    os.makedirs(slice_)
    children = [sleeper() for _ in range(PROCESSES)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            few = cost_s(folder)
            start = time.monotonic()
            for i in range(GROUPS):
                os.mkdir("%s/app-program%d.scope" % (slice_, i))
            for i, child in enumerate(children):
                with open("%s/app-program%d.scope/cgroup.procs" % (slice_, i), "w", encoding="ascii") as file:
                    file.write(str(child))
            many = cost_s(folder)
            print("%d groups, made in %.1f s; %d polls: %.1f ms of CPU time before, %.1f ms then"
                  % (GROUPS, time.monotonic() - start, POLLS, few * 1e3, many * 1e3))
            assert many < 1.5 * few, (few, many)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for path, _, _ in os.walk(top, topdown=False):
            os.rmdir(path)


main()
