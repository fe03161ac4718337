#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults between devices and a report: clients that lie, clocks that are wrong, and a server whose disk is full, that
is killed, or that is frozen. Each fault has its message, and the report is made from the valid samples.

Usage: test-community-faults.py JOULECAST-COMMUNITY MAKE-COMMUNITY [serve] [postgresql]
"""
import errno
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading

from cluster import Cluster, program as find_program
from server import Server

program, generator = sys.argv[1:3]
failures = 0
DAY_NS = 86400 * 10**9


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def run(*words, code=0):
    ran = subprocess.run([program, *words], capture_output=True, text=True)
    check(ran.returncode == code, f"{words}: exit {ran.returncode}, not {code}: {ran.stderr}")
    check("AddressSanitizer" not in ran.stderr and "runtime error" not in ran.stderr, ran.stderr)
    return ran


def report(database):
    return json.loads(run("report", "--database", database, "--json").stdout)


def header(number, first=0, **more):
    return json.dumps({"v": 1, "client": f"{number:032x}", "first": first, "apps": {"1": "a", "2": "b"}, **more})


def sample(t, t2, level=900001, level2=890001, apps=(1,), **more):
    return json.dumps({"t": t, "t2": t2, "level_ppm": level, "level2_ppm": level2, "apps": list(apps), **more})


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def honest(t=0, n=12):
    """Lines that are right: every other has the app."""
    return [sample(t + i * 10**12, t + i * 10**12 + 6 * 10**11, level2=890001 - 5000 * (i % 2),
                   apps=(1, 2) if i % 2 else (2,)) for i in range(n)]


def lies(top):
    """Impossible values get a message for each line, and the report is made without these lines."""
    many = json.dumps({"v": 1, "client": f"{7:032x}", "first": 100, "apps": {str(i): f"app-{i}" for i in range(10000)}})
    wrong = (
        (sample(50 * 10**12, 51 * 10**12, level=1700000), "a level is not from 0 to 1000000 ppm"),
        (sample(50 * 10**12, 51 * 10**12, level2=-5), "a level is not from 0 to 1000000 ppm"),
        (sample(50 * 10**12, 51 * 10**12, level=10, level2=20), "the level rises"),
        (sample(50 * 10**12, 51 * 10**12, own_mj={"1": 10**15}), "no energy from 0 to 1000000000 mJ"),
        (sample(50 * 10**12, 50 * 10**12 + 10**10, own_mj={"1": 10**8}), "more than 1000 W"),
        (sample(50 * 10**12, 50 * 10**12 + 10**10, own_mj={"1": 9 * 10**6, "2": 9 * 10**6}), "more than 1000 W"),
        (sample(50 * 10**12, 51 * 10**12, apps=[1] * 10000), "more than 1024 apps"),
    )
    good, database = honest(), os.path.join(top, "right.db")
    run("load", write(os.path.join(top, "right"), [header(7), *good]), "--database", database)
    want = report(database)
    liar, path = os.path.join(top, "liar.db"), os.path.join(top, "liar")
    ran = run("load", write(path, [header(7), *good, *[line for line, _ in wrong], many]), "--database", liar)
    for i, (_, words) in enumerate(wrong):
        check(any(f"{path}:{2 + len(good) + i}:" in said and words in said for said in ran.stderr.splitlines()),
              f"{words}: {ran.stderr}")
    check(ran.stderr.count("\n") == len(wrong) and f"{len(wrong)} lines are left out" in ran.stdout,
          ran.stdout + ran.stderr)
    check(report(liar) == want, "lines that are left out change the report")
    # 200 % in a second, and all of 10,000 apps in 1,000 lines: each is one device's word, and is left out or
    # counts as one.
    fast = [sample(10**15 + i * 10**12, 10**15 + i * 10**12 + 5 * 10**8, 1000000, 0) for i in range(20)]
    run("load", write(path, [header(7, 200), *fast]), "--database", liar)
    got = report(liar)
    check(got["left_out"]["too_fast"] == 20, f"{got['left_out']}")
    check({**got, "samples": 0, "left_out": 0} == {**want, "samples": 0, "left_out": 0},
          f"impossible rates change the report: {got}")


def liar_among_others(top):
    """One of 300 that invents whatever it wants makes no hog, and no bug of others; a quarantine removes all that
    it did."""
    folder, database = os.path.join(top, "up"), os.path.join(top, "up.db")
    subprocess.run([generator, folder, "--clients", "300", "--apps", "60", "--bugs", "0.005", "--seed", "2"],
                   check=True)
    run("load", folder, "--database", database)
    want = report(database)
    names = [f"app-{i}" for i in range(60)]
    wanted = {hog["app"] for hog in want["hogs"]}
    check(wanted and "app-1" not in wanted, f"nothing to hide: {wanted}")
    for drop_ppm in (239000, 100000):
        lines = [json.dumps({"v": 1, "client": "f" * 32, "first": 0,
                             "apps": {str(i): name for i, name in enumerate(names)}})]
        for i in range(400):  # app-1 seems to cost all there is, and all others nothing
            used = [1] if i % 2 else [j for j in range(60) if j != 1]
            lines.append(sample(i * 10**12, i * 10**12 + 6 * 10**11, 1000000, 1000000 - (drop_ppm if i % 2 else 1),
                                used,
                                own_mj={str(j): 500000 if j == 1 else 1 for j in used}))
        run("forget", "f" * 32, "--database", database, code=3 if drop_ppm == 239000 else 0)
        run("load", write(os.path.join(top, "liar.ndjson"), lines), "--database", database)
        got = report(database)
        hogs = {hog["app"] for hog in got["hogs"]}
        check(hogs == wanted if drop_ppm == 239000 else hogs <= wanted and len(hogs) >= len(wanted) - 2,
              f"a liar of {drop_ppm} makes hogs: {hogs}, not {wanted}")
    check([bug for bug in got["bugs"] if bug["client"] != "f" * 32] and
          {(bug["client"], bug["app"]) for bug in got["bugs"]
           if bug["client"] != "f" * 32} == {(bug["client"], bug["app"]) for bug in want["bugs"]},
          "a liar changes others' bugs")
    run("quarantine", "f" * 32, "--database", database)
    got = report(database)
    check({**got, "clients": 0, "samples": 0, "left_out": 0} == {**want, "clients": 0, "samples": 0, "left_out": 0},
          "its past stays after a quarantine")


def clocks(top):
    """Years do no harm, as only differences count; what cannot be a span is named, and what overlaps counts once."""
    def of(name, lines):
        database = os.path.join(top, name + ".db")
        ran = run("load", write(os.path.join(top, name), lines), "--database", database)
        return report(database), ran
    want = of("now", [header(7), *honest(1_700_000_000 * 10**9)])[0]
    for name, t in (("1970", 0), ("before", -40 * 365 * DAY_NS), ("2099", 129 * 365 * DAY_NS)):
        check(of(name, [header(7), *honest(t)])[0] == want, f"a clock of {name} changes the report")
    mixed = honest(0)[:4] + honest(129 * 365 * DAY_NS)[4:8] + honest(-40 * 365 * DAY_NS)[8:]
    check(of("mixed", [header(7), *mixed])[0] == want, "a clock that jumps by years between spans changes the report")
    jumps = (sample(5 * 10**12, 4 * 10**12), sample(0, 129 * 365 * DAY_NS), sample(10**15, 10**15 + 21 * DAY_NS),
             sample(-9 * 10**18, 9 * 10**18), sample(10**30, 10**30 + 1))
    got, ran = of("jumps", [header(7), *honest(1_700_000_000 * 10**9), *jumps])
    check(got == want and "5 lines are left out" in ran.stdout, f"{got} {ran.stdout}")
    for line, words in zip(range(14, 19), ("the clock was set back", "the clock jumped", "the clock jumped", "",
                                           "no time in ns")):
        check(any(f":{line}:" in said and words in said for said in ran.stderr.splitlines()),
              f"line {line}: {ran.stderr}")
    inside = [sample(1_700_000_000 * 10**9 + i * 10**12 + 10**11, 1_700_000_000 * 10**9 + i * 10**12 + 7 * 10**11,
                     level2=300001) for i in range(5)]
    got = of("overlap", [header(7), *honest(1_700_000_000 * 10**9), *inside])[0]
    check(got["left_out"]["overlapping"] == 5
          and {**got, "samples": 0, "left_out": 0} == {**want, "samples": 0, "left_out": 0}, f"{got}")


def token(number):
    return f"{number:064x}"


def upload(number, part):
    lines = [sample(t * 10**12, t * 10**12 + 6 * 10**11, level2=890001 - number)
             for t in range(part * 20, part * 20 + 20)]
    return ("\n".join([header(number, part * 20), *lines]) + "\n").encode()


def large_upload():
    """200 samples of client 2, with 4000 apps."""
    names = json.dumps({"v": 1, "client": f"{2:032x}", "first": 0,
                        "apps": {str(i): f"app-{i}-{'x' * 200}" for i in range(4000)}})
    samples = [sample(i * 10**12, i * 10**12 + 6 * 10**11, apps=range(i * 20, i * 20 + 20)) for i in range(200)]
    return gzip.compress("\n".join([names, *samples]).encode())


def full_disk(top):
    """A disk that is full: 503, and nothing of that upload is kept; when there is room, the same upload is taken."""
    database, large = os.path.join(top, "full.db"), large_upload()

    def ignore():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with Server(program, database, "--report-every", "1000", before=ignore) as server:
        check(server.ask("POST", "/v1/samples", upload(1, 0), token(1))[0] == 200, "the first upload is refused")
        size = os.path.getsize(database + "-wal")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 20000, resource.RLIM_INFINITY))
        status, answer, headers = server.ask("POST", "/v1/samples", large, token(2), Content_Encoding="gzip")
        check(status == 503 and answer["error"] and int(headers["Retry-After"]) > 0, f"a full disk: {status} {answer}")
        check(server.ask("GET", "/v1/me", None, token(2))[0] in (404, 503), "half an upload is kept")
        check(report(database)["samples"] == 20, "a full disk changes the report")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        status, answer, _ = server.ask("POST", "/v1/samples", large, token(2), Content_Encoding="gzip")
        check(status == 200 and answer["added"] == 200, f"with room again: {status} {answer}")
        code, said = server.stop()
        check(code == 0 and "disk" in said, f"exit {code}: {said}")
    check(report(database)["samples"] == 220, "samples are missing")


def at_once(database, top):
    """One client's uploads come many times at once, and overlap: each sample counts once, and who is told 503 sends
    again."""
    answers = []

    def send(server):
        for part in (0, 1, 0, 2):
            for _ in range(20):
                answers.append(server.ask("POST", "/v1/samples", upload(1, part), token(1))[:2])
                if answers[-1][0] != 503:
                    break

    with Server(program, database, "--report-every", "1000") as server:
        threads = [threading.Thread(target=send, args=(server,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check({status for status, _ in answers} <= {200, 503}, f"at once: {answers}")
    check(sum(answer["added"] for status, answer in answers if status == 200) == 60, f"at once: {answers}")
    run("load", write(os.path.join(top, "once"), [upload(1, part).decode().rstrip() for part in range(3)]),
        "--database", os.path.join(top, "once.db"))
    check(report(database) == report(os.path.join(top, "once.db")),
          "uploads at once make another report than one after the other")


def killed(database, top):
    """kill -9 amid uploads: what was answered is there, each of the others is there as a whole or not at all, and
    all of them again make what they would have made without it."""
    answered, began = set(), threading.Event()

    def send(server, number):
        for part in range(100):
            try:
                if server.ask("POST", "/v1/samples", upload(number, part), token(number))[0] == 200:
                    answered.add((number, part))
                    if len(answered) > 20:
                        began.set()
            except OSError:
                return
            except Exception:  # an answer that was cut off
                return

    with Server(program, database, "--report-every", "1000", "--new-clients", "3000") as server:
        threads = [threading.Thread(target=send, args=(server, number)) for number in range(1, 4)]
        for thread in threads:
            thread.start()
        began.wait(60)
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
    check(len(answered) > 20, f"only {len(answered)} uploads were answered")
    with Server(program, database, "--report-every", "1000", "--new-clients", "3000") as server:
        for number in range(1, 4):
            status, text, _ = server.ask("GET", "/v1/me", None, token(number))
            check(status in (200, 404),
                  f"client {number}: {status} {text}")  # 404: killed before this client's first upload was kept
            kept = [json.loads(line)["t"] // 10**12 for line in text.splitlines()
                    if '"t"' in line] if status == 200 else []
            parts = sorted({t // 20 for t in kept})
            check(sorted(kept) == [t for part in parts for t in range(part * 20, part * 20 + 20)],
                  f"client {number} has parts of uploads")
            check({part for who, part in answered if who == number} <= set(parts),
                  f"client {number}: what was answered is gone")
    uploads = os.path.join(top, "all.ndjson")
    last = max(part for _, part in answered) + 2
    with open(uploads, "wb") as file:
        file.write(b"".join(upload(number, part) for number in range(1, 4) for part in range(last)))
    run("load", uploads, "--database", database)
    run("load", uploads, "--database", os.path.join(top, "whole.db"))
    check(report(database) == report(os.path.join(top, "whole.db")),
          "uploads again give another report than without a kill")


def frozen(cluster, database):
    """PostgreSQL does not answer: 503 within the deadline, and the same upload is taken when it is back."""
    with Server(program, database, "--report-every", "1000", "--connections", "1", "--deadline", "2") as server:
        check(server.ask("POST", "/v1/samples", upload(1, 0), token(1))[0] == 200, "the first upload is refused")
        cluster.freeze()
        status, answer, headers = server.ask("POST", "/v1/samples", upload(1, 1), token(1))
        check(status == 503 and "send the same again" in answer["error"] and int(headers["Retry-After"]) > 0,
              f"a frozen server: {status} {answer}")
        status, answer, _ = server.ask("POST", "/v1/samples", upload(2, 0), token(2))
        check(status == 503, f"a frozen server, asked again: {status} {answer}")
        cluster.wake()
        status, answer, _ = server.ask("POST", "/v1/samples", upload(1, 1), token(1))
        check(status == 200 and answer["added"] + answer["known"] == 20 and answer["next"] == 40,
              f"when it is awake: {status} {answer}")
        code, said = server.stop()
        check("no answer within 2 s" in said, f"exit {code}: {said}")
    check(report(database)["samples"] == 40, "samples are missing")


def hostile_folder(top):
    """Nothing in a folder that others can write leads out of it, waits, or unpacks to gigabytes."""
    folder, outside, database = (os.path.join(top, name) for name in ("hostile", "outside", "hostile.db"))
    os.mkdir(folder)
    os.mkdir(outside)
    write(os.path.join(outside, "secret"), [header(9), *honest()])
    write(os.path.join(folder, f"{7:032x}-{0:020}.ndjson"), [header(7), *honest()])
    os.symlink(os.path.join(outside, "secret"), os.path.join(folder, "link"))
    os.symlink(outside, os.path.join(folder, "folder"))
    os.symlink("/dev/zero", os.path.join(folder, "zero"))
    os.mkfifo(os.path.join(folder, "pipe"))
    with gzip.open(os.path.join(folder, "bomb.gz"), "wb") as file:
        file.write(bytes(1 << 26))
    said = run("answer", folder, "--database", database).stderr
    for name in ("link", "folder", "zero", "pipe"):
        check(f"{folder}/{name}: is no file, and is left out" in said, said)
    check(f"{folder}/bomb.gz: it has more than 4 MiB" in said, said)
    check(report(database)["clients"] == 1, f"what is outside of the folder is loaded: {report(database)}")
    check(not os.path.exists(os.path.join(folder, f".{9:032x}-report.json")), "who has no file gets an answer")


class FullDisk:
    """with FullDisk(FOLDER): ... nothing more can be written on the file system of that folder."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "fill")

    def __enter__(self):
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, bytes(4096))
        except OSError as error:
            check(error.errno == errno.ENOSPC, f"the disk does not get full: {error}")
        os.close(fd)

    def __exit__(self, *what):
        os.unlink(self.path)


def full_reports(small, top):
    """No half of a page, and no page that says it is new."""
    database, page = os.path.join(top, "some.db"), os.path.join(small, "page.html")
    text = os.path.join(small, "report.json")
    run("load", write(os.path.join(top, "some"), [header(7), *honest()]), "--database", database)
    run("report", "--database", database, "--html", page)
    with open(page, "rb") as file:
        want = file.read()
    run("load", write(os.path.join(top, "more"), [header(8), *honest()]), "--database", database)
    with FullDisk(small):
        said = run("report", "--database", database, "--html", page, code=1).stderr
        check("page.html: cannot be written: No space left on device" in said, said)
        with open(page, "rb") as file:
            check(file.read() == want, "a page that could not be written is another than before")
        with open(text, "wb") as file:
            ran = subprocess.run([program, "report", "--database", database, "--json"], stdout=file,
                                 stderr=subprocess.PIPE, text=True)
        check(ran.returncode == 1 and "the answer could not be written" in ran.stderr,
              f"exit {ran.returncode}: {ran.stderr}")
    check(sorted(os.listdir(small)) == ["page.html", "report.json"], f"left over: {os.listdir(small)}")
    run("report", "--database", database, "--html", page)
    with open(page, "rb") as file:
        check(file.read() != want, "with room again, the page is not written")


def full_folder(small, top):
    """A folder that devices share: they keep the report that they have, and get the new one when there is room."""
    folder, database, client = os.path.join(small, "shared"), os.path.join(top, "answer.db"), f"{7:032x}"
    answer = os.path.join(folder, f".{client}-report.json")
    os.mkdir(folder)
    for part in range(2):
        write(os.path.join(folder, f"{client}-{100 * part:020}.ndjson"),
              [header(7, 100 * part), *honest(part * 10**14)])
        if part == 0:
            run("answer", folder, "--database", database)
            with open(answer, encoding="utf-8") as file:
                check(json.load(file)["samples"] == 12, "the first answer")
    with FullDisk(small):
        said = run("answer", folder, "--database", database, code=1).stderr
        check(f".{client}-report.json: cannot be written: No space left on device" in said, said)
        with open(answer, encoding="utf-8") as file:
            check(json.load(file)["samples"] == 12, "an answer that could not be written is another than before")
        check(len(os.listdir(folder)) == 3, f"left over: {os.listdir(folder)}")
    run("answer", folder, "--database", database)
    with open(answer, encoding="utf-8") as file:
        check(json.load(file)["samples"] == 24, "with room again, the answer is not written")


def full_postgresql(small):
    """As full_disk(), with PostgreSQL's disk."""
    cluster = Cluster(os.path.join(small, "pg"))
    with cluster as database, Server(program, database, "--report-every", "1000") as server:
        check(server.ask("POST", "/v1/samples", upload(1, 0), token(1))[0] == 200, "the first upload is refused")
        with FullDisk(small):
            status, answer, headers = server.ask("POST", "/v1/samples", large_upload(), token(2),
                                                 Content_Encoding="gzip")
            check(status == 503 and answer["error"] and int(headers["Retry-After"]) > 0,
                  f"PostgreSQL's disk is full: {status} {answer}")
            check(server.ask("GET", "/v1/me", None, token(2))[0] in (404, 503), "half an upload is kept")
            check(report(database)["samples"] == 20, "a full disk changes the report")
        status, answer, _ = server.ask("POST", "/v1/samples", large_upload(), token(2), Content_Encoding="gzip")
        check(status == 200 and answer["added"] == 200, f"with room again: {status} {answer}")
        code, said = server.stop()
        check(code == 0 and "No space left on device" in said, f"exit {code}: {said}")
        check(report(database)["samples"] == 220, "samples are missing")


def on_small_disks(top, parts):
    """Mounts one, and calls this program again, not as root, as PostgreSQL wants it."""
    small = os.path.join(top, "small")
    os.mkdir(small)
    script = ('mount -t tmpfs -o size=100m,mode=755 none "$1" || exit 77; '
              'exec unshare -U --map-user=65534 --map-group=65534 "$0" "$2" "$3" "$4" full "$1" $5 $6')
    ran = subprocess.run(["unshare", "-rm", "sh", "-c", script, sys.executable, small, os.path.abspath(__file__),
                          program, generator, *parts],
                         capture_output=True, text=True)
    if ran.returncode == 77 or "unshare:" in ran.stderr:
        print("skipped: a full disk needs a namespace of its own:", ran.stderr.strip())
    else:
        check(ran.returncode == 0, f"on a full disk: {ran.stdout} {ran.stderr}")


def on_postgresql(top):
    cluster = Cluster(os.path.join(top, "pg"))
    with cluster:
        at_once(cluster.make("once"), top)
        killed(cluster.make("killed"), top)
        frozen(cluster, cluster.make("frozen"))


def all_of(parts):
    for part in (lies, liar_among_others, clocks, hostile_folder):
        with tempfile.TemporaryDirectory() as where:
            part(where)
    with tempfile.TemporaryDirectory() as where:
        on_small_disks(where, parts)
    if "serve" in parts:
        with tempfile.TemporaryDirectory() as where:
            full_disk(where)
            at_once(os.path.join(where, "at-once.db"), where)
            killed(os.path.join(where, "killed.db"), where)
        if "postgresql" in parts and find_program("initdb"):
            with tempfile.TemporaryDirectory() as where:
                os.chmod(where, 0o755)
                on_postgresql(where)


def on_full_disks(small, parts):
    with tempfile.TemporaryDirectory() as where:
        full_reports(small, where)
        full_folder(small, where)
    if "serve" in parts and "postgresql" in parts and find_program("initdb"):
        full_postgresql(small)


if sys.argv[3:4] == ["full"]:
    on_full_disks(sys.argv[4], sys.argv[5:])
else:
    all_of(sys.argv[3:])
sys.exit(1 if failures else 0)
