#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast trace` and `doctor --overhead` on this machine's /proc: complete lines, sums, clean exits.

Usage: test-trace.py JOULECAST JOULECASTD DEVICE-INI
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECAST, JOULECASTD, DEVICE = sys.argv[1:]
LINE = {"time", "elapsed_s", "suspend_s", "measured_w", "total_w", "level", "base_w", "profile_basis", "apps", "schema"}
OVERHEAD = {"pid", "running_s", "cpu_s_per_day", "wakeups_per_hour", "written_mb_per_day", "rss_mb", "anonymous_mb",
            "lost",
            "percent_per_day"}


def make_profile(path):
    """The truth of a virtual device, with errors as a calibration would give them."""
    with open(DEVICE, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        for line in text.split("\n[virtual]")[0].replace("method = virtual", "method = import").splitlines():
            found = re.match(r"(\w+_mw|\w+_mj\w*)(\.\d+)? = ([\d.]+)", line)
            file.write(line + (" %g" % (0.03 * float(found.group(3))) if found else "") + "\n")
        file.write("[fit]\ndegrees_of_freedom = 20\nscale_percent = 1\ndiscrepancy_percent = 1\n")


def start(*arguments):
    return subprocess.Popen([JOULECAST, "trace", "--collector", "proc", "--interval", "0.3", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)


def run(*arguments, code=0):
    process = start(*arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, (arguments, process.returncode, out[-500:], err)
    assert (err == "") == (code == 0), (arguments, err)
    return out


def is_whole(line):
    assert set(line) == LINE, line
    assert line["elapsed_s"] > 0 and line["suspend_s"] == 0, line  # after a late look the next is short
    total = line["total_w"]
    assert total["low"] <= total["value"] <= total["high"], total
    for app in line["apps"]:
        assert set(app) == {"app", "state", "power_w", "components_w"}, app
        assert app["state"] in ("foreground", "background")
        assert set(app["components_w"]) == {"cpu", "display", "disk", "wifi", "gpu", "cellular", "gps", "audio",
                                            "camera", "unseen"}
        parts = sum(value for value in app["components_w"].values() if value is not None)
        assert abs(parts - app["power_w"]["value"]) < 1e-9, app


def json_lines(profile):
    lines = [json.loads(line) for line in run("--profile", profile, "--json", "--count", 4).splitlines()]
    assert len(lines) == 4
    for line in lines:
        is_whole(line)
        apps = sum(app["power_w"]["value"] for app in line["apps"])
        assert abs(apps + line["base_w"] - line["total_w"]["value"]) < 1e-6 * line["total_w"]["value"], line
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    always = set.intersection(*({app["app"] for app in line["apps"]} for line in lines))
    assert "yes" in always, lines  # main() keeps it busy
    return "yes"


def one_app(profile, app):
    lines = [json.loads(line) for line in run("--profile", profile, "--json", "--count", 3, "--app", app).splitlines()]
    assert len(lines) == 3
    for line in lines:
        is_whole(line)
        assert all(found["app"] == app for found in line["apps"]), line
    assert any(line["apps"] for line in lines), (app, lines)
    lines = run("--profile", profile, "--count", 3, "--app", app).splitlines()
    assert lines[0].split()[:3] == ["time", "app", "state"], lines
    assert len(lines) >= 2 and "(all)" not in "\n".join(lines), lines
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in lines[1:]), lines
    tracing = start("--profile", profile, "--count", 2, "--app", "no-such-app")
    out, err = tracing.communicate(timeout=60)
    lines = out.splitlines()
    assert len(lines) == 3 and all(re.search(r"no-such-app +- +0\.000", line) for line in lines[1:]), lines
    assert tracing.returncode == 0 and err.count("\n") == 1 and "no-such-app was not seen yet" in err, err


def table(profile, knows_base=True):
    lines = run("--profile", profile, "--count", 2).splitlines()
    head = lines[0]
    assert head.split() == ["time", "app", "state", "W", "cpu", "display", "disk", "wifi", "gpu"], head
    rounds = [i for i, line in enumerate(lines) if "(all)" in line]
    assert len(rounds) == 2, lines
    for begin, end in zip(rounds, rounds[1:] + [len(lines)]):
        watts = [0 if line[45:54].strip() == "?" else float(line[45:54]) for line in lines[begin:end]]
        assert (lines[begin + 1][45:54].strip() == "?") == (not knows_base), lines[begin:end]
        assert re.match(r"\d\d:\d\d:\d\d  ", lines[begin]) and "(base)" in lines[begin + 1], lines[begin:end]
        assert abs(sum(watts[1:]) - watts[0]) < 0.001 * len(watts), lines[begin:end]  # each is rounded
        assert all(len(line) <= len(head) for line in lines[begin:end]), lines[begin:end]


def narrow(profile):
    """A terminal of 80 columns has each line whole; names yield."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.Popen([JOULECAST, "trace", "--collector", "proc", "--interval", "0.2", "--count", "2",
                             "--profile",
                             profile], stdout=its)
    os.close(its)
    text = b""
    try:
        while True:
            text += os.read(ours, 65536)
    except OSError:  # EIO: it is done
        os.close(ours)
    lines = text.decode().splitlines()
    assert done.wait() == 0 and lines[0].split()[:3] == ["time", "app", "state"] and len(lines[0]) == 80, lines
    assert "(all)" in lines[1] and all(len(line) <= 80 for line in lines), lines


def ends(profile):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start("--profile", profile, "--json")
        json.loads(process.stdout.readline())
        process.send_signal(number)
        rest, err = process.communicate(timeout=10)
        assert process.returncode == 0 and err == "", (number, process.returncode, err)
        assert rest == "" or rest.endswith("\n"), rest
        for line in rest.splitlines():
            json.loads(line)
    for form in ([], ["--json"]):
        process = start("--profile", profile, *form)
        process.stdout.readline()
        process.stdout.close()  # as `| head -1` does
        assert process.wait(timeout=20) == 0, (form, process.returncode)
        assert process.stderr.read() == "", form
        process.stderr.close()
        with open("/dev/full", "w", encoding="utf-8") as full:  # a record that ends early is no success
            full = subprocess.run([JOULECAST, "trace", "--collector", "proc", "--interval", "0.1", "--count", "3",
                                   "--profile", profile, *form], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        assert full.returncode == 1 and "No space left" in full.stderr, (form, full)


def full_disk():
    for command in (["doctor"], ["doctor", "--json"], ["profile", "list"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([JOULECAST, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and done.stderr == "joulecast: the answer could not be written\n", (command, done)


def wrong(folder, profile):
    run("--profile", folder + "/none.ini", "--count", 1, code=3)
    run("--profile", profile, "--interval", "0.09", code=2)
    run("--profile", profile, "--count", "0", code=2)
    run("--profile", profile, "--device", "virtual:" + DEVICE, code=2)


def without_base(folder, profile):
    """Imported models often have no base: power of no app is in no line then, and in no total."""
    with open(profile, encoding="utf-8") as file:
        text = re.sub(r"\[base\]\npower_mw = .*\n", "", file.read())
    with open(folder + "/no-base.ini", "w", encoding="utf-8") as file:
        file.write(text)
    load = subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"])  # `proc` misses brief processes
    try:
        table(folder + "/no-base.ini", knows_base=False)
    finally:
        load.kill()
        load.wait()


def recorded(folder, profile):
    database = folder + "/trace.db"
    run("--profile", profile, "--database", database, "--count", 3)
    out = subprocess.run([JOULECAST, "cost", "--json", "--profile", profile, "--database", database], check=True,
                         stdout=subprocess.PIPE).stdout
    assert json.loads(out)["total"]["energy_j"]["value"] > 0
    rolled_up(database, profile)


def rolled_up(database, profile):
    """As if those looks had been three days ago, and the last one had taken until now: then joulecastd sums them
    up, and keeps of all but the last the sums alone."""
    days = (3 * 86400 * 10**9,)
    usage_db.change(database, ("UPDATE interval SET end_ns = end_ns - ?1, start_ns = start_ns - ?1", days),
                    ("UPDATE usage SET interval = interval - ?1", days),
                    ("UPDATE interval SET recorded_ns = recorded_ns + ?1 WHERE recorded_ns = "
                     "(SELECT max(recorded_ns) FROM interval)", days),
                    ("UPDATE mark SET folded_ns = 0, open_ns = ?1", (-2**63,)),
                    "DELETE FROM summary", "DELETE FROM period")
    run("--profile", profile, "--database", database, "--count", 2)
    with contextlib.closing(sqlite3.connect(database)) as store:
        assert store.execute("SELECT count(*) FROM interval").fetchone()[0] == 3
        assert {row[0] for row in store.execute("SELECT grain FROM period")} == {1, 2}


def doctor(*arguments):
    return subprocess.run([JOULECAST, "doctor", "--overhead", *arguments], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def start_service(folder, name):
    return subprocess.Popen([JOULECASTD, "--interval", "1", "--database", folder + "/%s.db" % name, "--collector",
                             "proc",
                             "--focus-socket", folder + "/%s.focus" % name, "--socket", folder + "/%s.sock" % name],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def several(folder):
    """A user's own beside the system's: whichever of them answers is told of."""
    services = {name: start_service(folder, name) for name in ("one", "other")}
    try:
        time.sleep(2.5)
        for name, service in services.items():
            os.environ["JOULECAST_SOCKET"] = folder + "/%s.sock" % name
            answer = json.loads(doctor("--json"))["overhead"]
            assert answer["pid"] == service.pid and answer["lost"] is not None, (name, service.pid, answer)
            assert "Several are running" in doctor()
            assert re.search(r"^lost ends +0  ends of processes", doctor(), re.M)
        os.environ["JOULECAST_SOCKET"] = folder + "/nobody.sock"
        answer = json.loads(doctor("--json"))["overhead"]
        assert answer["pid"] > 0 and answer["lost"] is None, answer
        assert re.search(r"^lost ends +\?  \(it does not answer", doctor(), re.M)
    finally:
        del os.environ["JOULECAST_SOCKET"]
        for service in services.values():
            service.terminate()
            service.wait(timeout=20)


ANSWERING = """
import socket, sys
open("/proc/self/comm", "w").write("joulecastd")
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print(flush=True)
    while True:
        with listener.accept()[0] as client:
            if client.recv(4096):
                client.sendall(b'{"lost": 1550}\\n')
"""


def many_lost(folder):
    os.environ["JOULECAST_SOCKET"] = folder + "/many.sock"
    with subprocess.Popen([sys.executable, "-c", ANSWERING, folder + "/many.sock"], stdout=subprocess.PIPE) as service:
        try:
            service.stdout.readline()
            text = doctor()
            assert re.search(r"^lost ends +1550  ends of processes", text, re.M), text
        finally:
            del os.environ["JOULECAST_SOCKET"]
            service.kill()


def fake_service(folder, uptime_s):
    """/proc of a machine that has run so long, whose service started after a day."""
    ticks = os.sysconf("SC_CLK_TCK")
    os.makedirs(folder + "/proc/77", exist_ok=True)
    for name, text in (("uptime", "%.2f 1.00\n" % uptime_s),
                       ("77/stat", "77 (joulecastd) S 1 77 77 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 %d %s\n"
                        % (ticks * 2, ticks, ticks * 86400, " ".join(["0"] * 30))),
                       ("77/status", "Name:\tjoulecastd\nVmRSS:\t  7000 kB\nRssAnon:\t 1500 kB\n"
                        "voluntary_ctxt_switches:\t400\n"),
                       ("77/io", "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 8000000\n"
                        "cancelled_write_bytes: 0\n")):
        with open(folder + "/proc/" + name, "w", encoding="ascii") as file:
            file.write(text)
    return ["--machine", folder]


RATES = {"cpu_s_per_day", "wakeups_per_hour", "written_mb_per_day", "percent_per_day"}


def overhead(folder, profile):
    """The service's cost a day, once it has run long enough to tell."""
    for ran_s, is_long in ((0, False), (599, False), (600, True), (7200, True), (2 * 86400, True)):
        machine = fake_service(folder + "/machine", 86400 + ran_s)
        answer = json.loads(doctor("--json", "--profile", profile, *machine))["overhead"]
        assert set(answer) == OVERHEAD and answer["pid"] == 77 and abs(answer["running_s"] - ran_s) < 0.1, answer
        assert all((answer[key] is not None) == is_long for key in RATES), (ran_s, answer)
        text = doctor("--profile", profile, *machine)
        assert (" a day" in text.split("private", 1)[0]) == is_long, text
        assert ("too short a time" in text) == (not is_long), text
        assert ("This includes its start" in text) == (600 <= ran_s <= 7200), text
    assert abs(answer["cpu_s_per_day"] - 1.5) < 0.01 and abs(answer["written_mb_per_day"] - 4) < 0.01, answer
    assert abs(answer["wakeups_per_hour"] - 400 / 48) < 0.01 and answer["percent_per_day"] > 0, answer
    answer = json.loads(doctor("--json", "--profile", folder + "/none.ini", *machine))["overhead"]
    assert answer["percent_per_day"] is None and answer["cpu_s_per_day"] > 0, answer
    service = start_service(folder, "service")
    try:
        time.sleep(2.5)
        assert service.poll() is None
        answer = json.loads(doctor("--json", "--profile", profile))["overhead"]
        assert set(answer) == OVERHEAD and answer["pid"] > 0 and answer["running_s"] >= 0, answer
        assert answer["rss_mb"] > 1, answer
        text = doctor("--profile", profile)
        assert re.search(r"^joulecastd \(pid \d+\) itself, in the [\w ]+ since its start:", text, re.M), text
        for word in ("memory", "private", "lost ends"):
            assert re.search(r"^%s +[\d.?]" % word, text, re.M), (word, text)
    finally:
        service.terminate()
        service.wait(timeout=20)


def main():
    with tempfile.TemporaryDirectory() as folder:
        profile = folder + "/profile.ini"
        make_profile(profile)
        os.environ["HOME"] = folder
        with subprocess.Popen(["yes"], stdout=subprocess.DEVNULL) as busy:
            try:
                one_app(profile, json_lines(profile))
            finally:
                busy.kill()
        table(profile)
        narrow(profile)
        without_base(folder, profile)
        ends(profile)
        full_disk()
        wrong(folder, profile)
        recorded(folder, profile)
        overhead(folder, profile)
        several(folder)
        many_lost(folder)


main()
