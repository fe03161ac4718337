#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python module says what the commands say; each function of the header is in it or named here; the example runs.

Usage: test-python.py JOULECAST DEVICE-INI SCENARIO-INI LIBRARY MODULE-FOLDER HEADER EXAMPLE
"""
import datetime
import gc
import json
import os
import re
import subprocess
import sys
import tempfile

JOULECAST, DEVICE, SCENARIO, LIBRARY, FOLDER, HEADER, EXAMPLE = map(os.path.abspath, sys.argv[1:])
os.environ["JOULECAST_LIBRARY"] = LIBRARY
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import joulecast  # noqa: E402

LEFT_OUT = {"context_set_machine", "profile_device", "profile_method", "profile_validated", "profile_count",
            "profile_coefficient", "cost_find", "app_of_pid"}


def run(*arguments):
    return json.loads(subprocess.run([JOULECAST, *arguments, "--json"], check=True, capture_output=True,
                                     text=True).stdout)


def near(a, b):
    return (a is None) == (b is None) and (a is None or abs(a - b) <= 1e-12 * abs(b))


def same(value, answer):
    assert all(near(got, answer[key]) for got, key in zip(value, ("value", "low", "high"))), (value, answer)


def refused(code, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except joulecast.Error as error:
        assert error.errno == code and words in str(error), (error.errno, str(error))
        return
    raise AssertionError("no error: " + words)


def check_names():
    with open(HEADER, encoding="utf-8") as file:
        public = set(re.findall(r"\bjoulecast_(\w+)\(", re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)))
    with open(FOLDER + "/joulecast.py", encoding="utf-8") as file:
        text = file.read()
    used = set(re.findall(r"_lib\.joulecast_(\w+)", text))
    assert used <= public, used - public
    assert public - used == LEFT_OUT, (public - used) ^ LEFT_OUT


def check_answers(device, where):
    cost, answer = device.cost(), run("cost", *where)
    assert [(app.app, app.name, app.state, app.active_s) for app in cost.apps] == \
           [(app["app"], app["name"], app["state"], app["active_s"]) for app in answer["apps"]]
    for app, other in zip(cost.apps, answer["apps"]):
        for key in "energy_j", "percent", "percent_per_minute":
            same(getattr(app, key), other[key])
        assert set(app.components_j) == set(other["components_j"]) - {"unseen"}, app
        assert all(near(joules, other["components_j"][key]) for key, joules in app.components_j.items()), (app, other)
    same(cost.total_j, answer["total"]["energy_j"])
    assert near(cost.base_j, answer["base"]["energy_j"]) and near(cost.measured_j, answer["measured"]["energy_j"])
    assert cost.not_measured == answer["not_measured"]
    assert {app.app for app in device.apps()} == {"angry-birds", "phone", "system"}
    since = datetime.datetime.fromisoformat(answer["from"].replace("Z", "+00:00")) + datetime.timedelta(minutes=60)
    assert device.span() == tuple(datetime.datetime.fromisoformat(answer[key].replace("Z", "+00:00"))
                                  + datetime.timedelta(microseconds=device.span()[i].microsecond)
                                  for i, key in enumerate(("from", "to")))
    part = device.cost(since=since, until=since + datetime.timedelta(minutes=30))
    assert sum(app.active_s for app in part.apps if app.app == "system") == 1800, part
    assert device.cost(since=datetime.timedelta(hours=1)).apps
    forecast, other = device.predict("phone", 20), run("predict", "--app", "phone", "--minutes", "20", *where)
    for key in "energy_j", "percent", "device_percent":
        same(getattr(forecast, key), other[key])
    assert forecast.app == "phone" and forecast.basis == other["basis"]
    budget = device.budget("angry", reserve={"phone": 10}, standby=60, keep=5, battery_percent=50)
    other = run("budget", "--app", "angry-birds", "--reserve", "phone=10m", "--standby", "1h", "--keep", "5",
                "--battery-percent", "50", *where)
    for key in "minutes", "minutes_to_full":
        same(getattr(budget, key), other[key])
    for key in "app", "basis", "charging", "charger_too_weak":
        assert getattr(budget, key) == other[key], (key, budget, other)
    assert near(budget.reserved_percent, other["reserved_percent"]) and budget.battery_percent == 50
    same(device.budget().minutes, run("budget", *where)["minutes"])
    gain = device.whatif(brightness=40, close=["angry"], off=["wifi"], keep=90, battery_percent=60)
    other = run("whatif", "--brightness", "40%", "--close", "angry-birds", "--wifi", "off", "--keep", "90m",
                "--battery-percent",
                "60", *where)
    for key, name in (("minutes", "gained_minutes"), ("before", "minutes"), ("after", "changed_minutes")):
        same(getattr(gain, key), other[name])
    assert gain.minutes.low < gain.minutes.value, gain
    assert gain.closed == other["close"] == ["angry-birds"] and not gain.is_nothing, gain
    assert device.whatif(off=["gps"]).is_nothing
    minutes = 1.2 * device.budget().minutes.low
    plan = device.endure(minutes, without=["close"])
    other = run("advise", "--for", "%.9gm" % minutes, "--without", "close", *where)
    same(plan.before, other["minutes"])
    same(plan.after, other["changed_minutes"])
    assert [change.action for change in plan.changes] == [change["action"]
                                                          for change in other["changes"]] and plan.changes, plan
    assert (plan.short_minutes == 0) == other["suffices"] and plan.basis == other["basis"], (plan, other)
    assert not device.endure(1).changes and device.endure(1, "angry").app == "angry-birds"
    assert device.battery() == (run("budget", *where)["battery_percent"], False)


def check_errors(device, where, folder):
    refused(61, "chess was never seen", device.predict, "chess", 1)
    refused(61, "fax", device.budget, "phone", reserve={"fax": 1})
    refused(22, "", device.predict, "phone", -1)
    refused(61, "chess was never seen", device.whatif, close=["chess"])
    refused(22, "'sun' is none of screen", device.whatif, off=["sun"])
    refused(22, "", device.whatif, brightness=101)
    refused(61, "chess was never seen", device.endure, 60, "chess")
    refused(61, "chess was never seen", device.endure, 60000, without=["limit:chess"])
    refused(22, "", device.endure, 0)
    refused(22, "'empty' is none of full", device.since, "empty")
    refused(61, "", device.since, "full")
    refused(2, "nothing was recorded yet", joulecast.Device, where[1], PROFILE, folder + "/none.db")
    refused(22, "bad.ini:1", joulecast.Device, None, folder + "/bad.ini")
    device.close()
    device.close()
    try:
        device.cost()
    except ValueError:
        return
    raise AssertionError("a closed device answers")


def with_errors(folder):
    """A profile like that of a calibration: the device's truth, with standard errors."""
    with open(DEVICE, encoding="utf-8") as file:
        text = file.read().split("\n[virtual]")[0].replace("method = virtual", "method = gauge")
    with open(folder + "/errors.ini", "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(\w+_m[wj](?!h)\S* = )([\d.]+)$",
                          lambda found: f"{found[0]} {0.03 * float(found[2]):g}", text,
                          flags=re.M) + "\n[fit]\ndegrees_of_freedom = 20\n")
    return file.name


check_names()
with tempfile.TemporaryDirectory() as folder:
    database = folder + "/usage.db"
    subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database",
                    database],
                   check=True, capture_output=True)
    with open(folder + "/bad.ini", "w", encoding="utf-8") as file:
        file.write("nonsense\n")
    PROFILE = with_errors(folder)
    where = ["--device", "virtual:" + DEVICE, "--profile", PROFILE, "--database", database]
    with joulecast.Device("virtual:" + DEVICE, PROFILE, database) as device:
        assert device.profile_basis == "calibrated" and device.energy_full_mwh > 0
        check_answers(device, where)
        check_errors(device, where, folder)
    for _ in range(50):
        joulecast.Device("virtual:" + DEVICE, PROFILE, database)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) < 20
    environment = {**os.environ, "PYTHONPATH": FOLDER}
    for arguments, code in ([where[1], PROFILE, database], 0), ([where[1], PROFILE, folder + "/none.db"], 1):
        example = subprocess.run([sys.executable, EXAMPLE, *arguments], capture_output=True, text=True, env=environment)
        assert example.returncode == code, example
        lines = (example.stdout or example.stderr).splitlines()
        wanted = ["angry-birds, foreground: ", "phone, ", "system, ", "The battery lasts for "] if code == 0 else \
                 ["dearest.py: nothing was recorded yet"]
        assert len(lines) == len(wanted) and all(map(str.startswith, lines, wanted)), lines
    assert re.search(r"angry-birds, foreground: [\d.]+ to [\d.]+ %", subprocess.run(
        [sys.executable, EXAMPLE, where[1], PROFILE, database], capture_output=True, text=True, env=environment).stdout)
