#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast learn after the device itself changed: the radio's price, the display's, or nothing, on several devices.

Usage: test-learn-changes.py JOULECAST SOURCE-DIR [SEED...]
"""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

JOULECAST, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SEEDS = [int(seed) for seed in sys.argv[3:]] or [81001, 81002, 81003, 81004]  # nothing was tuned on these
BEFORE, AFTER, LAST = 9, 6, 3  # sessions before and after the change, and later ones that nothing is learnt from

# The keys of the device that change, and by how much; on how many of four devices that is told at least.
CHANGES = {
    "wifi": (r"[rt]x_mj_per_mb", 3, 2),
    "display": (r"power_mw\.\d+", 1.5, 3),
    "none": (None, 1, 0),
}


class Device:
    def __init__(self, folder, seed):
        os.mkdir(folder)
        self.folder, self.seed = folder, seed
        subprocess.run([SOURCE + "/tests/worlds/make-world", "--world", "our-form", "--seed", str(seed), "--sessions",
                        str(BEFORE + AFTER + LAST), "--out", folder], check=True)
        self.run("calibrate", "--device", "virtual:" + self.path("calibrate.ini"), "--method", "percent", "--yes",
                 "--profile",
                 self.path("profile.ini"), "--observations", self.path("calibration.db"))
        with open(self.path("world.json"), encoding="utf-8") as file:
            self.sessions = json.load(file)["sessions"]
        self.use(0, BEFORE)

    def copy(self, folder):
        """The same device, before it changed."""
        other = copy.copy(self)
        other.folder = shutil.copytree(self.folder, folder)
        return other

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        done = subprocess.run([JOULECAST, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True,
                              timeout=300, check=False,
                              env={**os.environ, "HOME": self.folder, "XDG_STATE_HOME": self.folder})
        if done.returncode:
            raise RuntimeError("%s: %s" % (" ".join(map(str, arguments)), done.stderr))
        return done.stdout

    def use(self, first, n, database="usage.db"):
        """Sessions of use; the true energy of the last one in J."""
        for session in self.sessions[first:first + n]:
            self.run("simulate", "--device", "virtual:" + self.path("device.ini"), "--scenario",
                     self.path(session["scenario"]),
                     "--database", self.path(database), "--truth", self.path("truth.json"), "--append",
                     "--start-percent",
                     session["start_percent"], "--seed", session["seed"])
        with open(self.path("truth.json"), encoding="utf-8") as file:
            return json.load(file)["total_j"]

    def change(self, keys, factor):
        with open(self.path("device.ini"), "r+", encoding="utf-8") as file:
            text = file.read()
            changed = re.sub(r"(?m)^(%s = )(\S+)" % keys,
                             lambda found: found[1] + "%.6g" % (factor * float(found[2])), text)
            assert changed != text
            file.seek(0)
            file.write(changed)
            file.truncate()

    def learn(self):
        return json.loads(self.run("learn", "--device", "virtual:" + self.path("device.ini"), "--profile",
                                   self.path("profile.ini"),
                                   "--database", self.path("usage.db"), "--observations", self.path("everyday.db"),
                                   "--json"))

    def errors(self):
        """Errors of the later sessions' energy, in percent."""
        found = []
        for i in range(BEFORE + AFTER, BEFORE + AFTER + LAST):
            truth = self.use(i, 1, "last%d.db" % i)
            cost = json.loads(self.run("cost", "--profile", self.path("profile.ini"), "--database",
                                       self.path("last%d.db" % i), "--json"))
            found.append(100 * (cost["total"]["energy_j"]["value"] / truth - 1))
        return found


def try_change(device, name):
    """Learns once before the change, and again after every two sessions that follow."""
    keys, factor, _ = CHANGES[name]
    answers = [device.learn()]
    if keys:
        device.change(keys, factor)
    for i in range(BEFORE, BEFORE + AFTER, 2):
        device.use(i, 2)
        answers.append(device.learn())
    return answers, device.errors()


def try_device(seed):
    """Each change of one device."""
    with tempfile.TemporaryDirectory() as folder:
        device = Device(os.path.join(folder, "before"), seed)
        return {name: try_change(device.copy(os.path.join(folder, name)), name) for name in CHANGES}


def told(answer):
    return [(item.get("app") or item["component"], item["low"], item["percent"], item["high"])
            for item in answer["changes"] + answer["drifted"]]


def summary(answer):
    words = ["%s %.0f (%.0f .. %.0f)" % (who, percent, low, high) for who, low, percent, high in told(answer)]
    return ("" if answer["taken"] else "refused %.1f " % answer["better"]) + (", ".join(words) or "-")


def faults(name, answers, errors):
    """Messages about faults: a refusal, a change that did not happen, an interval without the truth, wrong energies."""
    truth = 100 * (CHANGES[name][1] - 1)
    for i, answer in enumerate(answers):
        if not answer["taken"]:
            yield "refused"
        for who, low, _, high in told(answer):
            if i == 0 or who != name:
                yield "%s did not change" % who
            elif not low <= truth <= high:
                yield "%.0f %% is not in the interval of %s" % (truth, who)
    if max(map(abs, errors)) > 5:
        yield "later energies are off by more than 5 %"


def main():
    failed, found = False, dict.fromkeys(CHANGES, 0)
    with ThreadPoolExecutor(2) as pool:
        for seed, changes in zip(SEEDS, pool.map(try_device, SEEDS)):
            for name, (answers, errors) in changes.items():
                wrong = list(faults(name, answers, errors))
                failed = failed or bool(wrong)
                found[name] += bool(told(answers[-1]))
                print(seed, name, "|", " | ".join(map(summary, answers)), "| errors",
                      *["%.1f" % error for error in errors], *wrong,
                      flush=True)
    for name, (_, _, least) in CHANGES.items():
        print(name, "told on", found[name], "of", len(SEEDS))
        failed = failed or 4 * found[name] < least * len(SEEDS)
    return failed


if __name__ == "__main__":
    sys.exit(main())
