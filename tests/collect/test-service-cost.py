#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the cost of the running service: memory after its start, and no wakeups between polls.

Usage: test-service-cost.py JOULECASTD MOST-RESIDENT-KB MOST-ANONYMOUS-KB
"""

import os
import subprocess
import sys
import tempfile
import time
import unittest

JOULECASTD, RESIDENT_KB, ANONYMOUS_KB = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
INTERVAL_S = 2
POLLS = 4
BURST_S = 0.5  # a poll on a busy machine: wakes, reads, waits for its disk


def status(pid, key):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))


def wakeups(pid, seconds):
    """When it went to sleep again, in s since the beginning."""
    begin, seen, times = time.monotonic(), status(pid, "voluntary_ctxt_switches"), []
    while time.monotonic() < begin + seconds:
        time.sleep(0.02)
        now = status(pid, "voluntary_ctxt_switches")
        times += [time.monotonic() - begin] * (now > seen)
        seen = now
    return times


class ServiceCost(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, collector):
        at = self.folder.name
        # Meson has malloc() fill what it gives, which makes resident what nobody uses.
        env = {key: value for key, value in os.environ.items() if key != "MALLOC_PERTURB_"}
        service = subprocess.Popen([JOULECASTD, "--collector", collector, "--interval", str(INTERVAL_S), "--database",
                                    f"{at}/usage.db", "--socket", f"{at}/socket", "--focus-socket", f"{at}/focus"],
                                   stderr=subprocess.PIPE, text=True, env=env)
        self.addCleanup(service.stderr.close)
        self.addCleanup(service.wait)
        self.addCleanup(service.terminate)
        time.sleep(1.2 * INTERVAL_S)
        if service.poll() is not None:
            self.skipTest(f"{collector} does not load here: {service.stderr.read().strip()}")
        return service.pid

    def check(self, collector):
        pid = self.start(collector)
        times = wakeups(pid, POLLS * INTERVAL_S)
        bursts = [t for i, t in enumerate(times) if i == 0 or t - times[i - 1] > BURST_S]
        resident, anonymous = status(pid, "VmRSS"), status(pid, "RssAnon")
        print(f"{collector}: {resident} kB resident, {anonymous} kB its own; awake {len(bursts)} times in {POLLS} "
              f"polls",
              file=sys.stderr)
        self.assertGreaterEqual(len(bursts), POLLS - 1)
        self.assertLessEqual(len(bursts), POLLS + 1)
        self.assertLessEqual(resident, RESIDENT_KB)
        self.assertLessEqual(anonymous, ANONYMOUS_KB)

    def test_bpf(self):
        self.check("bpf")

    def test_kept(self):
        self.check("kept")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: needs root, for the collector in the kernel")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
