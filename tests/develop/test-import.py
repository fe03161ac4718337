#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast profile import`: power_profile.xml of three generations of Android, what is refused and left out, and
hostile files.

Usage: test-import.py JOULECAST CORPUS
"""
import configparser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

JOULECAST, CORPUS = map(os.path.abspath, sys.argv[1:])


def corpus(name):
    with open(os.path.join(CORPUS, name), encoding="utf-8") as file:
        return file.read()


NEW, OLD = corpus("new.xml"), corpus("old.xml")


class Import(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_(self, text, *words, code=0):
        with open(self.path("power_profile.xml"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([JOULECAST, "profile", "import", self.path("power_profile.xml"), "-o",
                               self.path("phone.ini"), *words],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        if code:
            self.assertFalse(os.path.exists(self.path("phone.ini")))
        return done.stderr

    def profile(self):
        read = configparser.ConfigParser(comment_prefixes=(";",))
        read.read(self.path("phone.ini"), encoding="utf-8")
        return {name: {key: value if re.search("[a-z<>]", value) else float(value.split()[0].split("-")[-1]) for key,
                       value in read[name].items()}
                for name in read.sections()}

    def near(self, got, want):
        self.assertAlmostEqual(got, want, delta=abs(want) * 1e-5)

    WIFI = "does not say what WiFi takes at rest"

    def test_new(self):
        self.assertRegex(self.run_(NEW), rf"\A[^\n]*{self.WIFI}[^\n]*\n\Z")
        got = self.profile()
        self.assertEqual((got["profile"]["device"], got["profile"]["method"]), ("phone", "import"))
        self.near(got["battery"]["energy_full_mwh"], 4050 * 3.8)
        self.near(got["base"]["power_mw"], (4.7 + 9.6) * 3.8)
        self.assertEqual((got["cpu 0"]["cpus"], got["cpu 4"]["cpus"]), (3, 7))
        self.near(got["cpu 4"]["active_mw.2649600"], 231.7 * 3.8)
        self.near(got["cpu 4"]["shared_mw.825600"], (17.2 + 6.8) * 3.8)
        self.near(got["display"]["power_mw.0"], 64.3 * 3.8)
        self.near(got["display"]["power_mw.255"], (64.3 + 412.8) * 3.8)
        self.near(got["radio wifi awake"]["power_mw"], 121.4 * 3.7)
        self.near(got["radio wifi awake"]["tx_nj_per_byte"], (284.6 - 121.4) * 3.7 * 8e3 / 20000)
        self.near(got["radio cellular connected"]["power_mw.low"], 94.5 * 3.8)
        self.near(got["radio cellular idle"]["power_mw.high"], 10.7 * 3.8)
        self.near(got["radio wifi idle"]["power_mw"], 15)
        self.near(got["gps"]["on_mw"], 52.4 * 3.8)
        self.near(got["profile"]["x-video_mw"], 43.6 * 3.8)

    def test_rest(self):
        """A modem rests at sleep, and is awake at what is more of idle and rx; WiFi's idle listens."""
        for sleep, idle, rx, wifi_idle in ((2.5, 156, 145, 31), (1.2, 100, 191, 79), (4, 12, 60, 300)):
            text = re.sub(r"(modem.controller.sleep.>)[0-9.]+", rf"\g<1>{sleep}", NEW)
            text = re.sub(r"(modem.controller.idle.>)[0-9.]+", rf"\g<1>{idle}", text)
            text = re.sub(r"(modem.controller.rx.>)[0-9.]+", rf"\g<1>{rx}", text)
            text = re.sub(r"(wifi.controller.idle.>)[0-9.]+", rf"\g<1>{wifi_idle}", text)
            self.run_(text)
            got = self.profile()
            for signal in ("high", "medium", "low"):
                self.near(got["radio cellular idle"][f"power_mw.{signal}"], sleep * 3.8)
                self.near(got["radio cellular connected"][f"power_mw.{signal}"], max(idle, rx) * 3.8)
            self.near(got["radio wifi idle"]["power_mw"], 15)
            self.near(got["radio wifi awake"]["power_mw"], max(wifi_idle, 121.4) * 3.7)
        text = re.sub(r'<array name="radio.on">.*?</array>', "", NEW)
        self.assertIn("the mobile network takes at rest", self.run_(text))
        self.assertNotIn(self.WIFI, self.run_(NEW.replace('<item name="wifi.controller.idle">',
                                                          '<item name="wifi.on">2</item><item '
                                                          'name="wifi.controller.idle">')))
        self.near(self.profile()["radio wifi idle"]["power_mw"], 2 * 3.8)

    def test_cpus(self):
        self.assertIn("--cpus", self.run_(OLD))
        self.assertEqual(self.profile()["cpu 0"]["cpus"], 0)
        self.assertEqual(self.run_(OLD, "--cpus", "4"), "")
        self.assertEqual(self.profile()["cpu 0"]["cpus"], 3)
        self.run_(NEW, "--cpus", "2+6")
        self.assertEqual((self.profile()["cpu 0"]["cpus"], self.profile()["cpu 2"]["cpus"]), (1, 7))
        os.unlink(self.path("phone.ini"))
        for words in ("0", "4+", "x", "4+4+4+4+4+4+4+4+4", "65", "+4", "4,4"):
            self.assertIn("--cpus", self.run_(OLD, "--cpus", words, code=2))
        self.assertIn("2 clusters", self.run_(NEW, "--cpus", "8", code=1))

    def test_old(self):
        self.assertEqual(self.run_(OLD, "--cpus", "1"), "")
        got = self.profile()
        self.near(got["base"]["power_mw"], (3.3 + 18.5) * 3.8)
        self.near(got["cpu 0"]["active_mw.1512000"], 214.5 * 3.8)
        self.assertNotIn("shared_mw.384000", got["cpu 0"])
        self.near(got["radio wifi awake"]["power_mw"], (2.4 + 86.3) * 3.8)
        self.near(got["radio cellular idle"]["power_mw.low"], 3.4 * 3.8)
        self.near(got["radio cellular connected"]["power_mw.high"], (173.5 + 3.4) * 3.8)
        self.assertEqual(self.run_(corpus("clusters.xml")), "")
        self.near(self.profile()["cpu 2"]["active_mw.500000"], 99 * 3.8)

    def test_target(self):
        """What was imported is a target, and its numbers are those that count."""
        self.run_(NEW)
        done = subprocess.run([JOULECAST, "emulate", "--target", self.path("phone.ini"), "--net", "none",
                               "--brightness", "100",
                               "--cpu-factor", "1", "--json", "--", "sleep", "0.5"],
                              capture_output=True, text=True, check=False, timeout=60)
        if done.returncode and "namespace" in done.stderr:
            self.skipTest(done.stderr)
        answer = json.loads(done.stdout)
        wall_s = answer["wall_s"]
        self.assertEqual(answer["target"], "phone")
        self.near(answer["components_j"]["display"], wall_s * (64.3 + 412.8) * 3.8e-3)
        self.near(answer["components_j"]["base"], wall_s * (4.7 + 9.6) * 3.8e-3)
        self.assertLess(answer["energy_j"]["low"], 0.7 * answer["energy_j"]["value"])

    def test_modem(self):
        """<modem> stands for items that are missing or 0; its 5G does not."""
        text = re.sub(r'(<item name="modem.controller.[a-z]+">)[0-9.]+', r"\g<1>0", NEW)
        text = text.replace("<modem>", "<modem><sleep>3</sleep><idle>40</idle>").replace(
            "</modem>", '<active rat="NR" nrFrequency="MMWAVE"><receive>700</receive></active></modem>')
        self.run_(text)
        got = self.profile()
        self.near(got["radio cellular idle"]["power_mw.high"], 3 * 3.8)
        self.near(got["radio cellular connected"]["power_mw.high"], 90 * 3.8)

    def test_left_out(self):
        """Each component alone; the others stay."""
        for change, by, said, section in (
                (r'(<item name="screen.full">)[0-9.]+', r"\g<1>9", "the display", "display"),
                (r'(<item name="screen.on">)[0-9.]+', r"\g<1>0.5", "the display", "display"),
                (r"<value>1209600</value>", "", "another number of speeds", "cpu 0"),
                (r"<value>1209600</value>", "<value>576000</value>", "one is there twice", "cpu 0"),
                (r"<value>7.5</value><value>16.4</value>", "<value>1.11</value><value>2.55</value>",
                 "Android's example", "cpu 0"),
                (r"cpu.core_speeds.cluster1", "cpu.other", "a cluster has no speeds", "cpu 4"),
                (r"<value>(29.3|78.6|231.7|34.9|16.4)</value>", "<value>5</value>", "more than 10 mA", "cpu 4"),
                (r"<value>4</value>", "<value>0.5</value>", "no numbers of cores", "cpu 0"),
                (r'(<item name="wifi.controller.rx">)[0-9.]+', r"\g<1>0", "WiFi is left out", "radio wifi"),
                (r'(<item name="modem.controller.rx">|<receive>)[0-9.]+', r"\g<1>0", "the mobile network",
                 "radio cellular"),
                (r'(<item name="cpu.(idle|suspend)">)[0-9.]+', r"\g<1>0", "the base", "base")):
            said_ = "".join(line for line in self.run_(re.sub(change, by,
                                                              NEW)).splitlines(True) if self.WIFI not in line)
            self.assertEqual(said_.count("\n"), 1, said_)
            self.assertIn(said, said_)
            self.assertNotIn(section, self.profile())
            self.assertGreater(len(self.profile()), 6)
        self.assertIn("takes less at a higher frequency", self.run_(NEW.replace("16.4", "36.4")))
        self.assertIn("cpu 0", self.profile())

    def test_battery(self):
        for capacity in "1000", "0":
            said = self.run_(NEW.replace("4050", capacity), code=1)
            self.assertIn("--battery MWH", said)
        self.run_(NEW.replace("4050", "3000"))  # a real one, where all else looks real
        os.unlink(self.path("phone.ini"))
        self.assertIn("nobody filled in", self.run_(NEW.replace("4050", "3000").replace("412.8", "1"), code=1))
        self.run_(NEW.replace("4050", "1000"), "--battery", "12345")
        self.near(self.profile()["battery"]["energy_full_mwh"], 12345)

    def test_refused(self):
        for text, sentence in (
                (corpus("placeholder.xml"), "more than half"), (corpus("laughs.xml"), "document type"),
                (corpus("nested.xml"), "nested too deeply"), (corpus("torn.xml"), "no XML"), ("", "no XML"),
                ("{}", "no XML"),
                ("<resources/>", "begins with <device>"),
                ("<device><item>3</item></device>", "needs a name"),
                ("<device><item name='" + "x" * 64 + "'>3</item></device>", "needs a name"),
                ("<device><item name='a'>3 mA</item></device>", "no number"),
                ("<device><item name='a'>-3</item></device>", "no number"),
                ("<device><item name='a'>nan</item></device>", "no number"),
                ("<device><item name='a'>" + "1" * 99 + "</item></device>", "too long"),
                ("<device><item name='a'><value>3</value></item></device>", "a number alone"),
                ("<device><array name='a'>" + "<value>3</value>" * 129 + "</array></device>", "at most 128"),
                ("<device>" + "<item name='a'>3</item>" * 1025 + "</device>", "1024"),
                ("<device>" + " " * (1 << 20) + "</device>", "")):
            said = self.run_(text, code=1)
            self.assertRegex(said, r"\Ajoulecast: [^\n]*\n\Z")
            self.assertIn(sentence, said)
        self.assertIn("nothing from which", self.run_("<device/>", code=1))
        for words, sentence in ((("profile", "import"), "needs a power_profile.xml"),
                                (("profile", "list", "-o", "x"), "import only")):
            done = subprocess.run([JOULECAST, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)
        printed = subprocess.run([JOULECAST, "profile", "import", os.path.join(CORPUS, "old.xml")],
                                 capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn("device = imported\n", printed)


sys.argv[1:] = []
unittest.main(verbosity=1)
