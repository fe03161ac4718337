#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast price-packets` as scripts and people call it.

Usage: test-price-packets.py JOULECAST DATA-DIR
"""
import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

JOULECAST, DATA = map(os.path.abspath, sys.argv[1:])
HEAD = "time_s,direction,bytes\n"
RADIO = "[radio r]\ninitial = a\n"
STATE = "[radio r a]\npower_mw = 1000\n"
# A millijoule for each byte that is sent, and a joule for each that is received.
BYTES = "[radio r]\ninitial = a\ntx_nj_per_byte = 1e6\nrx_nj_per_byte = 1e9\n[radio r a]\npower_mw = 0\n"
ETHERNET, RAW, COOKED, COOKED_2, LOOP, BSD_LOOP, MONITOR = 1, 101, 113, 276, 0, 108, 127
OWN, OWN_6 = "192.0.2.7", "2001:db8::7"


def ip(sender, receiver, length):
    family = socket.AF_INET6 if ":" in sender else socket.AF_INET
    ends = socket.inet_pton(family, sender) + socket.inet_pton(family, receiver)
    if family == socket.AF_INET6:
        return struct.pack(">IHBB", 6 << 28, length - 40, 17, 64) + ends + bytes(length - 40)
    return struct.pack(">BBHIBBH", 0x45, 0, length, 0, 64, 17, 0) + ends + bytes(length - 20)


def pcap(link, *packets, order="<", unit=1000, snap=65535):
    """A file of (time in ns, bytes, length if it was cut)."""
    out = struct.pack(order + "IHHiIII", 0xa1b2c3d4 if unit == 1000 else 0xa1b23c4d, 2, 4, 0, 0, snap, link)
    for time_ns, data, *length in packets:
        out += struct.pack(order + "IIII", time_ns // 10**9, time_ns % 10**9 // unit, len(data),
                           *length or [len(data)]) + data
    return out


def pcapng(link, time_us, data):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    return block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) + block(1, struct.pack("<HHI", link, 0, 0)) + \
        block(6, struct.pack("<IIIII", 0, time_us >> 32, time_us & 0xffffffff, len(data), len(data)) + data)


probe = subprocess.run([JOULECAST, "price-packets", "--profile", "3g", "--radio", "3g", "--until", "1", "--address",
                        OWN, "-"],
                       input=pcap(RAW), capture_output=True, check=False)
needs_pcap = unittest.skipIf(b"without libpcap" in probe.stderr, "built without libpcap")


class PricePackets(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def call(self, *words, rows=b"", code=0):
        done = subprocess.run([JOULECAST, "price-packets", *map(str, words)], input=rows, capture_output=True,
                              check=False,
                              cwd=self.folder.name, timeout=60)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, code, (words, said))
        if code == 0:
            self.assertEqual(said, "")
            return done.stdout.decode()
        self.assertEqual(done.stdout, b"")
        self.assertRegex(said, r"\Ajoulecast: [^\n]*\n\Z")
        return said

    def price(self, profile, radio, rows, until, *words):
        answer = json.loads(self.call("--profile", profile, "--radio", radio, self.write("packets.csv", rows),
                                      "--until", until,
                                      "--json", *words))
        self.assertEqual(list(answer), ["energy_j", "states"])
        for state in answer["states"]:
            self.assertEqual(list(state), ["state", "seconds", "energy_j"])
        self.assertAlmostEqual(sum(state["energy_j"] for state in answer["states"]), answer["energy_j"], 9)
        self.assertAlmostEqual(sum(state["seconds"] for state in answer["states"]), until, 9)
        return answer["energy_j"], {state["state"]: state for state in answer["states"]}

    def test_shipped(self):
        joules, states = self.price("wifi", "wifi", HEAD + "1.0,tx,2500\n", 4)
        self.assertAlmostEqual(joules, 0.50509, 9)
        self.assertEqual(list(states), ["deep-sleep", "high", "idle", "light-sleep"])
        for carrier, fach_s in ("att", 12), ("tmobile-hspa", 2), ("sprint", 0):
            _, states = self.price("3g", "3g", "0,rx,9\n", 60, "--carrier", carrier)
            self.assertAlmostEqual(states["fach"]["seconds"], fach_s, 9)
        self.assertAlmostEqual(self.price("3g", "3g", "0,rx,9\n", 30, "--signal", "low")[0], 0.6 + 12.3, 9)
        self.assertAlmostEqual(self.price("lte", "lte", "".join(f"{i / 1000},rx,1000\n" for i in range(1000)),
                                          15)[0], 12.77058, 9)
        self.assertAlmostEqual(self.price("wifi-nexus-one", "wifi", "0,tx,9\n", 9)[0], 0.2387 + 1.2e-3, 9)
        for name in os.listdir(os.path.join(DATA, "radios")):  # and as files
            self.price(os.path.join(DATA, "radios", name), name.split(".")[0].split("-")[0], "", 1)

    def test_of_a_whole_profile(self):
        with open(os.path.join(DATA, "profiles", "nexus-one.ini"), encoding="utf-8") as file:
            text = file.read()
        self.assertAlmostEqual(self.price("nexus-one", "wifi", "0,tx,9\n", 9)[0], 0.2387 + 1.2e-3, 9)
        states = self.price("nexus-one", "cellular", "10,tx,9\n", 60)[1]
        for name, mw, seconds in ("idle", 63.9, 31), ("promotion", 267.9, 2), ("dch", 519.3, 5), ("fach", 267.9, 12):
            self.assertAlmostEqual(states[name]["seconds"], seconds + 10 * (name == "idle"), 9)
            self.assertAlmostEqual(states[name]["energy_j"], mw * 1e-3 * states[name]["seconds"], 9)
        path = self.write("profile.ini", text + RADIO + STATE)
        self.assertEqual(self.price(path, "r", "", 2)[0], 2)
        self.assertIn("no radios", self.call("--profile", "nexus-7-sapp", "--radio", "r", "/dev/null", "--until", 9,
                                             code=3))
        shown = subprocess.run([JOULECAST, "profile", "show", path, "--json"], capture_output=True, check=True).stdout
        self.assertEqual(json.loads(shown)["energy_full_mwh"], 5180)
        path = self.write("wrong.ini", text + RADIO + STATE + "[cpu 0]\nnonsense = 3\n")
        self.assertIn("nonsense", self.call("--profile", path, "--radio", "r", "/dev/null", "--until", 9, code=1))

    def test_rows(self):
        profile = self.write("r.ini", RADIO +
                             "tx_nj_per_byte = 1e9\nrx_nj_per_packet = 1e9\n[radio r a]\npower_mw = 0\n")
        for rows, joules in (("", 0), (HEAD, 0), (HEAD + "1,tx,3\n", 3), ("1,tx,3", 3),
                             (HEAD.strip() + "\r\n1,tx,3\r\n\r\n2,rx,9\r\n", 4),
                             ("0,tx,1\n0,tx,2\n0,rx,0\n", 4), ("4.999999999,tx,1\n5,tx,1\n6,tx,1\n2678400,tx,1\n", 1),
                             ("1e0,tx,1000000000000\n", 1e12)):
            self.assertAlmostEqual(self.price(profile, "r", rows, 5)[0], joules, 6, rows)
        words = "--profile", profile, "--radio", "r", "--until", 5
        self.assertEqual(json.loads(self.call(*words, "-", "--json", rows=b"1,tx,3\n"))["energy_j"], 3)
        for wrong in ("1,tx", "1", "1,tx,3,4", ",tx,3", "1,,3", "1,tx,", "1,up,3", "1,TX,3", "-1,tx,3", "nan,tx,3",
                      "inf,tx,3",
                      "1e308,tx,3", "1e999,tx,3", "2678401,tx,3", "0x1,tx,3", "1.5s,tx,3", "1,tx,-3", "1,tx,1.5",
                      "1,tx,1000000000001",
                      "1,tx,99999999999999999999", "1;tx;3", HEAD.strip(), "\x1b[31m,tx,3", "1,tx,3\0", "\0",
                      "1" * 100000):
            said = self.call(*words, "-", rows=("0,tx,1\n" + wrong + "\n").encode(), code=1)
            self.assertIn("-:2: not time_s,direction,bytes", said)
        self.assertIn("-:3: this packet came before", self.call(*words, "-", rows=b"1,tx,3\n\n0.9,tx,3\n", code=1))
        self.assertIn("-:2: this packet came before", self.call(*words, "-", rows=b"9,tx,3\n8,tx,3\n", code=1))
        self.assertIn("none.csv cannot be read: No such file", self.call(*words, "none.csv", code=1))
        self.assertIn(". cannot be read: Is a directory", self.call(*words, ".", code=1))
        self.assertIn("/dev/zero:1: not time_s,direction,bytes",
                      self.call(*words, "/dev/zero", code=1)) # a line without an end

    def capture(self, data, *words, until=9, code=0):
        said = self.call("--profile", self.write("r.ini", BYTES), "--radio", "r", self.write("p.pcap", data),
                         "--until", until,
                         "--json", *words, code=code)
        return said if code else round(json.loads(said)["energy_j"] * 1000)

    @needs_pcap
    def test_capture(self):
        """What was sent and received, of every link; and files of both byte orders, in us and ns, and pcapng."""
        sent, received = ip(OWN, "192.0.2.1", 100), ip("192.0.2.1", OWN, 300)
        sent_6, received_6 = ip(OWN_6, "2001:db8::1", 100), ip("2001:db8::1", OWN_6, 300)
        frame, group = bytes(12), b"\xff" * 6 + bytes(6)
        own = "--address", OWN, "--address", OWN_6

        def cooked(kind, device=1):
            return struct.pack(">HHHQH", kind, device, 6, 0, 0x806)

        def cooked_2(kind):
            return struct.pack(">HHIHBBQ", 0x800, 0, 3, 1, kind, 6, 0)

        for link, packets, words in (
                (RAW, (sent, received), own), (RAW, (sent_6, received_6), own), (228, (sent, received), own),
                (ETHERNET, (frame + b"\x08\0" + sent, frame + b"\x86\xdd" + received_6), own),
                (ETHERNET, (frame + b"\x81\0\0\7\x08\0" + sent,
                            frame + b"\x88\xa8\0\1\x81\0\0\2\x86\xdd" + received_6), own),
                (ETHERNET, (frame + b"\x91\0\0\7\x08\0" + sent, frame + b"\x86\xdd" + received_6), own),
                (ETHERNET, (frame + b"\x08\0" + sent, group + b"\x08\0" + ip("192.0.2.9", "192.0.2.255", 300)), own),
                (LOOP, (bytes([2, 0, 0, 0]) + sent, bytes([30, 0, 0, 0]) + received_6), own),
                (BSD_LOOP, (bytes([0, 0, 0, 2]) + sent, bytes([0, 0, 0, 2]) + received), own),
                (COOKED, (cooked(4) + bytes(100), cooked(0) + bytes(100), cooked(1) + bytes(100),
                          cooked(2) + bytes(100),
                          cooked(3) + bytes(700), cooked(4, 772) + bytes(700)), ()),
                (COOKED_2, (cooked_2(4) + bytes(100), cooked_2(0) + bytes(300), cooked_2(3) + bytes(700)), ()),
                (RAW, (ip("0.0.0.0", "255.255.255.255", 100), ip("192.0.2.9", "224.0.0.251", 100),
                       ip("2001:db8::9", "ff02::fb", 200), ip(OWN, OWN, 700), ip("127.0.0.1", "127.0.0.53", 700),
                       ip("::1", "::1", 700)), own)):
            self.assertEqual(self.capture(pcap(link, *((i, packet) for i, packet in enumerate(packets))), *words),
                             300100, link)
        both = (1700000000 * 10**9 + 5000, sent), (1700000002 * 10**9 + 4000, received)
        for order in "<", ">":
            for unit in 1, 1000:
                data = pcap(RAW, *both, order=order, unit=unit)
                self.assertEqual(self.capture(data, *own), 300100)
                # the second is 1.999999 s after the first
                self.assertEqual(self.capture(data, *own, until=1.999999), 100)
                self.assertEqual(self.capture(data, *own, until=1.9999991), 300100)
                self.assertEqual(self.capture(data, *own, "--start", 1700000001), 300000)
                self.assertEqual(self.capture(data, *own, "--start", 1699999991), 0)
        self.assertEqual(self.capture(pcapng(RAW, 5, sent), *own), 100)
        for data in pcapng(RAW, 5, sent), pcap(RAW, (0, sent)):
            self.assertEqual(self.capture(gzip.compress(data), *own), 100)
        self.assertEqual(self.capture(pcap(RAW, (0, sent[:40], 1500)), *own), 1500)
        self.assertEqual(self.capture(pcap(RAW), *own), 0)
        done = subprocess.run([JOULECAST, "price-packets", "--profile", "r.ini", "--radio", "r", "-", "--until",
                               "9", "--json", *own],
                              input=pcap(ETHERNET, (0, frame + b"\x08\6" + bytes(28)), (1, frame + b"\x08\0" + sent)),
                              capture_output=True, check=True, cwd=self.folder.name)
        self.assertEqual(json.loads(done.stdout)["energy_j"], 0.1)
        self.assertIn(b"not IP are left out; there are 1", done.stderr)

    @needs_pcap
    def test_wrong_captures(self):
        own, sent = ("--address", OWN), ip(OWN, "192.0.2.1", 100)
        good = pcap(RAW, (0, sent), (5000, sent))
        for data, words, sentence in (
                (good, (), "give its addresses, each as --address IP"),
                (pcap(ETHERNET), (), "give its addresses"),
                (good[:20], own, "cannot be read: "), (good[:30], own, "cannot be read from packet 1 on: "),
                (good[:100], own, "from packet 1 on: "), (good[:-1], own, "from packet 2 on: "),
                (pcap(RAW, (5000, sent), (0, sent)), own, "packet 2 came before the one in front of it"),
                (pcap(RAW, (0, sent, 2**31)), own, "packet 1 has a time or a length"),
                (pcap(RAW, (0, sent, 99)), own, "packet 1 has a time or a length"),
                (good[:28] + struct.pack("<I", 2**31) + good[32:], own, "packet 1 has a time or a length"),
                (good[:32] + struct.pack("<I", 2**31) + good[36:], own, "from packet 1 on: "),
                (pcap(RAW, (0, sent[:19], 100)), own, "packet 1 less than its headers was kept"),
                (pcap(ETHERNET, (0, bytes(12) + b"\x81\0\0", 100)), own, "less than its headers"),
                (pcap(COOKED, (0, bytes(15))), (), "less than its headers"),
                (pcap(RAW, (0, ip("192.0.2.1", "192.0.2.8", 60))), own,
                 "packet 1, from 192.0.2.1 to 192.0.2.8, is of no --address"),
                (pcap(RAW, (0, ip("2001:db8::1", "::1", 60))), own, "from 2001:db8::1 to ::1, is of no"),
                (pcap(MONITOR), own, "link of type 127 (IEEE802_11_RADIO)"), (pcap(9999), own, "link of type 9999 (?)"),
                (struct.pack("<IHH", 0xa1b2c3d4, 9, 9) + good[8:], own, "cannot be read: "),
                (b"\n" + HEAD.encode(), own, "cannot be read: "),
                (b"\xfd7zXZ\0", own, "is compressed: decompress it"),
                (b"0,tx,1\n", own, "is no capture of packets"),
                (b"0,tx,1\n", ("--start", 1), "is no capture of packets"),
                (pcapng(RAW, 2**63, sent), own, "packet 1 has a time or a length"),
                (pcapng(RAW, 5, sent)[:-5], own, "from packet 1 on: ")):
            self.assertIn(sentence, self.capture(data, *words, code=1))
        for data, words in ((good, own), (pcapng(RAW, 5, sent), own), (b"0,tx,1\n", ())):
            packed = gzip.compress(data)
            for broken in [packed[:cut] for cut in (1, 5, 15, -9, -1)] + [packed[:-8] + bytes(8)]:
                self.assertIn(": the file that gzip compressed is cut off or damaged",
                              self.capture(broken, *words, code=1))
        for words, sentence in (("--address", "192.0.2.1/24"),
                                "is not an address such as"), (65 * own, "one too many (at most 64)"):
            self.assertIn(sentence, self.capture(good, *words, code=2))

    def test_interfaces(self):
        """pcapng with interfaces of several links, snap lengths and clocks, of both byte orders, and late times."""
        def block(order, kind, body):
            body += bytes(-len(body) % 4)
            return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)
        def interface(order, link, snap, resolution=None, offset=0):
            options = struct.pack(order + "HHB3x", 9, 1, resolution) if resolution is not None else b""
            options += struct.pack(order + "HHq", 14, 8, offset) if offset else b""
            return block(order, 1, struct.pack(order + "HHI", link, 0,
                                               snap) + options + struct.pack(order + "HH", 0, 0))
        def packet(order, number, ticks, data, length=None):
            return block(order, 6, struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xffffffff, len(data),
                                               length or len(data)) + data)
        sent = ip(OWN, "192.0.2.1", 100)
        ether = bytes(12) + b"\x08\x00"
        for order in "<>":
            for late in (0, 2**31, 2**32 - 10, 2**32 + 5):
                head = block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))
                data = head + interface(order, ETHERNET, 262144) + interface(order, LOOP, 96,
                                                                             9) + interface(order, 12, 0, 0x80 | 20,
                                                                                     late)
                data += packet(order, 0, (late + 5) * 10**6, ether + sent) + packet(order, 2, 3 << 20,
                        sent) + block(order, 5, bytes(12))
                data += packet(order, 1, (late + 4) * 10**9, struct.pack("<I", 2) + sent[:60], 104)
                self.assertEqual(self.capture(data, "--address", OWN), 300)
                self.assertEqual(self.capture(data, "--address", OWN, "--start", late + 4 if late < 2**32 - 5 else 0),
                                 200 if late < 2**32 - 5 else 0)
        old = pcap(RAW, (0, sent))
        for late in (2**31, 2**32 - 1):
            self.assertEqual(self.capture(old[:24] + struct.pack("<I", late) + old[28:], "--address", OWN, "--start",
                                          late), 100)
        group = pcap(RAW, (0, ip("192.0.2.1", "224.0.0.251", 60)))
        self.assertIn("no packet from or to a given --address",
                      self.capture(group, "--address", "198.51.100.1", code=1))
        one = pcapng(MONITOR, 5, sent)
        self.assertIn("link of type 127", self.capture(one, "--address", OWN, code=1))

    def test_table(self):
        said = self.call("--profile", "wifi", "--radio", "wifi", self.write("p.csv", "1.0,tx,2500\n"), "--until", "4")
        lines = [line.split() for line in said.splitlines()]
        self.assertEqual(lines[0], ["State", "Time", "Energy", "Mean"])
        self.assertEqual(lines[3], "idle 1.000 s 0.405 J 405 mW".split())
        self.assertEqual(lines[6], "all 4.000 s 0.505 J 126 mW".split())
        self.assertTrue(said.endswith("not verified\n"), said)
        empty = self.call("--profile", "wifi", "--radio", "wifi", "/dev/null", "--until", "0")
        self.assertIn("all", empty)
        self.assertNotIn("nan", empty)

    def test_asked_wrongly(self):
        whole = ["--profile", "3g", "--radio", "3g", "/dev/null", "--until", "9"]
        for left_out, sentence in ((slice(2, 4), "--radio NAME is needed"),
                                   (slice(4, 5), "a file of packets is needed"),
                                   (slice(5, 7), "--until S is needed")):
            words = list(whole)
            del words[left_out]
            self.assertIn(sentence, self.call(*words, code=2))
        for more in (["--until", "-1"], ["--until", "nan"], ["--until", "2678401"], ["--signal", "best"],
                     ["another.csv"], ["--nonsense"]):
            self.call(*whole, *more, code=2)
        self.assertIn("no [carrier none] of [radio 3g]", self.call(*whole, "--carrier", "none", code=3))
        self.assertIn("there is no [radio none]; there is [radio 3g]", self.call(*whole, "--radio", "none", code=3))
        self.call(*whole, "--profile", "no-such", code=3)

    def test_wrong_radios(self):
        after = "after = 0 a\n"
        for text, sentence in (
                (RADIO, "no states"), (STATE, "no initial"),
                (RADIO + "[radio r b]\npower_mw = 1\n", "names the state a"),
                (RADIO + "[radio r a]\non_tx = a\n", "no power_mw at high signal"),
                (RADIO + "[radio r a]\npower_mw.high = 1\npower_mw.low = 1\n", "no power_mw at medium signal"),
                (RADIO + STATE + "[radio r b]\npower_mw = 1\n", "leads to the state b"),
                (RADIO + STATE + after, "form a cycle of less than 1 ms"),
                (RADIO + STATE + "after = 0.4 b\n[radio r b]\npower_mw = 1\nafter = 0.5 a\n",
                 "form a cycle of less than 1 ms"),
                (RADIO + STATE + "on_rx = a at pulse\n", "waits for a pulse, but it has no pulse"),
                (RADIO + STATE + "colour = red\n", "colour is no key of a radio's state"),
                (RADIO + "colour = red\n" + STATE, "colour is no key"),
                (RADIO + STATE + "power_mw = 3\n", "twice"), (RADIO + STATE + "power_mw.best = 3\n", "no key"),
                (RADIO + STATE + "pulse = 1 3 2\n", "does not fit"),
                (RADIO + STATE + "pulse = 1 0 0\n", "out of range"),
                (RADIO + STATE + "pulse = 1 2\n", "is not MW ON_MS PERIOD_MS"),
                (RADIO + STATE + "pulse = 1 2 3 relative\n", "is not MW"),
                (RADIO + STATE + "on_tx = a at pulse\n", "is not STATE [>= BYTES]"),
                (RADIO + STATE + "on_tx = a > 3\n", "is not STATE"),
                (RADIO + STATE + "on_tx = a >= -3\n", "whole number"),
                (RADIO + STATE + "on_tx = a >= 1000000000001\n", "whole number"),
                (RADIO + STATE + "on_tx = a/b\n", "is not the name of a state"),
                (RADIO + STATE + "on_rate = a > 4096 9\n", "whole number"),
                (RADIO + STATE + "on_rate = a > 4\n", "is not STATE > PACKETS MS"),
                (RADIO + STATE + "after = a 4\n", "is not"),
                (RADIO + STATE + "after = nan a\n", "not a number"),
                (RADIO + STATE + "after = 1e308 a\n", "out of range"),
                (RADIO + STATE + "after = 4 a sometimes\n", "is not MS STATE [fixed]"),
                (RADIO + STATE + "reset = 4\n", "is not BYTES MS"),
                (RADIO + STATE + "reset = 4 9\nreset_packets = 3 9\n", "twice"),
                (RADIO + STATE + "reset_packets = 4097 9\n", "whole number"),
                (RADIO + "verified = perhaps\n" + STATE, "is not yes or no"),
                (RADIO + "phy_kbps_up = -1\n" + STATE, "out of range"),
                (RADIO + "tx_nj_per_byte = 1 2 3\n" + STATE, "with its standard error or without"),
                (RADIO + STATE + "[carrier c]\na.after_ms = 3\n", "has no radio = NAME"),
                (RADIO + STATE + "[carrier c]\nradio = s\n", "which has no section"),
                (RADIO + STATE + "[carrier c]\nradio = r\na.after_ms = 3\n", "sets the timer of a, but"),
                (RADIO + STATE + "after = 9 a\n[carrier c]\nradio = r\na.after_ms = 0\n",
                 "[radio r] with [carrier c] form a cycle"),
                (RADIO + STATE + "[carrier c]\nradio = r\nb.after_ms = 0\n", "sets the timer of b, but"),
                (RADIO + STATE + "[carrier c]\nradio = r\na.later = 0\n", "no key of [carrier c]"),
                (RADIO + STATE + "[radio r a b]\npower_mw = 1\n", "is not [radio NAME] or [radio NAME STATE]"),
                (RADIO + STATE + "[carrier c d]\nradio = r\n", "is not [carrier NAME]"),
                ("".join(f"[radio r{i}]\ninitial = a\n" for i in range(9)), "more than 8 radios"),
                (RADIO + "".join(f"[radio r s{i}]\npower_mw = 1\n" for i in range(17)), "more than 16 states"),
                (RADIO + STATE + "".join(f"[carrier c{i}]\nradio = r\n" for i in range(17)), "more than 16 carriers"),
                (RADIO + STATE.strip(), "does not end in a newline"), (b"\0" + RADIO.encode(), "not a text"),
                ("", "is empty")):
            path = self.write("wrong.ini", text)
            self.assertIn(sentence, self.call("--profile", path, "--radio", "r", "/dev/null", "--until", 9, code=1))
        path = self.write("wrong.ini", "; a comment\n\n" + RADIO + STATE + "[radio r b]\npower_mw = 1\non_tx = c\n")
        number = open(path, encoding="utf-8").read().split("\n").index("[radio r b]") + 2
        self.assertIn(f"wrong.ini:{number}: on_tx of [radio r] names the state c",
                      self.call("--profile", path, "--radio", "r", "/dev/null", "--until", 9, code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
