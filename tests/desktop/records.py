# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast record --input --wayland`: what a script plays comes to the windows of a program in a sway of its own.
--input-save: what is done in a window of GTK, in a frame of openbox, plays the same in an X server without a window
manager."""
import os
import re
import shutil
import subprocess

from desktops import x_server
from inside import BUILD, check, skip, wait_for, write

SCRIPT = """wait-window Main
wait-quiet 200ms
type aB
key ctrl+s
key Super_L
type \u00e4
click 50 60
click 70 80 ctrl+3
scroll 10 20 shift+down 2
scroll 10 20 left
press 30 40
move 90 95
release 100 110
key ctrl+d
wait-window Dialog
type x
click 7 8 2
key Return
wait-window Main
type y
close-window Main
"""
# Keys are the kernel's: KEY_A is 30, KEY_LEFTSHIFT 42. Modifiers: 1 shift, 4 ctrl. Buttons: 272 left, 273 right,
# 274 middle.
WANTED = """Main key 30 with 0
Main key 42 with 0
Main key 48 with 1
Main key 29 with 0
Main key 31 with 4
Main key 125 with 0
Main key 183 with 0
Main press 272 at 50 60 with 0
Main release 272 at 50 60 with 0
Main key 29 with 0
Main press 273 at 70 80 with 4
Main release 273 at 70 80 with 4
Main key 42 with 0
Main axis 0 by 15 at 10 20 with 1
Main key 42 with 0
Main axis 0 by 15 at 10 20 with 1
Main axis 1 by -15 at 10 20 with 0
Main press 272 at 30 40 with 0
Main release 272 at 100 110 with 0
Main key 29 with 0
Main key 32 with 4
Dialog key 45 with 0
Dialog press 274 at 7 8 with 0
Dialog release 274 at 7 8 with 0
Dialog key 28 with 0
Main key 21 with 0
ended, DISPLAY not set"""


def record(*words):
    shutil.rmtree("/tmp/run", ignore_errors=True)
    return subprocess.run([BUILD + "/predict/joulecast", "record", "-o", "/tmp/run", "--runs", "1", "--wayland",
                           "--input", "/tmp/script", "--",
                           *words], capture_output=True, text=True, timeout=300, cwd="/tmp",
                          env={**os.environ, "DISPLAY": ":9", "WAYLAND_DISPLAY": "wayland-9"})


def left_behind():
    return [name for name in os.listdir("/tmp") if name.startswith("joulecast-")]


def test_record():
    write("/tmp/script", SCRIPT)
    done = record(BUILD + "/tests/desktop/record-toplevel", "/tmp/keys")
    if "perf_event" in done.stderr:
        skip("programs cannot be watched here")
    check(done.returncode == 0, "recorded:", done.returncode, done.stdout, done.stderr)
    with open("/tmp/keys", encoding="utf-8") as file:
        got = [line for line in file.read().splitlines() if " up " not in line]
    check(got == WANTED.splitlines(), "what came:", "\n" + "\n".join(got))
    with open("/tmp/keys.keymap", encoding="utf-8") as file:
        check(re.search(r"<FK13>\s*\{\s*\[\s*(adiaeresis|U00E4)\s*\]", file.read()),
              "a key for a letter that the keyboard lacks")
    check(not left_behind(), "nothing is left:", left_behind())
    # A terminal, whose shell writes what was typed: letters are what the keymap says. To be recorded it does too
    # little.
    write("/tmp/script",
          "wait-window foot\nwait-quiet 300ms\ntype echo 'A b_|~ \u00e4\u20ac' >/tmp/typed; exit\nkey Return\n")
    done = record("foot", "-T", "foot", "/bin/sh")
    with open("/tmp/typed", encoding="utf-8") as file:
        typed = file.read()
    check(typed == "A b_|~ \u00e4\u20ac\n", "typed into foot:", typed, done.stderr)
    write("/tmp/script", "wait-window Main\nkey Hyper\n")
    done = record(BUILD + "/tests/desktop/record-toplevel", "/tmp/keys")
    check(done.returncode == 1 and "line 2: there is no key" in done.stderr, "no such key:", done.stderr)
    os.environ["PATH"] = "/nonexistent"
    done = record("/bin/true")
    check(done.returncode == 1 and "package sway" in done.stderr, "no sway:", done.stderr)
    check(not left_behind(), "nothing is left:", left_behind())



def zenity(title):
    """A dialog that writes what was entered."""
    return ["/bin/sh", "-c", "exec zenity --entry --title '%s' --text Name > /tmp/entered" % title]


def xdotool(env, *words):
    done = subprocess.run(["xdotool", *words], env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else None


def entered():
    with open("/tmp/entered", encoding="utf-8") as file:
        return file.read()


def test_record_session():
    env = {"DISPLAY": ":77"}
    x_server()
    # pylint: disable-next=consider-using-with
    kept = subprocess.Popen([BUILD + "/predict/joulecast", "record", "--input-save", "/tmp/script", "--",
                             *zenity("A Question")],
                            env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    window = wait_for(lambda: xdotool(env, "search", "--onlyvisible", "--name", "A Question"), 30)
    check(window, "the dialog is there:", window)
    check(wait_for(lambda: xdotool(env, "getwindowfocus") == window, 10), "it has the keyboard")
    xdotool(env, "type", "hello wrld")
    xdotool(env, "key", "Left", "Left", "Left")
    xdotool(env, "type", "o")
    xdotool(env, "mousemove", "--window", window, "40", "30", "click", "1")
    xdotool(env, "key", "Return")
    out, err = kept.communicate(timeout=60)
    check(kept.returncode == 0, "kept:", kept.returncode, out, err)
    with open("/tmp/script", encoding="utf-8") as file:
        script = file.read()
    steps = [line for line in script.splitlines() if not line.startswith(("#", "sleep", "wait-quiet", "move"))]
    check(steps[0] == "wait-window A Question" and steps[-1] == "key Return"
          and any(step.startswith("click ") for step in steps),
          "the script:", "\n" + script)
    check(entered() == "hello world\n", "entered:", entered())
    os.unlink("/tmp/entered")
    done = subprocess.run([BUILD + "/predict/joulecast", "record", "-o", "/tmp/run", "--runs", "1", "--stack", "32",
                           "--input", "/tmp/script", "--",
                           *zenity("A Question")], env={**os.environ, **env}, capture_output=True, text=True,
                          timeout=300)
    check(entered() == "hello world\n", "entered again:", entered(), done.returncode, done.stdout, done.stderr)
