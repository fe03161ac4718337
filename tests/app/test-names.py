#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names people know: the desktop entry's, in the reader's language; a hostile one cannot reach the terminal.

Usage: test-names.py JOULECAST DEVICE.ini
"""
import json
import os
import subprocess
import sys
import tempfile

JOULECAST, DEVICE = sys.argv[1:]
SCENARIO = "[scenario]\nbrightness = 100\n" + "".join(
    "[segment %d]\napp = %s\nstate = background\nstart_s = %d\nlength_s = 60\nkhz = 1026000\ncores = 0.5 0 0 0\n"
    % (i + 1, app, 60 * i)
    for i, app in enumerate(("org.example.Game", "org.example.Evil", "plain")))
failures = 0


def check(got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"failed: got {got!r}, want {wanted!r}")


with tempfile.TemporaryDirectory() as folder:
    def write(name, text):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(*arguments, **env):
        environment = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder + "/share",
                       "XDG_DATA_DIRS": folder + "/none", **env}
        return subprocess.run([JOULECAST, *arguments], env=environment, capture_output=True, text=True,
                              encoding="utf-8")

    write("share/applications/org.example.Game.desktop",
          "[Desktop Entry]\nType=Application\nName=Game\nName[de]=Wütende Vögel\nName[pt_BR]=Jogo\nExec=game\n")
    write("share/applications/org.example.Evil.desktop",
          "[Desktop Entry]\nType=Application\nName=Evil\x1b]0;title\x07\x1b[2J\nExec=evil\n")
    database = folder + "/usage.db"
    made = run("simulate", "--device", "virtual:" + DEVICE, "--scenario", write("scenario.ini", SCENARIO),
               "--database", database)
    check((made.returncode, made.stderr if made.returncode else ""), (0, ""))
    for language, name in (("C", "Game"), ("de_AT.UTF-8", "Wütende Vögel"), ("pt_BR.UTF-8", "Jogo"),
                           ("pt_PT", "Game"), ("xx", "Game")):
        ran = run("cost", "--profile", DEVICE, "--database", database, "--json", LC_ALL=language)
        names = {app["app"]: app["name"] for app in json.loads(ran.stdout)["apps"]}
        check(names["org.example.Game"], name)
        check(names["plain"], "plain")
        check("\x1b" in names["org.example.Evil"], False)
    table = run("cost", "--profile", DEVICE, "--database", database, LC_ALL="de_DE.UTF-8").stdout
    check("Wütende Vögel" in table, True)
    check("org.example.Game" in table, False)  # ids are for programs
    check("\x1b]0" in table or "\x07" in table, False)
sys.exit(1 if failures else 0)
