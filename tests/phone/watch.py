# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecastd at work in the phone, and what it is given to watch."""
import json
import time

from phone import PhoneError

WORK = "/usr/local/lib/phone/work"
DAEMON = "/usr/local/libexec/joulecast/joulecastd"
KHZ = (800000, 1200000, 1800000, 2400000)
POLICY = "/sys/devices/system/cpu/cpufreq/policy"

PROFILE = """[profile]
version = 1
device = virtual-phone
method = import
[battery]
energy_full_mwh = 48000
[base]
power_mw = 0
%s"""


def pin(phone, khz, *cpus):
    phone.output("".join("echo userspace > %s%d/scaling_governor\necho %d > %s%d/scaling_setspeed\n" %
                         (POLICY, cpu, khz, POLICY, cpu) for cpu in cpus or (0, 1)))


class Watch:
    """joulecastd in the phone, from its first poll on."""

    def __init__(self, phone, name, *arguments):
        self.phone, self.name = phone, name
        self.database = "/var/watched/%s.db" % name  # where nobody else can write
        phone.output("mkdir -p /var/watched")
        self.job = phone.start("exec %s --interval 1 --count 100000 --database %s %s" %
                               (DAEMON, self.database, " ".join(arguments)))
        self.wait_for("watching", 60 if phone.is_real_time() else 300)

    def wait_for(self, word, timeout=60):
        end = time.monotonic() + timeout
        while word not in self.job.text():
            if self.job.ended.is_set() or time.monotonic() > end:
                _, where = self.phone.run("for d in /proc/$(busybox pidof joulecastd)/task/*; do cat $d/wchan "
                                          "$d/stack $d/stat; "
                                          "done; cat /proc/loadavg /proc/uptime; dmesg | tail")
                raise PhoneError("joulecastd did not get to \"%s\": %s; it is in %s" % (word, self.job.text(), where))
            time.sleep(0.1)

    def stop(self):
        self.phone.output("kill -INT $(busybox pidof joulecastd)")
        self.job.wait(30)

    def cost(self, profile, span=""):
        """Answer of joulecast cost about the recording, and its rows as {(app, state): row}."""
        self.phone.write("/tmp/profile.ini", profile)
        said = json.loads(self.phone.output("joulecast cost --json --profile /tmp/profile.ini --database %s %s" %
                                            (self.database, span)))
        return said, {(row["app"], row["state"]): row for row in said["apps"]}
