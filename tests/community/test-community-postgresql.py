#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-community on PostgreSQL: the same bytes as on SQLite, in parts and again; and a server that is not there.

Usage: test-community-postgresql.py JOULECAST-COMMUNITY MAKE-COMMUNITY
"""
import json
import os
import subprocess
import sys
import tempfile

from cluster import Cluster, program as find_program

program, generator = sys.argv[1:]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def run(*words, code=0):
    ran = subprocess.run([program, *words], capture_output=True, text=True)
    check(ran.returncode == code, f"{words}: exit {ran.returncode}, not {code}: {ran.stderr}")
    return ran


def report(database):
    return run("report", "--database", database, "--json").stdout


def same_bytes(url, top):
    folder, sqlite = os.path.join(top, "up"), os.path.join(top, "d.db")
    subprocess.run([generator, folder, "--clients", "300", "--apps", "60", "--samples", "40", "--coarse", "0.2",
                    "--bugs", "0.01", "--asleep", "2",
                    "--liars", "2"], check=True)
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    check("has no samples" in run("report", "--database", url, code=1).stderr, "an empty database has no sentence")
    run("load", folder, "--database", sqlite)
    for name in reversed(files):
        run("load", name, "--database", url)
    want = report(sqlite)
    check(json.loads(want)["hogs"] and json.loads(want)["bugs"], "the report has nothing to compare")
    check(report(url) == want, "PostgreSQL gives another report than SQLite")
    check(" 0 samples are new" in run("load", folder, "--database", url).stdout, "a second load finds new samples")
    check(report(url) == want, "a second load changes the report")


def gone(cluster, url):
    cluster.kill()
    ran = run("report", "--database", url, "--json", code=1)
    check(ran.stdout == "" and "postgresql://" in ran.stderr, f"{ran.stdout} {ran.stderr}")
    ran = run("report", "--database", "postgresql://me:secret@127.0.0.1:9/x", "--json", code=1)
    check("secret" not in ran.stderr and ran.stdout == "", ran.stderr)


if not find_program("initdb"):
    print("skipped: PostgreSQL's server is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as where:
    os.chmod(where, 0o755)
    server = Cluster(os.path.join(where, "pg"))
    with server as address:
        same_bytes(address, where)
        gone(server, address)
sys.exit(1 if failures else 0)
