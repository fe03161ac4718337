#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-community on shards: the same bytes as on SQLite, on 1, 2 and 4; and no report when a shard is dead,
frozen, or not the one that it should be.

Two clusters are started: one has the coordinators and most shards, the other is the shard that is frozen and killed.

Usage: test-community-shards.py JOULECAST-COMMUNITY MAKE-COMMUNITY [CLIENTS]
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, program as find_program

program, generator = sys.argv[1:3]
clients = sys.argv[3] if len(sys.argv) > 3 else "100"
psql = find_program("psql")
APPS = "200" if len(sys.argv) > 3 else "40"
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def run(*words, code=0):
    begun = time.monotonic()
    ran = subprocess.run([program, *words], capture_output=True, text=True)
    check(ran.returncode == code, f"{words}: exit {ran.returncode}, not {code}: {ran.stderr}")
    ran.took = time.monotonic() - begun
    return ran


def report(database, code=0, deadline_s=900):
    return run("report", "--database", database, "--deadline", str(deadline_s), "--json", code=code)


def no_report(database, *words, deadline_s=900):
    """Nothing is printed but a sentence that has these words."""
    ran = report(database, 1, deadline_s)
    check(ran.stdout == "" and all(word in ran.stderr for word in words), f"{words}: {ran.stdout[:80]} {ran.stderr}")
    return ran


def sql(url, text):
    subprocess.run([psql, "-q", "-X", "-d", url, "-c", text], check=True, stdout=subprocess.DEVNULL)


def shards_of(servers, name, n):
    """New databases: the last on the second cluster, the others beside the coordinator."""
    return [servers[i + 1 == n].make(f"{name}_{i}") for i in range(n)]


def same_bytes(servers, top):
    folder, sqlite = os.path.join(top, "up"), os.path.join(top, "d.db")
    subprocess.run([generator, folder, "--clients", clients, "--apps", APPS, "--samples", "50", "--coarse", "0.2",
                    "--bugs", "0.01", "--asleep", "2",
                    "--liars", "2"], check=True)
    run("load", folder, "--database", sqlite)
    ran = report(sqlite)
    print(f"SQLite: report {ran.took:.1f} s")
    want = ran.stdout
    check(json.loads(want)["hogs"] and json.loads(want)["bugs"], "the report has nothing to compare")
    for n in (1, 2, 4):
        address = servers[0].make(f"all_{n}")
        run("shards", *shards_of(servers, f"part_{n}", n), "--database", address)
        took = run("load", folder, "--database", address).took
        ran = report(address)
        print(f"{n} shards: load {took:.1f} s, report {ran.took:.1f} s")
        check(ran.stdout == want, f"{n} shards give another report than SQLite")
    check(" 0 samples are new" in run("load", folder, "--database", address).stdout, "a second load finds new samples")
    check(report(address).stdout == want, "a second load changes the report")
    return want


def more_shards(servers, want):
    """As docs/community.md says: the tables of one coordinator into those of another."""
    old, new = servers[0].url("all_1"), servers[0].make("moved")
    run("shards", *shards_of(servers, "moved", 2), "--database", new)
    for table in ("app", "client", "context", "sample", "client_rate"):
        subprocess.run(f"'{psql}' -qX -d '{old}' -c '\\copy (SELECT * FROM {table}) TO STDOUT' | "
                       f"'{psql}' -qX -d '{new}' -c '\\copy {table} FROM STDIN'", shell=True, check=True)
    check(report(new).stdout == want, "clients that moved give another report")


def wrong_shards(servers, want):
    """Partitions that are taken away or are of others: PostgreSQL gives no error, so we do."""
    address = servers[0].url("all_2")
    sql(address, "ALTER TABLE sample DETACH PARTITION sample_1")
    no_report(address, "table sample is on 1 shards and not on 2")
    sql(address, f"ALTER TABLE sample ATTACH PARTITION sample_1 FOR VALUES FROM ({512 << 53}) TO (MAXVALUE)")
    check(report(address).stdout == want, "a partition that is back changes the report")
    sql(servers[1].url("part_2_1"), "UPDATE shard SET epoch = epoch - 1")
    no_report(address, "1 of 2 shards are those")
    sql(servers[1].url("part_2_1"),
        "UPDATE shard SET epoch = epoch + 1; DELETE FROM client_rate WHERE ctid IN (SELECT ctid FROM client_rate "
        "LIMIT 1)")
    no_report(address, "the database is damaged")
    ran = run("shards", servers[0].url("part_4_0"), "--database", servers[0].url("postgres"), code=1)
    check("a part of a community already" in ran.stderr, ran.stderr)
    ran = run("shards", servers[1].url("postgres"), "--database", address, code=1)
    check("has to be empty" in ran.stderr, ran.stderr)


def faults(servers, want):
    address = servers[0].url("all_4")
    servers[1].freeze()
    ran = no_report(address, "no answer within 2 s", "frozen", deadline_s=2)
    check(ran.took < 60, f"a frozen shard took {ran.took} s")
    servers[1].wake()
    check(report(address).stdout == want, "a shard that was frozen changes the report")
    servers[1].kill()
    no_report(address, "shard_3")


if not find_program("initdb"):
    print("skipped: PostgreSQL's server is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
    os.chmod(where, 0o755)
    first = Cluster(os.path.join(where, "pg0"))
    clusters = [first, Cluster(os.path.join(where, "pg1"), first)]
    for cluster in clusters:
        stack.enter_context(cluster)
    wanted = same_bytes(clusters, where)
    more_shards(clusters, wanted)
    wrong_shards(clusters, wanted)
    faults(clusters, wanted)
sys.exit(1 if failures else 0)
