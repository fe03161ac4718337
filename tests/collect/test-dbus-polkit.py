#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibrate of org.joulecast1 with a real polkitd: who may, who may not, and that joulecastd, as its own user, can
start that unit and no other. systemd is played by this script, which asks polkit as systemd does.

Runs in a mount namespace of its own, in which the user joulecast and our files for polkit are there.

Usage: test-dbus-polkit.py JOULECASTD JOULECAST DATA-DBUS DEVICE-INI
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

POLKITD = "/usr/lib/polkit-1/polkitd"
SYSTEMD, SYSTEMD_PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
ALLOWED, OTHER, SERVICE = 65533, 65534, 61234


def skip(why):
    print("skipped:", why)
    sys.exit(77)


if os.geteuid() != 0:
    skip("needs root, for polkitd and users of its own")
for needed in (POLKITD, "dbus-daemon", "busctl", "unshare"):
    if not shutil.which(needed):
        skip(f"there is no {needed}")
if not os.path.exists("/usr/share/polkit-1/actions/org.freedesktop.systemd1.policy"):
    skip("systemd's actions for polkit are not installed")
try:
    import dbus
    import dbus.mainloop.glib
    import dbus.service
    from gi.repository import GLib
except ImportError:
    skip("there is no python3-dbus or python3-gi")
if os.environ.get("JOULECAST_TEST_INSIDE") != str(os.getppid()):
    sys.exit(subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv],
                            env={**os.environ, "JOULECAST_TEST_INSIDE": str(os.getpid())}, check=False).returncode)

JOULECASTD, JOULECAST, DATA, DEVICE = map(os.path.abspath, sys.argv[1:5])
BUS = """<busconfig><type>system</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
<allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/>
<allow send_destination="org.freedesktop.PolicyKit1"/><allow send_destination="org.freedesktop.systemd1"/></policy>
<policy user="root"><allow own="*"/></policy><policy user="polkitd"><allow own="org.freedesktop.PolicyKit1"/></policy>
<include>%s/org.joulecast1.conf</include></busconfig>"""
MAY = """polkit.addRule(function(action, subject) {
    if (action.id == "org.joulecast1.calibrate" && subject.user == "%s") { return polkit.Result.YES; } });"""


class Systemd(dbus.service.Object):
    """Its manager, as far as it is needed: polkit decides about who calls, with the unit and the verb."""
    started, refused = [], []

    @dbus.service.method(SYSTEMD + ".Manager", in_signature="ss", out_signature="o", sender_keyword="sender",
                         async_callbacks=("done", "failed"))
    def StartUnit(self, unit, mode, done, failed, sender):  # pylint: disable=invalid-name
        self.decide("start", unit, sender, done, failed)

    @dbus.service.method(SYSTEMD + ".Manager", in_signature="ss", out_signature="o", sender_keyword="sender",
                         async_callbacks=("done", "failed"))
    def StopUnit(self, unit, mode, done, failed, sender):  # pylint: disable=invalid-name
        self.decide("stop", unit, sender, done, failed)

    def decide(self, verb, unit, sender, done, failed):
        def decided(result):
            if result[0]:
                self.started.append((verb, str(unit)))
                done("/org/freedesktop/systemd1/job/1")
            else:
                self.refused.append((verb, str(unit)))
                failed(dbus.DBusException("Access denied", name="org.freedesktop.DBus.Error.AccessDenied"))
        self.connection.call_async("org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
                                   "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", "(sa{sv})sa{ss}us",
                                   (("system-bus-name", {"name": sender}), SYSTEMD + ".manage-units",
                                    {"unit": unit, "verb": verb}, dbus.UInt32(0), ""), decided, failed, 30)


def wait_for(what, condition):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("not in a minute: " + what)


def call_as(user, address, *arguments):
    done = subprocess.run(["busctl", "--address=" + address, "call", *arguments], capture_output=True, text=True,
                          timeout=120,
                          check=False, user=user, group=user, extra_groups=[])
    return (done.stdout + done.stderr).strip()


def main(folder, children):
    os.chmod(folder, 0o755)
    with open("/etc/passwd", encoding="utf-8") as file:
        users = file.read()
    with open(folder + "/passwd", "w", encoding="utf-8") as file:
        lines = [line for line in users.splitlines() if not line.startswith("joulecast:")]
        print(*lines, f"joulecast:x:{SERVICE}:{SERVICE}::/nonexistent:/bin/false",
              f"jc-allowed:x:{ALLOWED}:{ALLOWED}::/nonexistent:/bin/false", sep="\n", file=file)
    os.chmod(folder + "/passwd", 0o644)
    subprocess.run(["mount", "--bind", folder + "/passwd", "/etc/passwd"], check=True)
    for to, names in (("actions", ["org.joulecast1.policy"]), ("rules.d", ["org.joulecast1.rules"])):
        copy = folder + "/" + to
        os.makedirs("/usr/share/polkit-1/" + to, exist_ok=True)
        shutil.copytree("/usr/share/polkit-1/" + to, copy)
        os.chmod(copy, 0o755)
        for name in names:
            shutil.copy(DATA + "/" + name, copy)
        if to == "rules.d":
            with open(copy + "/99-test.rules", "w", encoding="utf-8") as file:
                file.write(MAY % "jc-allowed")
        subprocess.run(["mount", "--bind", copy, "/usr/share/polkit-1/" + to], check=True)
    with open(folder + "/bus.conf", "w", encoding="utf-8") as file:
        file.write(BUS % (folder + "/bus", DATA))
    address = "unix:path=" + folder + "/bus"
    environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": address}

    def run(*command, **how):
        child = subprocess.Popen(command, env=environment, **how)
        children.append(child)
        return child

    def bus_is_there():
        try:
            return dbus.bus.BusConnection(address)
        except dbus.DBusException:
            return None
    run("dbus-daemon", "--config-file=" + folder + "/bus.conf", "--nofork", "--nopidfile", stderr=subprocess.DEVNULL)
    wait_for("a bus", bus_is_there)
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(address)
    run(POLKITD, "--no-debug", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("polkitd", lambda: bus.name_has_owner("org.freedesktop.PolicyKit1"))
    bus.request_name(SYSTEMD)
    manager = Systemd(bus, SYSTEMD_PATH)
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
    home = folder + "/home"
    os.mkdir(home)
    os.chown(home, SERVICE, SERVICE)
    run(JOULECASTD, "--database", home + "/usage.db", "--interval", "3600", "--focus-socket", home + "/focus",
        "--socket",
        home + "/socket", "--profile", DEVICE, "--bus", "--collector", "proc", user=SERVICE, group=SERVICE,
        extra_groups=[],
        stderr=subprocess.DEVNULL)
    wait_for("org.joulecast1", lambda: bus.name_has_owner("org.joulecast1"))

    calibrate = ("org.joulecast1", "/org/joulecast1", "org.joulecast1", "Calibrate")
    said = call_as(OTHER, address, *calibrate)
    assert "password" in said and not manager.started, said
    said = call_as(ALLOWED, address, *calibrate)
    assert said == 's "joulecast-calibrate.service"', said
    assert manager.started == [("start", "joulecast-calibrate.service")], manager.started
    # Calls that the service itself might make if it were compromised.
    systemd = (SYSTEMD, SYSTEMD_PATH, SYSTEMD + ".Manager")
    for method, unit in (("StartUnit", "ssh.service"), ("StopUnit", "joulecast-calibrate.service"),
                         ("StartUnit", "joulecast-calibrate.service.service")):
        said = call_as(SERVICE, address, *systemd, method, "ss", unit, "fail")
        assert "denied" in said, (method, unit, said)
    # Only the service may do this.
    for user in (ALLOWED, OTHER):
        said = call_as(user, address, *systemd, "StartUnit", "ss", "joulecast-calibrate.service", "fail")
        assert "denied" in said, said
    assert len(manager.started) == 1 and len(manager.refused) == 5, (manager.started, manager.refused)
    print("ok")


if __name__ == "__main__":
    started = []
    place = tempfile.mkdtemp(prefix="joulecast-polkit-")
    try:
        main(place, started)
    finally:
        for one in reversed(started):
            one.terminate()
            one.wait(30)
        for mounted in ("/etc/passwd", "/usr/share/polkit-1/actions", "/usr/share/polkit-1/rules.d"):
            subprocess.run(["umount", mounted], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(place)
