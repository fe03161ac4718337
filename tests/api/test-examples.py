#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples on the public API, on a simulated afternoon: their answers are near the true values.

Usage: test-examples.py JOULECAST DEVICE-INI SCENARIO-INI HOW-LONG LIST-COSTS WHAT-DID-I-COST
"""
import json
import re
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def with_errors(device, folder):
    """A device's truth is a profile without errors; this one knows its coefficients as a calibration would."""
    with open(device, encoding="utf-8") as file:
        text = file.read().split("\n[virtual]")[0].replace("method = virtual", "method = import")
    profile = folder + "/errors.ini"
    with open(profile, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(\w+_m[wj](?!h)\S* = )([\d.]+)$",
                          lambda found: f"{found[0]} {0.03 * float(found[2]):g}", text, flags=re.M)
                   + "\n[fit]\ndegrees_of_freedom = 20\n")
    return profile


def unknown(folder, database, how_long, list_costs, what_did_i_cost):
    """By a profile that knows next to nothing they say so, and no numbers that are none."""
    profile = folder + "/bare.ini"
    for base, minutes in ("", "how long angry-birds can run is unknown."), \
                         ("[base]\npower_mw = 150 3\n", " minutes; there is no lower bound; "):
        with open(profile, "w", encoding="utf-8") as file:
            file.write("[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n" + base)
        texts = [run(how_long, profile, database, "angry-birds", "phone"), run(list_costs, profile, database),
                 run(what_did_i_cost, profile, database, "angry-birds")]
        assert minutes in texts[0], texts
        assert re.search("angry-birds +foreground +unknown\n", texts[1]), texts
        assert "angry-birds in front: unknown, in " in texts[2], texts
        assert not re.search(r"\bnan\b", " ".join(texts)), texts


def main():
    joulecast, device, scenario, how_long, list_costs, what_did_i_cost = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        database, truth_file = folder + "/usage.db", folder + "/truth.json"
        run(joulecast, "simulate", "--device", "virtual:" + device, "--scenario", scenario, "--database", database,
            "--truth", truth_file)
        with open(truth_file, encoding="utf-8") as file:
            truth = json.load(file)
        play = truth["apps"]["angry-birds/foreground"]

        # An app that was named, and one that asks about its own process (which nobody watched).
        text = run(what_did_i_cost, device, database, "angry-birds")
        said = float(re.search(r"angry-birds in front: (\d+) J", text).group(1))
        assert abs(said - play) < 0.05 * play, (text, play)
        assert "what-did-i-cost: never in front" in run(what_did_i_cost, device, database)

        text = run(list_costs, device, database)
        battery, total = map(float, re.search(r"battery +([\d.]+) J \(the sum is ([\d.]+) J\)", text).groups())
        assert abs(battery - total) < 0.11, text
        assert abs(battery - truth["total_j"]) < 0.1 * truth["total_j"], (text, truth["total_j"])

        text = run(how_long, device, database, "angry-birds", "phone")
        assert re.search(r"angry-birds can run for \d+ minutes; there is no lower bound; \d+\.\d % are set aside",
                         text), text
        text = run(how_long, with_errors(device, folder), database, "angry-birds", "phone")
        assert re.search(r"angry-birds can run for at least \d+ minutes \(19 times in 20\), probably \d+; "
                         r"\d+\.\d % are set aside", text), text
        unknown(folder, database, how_long, list_costs, what_did_i_cost)
        for program in list_costs, what_did_i_cost:  # the library's message about a file that is no database
            failed = subprocess.run([program, device, device], stderr=subprocess.PIPE, text=True)
            assert failed.returncode == 1 and device in failed.stderr, failed
        failed = subprocess.run([how_long, device, database, "chess", "phone"], stderr=subprocess.PIPE, text=True)
        assert failed.returncode == 1 and "chess was never seen" in failed.stderr, failed


main()
