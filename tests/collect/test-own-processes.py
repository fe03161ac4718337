#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is not root records its own processes, ends included, unless it may look with BPF; and says which.

Usage: test-own-processes.py JOULECASTD
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

JOULECASTD = os.path.abspath(sys.argv[1])
USER = 65534


def record(folder, collector, capabilities):
    """The line that says what is watched, and the users in the database; None: this kernel does not let us."""
    database = "%s/%s.db" % (folder, collector)
    only = "-all" + "".join(",+" + name for name in capabilities)
    done = subprocess.run(["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--inh-caps", only,
                           "--ambient-caps", only, JOULECASTD, "--collector", collector, "--interval", "0.5",
                           "--count", "4",
                           "--database", database], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False, cwd="/")
    if done.returncode != 0:
        print(collector, capabilities, done.stderr.strip())
        return None
    with sqlite3.connect(database) as db:
        users = {user for (user,) in db.execute("SELECT uid FROM app JOIN usage ON usage.app = app.id WHERE "
                                                "app.app != ''")}
    return done.stderr, users


def main():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("needs root, to become another user (setpriv)")
        sys.exit(77)
    others = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; expr 1 + 1; done"], stdout=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            for collector, capabilities in ("proc", []), ("kept", []), ("kept", ["net_admin"]):
                recorded = record(folder, collector, capabilities)
                if not recorded:
                    sys.exit(77)  # another user may not come here
                said, users = recorded
                assert "watching your own processes" in said, (collector, said)
                assert users <= {USER}, (collector, capabilities, users)
            recorded = record(folder, "bpf", ["bpf", "perfmon"])
            if recorded:
                said, users = recorded
                assert "watching all processes" in said and 0 in users, (said, users)
    finally:
        others.kill()
        others.wait()


main()
