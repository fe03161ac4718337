#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`meson install` into an empty folder: everything lies where a distribution expects it, and runs from there.

Usage: test-install.py BUILD-DIR SOURCE-DIR
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

build, source = sys.argv[1:]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def introspect(what):
    with open(os.path.join(build, "meson-info", f"intro-{what}.json")) as file:
        return json.load(file)


targets = {target["name"] for target in introspect("targets")}
options = {option["name"]: option["value"] for option in introspect("buildoptions")}
# The build file hardens no other build.
is_hardened = (options["optimization"] in ("1", "2", "3", "s") and options["b_sanitize"] == "none"
               and not options["fuzz"])


def check_hardened(full):
    """Position independent, full RELRO, no executable stack; stack protector and checked functions where they apply."""
    said = subprocess.run(["readelf", "-hldW", "--dyn-syms", full], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    name = os.path.basename(full)
    check("DYN (" in said, f"{name} is not position independent")
    check("GNU_RELRO" in said and re.search(r"BIND_NOW|Flags:.* NOW", said), f"{name} has no full RELRO")
    check(re.search(r"GNU_STACK.* RW ", said), f"{name} has an executable stack")
    if os.path.getsize(full) > 100_000:
        check("__stack_chk_fail" in said, f"{name} has no stack protector")
        check(re.search(r"__\w+_chk@", said), f"{name} calls no checked function")
with tempfile.TemporaryDirectory() as root:
    ran = subprocess.run([*os.environ.get("MESON", "meson").split(), "install", "-C", build, "--no-rebuild",
                          "--destdir", root],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(ran.returncode == 0, ran.stdout)
    prefix = root + options["prefix"]

    def path(option, *rest):
        return os.path.join(prefix, options[option], *rest)

    def there(*where):
        name = path(*where)
        check(glob.glob(name), f"{name[len(root):]} is not installed")
        return name

    program = there("bindir", "joulecast")
    there("datadir", "joulecast", "virtual", "*.ini")
    there("datadir", "joulecast", "profiles", "*.ini")
    for name in glob.glob(os.path.join(source, "data", "networks", "*.ini")):
        there("datadir", "joulecast", "networks", os.path.basename(name))
    for name in glob.glob(os.path.join(source, "data", "radios", "*.ini")):
        there("datadir", "joulecast", "radios", os.path.basename(name))
    if "joulecast" in targets and os.path.exists(os.path.join(build, "lib", "libjoulecast.so")):
        there("includedir", "joulecast.h")
        there("libdir", "libjoulecast.so.0")
        there("libdir", "pkgconfig", "joulecast.pc")
    for name in ("joulecast-calibrate", "joulecast-develop", "joulecast-fit", "joulecast-gpu", "joulecast-live",
                 "joulecast-picture", "joulecast-record",
                 "joulecast-stage", "joulecast-traffic", "joulecastd"):
        if name in targets:
            there("libexecdir", "joulecast", name)
    if "joulecast-share" in targets:
        there("libexecdir", "joulecast", "joulecast-share")
    if "joulecast-community" in targets:
        there("bindir", "joulecast-community")
    if "joulecast.1" in targets:
        for page in ("man1/joulecast.1", "man5/joulecast-profile.5", "man5/joulecast.conf.5", "man8/joulecastd.8"):
            there("mandir", page)
    units = glob.glob(os.path.join(prefix, "lib", "systemd", "system", "*"))
    if units:
        for wants in ("multi-user.target.wants/joulecast-restore.service",
                      "sleep.target.wants/joulecast-restore-sleep.service"):
            check(os.path.exists(os.path.join(prefix, "lib", "systemd", "system", wants)),
                  f"{wants} is not installed, or leads nowhere")
    there("datadir", "bash-completion", "completions", "joulecast")
    there("datadir", "zsh", "site-functions", "_joulecast")
    there("datadir", "fish", "vendor_completions.d", "joulecast.fish")
    for name in glob.glob(os.path.join(source, "docs", "*.md")):
        there("datadir", "doc", "joulecast", os.path.basename(name))
    # Each GNOME Shell finds the extension of its version, under that one's id.
    versions = {}
    for name in glob.glob(path("datadir", "gnome-shell", "extensions", "*", "metadata.json")):
        with open(name, encoding="utf-8") as file:
            metadata = json.load(file)
        folder = os.path.dirname(name)
        check(metadata["uuid"] == os.path.basename(folder), f"{name[len(root):]} is not of the id {metadata['uuid']}")
        with open(os.path.join(folder, "extension.js"), encoding="utf-8") as file:
            is_module = re.search(r"^import ", file.read(), re.M) is not None
        for version in metadata["shell-version"]:
            check(version not in versions, f"two extensions are for GNOME {version}")
            check(is_module == (int(version) >= 45), f"{folder[len(root):]} has not the syntax of GNOME {version}")
            versions[version] = folder
    if options["gnome_extension"] == "all":
        check(set(map(str, range(42, 50))) <= set(versions), f"only these GNOME Shells have an extension: {versions}")
    # Files that a manual page names are installed.
    for page in glob.glob(path("mandir", "man*", "*")):
        with open(page, encoding="utf-8") as file:
            text = re.sub(r"\\f[A-Z]|\\&|\\", "", file.read())
        for name in set(re.findall(r"(?<![\w/.-])(?:docs|data|examples|tests|lib)/[\w./-]*\w|"
                                   r"(?<![\w/.-])[\w-]+\.md\b", text)):
            check(False, f"{os.path.basename(page)} names {name}, which is nowhere in an installation")
        for name in set(re.findall(r"(/[\w./-]*share/(?:doc/)?joulecast[\w./-]*\w)", text)):
            check(os.path.exists(root + name), f"{os.path.basename(page)} names {name}, which is not installed")
    # Nothing of the tests, of a build folder or of the source tree slips in.
    for folder, _, names in os.walk(root):
        for name in names:
            full = os.path.join(folder, name)
            check(not name.startswith(("test-", "replay-", "fuzz-", "example-", "bench-")), f"{full} is installed")
            with open(full, "rb") as file:
                content = file.read()
                for folder_of in {os.path.realpath(build), source}:
                    check(folder_of.encode() not in content, f"{full} contains the path {folder_of}")
                if content[:4] == b"\x7fELF":
                    out = subprocess.run(["readelf", "-d", full], stdout=subprocess.PIPE, text=True).stdout
                    check("RPATH" not in out and "RUNPATH" not in out, f"{full} has a run path")
                    if is_hardened:
                        check_hardened(full)
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(
        {os.path.dirname(name) for name in glob.glob(path("libdir", "**", "libjoulecast.so*"), recursive=True)})}
    # Without its prefix, a program finds the others by the PATH.
    environment["PATH"] = path("libexecdir", "joulecast") + os.pathsep + environment["PATH"]
    for arguments in (["--help"], ["--version"], ["diff", "--help"]):
        ran = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)
        check(ran.returncode == 0 and ran.stdout and not ran.stderr, f"joulecast {arguments}: {ran}")
sys.exit(1 if failures else 0)
