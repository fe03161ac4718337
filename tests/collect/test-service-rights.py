#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecastd with the rights that its unit gives it, as another user than root: each collector works, all rights
are gone when it listens, also for the command that tells who has the screen, and other users' apps have the names
of their programs.

Usage: test-service-rights.py JOULECASTD JOULECAST UNIT
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

JOULECASTD, JOULECAST, UNIT = (os.path.abspath(path) for path in sys.argv[1:4])
SERVICE, USER = 65534, 65533
PROGRAM = "a-program-with-a-long-name"  # comm has only 15 bytes of it


def setting(name):
    with open(UNIT, encoding="utf-8") as file:
        found = re.search(r"^%s=(.*)$" % name, file.read(), re.MULTILINE)
    return found.group(1) if found else ""


def rights():
    words = setting("AmbientCapabilities").split()
    assert words == setting("CapabilityBoundingSet").split() and "CAP_SYS_PTRACE" not in words, words
    # Kernels before 5.11 are not here to be asked; there BPF needs the one or the other.
    assert "CAP_SYS_RESOURCE" in words or setting("LimitMEMLOCK") == "infinity", words
    return "-all" + "".join(",+" + word.removeprefix("CAP_").lower() for word in words)


def as_user(user, capabilities="-all"):
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", "--bounding-set", capabilities,
            "--inh-caps", capabilities, "--ambient-caps", capabilities, "--no-new-privs"]


def collectors(*before):
    """{collector: what it counts} by doctor."""
    text = subprocess.run([*before, JOULECAST, "doctor"], capture_output=True, text=True, check=False, cwd="/").stdout
    return {line.split(" ")[0]: " ".join(line.split()) for line in text.splitlines()
            if line.split(" ")[0] in ("bpf", "bpf-iter", "kept", "proc")}


def has_none(path):
    """The process of that /proc/PID/status has no capability, and can get none."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for kind in ("Inh", "Prm", "Eff", "Amb"):
        assert re.search(r"^Cap%s:\s*0+$" % kind, text, re.MULTILINE), text
    assert re.search(r"^NoNewPrivs:\s*1$", text, re.MULTILINE), text


def wait_for(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("not in a minute: " + what)


def apps(database):
    with sqlite3.connect(database) as db:
        return {app for (app,) in db.execute("SELECT app FROM app WHERE uid = ?", (USER,))}


def serve(collector, folder):
    home = folder + "/" + collector
    os.mkdir(home)
    os.chown(home, SERVICE, SERVICE)
    with open(home + "/joulecast.conf", "w", encoding="utf-8") as file:
        file.write("[poller]\nforeground = command:cd %s; cat /proc/self/status > status; touch told; exec sleep "
                   "60\n" % home)
    service = subprocess.Popen([*as_user(SERVICE, rights()), JOULECASTD, "--config", home + "/joulecast.conf",
                                "--interval", "0.3",
                                "--database", home + "/usage.db", "--collector", collector, "--socket",
                                home + "/socket",
                                "--focus-socket", home + "/focus"], stderr=subprocess.PIPE, text=True, cwd="/")
    # A name of its own in argv, so that the name is that of the file.
    other = subprocess.Popen([*as_user(USER), "bash", "-c",
                              "exec -a other %s/%s -c 'while :; do expr 1 + 1; sleep 0.1; done'"
                              % (folder, PROGRAM)], stdout=subprocess.DEVNULL, cwd="/")
    try:
        said = service.stderr.readline()
        assert "watching all processes" in said, said
        has_none("/proc/%d/status" % service.pid)
        wait_for("the command", lambda: os.path.exists(home + "/told"))
        has_none(home + "/status")
        wait_for("an app of another user", lambda: PROGRAM in apps(home + "/usage.db"))
        has_none("/proc/%d/status" % service.pid)
    finally:
        for child in (other, service):
            child.terminate()
            child.wait()
        said = service.stderr.read()
        service.stderr.close()
    assert not said, said


def main():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("skipped: needs root, to give up rights (setpriv)")
        sys.exit(77)
    if subprocess.run([*as_user(SERVICE), JOULECAST, "--version"], stdout=subprocess.DEVNULL, check=False,
                      cwd="/").returncode:
        print("skipped: another user may not enter the build folder")
        sys.exit(77)
    with_all, with_some = collectors(), collectors(*as_user(SERVICE, rights()))
    print("\n".join(with_some.values()))
    assert with_all and set(with_some) == set(with_all), with_all
    for name in [name for name in with_all if name.startswith("bpf")]:
        assert with_some[name] == with_all[name], with_all
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy("/bin/dash", folder + "/" + PROGRAM)
        for name in [name for name in with_all if name.startswith("bpf")]:
            serve(name, folder)


main()
