# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL of its own, in a folder of its own, reached by a socket in it. Root gives itself up for it."""
import contextlib
import glob
import os
import pwd
import signal
import subprocess


def program(name):
    """The newest installed; None: there is none."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else None


class Cluster:
    """with Cluster(FOLDER) as url: ... FOLDER must be new, and others must be able to enter its parents."""

    def __init__(self, folder, like=None, sync=False):
        """@like: one that was made and has not run yet, which is copied. @sync: what is committed is on the disk."""
        self.folder = folder
        self.sync = "on" if sync else "off"
        self.who = {}
        self.killed = False
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.mkdir(folder, 0o700)
        if self.who:
            os.chown(folder, self.who["user"], self.who["group"])
        self.data = os.path.join(folder, "data")
        if like:
            subprocess.run(["cp", "-a", like.data, self.data], check=True)
        else:
            self.run("initdb", "--auth", "trust", "--username", "joulecast", "--no-sync", "--encoding", "UTF8",
                     "--locale", "C", "-D", self.data)

    def run(self, name, *words):
        with open(os.path.join(self.folder, f"{name}.out"), "ab") as log:
            subprocess.run([program(name), *words], check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           cwd="/", **self.who)

    def __enter__(self):
        self.run("pg_ctl", "start", "-w", "-D", self.data, "-l", os.path.join(self.folder, "server.log"),
                 "-o", f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync={self.sync}")
        return self.url("postgres")

    def url(self, database):
        return f"postgresql://joulecast@/{database}?host={self.folder}"

    def make(self, database):
        """An empty database; its URL."""
        self.run("createdb", "-h", self.folder, "-U", "joulecast", database)
        return self.url(database)

    def processes(self):
        """The server, and all of its processes."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            first = int(file.readline())
        with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
            return [first] + [int(pid) for pid in file.read().split()]

    def signal_all(self, number):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, number)

    def freeze(self):
        self.signal_all(signal.SIGSTOP)

    def wake(self):
        self.signal_all(signal.SIGCONT)

    def __exit__(self, *what):
        if not self.killed:
            self.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self.data)

    def kill(self):
        """As a server that dies."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            os.kill(int(file.readline()), 9)
        self.killed = True
