#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""`joulecast-community pool` and `joulecast community profile`: what devices of a model say
together, and who may learn what.

Usage: test-community-pool.py JOULECAST JOULECAST-COMMUNITY [serve]
"""
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import pools  # noqa: E402
from server import Server

JOULECAST, PROGRAM = map(os.path.abspath, sys.argv[1:3])


class Pool(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.top = place.name
        self.folder, self.out, self.profile = (os.path.join(self.top, name) for name in ("in", "out", "profile.ini"))
        os.mkdir(self.folder)

    def pool(self, *more):
        done = pools.pool(PROGRAM, self.folder, self.out, "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fetch(self, *more):
        machine = pools.make_machine(os.path.join(self.top, "machine"))
        return pools.fetch(JOULECAST, machine, self.out, self.profile, *more)

    def bytes_of(self, folder):
        return {name: pathlib.Path(os.path.join(folder, name)).read_bytes() for name in sorted(os.listdir(folder))}

    def cards(self, n, networks, **more):
        rng = random.Random(n)
        for number in range(n):
            values, errors = pools.measured(rng, pools.device(rng, pools.TRUTH, 0.3), 0.08)
            pools.write_card(os.path.join(self.folder, f"network{number % networks}", f"{number:032x}-profile.ini"),
                values, errors, **more)

    def test_fleets_hold(self):
        """20 devices that differ by 30 %, and three liars: a further device is inside as often as promised."""
        found = pools.judge(JOULECAST, PROGRAM, self.top, range(101, 121), further=10)
        for kind in ("coefficients", "an hour"):
            held = sum(inside for inside, *_ in found[kind]) / len(found[kind])
            self.assertTrue(0.93 <= held <= 0.98, f"{kind}: {held}")
        _, _, parts, least, _ = zip(*found["coefficients"])
        self.assertLess(statistics.median(parts), 0.5)
        self.assertLess(statistics.median(parts), 1.15 * statistics.median(least))

    def test_one_lie_moves_little(self):
        self.cards(12, 4)
        self.pool()
        name = next(name for name in os.listdir(self.out) if name.startswith("model-"))
        before = pools.Profile(os.path.join(self.out, name))
        for factor in (0, 0.1, 3, 1000, 1e6):
            lies = {key: factor * value for key, value in pools.TRUTH.items()}
            pools.write_card(os.path.join(self.folder, "network0", "f" * 32 + "-profile.ini"), lies,
                {key: 0.001 for key in lies})
            self.pool()
            after = pools.Profile(os.path.join(self.out, name))
            for key, (value, error) in before.numbers.items():
                self.assertLess(abs(after.numbers[key][0] - value), error, (factor, key))
                self.assertLess(after.numbers[key][1], 2 * error, (factor, key))

    def test_who_is_sure_of_nothing(self):
        """All say 0, and one without any error."""
        for number in range(10):
            pools.write_card(os.path.join(self.folder, f"network{number % 4}", f"{number:032x}-profile.ini"),
                pools.TRUTH | {"wifi.on_mw": 0},
                {key: 30 for key in pools.TRUTH} | {"wifi.on_mw": 30 if number else 1e-9})
        self.pool()
        name = next(name for name in os.listdir(self.out) if name.startswith("model-"))
        self.assertGreater(pools.Profile(os.path.join(self.out, name)).numbers["wifi.on_mw"][1], 5)

    def test_what_five_add(self):
        """Five of another kind among eight, or all of them with a lot to say: the pool can be used."""
        other = {"brightness": ({"display.power_mw.96000": 3500}, ("max_brightness = 1000", "max_brightness = 96000")),
                 "liars": ({key: 50 * value for key, value in pools.TRUTH.items()} | {"cpu 0.active_mw.3000000": 5},
                           ("", "")),
                 "many": ({f"cpu 0.active_mw.{900000 + number}": 310 + number for number in range(100)}, ("", "")),
                 "as": ({"cpu 4.active_mw.800000": 300}, ("", ""))}
        for kind, (more, (old, new)) in other.items():
            with self.subTest(kind=kind):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                if os.path.exists(self.profile):
                    os.unlink(self.profile)
                self.cards(20 if kind == "liars" else 8, 4)
                if kind == "as":
                    for path in pathlib.Path(self.folder).glob("*/*"):
                        path.write_text(path.read_text("utf-8") + "[cpu 4]\nas = 0\n", "utf-8")
                        os.utime(path, (1, 1))
                for number in range(5):
                    values = pools.TRUTH | more
                    path = os.path.join(self.folder, f"other{number}", f"{number:031x}f-profile.ini")
                    pools.write_card(path, values, {key: 0.1 * value for key, value in values.items()})
                    text = pathlib.Path(path).read_text("utf-8")
                    pathlib.Path(path).write_text(text.replace(old, new), "utf-8")
                    os.utime(path, (1, 1))
                self.pool()
                done = self.fetch("--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([pool["part"] for pool in json.loads(done.stdout)["pools"]], ["cpu", "model"])
                if kind == "liars":
                    name = next(name for name in os.listdir(self.out) if name.startswith("model-"))
                    self.assertNotIn("3000000", pathlib.Path(self.out, name).read_text("utf-8"))

    def test_invented_points(self):
        """Five of five networks, in a large group, do not decide a coefficient that nobody else has."""
        key = next(key for key in pools.TRUTH if "active_mw" in key).rsplit(".", 1)[0] + ".3456000"
        self.cards(30, 4)
        for number in range(5):
            values = pools.TRUTH | {key: 5000}
            pools.write_card(os.path.join(self.folder, f"other{number}", f"{number + 2:031x}f-profile.ini"), values,
                             {name: 0.1 * value for name, value in values.items()})
        self.assertEqual({pool["devices"] for pool in self.pool()["pools"]}, {35})
        for name in os.listdir(self.out):
            self.assertRegex(name, r"-[0-9a-f]{16}\.ini$")
            self.assertNotIn("3456000", pathlib.Path(self.out, name).read_text("utf-8"))

    def test_one_damaged_pool(self):
        """It does not end the fetch of the others; nor is the pool of another name taken for this device's."""
        self.cards(8, 4)
        self.pool()
        model, cpu = (pathlib.Path(self.out, next(name for name in os.listdir(self.out) if name.startswith(part)))
                      for part in ("model-", "cpu-"))
        whole = model.read_text("utf-8")
        for damaged in ("nonsense", "", whole.replace("Acme Book 14", "Acme Book 15"), whole[:-30] + "[base\n"):
            model.write_text(damaged, "utf-8")
            done = self.fetch("--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([pool["part"] for pool in json.loads(done.stdout)["pools"]], ["cpu"])
            os.unlink(self.profile)
        model.write_text("nonsense", "utf-8")
        cpu.write_text("nonsense", "utf-8")
        self.assertEqual(self.fetch("--json").returncode, 1)
        self.assertFalse(os.path.exists(self.profile))

    def test_an_edition_that_fails(self):
        """Pools of before stay until those of the new edition are written; then what is not in it goes."""
        self.cards(8, 4)
        self.pool()
        model, cpu = (pathlib.Path(self.out, next(name for name in os.listdir(self.out) if name.startswith(part)))
                      for part in ("model-", "cpu-"))
        os.unlink(model)
        os.mkdir(model)
        self.assertEqual(pools.pool(PROGRAM, self.folder, self.out).returncode, 1)
        self.assertTrue(cpu.exists())
        os.rmdir(model)
        old = pathlib.Path(self.out, "radio-acme-01234567.ini")
        old.write_text("of an edition before\n", "utf-8")
        self.pool()
        self.assertTrue(model.exists() and cpu.exists() and not old.exists())

    def test_a_long_name(self):
        maker, product = "Acme Computer International Co. Ltd.", "Acme Book of the Long Name 14"
        self.cards(6, 3, model=f"{maker} {product}", more="")
        self.pool()
        machine = pools.make_machine(os.path.join(self.top, "machine"), maker, product)
        done = pools.fetch(JOULECAST, machine, self.out, self.profile)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_network_decides_nothing(self):
        """Twenty who agree in one network against nine in three others: their weight is bounded."""
        self.cards(9, 3)
        for number in range(20):
            lies = {key: 3 * value for key, value in pools.TRUTH.items()}
            pools.write_card(os.path.join(self.folder, "many", f"{number:031x}f-profile.ini"), lies,
                {key: 0.01 * lies[key] for key in lies})
        self.assertEqual({pool["devices"] for pool in self.pool()["pools"]}, {13})

    def test_too_few(self):
        for n, networks, given in ((4, 4, 0), (5, 2, 0), (5, 3, 2), (9, 1, 0)):
            with self.subTest(n=n, networks=networks):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                self.cards(n, networks)
                self.assertEqual(len(self.pool()["pools"]), given)

    def test_a_week_old(self):
        self.cards(5, 3, when=pools.EDITION_S - pools.WEEK + 1)
        said = self.pool()
        self.assertEqual((said["devices"], said["left_out"]["young"], said["pools"]), (0, 5, []))

    def test_same_bytes_and_forget(self):
        self.cards(6, 3)
        self.pool()
        first = self.bytes_of(self.out)
        self.pool()
        self.assertEqual(self.bytes_of(self.out), first)
        database = os.path.join(self.top, "d.db")
        with open(os.path.join(self.top, "one.ndjson"), "w", encoding="utf-8") as file:
            file.write(json.dumps({"v": 1, "client": f"{77:032x}", "first": 0, "apps": {"0": "a"}}) + "\n" + json.dumps(
                {"t": 0, "t2": 10**12, "level_ppm": 900000, "level2_ppm": 890000, "apps": [0]}) + "\n")
        subprocess.run([PROGRAM, "load", os.path.join(self.top, "one.ndjson"), "--database", database], check=True,
                       capture_output=True)
        change = lambda *words: subprocess.run(  # noqa: E731
            [PROGRAM, *words, "--database", database, "--profiles", self.folder], capture_output=True, check=False,
            text=True).returncode
        self.assertEqual(change("quarantine", f"{0:032x}"), 0)
        said = self.pool()
        self.assertEqual(({pool["devices"] for pool in said["pools"]}, said["left_out"]["quarantined"]), ({5}, 1))
        self.assertEqual(change("quarantine", f"{0:032x}", "--release"), 0)
        self.pool()
        self.assertEqual(self.bytes_of(self.out), first)
        self.assertEqual(change("forget", f"{99:032x}"), 3)
        self.assertEqual(change("forget", f"{77:032x}"), 0)  # it shared no profile
        self.assertEqual(change("forget", f"{0:032x}"), 0)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "network0", f"{0:032x}-profile.ini")))
        self.assertEqual(change("forget", f"{0:032x}"), 3)
        self.assertEqual({pool["devices"] for pool in self.pool()["pools"]}, {5})
        self.assertNotEqual(self.bytes_of(self.out), first)
        os.unlink(os.path.join(self.folder, "network1", f"{1:032x}-profile.ini"))
        self.assertEqual((self.pool()["pools"], os.listdir(self.out)), ([], []))

    def test_serial_numbers_are_no_models(self):
        for model in ("Acme 5CG1234ABC", "Acme PF1A2B3C", "Acme 7XK2P13", "Acme 00012345678",
            "Acme 4c4c4544-0051-3410-8037",
                      "To Be Filled By O.E.M.", "Acme*"):
            with self.subTest(model=model):
                self.cards(6, 3, model=model, more="")
                self.assertEqual(self.pool()["pools"], [])
        for model in ("LENOVO 20XWCTO1WW", "Dell Inc. XPS 13 9310", "HP HP EliteBook 840 G8", "ASUSTeK UX425EA",
            "Framework Laptop 13 (AMD)"):
            with self.subTest(model=model):
                self.cards(6, 3, model=model, more="")
                self.assertEqual([pool["model"] for pool in self.pool()["pools"]], [model])

    def test_hostile_folder(self):
        self.cards(5, 3)
        inner = os.path.join(self.folder, "network0")
        names = [os.path.join(inner, f"{number:032x}-profile.ini") for number in range(100, 105)]
        os.symlink("/dev/zero", names[0])
        os.mkfifo(names[1])
        pathlib.Path(names[2]).write_bytes(b"\0\xff" * 1000)
        pathlib.Path(names[3]).write_text(encoding="utf-8", data="x" * 1000000)
        pathlib.Path(names[4]).write_text(encoding="utf-8", data="[profile]\nversion = 1\ndevice = a\n[battery]\n"
                                                          "energy_full_mwh = 1\n[base]\npower_mw = nan 1\n")
        for name in names[2:]:
            os.utime(name, (1, 1))
        os.symlink(self.folder, os.path.join(self.folder, "loop"))
        said = self.pool()
        self.assertEqual((said["devices"], said["left_out"]["bad"]), (5, 5))

    def test_prior(self):
        self.cards(8, 4)
        self.pool()
        done = self.fetch("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual([(pool["part"], pool["devices"]) for pool in said["pools"]], [("cpu", 8), ("model", 8)])
        prior = pools.Profile(self.profile)
        self.assertEqual((prior.names["method"], prior.names["x-edition"]), ("class", pools.EDITION))
        self.assertEqual(self.fetch().returncode, 0)  # a newer edition takes its place
        os.rename(self.out, self.out + "-")
        os.mkdir(self.out)
        self.assertEqual(self.fetch().returncode, 3)

    def test_hostile_pool(self):
        """Out of the class's bounds, sure beyond reason, or no profile: what is there stays."""
        self.cards(8, 4)
        self.pool()
        good = self.bytes_of(self.out)
        for old, new in ((r"(power_mw) = \S+ \S+", r"\1 = 900000 1000"), (r"(power_mw) = (\S+) \S+", r"\1 = \2 0"),
                         (r"(power_mw) = (\S+) \S+", r"\1 = \2 1e9"), (r"\[base\]", "[base"), (r"\[base\]",
                             "[virtual]\nseed = 1\n[base]")):
            with self.subTest(new=new):
                for name, text in good.items():
                    changed = re.sub(old, new, text.decode()) if name.startswith("model-") else text.decode()
                    pathlib.Path(os.path.join(self.out, name)).write_text(encoding="utf-8", data=changed)
                if os.path.exists(self.profile):
                    os.unlink(self.profile)
                done = self.fetch()
                if done.returncode == 0:
                    prior = pools.Profile(self.profile)
                    value, error = prior.numbers["base.power_mw"]
                    self.assertTrue(0 < value < 8000 and 0.04 * value < error <= 1500, (value, error))
                    self.assertNotIn("seed", pathlib.Path(self.profile).read_text("utf-8"))
                else:
                    self.assertFalse(os.path.exists(self.profile))

    def test_never_over_its_own(self):
        self.cards(8, 4)
        self.pool()
        for text in ("method = gauge\n", "method = class\n[learned]\nspans = 12\n"):
            with self.subTest(text=text):
                own = f"[profile]\nversion = 1\ndevice = a\n{text}"
                own += "[battery]\nenergy_full_mwh = 1000\n[base]\npower_mw = 1 1\n"
                pathlib.Path(self.profile).write_text(encoding="utf-8", data=own)
                done = self.fetch()
                self.assertEqual(done.returncode, 1)
                self.assertIn("on this device", done.stderr)
                self.assertEqual(pathlib.Path(self.profile).read_text("utf-8"), own)

    def test_learn_goes_on(self):
        """A virtual laptop begins with the pool of its model, and learns from there."""
        text = subprocess.run([JOULECAST, "profile", "use", "class-laptop", "--device", "virtual:laptop",
            "--profile", self.profile],
                              capture_output=True, text=True)
        self.assertEqual(text.returncode, 0, text.stderr)
        usual = pools.Profile(self.profile).numbers
        levels = [int(key.rsplit(".", 1)[1]) for key in usual if key.startswith("display.")]
        rng = random.Random(5)
        for number in range(8):
            values = {key: value * 0.8 * rng.uniform(0.8, 1.2) for key, (value, _) in usual.items()}
            path = os.path.join(self.folder, f"network{number % 4}", f"{number:032x}-profile.ini")
            pools.write_card(path, values, {key: 0.05 * value for key, value in values.items()},
                model="virtual laptop", more="")
            card = pathlib.Path(path).read_text("utf-8").replace("max_brightness = 1000",
                f"max_brightness = {max(levels)}")
            pathlib.Path(path).write_text(encoding="utf-8", data=card)
            os.utime(path, (1, 1))
        self.pool()
        database = os.path.join(self.top, "usage.db")
        words = ["--device", "virtual:laptop", "--profile", self.profile, "--database", database]
        done = subprocess.run([JOULECAST, "community", "profile", "--from", self.out, *words], capture_output=True,
            text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        prior = pools.Profile(self.profile).numbers
        self.assertLess(prior["base.power_mw"][1], usual["base.power_mw"][1] / 2)
        subprocess.run([JOULECAST, "simulate", "--scenario", "office", "--device", "virtual:laptop", "--database",
            database], check=True,
                       stdout=subprocess.DEVNULL)
        done = subprocess.run([JOULECAST, "learn", *words, "--observations", os.path.join(self.top, "o.db")],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = pathlib.Path(self.profile).read_text("utf-8")
        self.assertIn("method = class", text)
        self.assertIn("spans =", text)
        done = subprocess.run([JOULECAST, "community", "profile", "--from", self.out, *words], capture_output=True,
            text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("was learnt on this device", done.stderr)


class Share(unittest.TestCase):
    """The card of a device: off until asked, shown to the byte, gone with forget."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder, self.database, self.profile = (os.path.join(place.name, name) for name in ("folder",
            "usage.db", "profile.ini"))
        os.mkdir(self.folder)
        self.words = ["--device", "virtual:laptop", "--database", self.database, "--profile", self.profile]
        subprocess.run([JOULECAST, "simulate", "--scenario", "office", "--device", "virtual:laptop", "--database",
            self.database],
                       check=True, stdout=subprocess.DEVNULL)
        pathlib.Path(self.profile).write_text(encoding="utf-8", data=(
            "[profile]\nversion = 1\ndevice = alice-laptop\nmethod = gauge\ncreated = 2026-11-01T08:00:00Z\n"
            "x-measured_disk = then\n[fit]\ndegrees_of_freedom = 50\n[battery]\nenergy_full_mwh = 51234\n"
            "[base]\npower_mw = 2345.6789 12.345678\n[disk SECRET]\nread_mj_per_mb = 3 1\n[suspend]\n"
            "power_mw = 300 10\n[app 0]\nid = usr:diary\ncpu = 0.1 0.05\n[learned]\nspans = 9\n"))

    def ask(self, *words, code=0):
        done = subprocess.run([JOULECAST, "community", *words, *self.words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def card(self):
        return [name for name in os.listdir(self.folder) if name.endswith("-profile.ini")]

    def test_life(self):
        shown = self.ask("profile", "preview")
        for private in ("alice", "diary", "SECRET", "2026", "51234", "2345.6789", "learned"):
            self.assertNotIn(private, shown)
        self.assertIn("power_mw = 2346 12.35", shown)
        self.ask("profile", "share", "--yes", code=3)  # not joined
        self.ask("join", self.folder)
        self.ask("send", "--now")
        self.assertEqual(self.card(), [])
        self.assertTrue(self.ask("profile", "share", "--yes").startswith(shown))
        self.ask("send", "--now", code=3)  # no more samples
        name, = self.card()
        self.assertEqual(pathlib.Path(os.path.join(self.folder, name)).read_text("utf-8"), shown)
        os.utime(os.path.join(self.folder, name), (1000, 1000))
        pathlib.Path(self.profile).write_text(pathlib.Path(self.profile).read_text("utf-8").replace("2345", "2400"),
            "utf-8")
        self.ask("send", "--now", code=3)
        self.assertIn("2401", pathlib.Path(os.path.join(self.folder, name)).read_text("utf-8"))
        self.assertEqual(os.stat(os.path.join(self.folder, name)).st_mtime, 1000)  # its age is that of the first
        self.ask("forget")
        self.assertEqual(self.card(), [])
        state = pathlib.Path(self.database).with_name("community.json")
        self.assertNotIn("shares_profile", state.read_text("utf-8"))

    def test_nothing_of_its_own(self):
        done = subprocess.run([JOULECAST, "profile", "use", "class-laptop", "--device", "virtual:laptop",
            "--profile", self.profile],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ask("profile", "preview", code=3)


    def test_of_another_device(self):
        """A machine shares what it measured of itself, and nothing of a virtual device."""
        machine = pathlib.Path(self.folder, "machine")
        for name in ("sys", "proc"):
            (machine / name).mkdir(parents=True)
        self.words[:2] = ["--machine", str(machine)]
        self.ask("profile", "preview", code=3)
        own = pathlib.Path(self.profile)
        own.write_text(own.read_text("utf-8").replace("alice-laptop", "this machine"), "utf-8")
        self.assertIn("power_mw = 2346 12.35", self.ask("profile", "preview"))


@unittest.skipUnless("serve" in sys.argv[3:], "built without libmicrohttpd")
class Serve(unittest.TestCase):
    def test_life(self):
        """A device sends its profile, it is kept by network, pools are given out, and DELETE removes it."""
        with tempfile.TemporaryDirectory() as top:
            profiles = os.path.join(top, "profiles")
            os.makedirs(os.path.join(profiles, "pools"))
            pathlib.Path(profiles, "pools", "model-a-00000000.ini").write_text("a pool\n", "ascii")
            pathlib.Path(profiles, "secret.ini").write_text("no\n", "ascii")
            card = ("[profile]\nversion = 1\ndevice = shared\n[battery]\nenergy_full_mwh = 1000\n"
                    "[base]\npower_mw = 1 1\n")
            upload = json.dumps({"v": 1, "client": f"{7:032x}", "first": 0, "apps": {"0": "a"}}) + "\n" + json.dumps(
                {"t": 0, "t2": 10**12, "level_ppm": 900000, "level2_ppm": 890000, "apps": [0]}) + "\n"
            token, other = f"{1:064x}", f"{2:064x}"
            with Server(PROGRAM, os.path.join(top, "d.db"), "--profiles", profiles) as server:
                ask = lambda *words, **more: server.ask(*words, **more)[0]  # noqa: E731
                self.assertEqual(ask("POST", "/v1/profile", body=card.encode(), token=token), 404)
                self.assertEqual(ask("POST", "/v1/samples", body=upload.encode(), token=token), 200)
                for body in (b"", b"nonsense", b"\0" * 10, card.encode() + b"[base", b"x" * 300000):
                    self.assertIn(ask("POST", "/v1/profile", body=body, token=token), (400, 413))
                self.assertEqual(ask("POST", "/v1/profile", body=card.encode(), token=other), 404)
                self.assertEqual(list(pathlib.Path(profiles).glob("*/*-profile.ini")), [])
                self.assertEqual(ask("POST", "/v1/profile", body=card.encode(), token=token), 200)
                kept, = pathlib.Path(profiles).glob(f"*/{7:032x}-profile.ini")
                self.assertEqual(kept.read_text("utf-8"), card)
                os.utime(kept, (1000, 1000))
                self.assertEqual(ask("POST", "/v1/profile", body=card.replace("1 1", "2 1").encode(), token=token),
                    200)
                self.assertEqual(kept.stat().st_mtime, 1000)  # its age is that of the first
                self.assertEqual(ask("GET", "/v1/pools/model-a-00000000.ini", token=token), 200)
                for name in ("", "..%2fsecret.ini", "../secret.ini", "secret.ini", ".x", "model-b-00000000.ini",
                    "a" * 5000):
                    self.assertIn(ask("GET", "/v1/pools/" + name, token=token), (404, 405), name)
                self.assertEqual(ask("DELETE", "/v1/me", token=token), 200)
                self.assertFalse(kept.exists())
            with Server(PROGRAM, os.path.join(top, "d.db")) as server:
                self.assertEqual(server.ask("POST", "/v1/profile", body=card.encode(), token=token)[0], 404)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
