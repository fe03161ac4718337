#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion in the real bash, zsh and fish: commands, options, their words, apps, devices and profiles.

Usage: test-completion.py JOULECAST COMPLETION-FOLDER DEVICE-INI SCENARIO-INI
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

JOULECAST, FOLDER, DEVICE, SCENARIO = map(os.path.abspath, sys.argv[1:])
ran = 0

# Typed text; words that must be offered; words that must not.
CASES = (
    ("joulecast pre", {"predict"}, {"cost"}),
    ("joulecast cost --si", {"--since"}, {"--usage"}),
    ("joulecast cost --since f", {"full"}, {"unplug"}),
    ("joulecast cost --by c", {"component"}, {"day"}),
    ("joulecast calibrate --method ga", {"gauge"}, {"percent"}),
    ("joulecast predict --database DATABASE --app ang", {"angry-birds"}, {"browser"}),
    ("joulecast whatif --database DATABASE --close ang", {"angry-birds"}, {"browser"}),
    ("joulecast whatif --wifi o", {"off"}, {"--wifi"}),
    ("joulecast report --mar", {"--markdown"}, {"--compare"}),
    ("joulecast adv", {"advise"}, {"apps"}),
    ("joulecast limit --database DATABASE ang", {"angry-birds"}, {"browser"}),
    ("joulecast limit --fr", {"--freeze-after"}, {"--cpu"}),
    ("joulecast limit --when b", {"background"}, {"full"}),
    ("joulecast cost --profile nexus-o", {"nexus-one"}, {"nexus-7-sapp"}),
    ("joulecast cost --device virtual:big", {"virtual:big-little"}, {"virtual:nexus-7"}),
    ("joulecast emulate --target nexus-o", {"nexus-one"}, {"nexus-7-sapp"}),
    ("joulecast emulate --network 3g-a", {"3g-average"}, {"lte"}),
    ("joulecast profile sh", {"show"}, {"list"}),
)


def bash(line, env, _):
    words = line.split(" ")
    script = """
source /usr/share/bash-completion/bash_completion 2>/dev/null
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_joulecast
printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", FOLDER + "/joulecast.bash", line, *words], env=env,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done
    offered = set(done.stdout.split())
    # After a colon readline replaces only what follows it.
    prefix = words[-1].rpartition(":")[0]
    return {word if word.startswith(prefix) else prefix + ":" + word for word in offered}


def fish(line, env, _):
    done = subprocess.run(["fish", "--no-config", "-c", f"source {FOLDER}/joulecast.fish; complete -C '{line}'"],
                          env=env,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done
    return {offered.split("\t")[0] for offered in done.stdout.splitlines()}


def zsh(line, env, wait_s):
    """zsh completes only on a terminal: types the line and the Tab, and reads what the line became."""
    ours, its = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=its, stdout=its, stderr=its, start_new_session=True,
                             env={**env, "TERM": "dumb", "PS1": "% ", "COLUMNS": "200"})
    os.close(its)

    def read_until(mark):
        text, end = "", time.monotonic() + 30
        while not re.search(mark, text) and time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                text += os.read(ours, 65536).decode(errors="replace")
        assert re.search(mark, text), (line, mark, text)
        return text

    os.write(ours, f"fpath=({FOLDER} $fpath); autoload -U compinit; compinit -u -D; unsetopt beep; "
                   "echo rea''dy\n".encode())
    read_until("ready\r")
    os.write(ours, f"{line}\t".encode())
    time.sleep(wait_s)
    os.write(ours, b"\x01print -r -- 'GOT ' \n")
    text = read_until("GOT  .*\r")
    shell.kill()
    shell.wait()
    os.close(ours)
    got = re.findall(r"^GOT  (.*?)\r", text, flags=re.M)[-1]
    return {got.split(" ")[-1] if not got.endswith(" ") else got.split(" ")[-2]}


def main():
    global ran
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/bin")
        os.symlink(JOULECAST, folder + "/bin/joulecast")
        env = {**os.environ, "PATH": folder + "/bin:" + os.environ["PATH"], "HOME": folder}
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database",
                        folder + "/usage.db"], check=True, capture_output=True, env=env)
        for shell in (bash, zsh, fish):
            if not shutil.which(shell.__name__):
                print(f"{shell.__name__} is not installed")
                continue
            ran += 1
            for line, wanted, unwanted in CASES:
                for wait_s in (0.7, 3, 15):  # zsh on a terminal: it does not say when it has completed
                    offered = shell(line.replace("DATABASE", folder + "/usage.db"), env, wait_s)
                    if wanted <= offered and not unwanted & offered:
                        break
                else:
                    raise AssertionError((shell.__name__, line, offered))


main()
sys.exit(0 if ran else 77)
