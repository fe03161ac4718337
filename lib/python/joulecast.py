# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What apps cost the battery, and how long it lasts: libjoulecast for Python.

    import joulecast

    with joulecast.Device() as device:
        for app in device.cost(since="full").apps:
            print(app.name, app.percent.value, app.percent.low, app.percent.high)
        print(device.budget("firefox", reserve={"phone": 10}).minutes.low)

The units and intervals are those of joulecast.h. Unknown is None. A device is a snapshot of what was recorded when
it was opened; open it again to see what came later. Use one from one thread at a time.
"""
import ctypes
import datetime
import errno
import math
import os
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

__all__ = ["Device", "Error", "Value", "AppCost", "Cost", "Forecast", "Budget", "Gain", "Battery", "App"]

_EVENTS = {"full": 0, "unplug": 1, "boot": 2, "resume": 3}
_STATES = ("background", "foreground")
_COMPONENTS = ("cpu", "display", "disk", "wifi", "gpu", "cellular", "gps", "audio", "camera")
_PARTS = {"screen": 0, "wifi": 1, "cellular": 2, "gps": 3, "audio": 4}
_BEGIN, _END = -2**63, 2**63 - 1


class Error(Exception):
    """An errno of the library (see joulecast.h), with the sentence that it logged."""

    def __init__(self, code: int, sentence: str):
        super().__init__(sentence or os.strerror(code))
        self.errno = code


class Value(NamedTuple):
    """A number with its interval: 95 % for costs, 90 % for forecasts and budgets."""
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]


class Battery(NamedTuple):
    percent: float
    plugged: Optional[bool]


class App(NamedTuple):
    app: str
    name: str
    state: str
    active_s: float


class AppCost(NamedTuple):
    """One app in one state, "foreground" or "background"."""
    app: str
    name: str
    state: str
    active_s: float
    energy_j: Value
    percent: Value
    percent_per_minute: Value
    components_j: Dict[str, Optional[float]]


class Cost(NamedTuple):
    """apps + base_j = total_j, and total_j + unexplained_j = measured_j. unexplained_j is the unattributed energy."""
    apps: List[AppCost]
    base_j: Optional[float]
    total_j: Value
    measured_j: Optional[float]
    unexplained_j: Optional[float]
    not_measured: List[str]


class Forecast(NamedTuple):
    app: str
    energy_j: Value
    percent: Value
    device_percent: Value
    basis: str


class Budget(NamedTuple):
    """minutes.low holds in 95 of 100 cases."""
    app: str
    minutes: Value
    reserved_percent: Optional[float]
    battery_percent: Optional[float]
    charging: Optional[bool]
    minutes_to_full: Value
    charger_too_weak: Optional[bool]
    basis: str
    charge_limit_percent: Optional[float]  # where charging ends; minutes_to_full are until then
    held_at_limit: Optional[bool]


class Gain(NamedTuple):
    """Minutes gained by a change, and those that the battery lasts before and after it."""
    minutes: Value
    before: Value
    after: Value
    battery_percent: Optional[float]
    closed: List[str]
    is_nothing: bool
    basis: str


class Change(NamedTuple):
    """action: "brightness", "limit" (frozen in the background), "cellular_off", "wifi_off" or "close"."""
    action: str
    app: Optional[str]
    name: Optional[str]
    brightness_percent: Optional[float]
    gained: Value  # minutes, by itself


class Endurance(NamedTuple):
    """The fewest changes with which the charge lasts, and the minutes that it lasts before and after them.

    short_minutes: that after.low is below what was asked for; 0: they suffice; None: after.low is unknown
    """
    app: str
    before: Value
    after: Value
    short_minutes: Optional[float]
    changes: List[Change]
    battery_percent: Optional[float]
    basis: str


class _Value(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("low", ctypes.c_double), ("high", ctypes.c_double)]


class _AppCost(ctypes.Structure):
    _fields_ = [("app", ctypes.c_char_p), ("name", ctypes.c_char_p), ("state", ctypes.c_int),
                ("active_s", ctypes.c_double), ("energy_j", _Value), ("percent", _Value),
                ("percent_per_minute", _Value), ("component_j", ctypes.c_double * 5)]


class _Change(ctypes.Structure):
    _fields_ = [("action", ctypes.c_char_p), ("app", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("brightness_percent", ctypes.c_double), ("gained", _Value)]


_Log = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_Visitor = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                            ctypes.c_double)


def _load():
    """JOULECAST_LIBRARY names another file than the installed one."""
    lib = ctypes.CDLL(os.environ.get("JOULECAST_LIBRARY") or "libjoulecast.so.0")
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double
    time, out = ctypes.c_int64, ctypes.POINTER
    for name, result, *arguments in (
            ("context_new", ctypes.c_int, out(pointer)), ("context_free", None, pointer),
            ("context_set_log", None, pointer, _Log, pointer), ("context_set_device", ctypes.c_int, pointer, text),
            ("profile_load", ctypes.c_int, pointer, text, out(pointer)), ("profile_free", None, pointer),
            ("profile_basis", text, pointer), ("profile_energy_full_mwh", number, pointer),
            ("usage_open", ctypes.c_int, pointer, text, out(pointer)), ("usage_free", None, pointer),
            ("usage_span", ctypes.c_int, pointer, out(time), out(time)),
            ("usage_since", ctypes.c_int, pointer, ctypes.c_int, out(time)),
            ("usage_apps", ctypes.c_int, pointer, _Visitor, pointer),
            ("usage_battery", ctypes.c_int, pointer, out(number), out(ctypes.c_int)),
            ("cost_new", ctypes.c_int, pointer, pointer, time, time, out(pointer)), ("cost_free", None, pointer),
            ("cost_count", ctypes.c_size_t, pointer),
            ("cost_app", ctypes.c_int, pointer, ctypes.c_size_t, out(_AppCost)),
            ("cost_component_j", number, pointer, ctypes.c_size_t, ctypes.c_int),
            ("cost_not_measured", text, pointer, ctypes.c_size_t), ("cost_total_j", _Value, pointer),
            *((f"cost_{part}_j", number, pointer) for part in ("measured", "base", "unexplained")),
            ("forecast_new", ctypes.c_int, pointer, pointer, text, number, out(pointer)),
            ("forecast_free", None, pointer), ("forecast_app", text, pointer), ("forecast_basis", text, pointer),
            *((f"forecast_{part}", _Value, pointer) for part in ("energy_j", "percent", "device_percent")),
            ("plan_new", ctypes.c_int, text, out(pointer)), ("plan_free", None, pointer),
            ("plan_reserve", ctypes.c_int, pointer, text, number),
            *((f"plan_{part}", ctypes.c_int, pointer, number) for part in ("standby", "keep", "battery")),
            ("change_new", ctypes.c_int, out(pointer)), ("change_free", None, pointer),
            ("change_close", ctypes.c_int, pointer, text), ("change_off", ctypes.c_int, pointer, ctypes.c_int),
            *((f"change_{part}", ctypes.c_int, pointer, number) for part in ("brightness", "keep", "battery")),
            ("gain_new", ctypes.c_int, pointer, pointer, pointer, out(pointer)), ("gain_free", None, pointer),
            *((f"gain_{part}", _Value, pointer) for part in ("minutes", "before", "after")),
            ("gain_battery_percent", number, pointer), ("gain_app", text, pointer, ctypes.c_size_t),
            ("gain_is_nothing", ctypes.c_int, pointer), ("gain_basis", text, pointer),
            ("goal_new", ctypes.c_int, number, out(pointer)), ("goal_free", None, pointer),
            *((f"goal_{part}", ctypes.c_int, pointer, text) for part in ("app", "without")),
            ("goal_battery", ctypes.c_int, pointer, number),
            ("endurance_new", ctypes.c_int, pointer, pointer, pointer, out(pointer)), ("endurance_free", None, pointer),
            *((f"endurance_{part}", _Value, pointer) for part in ("before", "after")),
            *((f"endurance_{part}", number, pointer) for part in ("short_minutes", "battery_percent")),
            ("endurance_change", ctypes.c_int, pointer, ctypes.c_size_t, out(_Change)),
            *((f"endurance_{part}", text, pointer) for part in ("app", "basis")),
            ("budget_new", ctypes.c_int, pointer, pointer, pointer, out(pointer)), ("budget_free", None, pointer),
            ("budget_app", text, pointer), ("budget_basis", text, pointer),
            *((f"budget_{part}", _Value, pointer) for part in ("minutes", "minutes_to_full")),
            *((f"budget_{part}", number, pointer) for part in ("reserved_percent", "battery_percent",
                                                               "charge_limit_percent")),
            *((f"budget_{part}", ctypes.c_int, pointer) for part in ("charging", "charger_too_weak", "held_at_limit"))):
        function = getattr(lib, "joulecast_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


_lib = None


def _number(number: float) -> Optional[float]:
    return None if math.isnan(number) else number


def _value(value: _Value) -> Value:
    return Value(_number(value.value), _number(value.low), _number(value.high))


def _text(text: Optional[bytes]) -> str:
    return (text or b"").decode(errors="replace")


def _known(flag: int) -> Optional[bool]:
    return None if flag < 0 else bool(flag)


_Time = Union[datetime.datetime, datetime.timedelta, None]


def _ns(time: _Time, default: int) -> int:
    """An aware or local time; or so long ago."""
    if time is None:
        return default
    if isinstance(time, datetime.timedelta):
        time = datetime.datetime.now(datetime.timezone.utc) - time
    since = time.astimezone(datetime.timezone.utc) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since // datetime.timedelta(microseconds=1)) * 1000


class Device:
    """This machine, or another one: its power model and what its apps used.

    device:   "virtual:NAME"; None: this machine
    profile:  file of a power model; None: the device's own
    database: usage.db; None: the device's own. Who may not read it is answered by the service, about their own apps
    """

    def __init__(self, device: Optional[str] = None, profile: Optional[str] = None, database: Optional[str] = None):
        global _lib
        self._context = self._profile = self._usage = None
        self._sentence = ""
        if _lib is None:
            _lib = _load()
        self._log = _Log(self._keep)
        self._context = self._new(_lib.joulecast_context_new)
        _lib.joulecast_context_set_log(self._context, self._log, None)
        try:
            self._check(_lib.joulecast_context_set_device(self._context, device and os.fsencode(device)))
            self._profile = self._new(_lib.joulecast_profile_load, self._context, profile and os.fsencode(profile))
            self._usage = self._new(_lib.joulecast_usage_open, self._context, database and os.fsencode(database))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Frees all; also at the end of a `with`."""
        if self._usage:
            _lib.joulecast_usage_free(self._usage)
        if self._profile:
            _lib.joulecast_profile_free(self._profile)
        if self._context:
            _lib.joulecast_context_free(self._context)
        self._context = self._profile = self._usage = None

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _keep(self, _, level, sentence):
        if level == 0:
            self._sentence = _text(sentence)

    def _check(self, err: int) -> None:
        sentence, self._sentence = self._sentence, ""
        if err < 0:
            raise Error(-err, sentence)

    def _new(self, make, *arguments):
        made = ctypes.c_void_p()
        self._check(make(*arguments, ctypes.byref(made)))
        return made

    def _open(self):
        if not self._usage:
            raise ValueError("the device is closed")

    @property
    def profile_basis(self) -> str:
        """Where the model's numbers are from: "calibrated", "shipped" or "class"."""
        self._open()
        return _text(_lib.joulecast_profile_basis(self._profile))

    @property
    def energy_full_mwh(self) -> float:
        self._open()
        return _lib.joulecast_profile_energy_full_mwh(self._profile)

    def battery(self) -> Battery:
        self._open()
        percent, plugged = ctypes.c_double(), ctypes.c_int()
        self._check(_lib.joulecast_usage_battery(self._usage, ctypes.byref(percent), ctypes.byref(plugged)))
        return Battery(percent.value, _known(plugged.value))

    def apps(self) -> List[App]:
        """The apps that ran, by state."""
        self._open()
        found = []

        def visit(_, app, name, state, active_s):
            found.append(App(_text(app), _text(name), _STATES[state], active_s))
            return 0

        self._check(_lib.joulecast_usage_apps(self._usage, _Visitor(visit), None))
        return found

    def span(self) -> Tuple[datetime.datetime, datetime.datetime]:
        """Begin and end of what is recorded."""
        self._open()
        times = ctypes.c_int64(), ctypes.c_int64()
        self._check(_lib.joulecast_usage_span(self._usage, *map(ctypes.byref, times)))
        begin, end = (datetime.datetime.fromtimestamp(time.value / 1e9, datetime.timezone.utc) for time in times)
        return begin, end

    def since(self, event: str) -> datetime.datetime:
        """When the battery was "full" or unplugged ("unplug"), the last "boot" or "resume"."""
        return datetime.datetime.fromtimestamp(self._since_ns(event) / 1e9, datetime.timezone.utc)

    def _since_ns(self, event: str) -> int:
        self._open()
        if event not in _EVENTS:
            raise Error(errno.EINVAL, f"{event!r} is none of {', '.join(_EVENTS)}")
        time = ctypes.c_int64()
        self._check(_lib.joulecast_usage_since(self._usage, _EVENTS[event], ctypes.byref(time)))
        return time.value

    def cost(self, since: Union[_Time, str] = None, until: _Time = None) -> Cost:
        """since: a time, a timedelta before now, or an event as for since(); None: all that is recorded."""
        self._open()
        begin = self._since_ns(since) if isinstance(since, str) else _ns(since, _BEGIN)
        cost = self._new(_lib.joulecast_cost_new, self._profile, self._usage, begin, _ns(until, _END))
        try:
            return Cost([self._app_cost(cost, i) for i in range(_lib.joulecast_cost_count(cost))],
                        _number(_lib.joulecast_cost_base_j(cost)), _value(_lib.joulecast_cost_total_j(cost)),
                        _number(_lib.joulecast_cost_measured_j(cost)), _number(_lib.joulecast_cost_unexplained_j(cost)),
                        list(self._not_measured(cost)))
        finally:
            _lib.joulecast_cost_free(cost)

    def _app_cost(self, cost, index: int) -> AppCost:
        app = _AppCost()
        self._check(_lib.joulecast_cost_app(cost, index, ctypes.byref(app)))
        return AppCost(_text(app.app), _text(app.name), _STATES[app.state], app.active_s, _value(app.energy_j),
                       _value(app.percent), _value(app.percent_per_minute),
                       {name: _number(_lib.joulecast_cost_component_j(cost, index, i))
                        for i, name in enumerate(_COMPONENTS)})

    @staticmethod
    def _not_measured(cost):
        index = 0
        while (key := _lib.joulecast_cost_not_measured(cost, index)) is not None:
            yield _text(key)
            index += 1

    def predict(self, app: str, minutes: float) -> Forecast:
        """What so many minutes of an app will cost."""
        self._open()
        forecast = self._new(_lib.joulecast_forecast_new, self._profile, self._usage, app.encode(), minutes)
        try:
            return Forecast(_text(_lib.joulecast_forecast_app(forecast)),
                            _value(_lib.joulecast_forecast_energy_j(forecast)),
                            _value(_lib.joulecast_forecast_percent(forecast)),
                            _value(_lib.joulecast_forecast_device_percent(forecast)),
                            _text(_lib.joulecast_forecast_basis(forecast)))
        finally:
            _lib.joulecast_forecast_free(forecast)

    def budget(self, app: Optional[str] = None, *, reserve: Optional[Dict[str, float]] = None, standby: float = 0,
               keep: float = 0, battery_percent: Optional[float] = None) -> Budget:
        """How long an app can run, or, without one, use can go on as it is, and leave enough.

        reserve: minutes of other apps afterwards; standby: minutes with the screen off, awake or suspended as until
        now (basis says which); keep: percent of charge
        """
        self._open()
        plan = self._new(_lib.joulecast_plan_new, app if app is None else app.encode())
        budget = None
        try:
            for other, minutes in (reserve or {}).items():
                self._check(_lib.joulecast_plan_reserve(plan, other.encode(), minutes))
            self._check(_lib.joulecast_plan_standby(plan, standby))
            self._check(_lib.joulecast_plan_keep(plan, keep))
            if battery_percent is not None:
                self._check(_lib.joulecast_plan_battery(plan, battery_percent))
            budget = self._new(_lib.joulecast_budget_new, self._profile, self._usage, plan)
            return Budget(_text(_lib.joulecast_budget_app(budget)), _value(_lib.joulecast_budget_minutes(budget)),
                          _number(_lib.joulecast_budget_reserved_percent(budget)),
                          _number(_lib.joulecast_budget_battery_percent(budget)),
                          _known(_lib.joulecast_budget_charging(budget)),
                          _value(_lib.joulecast_budget_minutes_to_full(budget)),
                          _known(_lib.joulecast_budget_charger_too_weak(budget)),
                          _text(_lib.joulecast_budget_basis(budget)),
                          _number(_lib.joulecast_budget_charge_limit_percent(budget)),
                          _known(_lib.joulecast_budget_held_at_limit(budget)))
        finally:
            if budget:
                _lib.joulecast_budget_free(budget)
            _lib.joulecast_plan_free(plan)

    def whatif(self, *, brightness: Optional[float] = None, close: Tuple[str, ...] = (), off: Tuple[str, ...] = (),
               keep: Optional[float] = None, battery_percent: Optional[float] = None) -> Gain:
        """How many minutes longer the battery lasts with a change, if use goes on as it is otherwise.

        brightness: percent of the brightest; close: apps; off: of "screen", "wifi", "cellular", "gps" and "audio";
        keep: minutes, after which it is as it was
        """
        self._open()
        change = self._new(_lib.joulecast_change_new)
        gain = None
        try:
            for app in close:
                self._check(_lib.joulecast_change_close(change, app.encode()))
            for part in off:
                if part not in _PARTS:
                    raise Error(errno.EINVAL, f"{part!r} is none of {', '.join(_PARTS)}")
                self._check(_lib.joulecast_change_off(change, _PARTS[part]))
            if brightness is not None:
                self._check(_lib.joulecast_change_brightness(change, brightness))
            if keep is not None:
                self._check(_lib.joulecast_change_keep(change, keep))
            if battery_percent is not None:
                self._check(_lib.joulecast_change_battery(change, battery_percent))
            gain = self._new(_lib.joulecast_gain_new, self._profile, self._usage, change)
            closed = []
            while _lib.joulecast_gain_app(gain, len(closed)) is not None:
                closed.append(_text(_lib.joulecast_gain_app(gain, len(closed))))
            return Gain(_value(_lib.joulecast_gain_minutes(gain)), _value(_lib.joulecast_gain_before(gain)),
                        _value(_lib.joulecast_gain_after(gain)), _number(_lib.joulecast_gain_battery_percent(gain)),
                        closed,
                        bool(_lib.joulecast_gain_is_nothing(gain)), _text(_lib.joulecast_gain_basis(gain)))
        finally:
            if gain:
                _lib.joulecast_gain_free(gain)
            _lib.joulecast_change_free(change)

    def endure(self, minutes: float, app: Optional[str] = None, *, without: Tuple[str, ...] = (),
               battery_percent: Optional[float] = None) -> Endurance:
        """The fewest changes with which the charge lasts so long, 19 times in 20. Nothing is changed.

        app: in the foreground until then; None: use goes on as it is; without: what must stay as it is: actions of
        a Change, apps, or "limit:APP" and "close:APP"
        """
        self._open()
        goal = self._new(_lib.joulecast_goal_new, minutes)
        endurance = None
        try:
            if app is not None:
                self._check(_lib.joulecast_goal_app(goal, app.encode()))
            for what in without:
                self._check(_lib.joulecast_goal_without(goal, what.encode()))
            if battery_percent is not None:
                self._check(_lib.joulecast_goal_battery(goal, battery_percent))
            endurance = self._new(_lib.joulecast_endurance_new, self._profile, self._usage, goal)
            return Endurance(_text(_lib.joulecast_endurance_app(endurance)),
                             _value(_lib.joulecast_endurance_before(endurance)),
                             _value(_lib.joulecast_endurance_after(endurance)),
                             _number(_lib.joulecast_endurance_short_minutes(endurance)), list(self._changes(endurance)),
                             _number(_lib.joulecast_endurance_battery_percent(endurance)),
                             _text(_lib.joulecast_endurance_basis(endurance)))
        finally:
            if endurance:
                _lib.joulecast_endurance_free(endurance)
            _lib.joulecast_goal_free(goal)

    @staticmethod
    def _changes(endurance):
        index, change = 0, _Change()
        while _lib.joulecast_endurance_change(endurance, index, ctypes.byref(change)) == 0:
            yield Change(_text(change.action), change.app and _text(change.app), change.name and _text(change.name),
                         _number(change.brightness_percent), _value(change.gained))
            index += 1
