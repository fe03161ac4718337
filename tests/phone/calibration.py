# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A calibration of the phone, what it learnt against the truth, and a mixture of apps priced with it."""
import base64
import configparser
import json
import os
import re
import socket
import subprocess
import threading
import time

from phone import PhoneError, PhoneLate, end_with_parent
from watch import KHZ, WORK, Watch, pin

LIMIT_S = 1500


class Peers:
    """The other ends of the phone's network, on this machine; the phone calls it 10.0.2.2."""

    def __init__(self, suite):
        self.iperf_port = free_port()
        self.log = os.path.join(suite.folder, "iperf3.log")
        self.process = subprocess.Popen(["iperf3", "--server", "--bind", "127.0.0.1", "--port", str(self.iperf_port),
                                         "--logfile", self.log], preexec_fn=end_with_parent)
        self.sink = socket.create_server(("127.0.0.1", 0))
        self.received = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        """Takes all that comes, and counts it by connection."""
        while True:
            try:
                connection = self.sink.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.take, args=(connection,), daemon=True).start()

    def take(self, connection):
        count = 0
        with connection:
            while data := connection.recv(1 << 16):
                count += len(data)
        self.received.append(count)

    def sink_port(self):
        return self.sink.getsockname()[1]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.sink.close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Calibration:
    """joulecast calibrate in the phone, line by line."""

    def __init__(self, phone, *arguments):
        self.phone = phone
        self.seen = 0
        tau_s = 300 / phone.physics.ask("coefficients")["factor"]  # its daemons' time runs as fast as its battery's
        self.job = phone.start("export JOULECAST_DAEMONS_TAU_S=%g; exec joulecast calibrate --yes --json"
                               " --profile /var/tmp/profile.ini %s" % (tau_s, " ".join(arguments)))

    def lines(self):
        """Output since the last call: (JSON objects, other lines)."""
        text = self.job.text()
        whole = text[:text.rfind("\n") + 1]
        new, self.seen = whole[self.seen:].splitlines(), len(whole)
        objects, words = [], []
        for line in new:
            try:
                objects.append(json.loads(line))
            except ValueError:
                words.append(line)
        return objects, words

    def until(self, wanted, timeout=120):
        """The first JSON line for which wanted() is true; None if it ends before."""
        end = time.monotonic() + timeout
        while True:
            ended = self.job.ended.is_set()
            for line in self.lines()[0]:
                if wanted(line):
                    return line
            if ended:
                return None
            if time.monotonic() > end or not self.phone.is_on():
                error = PhoneLate if self.phone.is_on() else PhoneError
                raise error("the calibration did not get there in %d s: %s" % (timeout, self.job.text()[-1500:]))
            time.sleep(0.2)

    def finish(self, timeout):
        """(last JSON line, observations), showing how it goes."""
        began = shown = time.monotonic()
        observations, last = [], {}
        while True:
            ended = self.job.ended.is_set()
            for line in self.lines()[0]:
                last = line
                if "mode" in line:
                    observations.append(line)
            if ended:
                return last, observations
            if time.monotonic() - began > timeout or not self.phone.is_on():
                error = PhoneLate if self.phone.is_on() else PhoneError
                self.job.kill()
                raise error("the calibration did not end in %d s: %s" % (timeout, self.job.text()[-1500:]))
            if observations and time.monotonic() - shown > 30:
                shown = time.monotonic()
                print("            %d observations, %.0f %% of the battery, about %.0f s left" % (
                    len(observations), last.get("battery_percent_used") or 0, (last.get("hours_left") or 0) * 3600),
                      flush=True)
            time.sleep(0.5)


def parse_profile(text):
    """{"cpu.0.active_mw.800000": value}"""
    parser = configparser.ConfigParser(inline_comment_prefixes=(";",), delimiters=("=",))
    parser.read_string(text)
    values = {}
    for section in parser.sections():
        if section in ("profile", "covariance", "fit"):
            continue
        for key, value in parser[section].items():
            try:
                values["%s.%s" % (section.replace(" ", "."), key)] = float(value.split()[0])
            except ValueError:
                pass
    return values


def learnt_value(profile, key):
    """The profile's value for a key of the physics' coefficients; one busy CPU of a policy costs A and S."""
    match = re.fullmatch(r"cpu\.(\d+)\.one_mw\.(\d+)", key)
    if match:
        parts = [profile.get("cpu.%s.%s_mw.%s" % (match[1], kind, match[2])) for kind in ("active", "shared")]
        return None if parts[0] is None else parts[0] + (parts[1] or 0)
    return profile.get(key)


def compare_profile(suite, name, profile, truth):
    rows, errors = [], []
    for key, value in truth.items():
        if ".all_mw." in key or key in ("factor", "energy_full_mwh", "base.power_mw", "suspend.power_mw") or not value:
            continue
        got = learnt_value(profile, key)
        if got is None:
            rows.append("%-24s %10.0f %10s" % (key, value, "not measured"))
            continue
        errors.append(abs(got / value - 1) * 100)
        rows.append("%-24s %10.0f %10.0f %+6.1f %%" % (key, value, got, (got / value - 1) * 100))
    print("            %-24s %10s %10s" % ("coefficient", "truth", "learnt"))
    for row in rows:
        print("            " + row, flush=True)
    suite.rows.append("%s: %d of %d coefficients learnt, median error %.1f %%, worst %.1f %%" % (
        name, len(errors), len(rows), sorted(errors)[len(errors) // 2] if errors else float("nan"),
        max(errors, default=0)))
    suite.check(any(key.startswith("cpu.") and learnt_value(profile, key) for key in truth), name,
                "learnt what the CPUs cost")


def keep_observations(suite, method):
    """Beside the logs, for who wants to fit them again."""
    number = sum(name.startswith(method + "-") and name.endswith(".db") for name in os.listdir(suite.folder)) + 1
    for name in ("", "-wal"):
        with open(os.path.join(suite.folder, "%s-%d.db%s" % (method, number, name)), "wb") as file:
            file.write(base64.b64decode(suite.phone.output("base64 /var/lib/joulecast-calibrate/observations.db%s "
                                                           "|| true" % name)))


def calibrate(suite, method, peers, *arguments):
    """Calibrates; returns the profile's text, or None."""
    phone = suite.phone
    began = time.monotonic()
    calibration = Calibration(phone, "--method", method, "--wifi-peer 10.0.2.2:%d" % peers.iperf_port,
                              "--wifi-limit 100G",
                              # its hours are short: bytes are no more than in a night
                              "--write-limit 100G", "2>&1", *arguments)
    last, observations = calibration.finish(LIMIT_S)
    rejected = [one for one in observations if one.get("rejected")]
    with open(os.path.join(suite.folder, method + ".log"), "a", encoding="utf-8") as file:
        file.write(calibration.job.text())
    keep_observations(suite, method)
    for one in rejected:
        print("            rejected: %s: %s" % (one["mode"], one["rejected"]))
    print("            " + "; ".join(line for line in calibration.job.text().splitlines()
                                     if not line.startswith("{"))[:1500], flush=True)
    suite.rows.append("%s: %d observations (%d rejected), %.0f %% of the battery, %.0f s; stopped: %s" % (
        method, len(observations), len(rejected), last.get("battery_percent_used") or 0, time.monotonic() - began,
        last.get("stopped")))
    if not suite.check(last.get("done") and calibration.job.code == 0, method, "calibration ended with",
                       calibration.job.code,
                       json.dumps(last)):
        return None
    code, text = phone.run("cat /var/tmp/profile.ini")
    return text if suite.check(code == 0, method, "wrote a profile") else None


# ---- a mixture of apps ---------------------------------------------------------------------------------------------

MIX_S = 30
PINNED = {0: 1800000, 1: 1200000}

# In percent, of the total and of each app, beside its own interval. Some 25 steps of a percent tell a CPU at one
# frequency
# to 5 to 12 % (standard error by the fit), and a frequency that was not measured, as those here, was 15 % off.
# One pass by
# gauge left writing 10 % off.
MOST_OFF = {"percent": (8, 25), "gauge": (5, 15)}


def mixture(suite, name, profile_text, peers, most_off):
    """Apps at work under the poller, priced with what was learnt, against what the physics drained."""
    phone, physics = suite.phone, suite.phone.physics
    truth = physics.ask("coefficients")
    for cpu, khz in PINNED.items():
        pin(phone, khz, cpu)
    phone.output("echo 7 > /sys/class/backlight/fujitsu-laptop/brightness")
    apps = {
        "mix-heavy": (0, "spin %d 60 0" % MIX_S), "mix-light": (1, "spin %d 25 1" % MIX_S),
        "mix-writer": (1, "write /var/tmp/mixture 2 %d" % MIX_S),
        "mix-sender": (1, "send 10.0.2.2 %d %d 0.4" % (peers.sink_port(), int(MIX_S * 0.4e6))),
    }
    watch = Watch(phone, name)
    time.sleep(3)
    physics.ask("mark")
    began = time.time()
    # The poller has seen both ends of the span that the physics counts, to within a poll.
    jobs = {app: phone.start("systemd-run --quiet --wait --pipe --collect --unit %s -p AllowedCPUs=%d %s "
                             "%s" % (app, cpu, WORK, what))
            for app, (cpu, what) in apps.items()}
    said = {}
    for app, job in jobs.items():
        if job.wait(MIX_S * 3) != 0:
            raise PhoneError("%s failed: %s" % (app, job.text()))
        said[app] = json.loads(job.text().splitlines()[-1])
    drained = physics.ask("truth")
    took = time.time() - began
    watch.stop()
    answer, rows = watch.cost(profile_text, "--from %s --to %s" % (stamp(began), stamp(began + took)))
    scale = took / drained["elapsed_s"]
    compare(suite, name, "total", answer["total"]["energy_j"], drained["total_j"] * scale, most_off[0])
    # One app alone is on the air: headers and acknowledgements are its own, too.
    on_air_j = sum(drained["%s_bytes" % way] / 1e9 * truth["wifi.%s_mj_per_mb" % way] for way in ("rx", "tx"))
    print("            on the air: sent %d bytes, received %d, for %.0f J" % (drained["tx_bytes"],
                                                                              drained["rx_bytes"], on_air_j))
    for app, (cpu, _) in apps.items():
        moved = said[app]["bytes"] / 1e6
        wanted = said[app]["cpu_s"] * truth["cpu.%d.one_mw.%d" % (cpu, PINNED[cpu])] / 1000
        wanted += moved * truth["disk.write_mj_per_mb"] / 1000 if app == "mix-writer" else 0
        wanted += on_air_j if app == "mix-sender" else 0
        row = rows.get(("sys:" + app, "background"))
        compare(suite, name, app, row and row["energy_j"], wanted, most_off[1])


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def compare(suite, name, what, said, wanted, most_off):
    """The value is near the truth, and the interval holds it."""
    off = (said["value"] / wanted - 1) * 100 if said and said["value"] else float("nan")
    suite.check(abs(off) <= most_off and said["low"] <= wanted <= said["high"],
                "%s: %s cost %s J, in truth %.0f J: %+.1f %%"
                % (name, what, json.dumps(said), wanted, off))
    suite.rows.append("%s: %-11s %+6.1f %%" % (name, what, off))


def by(method, *arguments):
    def step(suite):
        # In mAh: the steps of a charge are what the physics has. Its mWh are a charge times a mean voltage, as
        # those of many
        # embedded controllers are, of which a percent near full holds 5 % more energy than they say.
        phone = suite.boot(physics=suite.physics("--percent", "95", "--charge"))
        peers = Peers(suite)
        try:
            for run in range(3 if suite.options.full else 1):
                phone.physics.set(percent=95)
                text = calibrate(suite, method, peers, *arguments)
                if text:
                    compare_profile(suite, method, parse_profile(text), phone.physics.ask("coefficients"))
                    phone.physics.set(percent=80)
                    mixture(suite, "%s-%d" % (method, run + 1), text, peers, MOST_OFF[method])
        finally:
            peers.close()
    return step
