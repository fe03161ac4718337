#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of an interrupted calibration are restored with the unit's rights only: no home, system folders that cannot
be written, few capabilities. If nothing can be written, root is not told that there is nothing to restore.

Usage: test-restore-unit.py JOULECAST-CALIBRATE UNIT
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

UNIT = os.path.abspath(sys.argv.pop())
PROGRAM = os.path.abspath(sys.argv.pop())
JOURNAL = "/var/lib/joulecast-calibrate/restore.ini"
# In mounts of its own, which end with it: JOURNAL's folder is an empty one, and $protected is read-only.
PRIVATE = """set -eu
mount -t tmpfs none /var/lib
mkdir -m 700 "${journal%/*}"
printf %s "$text" > "$journal"
for folder in $protected; do
        [ ! -d $folder ] || { mount --rbind $folder $folder; mount -o remount,bind,ro $folder; }
done
code=0
"$@" || code=$?
if [ -e "$journal" ]; then echo kept; else echo removed; fi
exit $code
"""


def setting(name):
    with open(UNIT, encoding="utf-8") as file:
        found = re.search(r"^%s=(.*)$" % name, file.read(), re.MULTILINE)
    return found.group(1)


def journal_of(scratch):
    """As after a boot since: a journal with a file that a calibration has written."""
    text = "[journal]\nversion = 1\nboot_id = 0e1d1ef5-3a0c-4b62-a1ea-3b83b0c7f5d2\n[file 1]\nname = %s\n" % scratch
    checksum = 0xcbf29ce484222325
    for byte in text.encode():
        checksum = (checksum ^ byte) * 0x100000001b3 % 2 ** 64
    return text + "[end]\nentries = 1\nchecksum = %016x\n" % checksum


class RestoreUnit(unittest.TestCase):
    def restore(self, protected, *environment):
        """(exit code, output, whether the scratch file is still there)"""
        # As mkstemp(3) names it: letters and digits.
        scratch = subprocess.run(["mktemp", "/var/tmp/.joulecast-disk-XXXXXX"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout.strip()
        self.addCleanup(lambda: os.path.exists(scratch) and os.unlink(scratch))
        capabilities = "-all" + "".join(",+" + word[4:].lower() for word in setting("CapabilityBoundingSet").split())
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", PRIVATE, "sh", "setpriv", "--no-new-privs",
             "--bounding-set", capabilities, "env", "-i", "PATH=/usr/bin:/bin", *environment, PROGRAM,
             *setting("ExecStart").split()[1:]],
            env={"PATH": os.environ["PATH"], "text": journal_of(scratch), "journal": JOURNAL, "protected": protected},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, os.path.exists(scratch)

    def test_as_the_unit_does(self):
        self.assertEqual(setting("ConditionPathExists"), JOURNAL)
        self.assertEqual(setting("ProtectSystem"), "full")
        code, said, is_left = self.restore("/usr /boot /efi /etc")
        self.assertEqual((code, is_left), (0, False), said)
        self.assertIn("1 restored", said)
        self.assertTrue(said.endswith("removed\n"), said)

    def test_nothing_can_be_written(self):
        code, said, is_left = self.restore("/var/lib", "HOME=/root")
        self.assertEqual((code, is_left), (1, True), said)
        self.assertIn("Read-only file system", said)
        self.assertTrue(said.endswith("kept\n"), said)


if os.geteuid() != 0 or not shutil.which("setpriv"):
    print("needs root, to give up rights (setpriv)")
    sys.exit(77)
if subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /var/lib && test -e "$1"', "sh", PROGRAM],
                  capture_output=True, check=False).returncode:
    print("needs mounts of its own, which are not allowed here or hide the build folder")
    sys.exit(77)
unittest.main()
