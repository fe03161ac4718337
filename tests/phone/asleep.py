# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The phone sleeps, is switched off in order, and loses a CPU for a while."""
import base64
import json
import os
import sqlite3
import time

import restoring
from calibration import Peers
from phone import PhoneError
from watch import PROFILE, WORK, Watch, pin

BACKLIGHT = "/sys/class/backlight/fujitsu-laptop/brightness"


def fall_asleep(phone, how="systemctl suspend"):
    """By logind, as at the power key. Seconds until the firmware has it."""
    began = time.monotonic()
    phone.start(how)
    while phone.monitor.ask("query-status")["status"] != "suspended":
        if not phone.is_on() or time.monotonic() - began > 90:
            raise PhoneError("it does not fall asleep: %s" % phone.jobs[phone.number].text())
        time.sleep(0.1)
    time.sleep(0.2)  # until the physics has looked, too
    return time.monotonic() - began


def wake(phone):
    phone.monitor.ask("system_wakeup")
    wake_air(phone)


def wake_air(phone):
    phone.output("true")
    # Its access point runs on the phone, too, and slept; bring it up again.
    phone.output("set -- $(busybox pidof hostapd); for way in down up; do nsenter -t $1 -n ip link set wlan1 $way; "
                 "done")


# ---- a calibration ------------------------------------------------------------------------------------------------

def changed_something(suite, before, peers, moments):
    calibration = restoring.start(suite, peers)
    restoring.until_it_changes(suite.phone, before)
    time.sleep(restoring.delay_of(suite, moments))
    return calibration, len(restoring.differences(before, restoring.snapshot(suite.phone)))


def suspended(suite, before, peers, moments, times):
    """It is over, and all is as it was, before the phone sleeps."""
    phone = suite.phone
    good = 0
    for number in range(times):
        phone.physics.set(percent=90)
        calibration, changed = changed_something(suite, before, peers, moments)
        took = fall_asleep(phone, "systemctl suspend -i")
        ended = calibration.job.ended.is_set()
        now = phone.physics.ask("status")
        lit = now["backlight_percent"] == 60 and now["asleep"]
        wake(phone)
        left = restoring.settle(phone, before, 30)
        said = phone.output("journalctl --boot --unit joulecast-restore-sleep --output cat | grep -i "
                            "calibration.was | tail -n 1")
        calibration.job.wait(60)
        words = calibration.job.text().splitlines()[-1]
        good += ended and lit and not left
        suite.check(ended and lit and not left, "sleep %d, asleep after %.1f s with %d settings changed: %s" % (
            number + 1, took, changed, "; ".join(left) or "ended before it, all as before"))
        suite.check("told to end" in said, "its unit says:", said.strip().splitlines()[-1])
        suite.check("stopped after" in words and calibration.job.code != 0, "and the calibration:", words)
    suite.rows.append("asleep in a calibration: %d of %d times it had ended before, all as before" % (good, times))


HELD_UP_S = 45  # limit for an emulation with both CPUs at full load; systemd waits for 90


def switch_off(phone, how):
    began = time.monotonic()
    phone.start(how)
    while phone.is_on() and time.monotonic() - began < 120:
        time.sleep(0.1)
    took = time.monotonic() - began
    if phone.is_on():
        raise PhoneError("still on %d s after %s" % (took, how))
    phone.cut_power()
    phone.boot()
    return took


SAVED_RADIO = "cat /var/lib/systemd/rfkill/*wlan 2> /dev/null || true"

LATE = """
mkdir -p /etc/systemd/system/systemd-rfkill.socket.d
printf '[Socket]\nExecStartPre=/bin/sleep 4\n' > /etc/systemd/system/systemd-rfkill.socket.d/late.conf
systemctl daemon-reload
"""


def until_systemd_saves(phone, off, timeout=60):
    """systemd-rfkill writes what it hears of a radio down after 5 s without more, and not at all if it is ended
    before."""
    end = time.monotonic() + timeout
    while phone.output(SAVED_RADIO).strip() != off:
        if time.monotonic() > end:
            raise PhoneError("systemd did not save %s for the radio in %d s" % (off, timeout))
        time.sleep(0.5)


def switched_off(suite, before, peers, moments):
    """So does an orderly end of the phone; what systemd had saved of a radio that was off is put right at the next
    boot, even where systemd brings it back after the boot's unit has looked."""
    phone = suite.phone
    until_systemd_saves(phone, "0")
    alone = switch_off(phone, "systemctl reboot")
    for how in ("reboot", "poweroff"):
        phone.physics.set(percent=90)
        _, changed = changed_something(suite, before, peers, moments)
        if how == "poweroff":
            until_systemd_saves(phone, "1")
            phone.output(LATE)
        took = switch_off(phone, "systemctl " + how)
        left = restoring.settle(phone, before, 30)
        was = phone.output("systemctl show --property Result,NRestarts joulecast-restore.service").split()
        suite.check(not left, "%s after %.1f s (%.1f s without a calibration) with %d settings changed: %s" % (
            how, took, alone, changed, "; ".join(left) or "all as before"))
        suite.check({"Result=success"} <= set(was) and {"NRestarts=0", "NRestarts=1"} & set(was),
                    how + ": the next boot's unit looks twice at most:", *was)
        suite.check(took < HELD_UP_S, how + ": it is not held up until systemd kills what does not end")
        suite.rows.append("%s in a calibration: %s; off after %.1f s, else %.1f s" % (
            how, "differs" if left else "all as before", took, alone))


# ---- joulecastd ---------------------------------------------------------------------------------------------------

NIGHTS = 5
NIGHT_S = 16 * 3600
SUSPEND_MW = "suspend.power_mw"
FLAT = PROFILE % "[cpu 0]\ncpus = 0\nactive_mw.2400000 = 1000\n[cpu 1]\ncpus = 1\nactive_mw.2400000 = 1000\n"


def intervals(suite, watch):
    """Intervals with suspended time: (elapsed s, suspended s, discharge in J or None); number of sleeps."""
    path = os.path.join(suite.folder, "sleeps.db")
    for name in ("", "-wal"):
        with open(path + name, "wb") as file:
            said = suite.phone.output("base64 %s%s 2> /dev/null || true" % (watch.database, name))
            file.write(base64.b64decode(said))
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT elapsed_ns / 1e9, suspend_ns / 1e9, discharge_uj / 1e6 FROM interval "
                                "WHERE suspend_ns > 0 ORDER BY end_ns").fetchall()
        kept = database.execute("SELECT count(*) FROM sleep").fetchone()[0]
    return rows, kept


def nights(suite):
    """joulecastd makes separate intervals of nights, with the energy that the physics drained, and a sleep's power."""
    phone = suite.boot(physics=suite.physics("--factor", "1", "--percent", "90"))
    physics = phone.physics
    truth = physics.ask("coefficients")
    # polled on going to sleep and on waking up, and not by chance
    watch = Watch(phone, "nights", "--interval 30")
    spinner = phone.start("systemd-run --quiet --wait --pipe --collect --unit spinner %s linger 3 spin 30 20" % WORK)
    drained = []
    for _ in range(NIGHTS):
        time.sleep(2)
        fall_asleep(phone)
        physics.ask("mark")
        physics.ask("sleep", seconds=NIGHT_S)
        drained.append(physics.ask("truth")["total_j"])
        wake(phone)
    spinner.wait(120)
    spun = json.loads(spinner.text().splitlines()[-1])["cpu_s"]
    time.sleep(2)
    watch.stop()
    rows, kept = intervals(suite, watch)
    drained = drained[-len(rows):]  # intervals go after two days, sleeps stay
    for (elapsed, asleep, given), wanted in zip(rows, drained):
        print("            an interval of %.1f s, %.1f s asleep: %s J by the gauge, in truth %.0f J" % (
            elapsed, asleep, given, wanted), flush=True)
    suite.check(len(rows) >= 3 and kept == NIGHTS, "each night is an interval of its own:", kept, "of", NIGHTS)
    suite.check(all(abs(asleep - NIGHT_S) < 10 and elapsed - asleep < 10 for elapsed, asleep, _ in rows),
                "and as long as it was")
    percent_j = truth["energy_full_mwh"] * 3.6 / 100
    suite.check(all(given is not None and abs(given - wanted) < 1.2 * percent_j
                    for (_, _, given), wanted in zip(rows, drained)),
                "with its own drain, within a step of the gauge (%.0f J)" % percent_j)
    _, apps = watch.cost(FLAT)
    got = apps[("sys:spinner", "background")]["energy_j"]["value"]
    suite.check(abs(got / spun - 1) < 0.02,
                "who ran through all of them had %.2f s of CPU time, counted are %.2f" % (spun, got))
    base = ("[profile]\nversion = 1\nmethod = import\ndevice = virtual-phone\n[battery]\nenergy_full_mwh = %g\n"
            "[base]\npower_mw = %g\n")
    phone.write("/tmp/base.ini", base % (truth["energy_full_mwh"], truth["base.power_mw"]))
    arguments = "--profile /tmp/base.ini --database %s" % watch.database
    said = json.loads(phone.output("joulecast doctor --json " + arguments))["recorded"]
    got, wanted = said["suspend_mw"], truth[SUSPEND_MW]
    off = (got / wanted - 1) * 100 if got else float("nan")
    suite.check(said["sleeps"] == NIGHTS and abs(off) < 10,
                "suspended it draws %s mW, give or take %s, in truth %.0f: %+.1f %%" % (
        got, said["suspend_error_mw"], wanted, off))
    table = phone.output("joulecast cost " + arguments)
    suite.check("%d sleeps" % NIGHTS in table, "which joulecast says:",
                *[line for line in table.splitlines() if "sleep" in line])
    suite.rows.append("nights: %d of %d an interval of their own; suspend power %+.1f %%" % (kept, NIGHTS, off))


# ---- CPUs that go and come ----------------------------------------------------------------------------------------

SPIN_S = 24


PLUGS = "plug-this", "plug-that"  # numbers at the end are no part of an app's id


def hotplug(suite, collector):
    """Two programs on two CPUs, of which one goes and comes back: neither loses time by it."""
    phone = suite.phone
    pin(phone, 2400000)
    began = time.monotonic()
    watch = Watch(phone, "hotplug-" + collector, "--collector", collector)
    spinners = [phone.start("systemd-run --quiet --wait --pipe --collect --unit %s %s linger 3 spin "
                            "%d" % (name, WORK, SPIN_S))
                for name in PLUGS]
    for _ in range(3):
        for online in (0, 1):
            time.sleep(SPIN_S / 8)
            phone.output("echo %d > /sys/devices/system/cpu/cpu1/online" % online)
    pin(phone, 2400000)
    spun = []
    for spinner in spinners:
        spinner.wait(60)
        spun.append(json.loads(spinner.text().splitlines()[-1])["cpu_s"])
    time.sleep(2)
    watch.stop()
    answer, apps = watch.cost(FLAT)
    worst = 0
    for name, wanted in zip(PLUGS, spun):
        got = apps[("sys:" + name, "background")]["energy_j"]["value"]
        worst = max(worst, abs(got / wanted - 1) * 100)
        suite.check(abs(got / wanted - 1) < 0.02, "%s: of %.2f s of CPU time counted are %.2f (%+.1f %%)" % (
            collector, wanted, got, (got / wanted - 1) * 100))
    total = sum(row["energy_j"]["value"] or 0 for row in apps.values()) + (answer["base"]["energy_j"] or 0)
    values = [row["energy_j"]["value"] or 0 for row in apps.values()]
    took = time.monotonic() - began
    suite.check(min(values) >= 0 and sum(spun) <= total * 1.02 and total <= 2 * took,
                "%s: all apps together %.1f s of two CPUs' %.1f" % (collector, total, 2 * took))
    suite.rows.append("CPU 1 off and on three times, %s: CPU time of apps off by %.1f %% at most" % (collector, worst))


# ---- the step -----------------------------------------------------------------------------------------------------

def asleep(suite):
    moments = restoring.random_moments(suite)
    phone = suite.boot(physics=suite.physics("--percent", "95"))
    units = phone.output("systemctl list-dependencies --plain sleep.target multi-user.target | grep "
                         "joulecast-restore").split()
    suite.check({"joulecast-restore-sleep.service", "joulecast-restore.service"} <= set(units), "wanted are", *units)
    peers = Peers(suite)
    try:
        phone.output("echo 6 > " + BACKLIGHT)
        time.sleep(3)
        before = restoring.snapshot(phone)
        suspended(suite, before, peers, moments, 5 if suite.options.full else 2)
        switched_off(suite, before, peers, moments)
    finally:
        peers.close()
    for collector in ("bpf", "bpf-iter"):
        hotplug(suite, collector)
    suite.close()
    nights(suite)
