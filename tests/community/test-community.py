#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-community against communities whose truth is known, and against uploads that are wrong.

Usage: test-community.py JOULECAST-COMMUNITY MAKE-COMMUNITY [CLIENTS]
"""
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

program, generator = sys.argv[1:3]
clients = sys.argv[3] if len(sys.argv) > 3 else "250"
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def run(*words, code=0):
    ran = subprocess.run([program, *words], capture_output=True, text=True)
    check(ran.returncode == code, f"{words}: exit {ran.returncode}, not {code}: {ran.stderr}")
    check("AddressSanitizer" not in ran.stderr and "runtime error" not in ran.stderr, ran.stderr)
    return ran


def report(database, *more):
    return run("report", "--database", database, "--json", *more).stdout


def make(folder, *words):
    subprocess.run([generator, folder, *words], check=True)


def judge(folder, text):
    path = os.path.join(folder, ".report.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ran = subprocess.run([generator, "--judge", folder, path], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def lines_of(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".gz"):
            with gzip.open(os.path.join(folder, name), "rt") as file:
                yield from file


def pieces(folder):
    """Uploads of a few samples each, every one with its header, in any order."""
    header, rows, made = None, [], []
    for line in list(lines_of(folder)) + ['{"v":1}']:
        if '"v"' in line:
            for first in range(0, len(rows), 17):
                made.append(json.dumps({**header, "first": first}) + "\n" + "".join(rows[first:first + 17]))
            header, rows = json.loads(line), []
        else:
            rows.append(line)
    random.Random(4).shuffle(made)
    return made


def same_bytes(top):
    """One file, many files in any order, with repetitions: the same report."""
    folder = os.path.join(top, "same")
    make(folder, "--clients", "100", "--apps", "40", "--samples", "40", "--coarse", "0.2", "--bugs", "0.01",
         "--liars", "2",
         "--asleep", "3")
    first, second, third = (os.path.join(top, name) for name in ("a.db", "b.db", "c.db"))
    run("load", folder, "--database", first)
    want = report(first)
    check(json.loads(want)["hogs"] and json.loads(want)["bugs"], "the report has nothing to compare")
    again = run("load", folder, "--database", first)
    check(" 0 samples are new" in again.stdout, again.stdout)
    check(report(first) == want, "a second load changes the report")
    one = os.path.join(top, "one.ndjson")
    with open(one, "w", encoding="utf-8") as file:
        file.writelines(lines_of(folder))
    run("load", one, "--database", second)
    check(report(second) == want, "one file gives another report than many")
    many = os.path.join(top, "many")
    os.mkdir(many)
    made = pieces(folder)
    for i, text in enumerate(made):
        with open(os.path.join(many, f"{i}.json"), "w", encoding="utf-8") as file:
            file.write(text + made[i // 2])
    for part in range(3):
        run("load", *[os.path.join(many, f"{i}.json") for i in range(len(made)) if i % 3 == part], "--database", third)
    check(report(third) == want, "pieces in another order give another report")
    asleep(top, folder, json.loads(want))


def asleep(top, folder, want):
    """Suspend is a rate of its own: it is near the truth, and nothing else in a report depends on it."""
    one, database = os.path.join(top, "awake.ndjson"), os.path.join(top, "awake.db")
    with open(one, "w", encoding="utf-8") as file:
        file.writelines(line for line in lines_of(folder) if '"asleep"' not in line)
    run("load", one, "--database", database)
    awake = json.loads(report(database))
    check(awake.pop("asleep") == {"samples": 0, "clients": 0} and awake.pop("samples") == want["samples"] - 300,
          f"{want['samples']} {awake}")
    rate = want["asleep"]["rate"]
    # coarse gauges are left out
    check(want["asleep"]["samples"] == 300 and 50 < want["asleep"]["clients"] < 100, f"{want['asleep']}")
    check(rate["low"] < 2200 < rate["high"] and rate["high"] - rate["low"] < 1000
          and abs(rate["value"] / 2200 - 1) < 0.15, f"{rate}")
    check(awake == {key: value for key, value in want.items() if key not in ("asleep", "samples")},
          "what is asleep changes what is awake")
    check("While suspended, " in run("report", "--database", os.path.join(top, "a.db")).stdout, "no sentence")


def threads(top):
    """One CPU or all: the same bytes, of all that is in a report."""
    folder, database = os.path.join(top, "threads"), os.path.join(top, "threads.db")
    make(folder, "--clients", "150", "--apps", "40", "--samples", "40", "--coarse", "0.2", "--bugs", "0.01",
         "--features", "--shadows", "2")
    run("load", folder, "--database", database)
    for words in (["report"], ["app", HOG]):
        words += ["--database", database, "--json"]
        one = subprocess.run([program, *words], capture_output=True, text=True, check=True,
                             preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        check(len(one.stdout) > 1000 and one.stdout == run(*words).stdout,
              f"{words}: one CPU gives another answer than all")


def truth(top):
    folder, database = os.path.join(top, "truth"), os.path.join(top, "truth.db")
    make(folder, "--clients", clients, "--apps", "60", "--samples", "50", "--liars", "3", "--coarse", "0.2",
         "--bugs", "0.01")
    run("load", folder, "--database", database)
    found = judge(folder, report(database))
    print(found)
    check(found["clients"] == int(clients) and found["samples"] == 50 * int(clients), "counts")
    check(found["false"] == 0, "an app without effect is called a hog")
    check(found["true"] >= 0.8 * found["hogs_in_truth"], "hogs are missed")
    check(found["promises_kept"] >= found["true"] - 1, "minutes are outside their bounds")
    check(found["true_bugs"] >= 0.8 * found["bugs_in_truth"], "bugs are missed")
    check(found["true_bugs"] >= 0.8 * found["bugs"], "bugs are invented")


def twins(top):
    """Apps that are always together are named together; one that is often beside a hog is none."""
    folder, database = os.path.join(top, "twins"), os.path.join(top, "t.db")
    make(folder, "--clients", clients, "--apps", "60", "--samples", "40", "--shadows", "3", "--seed", "2")
    path = os.path.join(top, "twins.json")
    with open(path, "w", encoding="utf-8") as file:
        for line in lines_of(folder):
            row = json.loads(line)
            if "v" in row:
                hog = next((key for key, name in row["apps"].items() if name == HOG), None)
                row["apps"] |= {"99": "twin"} if hog else {}
            elif hog and int(hog) in row["apps"]:
                row["apps"].append(99)
            file.write(json.dumps(row) + "\n")
    run("load", path, "--database", database)
    hogs = {hog["app"]: hog for hog in json.loads(report(database))["hogs"]}
    check(hogs.get(HOG, {}).get("together") == ["twin"] and "twin" not in hogs, f"twins: {hogs}")
    check(not any(name.startswith("shadow-") for name in hogs), f"an app beside a hog is called one: {hogs}")
    check("twin is always in use with" in run("report", "--database", database).stdout, "twins have no sentence")


def evenings(top):
    """An app that is in use only in heavy evenings is no hog; one that costs in the same evenings is."""
    folder, database = os.path.join(top, "evenings"), os.path.join(top, "evenings.db")
    make(folder, "--clients", "150", "--apps", "30", "--samples", "200", "--evenings", "2")
    run("load", folder, "--database", database)
    hogs = {hog["app"]: hog["heavy_hours"] for hog in json.loads(report(database))["hogs"]}
    check({name: hours for name, hours in hogs.items() if name.startswith("evening-")} ==
          {"evening-hog-0": True, "evening-hog-1": True}, f"apps of the evening: {hogs}")
    sentence = "is in use mostly in hours in which the battery empties faster anyway"
    for words in (["report"], ["app", "evening-hog-0"]):
        text = " ".join(run(*words, "--database", database).stdout.split())
        check("evening-hog-0 " + sentence in text, f"{words} tells no hours: {text}")


def world(top):
    """Power adds up, use depends on circumstances, gauges are coarse, clocks wrong, and one device of 20 lies."""
    folder, database, path = (os.path.join(top, name) for name in ("world", "world.db", "world.json"))
    maker = os.path.join(os.path.dirname(generator), "make-world")
    subprocess.run([maker, folder, "--seed", "3"], check=True)
    run("load", folder, "--database", database)
    with open(path, "w", encoding="utf-8") as file:
        file.write(report(database))
    judged = subprocess.run([maker, "--judge", folder, path], capture_output=True, text=True, check=True)
    found, bugs = json.loads(judged.stdout), json.loads(report(database))["bugs"]
    print(found)
    check(found["large"] == 5 and found["large_found"] == 5 and found["false"] == [], "hogs are missed, or invented")
    check(found["inside"] >= found["hogs"] - 1, "minutes are outside their bounds")
    check(found["true_bugs"] >= 0.9 * max(found["bugs"], found["bugs_in_truth"]), "bugs are missed, or invented")
    check(found["thin"] == ["night"], "an app that is in use only in the dark")
    said = run("report", "--database", database).stdout
    check("mostly not found" in said, "nothing is said of screens")
    check("night cannot be told from its circumstances" in said, "no sentence about thin strata")
    check(all(bug["watts"] < 30 for bug in bugs), "a bug that the battery contradicts is told")


def bug_of_a_part(top):
    """A component that takes much more on one device is a bug though the app's power as a whole is not so unlike
    others'; parts in one sample of four are enough, and without any nothing is called."""
    def lines(number, cpu, wifi, parts):
        yield json.dumps({"v": 1, "client": f"{number:032x}", "first": 0, "apps": {"1": "sync"}})
        for i in range(12):
            row = {"t": i * 10**12, "t2": i * 10**12 + 6 * 10**11, "level_ppm": 900001, "level2_ppm": 890001,
                   "apps": [1], "own_mj": {"1": cpu + wifi}}
            yield json.dumps({**row, **({"parts_mj": {"1": {"cpu": cpu, "wifi": wifi}}} if parts
                                        and i % 4 == 0 else {})})

    def bugs(parts):
        path, database = os.path.join(top, f"part-{parts}"), os.path.join(top, f"part-{parts}.db")
        with open(path, "w", encoding="utf-8") as file:
            for number in range(30):  # CPU energy differs by a factor of 4, and WiFi by some percent
                cpu = round(4000 * 4 ** (number / 29))
                file.writelines(line + "\n"
                                for line in lines(number, cpu, 18000 if number == 9 else 1000 + 10 * number, parts))
        run("load", path, "--database", database)
        return json.loads(report(database))["bugs"]

    check(bugs(False) == [], f"without parts: {bugs(False)}")
    found = bugs(True)
    check([int(bug["client"], 16) for bug in found] == [9], f"{found}")
    bug = found[0]
    check(bug["parts"][0]["part"] == "wifi" and bug["others_low"] < bug["others_watts"] < bug["others_high"]
          and bug["watts"] > 2 * bug["others_watts"], f"{bug}")


def bugs_of(top, devices, systems=None):
    """Bugs of devices that each have apps with a power in W: their apps and numbers."""
    path, database = os.path.join(top, "few"), os.path.join(top, "few.db")
    with open(path, "w", encoding="utf-8") as file:
        for number, watts in enumerate(devices):
            ids = {name: str(i) for i, name in enumerate(watts)}
            file.write(json.dumps({"v": 1, "client": f"{number:032x}", "first": 0,
                                   "os": systems[number] if systems else "x",
                                   "apps": {key: name for name, key in ids.items()}}) + "\n")
            for i in range(8):
                file.write(json.dumps({"t": i * 10**12, "t2": i * 10**12 + 6 * 10**11, "level_ppm": 900001,
                                       "level2_ppm": 890001, "apps": [int(key) for key in ids.values()],
                                       "own_mj": {ids[name]: round(60000 * w) for name, w in watts.items()}}) + "\n")
    run("load", path, "--database", database)
    bugs = {(bug["app"], int(bug["client"], 16)) for bug in json.loads(report(database))["bugs"]}
    os.remove(database)
    return bugs


def few_devices(top):
    """Few devices that happen to agree make no bug of one that differs as devices do, but one of a larger excess."""
    spread, devices = random.Random(8), []
    for number in range(40):
        devices.append({f"app-{i}": math.exp(spread.gauss(0, 0.35)) for i in range(9)})
        for name, excess in (("rare", 3), ("broken", 12)):
            if number < 7:
                devices[-1][name] = excess if number == 6 else 1 + 0.02 * number
    bugs = bugs_of(top, devices)
    check(bugs == {("broken", 6)}, f"bugs of few devices: {bugs}")


def wide_and_many(top):
    """Where devices differ much, seven times is a bug; four bugs on 26 devices are some, nine are a kind of use."""
    spread = random.Random(2)
    devices = [{f"app-{i}": math.exp(spread.gauss(0, 0.5)) for i in range(10)} for _ in range(60)]
    for number in range(26):
        devices[number] |= {"four": (1 if number % 7 else 8) * math.exp(spread.gauss(0, 0.1)),
                            "nine": (1 if number % 3 else 8) * math.exp(spread.gauss(0, 0.1))}
    devices[30]["app-3"] = 7
    bugs, want = bugs_of(top, devices), {("four", number) for number in (0, 7, 14, 21)} | {("app-3", 30)}
    check(bugs == want, f"bugs of many devices: {bugs}")


def dear_on_one_system(top):
    """An app that takes 30 times as much on one system has no bug there, but by another excess within that system. And
    its many clients do not make a bug of what other apps do by chance."""
    spread = random.Random(4)
    devices = [{f"app-{i}": math.exp(spread.gauss(0, 0.2)) for i in range(10)} for _ in range(80)]
    systems = ["old" if number % 3 else "new" for number in range(80)]
    for number in range(80):
        devices[number]["player"] = (0.1 if number % 3 else 3) * math.exp(spread.gauss(0, 0.2))
    devices[6]["player"], devices[9]["player"], devices[30]["app-3"] = 6.5, 40, 2.15
    bugs = bugs_of(top, devices, systems)
    check(bugs == {("player", 9)}, f"bugs where one system is dear: {bugs}")


def rare_apps(top):
    """Apps that one device each has are never compared, but cost something, and run at the hours of a hog."""
    path, database, use = os.path.join(top, "rare"), os.path.join(top, "rare.db"), random.Random(4)
    rates, sums = [], [0, 0]
    with open(path, "w", encoding="utf-8") as file:
        for number in range(40):
            names = ["hog", *(f"rare-{number}-{i}" for i in range(10))]
            file.write(json.dumps({"v": 1, "client": f"{number:032x}", "first": 0,
                                   "apps": {str(i): name for i, name in enumerate(names)}}) + "\n")
            with_it, without = [], []
            for i in range(40):
                busy = use.random() < 0.3
                apps = [app for app in range(11) if use.random() < (0.7 if busy else 0.15)]
                rate = 15000 * (1 + (0.15 if 0 in apps else 0) + 0.03 * len(set(apps) - {0})) * \
                    math.exp(use.gauss(0, 0.1))
                (with_it if 0 in apps else without).append(rate)
                file.write(json.dumps({"t": i * 10**12, "t2": i * 10**12 + 9 * 10**11, "level_ppm": 950001,
                                       "level2_ppm": 950001 - round(rate * 0.9), "apps": apps}) + "\n")
            rates.append((sum(with_it) + sum(without)) / 40)
            sums[0] += 15000 * 0.15 / rates[-1] / 40
            sums[1] += sum(without) / len(without) / rates[-1] / 40
    run("load", path, "--database", database)
    found = json.loads(report(database))
    hog = next(hog for hog in found["hogs"] if hog["app"] == "hog")
    truth = (1 / sums[1] - 1 / sum(sums)) / (found["middle_rate"] * 60e-9)
    check(hog["minutes"]["low"] <= truth <= hog["minutes"]["high"], f"beside rare apps: {truth}, not {hog['minutes']}")


def reasons(top):
    """Features and versions on which a hog depends, the component of a bug; and parts of a report by commands and as a
    page."""
    folder, database, page = (os.path.join(top, name) for name in ("why", "why.db", "why.html"))
    make(folder, "--clients", clients, "--apps", "60", "--features", "--bugs", "0.005")
    run("load", folder, "--database", database)
    text = report(database)
    answer, found = json.loads(text), judge(folder, text)
    print(found)
    check(found["false"] == 0 and found["true_reasons"] >= 0.7 * found["true"]
          and found["true_reasons"] >= 0.9 * found["reasons"], "reasons")
    check(answer["bugs"] and all(bug["parts"][0]["part"] == "wifi" and bug["parts"][0]["share"] > 0.9
                                 for bug in answer["bugs"]), "parts")
    for key in ("hogs", "bugs"):
        check(json.loads(run(key, "--database", database, "--json").stdout) == {key: answer[key]},
              f"{key} are others than in the report")
    check(all(why["gain"]["low"] < why["minutes_there"] - why["minutes_else"] < why["gain"]["high"]
              for hog in answer["hogs"]
              for why in hog.get("why", [])), "a gain is outside of its bounds")
    hog = next(hog["app"] for hog in answer["hogs"] if any(why["feature"] == "version" for why in hog.get("why", [])))
    versions = {row["version"]: row
                for row in json.loads(run("versions", hog, "--database", database, "--json").stdout)["versions"]}
    check(set(versions) == {"1.0", "2.0"} and versions["2.0"]["effect_low"] > versions["1.0"]["effect_high"],
          f"{versions}")
    one = json.loads(run("app", hog, "--database", database, "--json").stdout)
    check(one["hog"] and one["with"]["points"][2]["rate"] > one["without"]["points"][2]["rate"]
          and one["hours_more"] is None, f"{one}")
    check(json.loads(run("app", one["hash"], "--database", database, "--json").stdout) == one,
          "the hash names another app than the name")
    check(all(row["hours"] > 0 for row in answer["not_yet"]), "not_yet")
    check("no client has" in run("app", "nonsense", "--database", database, code=3).stderr,
          "an unknown app has no sentence")
    for words in (("app", hog), ("versions", hog), ("hogs",), ("bugs",)):
        check(run(*words, "--database", database).stdout.count("\n") > 3, f"{words} print nothing")
    run("report", "--database", database, "--html", page)
    with open(page, encoding="utf-8") as file:
        html = file.read()
    xml.dom.minidom.parseString(re.sub(r"<(meta|link)([^>]*[^/>])>", r"<\1\2/>",
                                       html.replace("<!DOCTYPE html>", "").replace("&nbsp;", " ")))
    check(hog in html and not re.search(r"(src|href)=|url\(", html), "the page loads something, or misses a hog")
    check("cannot be written" in run("report", "--database", database, "--html", "/proc/no.html", code=1).stderr,
          "no sentence")


def folder_answers(top):
    """A folder that devices share: uploads, reports, and one that goes."""
    folder, database = os.path.join(top, "shared"), os.path.join(top, "shared.db")
    make(folder, "--clients", "8", "--apps", "10")
    clients = []
    for text in pieces(folder):
        header = json.loads(text.split("\n", 1)[0])
        clients.append(header["client"])
        with open(os.path.join(folder, "%s-%020d.ndjson" % (header["client"], header["first"])), "w",
                  encoding="utf-8") as file:
            file.write(text)
    os.remove(os.path.join(folder, "00000000.ndjson.gz"))
    run("answer", folder, "--database", database)
    want = json.loads(report(database, "--client", clients[0]))
    with open(os.path.join(folder, f".{clients[0]}-report.json"), encoding="utf-8") as file:
        got = json.load(file)
    check(all(row["hash"].startswith("h:") for row in got["not_yet"]), "a hash is missing")
    for row in got["not_yet"]:
        del row["hash"]
    check({key: got[key] for key in want} == want and got["k"] == 5 and got["jscore"]["own_rate"] > 0, f"{got}")
    for name in os.listdir(folder):
        if name.startswith(clients[0]):
            os.remove(os.path.join(folder, name))
    for client, inside in ((clients[0], clients[0]), (clients[1], clients[0])):
        with open(os.path.join(folder, f"{client}-forget.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps({"v": 1, "client": inside, "forget": True}) + "\n" if client == inside
                       else "nonsense\n")
    ran = run("answer", folder, "--database", database)
    check("there is no line in it" in ran.stderr, ran.stderr)
    with open(os.path.join(folder, f".{clients[0]}-forgotten.json"), encoding="utf-8") as file:
        gone = json.load(file)
    check(gone["client"] == clients[0] and gone["forgotten"]["samples"] == 60, f"{gone}")
    check(not os.path.exists(os.path.join(folder, f".{clients[0]}-report.json")),
          "the report of a client that went stays")
    check(json.loads(report(database))["clients"] == 7, "a client that went is counted")


def full_disk(top):
    """A disk that is full in the middle of a load: a sentence, and the report that was there."""
    folder, disk, database = os.path.join(top, "up"), os.path.join(top, "disk"), os.path.join(top, "disk", "d.db")
    make(folder, "--clients", "60", "--apps", "20")
    path = os.path.join(top, "one.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER % (1, 0) + "\n" + SAMPLE % (0, 10**12, "1") + "\n")
    os.mkdir(disk)
    script = ('mount -t tmpfs -o size=400k none "$1" || exit 77; "$2" load "$3" --database "$4" || exit 1; "$2" '
              'report --database "$4" --json > "$1/../before";'
              '"$2" load "$5" --database "$4"; echo $? > "$1/../code"; "$2" report --database "$4" --json > '
              '"$1/../after"')
    ran = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", disk, program, path, database, folder],
                         capture_output=True, text=True)
    if ran.returncode == 77 or "unshare" in ran.stderr:
        print("not tested: a full disk needs a namespace of its own:", ran.stderr.strip())
        return
    said = {}
    for name in ("before", "code", "after"):
        with open(os.path.join(top, name), encoding="utf-8") as file:
            said[name] = file.read()
    check(said["code"] == "1\n" and "disk is full" in ran.stderr and "nothing was loaded" in ran.stderr,
          f"{said['code']} {ran.stderr}")
    check(said["before"] == said["after"] and json.loads(said["after"])["samples"] == 1,
          "a full disk changes the report")


HOG = "app-10"
HEADER = '{"v":1,"client":"%032x","first":%d,"apps":{"1":"a","2":"b"}}'
SAMPLE = '{"t":%d,"t2":%d,"level_ppm":900001,"level2_ppm":890001,"apps":[%s]}'


def wrong_lines(top):
    database, path = os.path.join(top, "w.db"), os.path.join(top, "wrong.ndjson")
    good = [SAMPLE % (i * 10**12, i * 10**12 + 6 * 10**11, "1,1" if i % 2 else "") for i in range(6)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([good[0], HEADER % (1, 0), good[0], "{nonsense", good[1], SAMPLE % (5, 4, "1"),
                              SAMPLE % (5, 6, "9"), "",
                              good[2], '{"v":1,"client":"x"}', good[3], HEADER % (2, 0), good[3], good[4]]))
    ran = run("load", path, os.path.join(top, "missing"), "--database", database, code=1)
    check("5 samples are new" in ran.stdout and "6 lines are left out" in ran.stdout, ran.stdout)
    for line, what in ((1, "header"), (4, "not JSON"), (6, "clock"), (7, "ID"), (10, "client")):
        check(any(f"wrong.ndjson:{line}:" in said and what in said for said in ran.stderr.splitlines()),
              f"line {line}: {ran.stderr}")
    check("missing" in ran.stderr, ran.stderr)
    answer = json.loads(report(database))
    check(answer["clients"] == 2 and answer["samples"] == 5 and answer["hogs"] == [], answer)
    for words in (("report",), ("hogs",)):
        check("Not enough yet" in run(*words, "--database", database).stdout, f"{words}: few devices have no sentence")
    check("has no J-score" in run("report", "--client", "0" * 32, "--database", database).stdout,
          "an unknown client has no sentence")
    run("report", "--database", database, "--json", "--html", os.path.join(top, "page.html"), code=2)
    with gzip.open(path + ".gz", "wb") as file:
        file.write(b"\n".join([(HEADER % (3, 0)).encode(), *(line.encode() for line in good * 50)]))
    with open(path + ".gz", "rb+") as file:
        file.truncate(os.path.getsize(path + ".gz") - 12)
    ran = run("load", path + ".gz", "--database", database, code=1)
    check("damaged or cut off" in ran.stderr, ran.stderr)


def private_databases(top):
    """Only its owner reads a database, and a link is none."""
    database, link = os.path.join(top, "private.db"), os.path.join(top, "link.db")
    made = os.path.join(top, "one.json")
    with open(made, "w", encoding="utf-8") as file:
        file.write(HEADER % (1, 0) + "\n" + SAMPLE % (0, 10**12, "1") + "\n")
    before = os.umask(0)
    run("load", made, "--database", database)
    os.umask(before)
    check(os.stat(database).st_mode & 0o777 == 0o600, f"mode {os.stat(database).st_mode:o}")
    os.symlink(database, link)
    for words in (("load", made), ("report",)):
        check("this is a link" in run(*words, "--database", link, code=1).stderr, "a link is followed")
    os.symlink(os.path.join(top, "elsewhere"), os.path.join(top, "dangling.db"))
    run("load", made, "--database", os.path.join(top, "dangling.db"), code=1)
    check(not os.path.exists(os.path.join(top, "elsewhere")), "a database is made where a link points to")


def wrong_databases(top):
    path = os.path.join(top, "no.db")
    run("report", "--database", path, "--json", code=1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("no database " * 100)
    ran = run("load", path, "--database", path, code=1)
    check("not a database" in ran.stderr, ran.stderr)
    run("report", code=2)
    run("load", "--database", path, code=2)
    run("load", path, code=2)
    run("report", "--database", path, "--client", "me", code=2)
    run("nothing", code=2)


with tempfile.TemporaryDirectory() as where:
    same_bytes(where)
    threads(where)
    truth(where)
    twins(where)
    evenings(where)
    wrong_lines(where)
    wrong_databases(where)
    private_databases(where)
    world(where)
    bug_of_a_part(where)
    few_devices(where)
    wide_and_many(where)
    dear_on_one_system(where)
    rare_apps(where)
    reasons(where)
    folder_answers(where)
with tempfile.TemporaryDirectory() as where:
    full_disk(where)
sys.exit(1 if failures else 0)
