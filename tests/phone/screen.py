# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The phone's screen, as the host sees it: what joulecast-picture says, and the console's again however it ended."""
import json
import time

PICTURE = "/usr/local/libexec/joulecast/joulecast-picture"
CONNECTOR = "$(ls -d /sys/class/drm/card0-*)"


class Picture:
    """The program in the phone, with the words that it hears in a pipe."""

    def __init__(self, phone):
        self.phone = phone
        phone.output("rm -f /run/words; mkfifo -m 600 /run/words")
        self.job = phone.start("exec %s < /run/words" % PICTURE)
        self.words = phone.start("exec sleep 1000 > /run/words")
        self.heard = 0
        self.screen = self.answer()

    def answer(self, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end and not self.job.ended.is_set():
            lines = self.job.text().split("\n")
            if len(lines) > self.heard + 1:
                self.heard += 1
                return lines[self.heard - 1]
            time.sleep(0.02)
        return None

    def say(self, word):
        self.phone.output("echo %s > /run/words" % word)
        return self.answer()

    def end(self):
        self.words.kill()
        return self.job.wait(20)

    def kill(self):
        self.phone.output("kill -KILL $(busybox pidof joulecast-picture)")
        self.job.wait(20)
        self.words.kill()


def white(phone, value=255):
    """How much of the screen is white, or has another value, as QEMU draws it."""
    path = phone.path("screen.ppm")
    phone.monitor.ask("screendump", filename=path)
    with open(path, "rb") as file:
        pixels = file.read().split(b"\n255\n", 1)[1]
    return pixels.count(bytes([value])) / len(pixels)


def lit(phone):
    return phone.output("cat %s/enabled %s/dpms" % (CONNECTOR, CONNECTOR)).split() == ["enabled", "On"]


def back(suite, phone, how):
    time.sleep(0.5)
    share = white(phone)
    suite.check(lit(phone) and share < 0.5, "%s: the console is back, %.3f of the screen is white" % (how, share))


def screen(suite):
    phone = suite.phone
    suite.check(white(phone) < 0.5 and lit(phone), "before: the console, %.3f of the screen is white" % white(phone))
    picture = Picture(phone)
    suite.check(picture.screen == "screen kms white switch", picture.screen, picture.job.text())
    suite.check(picture.say("on") == "on" and white(phone) == 1, "on: %.3f of the screen is white" % white(phone))
    for word, value in (("black", 0), ("grey", 187), ("on", 255)):
        suite.check(picture.say(word) == word and lit(phone) and white(phone, value) == 1,
                    "%s: %.3f of the screen is of that" % (word, white(phone, value)))
    suite.check(picture.say("off") == "off" and not lit(phone), "off: the connector says so")
    suite.check(not json.loads(phone.output("joulecast doctor --json"))["display"]["on"], "and so does doctor")
    suite.check(picture.say("on") == "on" and white(phone) == 1 and lit(phone),
                "on again: %.3f of the screen is white" % white(phone))
    suite.check(picture.end() == 0, "it ends with its input")
    back(suite, phone, "after its end")
    for word in ("on", "off"):
        picture = Picture(phone)
        suite.check(picture.say(word) == word, word)
        picture.kill()
        back(suite, phone, "killed while it was " + word)
    picture = Picture(phone)
    suite.check(picture.say("on") == "on", "on")
    phone.output("busybox chvt 2")
    suite.check(picture.job.wait(20) == 1, "it ends when somebody switches to another console")
    picture.words.kill()
    back(suite, phone, "on the other console")
