# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A power cut loses recorded usage: at most as much as the configuration allows, and never the whole database."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from restoring import random_moments
from watch import DAEMON, PROFILE

SYNC_S = 10
DATABASE = "/var/tmp/losses.db"
# Only data that a program syncs reaches the disk: the kernel does no background writeback, and the file system does
# not commit by itself.
NO_WRITEBACK = """
echo 0 > /proc/sys/vm/dirty_writeback_centisecs
echo 360000 > /proc/sys/vm/dirty_expire_centisecs
mount -o remount,commit=3600 /
"""


def cut(phone, folder):
    """The disk as a power cut leaves it at this moment: the phone stands still while its disk is copied."""
    os.makedirs(folder)
    phone.process.send_signal(signal.SIGSTOP)
    try:
        shutil.copyfile(phone.disk, os.path.join(folder, "cut.qcow2"))
    finally:
        phone.process.send_signal(signal.SIGCONT)


def run(*command, good=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode in good, "%s: exit %d: %s" % (command, done.returncode, done.stdout[-1000:])
    return done.stdout


def recover(folder):
    """As the next boot would: the file system plays its journal back. The database and its -wal are in @folder then."""
    disk, database = os.path.join(folder, "disk.raw"), os.path.join(folder, "losses.db")
    run("qemu-img", "convert", "-O", "raw", os.path.join(folder, "cut.qcow2"), disk)
    run("e2fsck", "-fy", disk, good=(0, 1))
    for end in ("", "-wal"):
        run("debugfs", "-R", "dump %s%s %s%s" % (DATABASE, end, database, end), disk)
    os.unlink(disk)
    return database


def look(suite, database):
    """Until when it is there, in s since 1970; its longest interval; and what is wrong with it."""
    profile = os.path.join(os.path.dirname(database), "profile.ini")
    with open(profile, "w", encoding="utf-8") as file:
        file.write(PROFILE % "")
    done = subprocess.run([os.path.join(suite.options.build, "predict", "joulecast"), "cost", "--json", "--profile",
                           profile,
                           "--database", database], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return 0, 0, "exit %d: %s" % (done.returncode, done.stderr.strip())
    json.loads(done.stdout)
    with contextlib.closing(sqlite3.connect(database)) as rows:
        spans = rows.execute("SELECT start_ns, end_ns FROM interval ORDER BY end_ns").fetchall()
        lost = sum(span[0] != before[1] for before, span in zip(spans, spans[1:]))
    longest = max(end - start for start, end in spans) / 1e9
    return spans[-1][1] / 1e9, longest, "%d intervals do not meet" % lost if lost else ""


def losses(suite):
    count = 50 if suite.options.full else 10
    moments = random_moments(suite)
    phone = suite.boot()
    phone.output(NO_WRITEBACK)
    phone.write("/tmp/joulecast.conf", "[store]\nsync_s = %d" % SYNC_S)
    phone.output("rm -f %s*; sync" % DATABASE)
    job = phone.start("exec %s --interval 1 --collector proc --count 100000 --config /tmp/joulecast.conf "
                      "--database %s" % (
        DAEMON, DATABASE))
    phone.output("until test -s %s-wal; do sleep 0.5; done" % DATABASE, 300)
    time.sleep(SYNC_S)
    at = []
    for number in range(count):
        time.sleep(moments.uniform(0, 6))
        at.append(float(phone.output("date +%s.%N")))
        cut(phone, os.path.join(suite.folder, "cut-%d" % number))
    suite.check(not job.ended.is_set(), "the service ran all the time")
    phone.cut_power()
    lost = []
    for number, clock in enumerate(at):
        folder = os.path.join(suite.folder, "cut-%d" % number)
        until, longest, wrong = look(suite, recover(folder))
        lost.append(clock - until)
        # That the next poll of a busy phone will be late no poll can know.
        suite.check(not wrong and lost[-1] <= SYNC_S + longest, "cut %d: the last %.1f s are lost, %d may be%s" % (
            number + 1, lost[-1], SYNC_S, "; " + wrong if wrong else ""))
        shutil.rmtree(folder)
    suite.check(max(lost) > SYNC_S / 2, "no other program wrote it all to the disk: up to %.1f s are lost" % max(lost))
    suite.rows.append("%d power cuts of the service: %.1f s lost at most, %.1f s in the middle, of %d that may be" % (
        count, max(lost), sorted(lost)[count // 2], SYNC_S))
