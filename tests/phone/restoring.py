# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever happens to a calibration, the phone is as it was: kills, power cuts, and what the world does meanwhile."""
import random
import time
from collections import Counter

from calibration import Calibration, Peers
from phone import PhoneError, PhoneLate

# Every setting that a calibration may change, a line each. Few processes: beside a load at a low clock each takes long.
SNAPSHOT = r"""
cd /sys/devices/system/cpu
grep -H . cpufreq/policy*/scaling_governor cpufreq/policy*/scaling_m??_freq cpufreq/policy*/scaling_setspeed \
        cpufreq/boost cpu*/online cpu*/cpuidle/state*/disable \
        /sys/class/backlight/*/brightness /sys/class/backlight/*/bl_power /sys/class/rfkill/*/soft \
        /sys/class/power_supply/*/charge_behaviour /sys/module/kernel/parameters/consoleblank 2> /dev/null
echo "wlan0/power_save:$(iw dev wlan0 get power_save)"
echo "wlan0/up:$(ip -brief link show wlan0 | grep -c '[<,]UP')"
echo "inhibitors:$(systemd-inhibit --list --no-legend | grep -c joulecast)"
echo "processes:$(cat /proc/[0-9]*/comm 2> /dev/null | grep -c '^joulecast')"
echo "journal:$(ls /var/lib/joulecast-calibrate/restore.ini 2> /dev/null)"
echo "files:$(find /var/tmp /tmp -xdev -type f -size +1M 2> /dev/null | tr '\n' ' ')"
"""


def snapshot(phone):
    lines = [line.partition(":") for line in phone.output(SNAPSHOT).splitlines()]
    return {name: value for name, _, value in lines if value != "<unsupported>"}  # a speed that no governor asks for


def differences(before, after):
    return ["%s was %s, is %s" % (key, before.get(key), after.get(key)) for key in sorted({*before, *after})
            if before.get(key) != after.get(key)]


def settle(phone, before, seconds):
    """Settings that still differ after at most @seconds."""
    end = time.monotonic() + seconds
    while True:
        left = differences(before, snapshot(phone))
        if not left or time.monotonic() > end:
            return left
        time.sleep(1)


def start(suite, peers):
    return Calibration(suite.phone,
                       "--method gauge --passes 1 --wifi-peer 10.0.2.2:%d --wifi-limit 100M 2>&1" % peers.iperf_port)


def until_it_changes(phone, before, timeout=90):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        changed = differences(before, snapshot(phone))
        if any(key.startswith(("cpu", "/sys")) for key in changed):
            return changed
        time.sleep(1)
    raise PhoneLate("the calibration changed nothing in %d s" % timeout)


def random_moments(suite):
    seed = suite.options.seed if suite.options.seed is not None else int(time.time())
    print("            --seed %d" % seed)
    return random.Random(seed)


# A calibration has changed all that it will within the first seconds; what it holds then changes with each mode.
def delay_of(suite, moments):
    return moments.uniform(0, 40 if suite.options.full else 8)


KILL = "kill -9 $(grep -l%s /proc/[0-9]*/comm 2> /dev/null | cut -d/ -f3)"
KILLS = {"worker": KILL % "x joulecast-calib", "watchdog": KILL % "x joulecast-watch", "all": KILL % " '^joulecast'"}
NAMES = {"worker": "the worker", "watchdog": "the watchdog", "all": "both at once"}


def kills(suite):
    count = 20 if suite.options.full else 5
    moments = random_moments(suite)
    phone = suite.boot(physics=suite.physics("--percent", "95"))
    peers = Peers(suite)
    phone.output("echo 6 > /sys/class/backlight/fujitsu-laptop/brightness")
    time.sleep(3)
    before = snapshot(phone)
    restored, made = Counter(), Counter()
    try:
        for number in range(count):
            who = list(KILLS)[number % len(KILLS)]
            phone.physics.set(percent=90)
            calibration = start(suite, peers)
            until_it_changes(phone, before)
            delay = delay_of(suite, moments)
            time.sleep(delay)
            changed = [key for key in differences(before, snapshot(phone))]
            phone.run(KILLS[who])
            if who == "all":
                # A process that is waiting for its storage dies, and gives up its lock, a moment later.
                phone.output("for try in 1 2 3 4 5; do joulecast calibrate --restore && exit; sleep 2; done; exit "
                             "1", 60)
            left = settle(phone, before, 20)
            made[who] += 1
            restored[who] += not left
            suite.check(not left, "kill %d, of %s after %.1f s with %d settings changed: %s" % (
                number + 1, who, delay, len(changed), "; ".join(left) or "all as before"))
            if left:
                phone.run("killall -9 joulecast-calib joulecast-watch; joulecast calibrate --restore")
            calibration.job.wait(60)
    finally:
        peers.close()
    for who in made:
        suite.rows.append("SIGKILL of %s: %d of %d times all as before" % (NAMES[who], restored[who], made[who]))


def cuts(suite):
    count = 10 if suite.options.full else 3
    moments = random_moments(suite)
    phone = suite.boot(physics=suite.physics("--percent", "95"))
    peers = Peers(suite)
    restored = 0
    time.sleep(3)
    before = snapshot(phone)
    try:
        for number in range(count):
            phone.physics.set(percent=90)
            start(suite, peers)
            until_it_changes(phone, before)
            delay = delay_of(suite, moments)
            time.sleep(delay)
            changed = differences(before, snapshot(phone))
            phone.cut_power()
            print("            power cut; booted again in %.1f s" % phone.boot(), flush=True)
            left = settle(phone, before, 30)
            restored += not left
            suite.check(not left, "cut %d, after %.1f s with %d settings changed: %s" % (
                number + 1, delay, len(changed), "; ".join(left) or "all as before"))
    finally:
        peers.close()
    suite.rows.append("power cuts: %d of %d times all as before" % (restored, count))


# ---- what the world does meanwhile ----------------------------------------------------------------------------------

def observe(calibration, wanted, timeout=240):
    """The next JSON line or sentence of which wanted() is true."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        objects, words = calibration.lines()
        for line in [*objects, *words]:
            if wanted(line):
                return line
        if calibration.job.ended.is_set():
            return None
        time.sleep(0.5)
    return None


def has_word(*words):
    return lambda line: any(word in str(line).lower() for word in words)


def is_observation(line):
    return isinstance(line, dict) and "mode" in line


def disturb(suite, phone, before, peers, name, cause, words, undo):
    """Something happens; the calibration must say so in one of these words, and go on or end; then all is as before."""
    phone.physics.set(percent=90)
    phone.output("rm -f /var/lib/joulecast-calibrate/observations.db*")
    calibration = start(suite, peers)
    observe(calibration, is_observation)
    cause()
    said = observe(calibration, has_word(*words))
    suite.check(said, "%s: it says %s" % (name, str(said)[:200] if said else "nothing of it: " +
                                          calibration.job.text()[-600:]))
    undo()
    if not calibration.job.ended.is_set():
        goes_on = observe(calibration, lambda line: is_observation(line) and not line.get("rejected"), 200)
        suite.check(goes_on or calibration.job.ended.is_set(), name + ": it goes on afterwards")
        phone.run(KILLS["worker"].replace("-9", "-INT"))
        try:
            calibration.job.wait(60)
        except PhoneError as error:
            suite.check(False, name + ": it does not end on Ctrl-C:", error)
    left = settle(phone, before, 15)
    suite.check(not left, name + ": " + ("; ".join(left) or "all as before"))


def disturbances(suite):
    phone = suite.boot(physics=suite.physics("--percent", "95"))
    peers = Peers(suite)
    time.sleep(3)
    before = snapshot(phone)
    physics = phone.physics
    air = "nsenter -t $(busybox pidof hostapd) -n "
    cases = (
        ("charger plugged", lambda: physics.set(charger=True), ("plugged", "charg"),
         lambda: physics.set(charger=False)),
        ("battery removed", lambda: physics.set(battery=False), ("battery",), lambda: physics.set(battery=True)),
        ("firmware limit", lambda: physics.set(ppc=3), ("khz only", "thrott"), lambda: physics.set(ppc=None)),
        ("radio blocked", lambda: phone.output("rfkill block wlan"),
         ("wifi", "radio", "associat", "network", "connect"),
         lambda: phone.output("rfkill unblock wlan; %s ip link set wlan1 up; ip link set wlan0 up" % air)),
        ("access point gone", lambda: phone.output(air + "ip link set wlan1 down"),
         ("wifi", "associat", "access point", "network", "connect"),
         lambda: phone.output(air + "ip link set wlan1 up")),
    )
    try:
        for name, cause, words, undo in cases:
            disturb(suite, phone, before, peers, name, cause, words, undo)
    finally:
        peers.close()
