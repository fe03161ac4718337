# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The step about what a calibration holds: the screen, and modes of the loads of disk and WiFi, and what the
phone's own counters say of them."""
import http.server
import os
import shutil
import socket
import subprocess
import threading
import time

from phone import PhoneError
from screen import screen

HOST = "10.0.2.2"  # this machine, seen from the phone
DRIVE = "/usr/local/lib/phone/drive"
BODY = os.urandom(1 << 20)


class Handler(http.server.BaseHTTPRequestHandler):
    heads = []

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        try:
            self.wfile.write(BODY)
        except OSError:
            pass  # the phone has enough

    def do_HEAD(self):
        Handler.heads.append(time.monotonic())
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Servers:
    """Whom the phone receives from and sends to."""

    def __init__(self):
        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.web.daemon_threads = True
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        self.url = "http://%s:%d/file" % (HOST, self.web.server_port)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.peer = "%s:%d" % (HOST, port)
        self.iperf = subprocess.Popen(["iperf3", "-s", "-B", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)

    def close(self):
        self.web.shutdown()
        self.iperf.terminate()
        self.iperf.wait()


class Drive:
    """The program that holds the phone in modes, one line each."""

    def __init__(self, phone, *arguments):
        self.phone = phone
        phone.output("rm -f /run/drive; mkfifo /run/drive; mkdir -p -m 700 /var/lib/drive")
        self.job = phone.start("exec 3<>/run/drive; exec %s /var/lib/drive/restore.ini %s < /run/drive 2>&1" %
                               (DRIVE, " ".join(arguments)))
        self.heard = 0
        self.result = self.hear(60)

    def numbers(self):
        return [int(line) for line in self.job.text().splitlines() if line.lstrip("-").isdigit()]

    def hear(self, timeout):
        end = time.monotonic() + timeout
        while len(self.numbers()) <= self.heard:
            if self.job.ended.is_set() or time.monotonic() > end:
                raise PhoneError("the parts did not answer: %s" % self.job.text()[-1000:])
            time.sleep(0.05)
        self.heard += 1
        return self.numbers()[self.heard - 1]

    def say(self, line, timeout=120):
        self.phone.output("echo '%s' > /run/drive" % line)
        return self.hear(timeout)

    def mode(self, rx=0.0, tx=0.0, wakes=0.0, read=0.0, write=0.0):
        return self.say("mode %g %g %g %g %g" % (rx, tx, wakes, read, write))

    def end(self):
        self.phone.output("echo end > /run/drive")
        return self.job.wait(60)


NOW = """cat /proc/uptime /sys/class/net/wlan0/statistics/rx_bytes /sys/class/net/wlan0/statistics/tx_bytes
echo $(cat /sys/block/vda/stat)"""


def counters(phone):
    lines = phone.output(NOW).splitlines()
    disk = lines[3].split()
    return {"s": float(lines[0].split()[0]), "rx": int(lines[1]), "tx": int(lines[2]), "read": int(disk[2]) * 512,
            "written": int(disk[6]) * 512}


def rates(suite, drive, seconds, **mode):
    """MB/s of the phone's own counters and clock, held in a mode for so long."""
    suite.check(drive.mode(**mode) == 0, "held in", mode)
    before = counters(suite.phone)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        drive.say("look")
        time.sleep(0.5)
    after = counters(suite.phone)
    return {name: (after[name] - before[name]) / (after["s"] - before["s"]) / 1e6 for name in after}


def near(suite, what, got, wanted, tolerance):
    suite.check(abs(got - wanted) <= tolerance * wanted, "%s: %.2f MB/s, asked for %.2f" % (what, got, wanted))
    suite.rows.append("%s: %.2f MB/s, asked for %.2f" % (what, got, wanted))


def radio_state(phone):
    switch = phone.output("for r in /sys/class/rfkill/*; do case $(readlink $r/device) in */phy0) cat $r/soft;; "
                          "esac; done")
    return switch.split()[0], phone.output("cat /sys/class/net/wlan0/operstate").strip()


def air(phone, command):
    phone.output("nsenter -t $(busybox pidof hostapd | cut -d' ' -f1) -n %s" % command)


def radio(suite, drive):
    phone = suite.phone
    suite.check(drive.say("off") == 0 and radio_state(phone) == ("1", "down"), "the radio is off:", *radio_state(phone))
    began = time.monotonic()
    suite.check(drive.mode() == 0 and radio_state(phone) == ("0", "up"), "and on, and associated:", *radio_state(phone))
    suite.rows.append("radio on and associated after %.1f s" % (time.monotonic() - began))


def access_point_gone(suite, drive):
    phone = suite.phone
    air(phone, "ip link set wlan1 down")
    end = time.monotonic() + 60
    while "connection was lost" not in drive.job.text() and time.monotonic() < end:
        drive.say("look")
        time.sleep(0.5)
    suite.check("wlan0: the connection was lost" in drive.job.text(), "an access point that goes is said")
    suite.check(drive.say("off") == 0, "modes without it go on")
    air(phone, "ip link set wlan1 up")
    end = time.monotonic() + 90
    while drive.mode() != 0 and time.monotonic() < end:
        time.sleep(1)
    suite.check(radio_state(phone) == ("0", "up"), "it comes back with the access point:", *radio_state(phone))


def parts(suite):
    if not shutil.which("iperf3"):
        raise PhoneError("iperf3 is not installed on this machine")
    phone = suite.boot()
    screen(suite)
    phone.output("for i in $(seq 200); do [ $(cat /sys/class/net/wlan0/operstate) = up ] && exit 0; sleep 0.2; "
                 "done; exit 1")
    files = phone.output("ls -A /var/tmp")
    servers = Servers()
    try:
        drive = Drive(phone, "disk=/var/tmp", "url=" + servers.url, "peer=" + servers.peer, "wifi-limit=1e9")
        suite.check(drive.result == 0 and "disks=1 wifi=1 rx=1 tx=1" in drive.job.text(), "a disk, and WiFi both ways")
        radio(suite, drive)
        near(suite, "received", rates(suite, drive, 8, rx=0.6)["rx"], 0.6, 0.25)
        near(suite, "sent", rates(suite, drive, 8, tx=0.4)["tx"], 0.4, 0.25)
        Handler.heads.clear()
        got = rates(suite, drive, 10, wakes=0.8, read=5, write=2)
        gaps = [b - a for a, b in zip(Handler.heads, Handler.heads[1:])]
        suite.check(len(gaps) >= 3 and min(gaps) >= 1, "bursts with a second of silence between:", len(gaps) + 1)
        near(suite, "read", got["read"], 5, 0.25)
        near(suite, "written", got["written"], 2, 0.25)
        access_point_gone(suite, drive)
        suite.check(drive.end() == 0, "it ends")
        suite.check(phone.output("ls -A /var/tmp") == files, "no file is left")
        suite.check(radio_state(phone)[0] == "0", "the radio is on, as it was")
        suite.check(phone.output("ls -A /var/lib/drive").split() in ([], ["restore.ini.lock"]), "no journal is left")
    finally:
        servers.close()
