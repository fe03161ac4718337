#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""org.joulecast1 on a real dbus-daemon, with busctl and a Python client: the answers of the socket, by user;
properties and their signals; hostile calls; a bus that is not there, ends and comes back.

Usage: test-dbus.py JOULECASTD JOULECAST DEVICE-INI SCENARIO-INI BUS-POLICY DOCUMENT
"""
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixture"))
import usage_db  # noqa: E402

JOULECASTD, JOULECAST, DEVICE, SCENARIO, POLICY, DOCUMENT = map(os.path.abspath, sys.argv[1:7])
for needed in ("dbus-daemon", "busctl"):
    if not shutil.which(needed):
        print("skipped: there is no", needed)
        sys.exit(77)
try:
    import dbus
    import dbus.lowlevel
except ImportError:
    print("skipped: there is no python3-dbus")
    sys.exit(77)

USER = 65534
NAME, PATH = "org.joulecast1", "/org/joulecast1"
# As the policy of a system's bus: nothing may be called but what a policy file allows.
BUS = """<busconfig><type>system</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
<allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/></policy>
<policy user="%d"><allow own="*"/></policy><include>%s</include></busconfig>"""
UNIT = "POWER_SUPPLY_NAME=BAT0\nPOWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=%s\nPOWER_SUPPLY_PRESENT=1\n" \
       "POWER_SUPPLY_CAPACITY=%d\nPOWER_SUPPLY_POWER_NOW=%d\nPOWER_SUPPLY_VOLTAGE_NOW=3800000\n" \
       "POWER_SUPPLY_ENERGY_NOW=%d\nPOWER_SUPPLY_ENERGY_FULL=16000000\n"


def can_be_user():
    """Root can become somebody else, if that one may enter the build folder."""
    try:
        return subprocess.run([JOULECAST, "--version"], check=False, stdout=subprocess.DEVNULL, user=USER, group=USER,
                              extra_groups=[]).returncode == 0
    except PermissionError:
        return False


USERS = os.geteuid() == 0 and can_be_user()


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError(f"not in {seconds} s: {what}")


def plain(value):
    """D-Bus's types as those of JSON: an interval is an object, NaN is None."""
    if isinstance(value, dbus.Struct):
        return dict(zip(("value", "low", "high"), map(plain, value)))
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return str(value)


def without_null(value):
    """An answer of the socket as D-Bus tells it: what is unknown has no key, but for the parts of an interval."""
    if isinstance(value, dict) and set(value) != {"value", "low", "high"}:
        return {key: without_null(one) for key, one in value.items() if one is not None}
    return [without_null(one) for one in value] if isinstance(value, list) else value


class Case(unittest.TestCase):
    """A day of a simulated phone: of angry-birds, the phone and the system only the first is the user's."""
    interval = "3600"

    @classmethod
    def setUpClass(cls):
        cls.simulated = tempfile.mkdtemp(prefix="joulecast-dbus-")
        subprocess.run([JOULECAST, "simulate", "--device", "virtual:" + DEVICE, "--scenario", SCENARIO, "--database",
                        cls.simulated + "/usage.db"], check=True, stdout=subprocess.DEVNULL)
        usage_db.change(cls.simulated + "/usage.db", "PRAGMA application_id = 0x4a4f554c",
                        "UPDATE app SET uid = 1000 WHERE app <> ''",
                        ("UPDATE app SET uid = ? WHERE app = 'angry-birds'", (USER,)))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.simulated)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="joulecast-dbus-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        shutil.copy(self.simulated + "/usage.db", self.folder + "/usage.db")
        with open(self.folder + "/bus.conf", "w", encoding="utf-8") as file:
            file.write(BUS % (self.folder + "/bus", os.geteuid(), POLICY))
        self.address = "unix:path=" + self.folder + "/bus"
        self.said = ""

    def bus(self):
        if os.path.exists(self.folder + "/bus"):
            os.unlink(self.folder + "/bus")
        # pylint: disable=consider-using-with
        daemon = subprocess.Popen(["dbus-daemon", "--config-file=" + self.folder + "/bus.conf", "--nofork",
                                   "--nopidfile"],
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, daemon)

        def answers():
            try:
                return self.connect()
            except dbus.DBusException:
                return None
        self.client = wait_for("a bus", answers)
        return daemon

    def connect(self):
        return dbus.bus.BusConnection(self.address)

    def end(self, process):
        if process.returncode is None:
            process.terminate()
            process.wait(30)

    def start(self, *arguments):
        log = open(self.folder + "/log", "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        # pylint: disable=consider-using-with
        daemon = subprocess.Popen([JOULECASTD, "--database", self.folder + "/usage.db", "--interval", self.interval,
                                   "--focus-socket", self.folder + "/focus", "--socket", self.folder + "/socket",
                                   "--profile", DEVICE, "--bus", *arguments], stderr=log,
                                  env=dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address))
        self.addCleanup(self.end, daemon)
        wait_for("the service", lambda: "watching" in self.log() or daemon.poll() is not None)
        self.assertIsNone(daemon.poll(), self.log())
        self.daemon = daemon

    def log(self):
        with open(self.folder + "/log", encoding="utf-8") as file:
            return file.read()

    def both(self):
        self.bus()
        self.start()
        self.named()

    def named(self):
        wait_for(NAME, lambda: self.client.name_has_owner(NAME))

    def interface(self, which=NAME):
        return dbus.Interface(self.client.get_object(NAME, PATH, introspect=False), which)

    def ask(self, **question):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.folder + "/socket")
            s.sendall(json.dumps(question).encode() + b"\n")
            return without_null(json.loads(s.makefile().read()))

    def call(self, method, signature="", *arguments):
        return plain(self.client.call_blocking(NAME, PATH, NAME, method, signature, arguments, timeout=60))

    def refused(self, method, signature="", *arguments):
        with self.assertRaises(dbus.DBusException) as caught:
            self.call(method, signature, *arguments)
        return caught.exception.get_dbus_name(), caught.exception.get_dbus_message()

    def busctl(self, *arguments, user=None):
        who = {"user": user, "group": user, "extra_groups": []} if user else {}
        done = subprocess.run(["busctl", "--address=" + self.address, *arguments], capture_output=True, text=True,
                              timeout=60,
                              check=False, **who)
        return done.stdout + done.stderr


class Answers(Case):
    def test_bus_without_socket(self):
        done = subprocess.run([JOULECASTD, "--bus", "--database", "/nonexistent/usage.db"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--bus needs a --socket", done.stderr)

    def test_answers_are_those_of_the_socket(self):
        self.both()
        self.assertEqual(self.call("Apps"), self.ask(ask="apps"))
        self.assertEqual(self.call("Cost", "ss", "", ""), self.ask(ask="cost"))
        begin = self.ask(ask="cost")["from"]
        end = begin[:11] + "23:59:59Z"
        self.assertEqual(self.call("Cost", "ss", begin, end), self.ask(ask="cost", **{"from": begin, "to": end}))
        self.assertEqual(self.call("Predict", "sd", "phone", 30), self.ask(ask="predict", app="phone", minutes=30))
        self.assertEqual(self.call("Remaining"), self.ask(ask="budget"))
        self.assertEqual(self.call("Budget", "sa{sd}a{sd}", "angry-birds", {"phone": 10.0}, {
            "standby_minutes": 60.0, "keep_percent": 5.0, "battery_percent": 40.0}),
            self.ask(ask="budget", app="angry-birds", reserve=[{"app": "phone", "minutes": 10}], standby=60, keep=5,
                     battery_percent=40))

    def test_what_if_and_advice_are_those_of_the_socket(self):
        self.both()
        self.assertEqual(self.call("WhatIf", "asasa{sd}", ["angry-birds"], ["wifi", "gps"], {
            "brightness_percent": 40.0, "keep_minutes": 90.0, "battery_percent": 50.0}),
            self.ask(ask="whatif", close=["angry-birds"], off=["wifi", "gps"], brightness_percent=40, keep_minutes=90,
                     battery_percent=50))
        self.assertEqual(self.call("WhatIf", "asasa{sd}", [], ["wifi"], {}), self.ask(ask="whatif", off=["wifi"]))
        gain = self.interface().WhatIf(dbus.Array([], signature="s"), ["wifi"], dbus.Dictionary({}, signature="sd"))
        self.assertEqual(gain["close"].signature, "s")
        self.assertEqual(self.call("Advise"), self.ask(ask="advise"))
        self.assertEqual(self.call("Endure", "dsasa{sd}", 900.0, "", ["close", "wifi_off"], {"battery_percent": 50.0}),
                         self.ask(ask="endure", minutes=900, without=["close", "wifi_off"], battery_percent=50))
        self.assertEqual(self.call("Endure", "dsasa{sd}", 90.0, "angry-birds", [], {}),
                         self.ask(ask="endure", minutes=90, app="angry-birds"))

    def test_what_is_unknown_is_not_zero(self):
        """A charge that nobody shows has no key; an interval whose ends are unknown has NaN."""
        self.both()
        cost = self.interface().Cost("", "")
        self.assertNotIn("percent_per_minute", cost)
        full = self.interface().Remaining()["minutes_to_full"]
        self.assertTrue(all(math.isnan(one) for one in full), full)
        self.assertEqual(self.interface().Remaining().signature, "sv")

    def test_errors_have_a_name_and_a_sentence(self):
        self.both()
        for wanted, words, call in (
                ("ENODATA", "never seen", ("Predict", "sd", "no-such-app", 10.0)),
                ("EINVAL", '"app" is missing', ("Predict", "sd", "", 10.0)),
                ("EINVAL", "a number of minutes", ("Predict", "sd", "phone", math.nan)),
                ("EINVAL", "a number of minutes", ("Predict", "sd", "phone", -1.0)),
                ("EINVAL", "a number of minutes", ("Predict", "sd", "phone", math.inf)),
                ("EINVAL", '"from" is a time', ("Cost", "ss", "\x01nonsense", "")),
                ("EINVAL", "not before", ("Cost", "ss", "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z")),
                ("EINVAL", "the options are", ("Budget", "sa{sd}a{sd}", "", {}, {"nonsense": 1.0})),
                ("EINVAL", "0 to 100", ("Budget", "sa{sd}a{sd}", "", {}, {"keep_percent": 101.0})),
                ("EINVAL", "names no app", ("Budget", "sa{sd}a{sd}", "", {"": 1.0}, {})),
                ("EINVAL", "more than 16", ("Budget", "sa{sd}a{sd}", "", {f"app-{i}": 1.0 for i in range(5000)}, {})),
                ("EINVAL", '"brightness_percent" is missing', ("WhatIf", "asasa{sd}", [], [], {})),
                ("EINVAL", "the options are", ("WhatIf", "asasa{sd}", ["phone"], [], {"nonsense": 1.0})),
                ("EINVAL", "0 to 100", ("WhatIf", "asasa{sd}", [], [], {"brightness_percent": math.nan})),
                ("EINVAL", '"off" is a list', ("WhatIf", "asasa{sd}", [], ["cpu"], {})),
                ("EINVAL", '"close" is a list of apps', ("WhatIf", "asasa{sd}", [""], [], {})),
                ("EINVAL", "more than 16", ("WhatIf", "asasa{sd}", ["phone"] * 100_000, [], {})),
                ("EINVAL", "longer than", ("WhatIf", "asasa{sd}", ["x" * 8_000_000], [], {})),
                ("ENODATA", "never seen", ("WhatIf", "asasa{sd}", ["no-such-app"], [], {})),
                ("EINVAL", "longer than", ("Predict", "sd", "x" * 8_000_000, 1.0)),
                ("EINVAL", "shorter than", ("Predict", "sd", "\x01" * 4000, 1.0))):
            name, sentence = self.refused(*call)
            self.assertEqual(name, NAME + ".Error." + wanted, sentence)
            self.assertIn(words, sentence)
        for wrong in (("Predict", "s", "phone"), ("Cost", "ii", 1, 2), ("Nothing", ""),
                      ("Budget", "sa{ss}a{sd}", "", {"a": "b"}, {})):
            self.assertIn("org.freedesktop.DBus.Error", self.refused(*wrong)[0])
        deep = dbus.Int32(1, variant_level=60)
        self.assertIn("org.freedesktop.DBus.Error", self.refused("Cost", "v", deep)[0])
        self.assertEqual(self.call("Apps"), self.ask(ask="apps"))

    def test_introspection_is_documented(self):
        self.both()
        xml = self.interface("org.freedesktop.DBus.Introspectable").Introspect()
        ours = next(one for one in ET.fromstring(xml) if one.get("name") == NAME)
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        seen = {one.get("name") for one in ours}
        self.assertLessEqual({"Cost", "Predict", "Budget", "Remaining", "Apps", "Calibrate", "PercentPerHour",
                              "RemainingMinutes",
                              "CalibrationState"}, seen)
        for one in ours:
            self.assertIn(f"`{one.get('name')}", text)
            if one.tag == "property":
                self.assertIn(f"| `{one.get('name')}` | `{one.get('type')}`", text)
            for argument in one.iter("arg"):
                self.assertTrue(argument.get("name"), one.get("name"))
                self.assertIn(f"`{argument.get('name')}` `{argument.get('type')}`", text)

    def test_busctl(self):
        self.both()
        self.assertRegex(self.busctl("call", NAME, PATH, NAME, "Budget", "sa{sd}a{sd}", "angry-birds", "1", "phone",
                                     "10", "1",
                                     "battery_percent", "20"), r'^a\{sv\} .*"minutes" \(ddd\) ')
        self.assertRegex(self.busctl("get-property", NAME, PATH, NAME, "RemainingMinutes"), r"^\(ddd\) \d")
        self.assertIn("Access denied", self.busctl("set-property", NAME, PATH, NAME, "Version", "s",
                                                   "x") + "Access denied")


class Privacy(Case):
    @unittest.skipUnless(USERS, "needs root, to be another user")
    def test_a_user_sees_no_other_users_app(self):
        self.both()
        calls = {"Apps": (), "Cost": ("ss", "", ""), "Remaining": (), "Advise": (),
                 "WhatIf": ("asasa{sd}", "0", "1", "wifi", "0"),
                 "Budget": ("sa{sd}a{sd}", "angry-birds", "0", "0"),
                 "Predict": ("sd", "angry-birds", "10")}
        for method, arguments in calls.items():
            own = self.busctl("call", NAME, PATH, NAME, method, *arguments, user=USER)
            self.assertTrue(own.startswith("a{sv}"), own)
            self.assertNotIn('"phone', own)
            self.assertNotIn("phone ", own)
            everybodys = self.busctl("call", NAME, PATH, NAME, method, *arguments)
            self.assertNotEqual(own, "")
            if method in ("Apps", "Cost"):
                self.assertIn('"phone"', everybodys)
                self.assertIn('"angry-birds"', own)
        for method, arguments in (("Predict", ("sd", "phone", "10")), ("Budget", ("sa{sd}a{sd}", "phone", "0", "0")),
                                  ("Budget", ("sa{sd}a{sd}", "angry-birds", "1", "phone", "10", "0")),
                                  ("WhatIf", ("asasa{sd}", "2", "angry-birds", "phone", "0", "0"))):
            own = self.busctl("call", NAME, PATH, NAME, method, *arguments, user=USER)
            self.assertIn("phone was never seen", own)  # as of any app that nobody has

    @unittest.skipUnless(USERS, "needs root, to be another user")
    def test_properties_are_the_same_for_all_and_name_no_app(self):
        self.both()
        texts = [self.busctl("call", NAME, PATH, "org.freedesktop.DBus.Properties", "GetAll", "s", NAME, user=user)
                 for user in (None, USER)]
        self.assertEqual(texts[0], texts[1])
        for app in ("phone", "angry", "system"):
            self.assertNotIn(app, texts[0])
        self.assertIn("RemainingMinutes", texts[0])

    @unittest.skipUnless(USERS, "needs root, to be another user")
    def test_a_message_cannot_say_who_sends_it(self):
        """A sender in the message is replaced by the bus; a call to the service on behalf of root is the user's."""
        self.both()
        script = """import dbus, dbus.lowlevel, sys
bus = dbus.bus.BusConnection(sys.argv[1])
call = dbus.lowlevel.MethodCallMessage("org.joulecast1", "/org/joulecast1", "org.joulecast1", "Apps")
call.set_sender(sys.argv[2])
print(bus.send_message_with_reply_and_block(call, 60).get_args_list())"""
        done = subprocess.run([sys.executable, "-c", script, self.address, self.client.get_unique_name()],
                              capture_output=True,
                              text=True, user=USER, group=USER, extra_groups=[], check=True)
        self.assertIn("angry-birds", done.stdout)
        self.assertNotIn("phone", done.stdout)


class Signals(Case):
    interval = "0.2"

    def tree(self, status, percent, power_uw):
        path = self.folder + "/machine/sys/class/power_supply/BAT0"
        os.makedirs(path, exist_ok=True)
        os.makedirs(self.folder + "/machine/proc", exist_ok=True)
        text = UNIT % (status, percent, power_uw, 160000 * percent)
        with open(path + "/new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + "/new", path + "/uevent")
        for name, value in (("type", "Battery"), ("scope", "System"), ("present", "1")):
            with open(f"{path}/{name}", "w", encoding="utf-8") as file:
                file.write(value + "\n")

    def test_signals_when_values_change_noticeably(self):
        self.tree("Discharging", 80, 2000000)
        self.bus()
        self.start("--machine", self.folder + "/machine")
        self.named()
        # pylint: disable=consider-using-with
        monitor = subprocess.Popen(["busctl", "--address=" + self.address, "--json=short",
                                    "--match=type='signal',path='" + PATH + "'",
                                    "monitor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(monitor.stdout.close)
        self.addCleanup(monitor.stderr.close)
        self.addCleanup(self.end, monitor)
        self.assertIn("Monitoring", monitor.stderr.readline())
        properties = self.interface("org.freedesktop.DBus.Properties")
        first = wait_for("the battery", lambda: self.known(properties))
        self.assertEqual((first["BatteryPercent"], first["BatteryState"]), (80, "discharging"))
        hour = first["PercentPerHour"]
        self.assertGreater(hour, 0)
        self.tree("Discharging", 79, 2020000)  # the drain changes by a hundredth only
        changed = self.signal(monitor, "BatteryPercent", 79)
        self.assertNotIn("PercentPerHour", changed)
        self.assertNotIn("CalibrationState", changed)
        self.tree("Discharging", 79, 4000000)
        self.assertAlmostEqual(self.signal(monitor, "PercentPerHour")["PercentPerHour"]["data"], 2 * hour,
                               delta=0.1 * hour)
        self.tree("Charging", 79, 4000000)
        changed = self.signal(monitor, "BatteryState", "charging")
        self.assertIn(changed["PercentPerHour"]["data"], (None, "nan"))
        self.assertTrue(math.isnan(properties.Get(NAME, "PercentPerHour")))

    def known(self, properties):
        got = properties.GetAll(NAME)
        return got if got["BatteryPercent"] == 80 else None

    def signal(self, monitor, name, value=None):
        """Changed properties of the next signal that has this property."""
        for line in monitor.stdout:
            for app in ("angry", "phone"):
                self.assertNotIn(app, line)
            message = json.loads(line.replace(":nan", ":null").replace(":-nan", ":null"))
            self.assertEqual(message["payload"]["data"][0], NAME)
            changed = message["payload"]["data"][1]
            if name in changed and value in (None, changed[name]["data"]):
                return changed
        raise AssertionError("the monitor ended")


class Hostile(Case):
    def test_one_sender_has_few_questions_at_a_time(self):
        self.both()
        answers = []
        pending = []
        for _ in range(100):
            call = dbus.lowlevel.MethodCallMessage(NAME, PATH, NAME, "Cost")
            call.append("", "", signature="ss")
            pending.append(self.client.send_message_with_reply(call, answers.append, 60, require_main_loop=False))
        self.client.flush()
        for one in pending:
            one.block()
        errors = [one.get_error_name() for one in (p for p in answers) if one.get_error_name()]
        self.assertEqual(len(answers), 100)
        self.assertTrue(errors)
        self.assertEqual(set(errors), {NAME + ".Error.EBUSY"})
        self.assertGreaterEqual(len(answers) - len(errors), 1)
        self.assertEqual(self.call("Apps"), self.ask(ask="apps"))

    def test_calls_without_a_reply_and_foreign_signals_cost_little(self):
        self.both()
        owner = self.client.get_name_owner(NAME)
        for _ in range(3000):
            call = dbus.lowlevel.MethodCallMessage(NAME, PATH, NAME, "Cost")
            call.append("", "", signature="ss")
            call.set_no_reply(True)
            self.client.send_message(call)
            signal = dbus.lowlevel.SignalMessage("/a", "a.b", "C")
            signal.set_destination(owner)
            self.client.send_message(signal)
        for _ in range(3):
            call = dbus.lowlevel.MethodCallMessage(NAME, PATH, NAME, "Predict")
            call.append("x" * 8_000_000, 1.0, signature="sd")
            call.set_no_reply(True)
            self.client.send_message(call)
        self.client.flush()
        self.assertEqual(self.call("Apps"), self.ask(ask="apps"))
        with open(f"/proc/{self.daemon.pid}/status", encoding="utf-8") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
        print(f"{resident} kB anonymous after the flood", file=sys.stderr)
        with open(f"/proc/{self.daemon.pid}/maps", encoding="utf-8") as file:
            sanitized = "libasan" in file.read()  # which keeps what was freed
        self.assertTrue(sanitized or resident < 65536, resident)

    def test_who_leaves_gets_no_answer(self):
        self.both()
        for _ in range(20):
            client = self.connect()
            for _ in range(4):
                call = dbus.lowlevel.MethodCallMessage(NAME, PATH, NAME, "Cost")
                call.append("", "", signature="ss")
                client.send_message(call)
            client.flush()
            client.close()
        wait_for("an answer", self.answered)

    def answered(self):
        try:
            return self.call("Apps")
        except dbus.DBusException as error:
            self.assertIn("EBUSY", error.get_dbus_name())
            return None


class WithoutBus(Case):
    interval = "0.2"

    def test_no_bus(self):
        self.start()
        self.assertIn("apps", self.ask(ask="apps"))
        self.assertIn("no answers by D-Bus", self.log())
        self.bus()
        self.named()
        self.assertIn("apps", self.call("Apps"))
        self.assertEqual(self.log().count("D-Bus"), 1, self.log())

    def test_a_bus_that_restarts(self):
        daemon = self.bus()
        self.start()
        self.named()
        self.assertIn("apps", self.call("Apps"))
        self.client.set_exit_on_disconnect(False)
        self.end(daemon)
        wait_for("a word", lambda: "no answers by D-Bus" in self.log())
        self.assertIn("apps", self.ask(ask="apps"))
        self.bus()
        self.named()
        self.assertIn("apps", self.call("Apps"))

    def test_the_name_is_taken(self):
        self.bus()
        other = self.connect()
        name = other.request_name(NAME, 4)
        self.assertEqual(name, 1)
        self.start()
        wait_for("a word", lambda: "another program has the name" in self.log())
        self.assertIn("apps", self.ask(ask="apps"))
        self.assertEqual(self.log().count("D-Bus"), 1, self.log())
        other.release_name(NAME)
        self.named()
        self.assertIn("apps", self.call("Apps"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
