# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of the suite. Each has a phone of its own, fresh from the image."""
import json
import os
import re
import time
from collections import namedtuple

import asleep
import calibration
import losses
import restoring
import service
import steps_parts
from phone import Phone, Physics
from watch import KHZ, PROFILE, WORK, Watch, pin

Step = namedtuple("Step", "function seconds sentence")


class Suite:
    """One step: its phone, what it found, and the rows that it adds to the table."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.failures, self.rows = [], []
        self.phone = None
        self.began = time.monotonic()

    def check(self, good, *words):
        text = " ".join(str(word) for word in words)
        print("%-4s %4.0f s  %s" % ("ok" if good else "FAIL", time.monotonic() - self.began, text), flush=True)
        if not good:
            self.failures.append(text)
        return good

    def physics(self, *arguments):
        program = os.path.join(self.options.build, "tests", "phone", "physics")
        return Physics(program, self.options.physics, *arguments)

    def boot(self, **options):
        self.phone = Phone(self.options.root, self.folder, **options)
        self.phone.new_disk()
        print("            booted in %.1f s" % self.phone.boot(), flush=True)
        return self.phone

    def close(self):
        if self.phone:
            self.phone.cut_power()


# ---- what joulecast finds and counts ------------------------------------------------------------------------------

def find(suite, said):
    battery = said["batteries"][0] if said["batteries"] else {}
    wanted = {"name": "BAT0", "status": "Discharging", "percent": 83, "energy_now_uwh": 40000000,
              "energy_full_uwh": 48000000, "power_uw": 8000000, "quirks": []}  # as phone.asl sets them
    suite.check(battery == wanted and len(said["batteries"]) == 1, "the battery is", battery)
    policies = [(policy["policy"], policy["cpus"], tuple(policy["khz"])) for policy in said["policies"]]
    suite.check(policies == [(0, "0", KHZ), (1, "1", KHZ)], "the policies are", policies)
    suite.check("userspace" in said["policies"][0]["governors"], "a governor takes frequencies from us")
    suite.check("bpf-iter" in said["collectors"], "of the collectors work", ", ".join(said["collectors"]))
    wanted = {"backlight": "fujitsu-laptop", "max_brightness": 10, "on": True, "monitor": False, "others": []}
    suite.check({key: said["display"][key] for key in wanted} == wanted,
                "the display is", said["display"])
    suite.check(said["disk"] and said["network"], "a disk and a network are there")
    missing = {one["what"]: one["why"] for one in said["missing"]}
    suite.check("GPU by app" in missing and "profile" in missing, "missing is", ", ".join(missing))
    suite.rows.append("collectors: %s; missing: %s" % (", ".join(said["collectors"]), ", ".join(missing)))


def profile_of_one(khz):
    """A profile that prices one second of CPU time at this frequency with a joule, and all other time with nothing."""
    return PROFILE % "".join("[cpu %d]\ncpus = %d\n%s" % (cpu, cpu, "".join(
        "active_mw.%d = %d\nshared_mw.%d = 0\n" % (each, 1000 if each == khz else 0, each) for each in KHZ))
                             for cpu in (0, 1))


SPINNERS = dict(zip(KHZ, ("spin-slow", "spin-middle", "spin-fast",
                          "spin-top")))  # numbers at the end are no part of an app's id


def spin_at_each(suite, collector, tolerance_percent, seconds=3):
    phone = suite.phone
    watch = Watch(phone, collector, "--collector", collector)
    truth = {}
    for khz in KHZ:
        pin(phone, khz)
        said = phone.output("systemd-run --wait --pipe --collect --unit %s %s spin %d 2>&1"
                            % (SPINNERS[khz], WORK, seconds))
        # CPU time of its control group, which lacks a moment of its start. The time that it prints itself lacks its
        # end, which is longer.
        truth[khz] = float(re.search(r"^CPU time consumed: ([0-9.]+)s$", said, re.MULTILINE).group(1))
    time.sleep(2.5)
    watch.stop()
    worst = 0
    for khz in KHZ:
        _, apps = watch.cost(profile_of_one(khz))
        for spun in KHZ:
            row = apps.get(("sys:" + SPINNERS[spun], "background"))
            got = row["energy_j"]["value"] if row else float("nan")
            off = (got - (truth[spun] if spun == khz else 0)) / truth[spun] * 100
            worst = max(worst, abs(off)) if off == off else float("inf")
            if not abs(off) <= tolerance_percent:
                suite.check(False, "%s: %d kHz of the app that spun at %d kHz: %.3f s, it was %.3f s (%.1f %%)" %
                            (collector, khz, spun, got, truth[spun] if spun == khz else 0, off))
    suite.check(worst <= tolerance_percent, "%s: CPU time by frequency is right within %.2f %%" % (collector, worst))
    suite.rows.append("CPU split by frequency, %s: worst %.2f %%" % (collector, worst))


BYTES = """[disk]
read_mj_per_mb = 0
write_mj_per_mb = %d
[wifi]
on_mw = 0
rx_mj_per_mb = %d
tx_mj_per_mb = %d
wake_mj = 0
"""


def count_bytes(suite, collector, peers):
    """A joule a megabyte of one kind at a time: the cost is the count."""
    phone = suite.phone
    watch = Watch(phone, "bytes-" + collector, "--collector", collector)
    works = {"byte-writer": ((1, 0, 0), "write /var/tmp/bytes 5 2"),
             "byte-sender": ((0, 0, 1), "send 10.0.2.2 %d 3000001" % peers.sink_port()),
             "byte-caster": ((0, 0, 1), "datagrams 10.0.2.2 %d 1000 777" % peers.sink_port())}
    # They live until a poll, as the name of a unit that ended before any poll is not known.
    jobs = {app: phone.start("systemd-run --quiet --wait --pipe --collect --unit %s %s linger 3 %s" % (app, WORK, what))
            for app, (_, what) in works.items()}
    truth = {}
    for app, job in jobs.items():
        job.wait(60)
        truth[app] = json.loads(job.text())["bytes"]
    watch.stop()
    for app, (prices, _) in works.items():
        _, apps = watch.cost(PROFILE % (BYTES % tuple(1000 * price for price in prices)))
        row = apps.get(("sys:" + app, "background"))
        got = round(row["energy_j"]["value"] * 1e6) if row else None
        suite.check(got == truth[app], "%s: %s moved %d bytes, counted are %s" % (collector, app, truth[app], got))
    suite.check(sum(peers.received) == truth["byte-sender"], "this machine received", sum(peers.received),
                "bytes by TCP")
    peers.received.clear()


EMULATE = """joulecast emulate --target nexus-7 --net none --cpu-factor 4 -- %s spin 60 > /dev/null 2>&1 &
group=/sys/fs/cgroup/system.slice/joulecast-emulate-$!.scope/joulecast-emulate-$!-0
n=0; until grep -qs . $group/0/cgroup.threads; do n=$((n + 1)); [ $n -lt 200 ] || exit 1; sleep 0.1; done
cat $group/cpu.max $group/0/cpu.max
used() { read now _ < /proc/uptime; read _ usec < $group/0/cpu.stat; echo $now $usec; }
used; sleep 10; used
kill -KILL $!
sleep 1
find /sys/fs/cgroup -name 'joulecast-emulate*'""" % WORK


def emulate(suite):
    """An app is slowed by quotas, in a scope that systemd gives, of which nothing is left a second after it was
    killed."""
    said = suite.phone.output(EMULATE, 120).splitlines()
    quotas, times, left = said[:2], [[float(word) for word in line.split()] for line in said[2:4]], said[4:]
    suite.check(quotas == ["max 100000", "2500 10000"] and not left,
                "a thread of an emulated app has a quota, all together none, as "
                "they are not more than the target's CPUs; and nothing is left:", quotas, left)
    cores = (times[1][1] - times[0][1]) / 1e6 / (times[1][0] - times[0][0])
    suite.check(0.2 <= cores <= 0.27,
                "of the quarter of a CPU that its quota gives, a spinning thread used %.3f" % cores)
    suite.rows.append("quota of an emulated app: %.3f of a CPU, it may have 0.250" % cores)


def counts(suite):
    phone = suite.boot()
    said = json.loads(phone.output("joulecast doctor --json"))
    find(suite, said)
    emulate(suite)
    peers = calibration.Peers(suite)
    try:
        phone.output("until iw dev wlan0 link | grep -q Connected; do sleep 0.5; done", 60)
        by_app = [name for name, kinds in said["collector_counts"].items() if "network" in kinds]
        for collector in by_app:
            count_bytes(suite, collector, peers)
        suite.rows.append("TCP, UDP and disk bytes: counted by %s" % ", ".join(by_app))
    finally:
        peers.close()
    for collector in said["collectors"][:2]:
        kinds = said["collector_counts"].get(collector, "")
        print("            %s counts %s" % (collector, kinds))
        spin_at_each(suite, collector, 1 if "frequency" in kinds else 25)


# ---- the network, in each way that these kernels have ----------------------------------------------------------------

WAYS = (("stable", "bpf-iter", ("packets",)), ("new", "bpf", ("calls", "packets")))


def network(suite):
    for kernel, collector, ways in WAYS:
        phone = suite.boot(kernel=kernel)
        release = phone.output("uname -r").strip()
        for way in ways:
            for test in ("test-process-net", "test-net-owners", "test-net-tunnel", "test-net-bursts"):
                said = phone.output("/usr/local/lib/phone/%s %s %s 2>&1; echo $?" % (test, collector, way),
                                    300).splitlines()
                suite.check(said[-1] == "0", "Linux %s: %s, %s, %s:" % (release, collector, way, test), said[-1],
                            *(line for line in said if "got" in line or "skipped" in line))
        suite.rows.append("network, Linux %s, %s: to the byte by %s" % (release, collector, ", ".join(ways)))
        suite.close()


# ---- the emulation's own noise --------------------------------------------------------------------------------------

def idle_s(phone):
    """CPU time that the phone's kernel calls idle, of each CPU, and its clock."""
    lines = phone.output("cat /proc/uptime; grep '^cpu[0-9]' /proc/stat").splitlines()
    return float(lines[0].split()[0]), [sum(map(int, line.split()[4:6])) / 100 for line in lines[1:]]


def noise(suite):
    phone = suite.boot(physics=suite.physics("--factor", "1", "--percent", "90"))
    time.sleep(10)  # until late units have started
    worst = {}
    for khz in KHZ:
        pin(phone, khz)
        for percent in (100, 30):
            phone.physics.ask("mark")
            clock, idle = idle_s(phone)
            phone.output("%s spin 6 %d 1" % (WORK, percent))
            later, later_idle = idle_s(phone)
            truth = phone.physics.ask("truth")
            busy = later - clock - (later_idle[1] - idle[1])
            off = (truth["busy_s"][1] - busy) / (later - clock) * 100
            worst[percent] = max(worst.get(percent, 0), abs(off))
            print("            %4d MHz, %3d %%: the phone counts %.2f s busy of %.2f s, the host charges %.2f s of "
                  "%.2f s: %+.1f %% of a CPU"
                  % (khz / 1000, percent, busy, later - clock, truth["busy_s"][1], truth["elapsed_s"], off), flush=True)
            suite.check(abs(later - clock - truth["elapsed_s"]) < 0.6, "the clocks of phone and host agree")
    suite.check(worst[100] <= 4 and worst[30] <= 6,
                "the host charges as busy what the phone counts, but for %.1f %% of a CPU "
                "that spins and %.1f %% of one that is busy for 30 %%" % (worst[100], worst[30]))
    suite.rows.append("noise: busy time off by at most %.1f %% of a CPU at full load, %.1f %% at 30 "
                      "%%" % (worst[100], worst[30]))


# ---- instructions --------------------------------------------------------------------------------------------------

STATS = "echo %d > /proc/sys/kernel/bpf_stats_enabled"


def hook_stats(phone):
    """{program: (calls, ns in all)} of what joulecastd loaded."""
    return {one["name"]: (one.get("run_cnt", 0), one.get("run_time_ns", 0))
            for one in json.loads(phone.output("bpftool --json prog show")) if "name" in one}


def count_instructions(suite, kernel, collector, works):
    phone = suite.boot(kernel=kernel, accelerator="tcg,thread=single", cpus="1", options=("-icount", "shift=0"))
    # Sent packets are dropped: the network device's interrupts would come while a hook runs, and be counted
    # as its own.
    phone.output("tc qdisc replace dev wlan0 root blackhole")
    phone.output(STATS % 1)
    watch = Watch(phone, "instructions", "--collector", collector)
    for hook, what in works:
        before = hook_stats(phone)
        phone.output("%s %s" % (WORK, what), 300)
        after = hook_stats(phone)
        if suite.check(hook in after, "%s is there, of %s" % (hook, ", ".join(after))):
            calls, spent = (after[hook][i] - before[hook][i] for i in (0, 1))
            suite.check(calls > 4000, "%s was called %d times by work %s" % (hook, calls, what))
            suite.rows.append("%s (%s, %s): %.0f instructions a call" % (hook, collector, what.split("10.0")[0].strip(),
                                                                         spent / max(calls, 1)))
    watch.stop()
    suite.close()


def instructions(suite):
    """A phone whose clock is its instructions, one a nanosecond: what the kernel counts as a program's time is how
    many it ran, with the two readings of the clock, in code that no load of this machine changes."""
    peers = calibration.Peers(suite)
    send = "datagrams 10.0.2.2 %d 5000 64" % peers.sink_port()
    try:
        count_instructions(suite, "new", "bpf", (("count_switch", "ring 2 20000"), ("count_switch", "ring 400 100"),
                                                 ("count_send", send)))
        count_instructions(suite, "stable", "bpf-iter", (("packet_sent", send),))
    finally:
        peers.close()


STEPS = {
    "counts": Step(counts, 110, "what joulecast finds; bytes of disk, TCP and UDP, and CPU time by frequency, by app"),
    "parts": Step(steps_parts.parts, 110,
                  "a white screen, loads of the disk and over WiFi, radio and access point off and on"),
    "service": Step(service.service, 400,
                    "the service under systemd: a user without rights, both BPF collectors, a watchdog"),
    "network": Step(network, 400, "network bytes of processes by each way to count them, on both kernels"),
    "noise": Step(noise, 90, "what the emulation itself is off by"),
    "icount": Step(instructions, 200, "instructions of the programs in the kernel"),
    "gauge": Step(calibration.by("gauge", "--passes 1"), 480,
                  "a calibration by gauge, and a mixture of apps priced with it"),
    "percent": Step(calibration.by("percent", "--stop 3%"), 700,
                    "a calibration by percent, and a mixture of apps priced with it"),
    "kills": Step(restoring.kills, 250, "a calibration killed at random moments leaves nothing changed"),
    "cuts": Step(restoring.cuts, 250, "nor does one whose power is cut"),
    "losses": Step(losses.losses, 150, "what a power cut takes of what was recorded"),
    "asleep": Step(asleep.asleep, 400,
                   "suspended, rebooted and switched off in a calibration; nights; CPUs that go and come"),
    "world": Step(restoring.disturbances, 400, "charger, battery, firmware limit, radio and access point come and go"),
}
