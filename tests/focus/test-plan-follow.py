#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-focus follows a plan and undoes it: at its time, by --undo, when a charger comes, at its end, after a
crash.

Services of a system's bus (session_settings.py) and the kernel's files are invented, in a mount namespace.

Usage: test-plan-follow.py JOULECAST JOULECAST-FOCUS SESSION-SETTINGS DEVICE-INI
"""
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

JOULECAST, FOCUS, SETTINGS, DEVICE = (os.path.abspath(argument) for argument in sys.argv[1:5])
USER = pwd.getpwnam("nobody").pw_uid
USUAL = {"brightness": 200, "wifi": True, "wwan": True, "profile": "balanced"}


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def outside():
    if os.getuid() != 0:
        skip("it needs root, for a mount namespace")
    if not shutil.which("dbus-daemon") or subprocess.run([sys.executable, "-c", "import dbus, gi"], capture_output=True,
                                                         check=False).returncode:
        skip("there is no dbus-daemon, or Python has no dbus or gi")
    spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*spaces, "true"], check=False).returncode:
        skip("no namespaces can be made")
    if subprocess.run(["setpriv", f"--reuid={USER}", "--clear-groups", "test", "-x", FOCUS], check=False).returncode:
        skip("another user cannot run what was built here")
    sys.exit(subprocess.run([*spaces, sys.executable, *sys.argv, "--inside"], check=False).returncode)


def wait_for(what, words, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"timed out: {words}"
        time.sleep(0.02)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + "~", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + "~", path)  # whoever reads it reads all of it


class Machine:
    def __init__(self, folder):
        self.folder, self.agent = folder, None
        self.backlight, self.supplies = "/sys/class/backlight", "/sys/class/power_supply"
        self.settings = folder + "/settings.json"
        self.wish, self.made = (f"{folder}/state/joulecast/{name}" for name in ("plan", "plan-made"))
        self.limits = folder + "/config/joulecast/limits.ini"
        write(self.backlight + "/panel0/max_brightness", "255\n")
        write(self.backlight + "/panel0/type", "raw\n")
        write(self.backlight + "/panel0/bl_power", "0\n")
        for name, text in (("type", "Battery"), ("status", "Discharging"), ("capacity", "56"), ("present", "1"),
                           ("scope", "System"),
                           ("charge_now", "2000000"), ("charge_full", "4000000"), ("voltage_now", "3900000"),
                           ("current_now", "300000")):
            write(f"{self.supplies}/BAT0/{name}", text + "\n")
        write(self.supplies + "/AC/type", "Mains\n")
        self.plug(False)
        self.reset()
        os.environ.update(DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={folder}/bus", XDG_RUNTIME_DIR=folder + "/runtime",
                          HOME=folder,
                          XDG_CONFIG_HOME=folder + "/config", XDG_STATE_HOME=folder + "/state", LC_ALL="C.UTF-8",
                          TZ="UTC")
        os.environ.pop("WAYLAND_DISPLAY", None)
        os.environ.pop("DISPLAY", None)
        os.makedirs(folder + "/runtime", mode=0o700)
        subprocess.Popen(["dbus-daemon", "--session", "--nofork", f"--address=unix:path={folder}/bus"],
                         stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(folder + "/bus"), "the bus")
        mock = subprocess.Popen([sys.executable, SETTINGS, self.backlight, self.settings], stdout=subprocess.PIPE,
                                text=True)
        assert mock.stdout.readline() == "ready\n"

    def reset(self, **more):
        write(self.settings, json.dumps({**USUAL, **more}))
        write(self.backlight + "/panel0/brightness", "200\n")

    def now(self):
        with open(self.settings, encoding="utf-8") as file:
            state = json.load(file)
        with open(self.backlight + "/panel0/brightness", encoding="utf-8") as file:
            state["brightness"] = int(file.read())
        return {name: state[name] for name in USUAL}

    def plug(self, online):
        write(self.supplies + "/AC/online", f"{int(online)}\n")
        write(self.supplies + "/BAT0/status", "Charging\n" if online else "Discharging\n")

    def start(self):
        with open(self.folder + "/log", "w", encoding="utf-8") as log:
            self.agent = subprocess.Popen([FOCUS, "--warn-every", "0"], start_new_session=True, stderr=log)

        def ready():  # it says so after it has begun to watch for plans
            with open(self.folder + "/log", encoding="utf-8") as log:
                return "back-end" in log.read()
        wait_for(ready, "the agent")

    def stop(self, sign=signal.SIGTERM):
        self.agent.send_signal(sign)
        self.agent.wait()

    def follow(self, seconds, *changes):
        lines = "".join(f"{change}\n" for change in changes)
        write(self.wish + ".new", f"until {int((time.time() + seconds) * 1e9)}\n{lines}")
        os.rename(self.wish + ".new", self.wish)
        wait_for(lambda: os.path.exists(self.made) and not re.search("wished|making", self.journal()), "the journal")

    def journal(self):
        with open(self.made, encoding="utf-8") as file:
            return file.read()

    def is_undone(self):
        return not os.path.exists(self.made) and not os.path.exists(self.wish)


ALL = ("brightness wished 20 - ", "wifi_off wished - - ", "cellular_off wished - - ",
       "power_profile wished power-saver - ",
       "limit wished - - org.example.Mail")
MADE = {"brightness": 51, "wifi": False, "wwan": False, "profile": "power-saver"}


def check_made(machine):
    assert machine.now() == MADE, machine.now()
    with open(machine.limits, encoding="utf-8") as file:
        assert "app = org.example.Mail\nfreeze_after_s = 10\n" in file.read()


def check_undone(machine, expected=None):
    wait_for(machine.is_undone, "the end of the plan")
    assert machine.now() == (expected or USUAL), machine.now()
    with open(machine.limits, encoding="utf-8") as file:
        assert "org.example.Mail" not in file.read()


def ends(machine):
    for how in ("time", "charger", "undo", "stop", "kill", "new"):
        machine.reset()
        machine.start()
        machine.follow(4 if how == "time" else 3600, *ALL)
        check_made(machine)
        if how == "charger":
            machine.plug(True)
        elif how == "undo":
            said = subprocess.run([JOULECAST, "advise", "--undo"], check=True, capture_output=True, text=True).stdout
            assert "as before the plan" in said, said
        elif how == "stop":
            machine.stop()
        elif how == "kill":
            machine.stop(signal.SIGKILL)
        elif how == "new":  # another plan takes the place of this one, and keeps what was there before both
            machine.follow(3600, "brightness wished 40 - ")
            wait_for(lambda: machine.now() == {**USUAL, "brightness": 102}, "the other plan")
            os.unlink(machine.wish)
        check_undone(machine)
        machine.plug(False)
        if how not in ("stop", "kill"):
            machine.stop()


def changed_since(machine):
    """Settings that the user changes while a plan runs stay; a setting that cannot be changed does not stop others."""
    machine.reset(refuse=["wwan"])
    machine.start()
    machine.follow(3600, *ALL)
    assert "cellular_off failed" in machine.journal() and machine.now()["wifi"] is False
    write(machine.backlight + "/panel0/brightness", "90\n")
    os.unlink(machine.wish)
    check_undone(machine, {**USUAL, "brightness": 90})
    machine.stop()


def crash_of_both(machine):
    """As after a power cut, neither the agent nor its guard has undone anything. The next agent does, or --undo
    without an agent."""
    for again in ("agent", "undo"):
        machine.reset()
        machine.start()
        machine.follow(3600, *ALL)
        for sign in ("STOP", "STOP", "KILL"):  # in this pid namespace; twice, as one may have started another meanwhile
            subprocess.run(["pkill", "-" + sign, "-f", "^[^ ]*joulecast-focus( |$)"], check=True)
        machine.agent.wait()
        time.sleep(0.5)
        check_made(machine)
        if again == "agent":
            machine.start()
            check_undone(machine)
            machine.stop()
        else:
            subprocess.run([JOULECAST, "advise", "--undo"], check=True, stdin=subprocess.DEVNULL)
            check_undone(machine)


def bus_is_away(machine):
    """Settings that cannot be put back stay in the journal, and are tried again."""
    machine.reset()
    machine.start()
    machine.follow(3600, "wifi_off wished - - ", "power_profile wished power-saver - ")
    machine.reset(**{**MADE, "refuse": ["wifi"]})
    write(machine.backlight + "/panel0/brightness", "200\n")
    os.unlink(machine.wish)
    wait_for(lambda: machine.now()["profile"] == "balanced", "what can be put back")
    time.sleep(1)
    assert "wifi_off made off on" in machine.journal() and "power_profile" not in machine.journal()
    machine.reset(**{**MADE, "profile": "balanced"})
    machine.stop()
    wait_for(lambda: machine.now()["wifi"] is True and not os.path.exists(machine.made), "the second try")


def by_advice(machine):
    """joulecast advise --apply on a machine that has a battery and a recording of its own."""
    with open(DEVICE, encoding="utf-8") as file:
        text = file.read().split("\n[virtual]")[0].replace("method = virtual", "method = gauge")
    write(machine.folder + "/errors.ini",
          re.sub(r"^(\w+_m[wj](?!h)\S* = )([\d.]+)$", lambda found: f"{found[0]} {0.03 * float(found[2]):g}",
                                                 text, flags=re.M) + "\n[fit]\ndegrees_of_freedom = 20\n")
    write(machine.folder + "/scenario.ini",
          "[scenario]\nbrightness = 200\n[segment 1]\napp = game\nstate = foreground\nstart_s = 0\n"
          "length_s = 14400\nkhz = 1026000\ncores = 0.5 0 0 0\n")
    subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario",
                    machine.folder + "/scenario.ini", "--database",
                    machine.folder + "/state/joulecast/usage.db", "--start-percent", "95"], check=True,
                   stdout=subprocess.DEVNULL)
    ask = [JOULECAST, "advise", "--profile", machine.folder + "/errors.ini"]
    machine.reset()
    plan = json.loads(subprocess.run([*ask, "--for", "1s", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    assert plan["suffices"] and not plan["changes"], plan
    goal = ["--for", "%.0fs" % (60 * 1.1 * plan["minutes"]["low"])]
    refused = subprocess.run([*ask, *goal, "--apply", "--yes"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "joulecast-focus does not run" in refused.stderr, refused
    machine.start()
    refused = subprocess.run([*ask, *goal, "--apply"], capture_output=True, text=True, check=False,
                             stdin=subprocess.DEVNULL)
    assert refused.returncode == 1 and "--yes" in refused.stderr and machine.now() == USUAL, refused
    done = json.loads(subprocess.run([*ask, *goal, "--apply", "--yes", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    assert [one["action"] for one in done["changes"]] == ["brightness"] and done["suffices"], done
    assert done["made"][0]["state"] == "made" and done["made"][0]["old"] == "200", done
    brightness = int(2.55 * done["changes"][0]["brightness_percent"] + 0.501)
    assert machine.now()["brightness"] == brightness, (done, machine.now())
    assert machine.now()["profile"] == "balanced"  # it suffices without
    subprocess.run([JOULECAST, "advise", "--undo"], check=True, stdout=subprocess.DEVNULL)
    check_undone_settings(machine)
    far = json.loads(subprocess.run([*ask, "--for", "30h", "--apply", "--yes", "--json"], check=True,
                                    capture_output=True, text=True).stdout)
    assert not far["suffices"] and far["short_minutes"] > 600 and far["power_profile"] == "power-saver", far
    assert machine.now()["profile"] == "power-saver"
    warned = subprocess.run([JOULECAST, "warn", "--profile", machine.folder + "/errors.ini", "--json"], check=True,
                            capture_output=True,
                            text=True).stdout
    assert "plan" in [one["id"] for one in json.loads(warned)["warnings"]], warned
    machine.plug(True)
    check_undone_settings(machine)
    refused = subprocess.run([*ask, *goal, "--apply", "--yes"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "external power" in refused.stderr and machine.now() == USUAL, refused
    machine.plug(False)
    machine.stop()


def check_undone_settings(machine):
    wait_for(machine.is_undone, "the end of the plan")
    assert machine.now() == USUAL, machine.now()


def inside():
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "sys", "/sys"], check=True)
    os.makedirs("/sys/class")
    os.chown("/sys/class", USER, USER)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        for part in (ends, changed_since, crash_of_both, bus_is_away, by_advice):
            try:
                part(machine)
            except BaseException:
                print(part.__name__)
                raise
    os._exit(0)  # children end with the namespace


if __name__ == "__main__":
    inside() if "--inside" in sys.argv else outside()
