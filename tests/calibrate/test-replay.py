#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of a device whose coefficients are known: `fit --trace` and `learn --trace` find them, `replay` finds no
error, and each says what it cannot know.

Usage: test-replay.py JOULECAST
"""
import json
import os
import random
import subprocess
import sys
import tempfile

JOULECAST = os.path.abspath(sys.argv[1])
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FULL = ("--energy-full-mwh", "15000")
TRUE = {  # mW and mJ/MB
    "base.power_mw": 250,
    "cpu 0.active_mw.600000": 200,
    "cpu 0.active_mw.1200000": 500,
    "cpu 0.shared_mw.600000": 60,
    "cpu 0.shared_mw.1200000": 120,
    "display.power_mw.40": 300,
    "display.power_mw.200": 1100,
    "wifi.rx_mj_per_mb": 150,
    "gpu.active_mw": 800,
}
HEAD = ["span", "name", "state", "start_s", "elapsed_s", "power_mw", "cpu.0.600000", "shared.0.600000", "cpu.0.1200000",
        "shared.0.1200000", "screen.40", "screen.200", "wifi_rx_bytes", "gpu_busy_ns", "rail.display_j"]
failures = []


def fail(text):
    failures.append(text)
    print("failed:", text)


def check(condition, text):
    if not condition:
        fail(text)


def run(*command, code=0):
    done = subprocess.run([JOULECAST, *command], capture_output=True, text=True, check=False)
    if done.returncode != code:
        fail(f"{' '.join(command)} ended with {done.returncode}, not {code}: {done.stderr}")
    return done


def answer(*command):
    return json.loads(run(*command, "--json").stdout)


def span(rng, number, dark=True):
    """Rows of one span; the power by the truth."""
    seconds, rows = 20, []
    khz, busy = rng.choice(("600000", "1200000")), rng.choice((0, 0.3, 1, 2, 3.5))
    shared = min(busy, 1)
    level = rng.choice(("40", "200", None)) if dark else rng.choice(("40", "200"))
    lit = seconds if level else 0
    mb, gpu = rng.choice((0, 5, 40)), rng.choice((0, 0.5, 1)) * seconds
    display = TRUE[f"display.power_mw.{level}"] * lit if level else 0
    millijoules = (TRUE["base.power_mw"] * seconds + TRUE[f"cpu 0.active_mw.{khz}"] * busy * seconds +
                   TRUE[f"cpu 0.shared_mw.{khz}"] * shared * seconds + display + TRUE["wifi.rx_mj_per_mb"] * mb +
                   TRUE["gpu.active_mw"] * gpu)
    head = {"span": number, "start_s": 40 * number, "elapsed_s": seconds}
    rows.append({**head, "name": "base", "state": "base", "power_mw": millijoules / seconds,
                 "rail.display_j": display / 1000})
    app = {f"cpu.0.{khz}": busy * seconds * 1e9, f"shared.0.{khz}": shared * seconds * 1e9, "wifi_rx_bytes": mb * 1e6,
           "gpu_busy_ns": gpu * 1e9}
    if level:
        app[f"screen.{level}"] = lit * 1e9
    rows.append({**head, "name": rng.choice(("game", "mail")), "state": "foreground", **app})
    return rows


def write(path, rows, head=HEAD):
    truth = ("power_mw", "rail.display_j", "energy_j", "percent")
    with open(path, "w", encoding="utf-8") as file:
        print(",".join(head), file=file)
        for row in rows:
            print(",".join(str(row.get(key, "" if key in truth else 0)) for key in head), file=file)
    return path


def trace(path, seed, n, **options):
    rng = random.Random(seed)
    return write(path, [row for number in range(n) for row in span(rng, number, **options)])


def coefficients(path):
    section, found = "", {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("["):
            section = line.strip()[1:-1]
        elif "=" in line and not line.startswith(";"):
            key, value = line.split("=", 1)
            numbers = value.split()
            try:
                found[f"{section}.{key.strip()}"] = float(numbers[0])
            except (ValueError, IndexError):
                pass
    return found


def near(path, tolerance, what):
    found = coefficients(path)
    for key, value in TRUE.items():
        if not abs(found.get(key, 1e9) - value) <= max(tolerance * value, 12):
            fail(f"{what}: {key} is {found.get(key)}, not {value}")


def fit_finds_the_truth():
    write_to = "fit.ini"
    done = run("fit", "--trace", trace("train.csv", 1, 120), "--profile", write_to, *FULL)
    near(write_to, 0.02, "fit")
    check("noise" in done.stdout, f"fit does not tell the noise: {done.stdout}")
    score = answer("replay", "--trace", trace("test.csv", 2, 60), "--baseline", "train.csv", "--profile", write_to)
    check(score["windows"] == 60, f"windows: {score}")
    check(score["error_percent"]["median"] < 1 and score["error_percent"]["p90"] < 2, f"error: {score}")
    check(abs(score["error_percent"]["bias"]) < 1, f"bias: {score}")
    check(score["hold_percent"] > 95, f"hold: {score}")
    check(score["baselines"]["constant"]["median"] > 10, f"constant: {score}")
    check(0 < score["baselines"]["least_squares"]["median"] < score["baselines"]["constant"]["median"],
          f"baselines: {score}")
    display = score["components"]["display"]
    check(abs(display["predicted_j"] / display["measured_j"] - 1) < 0.02 and display["correlation"] > 0.99,
          f"rail: {score}")
    # 20 s each: three make a window of 60 s; 60 spans make 20; more than all of them makes one.
    for window, n in (("60s", 20), ("50s", 20), ("61s", 15), ("100h", 1)):
        again = answer("replay", "--trace", "test.csv", "--profile", write_to, "--window", window)
        check(again["windows"] == n, f"--window {window} has {again['windows']} windows, not {n}")
    check("95 % intervals" in run("replay", "--trace", "test.csv", "--profile", write_to).stdout, "replay for people")


def learn_finds_the_truth():
    """Over a profile with wrong prices of the display and of the GPU."""
    with open("fit.ini", encoding="utf-8") as file:
        text = file.read()
    lines = []
    for line in text.split("[covariance]")[0].splitlines():
        key = line.split(" =")[0]
        if key.startswith("power_mw.") or key == "active_mw":
            line = f"{key} = {float(line.split()[2]) * 1.6:.1f} {float(line.split()[2]) * 0.5:.1f}"
        lines.append(line)
    with open("wrong.ini", "w", encoding="utf-8") as file:
        print("\n".join(lines), file=file)
    before = answer("replay", "--trace", "test.csv", "--profile", "wrong.ini")
    said = run("learn", "--trace", "train.csv", "--profile", "wrong.ini").stdout
    check("measured spans of use" in said and "percent steps" not in said, f"words about a meter's trace: {said}")
    after = answer("replay", "--trace", "test.csv", "--profile", "wrong.ini")
    check(before["error_percent"]["median"] > 8, f"before learning: {before['error_percent']}")
    check(after["error_percent"]["median"] < 2, f"learnt: {after['error_percent']}")
    check(after["error_percent"]["p90"] < 4, f"learnt: {after['error_percent']}")
    check(not [name for name in os.listdir(".") if name.endswith(".db")], "learn --trace wrote a database")


def what_cannot_be_known_is_said():
    trace("lit.csv", 3, 120, dark=False)
    done = run("fit", "--trace", "lit.csv", "--profile", "lit.ini", *FULL)
    check("the screen was never off" in done.stdout, f"a screen that is never off: {done.stdout}")
    found = coefficients("lit.ini")
    check(abs(found["base.power_mw"] - 550) < 20, f"the base has the display at its dimmest: {found['base.power_mw']}")
    check(abs(found["display.power_mw.200"] - 800) < 30,
          f"the display counts from there: {found['display.power_mw.200']}")
    score = answer("replay", "--trace", "lit.csv", "--profile", "lit.ini")
    check(score["error_percent"]["p90"] < 2 and abs(score["error_percent"]["bias"]) < 1, f"lit: {score}")

    # A hundred levels, and CPU time that never ends: no base can be told.
    rng, rows = random.Random(4), []
    head = ["span", "name", "state", "start_s", "elapsed_s", "power_mw", "cpu.0.600000", "shared.0.600000"]
    levels = [f"screen.{level}" for level in range(1, 201, 2)]
    for number in range(150):
        level = rng.choice(levels)
        power = 250 + 4 * int(level.split(".")[1]) * (number % 3 > 0)
        rows.append({"span": number, "name": "base", "state": "base", "start_s": 20 * number, "elapsed_s": 20,
                     "power_mw": power + 260})
        rows.append({"span": number, "name": "app", "state": "foreground", "start_s": 20 * number, "elapsed_s": 20,
                     "cpu.0.600000": 2e10, "shared.0.600000": 2e10, level: 2e10 * (number % 3 > 0)})
    done = run("fit", "--trace", write("levels.csv", rows, head + levels), "--profile", "levels.ini", *FULL)
    check("base.power_mw" in done.stdout.split("Warning", 1)[-1], f"a split that is not resolved: {done.stdout}")
    check(len([key for key in coefficients("levels.ini") if key.startswith("display.power_mw")]) < 20,
          "too many levels are kept")
    score = answer("replay", "--trace", "levels.csv", "--profile", "levels.ini")
    check(score["error_percent"]["p90"] < 3, f"many levels: {score}")

    rows = [dict(row) for row in rows]
    for row in rows:
        if row["name"] == "app":
            row["other_rx_bytes"] = 3e6
    done = run("fit", "--trace", write("modem.csv", rows, head + levels + ["other_rx_bytes"]), "--profile",
               "modem.ini", *FULL)
    check("have no price" in done.stdout, f"bytes over a modem: {done.stdout}")


def bytes_of_a_modem_are_priced():
    """Where their rate differs from span to span; both directions, or their sum."""
    for columns, prices in ((("other_rx_bytes", "other_tx_bytes"), (60, 200)), (("cellular_bytes",), (110,))):
        rng, rows = random.Random(6), []
        for number in range(120):
            own = span(rng, number)
            for column, price in zip(columns, prices):
                mb = rng.choice((0, 2, 30))
                own[1][column] = mb * 1e6
                own[0]["power_mw"] += price * mb / 20
            rows += own
        head = HEAD + list(columns)
        done = run("fit", "--trace", write("bytes.csv", rows, head), "--profile", "bytes.ini", *FULL)
        check("have no price" not in done.stdout, f"bytes that vary: {done.stdout}")
        near("bytes.ini", 0.07, "bytes over a modem")
        found = coefficients("bytes.ini")
        for key, price in zip(("rx", "tx"), prices):
            check(abs(found.get(f"cellular.{key}_mj_per_mb", 0) / price - 1) < 0.05, f"{columns}: {key} {found}")
        run("replay", "--trace", "bytes.csv", "--profile", "bytes.ini")
        score = answer("replay", "--trace", "bytes.csv", "--profile", "bytes.ini")
        check(score["error_percent"]["p90"] < 2, f"bytes over a modem: {score}")
        blind = run("replay", "--trace", "bytes.csv", "--profile", "fit.ini")
        check("cellular.bytes (no price)" in blind.stdout + blind.stderr, f"a profile without: {blind.stdout}")


def colours(seed, n, parts):
    """Rows whose display takes @parts of its power by red, green, blue, and the rest for any picture."""
    rng, rows = random.Random(seed), []
    for number in range(n):
        own = span(rng, number, dark=False)
        light = [rng.uniform(0, 1) for _ in parts]
        level = next(key for key in own[1] if key.startswith("screen."))
        white = TRUE["display.power_mw." + level.split(".")[1]]
        own[0]["power_mw"] -= white * sum(part * (1 - shine) for part, shine in zip(parts, light))
        own[0].update(zip(("screen_red", "screen_green", "screen_blue"), light))
        rows += own
    return rows


def what_an_oled_shows_is_priced():
    head = HEAD + ["screen_red", "screen_green", "screen_blue"]
    train = write("oled.csv", colours(21, 150, (0.15, 0.2, 0.5)), head)
    asked = write("oled-asked.csv", colours(22, 60, (0.15, 0.2, 0.5)), head)
    done = run("fit", "--trace", train, "--profile", "oled.ini", *FULL)
    check("colours" not in done.stdout, f"colours that explain: {done.stdout}")
    found = coefficients("oled.ini")
    red, green, blue = (found.get(f"display.x-{word}", 0) for word in ("red", "green", "blue"))
    check(0.2 < red / blue < 0.4 and 0.3 < green / blue < 0.5, f"channels: {found}")
    error = answer("replay", "--trace", asked, "--profile", "oled.ini")["error_percent"]
    check(error["p90"] < 2 and abs(error["bias"]) < 1, f"pictures by their colours: {error}")
    blind = answer("replay", "--trace", write("oled-blind.csv", colours(22, 60, (0.15, 0.2, 0.5))), "--profile",
                   "oled.ini")["error_percent"]
    check(blind["p90"] > 3 * error["p90"] and abs(blind["bias"]) < 6, f"pictures that nobody saw: {blind}")
    lcd = write("lcd.csv", colours(23, 150, (0, 0, 0)), head)
    done = run("fit", "--trace", lcd, "--profile", "lcd.ini", *FULL)
    check("explain no more" in done.stdout and "x-red" not in open("lcd.ini", encoding="utf-8").read(),
          f"an LCD: {done.stdout}")
    done = run("learn", "--trace", asked, "--profile", "lcd.ini")
    check("the screen's colours have no effect" in done.stderr, f"a profile without colours: {done.stderr}")


def use_without_effect_is_fitted():
    """A power that does not depend on what is used: all of it is the base."""
    rng = random.Random(5)
    rows = [row for number in range(20) for row in span(rng, number)]
    for row in rows:
        if row["name"] == "base":
            row["power_mw"] = 1000 + rng.uniform(-20, 20)
    run("fit", "--trace", write("constant.csv", rows), "--profile", "constant.ini", *FULL)
    score = answer("replay", "--trace", "constant.csv", "--profile", "constant.ini")
    check(score["error_percent"]["p90"] < 5 and abs(score["error_percent"]["bias"]) < 2, f"a constant power: {score}")


PHI, MU, IDLE = 0.4, 6, {600000: 0, 1200000: 150, 1800000: 400}
BUSY = {600000: 200, 1200000: 500, 1800000: 1200}
KINDS = {"parser": (0.5, 0.05), "codec": (1.8, 0.01), "game": (1.1, 0.02), "search": (0.7, 0.03),
         "crypto": (2.4, 0.001)}
KIND_HEAD = ["span", "name", "state", "start_s", "elapsed_s", "power_mw", "cycles.0", "instructions.0", "misses.0",
             *(f"{word}.0.{khz}" for khz in BUSY for word in ("cpu", "shared", "idle")
               if (word, khz) != ("idle", 600000))]


def kind_rows(programs, clocks, busy=1, noise=0.0, seed=1):
    """Programs at pinned clocks; counted in a part of their time."""
    rng, rows = random.Random(seed), []
    for number, (name, khz) in enumerate([(None, 600000)] * 3 + [(n, k) for n in programs for k in clocks] * 3):
        own, head = busy if name else 0, {"span": number, "start_s": 100 * number, "elapsed_s": 50}
        ipc, mpc = KINDS.get(name, (1, 0.02))
        factor = 1 + PHI * (ipc - 1) + MU * (mpc - 0.02)
        power = (300 + BUSY[khz] * own * factor + IDLE[khz]) * (1 + rng.gauss(0, noise))
        base = {f"idle.0.{khz}": (1 - own) * 50e9} if khz > 600000 else {}
        rows.append({**head, "name": "base", "state": "base", "power_mw": power, **base})
        if name:
            cycles = own * 50 * khz * rng.uniform(20, 500)
            rows.append({**head, "name": name, "state": "foreground", f"cpu.0.{khz}": own * 50e9,
                         f"shared.0.{khz}": own * 50e9, "cycles.0": cycles, "instructions.0": cycles * ipc,
                         "misses.0": cycles * mpc})
    return rows


def kinds_of_work_are_priced():
    """Programs that were never seen, by what they counted; without it they are off."""
    train = write("kinds.csv", kind_rows(("parser", "codec", "game"), BUSY), KIND_HEAD)
    asked = write("others.csv", kind_rows(("search", "crypto"), BUSY), KIND_HEAD)
    run("fit", "--trace", train, "--profile", "kinds.ini", "--spans", "independent", "--cache-event", "l2d_cache",
        *FULL)
    found = coefficients("kinds.ini")
    check(found.get("cpu 0.instruction_part", 0) > 0.3 and found.get("cpu 0.miss_cycles", 0) > 3,
          f"kinds: {found}")
    error = answer("replay", "--trace", asked, "--profile", "kinds.ini")["error_percent"]
    check(error["median"] < 3 and error["p90"] < 8, f"programs by their kind: {error}")
    other = answer("replay", "--trace", asked, "--profile", "kinds.ini", "--cache-event", "cache-misses")
    other = other["error_percent"]
    check(other["p90"] > error["p90"], f"misses of another event are used: {other}")
    blank = [{key: row[key] for key in row if key not in ("cycles.0", "instructions.0", "misses.0")}
             for row in kind_rows(("search", "crypto"), BUSY)]
    score = answer("replay", "--trace", write("blank.csv", blank, KIND_HEAD), "--profile", "kinds.ini")
    check(score["error_percent"]["p90"] > 10 and score["hold_percent"] > 90, f"nobody counted: {score}")


def few_programs_are_few():
    """Six times as many rows of the same programs do not tell more about other programs."""
    errors = []
    for times in (1, 6):
        rows = []
        for round_ in range(times):
            for row in kind_rows(("parser", "codec", "game"), BUSY, noise=0.01, seed=round_):
                rows.append({**row, "span": row["span"] + 100 * round_, "start_s": row["start_s"] + 1e4 * round_})
        run("fit", "--trace", write("few.csv", rows, KIND_HEAD), "--profile", "few.ini", "--spans", "independent",
            *FULL)
        with open("few.ini", encoding="utf-8") as file:
            errors += [float(line.split()[3]) for line in file if line.startswith("instruction_part =")]
    check(len(errors) == 2 and errors[1] > 0.6 * errors[0], f"errors of instruction_part: {errors}")


def other_frequencies_are_expected():
    """Between two measured ones by the usual shape, which is no line; beyond them it is said."""
    programs = ("parser", "codec", "game")
    outer = write("outer.csv", kind_rows(programs, (600000, 1800000)), [key for key in KIND_HEAD if "1200" not in key])
    inner = write("inner.csv", kind_rows(programs, (1200000,)), [key for key in KIND_HEAD if "1800" not in key])
    run("fit", "--trace", outer, "--profile", "outer.ini", "--spans", "independent", *FULL)
    score = answer("replay", "--trace", inner, "--profile", "outer.ini")
    check(abs(score["error_percent"]["bias"]) < 15, f"a frequency in between: {score}")  # a line: +30
    check(score["hold_percent"] > 90, f"a frequency in between: {score}")
    check(not [name for name in score["not_measured"] if "difference" in name], f"nothing is beyond: {score}")
    run("fit", "--trace", inner, "--profile", "inner.ini", "--spans", "independent", *FULL)
    names = answer("replay", "--trace", outer, "--profile", "inner.ini")["not_measured"]
    check("the difference of cpu.0.1800000 from cpu.0.1200000" in names, f"a frequency beyond all: {names}")


def a_class_becomes_the_traces_device():
    """What is learnt over the file of a class is in its answers."""
    with open(os.path.join(SOURCE, "data", "profiles", "class-phone.ini"), encoding="utf-8") as file:
        text = file.read()
    with open("class.ini", "w", encoding="utf-8") as file:
        file.write(text)
    rows = [row for number in range(60) for row in span(random.Random(31 + number), number)]
    for row in rows:
        if row["name"] == "base":
            row["power_mw"] += 2500  # of an app in the foreground, and in no counter
    dear = write("dear.csv", rows)
    run("learn", "--trace", dear, "--profile", "class.ini")
    with open("class.ini", encoding="utf-8") as file:
        check("x-any-machine" not in file.read(), "what was learnt of a device is for any machine")
    score = answer("replay", "--trace", dear, "--profile", "class.ini")
    check(abs(score["error_percent"]["bias"]) < 25 and score["hold_percent"] > 90, f"learnt over a class: {score}")


def idling_and_shapes_are_expected():
    """A pinned cluster that is little busy is near without an idle row; voltages tell another frequency."""
    programs = ("parser", "codec", "game")
    train = write("busy.csv", kind_rows(programs, (1200000, 1800000)), KIND_HEAD)
    asked = write("idle.csv", kind_rows(programs, (1200000, 1800000), busy=0.2), KIND_HEAD)
    bias = {}
    for states in ("shallow", "deep"):
        run("fit", "--trace", train, "--profile", "idle.ini", "--spans", "independent", "--idle-states", states,
            *FULL)
        bias[states] = answer("replay", "--trace", asked, "--profile", "idle.ini")["error_percent"]["bias"]
    check(abs(bias["shallow"]) < 20 and bias["deep"] < bias["shallow"] - 10, f"idling at a pinned clock: {bias}")
    with open("volts.csv", "w", encoding="utf-8") as file:  # busy and idle power together go by V^2 f
        file.write("600000,600000\n1200000,770000\n1800000,980000\n")
    top = write("top.csv", kind_rows(programs, (1800000,)), KIND_HEAD)
    run("fit", "--trace", top, "--profile", "volts.ini", "--spans", "independent", "--voltages", "volts.csv",
        *FULL)
    found = coefficients("volts.ini")
    check(400 < found.get("cpu 0.active_mw.1200000", 0) < 700, f"a frequency by its voltage: {found}")
    with open("other.csv", "w", encoding="utf-8") as file:  # another policy, whose lowest frequency is above ours
        file.write("1500000,600000\n1800000,980000\n")
    all_three = write("three.csv", kind_rows(programs, (600000, 1200000, 1800000)), KIND_HEAD)
    for name, more in (("without.ini", ()), ("other.ini", ("--voltages", "other.csv"))):
        run("fit", "--trace", all_three, "--profile", name, "--spans", "independent", *more, *FULL)
    check(coefficients("without.ini") == coefficients("other.ini"), "voltages of another policy count")


def idling_is_expected_at_many_clocks():
    """Ten clocks, none of them measured without load: a cluster that is 20 % busy."""
    clocks = range(200000, 2000001, 200000)
    head = ["span", "name", "state", "start_s", "elapsed_s", "power_mw", *(f"{word}.0.{khz}" for khz in clocks
                                                                           for word in ("cpu", "shared", "idle"))]

    def pinned(busy):
        rows = []
        for number, khz in enumerate([*clocks] * 4 + [None] * 4):
            above = 1750 * ((khz or 0) / 2e6) ** 2.6
            span_head = {"span": number, "start_s": 100 * number, "elapsed_s": 60}
            if khz or busy == 1:
                power = 56 + above * (0.44 + 0.56 * busy)
                rows.append({**span_head, "name": "base", "state": "base", "power_mw": power})
            if khz:
                rows[-1][f"idle.0.{khz}"] = (1 - busy) * 60e9
                rows.append({**span_head, "name": "game", "state": "foreground", f"cpu.0.{khz}": busy * 60e9,
                             f"shared.0.{khz}": busy * 60e9})
        return rows

    run("fit", "--trace", write("many.csv", pinned(1), head), "--profile", "many.ini", "--spans", "independent",
        "--idle-states", "shallow", *FULL)
    error = answer("replay", "--trace", write("fifth.csv", pinned(0.2), head), "--profile", "many.ini")["error_percent"]
    check(abs(error["bias"]) < 10 and error["p90"] < 15, f"idling at ten clocks: {error}")


def variation_within_an_app_is_learnt():
    """Power varies by 20 % from span to span: intervals of short windows hold, and longer ones are narrower."""
    run("fit", "--trace", "train.csv", "--profile", "vary.ini", *FULL)
    rows, rng = [], random.Random(11)
    for number in range(240):
        own = span(rng, number)
        own[0]["power_mw"] = 250 + (own[0]["power_mw"] - 250) * rng.lognormvariate(0, 0.2)
        rows += own
    run("learn", "--trace", write("vary.csv", rows[:240]), "--profile", "vary.ini")
    found = coefficients("vary.ini")
    check(found.get("learned.within_percent", 0) > 10, f"variation: {found.get('learned.within_percent')}")
    late = write("late.csv", rows[240:])
    short = answer("replay", "--trace", late, "--profile", "vary.ini")
    check(88 < short["hold_percent"] <= 100, f"short windows: {short}")
    long = answer("replay", "--trace", late, "--profile", "vary.ini", "--window", "10m")
    check(long["half_width_percent"] < 0.7 * short["half_width_percent"], f"long windows: {long} {short}")


def sessions(first, n, sd, more_mw):
    """Sessions of ten minutes, a day apart; each has another power at rest."""
    rows, rng = [], random.Random(first)
    for number in range(n):
        base_mw = rng.gauss(more_mw, sd)
        for at in range(30):
            own = span(rng, 100 * number + at)
            for row in own:
                row["start_s"] = 86400 * number + 20 * at
            own[0]["power_mw"] += base_mw
            rows += own
    return rows


def differences_between_sessions_are_learnt():
    """Another place, or another temperature: what one session shows is not what the next one takes."""
    def learnt(sd, more_mw):
        with open(os.path.join(SOURCE, "data", "profiles", "class-phone.ini"), encoding="utf-8") as file:
            usual = file.read()
        with open("sessions.ini", "w", encoding="utf-8") as file:
            file.write(usual)
        run("learn", "--trace", write("sessions.csv", sessions(3, 8, sd, more_mw)), "--profile", "sessions.ini")
        found = coefficients("sessions.ini")
        check(found.get("learned.width") == 1, "the misses of a class widen what was learnt")
        asked = write("later.csv", sessions(5, 12, sd, more_mw))
        return found.get("learned.session_percent", 0), answer("replay", "--trace", asked, "--profile", "sessions.ini")

    few, score = learnt(0, 0)
    check(few < 1.2, f"sessions that do not differ: {few} {score}")
    many, score = learnt(250, 3000)  # of a modem, which the class's base does not have
    check(many > 3 and score["hold_percent"] > 90, f"sessions that differ: {many} {score}")
    check(score["error_percent"]["median"] < 7, f"a base far above the class's: {score}")


def errors_are_sentences():
    with open("train.csv", encoding="utf-8") as file:
        lines = file.read().splitlines()
    broken = {
        "cut.csv": "\n".join(lines),
        "over.csv": "\n".join([lines[0], *(line.replace(",40,20,", ",10,20,") for line in lines[1:])]) + "\n",
        "twice.csv": lines[0] + ",energy_j\n" + "".join(line + ",5\n" for line in lines[1:2]),
    }
    for name, text in broken.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        for command in (["fit", "--profile", "new.ini", *FULL], ["learn", "--profile", "fit.ini"],
                        ["replay", "--profile", "fit.ini"]):
            done = run(*command, "--trace", name, code=1)
            sentences = [line for line in done.stderr.splitlines() if line]
            check(len(sentences) == 1 and f"{name}:" in sentences[0], f"{command[0]} {name}: {done.stderr}")
    check(not os.path.exists("new.ini"), "a profile of a broken trace")
    run("fit", "--trace", "train.csv", *FULL, code=2)
    run("fit", "--trace", "train.csv", "--profile", "new.ini", "--usage", "train.csv", "--costs", "x", *FULL, code=2)
    run("fit", "--spans", "independent", code=2)
    run("fit", "--trace", "train.csv", "--profile", "new.ini", "--spans", "some", *FULL, code=2)
    run("learn", "--trace", "train.csv", code=2)
    run("replay", "--profile", "fit.ini", code=2)
    done = run("fit", "--trace", "train.csv", "--profile", "new.ini", code=1)
    check("--energy-full-mwh" in done.stderr, f"an unknown full battery: {done.stderr}")
    with open("volts.csv", "w", encoding="utf-8") as file:
        file.write("600000,900000\n500000,800000\n")
    done = run("fit", "--trace", "train.csv", "--profile", "new.ini", "--voltages", "volts.csv", *FULL, code=1)
    check("volts.csv:2:" in done.stderr, f"voltages that do not ascend: {done.stderr}")
    with open("windows.csv", "w", encoding="utf-8-sig", newline="\r\n") as file:
        file.write("\n".join(lines) + "\n\n")
    with open("quoted.csv", "w", encoding="utf-8") as file:
        file.write("".join(", ".join(f'"{cell}" ' for cell in line.split(",")) + "\n" for line in lines))
    for name in ("windows.csv", "quoted.csv"):
        check(answer("replay", "--trace", name, "--profile", "fit.ini")
              == answer("replay", "--trace", "train.csv", "--profile", "fit.ini"), f"{name} is read otherwise")
    column = lines[0].split(",").index("power_mw")
    for cell, words in (("nan", "power_mw: not a number (leave the cell empty if it is unknown): nan"),
                        ("-1", "power_mw: below 0, or too large (leave the cell empty if it is unknown): -1"),
                        ('"1,5"', "power_mw: write decimals with a point, not a comma: 1,5"),
                        ("1\0", "power_mw: not a text in UTF-8 (a byte of 0)")):
        cells = lines[1].split(",")
        cells[column] = cell
        with open("cell.csv", "w", encoding="utf-8") as file:
            file.write("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
        for command in (["fit", "--profile", "new.ini", *FULL], ["learn", "--profile", "fit.ini"],
                        ["replay", "--profile", "fit.ini"]):
            done = run(*command, "--trace", "cell.csv", code=1)
            check(done.stderr.strip().endswith(f"cell.csv:2: {words}"), f"{command[0]}: {cell}: {done.stderr}")


def one_of_a_kind_is_singular():
    """A span without an energy is left out, and two are; all spans are one window."""
    rng = random.Random(6)
    rows = [row for number in range(20) for row in span(rng, number)]
    for number, words in ((3, "1 span is left out: its energy is unknown\n"),
                          (7, "2 spans are left out: their energy is unknown\n")):
        del rows[2 * number]["power_mw"]
        write("gap.csv", rows)
        for command in (["fit", "--profile", "gap.ini", *FULL], ["learn", "--profile", "gap.ini"],
                        ["replay", "--profile", "gap.ini"]):
            done = run(*command, "--trace", "gap.csv")
            check(words in (done.stdout + done.stderr).replace(".\n", "\n"), f"{command[0]}: {done}")
    rows[4]["wifi_rx_bytes"] = rows[5]["wifi_rx_bytes"] = ""
    done = run("replay", "--trace", write("gap.csv", rows), "--profile", "fit.ini", "--window", "100h")
    check("3 spans are left out: in each of them its energy or wifi is unknown (an empty cell;" in done.stderr
          and "\n1 window; " in done.stdout, f"one window: {done}")


def values_of_another_kind_are_said():
    """A counter's total in place of energies, and a level from 0 to 1."""
    rng, total, rows = random.Random(6), 0, []
    for number in range(12):
        rows += span(rng, number)
        total += rows[-2].pop("power_mw") / 50
        rows[-2].update(energy_j=total, percent=0.9 - number / 100)
    write("total.csv", rows, [*HEAD, "energy_j"])
    done = run("replay", "--trace", "total.csv", "--profile", "fit.ini")
    check("each span's own energy" in done.stderr, f"a total: {done.stderr}")
    write("part.csv", rows, [*HEAD, "percent"])
    done = run("replay", "--trace", "part.csv", "--profile", "fit.ini", code=1)
    check("part.csv:2: percent: no value is above 1" in done.stderr, f"a part of 1: {done.stderr}")


def other_units_are_said():
    """Before a fit, learning and a replay: W for mW, CPU time in us beside shared time in ns."""
    with open("fit.ini", encoding="utf-8") as file:
        profile = file.read()
    for name, column, factor, code, words in (
            ("watts.csv", "power_mw", 1e-3, 0, "watts.csv: power_mw or energy_j: the mean power is "),
            ("us.csv", "cpu.0.1200000", 1e-3, 0, "some core is busy at most as long as all of them; are the units"),
            ("shared.csv", "shared.0.1200000", 1e3, 1, "shared.0.KHZ: 2e+04 s in a span of 20 s, which can have at")):
        rng = random.Random(6)
        rows = [row for number in range(20) for row in span(rng, number)]
        for row in rows:
            if column in row:
                row[column] *= factor
        write(name, rows)
        for command in (["fit", "--profile", "unit.ini", *FULL], ["learn", "--profile", "unit.ini"],
                        ["replay", "--profile", "unit.ini"]):
            with open("unit.ini", "w", encoding="utf-8") as file:
                file.write(profile)
            done = run(*command, "--trace", name, code=code)
            check(words in done.stderr, f"{command[0]} --trace {name}: {done.stderr}")


os.environ["LC_ALL"] = "C"
with tempfile.TemporaryDirectory() as FOLDER:
    os.chdir(FOLDER)
    os.environ.update(XDG_STATE_HOME=FOLDER, XDG_CONFIG_HOME=FOLDER)
    fit_finds_the_truth()
    learn_finds_the_truth()
    what_cannot_be_known_is_said()
    bytes_of_a_modem_are_priced()
    what_an_oled_shows_is_priced()
    use_without_effect_is_fitted()
    kinds_of_work_are_priced()
    few_programs_are_few()
    other_frequencies_are_expected()
    a_class_becomes_the_traces_device()
    idling_and_shapes_are_expected()
    idling_is_expected_at_many_clocks()
    variation_within_an_app_is_learnt()
    differences_between_sessions_are_learnt()
    errors_are_sentences()
    one_of_a_kind_is_singular()
    values_of_another_kind_are_said()
    other_units_are_said()
    os.chdir("/")
sys.exit(1 if failures else 0)
