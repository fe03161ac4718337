#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The services of a system's bus that a plan asks: logind's brightness, NetworkManager's radios, power profiles.

Usage: session_settings.py BACKLIGHT-FOLDER STATE-FILE

Each change is written to STATE-FILE as JSON, and read from there first. "refuse": a list of names whose changes fail.
"""
import json
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

BACKLIGHT, STATE = sys.argv[1:]
PROFILES = "net.hadess.PowerProfiles"
MANAGER = "org.freedesktop.NetworkManager"


def read():
    with open(STATE, encoding="utf-8") as file:
        return json.load(file)


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def set_one(name, value):
    state = read()
    if name in state.get("refuse", []):
        raise dbus.exceptions.DBusException("not now", name="org.freedesktop.DBus.Error.AccessDenied")
    state[name] = value
    write(STATE, json.dumps(state))


class Session(dbus.service.Object):
    @dbus.service.method("org.freedesktop.login1.Session", in_signature="ssu")
    def SetBrightness(self, subsystem, name, brightness):
        assert subsystem == "backlight"
        set_one("brightness", int(brightness))
        write(f"{BACKLIGHT}/{name}/brightness", "%d\n" % brightness)


class Properties(dbus.service.Object):
    names = {}

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        value = read()[self.names[name]]
        return dbus.Boolean(value) if isinstance(value, bool) else dbus.String(value)

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ssv")
    def Set(self, interface, name, value):
        set_one(self.names[name], bool(value) if isinstance(value, dbus.Boolean) else str(value))


class Profiles(Properties):
    names = {"ActiveProfile": "profile"}


class Radios(Properties):
    names = {"WirelessEnabled": "wifi", "WwanEnabled": "wwan"}


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
names = [dbus.service.BusName(name, bus) for name in ("org.freedesktop.login1", PROFILES, MANAGER)]
Session(bus, "/org/freedesktop/login1/session/auto")
Profiles(bus, "/net/hadess/PowerProfiles")
Radios(bus, "/org/freedesktop/NetworkManager")
print("ready", flush=True)
GLib.MainLoop().run()
