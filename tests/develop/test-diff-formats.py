#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast diff on the files of other profilers: each gives the same tasks as folded stacks, and damage is one
sentence.

Usage: test-diff-formats.py JOULECAST
"""
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import stack_formats as formats

JOULECAST = os.path.abspath(sys.argv[1])
ZLIB = True
failures = 0


def expect(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("failed:", *words)


def run(*words):
    return subprocess.run([JOULECAST, "diff", *words], capture_output=True, text=True, timeout=100)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


def answer(*words):
    ran = run(*words, "--json")
    expect(ran.returncode == 0, words, ran.stderr)
    return json.loads(ran.stdout) if ran.returncode == 0 else {"tasks": [], "unit": "", "comparable": {}}


def tasks(got, scale=1):
    return sorted((task["task"], task["from"], task["match"], round(task["a"]["value"] * scale, 6),
                   round(task["b"]["value"] * scale, 6))
                  for task in got["tasks"])


A = [(["viewer", "main@viewer", "compress2@libz.so.1.3", "deflate@libz.so.1.3"], 253),
     (["viewer", "main@viewer", "compress2@libz.so.1.3"], 3),
     (["viewer", "main@viewer", "load@viewer", "read@libc.so.6", "vfs_read@[kernel.kallsyms]"], 128),
     (["viewer", "main@viewer", "sort@viewer", "qsort@libc.so.6", "by_name@viewer", "strcmp@libc.so.6"], 70),
     (["viewer", "main@viewer", "paint@viewer", "cairo_fill@libcairo.so.2"], 40)]
B = [(["show", "main@show", "pack@show", "compress2@libz.so.1", "deflate@libz.so.1"], 42),
     (["show", "main@show", "qsort@libc.so.6", "compare@show", "strcmp@libc.so.6"], 73),
     (["show", "main@show", "draw@show", "cairo_fill@libcairo.so.2"], 41)]

WRITERS = {
    "pprof": formats.pprof,
    "pprof plain": lambda stacks: formats.pprof(stacks, compressed=False),
    "pprof not packed": lambda stacks: formats.pprof(stacks, packed=False, compressed=False),
    "perf script": formats.perf_script,
    "speedscope": formats.speedscope,
    "speedscope events": lambda stacks: formats.speedscope(stacks, events=True),
    "Firefox": formats.firefox,
    "Firefox shared": lambda stacks: formats.firefox(stacks, shared=True),
    "Gecko": lambda stacks: formats.firefox(stacks, raw=True),
}


def same_tasks():
    want = tasks(answer(write("a", formats.folded(A)), write("b", formats.folded(B))))
    expect(len(want) == 5, want)
    for name, writer in WRITERS.items():
        for pack in (False, True) if ZLIB and name != "pprof" else (False,):
            a, b = (writer(stacks) for stacks in (A, B))
            if pack:
                a, b = gzip.compress(a), gzip.compress(b[:7]) + gzip.compress(b[7:])
            got = answer(write("a", a), write("b", b))
            expect(got["unit"] == "ns" and tasks(got, 1e-6) == want, name, tasks(got, 1e-6), want)
    got = answer(write("a", formats.callgrind(A)), write("b", formats.callgrind(B)))
    expect(got["unit"] == "instructions" and tasks(got) == want, "callgrind", tasks(got), want)
    compress = [task for task in got["tasks"] if task["task"] == "compress2"][0]
    expect(compress["a"]["calls"] == 3 and compress["by_price"] > 0, "callgrind counts calls", compress)
    for word, order in (("Q", "<"), ("Q", ">"), ("I", "<"), ("I", ">")):
        got = answer(write("a", formats.cpu_profile(A, word=word, order=order)),
                     write("b", formats.cpu_profile(B, word=word, order=order)))
        expect(("[unknown]@libcairo", "[unknown]", "both", 40.0, 41.0) in tasks(got, 1e-6)
               and len(got["tasks"]) == 3, "gperftools",
               word, order, tasks(got, 1e-6))


def rounding():
    """What callgrind has only as a sum is divided by proportion; what rounding leaves of equal costs is no
    difference."""
    def program(extra):
        chance = random.Random(3)
        costs = [chance.randrange(10**8) for _ in range(7)] + extra
        lines = ["events: Ir", "ob=/usr/bin/app", "fn=main", "1 3"]
        for i, cost in enumerate(costs):
            lines += ["cob=/usr/lib/libz.so.1", f"cfn=f{i}", "calls=1 1", f"1 {cost}"]
        lines += ["ob=/usr/lib/libz.so.1"]
        for i, cost in enumerate(costs):
            lines += [f"fn=f{i}", "1 0", "cfn=g0", "calls=1 1", f"1 {cost}"]
        rest = sum(costs)
        for i in range(8):
            own = chance.randrange(rest // 3)
            part, rest = (rest - own) // 3, rest - own
            lines += [f"fn=g{i}", f"1 {own}", f"cfn=g{i + 1}", "calls=1 1", f"1 {part}", f"cfn=k{i}", "calls=1 1",
                      f"1 {rest - part}",
                      f"fn=k{i}", "1 0", f"cfn=g{i + 1}", "calls=1 1", f"1 {rest - part}"]
        return "\n".join([*lines, "fn=g8", f"1 {rest}", ""])

    got = [task for task in answer(write("a", program([])), write("b", program([12345677])))["tasks"]
           if task["task"] != "f7"]
    expect(len(got) == 7 and any(task["a"]["value"] != task["b"]["value"] for task in got), "costs are rounded", got)
    expect(all(task["difference"]["value"] == 0 for task in got), "rounding is a difference",
           [task["difference"] for task in got])


def samples():
    """How many samples a value is of decides how sure it is."""
    wide, narrow = [], []
    for period, times, into in ((1000000, 1, wide), (1000, 1000, narrow)):
        for name, writer in (("pprof", lambda stacks: formats.pprof(stacks, period, compressed=False)),
                             ("Firefox", lambda stacks: formats.firefox(stacks, period))):
            a, b = ([(frames, value * times // 10) for frames, value in stacks] for stacks in (A, B))
            if name == "Firefox" and times > 1:
                continue
            got = answer(write("a", writer(a)), write("b", writer(b)))
            task = [task for task in got["tasks"] if task["task"] == "compress2"][0]
            into.append((task["a"]["high"] - task["a"]["low"]) / task["a"]["value"])
    expect(max(wide) - min(wide) < 1e-6 and wide[0] > 10 * narrow[0], wide, narrow)
    # One sample that counts a hundred times as much as each of the others.
    even = "".join(f"app 1 1.{i:06}: 100 cpu-clock: \n 12 x+0x1 (/l/libx.so)\n 34 main+0x1 (/bin/app)\n\n"
                   for i in range(200))
    odd = even.replace(" 100 cpu", " 10100 cpu", 1)
    rows = [answer(write("a", text), "a")["tasks"][0]["a"] for text in (even, odd)]
    spread = [row["high"] - row["low"] for row in rows]
    expect(spread[1] / rows[1]["value"] > 3 * spread[0] / rows[0]["value"],
           "samples of different size", rows)


def recorded():
    """components.tsv of joulecast record has the variance of each stack."""
    def record(folder, variance):
        os.makedirs(folder + "/runs")
        write(folder + "/run.json",
              json.dumps({"command": ["/usr/bin/player"], "unit": "nJ", "runs": [{"samples": 200}]}))
        write(folder + "/runs/1.folded",
              "app;main@player;read@libc.so.6 1000000\napp;main@player;write@libc.so.6 1000000\n")
        if variance:
            write(folder + "/runs/1.components.tsv", "stack\tsamples\tcpu_ns\tvariance_nj2\n"
                  f"app;main@player;read@libc.so.6\t100\t5\t{variance}\n"
                  f"app;main@player;write@libc.so.6\t100\t5\t1e10\n")
    for folder, variance in (("plain", None), ("even", "1e10"), ("uneven", "1e11"), ("negative", "-3"),
                             ("other", "1e10")):
        record(folder, variance)
    write("other/runs/1.components.tsv", "stack\tvariance_nj2\napp;main@player;mmap@libc.so.6\t5\n")

    def widths(folder):
        return {task["task"]: task["a"]["high"] - task["a"]["low"] for task in answer(folder, "plain")["tasks"]}
    plain, even, uneven = widths("plain"), widths("even"), widths("uneven")
    expect(abs(plain["read"] - even["read"]) < 1e-3 * plain["read"], "the mean sample", plain, even)
    expect(uneven["read"] > 2.5 * even["read"] and uneven["write"] == even["write"], "ten times the variance", even,
           uneven)
    # One of the samples has a third of the energy: there may be another. It cannot have more than all together.
    record("odd", "1e11")
    record("huge", "1e11")
    for folder, largest in (("odd", "300000"), ("huge", "1e300")):
        write(folder + "/runs/1.components.tsv",
              f"stack\tlargest_nj\tvariance_nj2\napp;main@player;read@libc.so.6\t{largest}\t1e11\n")
    odd, huge = ({task["task"]: task["a"] for task in answer(folder, "plain")["tasks"]}["read"]
                 for folder in ("odd", "huge"))
    expect(uneven["read"] * 1.2 < odd["high"] - odd["low"] < huge["high"] - huge["low"] < 10e6,
           "the largest sample", odd, huge)
    record("wordy", "1e10")
    write("wordy/runs/1.components.tsv",
          "stack\tlargest_nj\tvariance_nj2\napp;main@player;read@libc.so.6\tmuch\t1e10\n")
    for folder in ("negative", "other", "wordy"):
        ran = run(folder, "plain")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "components" in ran.stderr, folder, ran)


def perf_text():
    """What perf prints in other versions and with other options."""
    frames = "\t 12 read+0x1 (/usr/lib/libc.so.6)\n\t 34 main+0x1f (/opt/my app (x)/app)\n\n"
    for header in ("app  123 [000]  4.500000:     250000 cpu-clock:u: ", "app  123/124 4.5: 250000 cpu-clock: ",
                   "my app: 1 123  4.5:  250000 cpu-clock:ppp: ",
                   "app 123 4.5: cpu-clock: ", "app 123 cpu-clock: ", "app 123 ",
                   "app-1 123 [001] 4.500: 1 cpu_core/cycles/u: "):
        ran = run(write("a", (header + "\n" + frames) * 30), "a", "--json")
        expect(ran.returncode == 0, header, ran)
        got = json.loads(ran.stdout)
        expect([task["task"] for task in got["tasks"]] == ["read"] and got["comparable"]["without_app_a"] == 0,
               header, got)
        expect(got["comparable"]["total_a"] == (250000 * 30 if "250000" in header else 30), header)
        expect(got["tasks"][0]["a_path"][0] in ("app", "app-1", "my app: 1"), header, got["tasks"])
    other = "app 123 4.6: sched:sched_switch: prev_comm=app prev_pid=1 ==> next_comm=x\n" + frames
    ran = run(write("a", "app 123 4.5: 5 cpu-clock: \n" + frames + other), "a", "--json")
    expect(json.loads(ran.stdout)["comparable"]["total_a"] == 5 and "several events" in ran.stderr, ran)
    threads = "worker 124 4.5: 5 cpu-clock: \n" + frames
    ran = run(write("a", ("app 123 4.5: 5 cpu-clock: \n" + frames + threads)), "a", "--json")
    expect(json.loads(ran.stdout)["comparable"]["without_app_a"] == 0, "a thread with a name of its own", ran)
    cut = ("Größ\udcc3 1 4.5: 5 cpu-clock: \n".encode("utf-8", "surrogateescape")
           + frames.encode().replace(b"read", b"re\xff\x01d"))
    got = answer(write("a", cut), "a")
    expect(got["tasks"][0]["task"] == "re??d" and got["tasks"][0]["a_path"][0] == "Größ?", "no UTF-8", got)


def dotnet():
    """dotnet-trace ends each stack with a mark of what the thread did; the time is the function's below it."""
    frames = [{"name": name} for name in ("Threads", "App!App.Run()", "App!App.Go()", "CPU_TIME")]
    stacks = [[0, 1, 3]] * 20 + [[0, 1, 2, 3]] * 30 + [[3]] * 5
    text = json.dumps({"shared": {"frames": frames},
                       "profiles": [{"type": "sampled", "name": "app", "unit": "none", "samples": stacks}]})
    got = answer(write("a", text), "a", "--own")
    expect({task["task"]: task["a"]["value"] for task in got["tasks"]} == {"Run": 20, "Go": 30, "CPU_TIME": 5},
           "CPU_TIME", got["tasks"])


def cycles():
    """Functions that call each other in a circle, as callgrind has them, keep what they cost."""
    text = """events: Ir
cmd: app
ob=/bin/app
fn=(1) main
1 10
cfn=(2) walk
calls=1 0
2 90
cob=/lib/libx.so
cfn=(4) lib
calls=2 0
2 60
fn=(2)
3 30
cfn=(3) step
calls=8 0
4 400
cfn=(2)
calls=3 0
+1 70
fn=(3)
5 20
cfn=(2)
calls=7 0
* 300
cob=/lib/libx.so
cfn=(4)
calls=1 0
6 40
ob=/lib/libx.so
fn=(4)
9 100
"""
    got = answer(write("a", text), "a")
    expect(got["comparable"]["total_a"] == 160, "what they cost", got["comparable"])
    expect([(task["task"], task["a"]["value"]) for task in got["tasks"]] == [("lib", 100)], got["tasks"])
    chance = random.Random(5)
    for _ in range(30):
        lines, total = ["events: Ir"], 0
        for i in range(12):
            cost = chance.randint(1, 100)
            total += cost
            lines += [f"fn=f{i}", f"1 {cost}"]
            for _ in range(chance.randint(0, 4)):
                lines += [f"cfn=f{chance.randint(0, 11)}", "calls=1 1", f"1 {chance.randint(0, 300)}"]
        got = answer(write("a", "\n".join(lines)), "a", "--framework-prefix", "f1")
        expect(0 < got["comparable"]["total_a"] <= total * 1.0001, "no more than it costs",
               got["comparable"]["total_a"], total)


def refused(name, data, word=""):
    ran = run("good", write("bad", data), "--framework-prefix", "f_")
    expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "bad" in ran.stderr and word in ran.stderr
           and not ran.stdout, name, ran)


def damaged():
    write("good", "a;f_x 3\n")
    deep = [(["a"] + [f"f{i}@x" for i in range(10000)], 1)]
    for name in ("pprof plain", "speedscope", "speedscope events", "Firefox", "Gecko", "perf script"):
        refused("deep " + name, WRITERS[name](deep), "4096 frames")
    if ZLIB:
        whole = gzip.compress(formats.folded(A) * 5000)
        for cut in (2, 10, 100, len(whole) - 4):
            refused("a cut gz", whole[:cut], "gzip")
        refused("a damaged gz", whole[:50] + b"\xff" * 20 + whole[70:], "gzip")
        refused("an empty gz", gzip.compress(b""))

    def profile(change):
        made = formats.Profile("a")
        made.add(["main@a", "f_x@b"], [1, 5])
        change(made)
        return made.data()
    made = formats.Profile("a")
    made.add(["main@a", "f_x@b"], [1, 5])
    made.data()
    refused("pprof no string", made.data(list(made.strings)[:-1]), "index")
    for name, change, word in (
            ("no location",
             lambda p: setattr(p, "samples",
                               formats.message(2, formats.message(1, formats.varint(99)) +
                                               formats.message(2, b"\1\1"))), "index"),
            ("no mapping",
             lambda p: setattr(p, "tables", p.tables.replace(formats.number(2, 1), formats.number(2, 9), 1)), ""),
            ("twice", lambda p: setattr(p, "tables", p.tables + formats.message(5, formats.number(1, 1))),
             "same number"),
            ("one value",
             lambda p: setattr(p, "samples",
                               formats.message(2, formats.message(1, b"\1") + formats.message(2, b"\1"))), "one value"),
            ("below 0", lambda p: p.add(["main@a"], [1, (1 << 64) - 5]), "below 0"),
            ("no unit", lambda p: setattr(p, "types", [("samples", "count"), ("x", "parsecs")]), "neither"),
            ("locks", lambda p: setattr(p, "types", [("contentions", "count"), ("delay", "nanoseconds")]), "locks"),
            ("goroutines", lambda p: setattr(p, "types", [("samples", "count"), ("goroutine", "count")]), "threads"),
            ("no types", lambda p: setattr(p, "types", []), "")):
        refused("pprof " + name, profile(change), word)
    scope, fox = json.loads(formats.speedscope(A)), json.loads(formats.firefox(A))
    gecko = json.loads(formats.firefox(A, raw=True))["processes"][0]
    events = json.loads(formats.speedscope(A, events=True))

    def changed(base, *path):
        copy = json.loads(json.dumps(base))
        at = copy
        for step in path[:-2]:
            at = at[step]
        at[path[-2]] = path[-1]
        return json.dumps(copy)
    for name, data, word in (
            ("frame", changed(scope, "profiles", 0, "samples", 0, [99]), "index"),
            ("weights", changed(scope, "profiles", 0, "weights", [1, 2]), ""),
            ("weight", changed(scope, "profiles", 0, "weights", 0, -1), "2^53"),
            ("unit", changed(scope, "profiles", 0, "unit", "apples"), "neither"),
            ("order", changed(events, "profiles", 0, "events", 3, "at", -1), "order"),
            ("end", changed(events, "profiles", 0, "events", 1, "type", "C"), "on top"),
            ("no frames", changed(scope, "shared", {}), ""),
            ("a cycle", changed(fox, "threads", 0, "stackTable", "prefix", 0, 2), "itself"),
            ("stack", changed(fox, "threads", 0, "samples", "stack", 0, 999), "index"),
            ("function", changed(fox, "threads", 0, "frameTable", "func", 0, 999), "index"),
            ("string", changed(fox, "threads", 0, "funcTable", "name", 0, 999), "index"),
            ("columns", changed(fox, "threads", 0, "samples", "threadCPUDelta", [1]), "damaged"),
            ("a cycle", changed(gecko, "threads", 0, "stackTable", "data", 0, [3, 0]), "itself"),
            ("location", changed(gecko, "threads", 0, "frameTable", "data", 0, [999]), "index"),
            ("another", json.dumps({"traceEvents": []}), "JSON"), ("a list", json.dumps([{"ph": "B"}]), "JSON"),
            ("a number", '{"threads": 3, "meta": 5}', ""),
            ("nested", '{"x": ' + "[" * 100000, "")):
        refused("JSON " + name, data, word)
    for name, data, word in (
            ("perf.data", b"PERFILE2" + bytes(100), "perf script"),
            ("heap", "heap profile:  1: 2 [ 3: 4] @ x\n", "heap"), ("xz", b"\xfd7zXZ" + bytes(9), "unpack"),
            ("heap", "heap_v2/524288\n  t*: 28106: 56637512 [0: 0]\n", "heap"),
            ("ELF", b"\x7fELF" + bytes(9), "program"),
            ("pprof -top", b"File: a\nType: cpu\n", "that pprof printed"), ("massif", b"desc: -\n", "heap profile"),
            ("bpftrace", b"@[\n    f_x+1\n]: 3\n", "stackcollapse-bpftrace"), ("JFR", b"FLR\0\0\2", "jfrconv"),
            ("a page", b"<!DOCTYPE html>\n", "a page or a picture"), ("nettrace", b"Nettrace\x14", "dotnet-trace"),
            ("perf report", b"# To display the perf.data header info\n", "perf script"),
            ("UTF-16", "a;f_x 3\n".encode("utf-16"), "UTF-16"), ("zeros", bytes(5000), ""),
            ("callgrind", "events: Ir\nfn=(1)\n1 2\n", "index"),
            ("callgrind", "events: Ir\n1 2\n", "line 2"), ("callgrind", "events: Ir\nfn=x\nhello\n", "line 3"),
            ("callgrind", "events: Ir\nfn=x\n7 -3\n", "line 3"),
            ("callgrind", "events: Ir\nfn=x\n7 " + "9" * 400 + "\n", "2^53"),
            ("callgrind", "events: Ir\nfn=x\ncfn=x\ncalls=1" + "0" * 400 + " 1\n1 1\n", "2^53"),
            ("a NaN", '{"profiles": [{"samples": [[0]], "weights": [NaN]}], "shared": {"frames": [{"name": "x"}]}}',
             "2^53"),
            ("pprof fixed",
             profile(lambda p: setattr(p, "samples",
                                       formats.message(2, b"\x09" + bytes(8) + formats.message(2, b"\1\1")))),
             "damaged"),
            ("perf script", "a 1 4.5: cpu-clock: \n 12 f_x+0x1 (/x)\n 12 f_x\n", "line 3"),
            ("no files", "a 1 4.5: 3 cpu-clock: \n 12 f_x+0x1\n", "line 2"),
            ("no stacks", "a 1 4.5: 3 cpu-clock: 12 f_x+0x1 (/x)\n" * 9, "no call stacks"),
            ("dd", "              dd 1 4.5: 3 cpu-clock: 12 f_x+0x1 (/x)\n" * 9, "no call stacks"),
            ("gperftools", formats.cpu_profile(A)[:200], "gperftools")):
        refused(name, data, word)


def cut():
    """Wherever a file ends, and whatever byte of it is another: an answer, or one sentence."""
    chance = random.Random(3)
    files = {name: writer([(frames, 1 + value // 40) for frames, value in B])
             for name, writer in {**WRITERS, "callgrind": formats.callgrind, "gperftools": formats.cpu_profile}.items()}
    write("good", "a;f_x 3\n")
    for name, data in files.items():
        for _ in range(12):
            end, at = chance.randint(1, len(data)), chance.randrange(len(data))
            bad = data[:end] if chance.random() < 0.5 else data[:at] + bytes([chance.randrange(256)]) + data[at + 1:]
            ran = run(write("bad", bad), "bad", "--framework-prefix", "f_", "--json")
            lines = [line for line in ran.stderr.splitlines() if "warning" not in line]
            expect((ran.returncode == 0 and json.loads(ran.stdout)) or (ran.returncode == 1 and len(lines) == 1),
                   name, ran)


def read_joined(text):
    """Stacks with two counts."""
    lines = [line.rsplit(" ", 2) for line in text.decode().splitlines()]
    return [(stack, int(a), int(b)) for stack, a, b in lines]


def written(*words):
    """What --folded and --pprof write of the same comparison; they must say the same."""
    got = answer(*words)
    for option, name in (("--folded", "out.folded"), ("--pprof", "out.pb.gz")):
        if option == "--pprof" and not ZLIB:
            continue
        ran = run(*words, option, name)
        expect(ran.returncode == 0 and not ran.stdout + ran.stderr, option, ran)
    with open("out.folded", "rb") as file:
        rows = read_joined(file.read())
    for at, side in ((1, "a"), (2, "b")):
        expect(abs(sum(row[at] for row in rows) - got["comparable"]["total_" + side]) <= 0.5, "sum", words, side)
    if ZLIB:
        with gzip.open("out.pb.gz", "rb") as file:
            types, program, stacks = formats.read_pprof(file.read())
        unit = {"ns": "nanoseconds", "samples": "count", "nJ": "nanojoules"}[got["unit"]]
        expect(types == [("a", unit), ("b", unit), ("difference", unit)], types)
        expect([(";".join([program] + frames), *values)
                for frames, values in stacks] == [(stack, a, b, a - b) for stack, a, b in rows],
               "pprof", words, program, stacks, rows)
    return rows


def joined():
    write("a", formats.folded(A))
    write("b", formats.folded(B))
    rows = written("a", "b")
    expect(rows == [("viewer;main@viewer;cairo_fill@libcairo", 40, 41), ("viewer;main@viewer;compress2@libz", 3, 0),
                    ("viewer;main@viewer;compress2@libz;deflate@libz", 253, 42),
                    ("viewer;main@viewer;qsort@libc;by_name@viewer;strcmp@libc", 70, 73),
                    ("viewer;main@viewer;read@libc;vfs_read@[kernel.kallsyms]", 128, 0)], "planted", rows)
    write("b more",
          formats.folded(B + [(["show", "main@show", "pack@show", "compress2@libz.so.1", "crc32@libz.so.1",
                                "step@libz.so.1"], 9),
                                        (["show", "main@show", "send@libc.so.6"], 8)]))
    expect([row for row in written("a", "b more") if row not in rows] ==
           [("viewer;main@viewer;compress2@libz;crc32@libz;step@libz", 0, 9),
            ("viewer;main@viewer;send@libc", 0, 8)], "only in B")
    written("a", "b")
    expect(read_joined(run("a", "b", "--folded", "-").stdout.encode()) == rows, "standard output")
    if ZLIB:
        got = answer("out.pb.gz", "b")
        expect(tasks(got) == tasks(answer("a", "b")), "A of the profile is A", got["tasks"])
    chance = random.Random(5)
    for _ in range(20):
        for name in ("a0", "a1", "a2", "b0", "b1"):
            write(name, "".join(";".join(["app"] + [chance.choice(("f_", "f_", "a")) + chance.choice("uvwxyz")
                                                    for _ in range(chance.randint(1, 9))]) +
                                f" {chance.choice((1, 2, 7, 12.25, 100.1))}\n" for _ in range(60)))
        written("a0,a1,a2", "b0,b1", "--framework-prefix", "f_")
        expect(all(a == b for _, a, b in written("a0,a1", "a0,a1", "--framework-prefix", "f_")),
               "a program with itself")
        write("back", "".join(f"{stack} {a}\n" for stack, a, _ in written("a0", "b0", "--framework-prefix", "f_") if a))
        got = answer("back", "a0", "--framework-prefix", "f_", "--alpha", "0")
        expect(got["matched_nodes"] == got["nodes_a"]
               and all(abs(task["difference"]["value"]) < 1 for task in got["tasks"]),
               "A is as it was", got)
    # Names of all kinds, from where no reader has cleaned the program's.
    profile = formats.Profile('we;ird "app" @\x1b[31m')
    for name in ("a;b", 'quo"te \'x\'', "two words 12", "esc\x1b[0m", "<b>&amp;</b>", "gr\u00fc\u00df", "wrong",
                 "at@sign@lib x.so", "x" * 9000):
        profile.add(["main@" + 'we;ird "app"', name if "@" in name else name + "@lib;q u@ote.so"], [1, 1000000])
    data = profile.data().replace(b"wrong", b"w\xffong")
    write("hostile", data)
    write("hostile b", data.replace(b"main", b"niam"))
    rows = written("hostile", "hostile b")
    expect(all(stack.isprintable() and stack.count(";") == rows[0][0].count(";") for stack, _, _ in rows),
           "hostile", rows)
    expect(any("w?ong" in stack for stack, _, _ in rows) and any("gr\u00fc\u00df" in stack for stack, _, _ in rows),
           "hostile", rows)
    for option in ("--folded", "--pprof"):
        for words in (("a", "b", "a"), ("--bisect", "a", "b"), ("a", "b", "--json"), ("a", "b", "-o", "page.html"),
                      ("a", "b", "--probe", "x")):
            ran = run(*words, option, "none")
            expect(ran.returncode == 2 and ran.stderr.count("\n") == 1, words, ran)
        ran = run("a", "b", option, "no folder/none")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1, option, ran)
        expect(run("a", "b", option, "none", "--fail-if", "20%").returncode ==
               (4 if ZLIB or option == "--folded" else 1), "--fail-if")
        if os.path.exists("none"):
            os.remove("none")
    if not ZLIB:
        ran = run("a", "b", "--pprof", "none")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "zlib" in ran.stderr
               and not os.path.exists("none"), ran)


def compile_program(level):
    with open("work.c", "w", encoding="utf-8") as file:
        file.write("""#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static void order(int n)
{
        static int v[20000];
        for (int i = 0; i < n; i++) v[i] = rand();
        qsort(v, n, sizeof(*v), compare);
}
int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 20000;
        for (int i = 0; i < %d; i++) order(n);
        return 0;
}
""" % level)
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    subprocess.run([compiler, "-O1", "-g", "-o", f"work{level}", "work.c"], check=True)
    return f"./work{level}"


def real():
    """perf and valgrind as they are here; what is not installed, or not allowed, is passed over."""
    programs = [compile_program(level) for level in (10, 30)]
    if None in programs:
        print("skipped: no compiler")
        return
    if shutil.which("valgrind"):
        for program in programs:
            subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={program}.callgrind", program,
                            "2000"], check=True, capture_output=True)
        got = answer("work10.callgrind", "work30.callgrind")
        found = {task["task"]: task for task in got["tasks"]}
        expect(found["qsort"]["a"]["calls"] == 10 and found["qsort"]["b"]["calls"] == 30
               and found["rand"]["a"]["calls"] == 20000, found)
        expect(found["qsort"]["significant"]
               and 2.5 < found["qsort"]["b"]["value"] / found["qsort"]["a"]["value"] < 3.5, found["qsort"])
    else:
        print("skipped: no valgrind")
    for program in programs:
        if not shutil.which("perf") or subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997",
                                                       "--call-graph", "dwarf,4096", "-o", program + ".data",
                                                       program], capture_output=True, check=False).returncode != 0:
            print("skipped: no perf that may record")
            return
        with open(program + ".perf", "wb") as file:
            subprocess.run(["perf", "script", "-i", program + ".data"], check=True, stdout=file,
                           stderr=subprocess.DEVNULL)
    got = answer("work10.perf", "work30.perf")
    expect(any("qsort" in task["task"] and task["from"] in ("main", "order") for task in got["tasks"]), got["tasks"])
    expect(got["unit"] == "ns" and got["comparable"]["without_app_a"] < 0.2, got["comparable"])


def perf(*samples, frames=("work",)):
    """Text of perf script: (comm, tid, period, event) of each sample, or a line as it is."""
    text = ""
    for i, sample in enumerate(samples):
        if isinstance(sample, str):
            text += sample + "\n"
            continue
        comm, tid, period, event = sample
        text += f"{comm} {tid} {10 + i / 1000:.6f}: {period} {event}: \n"
        text += "".join(f"\t401000 {frame}+0x1 (/usr/bin/app)\n"
                        for frame in frames) + "\t401100 main+0x10 (/usr/bin/app)\n\n"
    return text


def weights():
    """Time, energy and bytes are no counts: without a period, nothing is sure of one run, and runs tell how they
    vary."""
    chance = random.Random(5)
    names = [f"app;main@app;f{i}@lib.so" for i in range(30)]
    def noisy(name, scale, period=0):
        lines = (f"{stack} {period * chance.randint(3, 40) if period else int(scale * chance.lognormvariate(0, 1))}\n"
                 for stack in names)
        return write(name, "".join(lines))
    for scale in (3e6, 5e7, 7e5):
        got = answer(noisy("a", scale), noisy("b", scale))
        expect(not any(task["significant"] for task in got["tasks"]), "weights", scale)
        expect(got["tasks"][0]["difference"]["low"] is None and "unknown" in run("a", "b").stdout, got["tasks"][0])
        sides = [",".join(noisy(f"{side}{i}", scale) for i in range(3)) for side in "ab"]
        got = answer(*sides)
        expect(got["tasks"][0]["difference"]["low"] is not None, "runs")
    got = answer(noisy("a", 0, 10000000), noisy("b", 0, 10000000))
    expect(sum(task["significant"] for task in got["tasks"]) <= 20
           and got["tasks"][0]["difference"]["low"] is not None, "a period")
    count = answer(write("c", "".join(f"{name} {i % 7 + 5}\n" for i, name in enumerate(names))),
                   write("d", "app;main@app;f0@lib.so 500\n"))
    time = answer(write("c", "".join(f"{name} {(i % 7 + 5) * 1003009}\n" for i, name in enumerate(names))),
                  write("d", f"app;main@app;f0@lib.so {500 * 1003009}\napp;main@app;f1@lib.so {1003009}\n"))
    expect(abs(count["tasks"][0]["p"] - time["tasks"][0]["p"]) < 1e-6, "a period is a sample", count["tasks"][0],
           time["tasks"][0])


def perf_events():
    a = write("a", perf(*[("app", "1/1", 1000000, "cpu-clock"), ("app", "1/1", 1, "page-faults")] * 20))
    b = write("b", perf(*[("app", "1/1", 1, "page-faults"), ("app", "1/1", 1000000, "cpu-clock:u")] * 20))
    got = answer(a, b, "--own")
    expect(got["unit"] == "ns" and got["comparable"]["total_b"] == 2e7, "the event of both", got["comparable"])
    got = answer(b, b, "--own")
    expect(got["unit"] == "ns", "the clock first", got["unit"])
    ran = run(a, write("c", perf(("app", "1/1", 1000, "cache-misses"))))
    expect(ran.returncode == 1 and "cpu-clock" in ran.stderr and "cache-misses" in ran.stderr
           and ran.stderr.count("\n") == 1, ran)
    for half in ("cpu_core/cycles/P", "cpu_atom/cycles/", "armv8_cortex_a53/cpu_cycles/u"):
        name = half.split("/")[1]
        got = answer(write("d", perf(("app", "1/1", 1000, half), ("app", "1/1", 500, name))), "d", "--own")
        expect(got["unit"] == "cycles" and got["comparable"]["total_a"] == 1500, half, got["comparable"])
    few = [("app", "1/1", 1, "cycles")] * 40 + [("app", "1/1", 1000000, "cycles")] * 100
    got = answer(write("d", perf(*few, frames=("f",))), write("e", perf(*few[35:], frames=("f",))), "--own")
    expect(got["comparable"]["total_a"] == 100000040 and not any(task["significant"] for task in got["tasks"]),
           "cycles", got["tasks"])
    for comm in ("w 1.5: 7", "tok;io 1.5:", "a b 12 [3]", "pool: 7: x", "(work) 99", "x 12 1.5: y", "kworker/0:1"):
        got = answer(write("d", perf((comm, "100/101", 1000000, "cpu-clock"),
                                     (comm, "7 [002]", 1000000, "cpu-clock:u"))), "d", "--own")
        expect(got["comparable"]["total_a"] == 2e6, comm, got["comparable"])
    heads = ("# ========", "# cmdline : /usr/bin/perf record -- sh -c ", "for i in range(3): work 1.5: 3 cpu-clock:",
             " \t", "", "# ========")
    for lines in (heads,
                  ("app 1/1 0.000000: PERF_RECORD_MMAP2 1/1: [0x4000(0x1000) @ 0 08:01 12 34]: r-xp /usr/bin/app",),
                  ("app 1 PERF_RECORD_COMM exec: app:1/1",), ("PERF_RECORD_FINISHED_ROUND",),
                  ("app 1 0.5: PERF_RECORD_NAMESPACES 1/1 - nr_namespaces: 7",
                   "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff,",
                   "\t\t 4/user: 4/0xeffffffd, 5/mnt: 4/0xeffffff8]"),
                  ("swapper 0 0.5: PERF_RECORD_TEXT_POKE 0xffffffffc0a01234 [unknown] old len 5 new len 5",
                   "            old bytes 0f 1f 44 00 00", "            e9 1b 2c 3d 4e"),
                  ("app 1/1 0.5: PERF_RECORD_CGROUP cgroup: 1 /user.slice",),
                  ("app 1/1 0.5: PERF_RECORD_LOST lost 12",)):
        ran = run(write("d", perf(*lines, ("app", "100/100", 1000000, "cpu-clock"))), "d", "--own", "--json")
        expect(ran.returncode == 0 and not ran.stderr and json.loads(ran.stdout)["unit"] == "ns"
               and json.loads(ran.stdout)["comparable"]["total_a"] == 1e6, lines, ran)
    text = perf(("app", "100/100", 1000000, "cpu-clock")).replace("(/usr/bin/app)\n", "(/usr/bin/app)\n  main.c:12\n")
    expect(answer(write("d", text), "d", "--own")["comparable"]["total_a"] == 1e6, "srcline")
    text = text.replace("main.c:12", "main.c:12 (discriminator 3)")
    expect(answer(write("d", text), "d", "--own")["comparable"]["total_a"] == 1e6, "srcline")
    expect(answer(write("d", text.replace("\n", "\r\n")), "d", "--own")["comparable"]["total_a"] == 1e6, "CRLF")
    text = "app;main@app;read@libc.so 100\napp;main@app;write@libc.so 50\n"
    expect(answer(write("d", text), write("e", text.replace(" ", " \t")))["comparable"]["total_b"] == 150, "tabs")
    for text in ("app;main@app;read@libc.so 100 90\n", "app;main@app;read@libc.so\t100\t90\n"):
        ran = run(write("d", text), "d")
        expect(ran.returncode == 1 and "two counts" in ran.stderr, "difffolded", ran)


def same_code():
    """One function, as perf and other tools name it and its file on another day or machine."""
    def sample(*frames):
        lines = "".join(f"\t 12 {frame}\n" for frame in (*frames, "main+0x1f (/usr/bin/app)"))
        return ("app 123 4.5: 250000 cpu-clock: \n" + lines + "\n") * 30
    jit = "JS:*f /x.js:2:3+0x1 (/tmp/.debug/jit/node-jit/jitted-{0}-{1}.so)"
    for a, b, task in ((jit.format(12, 3), jit.format(45, 6), "f"), (jit.format(12, 3),
                                                                    "JS:~f /x.js:9:3 (/tmp/perf-12.map)", "f"),
                       ("read+0x1 (/usr/lib/libc.so.6+0x10f3a)", "read+0x2 (/usr/lib/libc.so.6)", "read"),
                       ("read+0x1 ([snd_hda])", "read+0x2 (/lib/modules/6.12/snd-hda.ko.xz)", "read"),
                       ("read+0x1 ([kernel.kallsyms])", "read+0x2 (/usr/lib/debug/boot/vmlinux-6.12.1)", "read")):
        got = answer(write("d", sample(a)), write("e", sample(b)))
        expect([(row["task"], row["match"]) for row in got["tasks"]] == [(task, "both")]
               and got["comparable"]["without_app_b"] == 0, a, b, got["tasks"])
    # A page fault is no task, and a call of the kernel is one, on each machine.
    for names in ("asm_exc_page_fault exc_page_fault clear_page", "el0t_64_sync el0t_64_sync_handler el0_da clear_page",
                  "ret_from_exception do_page_fault clear_page", "ret_from_exception do_irq handle_softirqs"):
        got = answer(write("d", sample(*(name + "+0x1 ([kernel.kallsyms])" for name in reversed(names.split())))), "d")
        expect(got["tasks"] == [] and got["comparable"]["total_a"] == 7500000, names, got["tasks"])
    got = answer(write("d", sample("el0_svc+0x1 ([kernel.kallsyms])", "el0t_64_sync+0x1 ([kernel.kallsyms])")), "d")
    expect([row["task"] for row in got["tasks"]] == ["el0_svc"], got["tasks"])
    got = answer(write("d", "app;main@app;read@libc.so.6 20\n"), write("e", "app;main@app;read@librtmp.so.1 20\n"))
    expect(len(got["tasks"]) == 2, "librtmp is not librt", got["tasks"])
    for below in ("  app[4011]\n", "  ??:0\n",
                  " 0x55d1/0x55d0/P/-/-/0 0x1/0x2/M/-/-/3 \n", " ABI:2    AX:0x0    BX:0x1\n"):
        text = sample("read+0x1 (/usr/lib/libc.so.6)").replace("\n\n", "\n" + below + "\n")
        ran = run(write("d", text), "d", "--json")
        expect(ran.returncode == 0 and not ran.stderr
               and json.loads(ran.stdout)["comparable"]["total_a"] == 7500000, below, ran)
    # Words like "@safe" of D and "@escaping" of Swift name no file.
    names = ("pure @safe int app.f()", "pure @safe int app.g()", "thunk from @escaping () -> ()")
    got = answer(write("d", "".join(f"app;main;{name} 20\n" for name in names)), "d", "--own")
    expect(len(got["tasks"]) == 3, names, got["tasks"])
    got = answer(write("d", "app;main;__memcpy_avx512_unaligned_erms 40\n"),
                 write("e", "app;main;__memcpy_sse2_unaligned 40\n"), "--own")
    expect([(row["task"], row["match"]) for row in got["tasks"]] == [("memcpy", "both")], "variants", got["tasks"])
    # A script is no library: its functions are the program's, also those of one name in two scripts.
    frames = [{"name": name, "file": file} for name, file in (("main", "/a/x.py"), ("load", "/a/x.py"),
                                                              ("load", "/b/x.py"), ("", "/a/y.js"))]
    profile = {"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 90,
               "samples": [[0, 1]] * 40 + [[0, 2]] * 20 + [[0, 3]] * 30, "weights": [1] * 90}
    got = answer(write("d", json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                                        "shared": {"frames": frames}, "profiles": [profile]})), "d")
    expect({task["task"]: task["a"]["value"] for task in got["tasks"]} ==
           {"a/x.py:load": 40, "b/x.py:load": 20, "y.js:(anonymous)": 30}, "scripts", got["tasks"])
    # Lines that run differ, functions do not.
    a, b = (f"P1;app.py:<module>:{line};/a/app.py:load:{line + 1} 40\n" for line in (3, 7))
    got = answer(write("d", "# austin: 3.6.0\n# mode: cpu\n\n" + a), write("e", b), "--own")
    expect([(row["task"], row["match"]) for row in got["tasks"]] == [("load", "both")], "austin", got["tasks"])


def mappings():
    """The program is the first mapping that is no library."""
    made = formats.Profile("libc.so.6")
    made.add(["main@app", "read@libc.so.6"], [20, 20000000])
    got = answer(write("d", made.data()), "d")
    expect([(row["task"], row["from"]) for row in got["tasks"]] == [("read", "main")], "mappings", got["tasks"])


def comments():
    """Go writes up to two comments of a profile as single numbers."""
    data = formats.pprof(A, compressed=False) + formats.number(13, 1)
    expect(answer(write("d", data), "d")["unit"] == "ns", "comments")


def callgrind_of_others():
    text = "events: Bc Ir\nfn=main\n1 5 100\n"
    expect(answer(write("d", text), "d", "--own")["unit"] == "instructions", "Ir is the second event")
    got = answer(write("d", "event: ns : Nanoseconds\nevents: ns\nfl=a.py\nfn=load\n1 100\n"), "d", "--own")
    expect(got["comparable"]["total_a"] == 100, "pyprof2calltree", got["comparable"])


def firefox_time():
    """CPU time only where threads say it, whatever their unit is said to be."""
    samples = {"length": 20, "stack": [1] * 20, "time": list(range(20)), "weight": None, "weightType": "samples"}
    thread = {"name": "app", "stringArray": ["main", "f_work"], "samples": samples,
              "stackTable": {"length": 2, "prefix": [None, 0], "frame": [0, 1]},
              "frameTable": {"length": 2, "func": [0, 1]}, "funcTable": {"length": 2, "name": [0, 1],
                                                                         "resource": [-1, -1]},
              "resourceTable": {"length": 0, "name": []}}
    meta = {"version": 24, "preprocessedProfileVersion": 41, "interval": 1, "product": "app",
            "sampleUnits": {"threadCPUDelta": "ns"}}
    timed = {**thread, "samples": {**samples, "threadCPUDelta": [1000] * 20}}
    def profile(*threads):
        return write("p", json.dumps({"meta": meta, "libs": [], "threads": threads}))
    words = ("--framework-prefix", "f_")
    got = answer(profile(thread, thread), "p", *words)
    expect(got["unit"] == "samples" and got["comparable"]["total_a"] == 40, got["comparable"])
    got = answer(profile(timed, timed), "p", *words)
    expect(got["unit"] == "ns" and got["comparable"]["total_a"] == 40000, got["comparable"])
    for threads in ((thread, timed), (timed, thread)):
        expect("some do not" in run(profile(*threads), "p", *words).stderr, "mixed")


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    probe = run(write("a", gzip.compress(b"a;f_x 3\n")), "a", "--framework-prefix", "f_")
    ZLIB = "without zlib" not in probe.stderr
    if not ZLIB:
        del WRITERS["pprof"]
    for test in (same_tasks, rounding, samples, recorded, perf_text, dotnet, cycles, damaged, cut, joined, weights,
                 perf_events, same_code, mappings, comments, callgrind_of_others, firefox_time, real):
        test()
sys.exit(1 if failures else 0)
