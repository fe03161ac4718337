#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine tree of tests/gather-machine shows the same battery, CPUs and backlight as the device, and no personal
data.

Usage: test-gather-machine.py JOULECAST GATHER-MACHINE PHONE.tree
"""
import json
import os
import subprocess
import sys
import tempfile

JOULECAST, GATHER, TREE = (os.path.abspath(argument) for argument in sys.argv[1:4])
SECRETS = {"sys/class/net/enx0a1b2c3d4e5f/type": "1\n",
           "sys/class/power_supply/hid-0a:1b:2c:3d:4e:5f-battery/uevent":
               "POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_SCOPE=Device\nPOWER_SUPPLY_SERIAL_NUMBER=SECRET77\n"}


def unpack(tree, folder):
    subprocess.run([GATHER, "--unpack", tree, folder], check=True)


def put(folder, path, content):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(content)


def doctor(folder):
    run = subprocess.run([JOULECAST, "doctor", "--json", "--machine", folder], capture_output=True, text=True,
                         check=True)
    answer = json.loads(run.stdout)
    return answer["batteries"], answer["policies"], answer["display"]


with tempfile.TemporaryDirectory() as scratch:
    device, copy, tree = (os.path.join(scratch, name) for name in ("device", "copy", "machine.tree"))
    unpack(TREE, device)
    os.symlink("../../card0-DSI-1", os.path.join(device, "sys/class/backlight/panel0-backlight/device"))
    for path, content in SECRETS.items():
        put(device, path, content)
    subprocess.run([GATHER, "--root", device, tree], check=True, stdout=subprocess.DEVNULL)
    unpack(tree, copy)
    want, got = doctor(device), doctor(copy)
    assert want[0] and want[1] and got == want, (want, got)
    assert "built-in connector" in want[2]["why"], want
    with open(tree, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    for secret in ("SECRET77", "0a1b2c3d4e5f", "0a:1b:2c:3d:4e:5f", "cmdline", "proc/1/"):
        assert secret not in text, secret
    assert os.listdir(scratch).count("machine.tree") == 1 and len(os.listdir(scratch)) == 3, os.listdir(scratch)
    wrong = subprocess.run([GATHER, "--root", device, os.path.join(scratch, "none", "x")], capture_output=True,
                           text=True)
    assert wrong.returncode == 1 and "cannot be written" in wrong.stderr, wrong
    escaping = os.path.join(scratch, "escaping.tree")
    put(scratch, "escaping.tree", "sys/../../x\ty\\n\n")
    wrong = subprocess.run([GATHER, "--unpack", escaping, os.path.join(scratch, "escaping")], capture_output=True,
                           text=True)
    assert wrong.returncode == 1 and "no path" in wrong.stderr and not os.path.exists(os.path.join(scratch, "x")), wrong
    put(scratch, "through.tree", "sys/class/a\t-> ../../..\nsys/class/a/x\tx\\n\n")
    wrong = subprocess.run([GATHER, "--unpack", os.path.join(scratch, "through.tree"),
                            os.path.join(scratch, "through")],
                           capture_output=True, text=True)
    assert wrong.returncode == 1 and "through a link" in wrong.stderr, wrong
    assert not os.path.exists(os.path.join(scratch, "x")), wrong
