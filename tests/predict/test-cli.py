#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast` as scripts and people call it: JSON keys, exit codes, one sentence an error, hostile names.

Usage: test-cli.py JOULECAST DEVICE-INI SCENARIO-INI MACHINES-DIR
"""
import datetime
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, DEVICE, SCENARIO, MACHINES = sys.argv[1:]
INTERVAL = {"value", "low", "high"}
HOSTILE = "\x1b[31mred\u202e \x07\"'\\; rm -rf, \u0628\u4f60"


def run(*arguments, code=0, env=None):
    done = subprocess.run([JOULECAST, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-500:], done.stderr)
    if code == 0:
        assert not done.stderr or "warning" in done.stderr, (arguments, done.stderr)
    else:
        assert done.stdout == "", (arguments, done.stdout)
        lines = done.stderr.splitlines()
        assert 1 <= len(lines) <= 3 and done.stderr.startswith("joulecast: "), (arguments, done.stderr)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stderr), done.stderr
    return done.stdout if code == 0 else done.stderr


def in_terminal(columns, *arguments, **env):
    """Output of joulecast on a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = subprocess.Popen([JOULECAST, *map(str, arguments)], stdout=its, stdin=subprocess.DEVNULL,
                            env={key: value for key, value in {**os.environ, "TERM": "xterm", **env}.items() if value})
    os.close(its)
    text = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # EIO: the last process that had it open has ended
            break
        text += more
    os.close(ours)
    assert done.wait() == 0, arguments
    return text.decode().replace("\r\n", "\n")


def keys_in_a_narrow_terminal(folder):
    """`profile show`: what is left out is not the end of a key."""
    with open(folder + "/disks.ini", "w", encoding="utf-8") as file:
        file.write("[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 9\n[battery]\nenergy_full_mwh = 9000\n"
                   "[base]\npower_mw = 100 5\n[cpu 0]\ncpus = 0\nactive_mw.1056000 = 1200 9\nactive_mw.1056001 = "
                   "1300 2000\n"
                   "[disk mmcblk0]\nread_mj_per_mb = 3 1\nwrite_mj_per_mb = 9 1\n")
    for profile in ("nexus-one", "nexus-7-sapp", DEVICE, folder + "/disks.ini"):
        keys = [coefficient["key"]
                for coefficient in json.loads(run("profile", "show", profile, "--json"))["coefficients"]]
        for columns in (40, 60, 80):
            text = in_terminal(columns, "profile", "show", profile, NO_COLOR="1")
            shown = {line.split()[0]: line.split()[1] for line in text.splitlines() if line.split()[1:]}
            assert set(keys) <= set(shown) and re.match(r"[\d.]+$", shown[keys[0]]), (profile, columns, text)


def tables_in_a_narrow_terminal(database):
    """`usage` keeps the CPU and leaves out what has no value first; `apps` has no column without any."""
    for columns in (60, 80, 200):
        text = in_terminal(columns, "usage", *database, NO_COLOR="1")
        heads = next(line for line in text.splitlines() if line.startswith("App "))
        assert len(heads) <= columns and "CPU" in heads and "Screen" in heads and "Camera" not in heads, text
    heads = next(line for line in run("apps", *database).splitlines() if line.startswith("App "))
    assert heads.split() == ["App", "Foreground", "Background", "Last", "seen", "First", "seen"], heads


def unpriced_and_ranges(folder):
    """Bytes that no coefficient prices, and those of one of two storages, are told of, as text and as JSON."""
    table = folder + "/bytes.csv"
    with open(folder + "/two.ini", "w", encoding="utf-8") as file:
        file.write("[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 9\n[battery]\nenergy_full_mwh = 9000\n"
                   "[cpu 0]\ncpus = 0\nactive_mw.1056000 = 1200 9\nshared_mw.1056000 = 0 0\n"
                   "[disk mmcblk0]\nread_mj_per_mb = 3 1\n[disk sda]\nread_mj_per_mb = 9 1\n")
    for modem, read, spread in ((5000, 0, 0), (0, 100e6, 0.3), (5000, 100e6, 0.3)):
        with open(table, "w", encoding="utf-8") as file:
            file.write("name,state,time_ms,display_ms,1056000,read_bytes,write_kb,rx_kb,other_rx_bytes\n"
                       "a,background,1000,0,50,%d,0,0,%d\n" % (read, modem))
        asked = ["cost", "--usage", table, "--profile", folder + "/two.ini"]
        answer, text = json.loads(run(*asked, "--json")), " ".join(run(*asked).split())
        said = "network (other than WiFi)" in text
        assert ("network" in answer["not_measured"]) == said == (modem > 0), (answer, text)
        assert abs(answer["disk_spread_j"] - spread) < 1e-9, answer
        assert ("Bytes are not counted by storage" in text and "0.300 J to either side" in text) == (spread > 0), text


def unwritten(where, folder):
    """Output that cannot be written is an error, and goes to no other file, also if stdout was closed."""
    for arguments in (["--help"], ["cost", *where], ["cost", "--json", *where], ["doctor"], ["poll", "--help"],
                      ["focus", "--help"], ["focus", "--list"],
                      ["poll", "--count", "1", "--database", folder + "/closed.db"],
                      ["calibrate", "--device", "virtual:" + DEVICE, "--dry-run"],
                      ["trace", "--count", "1", "--profile", DEVICE]):
        for closed in (False, True):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([JOULECAST, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                      stdin=subprocess.DEVNULL, preexec_fn=(lambda: os.close(1)) if closed else None)
            said = done.stderr.splitlines()
            assert done.returncode == 1 and "could not be written" in said[-1], (arguments, closed, done)


def terminal(where):
    """Tables and sentences fit a terminal of 80 columns and of 40; where there is room, nothing is left out."""
    for columns, shown, hidden in ((120, "CI Rate Power Energy", ""), (80, "CI Rate", "Power Energy"),
                                   (60, "Battery CI", "Rate Energy"), (40, "Battery", "Rate Time")):
        text = in_terminal(columns, "cost", *where, NO_COLOR="1")
        assert max(map(len, text.split("\n\n", 1)[1].splitlines())) <= columns, text
        assert all(word in text for word in shown.split()) and not any(word in text for word in hidden.split()), text
        assert "\x1b" not in text and "\x1b[1m" in in_terminal(columns, "cost", *where, NO_COLOR="")
        table = in_terminal(columns, "cost", "--by", "component", *where, NO_COLOR="1").split("\n\n", 1)[1]
        assert max(map(len, table.splitlines())) <= columns, table
        assert all(word in table for word in ("CPU", "Idle", "Sum")), table
    for columns in 80, 40:
        for arguments in ["doctor"], ["budget", "--app", "angry-birds", "--standby", "3h", "--reserve", "phone=10m",
                                      *where]:
            text = in_terminal(columns, *arguments, NO_COLOR="1").split("\n\n", 1)[1]
            wide = [line for line in text.splitlines() if len(line) > columns]
            assert all(len(line.split()[-1]) > columns - 24 for line in wide), text  # a path is not torn


def is_interval(value, known=True):
    assert set(value) == INTERVAL, value
    if known:
        assert value["low"] <= value["value"] <= value["high"], value


def cost(where, folder):
    answer = json.loads(run("cost", "--json", *where))
    assert set(answer) == {"schema", "level", "profile", "validated", "profile_basis", "from", "to", "recorded_s",
                           "measured", "total", "base", "unexplained",
                           "not_measured", "cpu_spread_j", "disk_spread_j", "apps"}
    assert set(answer["measured"]) == {"energy_j", "percent", "interval_j"}
    text = run("cost", *where)
    for what in "measured", "unexplained":
        is_interval(answer[what]["interval_j"])
        assert answer[what]["interval_j"]["value"] == answer[what]["energy_j"], answer
        # one step of the level is 1 %
        assert answer[what]["interval_j"]["high"] - answer[what]["energy_j"] > 0.77 * 540
    assert answer["unexplained"]["interval_j"]["low"] < 0 < answer["unexplained"]["interval_j"]["high"], answer
    assert re.search(r"^unattributed +cannot tell +-\S+ \.\. \d\S* ", text, re.M), text
    percent, low, high = map(float, re.search(r"^battery +(\S+) % +(\S+) \.\. (\S+) ", text, re.M).groups())
    assert abs(percent - answer["measured"]["percent"]) < 0.006, (text, answer)  # one definition, as of the apps
    assert abs(answer["measured"]["percent"] - answer["measured"]["energy_j"] / 540) < 1e-9
    assert low < percent < high
    assert set(answer["base"]) == {"energy_j",
                                   "parts_j"} and set(answer["base"]["parts_j"]) == {"idle", "wifi", "display"}
    assert set(answer["total"]) == {"energy_j", "percent"} and set(answer["unexplained"]) == {"energy_j", "interval_j"}
    is_interval(answer["total"]["energy_j"])
    total = 0
    for app in answer["apps"]:
        assert set(app) == {"app", "name", "state", "active_s", "energy_j", "percent", "percent_per_minute",
                            "components_j"}, app
        assert set(app["components_j"]) == {"cpu", "display", "disk", "wifi", "gpu", "cellular", "gps", "audio",
                                            "camera", "unseen"}
        assert app["state"] in ("foreground", "background")
        for key in ("energy_j", "percent", "percent_per_minute"):
            is_interval(app[key])
        assert abs(app["percent"]["value"] - app["energy_j"]["value"] / 540) < 1e-9
        parts = sum(value for value in app["components_j"].values() if value is not None)
        assert abs(parts - app["energy_j"]["value"]) < 1e-9
        total += app["energy_j"]["value"]
    base = answer["base"]["energy_j"]
    assert abs(sum(answer["base"]["parts_j"].values()) - base) < 1e-9
    assert abs(total + base - answer["total"]["energy_j"]["value"]) < 1e-6
    assert abs(total + base + answer["unexplained"]["energy_j"] - answer["measured"]["energy_j"]) < 1e-6
    names = {(app["app"], app["state"]) for app in answer["apps"]}
    assert {("angry-birds", "foreground"), ("phone", "foreground"), ("system", "background")} <= names

    # Two halves are the whole.
    start = datetime.datetime.strptime(answer["from"], "%Y-%m-%dT%H:%M:%SZ")
    middle = (start + datetime.timedelta(minutes=50)).isoformat() + "Z"
    halves = [json.loads(run("cost", "--json", *span, *where)) for span in (["--to", middle], ["--from", middle])]
    whole = sum(half["total"]["energy_j"]["value"] for half in halves)
    assert abs(whole - answer["total"]["energy_j"]["value"]) < 1e-6 * whole
    recent = json.loads(run("cost", "--json", "--from", "-24h", *where))
    for same in ("24h", "1 d", "24 h 0 min"):  # as answers write a time
        assert json.loads(run("cost", "--json", "--from", same, *where)) == recent, same
    assert recent["total"] == answer["total"]

    table = run("cost", *where)
    assert "angry-birds" in table and "unattributed" in table and "\x1b" not in table
    assert table.index("angry-birds") < table.index("system ")


def by_component(where):
    """Its rows are those of JSON, each row adds up to its sum, and each column to that of the total."""
    answer = json.loads(run("cost", "--json", *where))
    question = "cost", "--by", "component", *where
    for text in run(*question), in_terminal(80, *question, NO_COLOR="1"):
        lines = text.split("\n\n")[1].splitlines()
        columns = {name: lines[0].index(name) + len(name) for name in ("CPU", "Display", "WiFi", "Idle", "Sum")}
        assert max(map(len, lines)) <= 80 and "GPU" not in lines[0], text  # nothing used it
        cells = {}
        for line in lines[1:]:
            numbers = {name: re.search(r"-?[\d.]+$", line[:end]) for name, end in columns.items()}
            row = {name: float(number.group()) for name, number in numbers.items() if number}
            if row:
                cells[re.split(r" +-?\d", line)[0].strip()] = row
        game = next(app for app in answer["apps"] if (app["app"], app["state"]) == ("angry-birds", "foreground"))
        shown = next(row for name, row in cells.items() if name.startswith("angry-birds"))
        assert abs(shown["Sum"] - game["energy_j"]["value"]) < 0.06, (shown, game)
        assert abs(shown["CPU"] - game["components_j"]["cpu"]) < 0.06, (shown, game)
        assert abs(cells["base"]["Idle"] - answer["base"]["parts_j"]["idle"]) < 0.06, (cells, answer["base"])
        parts = [row for name, row in cells.items() if name not in ("model total", "unattributed", "battery")]
        assert len(parts) > 3, cells
        for name in columns:
            assert abs(sum(row.get(name, 0)
                           for row in parts) - cells["model total"].get(name, 0)) < 0.05 * len(cells), (name, text)
        for row in *parts, cells["model total"]:
            assert abs(sum(row.values()) - 2 * row["Sum"]) < 0.3, row
        assert abs(cells["model total"]["Sum"] + cells["unattributed"]["Sum"] - cells["battery"]["Sum"]) < 0.2, cells
    assert json.loads(run("cost", "--json", "--by", "component", *where)) == answer
    assert "component" in run("cost", "--by", "week", *where, code=2)


def units():
    """Percent of the battery for 10 s, for a MB, and each, as SApp's figure 2 has them."""
    shown = json.loads(run("profile", "show", "nexus-7-sapp", "--json"))
    rows = {line.split()[0]: line.split(None, 2)[1:] for line in
            run("profile", "show", "nexus-7-sapp", "--units").split("\n\n")[1].splitlines()[1:]}
    assert len(rows) == len(shown["coefficients"]) == 16, rows
    for row in shown["coefficients"]:
        mj = row["value"] * (10 if row["unit"] == "mW" else 1)
        assert abs(row["percent"] - mj * 1e-3 / 540) < 1e-12, row  # 1 % of 15 Wh is 540 J
        assert row["percent_unit"] == {"mW": "% per 10 s", "mJ/MB": "% per MB"}[row["unit"]], row
        value, unit = rows[row["key"]]
        assert abs(float(value) / row["percent"] - 1) < 0.005 and unit == row["percent_unit"], (row, rows[row["key"]])
    phone = run("profile", "show", "class-phone", "--units")
    wake = next(row for row in json.loads(run("profile", "show", "class-phone", "--json"))["coefficients"]
                if row["key"] == "wifi.wake_mj")
    assert wake["percent_unit"] == "% each", wake
    assert re.search(r"^wifi.wake_mj +%.3g\d* +%% each +not resolved, below 0\.\d+$" % wake["percent"], phone, re.M)
    assert "--units goes with profile show only" in run("profile", "list", "--units", code=2)


def usage_table(folder):
    """JSON names each missing component once, by its plain key; the reason is only in the text for people."""
    profile, table = folder + "/plain.ini", folder + "/plain.csv"
    with open(profile, "w", encoding="utf-8") as file:
        file.write("[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 10000\n[cpu 0]\n"
                   "active_mw.384000 = 100\nshared_mw.384000 = 50\n[wifi]\nrx_mj_per_mb = 350\n")
    with open(table, "w", encoding="utf-8") as file:
        file.write("name,state,time_ms,display_ms,384000,read_kb,write_kb,rx_kb\na,background,60000,0,100,1,0,1\n")
    where = ["--usage", table, "--profile", profile]
    answer = json.loads(run("cost", "--json", *where))
    missing = answer["not_measured"]
    assert len(set(missing)) == len(missing) and {"disk", "gpu", "wifi.tx_mj_per_mb"} <= set(missing), missing
    assert not any(" " in key for key in missing), missing
    assert answer["apps"][0]["components_j"]["disk"] is None and answer["apps"][0]["components_j"]["display"] == 0
    assert "not counted" in run("cost", *where)


def bare(where, folder):
    """Energy by a profile without prices for the usage is shown as '?' and null, and not as 0 with an interval of 0."""
    profile = folder + "/bare.ini"
    with open(profile, "w", encoding="utf-8") as file:
        file.write("[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n[base]\npower_mw = 150 3\n"
                   "[fit]\ndegrees_of_freedom = 20\n")
    where = ["--profile", profile, *where[2:]]
    answer = json.loads(run("cost", "--json", *where))
    unknown = dict.fromkeys(INTERVAL)
    for app in answer["apps"]:
        assert app["energy_j"] == app["percent"] == app["percent_per_minute"] == unknown, app
    assert abs(answer["total"]["energy_j"]["value"] - answer["base"]["energy_j"]) < 1e-9, answer
    assert abs(answer["total"]["energy_j"]["value"] + answer["unexplained"]["energy_j"]
               - answer["measured"]["energy_j"]) < 1e-6, answer
    answer = json.loads(run("predict", "--app", "angry-birds", "--minutes", "20", "--json", *where))
    assert answer["energy_j"] == answer["percent"] == unknown and answer["device_percent"]["value"] > 0, answer
    text = run("predict", "--app", "angry-birds", "--minutes", "20", *where)
    assert re.search(r"^its own +\?$", text, re.M), text
    with open(profile, "w", encoding="utf-8") as file:
        file.write("[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n")
    question = ["budget", "--app", "angry-birds", "--reserve", "phone=10m"]
    answer = json.loads(run(*question, "--json", *where))
    assert answer["minutes"] == unknown and answer["reserved_percent"] is None, answer
    text = run(*question, *where)
    assert text.startswith("How long angry-birds can run is unknown: "), text
    assert ", ? % are" in text and "nan" not in text, text
    text = run("cost", *where)
    assert "unattributed" not in text, text  # nor is it the charger's doing that there is none
    assert re.search(r"^angry-birds +foreground +\? +\? +45 min", text, re.M) and "nan" not in text, text


def without_base(where, folder):
    """Sums are of what is known, and say so: no base that is in one of them and not in another."""
    profile = folder + "/no-base.ini"
    with open(where[1], encoding="utf-8") as file:
        text = re.sub(r"\[base\]\npower_mw = .*\n", "", file.read())
    with open(profile, "w", encoding="utf-8") as file:
        file.write(text)
    answer = json.loads(run("cost", "--json", "--profile", profile, *where[2:]))
    total = answer["total"]["energy_j"]["value"]
    assert answer["base"]["energy_j"] is None and "base" in answer["not_measured"], answer
    assert abs(sum(app["energy_j"]["value"] for app in answer["apps"]) - total) < 1e-6, answer
    assert abs(total + answer["unexplained"]["energy_j"] - answer["measured"]["energy_j"]) < 1e-6, answer
    text = " ".join(run("cost", "--profile", profile, *where[2:]).split())
    assert "Model total of the apps: " in text and "Base:" not in text and "Unattributed:" in text, text


def without_display(where, folder):
    """A game uses the screen: by a profile without one nothing is for sure, and it says why."""
    profile = folder + "/no-display.ini"
    with open(where[1], encoding="utf-8") as file:
        text = re.sub(r"\[display\]\n(.+\n)+", "", file.read())
    with open(profile, "w", encoding="utf-8") as file:
        file.write(text)
    dark = ["--profile", profile, *where[2:]]
    question = ["budget", "--app", "angry-birds", "--battery-percent", "20"]
    full, answer = (json.loads(run(*question, "--json", *by)) for by in (where, dark))
    assert answer["minutes"]["value"] > 1.5 * full["minutes"]["value"] and answer["minutes"]["low"] is None, answer
    assert "display" in answer["basis"] and "display" not in full["basis"], (full, answer)
    text = " ".join(run(*question, *dark).split())
    assert re.match(r"angry-birds can run for at most about .*; this profile has no coefficient for some of what "
                    r"it uses\.", text), text
    assert "at least" not in text and "lacks coefficients of display." in text, text
    answer = json.loads(run("predict", "--app", "angry-birds", "--minutes", "20", "--json", *dark))
    for key in "percent", "energy_j", "device_percent":
        assert answer[key]["low"] < answer[key]["value"] and answer[key]["high"] is None, answer
    assert "display" in answer["basis"], answer
    assert ".. ?" in run("predict", "--app", "angry-birds", "--minutes", "20", *dark)
    answer = json.loads(run("predict", "--app", "system", "--minutes", "20", "--json", *dark))  # has no screen
    is_interval(answer["energy_j"])


def validation(where, folder):
    """Whether the profile held in states that were not fitted is part of every answer."""
    profile = folder + "/judged.ini"
    with open(where[1], encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("x-validated"))
    for said, value, words in ("", None, "This profile was never validated"), ("true", True, None), (
            "false", False, "This profile failed its validation"):
        with open(profile, "w", encoding="utf-8") as file:
            file.write(text.replace("[profile]\n", "[profile]\n" + (said and "x-validated = %s\n" % said), 1))
        judged = ["--profile", profile, *where[2:]]
        for question in ["cost"], ["predict", "--app", "angry-birds", "--minutes", "20"], [
                "budget", "--app", "angry-birds", "--battery-percent", "20"], ["profile", "show", profile]:
            if question[0] == "profile":
                judged = []
            assert json.loads(run(*question, "--json", *judged))["validated"] is value, question
            answer = " ".join(run(*question, *judged).split()).lower()
            assert words.lower() in answer if words else "validat" not in answer, answer


def forecast(where):
    answer = json.loads(run("predict", "--app", "angry-birds", "--minutes", "20", "--json", *where))
    assert set(answer) == {"schema", "app", "minutes", "level", "percent", "energy_j", "device_percent", "basis",
                           "validated", "profile_basis"}
    assert answer["app"] == "angry-birds" and answer["minutes"] == 20 and answer["level"] == 0.9
    for key in ("percent", "energy_j", "device_percent"):
        is_interval(answer[key])
    assert answer["device_percent"]["value"] > answer["percent"]["value"]
    text = run("predict", "--app", "angry-birds", "--minutes", "20", *where)
    assert "20 minutes of angry-birds" in text
    bounds = re.findall(r"([\d.]+) [%J] +([\d.]+) \.\. ([\d.]+)", text)
    assert len(bounds) == 3 and all(float(low) < float(value) < float(high) for value, low, high in bounds), text

    both = [run("budget", "--app", "angry-birds", word, "3h", *where) for word in ("--standby", "--suspend")]
    assert both[0] == both[1] and "standby awake, as no long sleep" in " ".join(both[0].split()), both
    assert "standby" not in run("budget", "--app", "angry-birds", *where)
    assert "give one of them" in run("budget", "--standby", "1h", "--suspend", "1h", *where, code=2)
    question = ["budget", "--app", "angry-birds", "--reserve", "phone=10m", "--standby", "3h"]
    answer = json.loads(run(*question, "--json", *where))
    assert set(answer) == {"schema", "app", "level", "minutes", "reserved_percent", "battery_percent", "charging",
                           "minutes_to_full", "recorded_s", "charge_limit_percent", "held_at_limit",
                           "charger_too_weak", "basis", "validated", "profile_basis"}
    assert answer["level"] == 0.9 and answer["charging"] is answer["charger_too_weak"] is False, answer
    is_interval(answer["minutes"])
    fewer = json.loads(run(*question, "--reserve=phone=20m", "--keep", "10%", "--battery-percent", "40", "--json",
                           *where))
    assert fewer["battery_percent"] == 40
    assert fewer["reserved_percent"] > answer["reserved_percent"] + 10
    assert fewer["minutes"]["low"] < answer["minutes"]["low"]
    text = run(*question, "--battery-percent", "20", *where)
    assert re.match(r"angry-birds can run for at least \d+ minutes \(19 times in 20\), probably \d+\.", text), text


def mixed(where, folder):
    """Without an app: use as it is now; on the charger, when it is full; on one that is too weak, that."""
    answer = json.loads(run("budget", "--json", *where))
    assert answer["app"] is None and "mixed use" in answer["basis"], answer
    is_interval(answer["minutes"])
    assert answer["minutes_to_full"] == dict.fromkeys(INTERVAL), answer
    assert re.match(r"The battery lasts for at least .* \(19 times in 20\), probably .*\.", run("budget", *where))
    less = json.loads(run("budget", "--reserve", "phone=10m", "--keep", "5", "--json", *where))
    assert less["minutes"]["low"] < answer["minutes"]["low"] and less["reserved_percent"] > 5, less
    battery = folder + "/charger/sys/class/power_supply/BAT0"
    os.makedirs(battery)
    os.makedirs(folder + "/charger/proc")
    for status, full in ("Charging", True), ("Discharging", False):
        with open(battery + "/uevent", "w", encoding="ascii") as file:
            file.write("POWER_SUPPLY_NAME=BAT0\nPOWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_SCOPE=System\n"
                       "POWER_SUPPLY_PRESENT=1\n"
                       "POWER_SUPPLY_STATUS=%s\nPOWER_SUPPLY_CAPACITY=60\nPOWER_SUPPLY_POWER_NOW=10000000\n"
                       "POWER_SUPPLY_VOLTAGE_NOW=3900000\n" % status)
        answer = json.loads(run("budget", "--json", *where, "--machine", folder + "/charger"))
        assert answer["charging"] is full and (answer["minutes_to_full"]["value"] is not None) is full, answer
        text = " ".join(run("budget", *where, "--machine", folder + "/charger").split())
        assert ("It charges, and is full in " in text) is full, text
        assert ("as if unplugged now" in text) is full, text


def charge_limit(where, folder):
    """Charging ends at the limit, and a battery that rests there is not one with a weak charger."""
    battery = folder + "/limit/sys/class/power_supply/BAT0"
    os.makedirs(battery)
    os.makedirs(folder + "/limit/proc")
    until = {}
    for status, percent, start, limit, held, words, state in (
            ("Charging", 60, None, 80, False, "minutes until the limit of 80 %, at most ",
             "minutes until the limit of 80 %, at most "),
            ("Charging", 60, None, 100, False, "It charges, and is full in ", "Remaining full in "),
            # a firmware that does not keep it
            ("Charging", 90, None, 80, False, "It charges, and is full in ", "Remaining full in "),
            ("Charging", 80, None, 80, False, "It charges, and is at the limit of 80 %.", "Battery 80 %, plugged in"),
            ("Not charging", 80, 75, 80, True, "It is held at 80 % by the charge limit.",
             "Battery held at 80 % by the charge limit"),
            ("Not charging", 76, 75, 80, True, "It is held at 76 % by the charge limit.",
             "Battery held at 76 % by the charge limit"),
            ("Not charging", 70, 75, 80, False, None, "Battery 70 %, plugged in"),
            ("Not charging", 78, None, 80, True, "It is held at 78 % by the charge limit.", "Battery held at 78 %"),
            ("Not charging", 95, None, 80, True, "It is held at 95 % by the charge limit of 80 %.",
             "Battery held at 95 %"),
            ("Full", 80, 75, 80, True, "It is held at 80 % by the charge limit.", "Battery held at 80 %"),
            ("Discharging", 78, 75, 80, False, None, "Battery 78 %, on battery")):
        with open(battery + "/uevent", "w", encoding="ascii") as file:
            file.write("POWER_SUPPLY_NAME=BAT0\nPOWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_SCOPE=System\n"
                       "POWER_SUPPLY_PRESENT=1\n"
                       "POWER_SUPPLY_STATUS=%s\nPOWER_SUPPLY_CAPACITY=%d\nPOWER_SUPPLY_POWER_NOW=10000000\n"
                       "POWER_SUPPLY_VOLTAGE_NOW=3900000\nPOWER_SUPPLY_CHARGE_CONTROL_END_THRESHOLD=%d\n"
                       % (status, percent, limit))
            if start:
                file.write("POWER_SUPPLY_CHARGE_CONTROL_START_THRESHOLD=%d\n" % start)
        at = [*where, "--machine", folder + "/limit"]
        case = status, percent, start, limit
        answer = json.loads(run("budget", "--json", *at))
        assert answer["held_at_limit"] is held and answer["charger_too_weak"] is False, (case, answer)
        kept = limit < 100 and not (status == "Charging" and percent > limit + 1)
        assert answer["charge_limit_percent"] == (limit if kept else None), (case, answer)
        assert not held or answer["minutes_to_full"] == dict.fromkeys(INTERVAL), (case, answer)
        until[status, percent, limit] = answer["minutes_to_full"]["value"]
        text = " ".join(run("budget", *at).split())
        assert words in text if words else "limit" not in text and "full in" not in text, (case, text)
        assert state in " ".join(run("status", *at).split()), case
        status_json = json.loads(run("status", "--json", *at))
        assert status_json["held_at_limit"] is held, case
        assert status_json["minutes_to_full"] == answer["minutes_to_full"], case
        metrics = run("metrics", *at)
        assert ("joulecast_battery_charge_limit_ratio 0.8\n" in metrics) is kept, (case, metrics)
    assert until["Charging", 80, 80] == 0 and 0 < until["Charging", 60, 80] < until["Charging", 60, 100] / 2, until


def words(where):
    """Answers repeat durations in words like the question's, and times are in the user's time zone."""
    assert run("predict", "--app", "angry-birds", "--minutes", "10m30s",
               *where).startswith("10 min 30 s of angry-birds ")
    assert run("predict", "--app", "angry-birds", "--minutes", "90s", *where).startswith("90 s of angry-birds ")
    assert run("predict", "--app", "angry-birds", "--minutes", "50h", *where).startswith("2 d 2 h of angry-birds ")
    assert '"nan" is not a time like 10, 90s or 1h30m' in run("predict", "--app", "angry-birds", "--minutes", "nan",
                                                              *where, code=2)
    assert run("budget", "--app", "angry-birds", "--battery-percent", "0",
               *where).startswith("Nothing is left for angry-birds.\n")
    question = ["budget", "--app", "angry-birds", "--battery-percent"]
    assert "Of 20.6 % in" in run(*question, "20.6", "--keep", "3", *where)
    assert "set aside" not in run(*question, "20.6", *where)  # as nothing is set aside
    for charge in range(18, 34):  # minutes, or hours and minutes, and not both in a sentence
        text = run(*question, charge, *where).splitlines()[0]
        assert ("minutes" in text) != (" h" in text), text
    start = datetime.datetime.strptime(json.loads(run("cost", "--json", *where))["from"], "%Y-%m-%dT%H:%M:%SZ")
    local = (start + datetime.timedelta(hours=5, minutes=30)).strftime("%Y-%m-%d %H:%M:%S")
    assert run("cost", *where, env={"TZ": "XXX-5:30"}).startswith(local + " .. ")
    said = run("cost", "--from", "2001-01-01", "--to", "2001-01-02", *where, env={"TZ": "XXX-5:30"}, code=3)
    assert "goes from " + local in said, said


def forms(where):
    """The app as an argument, a device before the command or in the environment, and words for wrong commands."""
    database, app = ["--database", where[where.index("--database") + 1]], "angry-birds"
    whole, one = (json.loads(run("cost", *arguments, "--json", *where)) for arguments in ([], [app]))
    assert {row["app"] for row in one["apps"]} == {app} and len(whole["apps"]) > len(one["apps"]), one
    assert one["total"] == whole["total"]
    rows = {line.split()[0] for line in run("cost", "angry", *where).splitlines() if line}
    assert {app, "base", "battery"} <= rows and not {"system", "music"} & rows, rows
    run("cost", "nobody", *where, code=3)
    assert run("budget", app, *where) == run("budget", "--app", app, *where)
    assert run("predict", app, "--minutes", "1 hour", *where) == run("predict", "--app", app, "--minutes", "60", *where)
    virtual = "virtual:" + DEVICE
    wanted = run("cost", "--device", virtual, *database)
    assert run("--device", virtual, "cost", *database) == wanted
    assert run("--device=" + virtual, "cost", *database) == wanted
    assert run("cost", *database, env={"JOULECAST_DEVICE": virtual}) == wanted
    assert "JOULECAST_DEVICE" in run("cost", *database, env={"JOULECAST_DEVICE": "real"}, code=2)
    for asked, meant in (("bugdet", "budget"), ("tpo", "top"), ("nope", None)):
        said = run(asked, code=2)
        assert ("did you mean %s?" % meant in said) if meant else "did you mean" not in said, said
    overview = run("--help")
    headings = ["Everyday:", "Set up:", "For developers:", "For scripts and services:"]
    assert [line for line in overview.splitlines() if line in headings] == headings, overview
    assert overview.count("\n                 $ ") == len(run("--list", "commands").split())


def first_hour(where, folder):
    """Before anything is recorded status answers by the battery's sensor; after the recording ended it says so."""
    supply = folder + "/fresh/sys/class/power_supply/BAT0"
    os.makedirs(supply)
    os.makedirs(folder + "/fresh/proc")
    with open(supply + "/uevent", "w", encoding="ascii") as file:
        file.write("POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=Discharging\nPOWER_SUPPLY_POWER_NOW=8000000\n"
                   "POWER_SUPPLY_CAPACITY=50\nPOWER_SUPPLY_ENERGY_FULL=50000000\nPOWER_SUPPLY_ENERGY_NOW=25000000\n")
    there = ["--machine", folder + "/fresh", "--database", folder + "/fresh.db"]
    said = run("status", *there)
    assert re.search(r"^Battery +50 %, on battery, drawing 8 W: 16 %/h now$", said, re.M), said
    assert re.search(r"^Remaining +about 3 h 7 min at the present power$", said,
                     re.M) and "joulecast poll" in said, said
    run("status", "--json", *there, code=3)
    os.rename(supply, folder + "/BAT0")
    assert "profile use class-laptop" in run("status", *there, code=3)
    ended = folder + "/ended.db"
    shutil.copy(where[where.index("--database") + 1], ended)
    usage_db.change(ended, *(f"UPDATE {table} SET {column} = {column} - 40 * 3600 * 1000000000" for table, column in (
        ("interval", "end_ns"), ("interval", "start_ns"), ("usage", "interval"), ("period", "bucket_ns"),
        ("period", "start_ns"),
        ("period", "end_ns"), ("charge", "start_ns"), ("sleep", "end_ns"))))
    assert "recording ended" not in run("status", *where)
    assert re.search(r"^Advice +recording ended 40 h \d min ago",
                     run("status", "--profile", DEVICE, "--database", ended), re.M)


def wrong(where, folder):
    for arguments in (["--fly"], ["fly"], ["cost", "--fly"], ["cost", "--from"], ["cost", "--from", "tomorrow"],
                      ["cost", "--from", "-1h", "--to", "-2h"], ["cost", "surplus", "more"],
                      ["cost", "surplus", "--by", "day"], ["predict"],
                      ["predict", "a", "--app", "a", "--minutes", "3"], ["budget", "a", "--app", "a"],
                      ["predict", "--app", "a", "--minutes", "-3"], ["predict", "--app", "a", "--minutes", "x"],
                      ["budget", "--app", "a", "--reserve", "b"], ["budget", "--app", "a", "--keep", "101"],
                      ["budget", "--app", "a", "--standby", "3x"], ["cost", "--json=1"], ["profile", "fly"],
                      ["profile", "use"], ["cost", "--device", "real", "--json"], ["fl\x1b[31my"]):
        run(*arguments, code=2)
    budget = ["budget", "--app", "a"]
    for arguments, why in (
            (["cost", "--profile", ""], "--profile needs a value that is not empty"),
            (["predict", "--app="], "--app needs a value that is not empty"),
            ([*budget, "--standby", ""], "--standby needs a value that is not empty"),
            ([*budget, "--standby", "99999h"], '--standby: "99999h" is out of range (at most 1000000 minutes)'),
            ([*budget, "--reserve", "b=99999h"],
             '"b=99999h" is out of range (at most 16 times, and at most 1000000 minutes)'),
            ([*budget, *["--reserve=b=1m"] * 17], '--reserve: "b=1m" is one too many (at most 16 times'),
            (["predict", "--app", "a", "--minutes", "1000001"], '"1000001" is out of range (at most 1000000 minutes)'),
            (["cost", "--from", "9999-12-31"],
             '"9999-12-31" is out of range (from 1970 to 2200, or at most 1000000 minutes ago)'),
            (["cost", "--to", "-99999h"],
             '"-99999h" is out of range (from 1970 to 2200, or at most 1000000 minutes ago)'),
            ([*budget, "--keep", "101"], "--keep: 101 % is above 100 %"),
            (["trace", "--interval", "0.01"], "--interval: 0.01 s is below 0.1 s"),
            (["cost", "--fly"], "unknown option --fly"),
            (["simulate", "--seed", "99999999999999999999"], "--seed: 1e+20 is above 1.8")):
        assert why in run(*arguments, code=2), (arguments, why)
    env = {"XDG_STATE_HOME": folder + "/none", "XDG_CONFIG_HOME": folder + "/none"}
    for name in (folder + "/none.ini", "no-such-name"):
        said = run("cost", "--profile", name, code=3)
        assert "no profile" in said and said.count("\n") == 1, said
    for typo, meant in (("nexus7", "nexus-7"), ("Nexus-7", "nexus-7"), ("lapto", "laptop"), ("toaster", None),
                        ("ab", None)):
        for arguments in (["cost"], ["doctor"], ["profile"],
                          ["simulate", "--scenario", "airport", "--database", folder + "/typo.db"]):
            said = run(*arguments, "--device", "virtual:" + typo, code=1)
            assert "there is no virtual device " + typo in said and "big-little, " in said, said
            assert ("did you mean %s?" % meant in said) if meant else "did you mean" not in said, said
    for arguments in (["cost", "--profile", "nexusone"], ["profile", "show", "nexusone"],
                      ["profile", "use", "nexusone"]):
        assert "did you mean nexus-one? There are " in run(*arguments, code=3), arguments
    said = run("simulate", "--device", "virtual:nexus-7", "--scenario", "airprot", "--database",
               folder + "/typo.db", code=1)
    assert "did you mean airport?" in said, said
    assert "recorded" in run("cost", "--device", "virtual:nexus-7", "--profile", DEVICE, code=3, env=env)
    assert "recorded" in run("budget", "--app", "a", "--database", folder + "/none.db", "--profile", DEVICE, code=3)
    with open(folder + "/empty.db", "w", encoding="utf-8"):
        pass
    assert "empty.db is empty" in run("cost", "--database", folder + "/empty.db", "--profile", DEVICE, code=3)
    assert "no profile" in run("predict", "--app", "a", "--minutes", "3", "--profile", folder + "/none.ini", code=3)
    assert "never seen" in run("predict", "--app", "chess", "--minutes", "3", *where, code=3)
    assert "never seen" in run("budget", "--app", "chess", *where, code=3)
    assert "fax" in run("budget", "--app", "angry-birds", "--reserve", "fax=3m", *where, code=3)
    run("cost", "--from", "2001-01-01", "--to", "2001-01-02", *where, code=3)
    assert "bad.ini:" in run("cost", "--profile", bad(folder), code=1)
    with open(folder + "/not.db", "w", encoding="utf-8") as file:
        file.write("no database\n" * 100)
    run("cost", "--database", folder + "/not.db", "--profile", DEVICE, code=1)
    for command in ("cost", "predict", "budget", "profile", "doctor"):
        assert "Usage: joulecast " + command in run(command, "--help")


def strange_files(folder):
    """Endless files are not read to their end, and a pipe without a writer is not waited for."""
    pipe = folder + "/pipe.ini"
    os.mkfifo(pipe)
    for file, why in ("/dev/zero", "the file is far too large to be what it should be"), (folder, "Is a directory"):
        for question in (["doctor"], ["cost"], ["cost", "--profile", DEVICE],
                         ["predict", "--app", "a", "--minutes", "1"]):
            assert why in run(*question, "--device", "virtual:" + file, code=1)
    assert "the file is empty" in run("doctor", "--device", "virtual:" + pipe, code=1)
    run("cost", "--device", "virtual:" + pipe, "--profile", DEVICE, code=3)
    for file in pipe, "/dev/zero", folder:
        assert "not a regular file" in run("cost", "--usage", file, "--profile", DEVICE, code=1)


def bad(folder):
    with open(folder + "/bad.ini", "w", encoding="utf-8") as file:
        file.write("[profle]\nversion = 1\n")
    return folder + "/bad.ini"


def hostile(folder):
    """Names come from processes, scenarios and files of others."""
    table = folder + "/hostile.csv"
    with open(table, "w", encoding="utf-8") as file:
        file.write("name,state,time_ms,display_ms,384000,read_bytes,write_kb,rx_kb\n")
        file.write('"comma, ""quoted"" \u4f60\u597d",foreground,60000,60000,100,0,0,0\n')
    answer = json.loads(run("cost", "--usage", table, "--profile", DEVICE, "--json"))
    assert answer["apps"][0]["name"] == answer["apps"][0]["app"] == 'comma, "quoted" \u4f60\u597d'
    measured = answer["measured"]
    assert measured["energy_j"] is measured["percent"] is measured["interval_j"]["low"] is None
    assert answer["from"] is None
    with open(table, "a", encoding="utf-8") as file:
        file.write("%s,background,1,1,1,1,1,1\n" % HOSTILE.replace(",", ""))
    assert "hostile.csv:3" in run("cost", "--usage", table, "--profile", DEVICE, code=1)
    run("predict", "--app", HOSTILE, "--minutes", "3", "--profile", DEVICE, "--database", folder + "/usage.db", code=3)


def names_of_rows(folder):
    """Apps that are called as rows of the table, or very long."""
    table = folder + "/names.csv"
    names = ("base", "unexplained", "unattributed", "Battery", "model total", "other-users", "other users", "12 others")
    with open(table, "w", encoding="utf-8") as file:
        file.write("name,state,time_ms,display_ms,384000,read_bytes,write_kb,rx_kb\n")
        for name in (*names, "x" * 127, "fine", "base of it"):
            file.write(f"{name},foreground,60000,60000,100,0,0,0\n")
    shown = run("cost", "--usage", table, "--profile", DEVICE)
    for name in names:
        assert f'\n"{name}" ' in shown and f"\n{name}  foreground" not in shown, (name, shown)
    assert "\nfine " in shown and "\nbase of it " in shown, shown
    assert max(map(len, shown.splitlines())) < 120 and "x\u2026x" in shown, shown
    answer = json.loads(run("cost", "--usage", table, "--profile", DEVICE, "--json"))
    assert {app["app"] for app in answer["apps"]} == {*names, "x" * 127, "fine", "base of it"}


def profiles(folder):
    env = {"XDG_CONFIG_HOME": folder + "/config", "XDG_STATE_HOME": folder + "/state"}
    listed = {profile["name"] for profile in json.loads(run("profile", "list", "--json", env=env))}
    assert {"nexus-one", "nexus-7-sapp"} <= listed, listed
    assert "has no profile of its own" in run("profile", "list", env=env) or os.geteuid() == 0
    shown = json.loads(run("profile", "show", "nexus-one", "--json"))
    table = folder + "/named.csv"
    with open(table, "w", encoding="utf-8") as file:
        file.write("name,state,time_ms,display_ms,245000,read_kb,write_kb,rx_kb\na,background,1000,0,100,0,0,0\n")
    assert json.loads(run("cost", "--usage", table, "--profile", "nexus-one", "--json"))["profile"] == "nexus-one"
    assert len(shown["coefficients"]) > 30 and shown["energy_full_mwh"] == 5180
    assert "cpu.0.active_mw.998400" in run("profile", "show", "nexus-one")
    own = folder + "/own.ini"
    run("profile", "show", "--profile", own, code=3)
    run("profile", "use", "nexus-one", "--profile", own)
    assert json.loads(run("profile", "show", "--json", "--profile", own))["device"] == "nexus-one"
    assert "kept as " + own + ".2" in run("profile", "use", "nexus-7-sapp", "--profile", own)
    assert json.loads(run("profile", "show", "--json", "--profile", own))["device"] != "nexus-one"
    run("profile", "use", DEVICE, "--profile", own)
    for device in "nexus-7-sapp", "nexus-one":  # two in a row lose none
        assert " is in use again" in run("profile", "undo", "--profile", own)
        assert json.loads(run("profile", "show", "--json", "--profile", own))["device"] == device
    assert "no earlier profile" in run("profile", "undo", "--profile", own, code=3)
    history = json.loads(run("profile", "history", "--json", "--profile", own))
    assert [row["state"] for row in history] == ["in use", "unused", "unused"], history
    assert history[1]["device"] == "nexus-7-sapp" and history[1]["path"] in run("profile", "history", "--profile", own)
    run("profile", "use", history[1]["path"], "--profile", own)
    run("profile", "use", bad(folder), "--profile", own, code=1)  # and nothing is applied
    assert json.loads(run("profile", "show", "--json", "--profile", own))["device"] != "nexus-one"
    run("profile", "use", "no-such", "--profile", own, code=3)
    assert "its folder does not exist" in run("profile", "use", "nexus-one", "--profile",
                                              folder + "/mistyped/own.ini", code=1)
    assert "--yes" in run("profile", "reset", "--profile", own, code=1) and os.path.exists(own)  # a night's work
    run("profile", "reset", "--yes", "--profile", own)
    assert not os.path.exists(own)
    run("profile", "reset", "--profile", own, code=3)
    run("profile", "undo", "--profile", own)
    assert os.path.exists(own)


def foreign(where, folder):
    """A profile of another device is taken where it is named, with a line that says so, and else not at all."""
    database = where[where.index("--database") + 1]
    done = subprocess.run([JOULECAST, "cost", "--database", database, "--profile", "nexus-one"],
                          capture_output=True, text=True,
                          check=True)
    assert re.fullmatch(r"joulecast: warning: nexus-one was made for another device \(match = .*\)\n",
                        done.stderr), done.stderr
    assert "another device" in run("profile", "use", "nexus-one", code=1, env={"XDG_CONFIG_HOME": folder + "/config"})
    config = tempfile.mkdtemp()
    os.mkdir(config + "/joulecast")
    run("profile", "use", "nexus-one", "--profile", config + "/joulecast/profile.ini")
    os.chmod(config, 0o755)
    who = {"user": 65534, "group": 65534,
           "extra_groups": []} if os.geteuid() == 0 else {}  # root's is the machine's own
    try:
        for command in ["cost", "--json"], ["trace", "--count", "1"], ["budget", "--app", "a"]:
            done = subprocess.run([JOULECAST, *command], capture_output=True, text=True, check=False,
                                  env={**os.environ, "XDG_CONFIG_HOME": config, "XDG_STATE_HOME": config}, **who)
            assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1, done
            assert "profile.ini was made for another device" in done.stderr, done
    except PermissionError as error:
        print("not as another user:", error)
    os.unlink(config + "/joulecast/profile.ini")
    os.rmdir(config + "/joulecast")
    os.rmdir(config)


def why_not_by_frequency(machine):
    missing = json.loads(run("doctor", "--json", "--machine", machine))["missing"]
    return [line["why"] for line in missing if line["what"] == "CPU time by frequency"][0]


def doctor(where, folder):
    answer = json.loads(run("doctor", "--json"))
    assert {"batteries", "policies", "collectors", "missing"} <= set(answer)
    # else the kernel has no inet_diag
    counted = "network bytes by app" not in {line["what"] for line in answer["missing"]}
    for name in ("kept", "proc"):
        assert ("network by sockets" in answer["collector_counts"][name]) == counted, answer
    os.makedirs(folder + "/machine/sys")
    os.makedirs(folder + "/machine/proc")
    answer = json.loads(run("doctor", "--json", "--machine", folder + "/machine"))
    assert answer["collector_counts"] == {"proc": "CPU, disk"}, answer
    missing = {line["what"] for line in answer["missing"]}
    assert answer["batteries"] == [] and {"battery", "bursts of packets"} <= missing, answer
    for line in answer["missing"]:
        assert set(line) == {"what", "why"}
    for name, status, power in (("BAT0", "Discharging", 8123000), ("BAT1", "Unknown", 0)):  # the second one rests
        os.makedirs(folder + "/machine/sys/class/power_supply/" + name)
        with open(folder + "/machine/sys/class/power_supply/%s/uevent" % name, "w", encoding="ascii") as file:
            file.write("POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=%s\nPOWER_SUPPLY_POWER_NOW=%d\n"
                       "POWER_SUPPLY_CAPACITY=50\n"
                       "POWER_SUPPLY_VOLTAGE_NOW=11900000\n" % (status, power))
    answer = json.loads(run("doctor", "--json", "--machine", folder + "/machine"))
    assert len(answer["batteries"]) == 2 and "current sensor" not in {line["what"]
                                                                      for line in answer["missing"]}, answer
    os.unlink(folder + "/machine/sys/class/power_supply/BAT0/uevent")
    answer = json.loads(run("doctor", "--json", "--machine", folder + "/machine"))
    assert "current sensor" in {line["what"] for line in answer["missing"]}, answer
    for cpu in range(16):  # a laptop: what each of its policies lacks is told once
        os.makedirs(folder + "/machine/sys/devices/system/cpu/cpufreq/policy%d" % cpu)
        with open(folder + "/machine/sys/devices/system/cpu/cpufreq/policy%d/related_cpus" % cpu, "w",
                  encoding="ascii") as file:
            file.write("%d\n" % cpu)
    for name, text in (("scaling_available_frequencies", "300000 600000 1800000\n"),
                       ("scaling_available_governors", "powersave performance\n")):
        with open(folder + "/machine/sys/devices/system/cpu/cpufreq/policy3/" + name, "w", encoding="ascii") as file:
            file.write(text)
    text = " ".join(run("doctor", "--machine", folder + "/machine").split())
    assert "3 3 3 300 .. 1800 powersave performance" in text, text
    os.unlink(folder + "/machine/sys/devices/system/cpu/cpufreq/policy3/scaling_available_frequencies")
    missing = json.loads(run("doctor", "--json", "--machine", folder + "/machine"))["missing"]
    for what in "frequency list", "time in state":
        assert ["policy 0-15" in line["why"] for line in missing if line["what"] == what] == [True], missing
    assert why_not_by_frequency(folder + "/machine").endswith("no collector here counts cycles")
    with open(folder + "/machine/sys/devices/system/cpu/cpufreq/policy3/scaling_cur_freq", "w",
              encoding="ascii") as file:
        file.write("600000\n")
    assert "scaling_cur_freq tells it of a moment" in why_not_by_frequency(folder + "/machine")
    for n_khz, why in ((1, "there is one"),
                       (3, "estimated from the time that each policy spent at its frequencies"), (5, "at most 64")):
        for cpu in range(16):
            stats = folder + "/machine/sys/devices/system/cpu/cpufreq/policy%d/stats" % cpu
            os.makedirs(stats, exist_ok=True)
            with open(stats + "/time_in_state", "w", encoding="ascii") as file:
                file.write("".join("%d 1\n" % (khz * 100000) for khz in range(1, n_khz + 1)))
        assert why in why_not_by_frequency(folder + "/machine"), why
    answer = json.loads(run("doctor", "--json", "--device", "virtual:" + DEVICE))
    assert set(answer["batteries"][0]) == {"name", "status", "percent", "energy_now_uwh", "energy_full_uwh", "power_uw",
                                           "quirks"}
    assert set(answer["policies"][0]) == {"policy", "cpus", "khz", "governors"}
    assert answer["policies"][0]["cpus"] == "0-3" and len(answer["policies"][0]["khz"]) == 12
    run("doctor", "--machine", folder + "/none", code=1)
    run("doctor")
    # charge by its voltage now
    assert "about 16 Wh" in " ".join(run("doctor", "--device", "virtual:" + DEVICE).split())
    for name, is_there in (("nexus-one", True), ("pixel", False)):  # a shipped one by its name, as for all commands
        answer = json.loads(run("doctor", "--json", "--profile", name))
        assert os.path.exists(answer["profile"]) == is_there, answer
        assert ("profile" in {line["what"] for line in answer["missing"]}) != is_there, answer
    answer = json.loads(run("doctor", "--json", *where))["recorded"]
    assert answer["recorded_s"] > 600, answer
    assert abs(answer["cpu_by_frequency_counted_s"] - answer["recorded_s"]) < 1
    assert not answer["cpu_by_frequency_shared_s"]
    assert "100 % counted by the kernel" in " ".join(run("doctor", *where).split())
    answer = json.loads(run("doctor", "--json", "--database", folder + "/none.db"))
    assert answer["recorded"] is None


def signal(where, folder):
    """How strongly the radios hear: now, by what the kernel says of WiFi; by what was recorded of both."""
    machine, database = folder + "/phone", where[where.index("--database") + 1]
    subprocess.run([os.path.dirname(__file__) + "/../gather-machine", "--unpack", MACHINES + "/phone.tree", machine],
                   check=True)
    answer = json.loads(run("doctor", "--json", "--machine", machine))
    assert answer["wifi_signal_dbm"] == -56 and "WiFi signal" not in {line["what"]
                                                                      for line in answer["missing"]}, answer
    assert "The signal of WiFi is -56 dBm." in run("doctor", "--machine", machine)
    os.unlink(machine + "/proc/net/wireless")
    answer = json.loads(run("doctor", "--json", "--machine", machine))
    assert answer["wifi_signal_dbm"] is None and "WiFi signal" in {line["what"] for line in answer["missing"]}, answer
    assert "dBm" not in run("doctor", "--machine", machine)
    recorded = json.loads(run("doctor", "--json", *where))["recorded"]
    assert recorded["wifi_signal_dbm"] is recorded["cellular_signal_percent"] is None, recorded
    assert "on average" not in run("doctor", *where)
    usage_db.change(database, "UPDATE interval SET wifi_signal_dbm = -60, cellular_signal_percent = 40")
    recorded = json.loads(run("doctor", "--json", *where))["recorded"]
    assert (recorded["wifi_signal_dbm"], recorded["cellular_signal_percent"]) == (-60, 40), recorded
    text = " ".join(run("doctor", *where).split())
    for words in "of WiFi was -60 dBm on average", "of the mobile network was 40 % on average":
        assert words in text, text


def help_and_version():
    """All ways to ask for a command's help give the same: joulecast help COMMAND, COMMAND --help."""
    for command in ("cost", "fit", "focus"):
        assert run("help", command) == run("--help", command) == run(command, "--help"), command
        assert re.search(r"\d+\.\d+\.\d+$", run(command, "--version")), command
    run("help", "nonsense", code=2)


def program_is_missing(folder):
    """A copy without its build folder finds no other program, and says so in one sentence."""
    alone = folder + "/alone"
    shutil.copy(JOULECAST, alone)
    done = subprocess.run([alone, "diff", "a", "b"], capture_output=True, text=True,
                          env={**os.environ, "PATH": folder}, timeout=60)
    if done.returncode == 1 and "joulecast-develop" not in done.stderr:
        return  # an installed one answered
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("joulecast: diff: cannot run joulecast-develop: "), done


def main():
    with tempfile.TemporaryDirectory() as folder:
        profile, database = folder + "/profile.ini", folder + "/usage.db"
        with open(DEVICE, encoding="utf-8") as file:
            text = file.read()
        with open(profile, "w", encoding="utf-8") as file:  # the truth, with errors as a calibration would give them
            for line in text.split("\n[virtual]")[0].replace("method = virtual", "method = import").splitlines():
                found = re.match(r"(\w+_mw|\w+_mj\w*)(\.\d+)? = ([\d.]+)", line)
                file.write(line + (" %g" % (0.03 * float(found.group(3))) if found else "") + "\n")
            file.write("[fit]\ndegrees_of_freedom = 20\nscale_percent = 1\ndiscrepancy_percent = 1\n")
        run("simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database", database)
        where = ["--profile", profile, "--database", database]
        cost(where, folder)
        by_component(where)
        units()
        usage_table(folder)
        bare(where, folder)
        without_base(where, folder)
        without_display(where, folder)
        validation(where, folder)
        forecast(where)
        mixed(where, folder)
        charge_limit(where, folder)
        words(where)
        terminal(where)
        keys_in_a_narrow_terminal(folder)
        tables_in_a_narrow_terminal(where[2:])
        unpriced_and_ranges(folder)
        unwritten(where, folder)
        forms(where)
        first_hour(where, folder)
        wrong(where, folder)
        hostile(folder)
        names_of_rows(folder)
        strange_files(folder)
        profiles(folder)
        foreign(where, folder)
        doctor(where, folder)
        signal(where, folder)
        help_and_version()
        program_is_missing(folder)


main()
