#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/hardware.md names every kernel interface that the sources of a calibration name.

Usage: test-interfaces.py SOURCE-FOLDER
"""
import pathlib
import re
import sys

# The library's parts that a calibration links; others answer questions or watch the foreground app.
LIBRARY = ("app-flatpak", "app-process", "battery", "bluetooth", "bpf-opps", "camera", "clock", "collector", "cpu",
           "cpu-kind", "disk", "display",
           "gpu", "inet-diag", "machine", "net", "net-process", "net-route", "net-tunnel", "process*", "sound",
           "taskstats", "uevent")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|/\*.*?\*/', re.S)  # or a comment, which does not count
INCLUDE = re.compile(r"^#include.*", re.M)
PATH = re.compile(r"^/?((?:sys|proc|dev|run|etc|var)/[a-z0-9_./-]*)(%?)")
NAME = re.compile(r"\borg\.freedesktop\.\w+|\bNETLINK_[A-Z_]+\b")
OURS = {"NETLINK_GENERIC", "org.freedesktop.DBus"}  # named by what goes over it; signals of any service
NO_INTERFACE = {"/dev/null", "/var/tmp"}


def interfaces(text):
    """Interfaces that a source names: whole folders of /sys/class and the like, files of /proc."""
    for literal in LITERAL.findall(text):
        match = PATH.match(literal)
        if not match:
            continue
        parts = match[1].split("/")
        if match[2] or match[1].endswith("/"):
            parts = parts[:-1]  # the name continues with a device's name
        if len(parts) > 1:
            yield "/" + "/".join(parts[:4 if parts[2:3] == ["system"] else 3 if parts[0] in ("sys", "run")
                                       else len(parts)])
    yield from set(NAME.findall(text)) - OURS


def main():
    root = pathlib.Path(sys.argv[1])
    told = (root / "docs/hardware.md").read_text(encoding="utf-8").replace("\\*", "*")
    sources = list((root / "calibrate").rglob("*.[ch]"))
    for pattern in LIBRARY:
        found = list((root / "lib").rglob(pattern + ".c"))
        if not found:
            sys.exit("lib/%s.c is not there any more; name what took its place" % pattern)
        sources += found
    missing, named = [], set()
    for path in sorted(set(sources)):
        for interface in interfaces(INCLUDE.sub("", path.read_text(encoding="utf-8"))):
            named.add(interface)
            if interface not in told and interface not in NO_INTERFACE:
                missing.append("%s: %s" % (path.relative_to(root), interface))
    for line in sorted(set(missing)):
        print(line + " is not in docs/hardware.md")
    for sure in ("/sys/class/power_supply", "/proc/net/tcp6", "NETLINK_ROUTE", "org.freedesktop.login1"):
        if sure not in named:
            missing.append(sure)
            print(sure + " was not found in the sources: this test looks wrongly")
    sys.exit(bool(missing))


main()
