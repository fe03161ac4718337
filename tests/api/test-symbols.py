#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols of the shared library are those of the header, of the export marks and of the version script.

Usage: test-symbols.py SOURCE-DIR LIBJOULECAST.SO
"""
import glob
import re
import subprocess
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    source, library = sys.argv[1:]
    code = re.sub(r"/\*.*?\*/", "", read(source + "/include/joulecast.h"), flags=re.S)
    code = re.sub(r"^typedef .*?;", "", code, flags=re.S | re.M)
    header = set(re.findall(r"\b(joulecast_\w+)\s*\(", code))
    marked = set()
    for path in glob.glob(source + "/lib/*/*.c"):
        marked |= set(re.findall(r"^JOULECAST_EXPORT\b[^(]*?\b(joulecast_\w+)\(", read(path), flags=re.M | re.S))
    listed = set(re.findall(r"^\s+(joulecast_\w+);", read(source + "/lib/libjoulecast.sym"), flags=re.M))
    out = subprocess.run(["readelf", "--dyn-syms", "-W", library], stdout=subprocess.PIPE, check=True, text=True).stdout
    shown = set(re.findall(r"GLOBAL DEFAULT +\d+ (\w+)@@JOULECAST_\S+", out))
    others = {name for name in re.findall(r"GLOBAL DEFAULT +\d+ (\S+)", out) if "JOULECAST" not in name
              and "@" not in name}
    for what, names in (("marked in lib/*/*.c", marked), ("listed in libjoulecast.sym", listed),
                        ("in the library", shown)):
        assert names == header, (f"{what} but not in the header: {sorted(names - header)}; "
                                 f"missing: {sorted(header - names)}")
    assert not {name for name in others if not name.startswith(("__", "_"))}, f"the library shows {sorted(others)}"
    assert len(header) > 30


main()
