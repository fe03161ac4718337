# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces as CSV, as `joulecast fit --trace` reads them: a list of spans, each a dict of columns of the base's row, with
`owners`, a list of (name, state, columns)."""
import csv

NS = 1e9


def write(path, spans):
    """A span without start_s begins an hour after the one before."""
    keys, rows, at = ["span", "name", "state", "start_s", "elapsed_s"], [], 0
    for number, span in enumerate(spans):
        start = span.get("start_s", at)
        at = start + span["elapsed_s"] + 3600
        head = {"span": number, "start_s": round(start, 6), "elapsed_s": span["elapsed_s"]}
        base = {key: value for key, value in span.items() if key not in ("owners", "start_s", "elapsed_s", "tag")}
        rows.append({**head, "name": "base", "state": "base", **base})
        rows += [{**head, "name": name, "state": state, **columns} for name, state, columns in span["owners"]]
    for row in rows:
        keys += [key for key in row if key not in keys]
    truth = [key for key in keys if key.startswith("rail.") or key in ("power_mw", "energy_j", "percent", "voltage_mv")]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(keys)
        for row in rows:
            out.writerow([row.get(key, "" if key in truth else 0) for key in keys])
    return path


def cpu(policy, khz, busy_s, any_s):
    return {f"cpu.{policy}.{khz}": round(busy_s * NS), f"shared.{policy}.{khz}": round(min(any_s, busy_s) * NS)}


def idle(policy, khz, seconds):
    return {f"idle.{policy}.{khz}": round(max(seconds, 0) * NS)}
