#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which remote logins would lose their connection without the radio: real connections between two network namespaces.

Usage: test-remote-login.py REMOTE-LOGIN-DRIVER    exit 77: not root, or this kernel has no veth
"""
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import unittest

DRIVER = os.path.abspath(sys.argv[1])
LINKS = ("wlan", "cable")  # 192.0.2.0/24 and 198.51.100.0/24; 2001:db8:1::/64 and 2001:db8:2::/64
ELSEWHERE, ELSEWHERE6 = "203.0.113.7", "2001:db8:3::7"
CONNECT = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), source_address=(sys.argv[3], 0))
print("connected", flush=True)
time.sleep(100)
"""


def ip(*arguments, inside=None):
    enter = ["nsenter", "-t", str(inside), "-n"] if inside else []
    subprocess.run([*enter, "ip", *arguments], check=True)


class RemoteLogin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.far = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        cls.addClassCleanup(cls.far.wait)
        cls.addClassCleanup(cls.far.kill)
        while os.readlink("/proc/%d/ns/net" % cls.far.pid) == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)
        far = cls.far.pid
        ip("link", "set", "lo", "up")
        ip("link", "set", "lo", "up", inside=far)
        for number, (name, net) in enumerate(zip(LINKS, ("192.0.2.", "198.51.100.")), 1):
            ip("link", "add", "name", name, "type", "veth", "peer", "name", "far" + name)
            ip("link", "set", "far" + name, "netns", str(far))
            for link, end, inside in ((name, 1, None), ("far" + name, 2, far)):
                ip("addr", "add", net + "%d/24" % end, "dev", link, inside=inside)
                ip("-6", "addr", "add", "2001:db8:%d::%d/64" % (number, end), "dev", link, "nodad", inside=inside)
                ip("link", "set", link, "up", inside=inside)
        ip("addr", "add", ELSEWHERE + "/32", "dev", "lo", inside=far)
        ip("-6", "addr", "add", ELSEWHERE6 + "/128", "dev", "lo", "nodad", inside=far)

    def setUp(self):
        open("/run/utmp", "wb").close()
        for family in ("-4", "-6"):
            subprocess.run(["ip", family, "route", "flush", "default"], check=False)
        self.environment = {key: value for key, value in os.environ.items() if key != "SSH_CONNECTION"}

    def default(self, link, metric, family="-4"):
        gateway = {"-4": {"wlan": "192.0.2.2", "cable": "198.51.100.2"},
                   "-6": {"wlan": "2001:db8:1::2", "cable": "2001:db8:2::2"}}[family][link]
        ip(family, "route", "add", "default", "via", gateway, "dev", link, "metric", str(metric))

    def connect(self, to, port=22, source=ELSEWHERE):
        """From elsewhere to here; both ends live until the test ends."""
        family = socket.AF_INET6 if ":" in to else socket.AF_INET
        listener = socket.socket(family)
        self.addCleanup(listener.close)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((to, port))
        listener.listen()
        far = subprocess.Popen(["nsenter", "-t", str(self.far.pid), "-n", sys.executable, "-c", CONNECT, to,
                                str(port), source],
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(far.stdout.close)
        self.addCleanup(far.wait)
        self.addCleanup(far.kill)
        connection = listener.accept()[0]
        self.addCleanup(connection.close)
        self.assertEqual(far.stdout.readline(), "connected\n")
        return connection

    def cut_off(self, *links):
        out = subprocess.run([DRIVER, *(links or LINKS)], env=self.environment, stdout=subprocess.PIPE, text=True,
                             check=True)
        return out.stdout.split()

    def test_nobody(self):
        self.default("wlan", 100)
        self.assertEqual(self.cut_off(), [])

    def test_neighbour_beside_the_default_route(self):
        self.default("cable", 100)
        self.connect("192.0.2.1", source="192.0.2.2")
        self.assertEqual(self.cut_off(), ["wlan"])

    def test_better_of_two_default_routes(self):
        self.default("cable", 600)
        self.default("wlan", 100)
        self.connect("198.51.100.1")  # came in by the cable, is answered over the radio
        self.assertEqual(self.cut_off(), ["wlan"])

    def test_default_route_by_cable(self):
        self.default("cable", 100)
        self.default("wlan", 600)
        self.connect("198.51.100.1")
        self.assertEqual(self.cut_off(), ["cable"])

    def test_host_route(self):
        self.default("cable", 100)
        ip("route", "add", ELSEWHERE, "via", "192.0.2.2", "dev", "wlan")
        self.addCleanup(ip, "route", "del", ELSEWHERE)
        self.connect("192.0.2.1")
        self.assertEqual(self.cut_off(), ["wlan"])

    def test_rule_by_source(self):
        self.default("cable", 100)
        ip("route", "add", "default", "via", "192.0.2.2", "dev", "wlan", "table", "100")
        ip("rule", "add", "from", "192.0.2.1", "table", "100")
        self.addCleanup(ip, "rule", "del", "from", "192.0.2.1", "table", "100")
        self.connect("192.0.2.1")
        self.assertEqual(self.cut_off(), ["wlan"])

    def test_ipv6(self):
        self.default("cable", 100)  # an IPv4 route, which does not matter
        self.default("wlan", 100, "-6")
        self.default("cable", 600, "-6")
        self.connect("2001:db8:1::1", source=ELSEWHERE6)
        self.assertEqual(self.cut_off(), ["wlan"])

    def test_environment(self):
        self.default("cable", 100)
        self.environment["SSH_CONNECTION"] = "192.0.2.2 50000 192.0.2.1 2222"
        self.assertEqual(self.cut_off(), ["wlan"])
        self.environment["SSH_CONNECTION"] = ELSEWHERE + " 50000 198.51.100.1 22"
        self.assertEqual(self.cut_off(), ["cable"])

    def test_other_port_by_the_server_above_us(self):
        """As after sudo: no environment; a parent called sshd has the socket."""
        self.default("cable", 100)
        connection = self.connect("192.0.2.1", 2222, "192.0.2.2")
        self.assertEqual(self.cut_off(), [])
        shell = shutil.copy("/bin/sh", "/run/sshd")
        out = subprocess.run([shell, "-c", "%s wlan cable; true" % DRIVER], env=self.environment,
                             stdout=subprocess.PIPE,
                             pass_fds=[connection.fileno()], text=True, check=True)
        self.assertEqual(out.stdout.split(), ["wlan"])
        out = subprocess.run([shell, "-c", "%s wlan cable; true" % DRIVER], env=self.environment,
                             stdout=subprocess.PIPE,
                             text=True, check=True)
        self.assertEqual(out.stdout.split(), ["cable"])  # nobody knows its far end: the default route

    def log_in(self, host, address=b""):
        """One line of utmp, as utmp(5) has it."""
        with open("/run/utmp", "wb") as file:
            file.write(struct.pack("hi32s4s32s256shhiii16s20x", 7, os.getpid(), b"pts/0", b"ts/0", b"user", host, 0,
                                   0, 1, 0, 0,
                                   address))

    def test_utmp(self):
        self.default("cable", 100)
        self.default("wlan", 600)
        self.log_in(b"192.0.2.2 via mosh [77]")
        self.assertEqual(self.cut_off(), ["wlan"])
        self.log_in(b"far.example", socket.inet_aton("192.0.2.2"))
        self.assertEqual(self.cut_off(), ["wlan"])
        self.log_in(b"far.example", socket.inet_pton(socket.AF_INET6, "2001:db8:2::2"))
        self.assertEqual(self.cut_off(), ["cable"])
        self.log_in(b":0")
        self.assertEqual(self.cut_off(), [])
        self.log_in(b"far.example")  # by a name that is not asked for: perhaps over any default route
        self.assertEqual(self.cut_off(), ["wlan", "cable"])

    def test_layers(self):
        """A bridge on the cable; and a tunnel, which goes over nobody knows what."""
        ip("link", "add", "name", "bridge", "type", "bridge")
        self.addCleanup(ip, "link", "del", "bridge")
        ip("link", "set", "cable", "master", "bridge")
        ip("addr", "add", "10.0.0.1/24", "dev", "bridge")
        ip("link", "set", "bridge", "up")
        self.environment["SSH_CONNECTION"] = "10.0.0.2 50000 10.0.0.1 22"
        self.assertEqual(self.cut_off(), ["cable"])
        self.assertEqual(self.cut_off("bridge"), ["bridge"])
        if not os.path.exists("/dev/net/tun"):
            self.skipTest("there is no /dev/net/tun")
        ip("tuntap", "add", "dev", "vpn", "mode", "tun")
        self.addCleanup(ip, "link", "del", "vpn")
        ip("addr", "add", "10.1.0.1/24", "dev", "vpn")
        ip("link", "set", "vpn", "up")
        self.environment["SSH_CONNECTION"] = "10.1.0.2 50000 10.1.0.1 22"
        self.assertEqual(self.cut_off(), ["wlan", "cable"])


def main():
    if os.geteuid() != 0 or not shutil.which("ip"):
        print("only root with iproute2 can make network namespaces")
        sys.exit(77)
    if sys.argv[2:] != ["inside"]:
        os.execvp("unshare", ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
                              "sh", "-euc",
                              "mount -t sysfs sys /sys && mount -t tmpfs run /run && exec \"$@\"", "sh", sys.executable,
                              *sys.argv, "inside"])
    if subprocess.run(["ip", "link", "add", "name", "a0", "type", "veth", "peer", "name", "b0"], capture_output=True,
                      check=False).returncode:
        print("this kernel has no veth")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])


main()
