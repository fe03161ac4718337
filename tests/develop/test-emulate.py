#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast emulate`: its network by a sender and a receiver of our own, its CPU, what it refuses, and that
nothing is left.

Skips where the kernel allows no namespaces or network devices. What depends on time has wide bounds, as others use
this machine.

Usage: test-emulate.py JOULECAST JSON.md
"""
import concurrent.futures
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

JOULECAST, DOCUMENT = PROGRAM_AND_DOCUMENT = list(map(os.path.abspath, sys.argv[1:3]))
STAGE = os.path.join(os.path.dirname(JOULECAST), "..", "develop", "joulecast-stage")
KEYS = ["target", "network", "seed", "wall_s", "energy_j", "components_j", "tail_j", "battery_hours", "quality",
        "worth", "schema"]
DOWN = """
import socket, sys, time
start, n = time.monotonic(), 0
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while time.monotonic() < start + 4:
    n += len(peer.recv(65536))
print(n * 8e-3 / (time.monotonic() - start))
"""
UP = """
import socket, sys, time
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    peer.sendall(bytes(4096))
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
"""
PING = """
import socket, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.connect(("127.0.0.1", int(sys.argv[1])))
times = []
for i in range(int(sys.argv[2])):
    start = time.monotonic()
    peer.send(b"x")
    peer.recv(9)
    times.append(time.monotonic() - start)
times.sort()
print(times[len(times) // 2] * 1e3)
"""


ECHO = """
import socket, sys, time
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
times = []
for i in range(15):
    start = time.monotonic()
    peer.send(b"x")
    peer.recv(9)
    times.append(time.monotonic() - start)
times.sort()
print(times[len(times) // 2] * 1e3)
"""


def emulate(*words, app=("true",), network=None, target="nexus-one", factor="1"):
    return [JOULECAST, "emulate", "--target", target, "--json", *(["--network", network] if network else []),
            *(["--cpu-factor", factor] if factor else []), *words, "--", *app]


def python(program, *words):
    return (sys.executable, "-c", program, *map(str, words))


class Emulate(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)

    def network(self, text, name="own.ini"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("[network]\nkind = wifi\n" + text + "\n")
        return path

    def between(self, got, low, high):
        self.assertGreaterEqual(got, low)
        self.assertLessEqual(got, high)

    def run_(self, command, code=0):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done)
        if code == 0:
            answer = json.loads(done.stdout)
            self.assertEqual([key for key in answer if key != "seeds"], KEYS)
            return answer, done.stderr
        return done.stdout, done.stderr

    def listen(self, serve, kind=socket.SOCK_STREAM):
        server = socket.socket(socket.AF_INET, kind)
        self.addCleanup(server.close)
        server.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            server.listen()
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        return server.getsockname()[1]

    def test_down(self):
        def serve(server):
            with server.accept()[0] as peer, contextlib.suppress(ConnectionError):
                while True:  # until the app has what it needs
                    peer.sendall(bytes(4096))

        slow = self.network("down_kbps = 2500\nqueue_ms = 300\ndelay_ms = 20")
        answer, said = self.run_(emulate("--net", "loopback", network=slow, app=python(DOWN, self.listen(serve))))
        self.between(float(said.split()[-1]) / (2500 * 1448 / 1500), 0.7, 1.02)  # less where others have the CPUs
        self.between(answer["quality"]["rate_kbps"]["down"], 2250, 2525)
        self.assertLess(answer["quality"]["host_slow_s"]["down"], 2)  # 0, alone
        self.assertGreater(answer["components_j"]["wifi"], 0.5)

    def test_hungriest_packets(self):
        """Packets count in the part in which the radio had them, however long the link was busy before."""
        def serve(server):
            with server.accept()[0] as peer:
                while peer.recv(65536):
                    pass

        app = python("import socket, sys, time; peer = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
                     "peer.sendall(bytes(150000)); peer.shutdown(1); time.sleep(7)", self.listen(serve))
        words = [word for word in emulate("--net", "loopback",
                                          network=self.network("up_kbps = 400\nqueue_ms = 5000\ndelay_ms = 20"),
                                          app=app)
                 if word != "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
        parts = re.findall(r"^  ([\d.]+) to ([\d.]+) s: \d+ mW[^\n]*\n((?:    [^\n]*\n)*)", done.stdout, re.M)
        self.assertEqual(len(parts), 3, done.stdout)
        for begin, end, part in parts:  # 50 kB in a second, and answers
            self.assertLess(sum(float(kb) for kb in re.findall(r": ([\d.]+) kB in ", part)),
                            60 * (float(end) - float(begin)) + 4, done.stdout)
        self.assertNotIn(":  ", done.stdout.split("hungriest")[1].replace("    ", ""))

    def test_signal(self):
        """A high signal is what counts without the option, also where the target's own radio does not know signals."""
        def serve(server):
            with server.accept()[0] as peer:
                peer.sendall(bytes(20000))

        run = os.path.join(self.folder.name, "run")
        app = python("import socket, sys; peer = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\nwhile "
                     "peer.recv(4096): pass",
                     self.listen(serve))
        answer, _ = self.run_(emulate("--net", "loopback", "-o", run, network="3g-average", app=app))
        for words, more in ((("--signal", "high"), False), (("--signal", "low"), True)):
            joules = self.run_((JOULECAST, "whatif", run, *words, "--json"))[0]["energy_j"]["value"]
            self.assertEqual(joules != answer["energy_j"]["value"], more)

    @unittest.skipIf(os.geteuid() or not os.path.exists("/dev/net/tun"), "only root hides /dev/net/tun")
    def test_pair(self):
        """Where no TUN device may be had, as by an ordinary user where /dev/net/tun is root's: one more device, and
        the same network."""
        hidden = ("unshare", "-m", "sh", "-c", 'mount --bind /dev/null /dev/net/tun && exec "$@"', "sh")
        said = self.run_((*hidden, *emulate("--net", "loopback", app=("cat", "/proc/net/dev"))))[1]
        self.assertIn("radio0-wire", said)
        again = [f"Emulate.{name}" for name in ("test_down", "test_up", "test_delay")]
        done = subprocess.run((*hidden, sys.executable, __file__, *PROGRAM_AND_DOCUMENT, *again),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_slow(self):
        """Who sends more slowly than the link carries, or takes what is sent more slowly, is told, and so are
        unknown distances."""
        def send(server):
            with server.accept()[0] as peer:
                for _ in range(60):
                    peer.sendall(bytes(1000))
                    time.sleep(0.05)

        get = "import socket, sys\npeer = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n" \
              "while peer.recv(9999): pass"
        run = os.path.join(self.folder.name, "run")
        answer, _ = self.run_(emulate("--net", "loopback", "-o", run, network=self.network("delay_ms = 5"),
                                      app=python(get, self.listen(send))))
        self.between(answer["quality"]["host_slow_s"]["down"], 1.5, 30)
        self.assertEqual(answer["quality"]["host_slow_s"]["up"], 0)
        self.assertEqual(answer["quality"]["host_unknown_packets"], 0)
        said = subprocess.run([JOULECAST, "whatif", run], capture_output=True, text=True, check=True).stdout
        self.assertIn("more slowly than the emulated link", " ".join(said.split()))

        def take(server):
            with server.accept()[0] as peer:
                while peer.recv(20000):
                    time.sleep(0.05)

        answer, _ = self.run_(emulate("--net", "loopback", network=self.network("delay_ms = 5"),
                                      app=python(UP, self.listen(take), 3)))
        self.between(answer["quality"]["host_slow_s"]["up"], 1, 60)
        send = "import socket\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
               "for i in range(3): a.sendto(b'x', ('192.0.2.1', 9))"
        answer, _ = self.run_(emulate("--net", "outside", network=self.network("delay_ms = 5"),
                                      app=python(send + "\nimport time; time.sleep(0.5)")))
        self.assertEqual(answer["quality"]["host_unknown_packets"], 3)

    def test_up(self):
        got = []

        def serve(server):
            peer, first = server.accept()[0], None
            with peer:
                while data := peer.recv(65536):
                    now = time.monotonic()
                    first = first or now
                    if now - first > 1:
                        got.append((now, len(data)))

        answer, _ = self.run_(emulate("--net", "loopback",
                                      network=self.network("up_kbps = 1000\nqueue_ms = 500\ndelay_ms = 20"),
                                      app=python(UP, self.listen(serve), 3.5)))
        rate = sum(n for _, n in got[1:]) * 8e-3 / (got[-1][0] - got[0][0])
        self.between(rate / (1000 * 1448 / 1500), 0.7, 1.04)
        self.between(answer["quality"]["rate_kbps"]["up"], 900, 1010)

    def test_delay(self):
        def serve(server):
            for _ in range(11):
                server.sendto(*server.recvfrom(9))

        for words, least_ms in ("delay_ms = 40", 80), ("down_delay_ms = 20\nup_delay_ms = 50", 70):
            answer, said = self.run_(emulate("--net", "loopback", network=self.network(words),
                                             app=python(PING, self.listen(serve, socket.SOCK_DGRAM), 11)))
            self.between(float(said.split()[-1]), least_ms, least_ms + 60)
            self.assertIsNotNone(answer["quality"]["lateness_p99_ms"])

    def test_host(self):
        """An emulation within another one, whose network has 80 ms there and back: they are taken off, as far as
        there are so many."""
        def serve(server):
            while True:
                with server.accept()[0] as peer:
                    while data := peer.recv(9):
                        peer.sendall(data)

        port, outer = self.listen(serve), self.network("delay_ms = 40", "outer.ini")
        for delay_ms, least_ms, late_ms, sentence in (100, 195, 0, "taken off"), (25, 78, 15, "too late on average"):
            run = os.path.join(self.folder.name, str(delay_ms))
            words = emulate("--net", "loopback", "-o", run, network=self.network(f"delay_ms = {delay_ms}"),
                            app=python(ECHO, port))
            first, answer = self.run_(emulate("--net", "loopback", network=outer, app=words))[1].split("\n", 1)
            self.between(float(first), least_ms, least_ms + 75)  # 280 if nothing were taken off the first
            quality = json.loads(answer)["quality"]
            self.between(quality["host_delay_ms"], 80, 250)
            self.between(quality["host_late_ms"], late_ms, late_ms + 85 if late_ms else 0)
            said = subprocess.run([JOULECAST, "whatif", run], capture_output=True, text=True, check=True).stdout
            self.assertIn(sentence, " ".join(said.split()))

    def test_datagrams(self):
        """Whole ones, fragments, empty ones, and many at once, there and back: all, as they were, in their order."""
        sizes = [0, 1, 1472, 1473, 9000, 60000] + [700] * 90 + [100, 700, 5]

        def serve(server):
            while True:
                server.sendto(*server.recvfrom(65536))

        app = "import socket, sys\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\na.settimeout(20)\n" \
              "a.connect(('127.0.0.1', int(sys.argv[1])))\n" \
              "sent = [bytes([i % 256]) * int(size) for i, size in enumerate(sys.argv[2:])]\n" \
              "for group in [sent[i:i + 1] for i in range(6)] + [sent[6:]]:\n" \
              "    for one in group: a.send(one)\n    print([a.recv(65536) for _ in group] == group)"
        _, said = self.run_(emulate("--net", "loopback", network=self.network("delay_ms = 5"),
                                    app=python(app, self.listen(serve, socket.SOCK_DGRAM), *sizes)))
        self.assertEqual(said, "True\n" * 7)

    def test_loopback(self):
        own = "import socket; a = socket.create_server(('127.0.0.1', 0)); " \
              "b = socket.create_connection(a.getsockname()); " \
              "c = a.accept()[0]; b.sendall(b'hello'); print(c.recv(9).decode(), c.getpeername()[0])"
        slow = self.network("delay_ms = 3000")
        answer, said = self.run_(emulate("--net", "loopback", network=slow, app=python(own)))
        self.assertEqual(said, "hello 127.0.0.1\n")  # what the app says to itself is not slowed
        self.assertLess(answer["wall_s"], 3)
        refused = "import socket\ntry: socket.create_connection(('127.0.0.1', 1))\n" \
                  "except ConnectionRefusedError: print('refused')"
        _, said = self.run_(emulate("--net", "loopback", network=self.network("delay_ms = 10"), app=python(refused)))
        self.assertEqual(said, "refused\n")
        nowhere = "import socket\ntry: socket.create_connection(('192.0.2.1', 1))\nexcept OSError as e: print(e.errno)"
        for net in "none", "loopback":
            _, said = self.run_(emulate("--net", net, app=python(nowhere)))
            self.assertEqual(said, "101\n")

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "needs IPv6")
    def test_ipv6(self):
        """Within the app it works; what is elsewhere is unreachable at once, so that apps go on by IPv4."""
        own = "import socket; a = socket.create_server(('::1', 0), family=socket.AF_INET6); " \
              "b = socket.create_connection(a.getsockname()[:2]); c = a.accept()[0]; b.sendall(b'hello'); " \
              "print(c.recv(9).decode())"
        self.assertEqual(self.run_(emulate("--net", "loopback", network=self.network("delay_ms = 3000"),
                                           app=python(own)))[1],
                         "hello\n")
        def serve(server):
            while True:
                with server.accept()[0] as peer:
                    peer.sendall(b"four")

        port = self.listen(serve)
        there = "import socket, sys, time\nstart = time.monotonic()\n" \
                "keep = socket.create_server(('::1', int(sys.argv[1])), family=socket.AF_INET6)\n" \
                "for address in ('2001:db8::1', 9), ('fe80::1%lo', 9), ('::1', 1):\n" \
                "  try: socket.create_connection(address)\n" \
                "  except OSError as e: print(e.errno)\n" \
                "four = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n" \
                "print(four.recv(9).decode(), time.monotonic() - start < 2)"
        for net in "loopback", "outside":
            said = self.run_(emulate("--net", net, network=self.network("delay_ms = 10"),
                                     app=python(there, port)))[1].split()
            self.assertEqual((said[0], said[2:]), ("101", ["111", "four", "True"]))

    @unittest.skipUnless(os.getuid() == 0, "needs root, for a /run of its own")
    def test_resolvers(self):
        """Nobody looks up names for the app past its network."""
        inside = ("import os, socket, subprocess, sys\nos.makedirs('/run/nscd')\n"
                  "a = socket.socket(socket.AF_UNIX)\na.bind('/run/nscd/socket')\na.listen()\n"
                  "sys.exit(subprocess.run(sys.argv[1:]).returncode)")
        ask = "import socket\ntry: socket.socket(socket.AF_UNIX).connect('/run/nscd/socket')\n" \
              "except ConnectionRefusedError: print('refused')"
        self.assertEqual(self.run_(["unshare", "-m", "sh", "-c", "mount -t tmpfs run /run && exec \"$@\"", "sh",
                                    *python(inside), *emulate("--net", "none", app=python(ask))])[1], "refused\n")

    def test_price(self):
        """The radio's energy is that of price-packets, to which the run's file is given."""
        run = os.path.join(self.folder.name, "run")
        send = "import socket, time\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
               "for i in range(4): a.sendto(bytes(900), ('127.0.0.1', 9)); time.sleep(0.3)"
        answer, _ = self.run_(emulate("--net", "loopback", "-o", run, "--carrier", "att", "--signal", "low",
                                      "--seed", "3",
                                      network="3g-poor", app=python(send)))
        priced = json.loads(subprocess.run([JOULECAST, "price-packets", "--profile", "3g", "--radio", "3g",
                                            "--carrier", "att",
                                            "--signal", "low", "--until", str(answer["wall_s"]), "--json",
                                            run + "/radio-3.csv"],
                                           capture_output=True, check=True).stdout)
        self.assertGreater(answer["components_j"]["cellular"], 0.3)
        self.assertAlmostEqual(answer["components_j"]["cellular"], priced["energy_j"], 6)
        later = json.loads(subprocess.run([JOULECAST, "price-packets", "--profile", "3g", "--radio", "3g", "--carrier",
                                           "att", "--signal", "low", "--until", "900", "--json", run + "/radio-3.csv"],
                                          capture_output=True, check=True).stdout)
        self.assertAlmostEqual(answer["tail_j"], later["energy_j"] - priced["energy_j"], 6)  # at rest it takes nothing
        said = subprocess.run([JOULECAST, "whatif", run], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"+ {answer['tail_j']:.2f} J of tail", said)
        if os.path.exists(run + "/packets-3.pcap"):  # built with libpcap
            captured = json.loads(subprocess.run([JOULECAST, "price-packets", "--profile", "3g", "--radio", "3g",
                                                  "--carrier", "att",
                                                  "--signal", "low", "--until", str(answer["wall_s"]), "--json",
                                                  "--start", "0",
                                                  "--address", "198.18.0.2", run + "/packets-3.pcap"],
                                                 capture_output=True, check=True).stdout)
            self.assertEqual(captured, priced)
            with open(run + "/packets-3.pcap", "rb") as file:
                head = file.read(24 + 16 + 128)
            self.assertEqual(struct.unpack("<IHHiIII", head[:24]), (0xa1b23c4d, 2, 4, 0, 0, 128, 101))
            self.assertEqual(struct.unpack("<II", head[32:40]), (128, 928))
            self.assertEqual(head[40 + 12:40 + 20], bytes((198, 18, 0, 2, 198, 19, 0, 1)))
        self.assertAlmostEqual(sum(answer["components_j"].values()), answer["energy_j"]["value"], 9)
        self.assertLess(answer["energy_j"]["low"], answer["energy_j"]["value"])
        self.assertLess(answer["energy_j"]["value"], answer["energy_j"]["high"])

    def test_hungriest(self):
        """Who used the CPU, and which peer the packets went to."""
        run = os.path.join(self.folder.name, "run")
        send = "import socket, time\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
               "open('/proc/self/comm', 'w').write('busy\\tone')\nn = 0\n" \
               "while n < 40:\n    start = time.process_time()\n    while time.process_time() < start + 0.01: pass\n" \
               "    a.sendto(bytes(900), ('127.0.0.1', 9)); n += 1\n"
        done = subprocess.run([word for word in emulate("--net", "loopback", "-o", run, app=python(send))
                               if word != "--json"],
                              capture_output=True, text=True, check=True, timeout=60)
        self.assertRegex(done.stdout,
                         r"(?s)hungriest parts:\n  .*\n    CPU time there: [^\n]*busy\?one 0\.[0-9]+ s, [^\n]*others")
        for kilobytes, packets in (said := re.findall(r"127\.0\.0\.1:9/udp: ([0-9.]+) kB in ([0-9]+) packets",
                                                      done.stdout)):
            self.assertAlmostEqual(float(kilobytes), 0.928 * int(packets), delta=0.06)
        self.assertTrue(said)
        again = subprocess.run([JOULECAST, "whatif", run], capture_output=True, text=True, check=True).stdout
        self.assertEqual(again, done.stdout)
        with open(run + "/cpu-1.csv", encoding="utf-8") as file:
            whole = int(list(file)[-1].split(",")[1])
        with open(run + "/tasks-1.csv", encoding="utf-8") as file:
            tasks = [line.rstrip().split(",", 3) for line in list(file)[1:]]
        self.assertAlmostEqual(sum(int(row[1]) for row in tasks), whole, delta=2e6)  # its last moments, too
        self.assertGreater(sum(int(row[1]) for row in tasks if row[3] == "busy?one"), 0.2e9)
        for name, text in (("tasks-1.csv", "time_ns,cpu_ns,pid,name\n5,5,5," + "x" * 16),
                           ("names-1.csv", "address,name\n1.2.3.4,a b\n")):
            path = os.path.join(run, name)
            with open(path, encoding="utf-8") as file:
                kept = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertRegex(self.run_((JOULECAST, "whatif", run), 1)[1], r"\Ajoulecast: [^\n]*:2: [^\n]*\n\Z")
            with open(path, "w", encoding="utf-8") as file:
                file.write(kept)

    def script(self, text):
        path = os.path.join(self.folder.name, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    @unittest.skipUnless(os.path.exists(STAGE), "needs joulecast-stage")
    def test_terminal(self):
        """A script is played into a terminal; one that is wrong, or waits in vain for what is no more, is said."""
        app = ("sh", "-c", "echo ready; read x; test -t 0 -a \"$x\" = hello && exit 7")
        script = self.script("wait-text ready\ntype hello\nkey Return\n")
        done = subprocess.run(emulate("--net", "none", "--input", script, "--terminal", app=app),
                              capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertIn("exit code 7", done.stderr)
        self.assertIn("ended before its input script",
                      self.run_(emulate("--net", "none", "--input", self.script("sleep 9s\n"),
                                                                         "--terminal"), 1)[1])
        for path, sentence in (("/no/such/file", "cannot be read"), (self.script("jump\n"), "is needed here")):
            out, said = self.run_(emulate("--net", "none", "--input", path, "--terminal"), 1)
            self.assertEqual(out, "")
            self.assertRegex(said, r"\Ajoulecast: [^\n]*\n\Z")
            self.assertIn(sentence, said)

    @unittest.skipUnless(os.path.exists(STAGE) and shutil.which("Xvfb") and shutil.which("xterm"),
                         "needs joulecast-stage, xterm")
    def test_screen(self):
        """Light of a white and of a dark screen, of a target whose black takes 80 % less; another brightness
        afterwards."""
        target, run = (os.path.join(self.folder.name, name) for name in ("oled.ini", "run"))
        with open(target, "w", encoding="utf-8") as file:
            file.write("[profile]\nversion = 1\ndevice = oled\nmethod = import\n[battery]\nenergy_full_mwh = 9999\n"
                       "[display]\nmax_brightness = 100\npower_mw.0 = 0\npower_mw.100 = 1000\nx-emission_percent = 80\n"
                       "x-emission_rgb = 0.5 0.3 0.2\nx-pixels = 300x200\n")
        script = self.script("wait-window Probe\nsleep 4s\ntype exit\nkey Return\n")

        def show(colour):
            answer, _ = self.run_(emulate("-o", run + colour, "--net", "none", "--brightness", "100", "--input",
                                          script, target=target,
                                          app=("xterm", "-T", "Probe", "-bg", colour, "-fg", colour, "-cr", colour,
                                               "-geometry",
                                               "200x99+0+0", "+sb", "-e", "sh")))
            with open(run + colour + "/screen-1.csv", encoding="utf-8") as file:
                rows = [line.split(",") for line in list(file)[1:]]
            # What comes after the program's end is not its.
            times = [min(int(row[0]) / 1e9, answer["wall_s"]) for row in rows] + [answer["wall_s"]]
            light = [0.5 * float(row[1]) + 0.3 * float(row[2]) + 0.2 * float(row[3]) for row in rows]
            times[0] = 0
            want = sum((1 - 0.8 * (1 - part)) * (end - start) for part, start, end in zip(light, times, times[1:]))
            self.assertAlmostEqual(answer["components_j"]["display"], want, 5)
            half, _ = self.run_((JOULECAST, "whatif", run + colour, "--brightness", "50", "--json"))
            self.assertAlmostEqual(half["components_j"]["display"], want / 2, 5)
            # The screen is black before the window and after it, which also takes a second on a busy machine.
            return max(part for part, start, end in zip(light, times, times[1:]) if end - start >= 1)

        with concurrent.futures.ThreadPoolExecutor() as pool:  # which mostly wait
            parts = list(pool.map(show, ("white", "black", "red")))
        for got, part in zip(parts, (1, 0, 0.5)):
            self.assertAlmostEqual(got, part, delta=0.03)
        with open(run + "red/screen-1.csv", "a", encoding="utf-8") as file:
            file.write("1,2,0,0, fff=1\n")
        self.assertIn("not a row", self.run_((JOULECAST, "whatif", run + "red"), 1)[1])

    def test_cpu(self):
        """One process and two, each as slow as the target's; and without control groups, as a user has them here or
        not."""
        spin = "import os, time\nif os.fork() == 0:\n  while True: pass\n" \
               "start, before = time.monotonic(), time.process_time()\n" \
               "while time.process_time() < before + 0.5: pass\n" \
               "print((time.monotonic() - start) / (time.process_time() - before))"
        answer, said = self.run_(emulate("--net", "none", target="nexus-7", factor="5", app=python(spin)))
        self.between(float(said.split()[0]), 4.2, 20)
        self.assertIn("1 of the app's processes were still running when its first one ended", said)
        self.assertIn(answer["quality"]["cpu_means"], ("quota-v1", "quota-v2", "stops"))
        if answer["quality"]["cpu_means"] != "stops":
            self.between(answer["quality"]["cpu_factor_reached"], 4, 6)
        self.assertEqual(groups(), [])
        spin = "import time\nstart = time.monotonic()\nwhile time.process_time() < 0.5: pass\n" \
               "print((time.monotonic() - start) / time.process_time())"
        run = os.path.join(self.folder.name, "run")
        alone = float(subprocess.run(python(spin), capture_output=True, text=True, check=True).stdout)  # 1, alone
        answer, said = self.run_(emulate("--net", "none", "-o", run, factor="5", app=python(spin)))
        self.between(float(said.split()[0]), 3, 15 * alone)  # its last moments may come before the next look
        self.assertEqual(answer["quality"]["cpu_factor"], 5)
        with open(run + "/cpu-1.csv", encoding="utf-8") as file:
            times = [tuple(map(int, line.split(","))) for line in list(file)[1:]]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[-1][1] / 1e9, 0.5, delta=0.1)

    @unittest.skipIf(os.geteuid(), "only root hides the control groups")
    def test_stops(self):
        """Without control groups it is measured how slow a thread was, and told where that is wrong by more than
        10 %."""
        hidden = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh")
        spin = "import time\nstart, before = time.monotonic(), time.process_time()\n" \
               "while time.process_time() < before + 0.7: pass\n" \
               "print((time.monotonic() - start) / (time.process_time() - before))"
        answer, said = self.run_((*hidden, *emulate("--net", "none", factor="5", app=python(spin))))
        self.assertEqual(answer["quality"]["cpu_means"], "stops")
        reached, told = answer["quality"]["cpu_factor_reached"], float(said.split()[0])
        self.between(reached / told, 0.85, 1.15)
        self.assertEqual("times slower than here in place of 5" in said, abs(reached / 5 - 1) > 0.1)

    def test_outlived(self):
        """Processes that the first one leaves behind are told, or waited for."""
        done = os.path.join(self.folder.name, "done")
        daemon = "import os, sys, time\nnamed, names = os.pipe()\n" \
                 "if os.fork():\n    os.read(named, 1)\n    os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n" \
                 "with open('/proc/self/comm', 'w') as comm: comm.write('left behind')\nos.write(names, b'.')\n" \
                 "while time.process_time() < float(sys.argv[1]): pass\nopen(sys.argv[2], 'w').close()"
        run = os.path.join(self.folder.name, "run")
        left, said = self.run_(emulate("-o", run, "--net", "none", app=python(daemon, 600, done)))
        self.assertEqual(left["quality"]["outlived"], 1)
        self.assertEqual(self.run_((JOULECAST, "whatif", run, "--json"))[0]["energy_j"], left["energy_j"])
        self.assertRegex(said, r"1 of the app's processes were still [^\n]*such as left behind[^\n]*--wait-all")
        self.assertFalse(os.path.exists(done))
        waited, said = self.run_(emulate("--net", "none", "--wait-all", app=python(daemon, 0.5, done)))
        self.assertTrue(os.path.exists(done))
        self.assertEqual((waited["quality"]["outlived"], said), (0, ""))
        self.between(waited["wall_s"], 0.5, 60)
        self.assertGreater(waited["components_j"]["cpu"], left["components_j"]["cpu"])
        limited, said = self.run_(emulate("--net", "none", "--wait-all", "--limit", "1", app=python(daemon, 600, done)))
        self.between(limited["wall_s"], 1, 20)
        self.assertEqual(limited["quality"]["outlived"], 1)
        self.assertIn("such as left behind, and were ended", said)
        calm, said = self.run_(emulate("--net", "none", app=("sh", "-c", "sleep 0.05 & sleep 0.2 & wait")))
        self.assertEqual((calm["quality"]["outlived"], said), (0, ""))

    def test_whatif(self):
        """The same bytes as an emulation would print, where nothing moves in time; and compare."""
        run, other = (os.path.join(self.folder.name, name) for name in ("run", "other"))
        answer, _ = self.run_(emulate("-o", run, "--net", "none", "--brightness", "60", app=("sleep", "0.2")))
        same, _ = self.run_((JOULECAST, "whatif", run, "--json"))
        self.assertEqual(same, answer)
        dark, _ = self.run_((JOULECAST, "whatif", run, "--brightness", "0", "--json"))
        self.assertAlmostEqual(dark["energy_j"]["value"],
                               answer["energy_j"]["value"] - answer["components_j"]["display"], 9)
        half, _ = self.run_((JOULECAST, "whatif", run, "--battery", "2590mWh", "--json"))
        self.assertAlmostEqual(half["battery_hours"]["value"], answer["battery_hours"]["value"] / 2, 9)
        _, said = self.run_((JOULECAST, "whatif", run, "--target", "nosuch"), 1)
        # Nor is there a warning of what it would move.
        self.assertRegex(said, r"\Ajoulecast: there is no target nosuch[^\n]*\n\Z")
        self.assertIn("packets were sent over wifi", self.run_((JOULECAST, "whatif", run, "--network", "lte"), 1)[1])
        page = os.path.join(self.folder.name, "page.html")
        subprocess.run([JOULECAST, "whatif", run, "--html", page], check=True)
        with open(page, encoding="utf-8") as file:
            data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', file.read(),
                                        re.S)[1])
        self.assertEqual(list(data["series"]), list(answer["components_j"]))
        for name, joules in answer["components_j"].items():
            self.assertAlmostEqual(sum(data["series"][name]), joules, 6)
        self.assertAlmostEqual(data["display_j"][60], answer["components_j"]["display"], 9)
        self.assertAlmostEqual(sum(data["air"]["high"]), answer["components_j"]["wifi"], 6)
        self.assertAlmostEqual(sum(map(sum, (seconds for _, seconds in data["states"]))), answer["wall_s"], 6)
        self.targets(run, data)
        self.run_(emulate("-o", other, "--net", "none", app=("sleep", "1")))
        single = subprocess.run([JOULECAST, "compare", run, other, "--fail-if", "+50%"], capture_output=True,
                                text=True, check=False)
        self.assertEqual((single.returncode, single.stdout), (2, ""))
        self.assertIn("--seeds 3", single.stderr)
        single = subprocess.run([JOULECAST, "compare", run, other], capture_output=True, text=True, check=True)
        self.assertIn("the interval does not include it", " ".join(single.stdout.split()))
        thrice, longer = run + "-3", other + "-3"
        self.run_(emulate("-o", thrice, "--net", "none", "--seeds", "3", app=("sleep", "0.2")))
        self.run_(emulate("-o", longer, "--net", "none", "--seeds", "3", app=("sleep", "1")))
        compare = subprocess.run([JOULECAST, "compare", thrice, longer, "--fail-if", "+50%", "--json"],
                                 capture_output=True,
                                 text=True, check=False)
        self.assertEqual(compare.returncode, 1)
        self.assertIn("more than", compare.stderr)
        self.between(json.loads(compare.stdout)["runs"][1]["difference_percent"]["value"], 60, 900)  # 400, alone
        shorter = subprocess.run([JOULECAST, "compare", longer, thrice, "--fail-if", "+50%", "--json"], check=True,
                                 stdout=subprocess.PIPE)
        self.between(json.loads(shorter.stdout)["runs"][1]["difference_percent"]["low"], -100, -40)
        subprocess.run([JOULECAST, "compare", thrice, longer, "--html", page], check=True)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("<script", text)
        for one in json.loads(compare.stdout)["runs"]:
            self.assertIn(f"<td>{one['energy_j']['value']:.2f} J</td>", text)
        self.assertEqual(text.count('<td class="bar"'), 2)
        self.run_(emulate("-o", run, "--net", "none", app=("sleep", "0.2")))  # in place of the one that is there
        _, said = self.run_(emulate("-o", self.folder.name, "--net", "none", app=("true",)), 2)
        self.assertIn("has other files than those of a run", said)
        self.video(other)
        for name, text in ("cpu-1.csv", "time_ns,cpu_ns\n5,x\n"), ("packets-1.csv", "wrong\n"), ("run.json", "{"):
            with open(os.path.join(run, name), "w", encoding="utf-8") as file:
                file.write(text)
            out, said = self.run_((JOULECAST, "compare", run, other), 1)
            self.assertEqual(out, "")
            self.assertRegex(said, r"\Ajoulecast: [^\n]*\n\Z")

    def test_worth(self):
        """What a run takes of the target's battery a day, where the app is used as on this device."""
        database, profile, run = (os.path.join(self.folder.name, name) for name in ("u.db", "p.ini", "run"))
        tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        device = os.path.join(tests, "..", "data", "virtual", "nexus-7.ini")
        with open(device, encoding="utf-8") as file, open(profile, "w", encoding="utf-8") as plain:
            plain.write(file.read().split("\n[virtual]")[0].replace("method = virtual", "method = import"))
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + device, "--scenario",
                        os.path.join(tests, "data", "afternoon.ini"), "--database", database, "--json"], check=True,
                       capture_output=True)
        where = ("--database", database, "--profile", profile)
        answer, _ = self.run_(emulate("-o", run, "--net", "none", *where, app=("sleep", "0.2")))
        self.assertIsNone(answer["worth"])
        answer, _ = self.run_((JOULECAST, "whatif", run, "--app", "angry-birds", "--json", *where))
        worth, joules = answer["worth"], answer["energy_j"]["value"]
        active_s = 2700 * 12  # in two hours
        self.assertAlmostEqual(worth["active_s_per_day"], active_s, 6)
        self.assertAlmostEqual(worth["percent_per_day"], active_s / 36 / answer["battery_hours"]["value"], 6)
        own = answer["components_j"]["cpu"] + answer["components_j"]["wifi"]
        self.assertAlmostEqual(worth["minutes_per_day"], active_s / 60 * own / joules, 6)
        for key in ("percent_per_day", "minutes_per_day"):
            self.assertLess(worth[key + "_low"], worth[key])
            self.assertGreater(worth[key + "_high"], worth[key])
        self.assertAlmostEqual(worth["percent_per_day_low"], active_s / 36 / answer["battery_hours"]["high"], 6)
        self.assertLessEqual(worth["minutes_per_day_low"], active_s / 60 * own / answer["energy_j"]["high"] + 1e-6)
        self.assertLessEqual(worth["minutes_per_day_high"], active_s / 60)
        said = subprocess.run([JOULECAST, "whatif", run, "--app", "angry-birds", *where], capture_output=True,
                              text=True, check=True).stdout
        self.assertIn("If it were used 540 min a day, as angry-birds was on this device", " ".join(said.split()))
        self.assertIn("of nosuch", self.run_((JOULECAST, "whatif", run, "--app", "nosuch", *where), 1)[1])

    def targets(self, run, data):
        """The page has the run's own target first, then those that come with joulecast, each as whatif says."""
        self.assertEqual(data["targets"][0]["target"], "nexus-one")
        self.assertLessEqual({"nexus-7", "oneplus-3"}, {target["target"] for target in data["targets"]})
        for target in data["targets"][:4]:
            answer, _ = self.run_((JOULECAST, "whatif", run, "--target", target["target"], "--json"))
            carrier = target["carriers"][0]
            series = {**target["series"], **({data["air_name"]: carrier["air"]["high"]} if carrier["air"] else {})}
            self.assertAlmostEqual(sum(map(sum, series.values())), answer["energy_j"]["value"], 5)  # of rounded points
            self.assertAlmostEqual(target["battery_mwh"] * 3.6 / 3600 * answer["wall_s"] / answer["energy_j"]["value"],
                                   answer["battery_hours"]["value"], 6)
            self.assertAlmostEqual(carrier["low"], answer["energy_j"]["low"] / answer["energy_j"]["value"], 6)
        run_3g, page = run + "-3g", os.path.join(self.folder.name, "3g.html")
        send = "import socket, time\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
               "for i in range(4): a.sendto(bytes(900), ('127.0.0.1', 9)); time.sleep(0.9)"
        self.run_(emulate("--net", "loopback", "-o", run_3g, network="3g-average", app=python(send)))
        subprocess.run([JOULECAST, "whatif", run_3g, "--html", page], check=True)
        with open(page, encoding="utf-8") as file:
            data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', file.read(),
                                        re.S)[1])
        carriers = {one["carrier"]: one for one in data["targets"][0]["carriers"]}
        self.assertLessEqual({"", "att", "sprint"}, set(carriers))
        for carrier, signal in (("att", "high"), ("att", "low"), ("sprint", "medium")):
            answer, _ = self.run_((JOULECAST, "whatif", run_3g, "--carrier", carrier, "--signal", signal, "--json"))
            self.assertAlmostEqual(sum(carriers[carrier]["air"][signal]), answer["components_j"]["cellular"], 6)

    def test_channels(self):
        """A panel whose colours take 225, 349 and 670 mW at full brightness."""
        run, target = (os.path.join(self.folder.name, name) for name in ("run", "amoled.ini"))
        self.run_(emulate("-o", run, "--net", "none", app=("sleep", "1")))
        head = "[profile]\nversion = 1\ndevice = amoled\nmethod = import\n[battery]\nenergy_full_mwh = 9999\n" \
               "[display]\nmax_brightness = 100\npower_mw.0 = 100\npower_mw.100 = 1500\nx-channel_mw = "
        for red, green, blue in ((1, 1, 1), (0, 0, 0), (0, 0, 1), (1, 0, 0), (0.5, 0.25, 0)):
            with open(run + "/screen-1.csv", "w", encoding="utf-8") as file:
                file.write(f"time_ns,red,green,blue,colours\n0,{red},{green},{blue}, 000=1\n")
            with open(target, "w", encoding="utf-8") as file:
                file.write(head + "225 349 670\n")
            for brightness in 100, 50:
                answer, _ = self.run_((JOULECAST, "whatif", run, "--target", target, "--brightness", str(brightness),
                                       "--json"))
                dark = 225 * (1 - red) + 349 * (1 - green) + 670 * (1 - blue)
                self.assertAlmostEqual(answer["components_j"]["display"] / answer["wall_s"] * 1e3,
                                       100 + 14 * brightness - dark * brightness / 100, 3)
        for wrong in ("1 2", "1 2 x", "-1 2 3", "0 0 0", "1 2 3 4", "nan 1 1"):
            with open(target, "w", encoding="utf-8") as file:
                file.write(head + wrong + "\n")
            self.assertIn("x-channel_mw", self.run_((JOULECAST, "whatif", run, "--target", target), 1)[1])

    def video(self, run):
        """From the first of many pictures that move to the last one; a cursor that blinks is none."""
        target = os.path.join(self.folder.name, "video.ini")
        for video, picture, moving_s in (("231", "{0:x}00=100", 0.5), ("231", "000=999 {0:x}00=1", 0),
                                         ("-1", "000=1", 0)):
            with open(target, "w", encoding="utf-8") as file:
                file.write("[profile]\nversion = 1\ndevice = video\nmethod = import\nx-video_mw = " + video +
                           "\n[battery]\n"
                           "energy_full_mwh = 9999\n[display]\nmax_brightness = 100\npower_mw.0 = 0\npower_mw.100 "
                           "= 1000\n")
            with open(run + "/screen-1.csv", "w", encoding="utf-8") as file:
                file.write("time_ns,red,green,blue,colours\n" + "".join(f"{i}00000000,1,1,1, {picture.format(i)}\n"
                                                                        for i in range(7)))
            command = (JOULECAST, "whatif", run, "--target", target, "--brightness", "100", "--json")
            if video == "-1":
                self.assertIn("is not a power in mW: -1", self.run_(command, 1)[1])
            else:
                answer, _ = self.run_(command)
                self.assertAlmostEqual(answer["components_j"]["display"], answer["wall_s"] + 0.231 * moving_s, 5)

    def test_seeds(self):
        answer, _ = self.run_(emulate("--seeds", "2", "--seed", "5", "--net", "none", app=("sleep", "0.2")))
        self.assertEqual([one["seed"] for one in answer["seeds"]], [5, 6])
        with open(DOCUMENT, encoding="utf-8") as file:
            section = file.read().split("\n## emulate\n")[1].split("\n## ")[0]
        for key in [*KEYS[:-1], "seeds", *answer["quality"], *answer["components_j"]]:
            self.assertIn(f"`{key}`", section)

    def test_refused(self):
        bad = self.network("speed = 3")
        for words, code, sentence in (
                ((*emulate(target="no-such"),), 1, "no target no-such"),
                ((*emulate(network="no-such"),), 1, "no network no-such"),
                ((*emulate(network=bad),), 1, "speed is no key of a network"),
                ((*emulate(app=("/no/such/app",)),), 1, "cannot be started"),
                ((*emulate("--carrier", "no-such", network="3g-poor"),), 1, "no carrier no-such"),
                ((JOULECAST, "emulate", "--target", "nexus-one"), 2, "no app is given"),
                ((*emulate("--terminal"),), 2, "--terminal goes with --input"),
                ((*emulate("--terminal", "--input", "x", "--screen"),), 2, "exclude each other"),
                ((JOULECAST, "emulate", "--", "true"), 2, "no target is given")):
            out, said = self.run_(words, code)
            self.assertEqual(out, "")
            self.assertRegex(said, r"\Ajoulecast: [^\n]*\n\Z")
            self.assertIn(sentence, said)
        done = subprocess.run(emulate("--net", "none", app=("sh", "-c", "exit 3")), capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit code 3", done.stderr)
        json.loads(done.stdout)

    def test_kill(self):
        """Whatever part is killed: a second later none of its processes and control groups is there, so no
        namespace or device is."""
        choose = random.Random(1)
        for i in range(int(os.environ.get("JOULECAST_KILLS", "8"))):
            mark = f"joulecast-kill-{os.getpid()}-{i}"
            spin = f"'{mark}'\nimport os\nos.fork()\nwhile True: pass"
            with subprocess.Popen(emulate("--net", "loopback", network="3g-poor", factor="4", app=python(spin)),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
                time.sleep(choose.uniform(0, 0.6))
                parts = tree(program.pid)
                try:
                    os.kill(choose.choice(parts), signal.SIGKILL)
                except ProcessLookupError:
                    pass
                try:
                    program.wait(0.3)
                except subprocess.TimeoutExpired:  # one of the app's own processes, which it may lose
                    program.kill()
            for _ in range(20):
                left = marked(mark) + alive(parts) + groups(parts)
                if not left:
                    break
                time.sleep(0.05)
            self.assertEqual(left, [], f"kill {i}")


def tree(pid):
    pids = [pid]
    for one in pids:
        try:
            with open(f"/proc/{one}/task/{one}/children", encoding="ascii") as file:
                pids += map(int, file.read().split())
        except OSError:
            pass
    return pids


def groups(pids=()):
    """Control groups of runs that were begun by one of these processes, or by this one."""
    found = []
    for hierarchy in "/sys/fs/cgroup/cpu", "/sys/fs/cgroup":
        for folder, _, _ in os.walk(hierarchy):
            name = re.fullmatch(r"joulecast-emulate-([0-9]+)-[0-9]+", os.path.basename(folder))
            if name and (int(name[1]) in pids or not pids and not alive([int(name[1])])):
                found.append(folder)
    return found


def alive(pids):
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                if re.search(r"\) [^ZX]", file.read()):
                    found.append(pid)
        except OSError:
            pass
    return found


def marked(mark):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if mark.encode() in file.read() and int(name) != os.getpid():
                        found.append(int(name))
            except OSError:
                pass
    return alive(found)


probe = subprocess.run(emulate(app=("true",)), capture_output=True, text=True, check=False, timeout=60)
if probe.returncode and re.search("namespace|network device|app's network", probe.stderr):
    print(probe.stderr)
    sys.exit(77)
sys.argv[1:] = sys.argv[3:]
unittest.main(verbosity=1)
