#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast diff on small files: what it finds, and what it says of damaged input.

Usage: test-diff.py JOULECAST
"""
import json
import os
import random
import subprocess
import sys
import tempfile

JOULECAST = os.path.abspath(sys.argv[1])
failures = 0


def expect(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("failed:", *words)


def run(*words):
    return subprocess.run([JOULECAST, "diff", *words], capture_output=True, text=True, timeout=100)


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def answer(*words):
    ran = run(*words, "--json")
    expect(ran.returncode == 0 and not ran.stderr, words, ran.stderr)
    return json.loads(ran.stdout)


A = """viewer;_start@viewer;__libc_start_main@libc.so.6;main@viewer;compress2@libz.so.1.3;deflate@libz.so.1.3 6253
viewer;_start@viewer;__libc_start_main@libc.so.6;main@viewer;load@viewer;read@libc.so.6;vfs_read_[k] 1285
viewer;_start@viewer;__libc_start_main@libc.so.6;main@viewer;sort@viewer;qsort@libc.so.6;by_name@viewer 701
viewer;_start@viewer;__libc_start_main@libc.so.6;main@viewer;asm_sysvec_apic_timer_interrupt_[k];tick_[k] 40
"""
B = """show;main@show;pack@show;compress2@libz.so.1;deflate@libz.so.1 420
show;main@show;qsort@libc-2.31.so;compare@show 730
"""


def planted():
    got = answer(write("a", A), write("b", B))
    tasks = {task["task"]: task for task in got["tasks"]}
    expect(set(tasks) == {"compress2", "read", "qsort"}, tasks.keys())
    expect([task["task"] for task in got["tasks"]] == ["compress2", "read", "qsort"], "order")
    expect(tasks["compress2"]["difference"]["value"] == 5833 and tasks["compress2"]["significant"], tasks["compress2"])
    expect(tasks["compress2"]["a_path"] == ["viewer", "_start@viewer", "__libc_start_main@libc.so.6", "main@viewer",
                                            "compress2@libz.so.1.3"], tasks["compress2"]["a_path"])
    expect(tasks["compress2"]["from"] == "main" and tasks["compress2"]["match"] == "both", tasks["compress2"])
    expect(tasks["read"]["match"] == "only-a" and tasks["read"]["b_path"] == [], tasks["read"])
    expect(tasks["qsort"]["match"] == "both" and not tasks["qsort"]["significant"], tasks["qsort"])
    expect(run("a", "b", "--fail-if", "20%").returncode == 4, "dearer")
    expect(run("b", "a", "--fail-if", "20%").returncode == 0, "not dearer")
    one, other = write("c", "app;main@app;read@libc.so 300\napp;main@app;write@libc.so 3000\n"), write("d",
            "app;main@app;read@libc.so 100\napp;main@app;write@libc.so 3000\n")
    expect(run(one, other, "--fail-if", "20%").returncode == 0, "a task is dearer, and not the whole")
    expect(run(one, other, "--fail-if-task", "20%").returncode == 4, "a task is dearer")
    expect(run(one, other, "--fail-if", "0").returncode == 4, "the whole is dearer")
    expect("compress2" in run("a", "b").stdout, "table")
    got = answer("a", "a")
    expect(got["matched_nodes"] == got["nodes_a"], "the same program", got["matched_nodes"])
    expect(all(task["match"] == "both" and task["difference"]["value"] == 0 for task in got["tasks"]),
           "the same program")


def marked_by_dso():
    """Only frames of frameworks have a DSO; what was inlined has its caller's; nested tasks count once in the sum."""
    a, b = (write(name, f"app;main;run@libgtk-3.so.0;on_click;deflate@libz.so.1;longest@[inlined] {n}\n"
                        "app;main;run@libgtk-3.so.0;on_click;read@libc.so.6 300\n"
                        "app;main;run@libgtk-3.so.0;[unknown] 20\n")
            for name, n in (("a", 900), ("b", 300)))
    tasks = {task["task"]: task for task in answer(a, b)["tasks"]}
    expect(set(tasks) == {"run", "deflate", "read"}, tasks.keys())
    expect(tasks["deflate"]["from"] == "on_click" and tasks["deflate"]["a"]["value"] == 900, tasks["deflate"])
    expect("make 100 % of the difference" in run(a, b).stdout, "nested tasks")


def nothing_in_common():
    shown = run(write("a", "a;f_x;own 9\n"), write("b", "b;other 9\n"), "--framework-prefix", "f_").stdout
    expect("nan" not in shown and "in functions that both call" in shown, shown)
    expect(answer("a", "b", "--framework-prefix", "f_", "--no-own")["comparable"]["energy_common"] is None,
           "energy_common")


def names():
    """Paths are spelled as in the input, also where a name is empty or has what labels are made of."""
    for line, task, path in (("a;m;;f_x 5", "f_x", ["a", "m", "", "f_x"]), (";m;f_x 5", "f_x", ["", "m", "f_x"]),
                             ("a;m;f_x\ty 5", "f_x y", ["a", "m", "f_x\ty"]),
                             ("my app;m n;f_x(int, T<a, b>) const 12 5",
                                                                              "f_x(int, T<a, b>) const 12", None)):
        got = answer(write("a", line + "\na;m;f_x@y 7\n"), "a", "--framework-prefix", "f_")
        found = [one for one in got["tasks"] if one["a"]["value"] == 5]
        expect(len(got["tasks"]) == 2 and found[0]["task"] == task, line, got["tasks"])
        expect(found[0]["a_path"] == (path or line[:-2].split(";")), line, found[0]["a_path"])
        expect(found[0]["from"] == ("m" if path else "m n"), line, found[0]["from"])


def sums():
    """Without error, whatever is added first; and none beyond what numbers can tell apart."""
    lines = [f"a;m;f_{'xyz'[i % 3]} {count}\n"
             for i, count in enumerate([4503599627370.1, 0.3, 1e-6, 12345678901, 0.1] * 40)]
    first = run(write("a", "".join(lines)), "a", "--framework-prefix", "f_", "--json").stdout
    chance = random.Random(8)
    for _ in range(5):
        chance.shuffle(lines)
        expect(first == run(write("a", "".join(lines)), "a", "--framework-prefix", "f_", "--json").stdout,
               "order of lines")
    expect('"value":9007199254740992' in run(write("a", f"a;m;f_x {2 ** 53}\n"), "a", "--framework-prefix", "f_",
                                             "--json").stdout, "2^53")
    ran = run("a", write("b", f"a;m;f_x {2 ** 53}\na;m;f_y 1\n"), "--framework-prefix", "f_")
    expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "2^53" in ran.stderr, ran)


def overrides():
    """A method that calls the one that it overrides is one with it, in the other program as well; a nested event is
    none of that."""
    button = "app1;main@app1;QPushButton::event(QEvent*)@libQt5Widgets.so.5"
    first = write("a", f"{button} 10\n{button};QWidget::event(QEvent*)@libQt5Widgets.so.5;write@libc.so.6 300\n"
                  f"{button};clicked@app1;QMenu::event(QEvent*)@libQt5Widgets.so.5;"
                  "QWidget::event(QEvent*)@libQt5Widgets.so.5 50\n")
    second = write("b", "app2;main@app2;QWidget::event(QEvent*)@libQt6Widgets.so.6;write@libc.so.6 100\n"
                   "app2;main@app2;Mine::event(QEvent*)@app2;QObject::event(int)@libQt6Core.so.6 70\n")
    got = answer(first, second)
    tasks = {(task["task"], task["from"], task["a"]["value"], task["b"]["value"])
            for task in got["tasks"]}
    expect(tasks == {("QWidget::event(QEvent*)", "main", 360, 100), ("QWidget::event(QEvent*)", "clicked", 50, 0),
                     ("QObject::event(int)", "main", 0, 70)}, tasks)
    expect(got["tasks"][0]["a_path"] == ["app1", "main@app1", "QPushButton::event(QEvent*)@libQt5Widgets.so.5"],
           got["tasks"][0])


def evidence():
    """What makes calls of different names the same task."""
    def match(*stacks, other="", more=""):
        """Of calls with @stacks below them, {} for the call itself; @more: a stack of A only."""
        for name, call in (("a", "read"), ("b", "close")):
            below = stacks + ((more,) if more and name == "a" else ())
            write(name, "".join(f"app;main@app;{call}@libc.so.6;{stack.format(call)} 100\n" for stack in below) + other)
        got = [task["match"] for task in answer("a", "b")["tasks"] if task["task"] in ("read", "close")]
        return got[0] if len(got) == 1 else sorted(got)
    neither = ["only-a", "only-b"]
    way = "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k]"
    expect(match(way + ";sys_{}_[k]") == neither, "the way into the kernel")
    expect(match("lock@libx.so;hold@libx.so;{}_it@libx.so") == "both", "more than half")
    expect(match("lock@libx.so;{}_it@libx.so") == "possible", "half")
    expect(match("{}_it@libx.so") == neither, "nothing")
    expect(match("lock@libx.so;hold@libx.so;{}_it@libx.so",
                 other="".join(f"app;main@app;t{i}@liby.so;lock@libx.so;hold@libx.so 10\n"
                               for i in range(5))) == neither, "below all")
    rest = ";".join(f"x{i}@libx.so" for i in range(4))
    expect(match("lock@libx.so;hold@libx.so;keep@libx.so", more=rest) == "possible", "one function, and what it calls")
    expect(match("lock@libx.so;hold@libx.so", "keep@libx.so", more=rest) == "both", "two functions")
    expect(match("lock@libx.so;hold@libx.so", "keep@libx.so",
                 more=rest + ";" + rest.replace("x", "y")) == "possible", "too little of it")


def random_stacks(chance, n, values=(1, 2, 7, 12.25, 100.1)):
    lines = []
    for _ in range(n):
        frames = [chance.choice(("f_", "f_", "a")) + chance.choice("uvwxyz") for _ in range(chance.randint(1, 9))]
        lines.append(";".join(["app"] + frames) + f" {chance.choice(values)}\n")
    return lines


def orders():
    chance = random.Random(7)
    for _ in range(20):
        a, b = random_stacks(chance, 60), random_stacks(chance, 60)
        words = ("--framework-prefix", "f_", "--alpha", str(chance.randint(0, 3)), "--json")
        first = run(write("a", "".join(a)), write("b", "".join(b)), *words).stdout
        chance.shuffle(a)
        chance.shuffle(b)
        expect(first == run(write("a", "".join(a)), write("b", "\r\n".join("".join(b).split("\n"))), *words).stdout,
               "order of lines")
        for side in "ab":
            write(side, "".join(random_stacks(chance, 60, (1, 2, 7, 100))))
        there, back = (json.loads(run(*sides, *words).stdout) for sides in ("ab", "ba"))
        expect(there["matched_nodes"] == back["matched_nodes"], "nodes, swapped")
        expect(sorted((task["a_path"], task["b_path"], task["difference"]["low"],
                       task["match"].replace("only-a", "only-")
                       .replace("only-b", "only-"), task["p"]) for task in there["tasks"]) ==
               sorted((task["b_path"], task["a_path"], -task["difference"]["high"],
                       task["match"].replace("only-a", "only-")
                       .replace("only-b", "only-"), task["p"]) for task in back["tasks"]), "tasks, swapped")


def partners():
    """No two nodes have the same partner, also where partners of tasks were found later."""
    chance = random.Random(9)
    for _ in range(20):
        write("a", "".join(random_stacks(chance, 80)))
        write("b", "".join(random_stacks(chance, 80)))
        page = run("a", "b", "--framework-prefix", "f_", "-o", "-").stdout
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        there = [partner for partner in data["partner"] if partner >= 0]
        expect(len(there) == len(set(there)), "partners", there)
        for v, w in zip(data["tasks"]["a_node"], data["tasks"]["b_node"]):
            expect(v < 0 or w < 0 or data["partner"][v] == w, "a task's partner", v, w)


def runs():
    for i in range(3):
        write(f"a{i}", f"a;main;f_x 1{i}00\na;main;f_y 300\n")
        write(f"b{i}", f"b;main;f_x 10{i}0\nb;main;f_y 200\n")
    got = answer("a0,a1,a2", "b0,b1,b2", "--framework-prefix", "f_")
    tasks = {task["task"]: task for task in got["tasks"]}
    expect(got["comparable"]["runs_a"] == 3 and not got["comparable"]["single_run"], got["comparable"])
    expect(tasks["f_x"]["a"]["value"] == 1100, tasks["f_x"])
    expect(tasks["f_x"]["a"]["high"] - tasks["f_x"]["a"]["low"] > 2 * 1.96 * (1100 / 3) ** 0.5 * 2,
           "runs that differ widen it")
    for i, (a, b) in enumerate(((30000, 32000), (33000, 30500), (31000, 33500))):
        write(f"a{i}", f"a;main;f_large {a}\na;main;f_small 4\n")
        write(f"b{i}", f"b;main;f_large {b}\nb;main;f_small {18 + i}\n")
    tasks = {task["task"]: task for task in answer("a0,a1,a2", "b0,b1,b2", "--framework-prefix", "f_")["tasks"]}
    task = tasks["f_small"]
    expect(task["significant"] and task["difference"]["high"] < 0, "a large task's spread is no small one's", task)


def weights():
    """Values of folded stacks that are no counts of samples: they make nothing sure, or count by their divisor."""
    chance = random.Random(4)
    counts = [chance.randint(1, 60) for _ in range(30)]
    again = [max(1, count + chance.choice((-1, 0, 1)) * round(count ** 0.5)) for count in counts]
    for factor in (2, 3, 10, 10.101, 99, 1000003):
        for side, values in (("a", counts), ("b", again)):
            write(side, "".join(f"app;main;f_{i} {factor * value:.0f}\n" for i, value in enumerate(values)))
        got = answer("a", "b", "--framework-prefix", "f_")
        expect(not any(task["significant"] for task in got["tasks"]), factor, "a program with itself")
        write("b", "".join(f"app;main;f_{i} {factor * value:.0f}\n" for i, value in enumerate([900, *again[1:]])))
        got = answer("a", "b", "--framework-prefix", "f_")
        expect(got["tasks"][0]["significant"], factor, "what differs for sure")
    for name, values in (("many samples each", [700 + 13 * count for count in counts]),
                         ("fractions", [count / 7 for count in counts])):
        write("a", "".join(f"app;main;f_{i} {value}\n" for i, value in enumerate(values)))
        write("b", "".join(f"app;main;f_{i} {2 * value}\n" for i, value in enumerate(values)))
        got = answer("a", "b", "--framework-prefix", "f_")
        expect(got["tasks"][0]["difference"]["high"] is None and not got["difference"]["significant"], name, got)


def recorded():
    for side, calls, value in (("A", 100, 5e6), ("B", 10, 5e5)):
        os.makedirs(f"{side}/runs")
        write(f"{side}/run.json", json.dumps({"command": ["/usr/bin/player", "x"], "unit": "nJ",
                                              "runs": [{"file": "runs/1.folded", "samples": 500}]}))
        write(f"{side}/runs/1.folded",
              f"app;main@player;read@libc.so.6 {value:.0f}\napp;main@player;write@libc.so.6 1000000\n")
        write(f"{side}/calls.tsv", f"read@libc.so.6\t{calls}\n")
    got = answer("A", "B")
    read = got["tasks"][0]
    expect(got["unit"] == "nJ" and read["task"] == "read" and read["a"]["calls"] == 100 and read["significant"], read)
    expect(abs(read["by_calls"] - 4.5e6) < 1 and abs(read["by_price"]) < 1, read)
    for side, factor in (("A", 1), ("B", 3)):
        write(f"{side}/runs/1.components.tsv",
              "stack\tsamples\tcpu_ns\tcpu_nj\tdisk_nj\twifi_nj\tvariance_nj2\tdisk_write_bytes\t"
              f"disk_read_bytes\tnet_sent_bytes\tnet_received_bytes\n"
              f"app;main@player;read@libc.so.6\t400\t{4e8 * factor:.0f}\t1\t0\t0"
              "\t1\t0\t0\t0\t0\n"
              f"app;main@player;write@libc.so.6\t100\t1000\t1\t0\t0\t1\t8000000\t50000\t0\t{4096 * factor}\n")
    got = answer("A", "B", "--weight", "time")
    tasks = {task["task"]: task for task in got["tasks"]}
    expect(got["unit"] == "ns" and tasks["read"]["difference"]["value"] == -8e8 and tasks["read"]["significant"], got)
    got = answer("A", "B", "--weight", "bytes")
    expect(got["unit"] == "bytes" and [task["task"] for task in got["tasks"]] == ["write"], got["tasks"])
    expect(got["tasks"][0]["a"]["value"] == 8000000 + 50000 + 4096, got["tasks"][0])
    got = answer("A", "B", "--weight", "calls")
    expect(got["unit"] == "calls" and got["tasks"][0]["task"] == "read"
           and got["tasks"][0]["difference"]["value"] == 90, got["tasks"])
    expect("have no frame" not in run("A", "B", "--weight", "calls").stdout, "calls have no stacks")
    for name, text in (("cut", "stack\tcpu_ns\na;b\n"), ("text", "stack\tcpu_ns\na;b\tx\n"),
                       ("none", "stack\tcpu_ns\na;b\t0\n"),
                       ("empty", ""), ("wide", "\t" * 99 + "\n")):
        write("B/runs/1.components.tsv", text)
        ran = run("A", "B", "--weight", "time")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "components.tsv" in ran.stderr, name, ran)
    ran = run("A", write("plain", "a;f_x 3\n"), "--weight", "bytes", "--framework-prefix", "f_")
    expect(ran.returncode == 1 and "plain is not" in ran.stderr, ran)
    write("B/runs/1.folded", "app;main@player;write@libc.so.6 1000000\n")
    read = answer("A", "B")["tasks"][0]
    expect(read["match"] == "only-a" and read["b"]["calls"] == 10 and read["by_calls"] is None, read)
    os.remove("B/runs/1.components.tsv")
    os.rename("B/runs/1.folded", "B/runs/kept")
    os.mkfifo("B/runs/1.folded")
    ran = run("A", "B")
    expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "regular" in ran.stderr, "a FIFO of stacks", ran)
    os.rename("B/runs/kept", "B/runs/1.folded")
    os.mkfifo("B/runs/1.components.tsv")
    for weight in ("energy", "time"):
        ran = run("A", "B", "--weight", weight)
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "regular" in ran.stderr, weight, ran)
    os.remove("B/runs/1.components.tsv")
    os.symlink("/dev/zero", "B/runs/1.components.tsv")
    expect("regular" in run("A", "B").stderr, "a file without end")
    os.remove("B/runs/1.components.tsv")
    os.remove("B/run.json")
    expect(run("A", "B").returncode == 1, "no run.json")


def did(name, exits=(0,), read=1e6, written=2e6, received=None, wall=10, cpu=1, **more):
    """A folder of joulecast record in which the program did that."""
    os.makedirs(f"{name}/runs")
    runs = [{"exit_status": status, "samples": 500, "wall_s": wall, "cpu_s": cpu,
             "bytes": {"read": read, "written": written, "net_received": received}}
            for status in exits]
    write(f"{name}/run.json", json.dumps({"command": ["player"], "unit": "ns of CPU time", "runs": runs, **more}))
    for number in range(len(exits)):
        write(f"{name}/runs/{number + 1}.folded", "app;main@player;read@libc.so.6 300000000\n")
    return name


def same_work():
    """What ended otherwise is refused, unless it is meant; more frames and bytes are a finding."""
    did("same")
    for name, told, done in (
            ("slower", None, {"wall": 100, "cpu": 90}), ("exits", "exit status 0, and exits with 3", {"exits": (3,)}),
            ("mixed", "runs of mixed did not all end", {"exits": (0, 1)}),
            ("twice", "=read 1.00 MB and wrote 2.00", {"read": 2e6, "written": 4e6}),
            ("unread", "=read 1.00 MB, and unread 0.00", {"read": 0, "written": None}),
            ("small", None, {"read": 1.05e6, "written": 1.9e6}), ("recv", None, {"read": 900, "received": 1e6}),
            ("chatty", "!wrote 2.00 MB, and chatty 20.00", {"written": 2e7}),
            ("scan", "!read 1.00 MB, and scan 9.00", {"read": 9e6}),
            ("unknown", None, {"read": None, "written": None}),
            ("text", None, {"read": "x", "written": -1})):
        did(name, **done)
        ran = run("same", name, "--json")
        if told is None:
            expect(ran.returncode == 0 and not ran.stderr
                   and json.loads(ran.stdout)["comparable"]["same_work"] is True, name, ran)
        elif told[0] == "!":
            expect(ran.returncode == 0 and told[1:] in ran.stderr
                   and json.loads(ran.stdout)["comparable"]["same_work"] is True, name, ran)
        elif told[0] == "=":
            told = told[1:]
            got = json.loads(ran.stdout)["comparable"]
            expect(ran.returncode == 0 and not ran.stderr and told in got["work_differs"]
                   and got["same_work"] is False, name, ran)
            said = " ".join(run("same", name).stdout.split())
            expect("look at this first: same " + told in said
                   and said.index("look at this") < said.index("Task From"), name, said)
            expect(told in run("same", name, "slower").stderr, "three programs", name)
        else:
            expect(ran.returncode == 1 and told in ran.stderr and ran.stderr.count("\n") == 1 and not ran.stdout,
                   name, ran)
            ran = run("same", name, "--json", "--even-so")
            expect(ran.returncode == 0 and told in ran.stderr
                   and json.loads(ran.stdout)["comparable"]["same_work"] is False, name, ran)
    expect(run("same", "small", "exits").returncode == 1
           and run("same", "small", "exits", "--even-so").returncode == 0, "three programs")
    expect(run("same,slower", "small").returncode == 0 and run("same,exits", "small").returncode == 1,
           "folders as runs")
    ran = run(did("sum", written=900), did("large", read=9e6, written=900))
    said = " ".join(ran.stdout.split())
    expect(ran.returncode == 0 and "this first: sum read 1.00 MB, and large 9.00" in said, "a line of output", ran)
    did("scripted", input="keys", frames_shown=100)
    expect(run("scripted", did("busy", input="keys", frames_shown=95, wall=100, cpu=90)).returncode == 0,
           "computes more")
    ran = run("scripted", did("waits", input="keys", wall=100))
    expect(ran.returncode == 1 and "took 10 s, and waits 100 s" in ran.stderr, "waits", ran)
    expect(run("scripted", did("other", input="others", wall=100)).returncode == 0, "another script")
    ran = run("scripted", did("drops", input="keys", frames_shown=50))
    said = " ".join(ran.stdout.split())
    expect(ran.returncode == 0 and "this first: scripted showed 100 frames, and drops 50." in said, "frames", ran)
    ran = run("scripted", did("drowsy", input="keys", frames_shown=50, wall=100))
    expect(ran.returncode == 1 and "took 10 s, and drowsy 100 s" in ran.stderr, "frames, and it waits", ran)
    expect(answer(write("folded", "app;main@player;read@libc.so.6 3\n"),
                  "folded")["comparable"]["same_work"] is None, "folded")


def own():
    """Functions of the app as tasks, by what they cost themselves; those below a framework are a part of its task."""
    text = ("zip;main@zip;squeeze@zip;longest@zip {}\nzip;main@zip;squeeze@zip 200\n"
            "zip;main@zip;squeeze@zip;read@libc.so.6 100\n"
            "zip;main@zip;qsort@libc.so.6;by_name@zip 50\nzip;main@zip;squeeze@zip;squeeze@zip 30\n"
            "zip;[unknown]@zip 70\n")
    a, b = write("a", text.format(3000)), write("b", text.format(1000))
    got = answer(a, b, "--no-own")
    expect({task["task"] for task in got["tasks"]} == {"read", "qsort"}, got["tasks"])
    expect(abs(got["comparable"]["own_a"] - 3300 / 3450) < 1e-9
           and abs(got["comparable"]["own_b"] - 1300 / 1450) < 1e-9, got["comparable"])
    expect(got["difference"]["value"] == 2000 and got["difference"]["in_own"] == 2000
           and got["difference"]["significant"], got["difference"])
    expect("--own" in run(a, b, "--no-own").stdout, "a hint")
    expect(answer(a, b)["tasks"] == answer(a, b, "--own")["tasks"], "most of it is in own functions")
    shown = " ".join(run(a, b).stdout.split())
    expect(shown.startswith("A (a) needs 2000 samples more than B (b) for sure: 3450 samples and 1450 samples. 0 "
                            "samples of that are in tasks, "
                            "2000 samples in its own functions."), shown)
    expect("-dbgsym" in shown and "Install the debug symbols of zip" in shown, "a function without a name", shown)
    expect(" ".join(run(b, a).stdout.split()).startswith("B (a) needs 2000 samples more than A (b)"),
           "the other way round")
    python = "app;Py_BytesMain@python3.11;pyrun_file@python3.11;PyEval_EvalCode@python3.11;"
    python += "py::<module>:/x/{0}.py@[jit];_PyEval_EvalFrameDefault@python3.11;"
    python += "_PyFunction_Vectorcall@libpython3.11.so.1.0;evaluate_named@sitecustomize.so;py::unique:/x/{0}.py@[jit];"
    python += "_PyEval_EvalFrameDefault@python3.11"
    text = "".join(python + more for more in (" {1}\n", ";[unknown]@python3.11 {2}\n",
                                              ";PyUnicode_RichCompare@python3.11 {3}\n",
                                              ";[unknown]@python3.11;read@libc.so.6 70\n"))
    got = answer(write("p", text.format("v1", 500, 100, 300)), write("q", text.format("v2", 50, 10, 30)))
    expect({task["task"]: (task["from"], task["a"]["value"], task["b"]["value"]) for task in got["tasks"]
            if task["a"]["value"]} ==
           {"unique": ("v1.py:<module>", 600, 60),
            "PyUnicode_RichCompare": ("v1.py:<module>", 300, 30), "read": ("v1.py:<module>", 70, 70)},
           "functions of Python", got["tasks"])
    java = "java;[unknown]@java;JLI_Launch@libjli.so;JavaMain@libjli.so;jni_invoke_static@libjvm.so;" \
           "JavaCalls::call_helper@libjvm.so;void J.main(java.lang.String[])@[jit];long J.work(int)@[jit] {}\n"
    got = answer(write("p", java.format(500)), write("q", java.format(100)))
    expect([task["task"] for task in got["tasks"] if task["a"]["value"]] == ["work"], "Java's launcher", got["tasks"])
    thread = "app;main@app;pthread_create@libc.so.6;start_thread@libc.so.6;runner@libother.so.5;work@app {}\n"
    shown = run(write("p", thread.format(500)), write("q", thread.format(100))).stdout
    expect("400 samples in its own functions" in " ".join(shown.split()), "another library's runner", shown)
    for name in ("node", "python3.12", "java", "dotnet"):
        write("c", f"{name};main@{name};[unknown]@{name} 500\n")
        expect("Start the program as " in " ".join(run("c", "c").stdout.split()), name)
        write("c", f"{name};main@{name};f@[jit];[unknown]@{name} 500\n")
        expect(f"Install the debug symbols of {name} " in " ".join(run("c", "c").stdout.split()), name)
    for more in ((), ("--callers", "keep")):
        got = answer(a, b, "--own", *more)
        tasks = {task["task"]: task for task in got["tasks"]}
        expect(set(tasks) == {"read", "qsort", "longest", "squeeze", "by_name", "[unknown]@zip"}, more, tasks.keys())
        expect([task["task"] for task in got["tasks"] if task["significant"]] == ["longest"], more, got["tasks"])
        expect(tasks["squeeze"]["a"]["value"] == 230 and tasks["longest"]["difference"]["value"] == 2000, more,
               tasks["squeeze"])
        expect(tasks["longest"]["a_path"] == ["zip", "main@zip", "squeeze@zip", "longest@zip"], more,
               tasks["longest"]["a_path"])
        expect(tasks["qsort"]["a"]["value"] == 50 and got["comparable"]["total_a"] == 3450, more, tasks["qsort"])
        expect(got["comparable"]["own_a"] == 0, more, got["comparable"])
    expect("makes 100 % of the difference" in run(a, b, "--own").stdout
           and "--own" not in run(a, b, "--own").stdout, "no hint")
    got = answer(write("a", "a;main;work 900\n"), write("b", "b;main;work 300\n"), "--framework-prefix", "f_", "--own")
    expect([(task["task"], task["match"]) for task in got["tasks"]] == [("work", "both")], "programs of two names",
           got["tasks"])


LANGUAGES = (  # two functions of a program as two builds or runs name them; of each language five
    # Go
    ("main.upload.func1", "main.upload.func1", "main.download.func1", "main.download.func1"),
    ("main.(*Conn).push.func2.1", "main.(*Conn).push.func2.1", "main.(*Disk).push.func2.1",
     "main.(*Disk).push.func2.1"),
    ("main.Map[go.shape.int]", "main.Map[go.shape.int]", "main.Map[go.shape.string]", "main.Map[go.shape.string]"),
    ("main.(*Pool[...]).Get", "main.(*Pool[...]).Get", "main.(*Ring[...]).Get", "main.(*Ring[...]).Get"),
    ("example.org/x/a.Run.gowrap1", "example.org/x/a.Run.gowrap1", "example.org/x/b.Run.gowrap1",
     "example.org/x/b.Run.gowrap1"),
    # Rust
    ("mycrate::a::h0123456789abcdef", "mycrate::a::haaaaaaaaaaaaaaaa", "mycrate::b::h1123456789abcdef",
     "mycrate::b::hbbbbbbbbbbbbbbbb"),
    ("_ZN7mycrate1a17h0123456789abcdefE", "_ZN7mycrate1a17haaaaaaaaaaaaaaaaE", "_ZN7mycrate1b17h1123456789abcdefE",
     "_ZN7mycrate1b17hbbbbbbbbbbbbbbbbE"),
    ("_RNvNtCs1234_7mycrate1a3run", "_RNvNtCs9xYz_7mycrate1a3run", "_RNvNtCs1234_7mycrate1b3run",
     "_RNvNtCs9xYz_7mycrate1b3run"),
    ("app::load::{{closure}}::h0123456789abcdef", "app::load::{{closure}}::h2222222222222222",
     "app::save::{{closure}}::h0123456789abcde0", "app::save::{{closure}}::h3333333333333333"),
    ("<app::Foo as app::Run>::run", "<app::Foo as app::Run>::run", "<app::Bar as app::Run>::run",
     "<app::Bar as app::Run>::run"),
    # C++
    ("Task<void (int)>::load(int)", "Task<void (int)>::load(int)", "Task<void (int)>::save(int)",
     "Task<void (int)>::save(int)"),
    ("load()::{lambda(int)#1}::operator()(int) const", "load()::{lambda(int)#1}::operator()(int) const",
     "load()::{lambda(int)#2}::operator()(int) const", "load()::{lambda(int)#2}::operator()(int) const"),
    ("hash(int)", "hash(int) [clone .isra.0]", "hash(char const*)", "hash(char const*) [clone .constprop.1]"),
    ("A::operator<(A const&) const", "A::operator<(A const&) const", "B::operator<(B const&) const",
     "B::operator<(B const&) const"),
    ("work.llvm.123456", "work.llvm.99", "main_loop+0x1f4", "main_loop+0x2e0"),
    # Java
    ("com.x.Upload.run_[j]", "com.x.Upload.run_[0]", "com.x.Download.run_[1]", "com.x.Download.run_[j]"),
    ("com.x.Main.lambda$go$0", "com.x.Main.lambda$go$2", "com.x.Main.lambda$go$1", "com.x.Main.lambda$go$3"),
    ("com.x.A$$Lambda$14/0x0000000800c03000.run", "com.x.A$$Lambda$20/0x0000000800d17400.run",
     "com.x.B$$Lambda$15/0x0000000800c03400.run", "com.x.B$$Lambda$21/0x0000000800d17800.run"),
    ("jdk.proxy2.$Proxy12.foo", "jdk.proxy3.$Proxy9.foo", "jdk.proxy2.$Proxy12.bar", "jdk.proxy3.$Proxy9.bar"),
    ("com.x.Foo.<init>", "com.x.Foo.<init>", "com.x.Bar.<init>", "com.x.Bar.<init>"),
    # Node
    ("LazyCompile:*load /a/x.js:10:5", "LazyCompile:~load /a/x.js:12:5", "LazyCompile:*save /a/y.js:10:5",
     "LazyCompile:^save /a/y.js:13:5"),
    ("JS:*get /a/x.js:10:5", "JS:*get /a/x.js:30:5", "JS:*get /a/x.js:20:5", "JS:~get /a/x.js:40:5"),
    ("JS:*run /a/x.js:1:5", "JS:*run /a/x.js:2:5", "JS:*run /a/y.js:1:5", "JS:*run /a/y.js:2:5"),
    ("JS:~ /a/x.js:1:5", "JS:* /a/x.js:2:5", "JS:~ /a/y.js:1:5", "JS:* /a/y.js:2:5"),
    ("JS:*load file:///a/v1/x.mjs:1:5", "JS:*load file:///a/v2/x.mjs:1:5", "JS:*save file:///a/v1/x.mjs:9:5",
     "JS:*save file:///a/v2/x.mjs:9:5"),
    # Python
    ("A.P+<Go>d__1.MoveNext()", "A.P+<Go>d__2.MoveNext()", "A.P+<Stop>d__2.MoveNext()", "A.P+<Stop>d__3.MoveNext()"),
    ("A.P+<>c.<Go>b__0_0(int)", "A.P+<>c.<Go>b__1_0(int)", "A.P+<>c.<Go>b__0_1(int)", "A.P+<>c.<Go>b__1_1(int)"),
    ("camlA__load_12", "camlA__load_15", "camlA__save_13", "camlA__save_17"),
    ("load._omp_fn.0", "load._omp_fn.0", "save._omp_fn.0", "save._omp_fn.0"),
    ("py::load:/a/x.py", "py::load:/b/x.py", "py::save:/a/x.py", "py::save:/b/x.py"),
    ("py::A.run:/a/x.py", "py::A.run:/a/x.py", "py::B.run:/a/x.py", "py::B.run:/a/x.py"),
    ("py::<module>:/a/x.py", "py::<module>:/a/x.py", "py::<module>:/a/y.py", "py::<module>:/a/y.py"),
    ("load (x.py:12)", "load (x.py:19)", "save (x.py:30)", "save (x.py:41)"),
    ("py::f.<locals>.<lambda>:/a/x.py", "py::f.<locals>.<lambda>:/a/x.py", "py::g.<locals>.<lambda>:/a/x.py",
     "py::g.<locals>.<lambda>:/a/x.py"),
    # .NET
    ("int32 [App] Program::Load(int32)[Tier0]", "int32 [App] Program::Load(int32)[Tier1]",
     "int32 [App] Program::Save(int32)[Tier0]", "int32 [App] Program::Save(int32)[OptimizedTier1]"),
    ("void [app] P+<LoadAsync>d__3::MoveNext()[Tier0]", "void [app] P+<LoadAsync>d__3::MoveNext()[Tier1]",
     "void [app] P+<SaveAsync>d__4::MoveNext()[Tier0]", "void [app] P+<SaveAsync>d__4::MoveNext()[Tier1]"),
    ("instance void [app] A::Run()[PreJIT]", "instance void [app] A::Run()[Tier1]",
     "instance void [app] B::Run()[PreJIT]", "instance void [app] B::Run()[Tier1]"),
    ("App!Program.Load(int32)", "App!Program.Load(int32)", "App!Program.Load(string)", "App!Program.Load(string)"),
    ("void [app] P+<>c::<Main>b__0()[Tier0]", "void [app] P+<>c::<Main>b__0()[Tier1]",
     "void [app] P+<>c::<Main>b__1()[Tier0]", "void [app] P+<>c::<Main>b__1()[Tier1]"),
)


def languages():
    """Functions of two builds meet, and two functions of one stay apart, as callbacks, as tasks of their own, and
    without the other."""
    for first, first_b, second, second_b in LANGUAGES:
        for form, words in (("app;lib.so;lib_call@lib.so;{}@app;write@libc.so {}\n", ()),
                            ("app;main@app;{}@app {}\n", ("--own",))):
            a = write("a", form.format(first, 1000) + form.format(second, 100))
            for swapped in (False, True):
                b = write("b", form.format(first_b, 100 if swapped
                                           else 1000) + form.format(second_b, 1000 if swapped else 100))
                got = answer(a, b, *words)
                kept = [task for task in got["tasks"] if task["a"]["value"] in (100, 1000)
                        and task["task"] not in ("lib.so", "lib_call")]
                expect(len(kept) == 2 and all(task["match"] == "both" for task in kept), first, words, swapped, kept)
                expect(sum(task["significant"] for task in kept) == (2 if swapped else 0), first, words, swapped, kept)
                names = {task["from"] + task["task"] for task in kept}
                expect(len(names) == 2, "shown alike", names)
                expect(all(task["a"]["value"] + task["b"]["value"] > 0 for task in got["tasks"]), "without cost", got)
            got = answer(write("a", form.format(first, 1000)), write("b", form.format(first_b, 1000)), *words)
            expect(not any(task["significant"] for task in got["tasks"]), first, words, "alone")


def carriers():
    """Threads and event loops have no cost of what they carry; equal tasks in others of them are one row, without
    an edit for frames between."""
    worker = "worker@app;read@libc.so.6"
    ways = ("pthread_create@libc.so.6;start_thread@libc.so.6;",
            "pthread_create@libpthread-2.31.so;start_thread@libpthread.so.0;", "",
            "std::thread::_M_start_thread(x)@libstdc++.so.6;pthread_create@libc.so.6;clone3@libc.so.6;"
            "execute_native_thread_routine@libstdc++.so.6;",
            "gtk_main@libgtk-3.so.0;g_main_loop_run@libglib-2.0.so.0;g_main_context_dispatch@libglib-2.0.so.0;"
            "x@libglib-2.0.so.0;",
            "g_application_run@libgio-2.0.so.0;g_main_context_iteration@libglib-2.0.so.0;y@libglib-2.0.so.0;",
            "QApplication::exec()@libQt5Widgets.so.5;QEventLoop::exec(int)@libQt5Core.so.5;z@libQt5Core.so.5;",
            "sd_event_loop@libsystemd.so.0;sd_event_dispatch@libsystemd.so.0;source_dispatch@libsystemd.so.0;",
            "uv_run@libuv.so.1;uv__io_poll@libuv.so.1;uv__stream_io@libuv.so.1;")
    for first in ways:
        for second in (ways[0], "", first):
            a, b = (write(name,
                          f"app;main@app;{way}{worker} "
                          f"{count}\napp;main@app;{way.split(';')[0] or 'poll@libc.so.6'} 30\n"
                          f"app;main@app;{way}worker@app 70\n")
                    for name, way, count in (("a", first, 500), ("b", second, 900)))
            got = answer(a, b, "--no-own")
            read = [task for task in got["tasks"] if task["task"] == "read"]
            expect([(task["match"], task["a"]["value"], task["b"]["value"]) for task in read] == [("both", 500, 900)],
                   first, second, read)
            expect(got["tasks"][0]["task"] == "read" and sum(task["a"]["value"] for task in got["tasks"]) == 530,
                   first, second, got["tasks"])
            expect(abs(got["comparable"]["own_a"] - 70 / 600) < 1e-9, first, got["comparable"])
    expect("try --alpha" in run(write("a", "app;main@app;read@libc.so 90\n"),
                                write("b", "app;main@app;a@x.so;b@x.so;c@x.so;d@x.so;e@x.so;f@app;read@libc.so 90\n"))
           .stdout, "alpha")


def elsewhere():
    """Equal tasks that other main loops, threads or runners do, below too many other frames to be near, are one row."""
    loop = "gtk_main@libgtk-3.so.0;g_main_context_dispatch@libglib-2.0.so.0;"
    deep = "pthread_create@libc.so.6;runner@app;f1@x.so;f2@app;f3@x.so;f4@app;f5@x.so;f6@app;"
    here = "app;main@app;{0}{1}@app;compress2@libz.so.1 {2}\n"
    a = write("a", here.format("", "load", 500) + here.format("", "save", 300) + "app;main@app;read@libc.so.6 90\n")
    for way in (deep, loop + deep):
        b = write("b", here.format(way, "work", 900) + "app;main@app;read@libc.so.6 95\n")
        for words, values in ((("a", "b"), (800, 900)), (("b", "a"), (900, 800))):
            got = answer(*words, "--app-dso", "none")
            found = [task for task in got["tasks"] if task["task"] == "compress2"]
            expect([(task["from"], task["match"], task["a"]["value"], task["b"]["value"]) for task in found] ==
                   [("elsewhere", "both", *values)], words, found)
            expect(found[0]["a_path"] and found[0]["b_path"], found)
    # Of several programs, too: all places of a task are one row, and their sum counts.
    far = "pthread_create@libc.so.6;other@app;g1@y.so;g2@app;g3@y.so;g4@app;g5@y.so;g6@app;"
    write("a", here.format("", "load", 500) + here.format(far, "save", 300) + "app;main@app;read@libc.so.6 90\n")
    write("b", here.format(deep, "work", 800) + "app;main@app;read@libc.so.6 95\n")
    for words in (("a", "b"), ("b", "a"), ("a", "b", "a"), ("b", "a", "b")):
        found = [task for task in answer("--bisect", *words, "--app-dso", "none")["tasks"]
                 if task["task"] == "compress2"]
        expect([([value["value"] for value in task["values"]], task["significant"]) for task in found] ==
               [([800] * len(words), False)], words, found)
    # A part of it in a thread is the same task.
    write("b", here.format("", "load", 300) + here.format(far, "save", 200) + "app;main@app;read@libc.so.6 95\n")
    write("a", here.format("", "load", 500) + "app;main@app;read@libc.so.6 90\n")
    for words in (("a", "b"), ("b", "a")):
        found = [task for task in answer(*words, "--app-dso", "none")["tasks"] if task["task"] == "compress2"]
        expect([(task["a"]["value"], task["b"]["value"]) for task in found] == [(500, 500)], words, found)
    found = [task for task in answer("a", "b", "a", "--app-dso", "none")["tasks"] if task["task"] == "compress2"]
    expect([[value["value"] for value in task["values"]] for task in found] == [[500] * 3], found)
    # Without a thread or a loop they may be two.
    apart = deep.replace("pthread_create@libc.so.6;", "call@libc.so.6;")
    write("a", here.format("", "load", 500) + here.format("", "save", 300) + "app;main@app;read@libc.so.6 90\n")
    write("b", here.format(apart, "work", 900) + "app;main@app;read@libc.so.6 95\n")
    expect("elsewhere" not in [task["from"] for task in answer("a", "b")["tasks"]], "not carried")


def alpha_by_data():
    """The smallest alpha at which few equal names are left apart; a given one stays."""
    there = "app;{}@app;{}t{}@libt.so {}\n"
    for first, calls, edits, alpha in (("main", 0, 0, 3), ("main", 1, 2, 3), ("main", 2, 4, 4), ("begin", 2, 5, 5),
                                       ("main", 3, 6, 3)):
        way = "".join(f"a{i}@y.so;f{i}@app;" for i in range(calls))
        write("a", "".join(there.format("main", "", i, 400) for i in range(6)))
        write("b", "".join(there.format(first, way, i, 400) for i in range(6)))
        got, said = answer("a", "b"), run("a", "b").stdout
        expect((got["alpha"], got["alpha_by_data"]) == (alpha, True), edits, got["alpha"])
        expect(f"Alpha is {alpha}, by the data" in said and ("try --alpha" in said) == (edits > 5), edits, said)
    got = answer("a", "b", "--alpha", "2")
    expect((got["alpha"], got["alpha_by_data"]) == (2, False), got["alpha"])


def table():
    """With how many others each program shares its tasks, and which part of those of each two is common."""
    for name, tasks in (("p", "abcd"), ("q", "abe"), ("r", "af")):
        write(name, "".join(f"app;main@app;task_{task}@lib_{task}.so {100 * (ord(task) - 96)}\n" for task in tasks))
    got = answer("--table", "p", "q", "r")
    expect(got["matched_with"] == [[2, 1, 1], [1, 1, 1], [1, 0, 1]], got["matched_with"])
    expect(got["common"] == [[4, 2, 1], [2, 3, 1], [1, 1, 2]], got["common"])
    expect([round(share, 6) for share in got["matched_share"]] == [0.3, 0.375, round(1 / 7, 6)], got["matched_share"])
    said = [line.split() for line in run("--table", "p", "q", "r").stdout.split("\n")]
    for line in ("A p 4 1 1 2 30 %", "B q 3 1 1 1 38 %", "C r 2 1 0 1 14 %", "A 4 40 % 20 %", "B 2 3 25 %", "C 1 1 2"):
        expect(line.split() in said, line, said)
    for words in (("--table", "--bisect"), ("--table", "--fail-if", "3%"), ("--table", "--html", "x"),
                  ("--table", "--probe", "x")):
        expect(run(*words, "p", "q", "r").returncode == 2, words)
    expect(answer("--table", "p", "q")["common"] == [[4, 2], [2, 3]], "two")


def worth():
    """What a difference is worth on a device on which the app was used for two hours."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    device = "virtual:" + os.path.join(tests, "..", "data", "virtual", "nexus-7.ini")
    with open(device.split(":", 1)[1], encoding="utf-8") as file:
        write("p.ini", file.read().split("\n[virtual]")[0].replace("method = virtual", "method = import"))
    subprocess.run([JOULECAST, "simulate", "--device", device, "--database", "u.db", "--json", "--scenario",
                    os.path.join(tests, "data", "afternoon.ini")], check=True, capture_output=True)
    where = ("--database", "u.db", "--profile", "p.ini")
    cost = json.loads(subprocess.run([JOULECAST, "cost", *where, "--json"], check=True, capture_output=True).stdout)
    cpu_j = sum(app["components_j"]["cpu"] for app in cost["apps"] if app["app"] == "angry-birds")
    write("a", "Angry-Birds;main@Angry-Birds;read@libc.so.6 3000\nAngry-Birds;main@Angry-Birds;qsort@libc.so.6 1000\n")
    write("b", "bird;main@bird;read@libc.so.6 1000\nbird;main@bird;qsort@libc.so.6 1000\n")
    for words in (("a", "b"), ("b", "a"), ("a", "b", "--app", "angry-birds")):
        got = answer(*words, *where)
        found = got["worth"]
        expect(found["app"] == "angry-birds" and abs(found["joules_per_day"] - 12 * cpu_j) < 1e-6 * cpu_j, found)
        minutes = 12 * cpu_j * 2000 / 4000 / (found["device_mw"] / 1e3) / 60
        expect(abs(found["minutes_per_day"] / minutes - 1) < 1e-9, found, minutes)
        expect(found["minutes_low"] < minutes < found["minutes_high"], found)
        read = [task for task in got["tasks"] if task["task"] == "read"][0]
        expect(abs(read["worth_minutes"]["value"] / minutes - 1) < 1e-9, read)
    said = " ".join(run("a", "b", *where).stdout.split())
    expect(f"is worth {minutes:.3g} min" in said and f"read: {minutes:.3g} min" in said, said)
    # Nothing is recorded of it, or on this device.
    write("c", "other;main@other;read@libc.so.6 30\n")
    expect(answer("c", "c", *where)["worth"] is None and answer("a", "b")["worth"] is None, "unknown app")
    for words, word in ((("--app", "nosuch", *where), "of nosuch"), (("--database", "none.db"), "no database none.db")):
        ran = run("a", "b", *words)
        expect(ran.returncode == 1 and word in ran.stderr and not ran.stdout, ran)


def several():
    for version, (x, y, z) in enumerate(((1000, 500, 300), (1010, 480, 340), (2100, 500, 375), (2080, 0, 410),
                                         (2110, 510, 450))):
        write(f"v{version}", f"app;main;f_x {x}\napp;other;f_z {z}\napp;main;own 1000\n" +
              (f"app;main;work;f_y;deep {y}\n" if y else ""))
    versions = [f"v{version}" for version in range(5)]
    got = answer("--bisect", *versions, "--framework-prefix", "f_")
    expect(got["programs"] == versions and got["runs"] == [1] * 5 and got["totals"][0] == 2800, got["programs"])
    tasks = {task["task"]: task for task in got["tasks"]}
    expect([value["value"] for value in tasks["f_x"]["values"]] == [1000, 1010, 2100, 2080, 2110], tasks["f_x"])
    expect(tasks["f_x"]["dearest"] == 4 and tasks["f_x"]["cheapest"] == 0 and tasks["f_x"]["significant"], tasks["f_x"])
    expect([value["seen"] for value in tasks["f_y"]["values"]] == [True, True, True, False, True], "a gap",
           tasks["f_y"])
    expect(tasks["f_y"]["values"][0]["path"] == ["app", "main", "work", "f_y"], tasks["f_y"])
    steps = [(step["task"], step["before"], step["after"], step["difference"]["value"]) for step in got["steps"]]
    expect(steps == [("f_x", 1, 2, 1090), ("f_y", 3, 4, 510), ("f_z", 0, 4, 150), ("f_y", 2, 3, -500)], "steps", steps)
    ran = run("--bisect", *versions, "--framework-prefix", "f_", "--fail-if-task", "20%")
    expect(ran.returncode == 4 and "f_x" in ran.stderr and "v2 than in v1" in ran.stderr, ran)
    expect("B to C" in ran.stdout and "A to E" in ran.stdout, ran.stdout)
    expect(run("--bisect", "v0", "v1", "--framework-prefix", "f_", "--fail-if", "0", "--fail-if-task",
               "0").returncode == 0, "one step, no change")
    expect(run("--bisect", "v4", "v0", "--framework-prefix", "f_", "--fail-if", "20").returncode == 0, "cheaper")
    got = answer("v0", "v2", "v3", "--framework-prefix", "f_")
    expect("steps" not in got and got["tasks"][0]["task"] == "f_x", got["tasks"][0])
    shown = run("v0", "v2", "v3", "--framework-prefix", "f_", "--limit", "1").stdout
    expect("B - A" in shown and "f_y" not in shown and "2 more tasks" in shown, shown)
    expect(run("v0", "v2", "v3", "--framework-prefix", "f_", "--fail-if", "20%").returncode == 2, "--fail-if of three")


def damaged():
    write("good", "a;f_x 3\n")
    cases = {
        "no count": "a;f_x\n", "a text": "a;f_x three\n", "negative": "a;f_x -3\n", "not a number": "a;f_x nan\n",
        "too much": "a;f_x 1e300\n", "empty": "", "only 0": "a;f_x 0\n", "no stack": " 3\n", "bytes": b"a;f_\xff 3\n",
        "a NUL": b"a;f_\0x 3\n", "cut": b"a;f_\xc3 3\n", "deep": "a;" + "f_x;" * 10000 + "f_y 3\n",
        "UTF-16": "a;f_x 3\n".encode("utf-16"), "long": "a;" + "x" * 2000000 + " 3\n",
    }
    for name, text in cases.items():
        ran = run("good", write("bad", text), "--framework-prefix", "f_")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and "bad" in ran.stderr and not ran.stdout, name,
               ran)
    write("many", "".join(f"a;f_{i} 1\n" for i in range(90000)))
    runs = ",".join(["many"] + ["good"] * 99)
    for words, word in (((runs, "good"), "in all runs"), ([runs[:64]] * 16, "fewer")):
        ran = run(*words, "--framework-prefix", "f_")
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1 and word in ran.stderr, word, ran)
    for words in (("good",), ("good", "good", "--alpha", "9"), ("good", "good", "--callers", "x")):
        expect(run(*words).returncode == 2, words)
    for words in ("--own --no-own", "--all --limit 3", "--folded x --pprof y", "--pprof x --json", "--html x --bisect",
                  "--probe f_x --fail-if 3", "--probe f_x --json"):
        ran = run("good", "good", *words.split())
        expect(ran.returncode == 2 and ran.stderr.count("\n") == 1 and "exclude each other" in ran.stderr, words, ran)
    for words in (("good", "good"), ("good", "missing"), ("good", "."), ("good", ","), (",", "good")):
        ran = run(*words)
        expect(ran.returncode == 1 and ran.stderr.count("\n") == 1, words, ran)
    got = answer("good", write("more", "a;f_x 3\na;g 40\n"), "--own")
    expect([(task["task"], task["match"]) for task in got["tasks"]] == [("g", "only-b"), ("f_x", "both")], got)
    expect(run("good", write("marked", "a;f_x@a 3\n"), "--own").returncode == 1, "frames of one side have no file")


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    for test in (planted, marked_by_dso, nothing_in_common, names, sums, evidence, overrides, orders, partners,
                 runs, weights, recorded,
                 same_work, own, languages, carriers, elsewhere, alpha_by_data, table, worth,
                 several, damaged):
        test()
sys.exit(1 if failures else 0)
