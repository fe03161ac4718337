#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines that lack something (docs/machines.md): each is told in a sentence, and the rest works.

A kernel without BTF and a /proc with hidepid are made in a mount namespace, user namespaces are used up in a user
namespace of its own: nothing of this machine changes.

Usage: test-elsewhere JOULECASTD JOULECAST PROFILES-OF-AppArmor-AND-SELinux
"""
import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

JOULECASTD, JOULECAST, SERVICE = (os.path.abspath(path) for path in sys.argv[1:4])
USER = 65534
RIGHTS = "-all,+bpf,+perfmon,+net_admin"
CLONE_NEWUSER = 0x10000000


def as_user(capabilities="-all"):
    return ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--bounding-set", capabilities,
            "--inh-caps", capabilities, "--ambient-caps", capabilities, "--no-new-privs"]


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", timeout=240,
                          stdin=subprocess.DEVNULL, **options)


def mounted(mount, command):
    """Runs it where a file system was mounted, and returns what it says."""
    script = "mount --make-rprivate / && mount %s && exec \"$@\"" % mount
    done = run(["unshare", "-m", "sh", "-c", script, "sh", *command])
    assert done.returncode == 0, done
    return done.stdout, done.stderr


def polls(folder, name, *before, count=2):
    """The command, and its database, in a folder that is the user's."""
    database = "%s/%s.db" % (folder + "/users" if before else folder, name)
    return [*before, JOULECASTD, "--interval", "0.5", "--count", str(count), "--database", database], database


def apps(database):
    with sqlite3.connect(database) as db:
        return dict(db.execute("SELECT app, uid FROM app WHERE app <> ''"))


def without_btf(folder):
    hidden = "-t tmpfs tmpfs /sys/kernel/btf"
    told, _ = mounted(hidden, [JOULECAST, "doctor"])
    assert told.count("CONFIG_DEBUG_INFO_BTF") == 2 and "short processes" not in told.split("Missing")[0], told
    command, database = polls(folder, "btf")
    mounted(hidden, command)
    assert apps(database)


def with_hidepid(folder):
    hidden = "-t proc -o hidepid=2 proc /proc"
    told, _ = mounted(hidden, [*as_user(), JOULECAST, "doctor"])
    assert "mounted with hidepid" in " ".join(told.split()), told
    command, database = polls(folder, "own", *as_user())
    _, said = mounted(hidden, command)
    assert "your own processes" in said and "run as root" in said, said
    assert set(apps(database).values()) <= {USER}, apps(database)
    said = mounted(hidden, [JOULECAST, "doctor"])[0]
    assert "hidepid" not in said, said  # root sees all
    if "bpf" not in run([*as_user(RIGHTS), JOULECAST, "doctor"]).stdout.split("Missing")[0]:
        return
    command, database = polls(folder, "service", *as_user(RIGHTS))
    _, said = mounted(hidden, command)
    assert said.count("mounted with hidepid") == 1 and "short names" in said, said
    seen = apps(database)
    assert "sys:kernel" in seen and "kthreadd" not in seen, seen
    assert set(seen.values()) > {USER}, seen


def in_user_namespace(command):
    """As another user in a user namespace that allows no more of them."""
    ready, made = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
            os._exit(77)
        os.write(ready[1], b"x")
        os.read(made[0], 1)
        os.setgroups([])
        os.setgid(0)
        os.setuid(0)
        with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
            file.write("0")
        done = run([*as_user(), *command])
        print(done.returncode, done.stderr, flush=True)
        os._exit(0 if done.returncode == 1 and "user namespaces" in done.stderr else 1)
    os.close(ready[1])
    if os.read(ready[0], 1):
        for name in ("uid_map", "gid_map"):
            with open("/proc/%d/%s" % (child, name), "w", encoding="ascii") as file:
                file.write("0 0 70000")
        os.write(made[1], b"x")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def without_user_namespaces(folder):
    code = in_user_namespace(["env", "HOME=" + folder + "/users", JOULECAST, "emulate", "--target", "nexus-one", "--",
                              "true"])
    assert code in (0, 77), code
    if code == 77:
        print("not checked: no user namespace can be made")


def confined(folder):
    """Both texts are what their compilers take, with the folder of programs that was built in."""
    with open(SERVICE + "/joulecastd.apparmor.in", encoding="utf-8") as file:
        text = file.read().replace("@libexecdir@", "/usr/libexec")
    with open(folder + "/joulecastd", "w", encoding="utf-8") as file:
        file.write(text)
    for command in (["apparmor_parser", "-Q", "-K", "-T", folder + "/joulecastd"],
                    ["checkmodule", "-M", "-m", "-o", folder + "/joulecast.mod", SERVICE + "/joulecast.te"]):
        if not shutil.which(command[0]):
            print("not checked: %s is not installed" % command[0])
            continue
        done = run(command)
        assert done.returncode == 0, done
    done = run(["sh", "-n", SERVICE + "/joulecastd.openrc.in"])
    assert done.returncode == 0, done


def main():
    if os.geteuid() != 0 or not shutil.which("setpriv") or run(["unshare", "-m", "true"]).returncode:
        print("skipped: needs root, to mount and to give up rights")
        sys.exit(77)
    if run([*as_user(), JOULECAST, "--version"]).returncode:
        print("skipped: another user may not enter the build folder")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.mkdir(folder + "/users")
        os.chown(folder + "/users", USER, USER)
        for test in (confined, without_btf, with_hidepid, without_user_namespaces):
            test(folder)
            print(test.__name__)


main()
