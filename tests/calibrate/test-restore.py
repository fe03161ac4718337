#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""hold-tree HOLD: a small calibration is killed at random moments; afterwards the machine tree is as before."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HOLD = sys.argv.pop(1)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # jobs in the background of a shell ignore it, and so would theirs
ROUNDS = int(os.environ.get('ROUNDS', '4'))
POLICY = 'sys/devices/system/cpu/cpufreq/policy0/'
FILES = {
    'proc/sys/kernel/random/boot_id': '0e1d1ef5-3a0c-4b62-a1ea-3b83b0c7f5d2\n',
    'proc/uptime': '5000.00 9000.00\n',
    POLICY + 'scaling_governor': 'schedutil\n',
    POLICY + 'scaling_min_freq': '300000\n',
    POLICY + 'scaling_max_freq': '1800000\n',
    'sys/class/backlight/panel/brightness': '200\n',
}


def alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
            return stat.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def wait_for(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Restore(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp(prefix='joulecast-restore-')
        self.addCleanup(shutil.rmtree, self.tree)
        for path, text in FILES.items():
            path = os.path.join(self.tree, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
        os.makedirs(os.path.join(self.tree, 'var/tmp'))
        self.journal = os.path.join(self.tree, 'state/restore.ini')

    def read(self, path):
        with open(os.path.join(self.tree, path), encoding='ascii') as file:
            return file.read().strip()

    def start(self, **options):
        process = subprocess.Popen([HOLD, self.tree], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        words = process.stdout.readline().split()
        self.assertEqual(len(words), 3, 'it did not start')
        pids = [int(word) for word in words]
        self.assertEqual(pids[0], process.pid)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in pids if alive(pid)])
        time.sleep(random.random() * 0.15)
        return process, pids

    def check_back(self):
        for path, text in FILES.items():
            self.assertEqual(self.read(path), text.strip(), path)
        self.assertEqual(os.listdir(os.path.join(self.tree, 'var/tmp')), [])
        self.assertFalse(os.path.exists(self.journal))

    def put_back(self):
        done = subprocess.run([HOLD, self.tree, 'restore'], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout.split(), done.stderr

    def test_the_worker_is_killed(self):
        for number in [signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT] + [signal.SIGKILL] * ROUNDS:
            process, (_, worker, load) = self.start()
            os.kill(worker, number)
            self.assertEqual(process.wait(120), 128 + number)
            self.check_back()
            self.assertIn(f'signal {number}', process.stderr.read())
            self.assertFalse(alive(load), 'a load goes on')

    def test_whoever_started_it_ignores_its_children(self):
        process, (_, worker, load) = self.start(preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        os.kill(worker, signal.SIGKILL)
        self.assertEqual(process.wait(20), 128 + signal.SIGKILL)
        self.check_back()
        self.assertFalse(alive(load), 'a load goes on')

    def test_it_is_told_to_stop(self):
        for number in [signal.SIGTERM, signal.SIGINT]:
            process, (watchdog, worker, load) = self.start()
            os.kill(watchdog, number)
            self.assertEqual(process.wait(120), 0)
            self.assertFalse(alive(worker) or alive(load))
            self.assertEqual(process.stderr.read(), '')
            self.check_back()

    def test_the_watchdog_is_killed(self):
        for _ in range(ROUNDS):
            process, (watchdog, worker, load) = self.start()
            os.kill(watchdog, signal.SIGKILL)
            process.wait(120)
            self.assertTrue(wait_for(lambda pid=worker: not alive(pid)))
            self.check_back()
            os.kill(load, signal.SIGKILL)
            wait_for(lambda pid=load: not alive(pid)) # it held the lock

    def test_both_are_killed_as_by_a_power_cut(self):
        changed = 0
        for turn in range(2 * ROUNDS):
            process, (watchdog, worker, load) = self.start()
            for number in (signal.SIGSTOP, signal.SIGKILL):  # a busy machine leaves the last time to restore, else
                for pid in random.sample([watchdog, worker, load], 3):
                    os.kill(pid, number)
            process.wait(120)
            self.assertTrue(wait_for(lambda pids=(worker, load): not any(map(alive, pids))))
            changed += self.read('sys/class/backlight/panel/brightness') != '200'
            self.assertTrue(os.path.exists(self.journal))
            code, numbers, said = self.put_back()
            self.assertEqual((code, numbers[2:]), (0, ['0', '0']), said)
            self.check_back()
            code, numbers, _ = self.put_back()  # safe to repeat
            self.assertEqual((code, numbers), (0, ['0'] * 4))
        self.assertGreater(changed, 0, 'nothing was changed, so nothing was tried')

    def test_no_kill_takes_both(self):
        process, (watchdog, worker, _) = self.start()
        self.assertNotEqual(os.getpgid(watchdog), os.getpgid(worker))
        os.killpg(os.getpgid(worker), signal.SIGKILL)
        process.wait(120)
        self.check_back()

    def test_nor_does_the_end_of_a_control_group(self):
        process, (watchdog, worker, _) = self.start()
        time.sleep(0.5)
        groups = []
        for pid in (watchdog, worker):
            with open(f'/proc/{pid}/cgroup', encoding='utf-8') as file:
                groups.append(file.read())
        os.kill(worker, signal.SIGKILL)
        process.wait(120)
        self.check_back()
        if groups[0] == groups[1]:
            self.skipTest('no control group can be made here')
        self.assertIn('joulecast-watchdog', groups[0])

    def test_only_one_at_a_time(self):
        process, (watchdog, worker, _) = self.start()
        second = subprocess.run([HOLD, self.tree], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f'(process {watchdog})', second.stderr)
        code, _, said = self.put_back()
        self.assertEqual(code, 1)
        self.assertIn('running already', said)
        os.kill(worker, signal.SIGKILL)
        process.wait(120)
        self.check_back()


if __name__ == '__main__':
    unittest.main()
