#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/json.md names every key of every answer, in the section of its command.

Usage: test-json.py JSON.md JOULECAST DEVICE.ini SCENARIO.ini MACHINE.tree GATHER-MACHINE
"""
import json
import os
import re
import subprocess
import sys
import tempfile

DOCUMENT, JOULECAST, DEVICE, SCENARIO, TREE, GATHER = map(os.path.abspath, sys.argv[1:])
OPEN = {"apps": "simulate", "components_j": "simulate", "collector_counts": "doctor",
        "components": "replay"}  # objects whose keys are names
failures = 0


def sections():
    with open(DOCUMENT, encoding="utf-8") as file:
        parts = re.split(r"^## (.+)$", file.read(), flags=re.M)
    interval = re.findall(r'"(\w+)"', parts[0])
    return {name: set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", text)))) | set(interval)
            for name, text in zip(parts[1::2], parts[2::2])}


def keys(command, answer):
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield key
            if OPEN.get(key) != command or not isinstance(value, dict):
                yield from keys(command, value)
    elif isinstance(answer, list):
        for value in answer:
            yield from keys(command, value)


def check(command, answer):
    global failures
    named = set(keys(command, answer))
    if not named:
        failures += 1
        print(f"failed: {command} has no keys: {answer}")
    for key in sorted(named - DOCUMENTED[command]):
        failures += 1
        print(f"failed: {os.path.basename(DOCUMENT)} does not name {key} of {command}")


def run(*arguments):
    ran = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, check=True)
    return ran.stdout


DOCUMENTED = sections()
with tempfile.TemporaryDirectory() as folder:
    os.environ.update(XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder + "/config")
    os.chdir(folder)
    subprocess.run([GATHER, "--unpack", TREE, "machine"], check=True)
    recorded = ["--profile", DEVICE, "--database", "usage.db", "--json"]
    virtual = ["--device", "virtual:" + DEVICE]
    check("simulate", json.loads(run("simulate", *virtual, "--scenario", SCENARIO, "--database", "usage.db",
                                     "--truth", "truth.json", "--json")))
    with open("truth.json", encoding="utf-8") as file:
        check("simulate", json.load(file))
    check("cost", json.loads(run("cost", *recorded)))
    for name in ("usage", "apps"):
        DOCUMENTED[name] = DOCUMENTED["usage, apps"]
        check(name, json.loads(run(name, *recorded)))
    check("predict", json.loads(run("predict", "--app", "angry-birds", "--minutes", "5", *recorded)))
    check("budget", json.loads(run("budget", "--app", "angry-birds", "--battery-percent", "50", *recorded)))
    check("budget", json.loads(run("budget", *recorded)))
    check("whatif", json.loads(run("whatif", "--brightness", "40%", "--close", "angry-birds", *recorded)))
    check("advise", json.loads(run("advise", *recorded, "--profile", "class-phone")))
    DOCUMENTED["endure"] = DOCUMENTED["advise --until"]
    check("endure", json.loads(run("advise", "--for", "20h", *recorded)))
    with open("trace.csv", "w", encoding="utf-8") as file:
        file.write("span,name,state,start_s,elapsed_s,power_mw,cpu.0.1000000,screen.100,rail.cpu_j\n"
                   "1,base,base,0,30,600,0,0,4\n1,app,foreground,0,30,,1e9,3e10,\n2,base,base,30,30,300,0,0,1\n")
    check("replay", json.loads(run("replay", "--trace", "trace.csv", "--profile", "class-phone", "--json")))
    check("price-packets",
          json.loads(run("price-packets", "--profile", "lte", "--radio", "lte", "/dev/null", "--until", "9", "--json")))
    if os.path.exists(os.path.join(os.path.dirname(JOULECAST), "..", "community", "joulecast-share")):
        run("community", "join", ".", *recorded)
        DOCUMENTED["community"] = DOCUMENTED["community status"]
        check("community", json.loads(run("community", "status", *recorded)))
        client = json.loads(run("community", "status", *recorded))["client"]
        with open(f".{client}-report.json", "w", encoding="utf-8") as file:
            json.dump({"clients": 9, "samples": 99,
                       "hogs": [{"app": "angry-birds", "minutes": {"value": 2, "low": 1, "high": 3}, "clients": 9}],
                       "not_yet": [{"app": "system", "hours": 9}]}, file)
        DOCUMENTED["community"] = DOCUMENTED["community report"]
        check("community", json.loads(run("community", "report", *recorded)))
        run("community", "leave", *recorded)
    check("bench", json.loads(run("bench", "--seconds", "0.01", "--repeats", "1", "--json")))
    os.makedirs("config/joulecast", exist_ok=True)
    with open("config/joulecast/limits.ini", "w", encoding="utf-8") as file:
        file.write("[limit 1]\napp = angry-birds\ncpu_percent = 10\n")
    os.environ["XDG_RUNTIME_DIR"] = folder
    check("limit", json.loads(run("limit", *recorded)))
    for name, text in (("a", "a;main;f_x;f_y 90\n"), ("b", "b;main;f_z;f_y 30\n")):
        with open(name + ".folded", "w", encoding="utf-8") as file:
            file.write(text)
    check("diff", json.loads(run("diff", "a.folded", "b.folded", "--framework-prefix", "f_", "--json")))
    check("trace", json.loads(run("trace", "--count", "1", "--interval", "0.1", "--profile", DEVICE, "--json")))
    check("doctor", json.loads(run("doctor", "--overhead", "--machine", "machine", *recorded)))
    check("profile list", json.loads(run("profile", "list", "--json")))
    check("profile show", json.loads(run("profile", "show", DEVICE, "--json")))
    check("calibrate --dry-run", json.loads(run("calibrate", *virtual, "--dry-run", "--json")))
    check("calibrate", [json.loads(line) for line in run(
        "calibrate", *virtual, "--method", "percent", "--yes", "--json", "--profile", "profile.ini",
        "--observations", "observations.db").splitlines()])
    for seed in "12":
        run("simulate", *virtual, "--scenario", SCENARIO, "--database", "learn.db", "--seed", seed, "--append")
    check("learn", json.loads(run("learn", *virtual, "--profile", "profile.ini", "--database", "learn.db",
                                  "--observations", "observations.db", "--json")))
    check("doctor", json.loads(run("doctor", "--profile", "profile.ini", "--machine", "machine", "--json")))
    check("fit", json.loads(run("fit", "--observations", "observations.db", "--json")))
    run("profile", "use", DEVICE, "--profile", "profile.ini")
    check("profile history", json.loads(run("profile", "history", "--profile", "profile.ini", "--json")))
sys.exit(1 if failures else 0)
