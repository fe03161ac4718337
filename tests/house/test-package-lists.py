#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every installed file is in one package of Debian, and in the same one of Fedora and Alpine; Arch has one for all.

debian/*.install is the list; the spec and the APKBUILD are compared with it. Versions agree, too.

Usage: test-package-lists BUILD-DIR SOURCE-DIR
"""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

build, source = sys.argv[1:]
failures = 0
PROGRAMS = {"calibrate", "develop", "fit", "focus", "gpu", "live", "picture", "record", "share", "stage", "traffic"}
# The folders of a daemon that reads only some prefixes, in those of a package.
PLACES = [(r"^etc/dbus-1/", "usr/share/dbus-1/"), (r"^etc/polkit-1/rules.d/", "usr/share/polkit-1/rules.d/")]
FEDORA = {"": "joulecast", "calibrate": "joulecast-calibrate", "focus": "joulecast-focus",
          "develop": "joulecast-develop", "community": "joulecast-community", "libs": "libjoulecast0",
          "devel": "libjoulecast-dev", "-n python3-%{name}": "python3-joulecast", "doc": "joulecast-doc"}
MACROS = {"_bindir": "usr/bin", "_unitdir": "usr/lib/systemd/system", "_userunitdir": "usr/lib/systemd/user",
          "_sysusersdir": "usr/lib/sysusers.d", "_libexecdir": "usr/libexec", "_datadir": "usr/share",
          "_mandir": "usr/share/man", "_includedir": "usr/include", "_libdir": "usr/lib/*", "_sysconfdir": "etc",
          "python3_sitelib": "usr/lib/python3*/*"}
ALPINE = {"calibrate": "joulecast-calibrate", "focus": "joulecast-focus", "develop": "joulecast-develop",
          "community": "joulecast-community", "py3": "python3-joulecast"}
# abuild's own rules of -dev and -libs.
ABUILD = [("usr/include", "libjoulecast-dev"), ("usr/lib/*/pkgconfig", "libjoulecast-dev"),
          ("usr/lib/*/lib*.so", "libjoulecast-dev"), ("usr/lib/*/lib*.so.[0-9]*", "libjoulecast0")]
# Alpine has documents in -doc, and no systemd.
NOT_ALPINE = re.compile(r"usr/share/(doc|man)/|usr/lib/(systemd|sysusers\.d)/")


def fail(what):
    global failures
    failures += 1
    print("failed:", what)


def read(name):
    with open(os.path.join(source, name), encoding="utf-8") as file:
        return file.read()


def installed():
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as file:
        prefix = next(option["value"] for option in json.load(file) if option["name"] == "prefix").strip("/")
    with open(os.path.join(build, "meson-info", "intro-installed.json"), encoding="utf-8") as file:
        paths = [path.strip("/") for path in json.load(file).values()]
    for path in paths:
        path = re.sub(rf"^{re.escape(prefix)}/", "usr/", path)
        for pattern, place in PLACES:
            path = re.sub(pattern, place, path)
        yield path


def matches(path, pattern):
    """A pattern names files, or a folder with all that is in it; its * does not cross folders."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def debian():
    for name in glob.glob(os.path.join(source, "debian", "*.install")):
        package = os.path.basename(name)[:-len(".install")]
        for line in read(name).splitlines():
            if line.strip() and not line.startswith("#"):
                yield line.split()[0], package


def fedora():
    for head, body in re.findall(r"^%files ?(.*)\n((?:.+\n)*)", read("packaging/fedora/joulecast.spec"), re.M):
        if head not in FEDORA:
            fail(f"the spec has %files {head}, which Debian has not")
            continue
        for line in body.splitlines():
            if not line.startswith(("#", "%license", "%dir", "%pycached")):
                line = re.sub(r"^%(doc|config\S*) ", "", line)
                path = re.sub(r"%\{(\w+)\}", lambda macro: MACROS[macro.group(1)], line)
                # rpm compresses manual pages
                yield re.sub(r"^(usr/share/man/.*)\*$", r"\1", path), FEDORA[head]


def alpine():
    for function, package in ALPINE.items():
        script = 'amove() { printf "%s\\n" "$@"; }; . "$1"; ' + function
        done = subprocess.run(["sh", "-fc", script, "sh", os.path.join(source, "packaging/alpine/APKBUILD")],
                              stdout=subprocess.PIPE, text=True, check=True)
        yield from ((pattern, package) for pattern in done.stdout.split())
    yield from ABUILD


def place(paths, patterns, who, rest=None):
    """The package of each path. Every pattern is needed; what none has goes to package rest."""
    found = {}
    for pattern, package in patterns:
        mine = [path for path in paths if matches(path, pattern)]
        if not mine:
            fail(f"{who}: {package} lists {pattern}, which is not installed")
        for path in mine:
            if found.setdefault(path, package) != package:
                fail(f"{who}: {path} is in {found[path]} and {package}")
    for path in paths:
        if path not in found and not rest:
            fail(f"{who}: {path} is in no package")
        found.setdefault(path, rest)
    return found


def same(ours, theirs, who):
    for path, package in theirs.items():
        if ours.get(path) != package:
            fail(f"{who}: {path} is in {package}, Debian has it in {ours.get(path)}")


def versions():
    version = re.search(r"^  version: '(.*)',$", read("meson.build"), re.M).group(1)
    for name, pattern in (("debian/changelog", r"\((.*?)-"), ("packaging/fedora/joulecast.spec", r"Version: +(.*)"),
                          ("packaging/alpine/APKBUILD", "pkgver=(.*)"), ("packaging/arch/PKGBUILD", "pkgver=(.*)"),
                          ("packaging/nix/package.nix", 'version = "(.*)"')):
        if re.search(pattern, read(name)).group(1) != version:
            fail(f"{name} is not of version {version}")


everything = sorted(installed())
missing = {name for name in PROGRAMS if f"usr/libexec/joulecast/joulecast-{name}" not in everything}
if missing or "usr/bin/joulecast-community" not in everything or "usr/share/man/man1/joulecast.1" not in everything:
    print("skipped: not all parts are built:", *missing)
    sys.exit(77)
versions()
list_of_debian = place(everything, debian(), "Debian")
same(list_of_debian, place(everything, fedora(), "Fedora"), "Fedora")
there = [path for path in everything if not NOT_ALPINE.match(path)]
same(list_of_debian, place(there, alpine(), "Alpine", "joulecast"), "Alpine")
print(f"{len(everything)} files")
sys.exit(failures > 0)
