#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-traffic over its pipe, against a web server and an iperf3 peer on the loopback.

Usage: test-traffic.py JOULECAST-TRAFFIC
"""
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

BODY = bytes(range(256)) * 4096  # 1 MiB
heads = []
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


class Handler(http.server.BaseHTTPRequestHandler):
    def respond(self):
        known = {"/file": BODY, "/small": BODY[:5000], "/empty": b""}
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return b""
        self.send_response(200 if self.path in known else 404)
        body = known.get(self.path, b"")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return body

    def do_GET(self):
        body = self.respond()
        try:
            self.wfile.write(body)
            if self.path == "/hang":
                time.sleep(30)
        except OSError:
            pass  # the client has enough

    def do_HEAD(self):
        heads.append(time.monotonic())
        self.respond()

    def log_message(self, *arguments):
        pass


class Traffic:
    def __init__(self, **options):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, **options)

    def send(self, request):
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "no answer"}

    def ask(self, request):
        self.send(request)
        return self.answer()

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        status = self.process.wait(timeout=10)
        check(self.process.stderr.read() == b"", "nothing on stderr")
        return rest, status


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_listener(port):
    """A connection would confuse iperf3: look at what the kernel lists (state 0A: listening)."""
    for _ in range(100):
        with open("/proc/net/tcp", encoding="ascii") as file:
            if any(f":{port:04X} 00000000:0000 0A" in line for line in file):
                return
        time.sleep(0.1)


def test_url(base):
    traffic = Traffic()
    got = traffic.ask({"receive": {"url": base + "/file", "bytes_per_s": 400000, "seconds": 2}})
    check(got.get("done") == "receive" and not got["stopped"], f"receive by time: {got}")
    check(400000 < got["rx_bytes"] < 900000, f"paced to the rate: {got}")
    check(1.9 < got["seconds"] < 3, f"as long as asked: {got}")
    got = traffic.ask({"receive": {"url": base + "/small", "bytes_per_s": 1000000, "bytes": 60000, "seconds": 20}})
    check(got.get("done") == "receive" and 60000 <= got["rx_bytes"] < 75000, f"a small file again and again: {got}")
    check(got["tx_bytes"] > 0, f"requests are counted: {got}")
    for path, words in (("/none", "404"), ("/empty", "empty"), ("/redirect", "")):
        got = traffic.ask({"receive": {"url": base + path, "bytes_per_s": 400000, "seconds": 2}})
        check("error" in got and words in got["error"], f"{path}: {got}")
    got = traffic.ask({"receive": {"url": f"http://127.0.0.1:{free_port()}/", "bytes_per_s": 400000, "seconds": 2}})
    check("error" in got, f"nobody listens: {got}")
    # Stop at once, though the server hangs and the window would be open for a minute.
    traffic.send({"receive": {"url": base + "/file", "bytes_per_s": 50000, "seconds": 60}})
    time.sleep(0.5)
    check("running" in traffic.ask({"wake": {"url": base + "/file"}})["error"], "one at a time")
    began = time.monotonic()
    traffic.send({"stop": True})
    got, stop = traffic.answer(), traffic.answer()
    check(time.monotonic() - began < 1, "stops at once")
    check(got.get("stopped") is True and got["rx_bytes"] > 0 and stop == {"done": "stop"}, f"stopped: {got} {stop}")
    check(traffic.ask({"stop": True}) == {"done": "stop"}, "stop with nothing to stop")
    check(traffic.end() == (b"", 0), "ends with its input")
    # Whoever starts it may ignore its children, and a program inherits that.
    traffic = Traffic(preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    got = traffic.ask({"receive": {"url": base + "/none", "bytes_per_s": 400000, "seconds": 2}})
    check("404" in got.get("error", ""), f"a failure is one: {got}")
    check(traffic.end() == (b"", 0), "ends with its input")


def test_wake(base):
    traffic = Traffic()
    heads.clear()
    got = traffic.ask({"wake": {"url": base + "/small", "silence_s": 1, "bursts": 3}})
    check(got.get("done") == "wake" and got["bursts"] == 3, f"wakes a url: {got}")
    check(len(heads) == 3 and min(b - a for a, b in zip(heads, heads[1:])) >= 1, f"silences of a second: {heads}")
    got = traffic.ask({"wake": {"peer": "127.0.0.1", "port": free_port(), "silence_s": 1, "seconds": 1.5}})
    check(got.get("done") == "wake" and got["bursts"] == 2 and got["tx_bytes"] == 128, f"wakes a peer: {got}")
    got = traffic.ask({"wake": {"peer": "127.0.0.1", "port": free_port(), "silence_s": 0.01, "packets": 5,
                                "bursts": 20}})
    check(got["bursts"] == 20 and got["tx_bytes"] == 20 * 5 * 64 and got["seconds"] < 10, f"keeps a radio awake: {got}")
    check(traffic.end() == (b"", 0), "ends with its input")


def test_peer():
    if not shutil.which("iperf3"):
        print("iperf3 is not installed: no peer to test against")
        return
    port = free_port()
    peer = subprocess.Popen(["iperf3", "-s", "-B", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    try:
        wait_for_listener(port)
        traffic = Traffic()
        where = {"peer": "127.0.0.1", "port": port}
        got = traffic.ask({"receive": {**where, "bytes_per_s": 200000, "seconds": 1.2}})
        check(got.get("done") == "receive" and 300000 < got["rx_bytes"] < 600000, f"receive: {got}")
        got = traffic.ask({"transmit": {**where, "bytes_per_s": 2000000, "bytes": 500000, "seconds": 10}})
        check(got.get("done") == "transmit" and 500000 <= got["tx_bytes"] < 700000, f"transmit: {got}")
        traffic.send({"transmit": {**where, "bytes_per_s": 200000, "seconds": 60}})
        time.sleep(1)
        traffic.send({"stop": True})
        got = traffic.answer()
        check(got.get("stopped") is True and 50000 < got["tx_bytes"] < 600000, f"stopped, and counted: {got}")
        check(traffic.answer() == {"done": "stop"}, "stop answers, too")
        got = traffic.ask({"receive": {"peer": "127.0.0.1", "port": free_port(), "bytes_per_s": 200000}})
        check("error" in got and "127.0.0.1" in got["error"], f"no peer there: {got}")
        check(traffic.end() == (b"", 0), "ends with its input")
    finally:
        peer.terminate()
        peer.wait()


def test_interface(base):
    """Over the interface that was named and no other: an address of the loopback is not reached over any other."""
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    port = free_port()
    peer = subprocess.Popen(["iperf3", "-s", "-B", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL) if shutil.which("iperf3") else None
    if peer:
        wait_for_listener(port)
    try:
        for interface, reached in [("lo", True), ("nowhere0", False)] + [(name, False) for name in others[:1]]:
            traffic = Traffic()
            how = {"interface": interface, "bytes_per_s": 400000, "seconds": 1}
            got = traffic.ask({"receive": {"url": base + "/small", **how}})
            check(("done" in got) == reached, f"a url over {interface}: {got}")
            got = traffic.ask({"wake": {"url": base + "/small", "interface": interface, "bursts": 1}})
            check(("done" in got) == reached, f"waking over {interface}: {got}")
            for kind in ("receive", "transmit") if peer else ():
                got = traffic.ask({kind: {"peer": "127.0.0.1", "port": port, **how}})
                check(("done" in got) == reached, f"{kind} with a peer over {interface}: {got}")
            check(traffic.end() == (b"", 0), "ends with its input")
    finally:
        if peer:
            peer.terminate()
            peer.wait()


def test_protocol(base):
    traffic = Traffic()
    where = {"url": base + "/file"}
    for bad in (b"nonsense", b"[]", b"{}", b'"receive"', b'{"receive": 1}', b'{"stop": false}', b'{"stop": true} x',
                {"receive": {}}, {"receive": where}, {"receive": {**where, "bytes_per_s": 10}},
                {"receive": {**where, "bytes_per_s": "1000"}}, {"receive": {**where, "bytes_per_s": 1e300}},
                {"receive": {**where, "bytes_per_s": 5000.5}},
                {"receive": {**where, "bytes_per_s": 5000, "seconds": 0}},
                {"receive": {**where, "peer": "a", "bytes_per_s": 5000}}, {"transmit": {**where, "bytes_per_s": 5000}},
                {"receive": {"url": "file:///etc/passwd", "bytes_per_s": 5000}},
                {"receive": {"url": "http://a b", "bytes_per_s": 5000}},
                {"receive": {"url": "http://" + "a" * 3000, "bytes_per_s": 5000}},
                {"receive": {"peer": "-x", "bytes_per_s": 5000}}, {"receive": {"peer": "", "bytes_per_s": 5000}},
                {"receive": {"peer": "a;b", "bytes_per_s": 5000}}, {"wake": {"peer": "a", "port": 70000}},
                {"wake": {"peer": "a", "silence_s": 0.001}},
                {"wake": {"peer": "a", "silence_s": 0.005, "packets": 1000}},
                {"wake": {"peer": "a", "packets": 0}}, {"wake": {"peer": "a", "bytes_per_s": 5000}},
                {"wake": {"peer": "a", "typo": 1}}, {"wake": {"peer": "a", "interface": "x" * 16}},
                {"wake": {"peer": "a", "interface": "a!b"}}, {"wake": {"peer": "a", "interface": ""}},
                {"stop": True, "wake": {}}, b'{"receive": {"url": "\x1b[2J"}}',
                b"x" * 10000, b'{"a\x00b": 1}', b"[" * 3000):
        got = traffic.ask(bad)
        check(isinstance(got.get("error"), str) and len(got) == 1 and got["error"].isprintable(), f"{bad!r:.80}: {got}")
    traffic.send(b"")
    traffic.send(b"  \r")
    check(traffic.ask({"stop": True}) == {"done": "stop"}, "empty lines are skipped")
    # The end of the input stops what runs.
    traffic.send({"receive": {**where, "bytes_per_s": 50000, "seconds": 60}})
    time.sleep(0.3)
    began = time.monotonic()
    rest, status = traffic.end()
    check(time.monotonic() - began < 2 and status == 0, "the end of the input stops it")
    check(json.loads(rest).get("stopped") is True, f"and it still answers: {rest}")
    for arguments, wanted in ((["--help"], 0), (["--version"], 0), (["--nonsense"], 2), (["file"], 2)):
        ran = subprocess.run([sys.argv[1], *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
        check(ran.returncode == wanted, f"{arguments}: {ran}")
        check(bool(ran.stdout) == (wanted == 0) and bool(ran.stderr) == (wanted == 2), f"{arguments}: {ran}")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
test_url(url)
test_wake(url)
test_peer()
test_interface(url)
test_protocol(url)
sys.exit(1 if failures else 0)
