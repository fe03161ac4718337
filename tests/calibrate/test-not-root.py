#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that a calibration of root starts are not root when they work: no capability, nor a way to one.

Usage: test-not-root.py JOULECAST-FIT [JOULECAST-GPU]
"""
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time

START = {"start": {"device": "x", "method": "gauge", "policies": [], "modes": [], "database": None, "stop_percent": 3}}
if os.geteuid() != 0:
    print("needs root, to see it given up")
    sys.exit(77)
failures = 0


def check(name, pid, uid=65534):
    """Its user and rights, by /proc."""
    global failures
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file.read().splitlines())
    good = (status["Uid"].split() == status["Gid"].split() == [str(uid)] * 4 and status["NoNewPrivs"].strip() == "1" and
            not any(int(status["Cap" + kind], 16) for kind in ("Inh", "Prm", "Eff", "Amb")))
    if not good:
        failures += 1
        print(name, {key: status[key] for key in status if re.match("Uid|Gid|Groups|Cap|NoNew", key)})


FIT = sys.argv[1]
child = subprocess.Popen([FIT, "--follow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for _ in range(2):  # the answer to the second comes after the first is done with
    child.stdin.write(json.dumps(START) + "\n")
    child.stdin.flush()
    child.stdout.readline()
check("joulecast-fit", child.pid)
child.stdin.close()
child.stdout.close()
child.wait()

# It reads what the service recorded as the service's user, and never as root: the name may lead to any file by then.
OWNER = 61234
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    os.mkdir(folder + "/service", 0o700)
    secret = folder + "/secret.db"
    with open(secret, "w", encoding="utf-8"):
        os.chmod(secret, 0o600)
    os.symlink(secret, folder + "/service/usage.db")
    os.chown(folder + "/service", OWNER, OWNER)
    child = subprocess.Popen([FIT, "--follow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        child.stdin.write(json.dumps({"start": {**START["start"], "database": folder + "/service/usage.db"}}) + "\n")
        child.stdin.flush()
        child.stdout.readline()
    check("joulecast-fit with a database", child.pid, OWNER)
    child.stdin.close()
    child.stdout.close()
    child.wait()

# At the end of a calibration it has computed when it writes the profile, and then waits to tell of it.
with tempfile.TemporaryDirectory() as folder:
    observations, profile = os.path.join(folder, "observations.db"), os.path.join(folder, "profile.ini")
    subprocess.run([os.path.join(os.path.dirname(FIT), "joulecast-calibrate"), "--device", "virtual:nexus-7",
                    "--method", "gauge",
                    "--passes", "1", "--observations", observations, "--profile", os.path.join(folder, "first.ini"),
                    "--yes"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    read_end, write_end = os.pipe()
    os.write(write_end, b"x" * fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096))
    with subprocess.Popen([FIT, "--observations", observations, "--profile", profile], stdout=write_end) as child:
        os.close(write_end)
        for _ in range(300):
            if os.path.exists(profile):
                break
            time.sleep(0.1)
        check("joulecast-fit at the end", child.pid)
        with os.fdopen(read_end, "rb") as rest:
            said = rest.read()
    if child.returncode != 0 or b"coefficient" not in said or os.stat(profile).st_uid != 0:
        failures += 1
        print("joulecast-fit ended with %d: %s" % (child.returncode, said[4096:]))

for program in sys.argv[2:]:
    child = subprocess.Popen([program, "--software"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if child.stdout.readline().startswith("gpu "):
        check("joulecast-gpu", child.pid)
    else:
        print("no renderer for joulecast-gpu")
    child.communicate()
sys.exit(failures > 0)
