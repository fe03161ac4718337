#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The network load of a calibration on the loopback: its rates, its turns, its limit, and what goes wrong.

Usage: test-traffic-load.py DRIVER JOULECAST-TRAFFIC
"""
import errno
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

DRIVER, TRAFFIC = sys.argv[1:3]
BODY = os.urandom(1 << 20)


class Handler(http.server.BaseHTTPRequestHandler):
    """Counts what was taken of it."""

    sent = 0
    heads = 0

    def head(self, code):
        self.send_response(code)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()

    def do_GET(self):
        self.head(200 if self.path == "/file" else 404)
        try:
            for at in range(0, len(BODY), 4096):
                self.wfile.write(BODY[at:at + 4096])
                Handler.sent += 4096
        except OSError:
            pass

    def do_HEAD(self):
        Handler.heads += 1
        self.head(200)

    def log_message(self, *arguments):
        pass


class Load:
    def __init__(self, url="-", peer="-", interface="lo", program=TRAFFIC):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.process = subprocess.Popen([DRIVER, program, interface, url, peer], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.opened = self.answer()

    def answer(self):
        return int(self.process.stdout.readline())

    def set(self, rx=0, tx=0, wakes=0, most=1e9):
        self.process.stdin.write(f"set {rx} {tx} {wakes} {most}\n")
        self.process.stdin.flush()
        return self.answer()

    def tend(self, seconds, until=lambda result: False):
        """As the runner looks; the last result."""
        end, result = time.monotonic() + seconds, 0
        while time.monotonic() < end and not until(result):
            self.process.stdin.write("tend\n")
            self.process.stdin.flush()
            result = self.answer()
            time.sleep(0.1)
        return result

    def close(self):
        self.process.stdin.close()
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait(timeout=20)
        return said


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TrafficLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        cls.server.daemon_threads = True
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}/file"

    def setUp(self):
        Handler.sent = Handler.heads = 0

    def test_receives_and_stops(self):
        load = Load(url=self.url)
        self.assertEqual(load.opened, 0)
        began = time.monotonic()
        self.assertEqual(load.set(rx=400000), 0)
        self.assertEqual(load.tend(3), 0)
        self.assertEqual(load.set(), 0)
        seconds = time.monotonic() - began
        time.sleep(0.3)
        done = Handler.sent
        # The sockets' buffers come on top: bytes of half a second, and the server's own buffer.
        self.assertLess(done, 400000 * seconds + 1e6)
        self.assertGreater(done, 400000)
        time.sleep(0.7)
        self.assertEqual(Handler.sent, done)
        self.assertEqual(load.close(), "")

    def test_wakes(self):
        load = Load(url=self.url)
        self.assertEqual(load.set(wakes=5), 0)
        self.assertEqual(load.tend(20, lambda result: Handler.heads >= 3), 0)
        self.assertGreaterEqual(Handler.heads, 3)
        self.assertEqual(load.close(), "")

    def test_limit(self):
        load = Load(url=self.url)
        self.assertEqual(load.set(rx=400000, most=900000), 0)
        self.assertEqual(load.tend(20, lambda result: result), -errno.EDQUOT)
        self.assertLess(Handler.sent, 900000 + 1e6)
        self.assertGreater(Handler.sent, 500000)
        self.assertEqual(load.tend(0.3), 0)  # and it is over
        self.assertEqual(load.set(rx=400000, most=300000), -errno.EDQUOT)
        self.assertEqual(load.close(), "")

    def test_one_peer_both_ways(self):
        """An iperf3 takes one at a time: receiving and sending take turns."""
        if not shutil.which("iperf3"):
            self.skipTest("iperf3 is not installed")
        port = free_port()
        peer = subprocess.Popen(["iperf3", "-s", "-J", "-B", "127.0.0.1", "-p", str(port)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        try:
            load = Load(peer=f"127.0.0.1:{port}")
            self.assertEqual(load.set(rx=200000, tx=100000), 0)
            self.assertEqual(load.tend(6), 0)  # a short dwell
            self.assertEqual(load.set(), 0)
            self.assertEqual(load.close(), "")
        finally:
            peer.terminate()
            report = peer.stdout.read()
            peer.stdout.close()
            peer.wait()
        self.assertIn('"reverse":\t1', report)
        self.assertIn('"reverse":\t0', report)

    def test_what_goes_wrong(self):
        load = Load(peer=f"127.0.0.1:{free_port()}")
        self.assertEqual(load.set(tx=200000), 0)
        self.assertEqual(load.tend(40, lambda result: result), -errno.EIO)
        said = load.close()
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("lo: no traffic: the peer 127.0.0.1", said)
        load = Load(url=self.url, program="/nowhere/joulecast-traffic")
        # Its process is gone before it is written to, or after: then the next look tells.
        self.assertEqual(load.set(rx=200000) or load.tend(40, lambda result: result), -errno.EIO)
        self.assertIn("has ended", load.close())
        for peer in ("", ":5", "a:b", "a:0", "a:70000", "[::1", "[::1]x", "x" * 300):
            load = Load(peer=peer)
            self.assertEqual(load.opened, -errno.EINVAL, peer)
            load.close()
        for peer in ("a", "a:1", "[::1]", "[::1]:5", "::1", "fe80::1"):
            load = Load(peer=peer)
            self.assertEqual(load.opened, 0, peer)
            load.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
