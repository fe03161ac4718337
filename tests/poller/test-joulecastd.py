#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecastd as a process: this machine's real /proc, machine trees, signals, wrong usage, a second instance."""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECASTD = sys.argv[1]
TREES = sys.argv[2]
FAILING_DISK = sys.argv[3]  # a library for LD_PRELOAD
APP = "steam:4242"  # app of Case.child()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def ran_s(pid):
    """User and system time of a process, from its stat."""
    return sum(map(int, read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[11:13])) / 100


def rows(path, mode="rw"):
    """(interval, app, usage by column) of all intervals."""
    with contextlib.closing(sqlite3.connect("file:%s?mode=%s" % (path, mode), uri=True)) as database:
        database.row_factory = sqlite3.Row
        for row in database.execute("SELECT usage.*, app.app AS id_of_app FROM usage JOIN app ON app.id = usage.app "
                                    "ORDER BY usage.id"):
            yield row["interval"], row["id_of_app"], row


def intervals(path):
    """How many were stored; none where the file, or its tables, are not there yet."""
    try:
        return len({row[0] for row in rows(path)}) if os.path.exists(path) else 0
    except sqlite3.OperationalError:
        return 0


def total(path, app, column):
    return sum(usage[column] or 0 for _, name, usage in rows(path) if name == app)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="joulecast-test-")
        self.database = os.path.join(self.folder.name, "usage.db")

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *arguments, **more):
        return subprocess.run([JOULECASTD, "--database", self.database, *arguments], capture_output=True, text=True,
                              timeout=60, check=False, **more)

    def start(self, *arguments, **more):
        # The machine's own socket may be another joulecastd's, which says so.
        focus = [] if "--machine" in arguments else ["--focus-socket", os.path.join(self.folder.name, "focus.sock")]
        return subprocess.Popen([JOULECASTD, "--database", self.database, *focus, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def child(self, script, *arguments):
        """A Python process with an app of its own in any session, as Steam starts a game."""
        reaper = os.path.join(self.folder.name, "reaper")
        os.symlink(sys.executable, reaper)
        return subprocess.Popen([reaper, "-c", script, "SteamLaunch", "AppId=4242", *arguments], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)

    def spinner(self, seconds):
        """A child that waits for a line, spins, prints a line and waits."""
        child = self.child("import time\nprint(flush=True)\ninput()\n"
                           f"until = time.process_time() + {seconds}\n"
                           "while time.process_time() < until: pass\nprint(flush=True)\ninput()\n")
        child.stdout.readline()
        return child

    def run_child(self, child):
        child.stdin.write(b"\n")
        child.stdin.flush()
        child.stdout.readline()

    def wait_for_interval(self):
        """Until the first interval is stored: from then on nothing is missed."""
        for _ in range(300):
            time.sleep(0.1)
            if intervals(self.database) > 0:
                return
        self.fail("no interval was stored in 30 s")

    def wait_for_words(self, daemon):
        """It says what it watches just before the first poll."""
        self.assertIn("watching", daemon.stderr.readline())
        time.sleep(0.3)

    def unpack(self, name):
        root = os.path.join(self.folder.name, name)
        with open(os.path.join(TREES, name + ".tree"), encoding="utf-8") as file:
            for line in file:
                if line.startswith("#"):
                    continue
                path, content = line.rstrip("\n").split("\t", 1)
                self.write(os.path.join(root, path),
                           content.encode().decode("unicode_escape").encode("latin-1", "replace"))
        return root

    def write(self, path, content):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


class RealMachine(Case):
    def test_spinning_child_is_found_to_a_tick(self):
        with self.spinner(0.7) as child:
            daemon = self.start("--interval", "0.3")
            self.wait_for_interval()
            first = ran_s(child.pid)
            self.run_child(child)
            last = ran_s(child.pid)
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
            child.kill()
        self.assertEqual(daemon.returncode, 0, words)
        found = total(self.database, APP, "cpu_busy_ns") / 1e9
        self.assertGreater(last - first, 0.6)
        self.assertAlmostEqual(found, last - first, delta=0.0201)  # stat rounds user and system time apart

    def test_written_bytes_are_found(self):
        script = "import os, sys\nfile = open(sys.argv[3], 'wb')\nprint(flush=True)\ninput()\n" \
                 "file.write(b'x' * 4096000)\nfile.flush()\nos.fsync(file.fileno())\nprint(flush=True)\ninput()\n"

        def written():
            return int(read(f"/proc/{child.pid}/io").split("\nwrite_bytes: ")[1].split("\n")[0])

        with self.child(script, os.path.join(self.folder.name, "data")) as child:
            child.stdout.readline()  # it has opened its file
            daemon = self.start("--interval", "0.3")
            self.wait_for_interval()
            before = written()
            self.run_child(child)
            want = written() - before
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
            child.kill()
        self.assertEqual(daemon.returncode, 0, words)
        found = total(self.database, APP, "write_bytes")
        self.assertGreaterEqual(want, 4096000)
        self.assertEqual(found, want)

    def check_nothing_is_missing(self):
        """One interval spans what it could not measure or store, and what the child ran then is in it."""
        with sqlite3.connect(self.database) as database:
            times = database.execute("SELECT start_ns, end_ns FROM interval ORDER BY end_ns").fetchall()
        database.close()
        self.assertGreater(max(end - start for start, end in times), 0.9e9)
        for (_, end), (start, _) in zip(times, times[1:]):
            self.assertAlmostEqual(end / 1e9, start / 1e9, delta=0.01)
        self.assertGreater(total(self.database, APP, "cpu_busy_ns"), 1.1e9)

    def open_descriptors(self, daemon):
        return set(map(int, os.listdir(f"/proc/{daemon.pid}/fd")))

    def test_a_collector_that_fails_says_so_once_and_loses_nothing(self):
        null = os.open(os.devnull, os.O_RDONLY)
        held = [fcntl.fcntl(null, fcntl.F_DUPFD, 3) for _ in range(60)]  # so that there is no hole below
        with self.spinner(1.2) as child, self.start("--collector", "proc", "--interval", "0.2",
                                                    pass_fds=held) as daemon:
            self.wait_for_interval()
            limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
            kept = self.open_descriptors(daemon)
            for _ in range(40):  # a poll has more of them open, for a moment
                time.sleep(0.02)
                kept &= self.open_descriptors(daemon)
            lowest = min(set(range(limits[0])) - kept)
            self.assertGreater(lowest, 40)  # ppoll() takes no more descriptors than may be open
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (lowest, limits[1]))
            self.run_child(child)
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
            time.sleep(0.6)
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
            child.kill()
        for fd in [null, *held]:
            os.close(fd)
        self.assertEqual(daemon.returncode, 0, words)
        self.assertEqual(words.count('the collector "proc" failed (too many open files; raise LimitNOFILE'), 1, words)
        self.assertEqual(words.count('the collector "proc" works again'), 1, words)
        self.assertNotIn("No such device", words)
        self.assertEqual(len(set(words.splitlines())), words.count("\n"), words)  # nothing twice
        self.check_nothing_is_missing()

    def test_too_few_descriptors_are_said_in_one_sentence(self):
        for most in (24, 26, 30, 34, 40, 64):
            def lower(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            for collector in ("auto", "kept", "proc"):
                done = self.run_it("--collector", collector, "--count", "2", "--interval", "0.1", preexec_fn=lower)
                self.assertEqual(done.returncode, 1, (most, collector, done.stderr))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn("raise LimitNOFILE= of the service, or ulimit -n", done.stderr)

    def test_it_takes_the_descriptors_that_it_may_have(self):
        with self.start("--collector", "proc", "--interval", "3600",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 500))) as daemon:
            self.wait_for_words(daemon)
            limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
        self.assertEqual((daemon.returncode, limits), (0, (500, 500)), words)

    def test_sigterm_ends_with_a_last_poll(self):
        daemon = self.start("--interval", "3600")
        self.wait_for_words(daemon)
        daemon.send_signal(signal.SIGTERM)
        _, words = daemon.communicate(timeout=20)
        self.assertEqual(daemon.returncode, 0, words)
        self.assertEqual(len({row[0] for row in rows(self.database)}), 1)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.database))), ["usage.db"])

    def test_a_database_that_is_deleted_makes_room_for_a_new_one(self):
        folder = os.path.join(self.folder.name, "named")
        os.mkdir(folder)
        self.database = os.path.join(folder, "usage.db")
        aside = os.path.join(self.folder.name, "aside.db")
        with self.start("--interval", "0.2") as daemon:
            self.wait_for_interval()
            os.rename(self.database, aside)
            self.wait_for_interval()
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            self.wait_for_interval()
            os.rename(folder, folder + ".away")  # one that somebody named, and that may be on a disk that is gone
            try:
                _, words = daemon.communicate(timeout=20)
            finally:
                daemon.kill()
                os.rename(folder + ".away", folder)
        self.assertEqual(daemon.returncode, 1, words)
        self.assertEqual(words.count(f"{self.database} was deleted or moved away; a new one begins"), 3, words)
        self.assertIn("its folder does not exist", words.splitlines()[-1])
        self.assertEqual(words.count("\n"), 5, words)
        for database in (aside, self.database):
            self.assertGreater(len({row[0] for row in rows(database)}), 0)

    def run_while_it_cannot_write(self, stop, go_on, **more):
        """What the service says of a child that runs between stop(daemon) and go_on(daemon)."""
        with self.spinner(1.2) as child, \
                self.start("--collector", "proc", "--interval", "0.2", **more) as daemon:
            self.wait_for_interval()
            stop(daemon)
            self.run_child(child)
            go_on(daemon)
            time.sleep(0.6)
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
            child.kill()
        os.unlink(os.path.join(self.folder.name, "reaper"))
        self.assertEqual(daemon.returncode, 0, words)
        self.assertEqual(words.count("cannot write to the database"), 1, words)
        self.assertEqual(words.count("the database can be written again"), 1, words)
        self.check_nothing_is_missing()
        return words

    def test_a_full_disk_is_told_once_and_loses_nothing(self):
        limits = []
        words = self.run_while_it_cannot_write(
            lambda daemon: limits.append(resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE,
                                                          (4096, resource.RLIM_INFINITY))),
            lambda daemon: resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limits[0]),
            restore_signals=False)  # no SIGXFSZ
        self.assertEqual(words.count("\n"), 4, words)
        self.assertEqual(words.count("cannot use"), 1, words)

    def test_a_disk_that_fails_is_told_once_and_loses_nothing(self):
        failure = os.path.join(self.folder.name, "failure")
        environment = {**os.environ, "LD_PRELOAD": FAILING_DISK, "FAILING_DISK": failure,
                       "ASAN_OPTIONS": "verify_asan_link_order=0"}
        for error in errno.EIO, errno.EROFS:
            with self.subTest(os.strerror(error)):
                self.database = os.path.join(self.folder.name, f"usage-{error}.db")
                self.run_while_it_cannot_write(lambda daemon: self.write(failure, b"%d" % error),
                                               lambda daemon: os.unlink(failure), env=environment)

    def test_killed_it_leaves_a_database_that_goes_on(self):
        daemon = self.start("--interval", "0.2")
        self.wait_for_interval()
        daemon.kill()
        daemon.communicate()
        before = len({row[0] for row in rows(self.database, "ro")})
        done = self.run_it("--interval", "0.2", "--count", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("checksums", done.stderr)
        self.assertEqual(len({row[0] for row in rows(self.database)}), before + 2)

    def test_killed_and_read_by_who_may_write_it_goes_on(self):
        daemon = self.start("--interval", "0.2")
        self.wait_for_interval()
        daemon.kill()
        daemon.communicate()
        before = len({row[0] for row in rows(self.database, "ro")})
        # The last process that has it open folds in the -wal, without checksums.
        reader = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT 1 FROM interval').fetchall()"
        subprocess.run([sys.executable, "-c", reader, self.database], check=True)
        self.assertFalse(os.path.exists(self.database + "-wal"))
        done = self.run_it("--interval", "0.2", "--count", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("its checksums are computed anew"), 1, done.stderr)
        self.assertEqual(len({row[0] for row in rows(self.database)}), before + 2)

    def test_stopped_while_another_program_reads_it_goes_on(self):
        with self.start("--interval", "0.2") as daemon:
            self.wait_for_interval()
            reader = sqlite3.connect(self.database)
            before = reader.execute("SELECT count(*) FROM interval").fetchone()[0]
            daemon.terminate()
            daemon.communicate()
        reader.close()  # the last one: folds in the -wal
        done = self.run_it("--interval", "0.2", "--count", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len({row[0] for row in rows(self.database)}), before + 2)

    def test_killed_and_changed_on_the_disk_it_is_damaged(self):
        self.assertEqual(self.run_it("--interval", "0.2", "--count", "3").returncode, 0)
        with open(self.database, "r+b") as file:  # a byte in the middle of each page but the first
            for page in range(1, os.path.getsize(self.database) // 4096):
                file.seek(page * 4096 + 5)
                file.write(b"\xff")
        with open(self.database + "-lock", "wb"):
            pass
        done = self.run_it("--interval", "0.2", "--count", "1")
        self.assertIn("damaged", done.stderr)

    def test_second_instance_says_one_sentence(self):
        with self.start("--interval", "3600") as daemon:
            self.wait_for_words(daemon)
            done = self.run_it("--count", "1")
            daemon.terminate()
            daemon.communicate()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("another joulecast program", done.stderr)

    def test_manager_hears_when_it_is_ready(self):
        import socket
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = os.path.join(self.folder.name, "notify")
            manager.bind(path)
            manager.settimeout(10)
            with self.start("--interval", "3600", env={**os.environ, "NOTIFY_SOCKET": path}) as daemon:
                self.assertEqual(manager.recv(100), b"READY=1")
                daemon.terminate()
                self.assertEqual(manager.recv(100), b"STOPPING=1")
                daemon.communicate()

    def test_the_watchdog_gets_a_sign_of_each_poll(self):
        path = os.path.join(self.folder.name, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(60)
            environment = {**os.environ, "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "180000000"}
            with self.start("--interval", "0.2", env=environment) as daemon:
                self.assertEqual(manager.recv(100), b"READY=1")
                for _ in range(3):
                    self.assertEqual(manager.recv(100), b"WATCHDOG=1")
                daemon.send_signal(signal.SIGSTOP)  # stuck, it is silent
                time.sleep(0.5)
                manager.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    while manager.recv(100):
                        pass
                daemon.send_signal(signal.SIGCONT)
                manager.settimeout(60)
                self.assertEqual(manager.recv(100), b"WATCHDOG=1")
                daemon.terminate()
                daemon.communicate()
            with self.start("--interval", "3600", env=environment) as daemon:  # no wake-up between, but more patience
                while not (said := manager.recv(100)).startswith(b"READY=1"):
                    pass
                self.assertEqual(said, b"READY=1\nWATCHDOG_USEC=14400000000")
                daemon.terminate()
                daemon.communicate()

    def as_stranger(self):
        """With a database that it finds by itself, as nobody's root."""
        home = os.path.dirname(os.path.dirname(self.database)) if "/joulecast/" in self.database else self.folder.name
        stranger = 61000 + os.getpid() % 1000
        who = {"user": stranger, "group": stranger, "extra_groups": []} if os.geteuid() == 0 else {}
        for path in (self.folder.name, home, os.path.dirname(self.database)) if who else ():
            os.chown(path, stranger, stranger)
        return {"text": True, "env": {**os.environ, "XDG_STATE_HOME": home}, **who}

    def poll_own(self, *arguments):
        return subprocess.run([JOULECASTD, "--interval", "0.2", "--count", "4", *arguments], capture_output=True,
                              timeout=60,
                              check=False, **self.as_stranger())

    @contextlib.contextmanager
    def taken(self, how):
        """Something is where the database is to be, until the test is done with it."""
        if how in ("a folder", "a pipe"):
            (os.mkdir if how == "a folder" else os.mkfifo)(self.database)
            yield
            (os.rmdir if how == "a folder" else os.unlink)(self.database)
        elif how == "another joulecast":
            with open(self.database + "-lock", "wb") as lock:
                os.chown(lock.fileno(), os.stat(os.path.dirname(self.database)).st_uid, -1)
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        else:
            self.poll_own()
            database = sqlite3.connect(self.database, isolation_level=None)
            made = database.execute("PRAGMA user_version").fetchone()[0]
            for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE") if how == "a lock" else ():
                database.execute(statement)
            if how == "a newer version":
                database.close()
                usage_db.change(self.database, "PRAGMA user_version = %d" % (made + 10000))
            yield
            database.close()
            if how == "a newer version":
                usage_db.change(self.database, "PRAGMA user_version = %d" % made)

    def test_a_place_that_is_taken_is_waited_for(self):
        words_of = {"a folder": "is no file", "a pipe": "is no file",
                    "another joulecast": "another joulecast program is writing",
                    "a lock": "locked", "a newer version": "a newer version of joulecast made"}
        for how, word in words_of.items():
            folder = os.path.join(self.folder.name, how.replace(" ", "-"), "joulecast")
            os.makedirs(folder)
            self.database = os.path.join(folder, "usage.db")
            who = self.as_stranger()
            with self.taken(how):
                daemon = subprocess.Popen([JOULECASTD, "--interval", "0.2", "--focus-socket", folder + "/focus"],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **who)
                words = []
                while not words or "watching" not in words[-1]:
                    words.append(daemon.stderr.readline())
                    self.assertTrue(words[-1], words)
                time.sleep(1)  # several polls
                self.assertIsNone(daemon.poll(), words)
            before = intervals(self.database)
            end = time.monotonic() + 30
            while time.monotonic() < end and not (os.path.exists(self.database + "-wal")
                                                  and intervals(self.database) > before):
                time.sleep(0.1)
            daemon.terminate()
            words.append(daemon.communicate(timeout=20)[1])
            words = "".join(words)
            self.assertEqual(daemon.returncode, 0, (how, words))
            self.assertEqual(words.count(word), 1, (how, words))
            self.assertEqual(words.count("each poll tries again"), 1, (how, words))
            self.assertEqual(words.count("the database can be written again"), 1, (how, words))
            self.assertEqual([name for name in os.listdir(folder) if "damaged" in name], [], how)
            with sqlite3.connect(self.database) as database:
                spans = database.execute("SELECT elapsed_ns FROM interval ORDER BY end_ns").fetchall()
            database.close()
            self.assertGreater(max(span for span, in spans), 0.5e9, how)  # the one that waited

    def test_a_damaged_database_of_its_own_is_put_aside(self):
        folder = os.path.join(self.folder.name, "joulecast")
        path = os.path.join(folder, "usage.db")
        done = self.poll_own()
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            whole = file.read()
        with sqlite3.connect(path) as database:
            page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'interval'").fetchone()[0]
            size = database.execute("PRAGMA page_size").fetchone()[0]
        damages = {"header": b"x" * 4096 + whole[4096:],
                   "all but the header": whole[:4096] + b"\xff" * (len(whole) - 4096),
                   "intervals": whole[:(page - 1) * size] + b"\xff" * size + whole[page * size:]}
        for what, damaged in damages.items():
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            self.write(path, damaged)
            os.chmod(path, 0o666)
            done = self.poll_own()
            self.assertEqual(done.returncode, 0, (what, done.stderr))
            self.assertIn("a new one begins", done.stderr, what)
            aside = [name for name in os.listdir(folder) if name.startswith("usage.db.damaged-2")]
            self.assertEqual(len(aside), 1, (what, os.listdir(folder)))
            with open(os.path.join(folder, aside[0]), "rb") as file:
                self.assertEqual(file.read(), damaged, what)
            self.assertGreaterEqual(len({row[0] for row in rows(path)}), 2, what)

    def test_without_root_it_watches_its_own(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become somebody else")
        arguments = [JOULECASTD, "--database", os.path.join(self.folder.name, "own.db"), "--interval", "0.3",
                     "--count", "3"]
        stranger = 61000 + os.getpid() % 1000  # nobody has processes of his own on some machines
        os.chown(self.folder.name, stranger, stranger)
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, user=stranger, group=stranger,
                              extra_groups=[], check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("your own", done.stderr)
        for _, app, _ in rows(os.path.join(self.folder.name, "own.db")):
            self.assertIn(app, ("", "joulecastd"))


class Trees(Case):
    def test_counters_that_move(self):
        root = self.unpack("phone")
        daemon = self.start("--interval", "0.4", "--machine", root)
        self.wait_for_words(daemon)
        state = "sys/devices/system/cpu/cpufreq/policy{{}}/stats/time_in_state"
        self.write(os.path.join(root, state.format(0)), b"300000 1000\n960000 120\n1900800 7\n")
        self.write(os.path.join(root, "proc/777/stat"),
                   b"777 (a) R 1 (b) S 1 1 1 0 -1 0 0 0 0 0 32 64 0 0 20 0 1 0 5000 0\n")
        self.write(os.path.join(root, "proc/777/io"),
                   b"read_bytes: 14096\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n")
        time.sleep(1)
        daemon.terminate()
        _, words = daemon.communicate(timeout=20)
        self.assertEqual(daemon.returncode, 0, words)
        for column, wanted in ("cpu_busy_ns", 5e8), ("read_bytes", 10000), ("write_bytes", 0):
            self.assertEqual(total(self.database, "a) R 1 (b", column), wanted, column)
        database = sqlite3.connect(self.database)
        self.assertIn((63, 1890000),
                      database.execute("SELECT capacity_percent, charge_now_uah FROM interval").fetchall())
        points = database.execute("SELECT \"group\", key FROM key WHERE keyed = 0").fetchall()
        database.close()
        self.assertIn((0, 960000), points)

    def screen_times(self, changed_ns):
        """Seconds of each app, and those from the start of the interval to the change and on to its end."""
        with sqlite3.connect(self.database) as database:
            start_ns, end_ns = database.execute("SELECT min(start_ns), max(end_ns) FROM interval").fetchone()
        database.close()
        times = {app: usage["screen_on_ns"] / 1e9 for _, app, usage in rows(self.database) if usage["screen_on_ns"]}
        return times, (changed_ns - start_ns) / 1e9, (end_ns - changed_ns) / 1e9

    def test_foreground_from_a_file_gets_the_screen(self):
        root = self.unpack("phone")
        who = os.path.join(self.folder.name, "who")
        config = os.path.join(self.folder.name, "joulecast.conf")
        self.write(config, f"[poller]\nforeground = file:{who}\n".encode())
        self.write(who, b"firefox\n")
        daemon = self.start("--interval", "3600", "--machine", root, "--config", config)
        self.wait_for_words(daemon)
        time.sleep(0.5)
        self.write(who, b"python3\n")
        changed_ns = os.stat(who).st_mtime_ns
        time.sleep(0.5)
        daemon.terminate()
        _, words = daemon.communicate(timeout=20)
        self.assertEqual(daemon.returncode, 0, words)
        times, before, after = self.screen_times(changed_ns)
        self.assertEqual(set(times), {"firefox", "python3"})
        self.assertAlmostEqual(times["firefox"], before, places=3)
        self.assertAlmostEqual(times["python3"], after, places=3)

    def test_foreground_command_is_heard_when_it_speaks(self):
        root = self.unpack("phone")
        config = os.path.join(self.folder.name, "joulecast.conf")
        pipe = os.path.join(self.folder.name, "pipe")
        os.mkfifo(pipe)
        self.write(config, f"[poller]\nforeground = command:echo firefox; cat {pipe}\n".encode())
        daemon = self.start("--interval", "3600", "--machine", root, "--config", config)
        self.wait_for_words(daemon)
        time.sleep(0.5)
        with open(pipe, "w", encoding="utf-8") as speaker:
            speaker.write("python3\n")
            speaker.flush()
            changed_ns = time.time_ns()
            time.sleep(0.5)
            daemon.terminate()
            _, words = daemon.communicate(timeout=20)
        self.assertEqual(daemon.returncode, 0, words)
        times, before, after = self.screen_times(changed_ns)
        self.assertAlmostEqual(times["firefox"], before, delta=0.3)
        self.assertAlmostEqual(times["python3"], after, delta=0.3)

    def test_a_foreground_command_that_will_not_end_is_ended(self):
        config = os.path.join(self.folder.name, "joulecast.conf")
        self.write(config, b"[poller]\nforeground = command:trap '' TERM; echo $$; while :; do sleep 0.1; done\n")
        daemon = self.start("--interval", "3600", "--machine", self.unpack("phone"), "--config", config)
        self.wait_for_words(daemon)
        began = time.monotonic()
        daemon.terminate()
        try:
            _, words = daemon.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.communicate()
            raise
        self.assertEqual(daemon.returncode, 0, words)
        self.assertLess(time.monotonic() - began, 5)

    def test_every_tree_runs(self):
        for name in ("laptop", "old-phone", "server"):
            done = self.run_it("--interval", "0.1", "--count", "3", "--machine", self.unpack(name))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stderr)


class Usage(Case):
    def test_wrong_usage(self):
        for arguments in (["--interval", "0"], ["--interval", "nan"], ["--interval", "x"], ["--interval"],
                          ["--count", "0"],
                          ["--count", "-1"], ["--collector", "magic"], ["--no-such"], ["word"]):
            done = self.run_it(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_tree_needs_a_database_of_its_own(self):
        done = subprocess.run([JOULECASTD, "--machine", self.unpack("server"), "--count", "1"], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_wrong_configuration(self):
        config = os.path.join(self.folder.name, "joulecast.conf")
        for text in ("[poller]\ninterval_s = 0\n", "[poller]\nx = 1\n", "[other]\ninterval_s = 5\n", "interval_s\n",
                     "[poller]\nforeground = magic\n", "[poller]\ncounters = maybe\n", "[poller]\ninterval_s = 5"):
            self.write(config, text.encode())
            done = self.run_it("--count", "1", "--config", config)
            self.assertEqual(done.returncode, 1, (text, done.stderr))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_not_a_database(self):
        self.write(self.database, b"this is not a database" * 100)
        done = self.run_it("--count", "2", "--interval", "0.1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_no_place_for_a_database(self):
        self.assertEqual(self.run_it("--count", "1", "--database", "").returncode, 2)
        for place in (self.folder.name, "/dev/null", "/proc/no-such", self.folder.name + "/mistyped/usage.db"):
            done = subprocess.run([JOULECASTD, "--database", place, "--count", "1"], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 1, (place, done.stderr))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.run_it("--count", "1", "--interval", "0.1", "--focus-socket", self.folder.name + "/mistyped/focus.sock")
        self.assertFalse(os.path.exists(self.folder.name + "/mistyped"))

    def test_help(self):
        done = self.run_it("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--interval", done.stdout)
        self.assertIn("raw_hours", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
