#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which program links which library, and the licence of each file.

libcpupower is GPL-2.0-only, GSL is GPL-3.0-or-later, libcurl and libiperf pull in Apache-2.0 OpenSSL: each may be
linked by its programs only, and an app that loads libjoulecast.so gets SQLite, inih and cJSON and nothing more.

Usage: test-licences.py elf BUILD-DIR | spdx SOURCE-DIR
"""
import json
import os
import re
import subprocess
import sys

LIBC = {"libc", "libm", "ld-linux", "ld-linux-x86-64", "ld-linux-aarch64", "ld-linux-armhf", "libpthread", "libdl",
        "librt"}
SANITIZERS = {"libasan", "libubsan", "libgcc_s"}
SHARED_LIBRARY = LIBC | SANITIZERS | {"libsqlite3", "libinih", "libcjson"}
ITS_PROGRAMS = {
    "libcpupower": {"joulecast-calibrate"},
    "libgsl": {"joulecast-fit"},
    "libgslcblas": {"joulecast-fit"},
    "libcurl": {"joulecast-traffic", "joulecast-share"},
    "libcurl-gnutls": {"joulecast-traffic", "joulecast-share"},
    "libiperf": {"joulecast-traffic"},
}
# The licence of each folder's own files; the longest prefix decides. Everything else at top level is LGPL or GPL-2+.
LGPL, GPL2, GPL3 = "LGPL-2.1-or-later", "GPL-2.0-or-later", "GPL-3.0-or-later"
FOLDERS = {
    "include/": {LGPL},
    "lib/": {LGPL},
    "lib/answer/": {GPL2},
    "lib/desktop/": {GPL2},
    "lib/page/": {GPL2},
    "lib/process/bpf/": {"GPL-2.0-only OR BSD-2-Clause"},
    "examples/": {LGPL},
    "data/": {LGPL},
    "docs/": {LGPL},
    "calibrate/": {GPL2},
    "calibrate/fit/": {GPL3},
    "calibrate/sapp/": {GPL2, GPL3},
    "calibrate/learn/": {GPL3},
    "calibrate/command/joulecast-fit.c": {GPL3},
    "calibrate/command/learn-command.c": {GPL3},
    "calibrate/command/learn-command.h": {GPL3},
    "calibrate/command/trace-options.c": {GPL3},
    "calibrate/command/trace-options.h": {GPL3},
    "community/": {GPL2},
    "community/shared/": {LGPL},
    "develop/": {GPL2},
    "develop/tree/": {LGPL},
    "poller/": {GPL2},
    "predict/": {GPL2},
    "tests/": {LGPL, GPL2, GPL3},
    "": {LGPL, GPL2},
}
failures = []


def fail(text):
    failures.append(text)
    print("failed:", text)


def needed(path):
    out = subprocess.run(["readelf", "-d", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", out)}


def check_elf(build):
    with open(os.path.join(build, "meson-info", "intro-targets.json")) as file:
        targets = json.load(file)
    seen = {}
    for target in targets:
        if target["type"] not in ("executable", "shared library", "shared module"):
            continue
        path = target["filename"][0]
        if not os.path.exists(path) or open(path, "rb").read(4) != b"\x7fELF":
            continue
        name = os.path.basename(path).split(".so")[0]
        libraries = needed(path)
        seen[name] = libraries
        foreign = sorted(libraries & ITS_PROGRAMS.keys())
        if foreign and not set.intersection(*(ITS_PROGRAMS[library] for library in foreign)):
            fail(f"{name} links {' and '.join(foreign)}, whose licences may not meet")
        for library in foreign:
            if target["installed"] and name not in ITS_PROGRAMS[library]:
                fail(f"{name} links {library}, which only {', '.join(sorted(ITS_PROGRAMS[library]))} may")
        if target["type"] == "shared library" and libraries - SHARED_LIBRARY:
            fail(f"{name} needs {', '.join(sorted(libraries - SHARED_LIBRARY))} beside SQLite, inih and cJSON")
        print(f"{name}: {' '.join(sorted(libraries - LIBC))}")
    # And the reverse: a program built with its library does link it, so the table above is about something.
    for library in ("libgsl", "libcpupower", "libcurl", "libiperf"):
        for program in ITS_PROGRAMS[library]:
            if program in seen and library not in seen[program] and library in os.environ.get("LIBRARIES", "").split():
                fail(f"{program} does not link {library}")
    if not seen:
        fail(f"no binaries in {build}")


def expected(path):
    return FOLDERS[max((folder for folder in FOLDERS if path.startswith(folder)), key=len)]


def tracked(source):
    try:
        out = subprocess.run(["git", "-c", "safe.directory=*", "-C", source, "ls-files", "-z"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
        return [path for path in out.split("\0") if path]
    except (OSError, subprocess.CalledProcessError):
        paths = []
        for folder, folders, names in os.walk(source):
            folders[:] = [name for name in folders if not name.startswith((".", "build")) and name != "__pycache__" and
                          not os.path.exists(os.path.join(folder, name, "meson-private"))]
            paths += [os.path.relpath(os.path.join(folder, name), source) for name in names]
        return paths


def check_spdx(source):
    n = 0
    for path in tracked(source):
        full = os.path.join(source, path)
        if path.startswith("LICENSES/") or not os.path.isfile(full):
            continue
        with open(full, "rb") as file:
            head = file.read(2000).decode("utf-8", "replace")
        found = re.search(r"SPDX-License-Identifier: ([^*\n]+?)\s*(?:\*/|-->|\n)", head)
        if not found:
            continue  # reuse lint, with .reuse/dep5, knows whether that may be
        n += 1
        if found.group(1) not in (expected(path) | ({LGPL, GPL2} if path.endswith("meson.build") else set())):
            fail(f"{path} is {found.group(1)}, but its folder is {' or '.join(sorted(expected(path)))}")
        if found.group(1).split()[0] + ".txt" not in os.listdir(os.path.join(source, "LICENSES")):
            fail(f"LICENSES/ lacks the text of {found.group(1)}")
    print(f"{n} files")
    if not n:
        fail(f"no files with an SPDX line in {source}")


if len(sys.argv) != 3 or sys.argv[1] not in ("elf", "spdx"):
    sys.exit(__doc__)
{"elf": check_elf, "spdx": check_spdx}[sys.argv[1]](sys.argv[2])
sys.exit(1 if failures else 0)
