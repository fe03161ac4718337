# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A calibration and logind (python-dbusmock's): the brightness by a user who may not write it, inhibitors, who
comes."""
import os
import queue
import subprocess
import threading
import time

from desktops import mocked, owned, session_says, set_property
from inside import BUILD, PLAYER, RUNTIME, check, children, environment, system_bus, wait_for, write

DRIVER = BUILD + "/tests/desktop/seat-driver"
PANEL = "/sys/class/backlight/panel/"
# As logind does: what comes over the bus goes to sysfs; a stranger's is refused.
SET_BRIGHTNESS = """
if args[2] > 500:
    raise dbus.exceptions.DBusException("not your session", name="org.freedesktop.DBus.Error.AccessDenied")
open("/sys/class/%s/%s/brightness" % (args[0], args[1]), "w").write(str(args[2]))
"""


class Driver:
    """seat-driver as the player; its words."""

    def __init__(self, address, *arguments):
        def become():
            os.setgroups([])
            os.setgid(PLAYER.pw_gid)
            os.setuid(PLAYER.pw_uid)
        with open("/tmp/seat-driver.log", "ab") as log:
            self.process = subprocess.Popen([DRIVER, *arguments], env=environment(DBUS_SYSTEM_BUS_ADDRESS=address),
                                            preexec_fn=become, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=log, text=True)
        children.append(self.process)
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def hear(self, seconds=6):
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait(5)


def logind():
    """As root, who may write to sysfs; with one session on seat0."""
    address = system_bus()
    with open("/tmp/mock-logind.log", "ab") as log:
        children.append(subprocess.Popen(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind"],
                                         stdout=log,
                                         stderr=log, env=dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=address)))
    wait_for(owned(address, "org.freedesktop.login1", "--system"))
    wait_for(lambda: mocked(address, "", "AddSession", "c1", "seat0", str(PLAYER.pw_uid), "player", "true"))
    session_says(address, Class="'user'")()
    return address


def panel(start):
    """A backlight of real attributes of sysfs, which only root may write: the loopback's MTU, its queue's length as
    the most."""
    subprocess.run("mount -o remount,rw /sys || mount -o remount,bind,rw /sys", shell=True, check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "class", "/sys/class"], check=True)
    for name, attribute in (("brightness", "mtu"), ("max_brightness", "tx_queue_len")):
        write(PANEL + name, "")
        subprocess.run(["mount", "--bind", "/sys/devices/virtual/net/lo/" + attribute, PANEL + name], check=True)
    with open(PANEL + "brightness", "w", encoding="ascii") as file:
        file.write(str(start))


def shown():
    with open(PANEL + "brightness", encoding="ascii") as file:
        return int(file.read())


def test_seat_brightness():
    address = logind()
    panel(120)
    journal = RUNTIME + "/journal/restore.ini"
    driver = Driver(address, "brightness", journal, "77")
    check(driver.hear().startswith("failed "), "without the session's SetBrightness it cannot be held")
    driver.end()
    check(driver.hear() == "nothing to put back" and shown() == 120, "and it is as it was")
    mocked(address, "", "AddObject", "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session",
           "@a{sv} {}",
           str([("SetBrightness", "ssu", "", SET_BRIGHTNESS)]))
    driver = Driver(address, "brightness", journal, "77")
    check(driver.hear() == "held" and shown() == 77, "logind sets what the user may not", shown())
    check(os.path.exists(journal), "it is journalled")
    driver.end()
    check(driver.hear() == "put back" and shown() == 120, "and puts it back, by logind, too", shown())
    check(not os.path.exists(journal), "without a journal left")
    driver = Driver(address, "brightness", journal, "900")
    check(driver.hear() == "failed Permission denied" and shown() == 120, "a stranger to the seat is told so")
    driver.end()
    driver = Driver(address, "brightness", journal, "300")
    check(driver.hear() == "held" and shown() == 300, "held")
    with open(PANEL + "brightness", "w", encoding="ascii") as file:
        file.write("42")
    driver.end()
    check(driver.hear() == "nothing to put back" and shown() == 42, "what somebody else has set since is left", shown())


def inhibitors(address):
    return subprocess.run(["gdbus", "call", "--system", "-d", "org.freedesktop.login1", "-o",
                           "/org/freedesktop/login1", "-m",
                           "org.freedesktop.login1.Manager.ListInhibitors"],
                          env=dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=address),
                          capture_output=True, text=True).stdout


def test_seat_inhibit():
    address = logind()
    check("joulecast" not in inhibitors(address), "nothing inhibits")
    driver = Driver(address, "inhibit")
    check(driver.hear() == "inhibits", "it was granted")
    check("'sleep:idle:handle-lid-switch', 'joulecast'" in inhibitors(address), inhibitors(address))
    driver.process.kill()
    check(wait_for(lambda: "joulecast" not in inhibitors(address)), "it is gone with who held it, however that ended")


def test_seat_guard():
    """A night pauses for a minute when the session is woken, unlocked or entered, and not for what happens by
    itself."""
    address = logind()
    write("/tmp/tree/sys/class/power_supply/BAT0/type", "Battery\n")
    driver = Driver(address, "guard", "/tmp/tree")
    check(driver.hear() == "goes on", "a session that was there before is no news, and never idle is none")

    def pauses(what, act):
        act()
        check(driver.hear() == "somebody uses the machine", what, "pauses the night")
        check(driver.hear(0.5) is None, "for a while")
        driver.say("later")
        check(driver.hear() == "goes on", "and it goes on")

    def ignores(what, act):
        act()
        heard = driver.hear(0.5)
        check(heard is None, what, "is no news", heard or "")

    say = lambda **properties: session_says(address, **properties)
    ignores("a session that goes idle", say(IdleHint="true"))
    pauses("one that is woken", say(IdleHint="false"))
    ignores("one that is locked", say(LockedHint="true"))
    pauses("one that is unlocked", say(LockedHint="false"))
    ignores("one that loses the screen", say(Active="false"))
    pauses("one that gets it back", say(Active="true"))
    ignores("the manager's own idle hint", lambda: set_property(address, "", "Manager", "IdleHint", "true"))
    ignores("it idles again", say(IdleHint="true"))
    driver.say("change")
    time.sleep(0.2)
    ignores("a white picture, which inhibits idling,", say(IdleHint="false"))
    mocked(address, "", "AddSession", "c2", "seat0", "4712", "guest", "true")
    pauses("a second user", lambda: mocked(address, "", "EmitSignal", "org.freedesktop.login1.Manager",
                                           "SessionNew", "so",
                                           "[<'c2'>, <objectpath '/org/freedesktop/login1/session/c2'>]"))
    driver.end()
