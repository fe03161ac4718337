# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-picture on desktops: the whole screen is white, grey or black when it says so, and is as it was however
it ended."""
import json
import os
import queue
import signal
import struct
import subprocess
import threading
import time

from desktops import WLROOTS, foot, swaymsg, sway, x_server, xterm
from inside import (BUILD, PLAYER, RUNTIME, as_player, check, children, environment, first_file, run_as_player,
                    session_bus, stop,
                    wait_for, write)

PICTURE = BUILD + "/calibrate/joulecast-picture"


class Picture:
    """The program, as the player unless `root`; its words and its answers."""

    def __init__(self, *arguments, root=False, **env):
        def become():
            if not root:
                os.setgroups([])
                os.setgid(PLAYER.pw_gid)
                os.setuid(PLAYER.pw_uid)
        environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **env} if root else environment(**env)
        with open("/tmp/picture.log", "ab") as log:
            self.process = subprocess.Popen([PICTURE, *arguments], env=environ, preexec_fn=become,
                                            stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        children.append(self.process)
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.screen = self.answer()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put("")

    def answer(self):
        try:
            return self.lines.get(timeout=8)
        except queue.Empty:
            return None

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait(5)

    def kill(self):
        self.process.kill()
        self.process.wait(5)


WHITE, GREY, BLACK = 255, 187, 0


def share(pixels, value):
    """How much of the picture has this value, 0 to 1; from bytes, three of them a pixel."""
    return pixels.count(bytes([value])) / max(1, len(pixels))


def x11_screen(env):
    def look(value=WHITE):
        dump = subprocess.run(["xwd", "-root", "-silent"], env=environment(**env), capture_output=True,
                              timeout=10).stdout
        header = struct.unpack(">25I", dump[:100])
        width, height, bits, line, colours = header[4], header[5], header[11], header[12], header[19]
        assert bits == 32, header
        pixels = dump[header[0] + 12 * colours:][:line * height]
        return share(bytes(byte for at in range(0, len(pixels), 4) for byte in pixels[at:at + 3]),
                     value) if width else 0
    return look


def wayland_screen(env):
    def look(value=WHITE):
        image = subprocess.run(["grim", "-t", "ppm", "-"], env=environment(**env), capture_output=True,
                               timeout=10).stdout
        return share(image.split(b"\n255\n", 1)[-1], value)
    return look


def check_white(look, what):
    check(wait_for(lambda: look() == 1, 4), what, "%.3f of the screen is white" % look())


def check_pictures(look, picture):
    """Also from dark to bright and back, and from off."""
    for word, value in (("black", BLACK), ("grey", GREY), ("on", WHITE), ("grey", GREY), ("black", BLACK),
                        ("on", WHITE)):
        check(picture.say(word) == word, word)
        check(wait_for(lambda value=value: look(value) == 1, 4), word, "%.3f of the screen is of that" % look(value))


def check_gone(look, what):
    check(wait_for(lambda: look() < 0.5, 4), what, "%.3f of the screen is white" % look())


def check_ends(look, start):
    """End of input, a signal that asks, and one that does not."""
    for what, end in (("after the end of its input", Picture.end), ("after SIGTERM", lambda one: stop(one.process)),
                      ("after SIGKILL", Picture.kill)):
        picture = start()
        check(picture.say("on") == "on", "it is on")
        check_white(look, "before that:")
        end(picture)
        check_gone(look, what + ":")
    picture = start()
    check(picture.say("on") == "on", "it is on")
    picture.say("off")
    check_gone(look, "off:")
    check(picture.say("black") == "black" and wait_for(lambda: look(BLACK) == 1, 4), "black after it was off")
    picture.end()
    check_gone(look, "after it was black:")
    check(look(BLACK) < 1, "and not black either")


def test_picture_x11():
    env = {"DISPLAY": ":77"}
    x_server()
    window = xterm("Alpha", **env)
    check(wait_for(lambda: run_as_player(["xdotool", "search", "--class", "Alpha"], **env)), "there is a window")
    look = x11_screen(env)
    check_gone(look, "before:")
    picture = Picture(**env)
    check(picture.screen == "screen x11 white", picture.screen)
    check(picture.say("on") == "on", "it is on")
    check_white(look, "on:")
    above = as_player(["zenity", "--info", "--text", "B"], **env)
    check(wait_for(lambda: run_as_player(["xdotool", "search", "--class", "zenity"], **env)),
          "there is a window above it")
    time.sleep(0.5)
    check_white(look, "with that window:")
    check_pictures(look, picture)
    check(picture.say("sideways").startswith("failed "), "another word fails")
    picture.end()
    stop(above)
    check_ends(look, lambda: Picture(**env))
    check(window.poll() is None, "the other window lived through all of it")


def output(env, key):
    return lambda: json.loads(run_as_player(["swaymsg", "-t", "get_outputs", "-r"], **env))[0][key]


def test_picture_wayland():
    _, env = sway("output * background #202020 solid_color\n")
    look, lit = wayland_screen(env), output(env, "dpms")
    window = foot(**env)
    check_gone(look, "before:")
    picture = Picture(**env)
    check(picture.screen == "screen wayland white switch", picture.screen)
    check(picture.say("on") == "on", "it is on")
    check_white(look, "on:")
    check('"inhibit_idle": true' in run_as_player(["swaymsg", "-t", "get_tree", "-r"], **env),
          "the session does not idle")
    foot(**env)
    time.sleep(0.5)
    check_white(look, "with a new window:")
    check_pictures(look, picture)
    swaymsg(env, "output HEADLESS-1 resolution 640x480")()
    check(wait_for(lambda: output(env, "current_mode")()["width"] == 640), "the output has another size")
    check_white(look, "in that size:")
    check(picture.say("grey") == "grey", "grey in that size")
    swaymsg(env, "output HEADLESS-1 resolution 800x600")()
    check(wait_for(lambda: output(env, "current_mode")()["width"] == 800), "the output has another size again")
    check(wait_for(lambda: look(GREY) == 1, 4), "and is grey: %.3f of it" % look(GREY))
    # The headless outputs of Debian's wlroots cannot be switched off, and sway does not say so.
    check(picture.say("off").startswith("failed ") and lit(), "an output that cannot be switched")
    check(picture.say("on") == "on", "on again")
    check_white(look, "and on again:")
    picture.end()
    check_ends(look, lambda: Picture(**env))
    check(window.poll() is None, "the other window lived through all of it")


def test_picture_phoc():
    """
    A phone's compositor offers to switch its outputs, and headless ones cannot be. No look at pixels: with a fullscreen
    window it scans out our buffer itself, and what it then gives to grim may be a frame of before.
    """
    for name in os.listdir(RUNTIME):
        if name.startswith("wayland-"):
            os.unlink(os.path.join(RUNTIME, name))
    as_player(["phoc"], DBUS_SESSION_BUS_ADDRESS=session_bus(), G_MESSAGES_DEBUG="phoc-output", **WLROOTS)
    env = {"WAYLAND_DISPLAY": os.path.basename(wait_for(first_file(RUNTIME, "wayland-")))}

    def asked(mode):
        with open("/tmp/phoc.log", encoding="utf-8") as file:
            return any("set output power mode" in line and line.endswith(" to %d\n" % mode) for line in file)
    picture = Picture(**env)
    check(picture.screen == "screen wayland white switch", picture.screen)
    check(picture.say("on") == "on", "it is on")
    check(picture.say("off").startswith("failed ") and asked(0), "an output that was asked to go off, and cannot")
    check(picture.say("on") == "on" and asked(1), "on again")
    picture.end()
    check(picture.process.returncode == 0, "it ended")


def test_picture_root():
    """By sudo or a timer: root finds the session that is on the screen, and becomes its user."""
    _, env = sway("output * background #202020 solid_color\n")
    look = wayland_screen(env)
    write("/run/systemd/seats/seat0", "IS_SEAT0=1\nACTIVE=c1\nACTIVE_UID=%d\n" % PLAYER.pw_uid)
    write("/run/systemd/sessions/c1",
          "UID=%d\nUSER=player\nACTIVE=1\nSTATE=active\nTYPE=wayland\nCLASS=user\nSEAT=seat0\n"
          % PLAYER.pw_uid)
    foot(**env)
    picture = Picture(root=True, DISPLAY=":9")  # as sudo keeps it, of an Xwayland
    check(picture.screen == "screen wayland white switch", picture.screen)
    with open("/proc/%d/status" % picture.process.pid, encoding="utf-8") as file:
        ids = {line.split()[0]: line.split()[1:]
               for line in file if line.startswith(("Uid", "Gid", "Groups", "CapEff"))}
    check(ids["Uid:"] == [str(PLAYER.pw_uid)] * 4 and not ids["Groups:"] and int(ids["CapEff:"][0], 16) == 0,
          "it is the player", ids)
    check(picture.say("on") == "on", "it is on")
    check_white(look, "on:")
    check_ends(look, lambda: Picture(root=True))
    write("/run/systemd/sessions/c1",
          "UID=%d\nUSER=player\nACTIVE=1\nSTATE=active\nTYPE=tty\nCLASS=user\nSEAT=seat0\n" % PLAYER.pw_uid)
    picture = Picture(root=True)
    check("wayland" not in picture.screen, "a text console has the screen, no session is entered:",
          picture.screen or "nothing")
