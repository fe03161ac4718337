#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-gpu on a software renderer, whose load is visible on any machine as CPU time.

Usage: test-gpu.py PROGRAM
"""
import os
import subprocess
import sys
import time

program = sys.argv[1]
failures = 0


def check(good, *words):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", *words, flush=True)


def start(*arguments):
    # Only the drawing thread.
    return subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, LP_NUM_THREADS="0", MESA_SHADER_CACHE_DISABLE="true",
                                     ASAN_OPTIONS="detect_leaks=0"))  # Mesa's leaks are not ours


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def wanted_s(process):
    """On a CPU, or waiting for one: others may want it at the same time, which is none of the program's doing."""
    with open("/proc/%d/schedstat" % process.pid, encoding="utf-8") as file:
        return sum(map(int, file.read().split()[:2])) / 1e9


def busy(process, share, seconds=2.0):
    line = "load %g" % share
    check(say(process, line) == line, line)
    time.sleep(0.3)  # the piece that was begun before
    began, before = time.monotonic(), wanted_s(process)
    time.sleep(seconds)
    return (wanted_s(process) - before) / (time.monotonic() - began)


process = start("--software")
first = process.stdout.readline().strip()
if not first:
    print("skipped: no OpenGL ES computes on the CPU here:", process.communicate()[1].strip())
    sys.exit(77)
check(first.startswith("gpu uncounted ") and "llvmpipe" in first.lower() or "softpipe" in first.lower(), first)
all_of_it, part, none = busy(process, 1), busy(process, 0.4), busy(process, 0)
check(all_of_it > 0.95, "at 1 it is busy for %.3f of the time" % all_of_it)
check(0.3 < part < 0.5, "at 0.4 for %.3f" % part)
check(none < 0.01, "at 0 for %.3f" % none)
for wrong in ("load 1.5", "load -1", "load nan", "load", "lord 1"):
    check(say(process, wrong).startswith("failed "), wrong, "fails")
say(process, "load 1")
process.stdin.close()
check(process.wait(10) == 0, "it ends with its input")

process = start("--software")
process.stdout.readline()
say(process, "load 1")
process.stdin.write("x" * 100)
process.stdin.flush()
check(process.wait(10) == 0, "a line without an end ends it")

# A renderer that computes on the CPU is no GPU; where there is a real one, it is taken.
process = start()
out, err = process.communicate("")
check(("has no GPU" in err and process.returncode == 1)
      or (out.startswith("gpu ") and "llvmpipe" not in out.lower()), out.strip(),
      err.strip())
sys.exit(1 if failures else 0)
