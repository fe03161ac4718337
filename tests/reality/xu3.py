# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""PARSEC on the big cluster of an Odroid XU3 at pinned clocks, with the cluster's power by its INA231; and its
power at rest, from another session."""
import csv
import gzip
import itertools

import trace

PERIOD = 0.5093  # s from sample to sample
POLICY = 4
REST_MW = {200: 56.1, 1000: 202.9, 1400: 333.7, 1800: 559.0}  # pinned at so many MHz without load


def samples(folder):
    with gzip.open(f"{folder}/xu3/xu3_cset_perfcpu_PARSEC_eMMC_big.data.gz", "rt") as file:
        for row in csv.DictReader((line.lstrip("#") for line in file), delimiter="\t"):
            cores = int(row["Cores(#)"])
            busy = float(row["CPU_CYCLES"]) / (float(row["CPU(4) Frequency(MHz)"]) * 1e6 * PERIOD)
            yield {"program": row["Benchmark"].split(".")[-1], "mhz": int(row["CPU(4) Frequency(MHz)"]), "cores": cores,
                   "run": int(row["Run(#)"]), "busy": cores if busy > cores * 1.02 else busy,
                   "mw": float(row["A15 Power(W)"]) * 1000, "celsius": float(row["CPU(4) Temperature(C)"]),
                   "counts": {f"cycles.{POLICY}": float(row["CPU_CYCLES"]),
                              f"instructions.{POLICY}": float(row["INST_RETIRED"]),
                              f"misses.{POLICY}": float(row["L2D_CACHE_ACCESS"])}}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def window(part):
    first, seconds = part[0], len(part) * PERIOD
    cores, khz = first["cores"], first["mhz"] * 1000
    busy = mean(sample["busy"] for sample in part)
    any_ = min(mean(1 - (1 - min(sample["busy"] / cores, 1)) ** cores for sample in part), busy)
    columns = trace.cpu(POLICY, khz, busy * seconds, any_ * seconds)
    for word in first["counts"]:
        columns[word] = round(sum(sample["counts"][word] for sample in part))
    return {"elapsed_s": round(seconds, 4), "power_mw": round(mean(sample["mw"] for sample in part), 3),
            "temperature_c": round(mean(sample["celsius"] for sample in part), 2),
            **trace.idle(POLICY, khz, seconds * (1 - any_)), "owners": [(first["program"], "foreground", columns)],
            "tag": (first["program"], first["mhz"], cores, first["run"])}


def windows(folder, length=None):
    """Spans of @length samples; None: whole programs. The first sample of a program is partial, and left out."""
    spans = []
    for _, group in itertools.groupby(samples(folder), key=lambda s: (s["program"], s["mhz"], s["cores"], s["run"])):
        part = list(group)[1:]
        size = length or len(part)
        spans += [window(part[at:at + size]) for at in range(0, len(part) - size + 1, size) if size >= 8]
    return spans


def rests():
    """Idle spans as in a calibration: four at the lowest clock, three at each other clock."""
    spans = []
    for mhz, power in REST_MW.items():
        columns = trace.idle(POLICY, mhz * 1000, 70) if mhz > 200 else {}
        spans += [{"elapsed_s": 70, "power_mw": power, **columns, "owners": []} for _ in range(3 + (mhz == 200))]
    return spans
