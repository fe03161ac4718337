#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast trace --from T`: each poll that was recorded, with sums that are those of `joulecast cost` and `usage`.

Usage: test-trace-past.py JOULECAST DEVICE-INI SCENARIO-INI
"""
import datetime
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

JOULECAST, DEVICE, SCENARIO = sys.argv[1:]
VIRTUAL = ["--device", "virtual:" + DEVICE]
LINE = {"time", "elapsed_s", "suspend_s", "measured_w", "total_w", "level", "base_w", "profile_basis", "apps",
        "base_usage",
        "schema"}
TOTALS = {"from", "to", "elapsed_s", "suspend_s", "measured_j", "total_j", "level", "base_j", "profile_basis", "apps",
          "base_usage"}
PARTS = {"cpu", "display", "disk", "wifi", "gpu", "cellular", "gps", "audio", "camera", "unseen"}


def run(*arguments, code=0):
    done = subprocess.run([JOULECAST, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-500:], done.stderr)
    assert (done.stderr == "") == (code == 0), (arguments, done.stderr)
    return done.stdout if code == 0 else done.stderr


def near(got, want, what):
    assert abs(got - want) <= 1e-6 * max(abs(want), 1), (what, got, want)


def lines_of(*arguments):
    lines = [json.loads(line) for line in run("trace", "--json", *arguments).splitlines()]
    return lines[:-1], lines[-1]["totals"]


def sums(where, every_s):
    """Polls add up to the last line, and that is what cost and usage say."""
    polls, totals = lines_of("--from", "24h", *where)
    cost = json.loads(run("cost", "--json", *where))
    assert len(polls) == 7200 / every_s and set(totals) == TOTALS, (len(polls), totals)
    energy = {}
    for poll in polls:
        assert set(poll) == LINE and poll["elapsed_s"] == every_s and poll["measured_w"] > 0, poll
        apps = sum(app["power_w"]["value"] for app in poll["apps"])
        near(apps + poll["base_w"], poll["total_w"]["value"], poll)
        for app in poll["apps"]:
            assert set(app) == {"app", "state", "power_w", "components_w",
                                "usage"} and set(app["components_w"]) == PARTS, app
            key = app["app"], app["state"]
            energy[key] = energy.get(key, 0) + app["power_w"]["value"] * poll["elapsed_s"]
    near(sum(poll["total_w"]["value"] * poll["elapsed_s"] for poll in polls), totals["total_j"]["value"], "total")
    assert {(app["app"], app["state"]) for app in totals["apps"]} == set(energy), totals
    for app in totals["apps"]:
        assert set(app) == {"app", "state", "energy_j", "components_j",
                            "usage"} and set(app["components_j"]) == PARTS, app
        near(app["energy_j"]["value"], energy[app["app"], app["state"]], app)
    assert totals["total_j"] == cost["total"]["energy_j"], (totals, cost)
    assert totals["base_j"] == cost["base"]["energy_j"], (totals, cost)
    assert totals["measured_j"] == cost["measured"]["energy_j"] and totals["elapsed_s"] == 7200, totals
    assert (totals["from"], totals["to"]) == (cost["from"], cost["to"])
    usage = json.loads(run("usage", "--json", *where[:-2]))
    assert {(app["app"], app["state"]): app["usage"] for app in usage["apps"]} == \
        {(app["app"], app["state"]): app["usage"] for app in totals["apps"]}
    assert usage["base"] == totals["base_usage"]


def parts_of_it(where):
    """--from, --to, --count and --app choose; the sums are of what was shown."""
    polls, totals = lines_of("--from", "24h", *where)
    middle = datetime.datetime.strptime(polls[99]["time"], "%Y-%m-%dT%H:%M:%SZ").isoformat() + "Z"
    first, first_totals = lines_of("--to", middle, *where)
    second, second_totals = lines_of("--from", middle, *where)
    # the time is in whole seconds
    assert first + second == polls and len(first) in (99, 100), (len(first), len(second))
    near(first_totals["total_j"]["value"] + second_totals["total_j"]["value"], totals["total_j"]["value"], "halves")
    three, three_totals = lines_of("--from", "24h", "--count", 3, *where)
    assert three == polls[:3] and three_totals["elapsed_s"] == 3 * three[0]["elapsed_s"], three_totals
    phone, phone_totals = lines_of("--from", "24h", "--app", "phone", *where)
    assert lines_of("--from", "24h", "--app", "PHON", *where) == (phone, phone_totals)  # a part of its name
    assert len(phone) == len(polls) and {app["app"] for line in phone for app in line["apps"]} == {"phone"}
    assert [app for app in totals["apps"] if app["app"] == "phone"] == phone_totals["apps"]


def table(where):
    """Usage is shown below its power, in the same column; the last rows are in joules."""
    lines = run("trace", "--from", "24h", "--count", 2, *where).splitlines()
    assert re.match(r"\d{4}-\d\d-\d\d$", lines[0]), lines
    head = lines[1]
    assert head.split() == ["time", "app", "state", "W", "cpu", "display", "disk", "wifi", "gpu"], lines
    game = next(i for i, line in enumerate(lines) if " angry-birds " in line)
    ends = {name: head.index(name) + len(name) for name in ("cpu", "display", "wifi")}
    power, used = ({name: line[end - 9:end].strip() for name, end in ends.items()} for line in lines[game:game + 2])
    assert float(power["cpu"]) > 0 and used["cpu"] == "110 %", (power, used)  # 0.8 and 0.3 of a core
    assert float(power["display"]) > 0 and used["display"] == "100 %", (power, used)
    assert re.match(r"\d+ kB$", used["wifi"]), (power, used)
    total = next(i for i, line in enumerate(lines) if line.startswith("total"))
    assert lines[total].split() == ["total", "app", "state", "J", "cpu", "display", "disk", "wifi", "gpu"], lines
    joules = [float(line[45:54]) for line in lines[total + 1:] if line[45:54].strip()]
    assert abs(sum(joules[1:]) - joules[0]) < 0.01, lines[total:]
    assert any(line[ends["cpu"] - 9:ends["cpu"]].strip() == "11.0 s" for line in lines[total:]), lines[total:]
    assert not any(line != line.rstrip() for line in lines if "%" in line or " s" in line), lines


def held(folder):
    """Parts that apps hold have their own columns, also if there is a cellular radio."""
    device, scenario, database = (os.path.join(folder, name) for name in ("held.ini", "held-scenario.ini", "held.db"))
    with open(DEVICE, encoding="utf-8") as file, open(device, "w", encoding="utf-8") as out:
        out.write(file.read() + "\n[gps]\non_mw = 300\n\n[audio]\non_mw = 100\n\n[camera]\non_mw = 500\n"
                  "\n[radio cellular]\ninitial = idle\n\n[radio cellular idle]\npower_mw = 9\n")
    with open(scenario, "w", encoding="utf-8") as out:
        out.write("[scenario]\n[segment 1]\napp = map\nstate = background\nstart_s = 0\nlength_s = 30\ngps = on\n"
                  "[segment 2]\napp = call\nstate = background\nstart_s = 15\nlength_s = 15\naudio = on\ncamera = on\n")
    run("simulate", "--device", "virtual:" + device, "--scenario", scenario, "--database", database)
    lines = run("trace", "--from", "24h", "--database", database, "--profile", device).splitlines()
    ends = {name: lines[1].index(name) + len(name) for name in ("cellular", "gps", "audio", "camera")}
    used = {name: {column: line[end - 9:end].strip() for column, end in ends.items()}
            for name in ("map", "call") for before, line in zip(lines, lines[1:]) if f" {name} " in before
            and "%" in line}
    assert used == {"map": {"cellular": "", "gps": "100 %", "audio": "", "camera": ""},
                    "call": {"cellular": "", "gps": "", "audio": "50 %", "camera": "50 %"}}, (used, lines)


def no_negative_zero(folder, where):
    """A learnt power may be negative; a number that rounds to 0 has no sign."""
    learnt = folder + "/learnt.ini"
    with open(DEVICE, encoding="utf-8") as file, open(learnt, "w", encoding="utf-8") as out:
        out.write(file.read().split("\n[virtual]")[0] + "\n[app 1]\nid = angry-birds\nfront_mw = -0.2\n")
    text = run("trace", "--from", "24h", "--count", 2, *where[:-2], "--profile", learnt)
    assert re.search(r" angry-birds .* 0\.000$", text, re.M) and not re.search(r"-0\.0*\b(?!\d)", text), text
    assert "-0.2 " not in text and "unseen" in text, text


def narrow(where):
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.Popen([JOULECAST, "trace", "--from", "24h", *where], stdout=its)
    os.close(its)
    text = b""
    try:
        while True:
            text += os.read(ours, 65536)
    except OSError:  # EIO: it is done
        os.close(ours)
    lines = text.decode().splitlines()
    assert done.wait() == 0 and max(map(len, lines)) <= 80 and "total" in text.decode(), max(lines, key=len)


def wrong(where, folder):
    assert "not before --to" in run("trace", "--from", "1h", "--to", "2h", *where, code=2)
    for live in ["--interval", "1"], ["--by", "process"], ["--collector", "proc"]:
        assert "are for a live trace" in run("trace", "--from", "24h", *live, *where, code=2)
    assert "joulecast simulate" in run("trace", *where, code=2)
    assert "nosuch was not seen in that time" in run("trace", "--from", "24h", "--app", "nosuch", *where, code=3)
    for command in ["trace", "--from", "24h"], ["usage"]:
        assert "phnoe was not seen in that time; did you mean phone?" in run(*command, "--app", "phnoe", *where, code=3)
    assert "apps and no processes" in run("trace", "--by", "process", "--database", folder + "/none.db",
                                          "--profile", DEVICE, code=2)
    assert "no polls of that time are kept" in run("trace", "--from", "1990-01-01", "--to", "1990-01-02", *where,
                                                   code=3)
    assert "nothing was recorded yet" in run("trace", "--from", "24h", *where[:-2], "--database",
                                             folder + "/none.db", code=3)


def full_disk(where):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([JOULECAST, "trace", "--from", "24h", *where], stdout=full, stderr=subprocess.PIPE,
                              text=True,
                              check=False)
    assert done.returncode == 1 and "could not be written" in done.stderr, done


def by_process():
    """Live: what is busy here is a row with its number."""
    load = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        lines = run("trace", "--by", "process", "--collector", "proc", "--interval", "0.3", "--count", 8, "--json",
                    "--profile",
                    DEVICE.replace("virtual/nexus-7", "profiles/class-tablet")).splitlines()
    finally:
        load.kill()
        load.wait()
    found = [app for line in lines for app in json.loads(line)["apps"] if app["pid"] == load.pid]
    assert found and all(app["process"] == "sh" and app["power_w"]["value"] > 0 for app in found), (load.pid, lines)
    assert all(set(app) == {"app", "pid", "process", "state", "power_w", "components_w"} for app in found), found


def main():
    with tempfile.TemporaryDirectory() as folder:
        for every_s in 30, 5:
            database = folder + "/usage%d.db" % every_s
            run("simulate", *VIRTUAL, "--scenario", SCENARIO, "--database", database, "--interval", every_s)
            sums([*VIRTUAL, "--database", database, "--profile", DEVICE], every_s)
        where = [*VIRTUAL, "--database", database, "--profile", DEVICE]
        parts_of_it(where)
        table(where)
        held(folder)
        narrow(where)
        no_negative_zero(folder, where)
        wrong(where, folder)
        full_disk(where)
        by_process()


main()
