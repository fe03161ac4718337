#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/home/install under a real systemd of a user: the units that it installs start, with their sandbox, and the
service records; after the removal systemd knows none of them.

Usage: test-home-systemd BUILD-DIR SOURCE-DIR
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
from user_systemd import outside, prepare, wait_for  # noqa: E402

BUILD, SOURCE = sys.argv[1:3]


def run(*command, code=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                          check=False)
    assert done.returncode == code, (command, done.stdout)
    return done.stdout


def systemctl(*arguments, code=0):
    return run("systemctl", "--user", *arguments, code=code)


def make_tree(folder):
    """As root: an installed tree and the script, for the user to read."""
    run(*os.environ.get("MESON", "meson").split(), "install", "-C", BUILD, "--no-rebuild", "--destdir",
        folder + "/tree")
    shutil.copytree(SOURCE + "/packaging/home", folder + "/script")
    run("chmod", "-R", "a+rX", folder)


def records(name):
    """Is that app of the user in the answer of the installed command?"""
    done = subprocess.run([os.environ["HOME"] + "/.local/bin/joulecast", "usage", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    apps = {app["app"] for app in json.loads(done.stdout)["apps"]} if done.returncode == 0 else {}
    if name not in apps:
        time.sleep(0.5)
    return name in apps


def inside(folder):
    prepare()
    home, config = os.environ["HOME"], os.environ["XDG_CONFIG_HOME"] + "/joulecast"
    os.makedirs(home)
    os.makedirs(config)
    with open(config + "/joulecast.conf", "w", encoding="utf-8") as file:
        file.write("[poller]\ninterval_s = 0.5\n")
    with open(home + "/home-worker", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nwhile :; do :; done\n")
    os.chmod(home + "/home-worker", 0o755)
    run(folder + "/script/install", folder + "/tree")
    systemctl("daemon-reload")
    systemctl("set-environment", "ASAN_OPTIONS=detect_leaks=0")  # it traces its process, which the units forbid
    systemctl("enable", "--now", "joulecastd.service")
    # As desktops start an app; in the manager's own group it would be the system's.
    worker = subprocess.Popen(["systemd-run", "--user", "--scope", "--quiet", "--slice=app.slice",
                               "--unit=app-gnome-worker-101.scope", home + "/home-worker"])
    wait_for(lambda: records("worker"), "the service records", 100)
    worker.kill()
    worker.wait()
    timers = systemctl("list-timers", "--all")
    for name in ("joulecast-learn.timer", "joulecast-share.timer"):
        assert name in timers, timers
    for name in ("joulecast-learn.service", "joulecast-share.service"):
        systemctl("start", name)  # exit status 3, and nothing to share, are no failures
        assert systemctl("show", "-P", "ActiveState", name).strip() == "inactive", name
    assert systemctl("show", "-P", "NRestarts,SubState", "joulecastd.service").split() in (["0", "running"],
                                                                                       ["running", "0"])
    run(folder + "/script/install", "--remove")
    systemctl("daemon-reload")
    assert "0 unit files" in systemctl("list-unit-files", "joulecast*", code=1), "units are left"
    assert os.path.exists(home + "/.local/state/joulecast/usage.db")


def main():
    if sys.argv[3:] == ["--inside"]:
        inside(os.environ["JOULECAST_TREE"])
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            make_tree(folder)
            os.environ["JOULECAST_TREE"] = folder
        try:
            outside("/bin/true")
        finally:
            print(f"{time.monotonic() - began:.0f} s")


main()
