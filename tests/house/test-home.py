#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/home/install: a user without root has the service and answers, and gets rid of all of it again.

Usage: test-home BUILD-DIR SOURCE-DIR
"""
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, SOURCE = map(os.path.realpath, sys.argv[1:])
USER = 61234  # nobody's name stands for it


def run(command, **how):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                          check=False, **how)


class Home(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="joulecast-home-")
        os.chmod(cls.folder, 0o755)
        cls.tree = cls.folder + "/tree"
        done = run([*os.environ.get("MESON", "meson").split(), "install", "-C", BUILD, "--no-rebuild", "--destdir",
                    cls.tree])
        assert done.returncode == 0, done.stdout
        os.chmod(cls.tree, 0o755)
        # The user need not be able to read the source folder.
        shutil.copytree(SOURCE + "/packaging/home", cls.folder + "/script")
        run(["chmod", "-R", "a+rX", cls.folder + "/script"])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="home-", dir=self.folder)
        self.as_user = {}
        if os.geteuid() == 0:
            os.chown(self.home, USER, USER)
            self.as_user = {"user": USER, "group": USER, "extra_groups": []}
        self.runtime = self.home + "/run"
        self.environment = {"HOME": self.home, "PATH": self.home + "/.local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                            "XDG_RUNTIME_DIR": self.runtime, "LC_ALL": "C.UTF-8"}
        self.user("mkdir", "-m", "700", self.runtime)

    def user(self, *command, code=0):
        done = run(command, env=self.environment, cwd=self.home, **self.as_user)
        self.assertEqual(done.returncode, code, (command, done.stdout))
        return done.stdout

    def install(self, *arguments):
        return self.user(self.folder + "/script/install", *arguments, self.tree)

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.home)
                      for folder, _, names in os.walk(self.home) for name in names)

    def unit(self, name):
        """The settings of an installed unit."""
        with open(f"{self.home}/.local/share/systemd/user/{name}", encoding="utf-8") as file:
            return re.findall(r"^(\w+)=(.*)$", file.read(), re.M)

    def program(self, unit):
        return dict(self.unit(unit))["ExecStart"].split()

    def start_service(self):
        """As systemd starts it; returns the process once it says that it is ready."""
        path = self.runtime + "/notify"
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(ready.close)
        ready.bind(path)
        os.chmod(path, 0o777)
        ready.settimeout(60)
        # pylint: disable=consider-using-with
        daemon = subprocess.Popen([*self.program("joulecastd.service"), "--interval", "0.5"], stderr=subprocess.PIPE,
                                  text=True, cwd=self.home, env={**self.environment, "NOTIFY_SOCKET": path},
                                  **self.as_user)
        self.addCleanup(daemon.kill)
        self.assertIn(b"READY=1", ready.recv(1000))
        return daemon

    def worker(self):
        """A program of the user that has a name of its own and something to do."""
        path = self.home + "/home-worker"
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nwhile :; do :; done\n")
        os.chmod(path, 0o755)
        worker = subprocess.Popen([path], env=self.environment, **self.as_user)  # pylint: disable=consider-using-with
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)

    def test_the_service_of_a_user_records_and_answers(self):
        said = self.install()
        self.assertIn("systemctl --user enable --now joulecastd", said)
        none = run(["joulecast", "usage"], env=self.environment, **self.as_user)  # there may be a service of the system
        self.assertIn("systemctl --user start joulecastd", none.stdout)
        self.assertIn(none.returncode, (1, 3))
        self.worker()
        daemon = self.start_service()
        self.assertTrue(os.path.exists(self.runtime + "/joulecast/focus.sock"))
        database = self.home + "/.local/state/joulecast/usage.db"
        end = time.monotonic() + 60
        apps = set()
        while "home-worker" not in apps and time.monotonic() < end:
            time.sleep(0.5)
            said = run(["joulecast", "usage", "--json"], env=self.environment, **self.as_user)
            self.assertIn(said.returncode, (0, 3), said.stdout)  # 3: before its second poll nothing is recorded
            apps = {app["app"] for app in json.loads(said.stdout)["apps"]} if said.returncode == 0 else set()
        self.assertIn("home-worker", apps)
        self.assertIn("home-worker", self.user("joulecast", "usage"))
        self.user("joulecast", "profile", "use", "class-laptop")
        self.assertNotIn("systemctl", self.user("joulecast", "status"))
        with daemon:
            daemon.terminate()
            _, words = daemon.communicate(timeout=30)
        self.assertEqual(daemon.returncode, 0, words)
        self.assertIn(database, words)
        self.assertEqual(os.stat(database).st_mode & 0o777, 0o600)
        # The timer's program: too little is recorded yet, which is no failure.
        done = run(self.program("joulecast-learn.service"), env=self.environment, **self.as_user)
        self.assertIn(done.returncode, (0, 3), done.stdout)

    def test_all_is_found_where_it_was_installed(self):
        self.install()
        for kind, name in (("virtual", "nexus-7"), ("virtual/scenarios", "airport")):
            self.user("cp", f".local/share/joulecast/{kind}/{name}.ini", f".local/share/joulecast/{kind}/my-own.ini")
        self.user("joulecast", "simulate", "--device", "virtual:my-own", "--scenario", "my-own")
        self.user("joulecast", "cost", "--device", "virtual:my-own", "--profile", "nexus-7")
        self.user("joulecast", "calibrate", "--device", "virtual:my-own", "--method", "gauge", "--dry-run")

    def test_what_only_a_system_uses_is_left_out(self):
        self.install()
        for name in self.files():
            self.assertNotRegex(name, r"/(dbus-1|polkit-1|sysusers\.d|systemd/system)/|^(?!\.local/)")
        for path in glob.glob(self.home + "/.local/share/systemd/user/*"):
            with open(path, encoding="utf-8") as file:
                self.assertNotRegex(file.read(), r"libexecdir|User=|Capabilit|/usr/local|/var/lib|multi-user")
        for name in ("joulecastd", "joulecast-learn", "joulecast-focus"):
            self.assertTrue(os.access(self.program(name + ".service")[0], os.X_OK), name)
        if shutil.which("systemd-analyze"):
            said = self.user("systemd-analyze", "--user", "verify", "--man=no",
                             *glob.glob(self.home + "/.local/share/systemd/user/*"))
            self.assertNotIn("joulecast", said)

    def test_a_second_installation_and_a_removal_leave_no_file(self):
        self.install()
        before = self.files()
        self.user("touch", ".local/share/joulecast/of-an-earlier-version")
        with open(self.home + "/.local/share/joulecast/installed", "a", encoding="utf-8") as file:
            file.write(self.home + "/.local/share/joulecast/of-an-earlier-version\n")
        self.user("touch", ".local/bin/of-the-user")
        self.install()
        self.assertEqual(self.files(), sorted([*before, ".local/bin/of-the-user"]))
        self.user(self.folder + "/script/install", "--remove")
        self.assertEqual(self.files(), [".local/bin/of-the-user"])
        self.user(self.folder + "/script/install", "--remove", code=1)

    def test_libraries_that_the_host_lacks_come_along(self):
        if not shutil.which("patchelf"):
            self.skipTest("patchelf is not installed")
        self.user("mkdir", "-p", "host/usr/lib")
        for path in glob.glob("/lib/*-linux-gnu*/*.so*") + glob.glob("/usr/lib/*-linux-gnu*/*.so*"):
            if not os.path.basename(path).startswith(("libinih", "libcjson")):
                with open(f"{self.home}/host/usr/lib/{os.path.basename(path)}", "wb"):
                    pass
        said = self.install("--host", self.home + "/host")
        self.assertRegex(said, r"libcjson\.so\.\d.*libinih\.so\.\d")
        self.assertNotIn("libsqlite3", said)
        loaded = self.user("ldd", self.home + "/.local/bin/joulecast")
        for name in ("libcjson", "libinih"):
            self.assertRegex(loaded, rf"{name}\S* => {self.home}/\.local/lib/joulecast/{name}")
        self.user("joulecast", "--version")

    def test_wrong_usage(self):
        script = self.folder + "/script/install"
        for arguments, code in (((), 2), (("--no-such",), 2), ((self.tree, "a", "b"), 2), (("--host",), 2),
                                ((self.home,), 1), ((self.tree, self.home + "/with space"), 1), (("--help",), 0)):
            said = self.user(script, *arguments, code=code)
            self.assertEqual(said.count("\n") == 1, code != 0, said)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
