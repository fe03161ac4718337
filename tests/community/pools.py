# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Made fleets of one model whose devices differ by a known spread, and what a pool of their profiles says."""
import configparser
import math
import os
import random
import subprocess

WEEK = 7 * 86400
EDITION, EDITION_S = "2026-11-23", 1795392000
# The least of a laptop, from a profile of its class: key, value, and to which part of the device it belongs.
TRUTH = {
    "base.power_mw": 2300, "cpu 0.active_mw.800000": 300, "cpu 0.active_mw.1600000": 700,
    "cpu 0.active_mw.2400000": 1400,
    "cpu 0.shared_mw.800000": 300, "cpu 0.shared_mw.1600000": 600, "cpu 0.shared_mw.2400000": 1000,
    "display.power_mw.0": 700, "display.power_mw.500": 1900, "display.power_mw.1000": 3500, "disk.read_mj_per_mb": 3,
    "disk.write_mj_per_mb": 7, "wifi.on_mw": 150, "wifi.rx_mj_per_mb": 65, "wifi.tx_mj_per_mb": 100,
    "wifi.wake_mj": 240,
    "gpu.active_mw": 6500,
}
# Usage of one hour: seconds at a point, MB, bursts.
USES = {
    "base.power_mw": 3600, "cpu 0.active_mw.800000": 400, "cpu 0.active_mw.1600000": 300,
    "cpu 0.active_mw.2400000": 200,
    "cpu 0.shared_mw.800000": 300, "cpu 0.shared_mw.1600000": 200, "cpu 0.shared_mw.2400000": 150,
    "display.power_mw.500": 3600,
    "disk.read_mj_per_mb": 200, "disk.write_mj_per_mb": 100, "wifi.on_mw": 3600, "wifi.rx_mj_per_mb": 100,
    "wifi.tx_mj_per_mb": 20,
    "wifi.wake_mj": 300, "gpu.active_mw": 100,
}


def device(rng, model, spread):
    """A device of a model: half of what it differs by is its component's, half each coefficient's own."""
    parts = {}
    return {key: max(0.02, 1 + spread * (math.sqrt(0.5) * parts.setdefault(key.split(".")[0], rng.gauss(0, 1)) +
                                         math.sqrt(0.5) * rng.gauss(0, 1))) * value for key, value in model.items()}


def least_half_width(model, spread, uses):
    """Half-width of the narrowest symmetric 95 % interval for a further device, as if mean and spread were known."""
    parts = {}
    for key, amount in uses.items():
        parts.setdefault(key.split(".")[0], []).append(amount * model[key])
    return 1.96 * spread * math.sqrt(sum(sum(part)**2 + sum(one * one for one in part) for part in parts.values()) / 2)


def write_card(path, values, errors, when=EDITION_S - 2 * WEEK, model="Acme Book 14", more="x-cpu = Acme Core 7\n"):
    sections = {}
    for key, value in values.items():
        section, name = key.split(".", 1)
        sections.setdefault(section, []).append(f"{name} = {value:.4g} {errors[key]:.4g}")
    text = f"[profile]\nversion = 1\ndevice = shared\nmethod = gauge\nx-model = {model}\n{more}"
    text += "[fit]\ndegrees_of_freedom = 60\nscale_percent = 2\n[battery]\nenergy_full_mwh = 50000\n"
    for section, lines in sections.items():
        text += f"[{section}]\n" + ("max_brightness = 1000\n"
            if section == "display" else "") + "\n".join(lines) + "\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (when, when))


def measured(rng, truth, error):
    """Coefficients as a calibration measures them, with random errors, and their standard errors."""
    errors = {key: error * (0.5 + rng.random()) * value for key, value in truth.items()}
    return {key: max(0, value + rng.gauss(0, errors[key])) for key, value in truth.items()}, errors


def lie(rng, values):
    """False coefficients, in a way of each liar's own, with small standard errors."""
    kind = rng.choice(("ten", "tenth", "one", "noise"))
    factor = {"ten": 10, "tenth": 0.1, "one": 3, "noise": None}[kind]
    lies = {key: value * (factor or rng.choice((0, 0.2, 5, 20))) for key, value in values.items()}
    return lies, {key: 0.01 * value + 0.001 for key, value in lies.items()}


def make_fleet(folder, seed, devices=20, liars=3, networks=5, spread=0.3, error=0.08):
    """Writes the cards of a fleet. Returns the model's means and the random numbers for further devices."""
    rng = random.Random(seed)
    model = {key: value * math.exp(rng.gauss(0, 0.15)) for key, value in TRUTH.items()}
    for number in range(devices + liars):
        values, errors = measured(rng, device(rng, model, spread), error)
        if number >= devices:
            values, errors = lie(rng, model)
        network = rng.randrange(networks) if number >= networks else number
        write_card(os.path.join(folder, f"network{network}", f"{rng.getrandbits(128):032x}-profile.ini"), values,
            errors)
    return model, rng


def make_machine(where, name="Acme", product="Book 14"):
    """The sys of a laptop of that model, without a battery's history."""
    files = {"sys/class/dmi/id/sys_vendor": name, "sys/class/dmi/id/product_name": product,
        "sys/class/dmi/id/chassis_type": "10",
             "sys/class/dmi/id/product_serial": "SECRET123",
             "proc/cpuinfo": "processor\t: 0\nmodel name\t: Acme Core 7\n",
             "proc/stat": "cpu 1 1 1 1\ncpu0 1 1 1 1\n",
             "sys/devices/system/cpu/present": "0-3", "sys/devices/system/cpu/possible": "0-3",
             "sys/devices/system/cpu/online": "0-3",
             "sys/class/backlight/intel_backlight/max_brightness": "1000",
             "sys/class/backlight/intel_backlight/brightness": "500",
             "sys/class/backlight/intel_backlight/type": "raw"}
    policy = "sys/devices/system/cpu/cpufreq/policy0/"
    files |= {policy + "affected_cpus": "0 1 2 3", policy + "related_cpus": "0 1 2 3",
        policy + "cpuinfo_min_freq": "400000",
              policy + "cpuinfo_max_freq": "3200000", policy + "scaling_driver": "acpi-cpufreq",
              policy + "scaling_available_frequencies": "3200000 2400000 1600000 800000 400000"}
    supply = {"POWER_SUPPLY_NAME": "BAT0", "POWER_SUPPLY_TYPE": "Battery", "POWER_SUPPLY_STATUS": "Discharging",
        "POWER_SUPPLY_PRESENT": "1",
              "POWER_SUPPLY_ENERGY_FULL": "50000000", "POWER_SUPPLY_ENERGY_NOW": "25000000",
              "POWER_SUPPLY_POWER_NOW": "5000000",
              "POWER_SUPPLY_VOLTAGE_NOW": "11500000", "POWER_SUPPLY_CAPACITY": "50"}
    files["sys/class/power_supply/BAT0/uevent"] = "\n".join(f"{key}={value}" for key, value in supply.items())
    files["sys/class/power_supply/BAT0/type"] = "Battery"
    files["sys/class/power_supply/BAT0/scope"] = "System"
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(where, path)), exist_ok=True)
        with open(os.path.join(where, path), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return where


STEMS = ("power", "active", "shared", "on_", "rx", "tx", "wake", "read", "write")


class Profile:
    """The numbers of a profile."""

    def __init__(self, path):
        reader = configparser.ConfigParser(delimiters="=", comment_prefixes=(";",), inline_comment_prefixes=(" ;",))
        reader.optionxform = str
        reader.read(path)
        self.numbers = {f"{section}.{key}": tuple(map(float, text.split()))
                        for section in reader.sections() if section not in ("profile", "fit", "battery",
                            "covariance", "learned")
                        for key, text in reader[section].items() if key.startswith(STEMS)}
        self.fit = {key: float(text) for key, text in reader["fit"].items()}
        self.names = dict(reader["profile"])
        pairs = reader["covariance"] if "covariance" in reader else {}
        self.covariance = {tuple(key.split(",")): float(text) for key, text in pairs.items()}

    def at(self, key):
        """Value and error at a point that the profile need not have."""
        if key in self.numbers:
            return {key: 1}
        stem, point = key.rsplit(".", 1)
        points = sorted(int(name.rsplit(".", 1)[1]) for name in self.numbers if name.startswith(stem + "."))
        low = max((p for p in points if p <= int(point)), default=points[0])
        high = min((p for p in points if p >= int(point)), default=points[-1])
        part = 0 if low == high else (int(point) - low) / (high - low)
        return {f"{stem}.{low}": 1 - part, f"{stem}.{high}": part} if low != high else {f"{stem}.{low}": 1}

    def energy(self, uses):
        """Energy of a use, and the half-width of its 95 % interval: joulecast-profile(5), INTERVALS."""
        weights = {}
        for key, amount in uses.items():
            for name, part in self.at(key).items():
                weights[name] = weights.get(name, 0) + amount * part
        value = sum(amount * self.numbers[key][0] for key, amount in weights.items())
        variance = sum((amount * self.numbers[key][1]) ** 2 for key, amount in weights.items())
        for (one, other), number in self.covariance.items():
            one, other = (text.replace("cpu.0", "cpu 0", 1) for text in (one, other))
            variance += 2 * weights.get(one, 0) * weights.get(other, 0) * number if one != other else 0
        variance += (self.fit.get("scale_percent", 0) / 100 * value) ** 2
        return value, student(self.fit["degrees_of_freedom"]) * math.sqrt(variance)


def student(freedom):
    """97.5 % quantile of Student's t (Cornish and Fisher; within 0.3 % from four degrees of freedom)."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2) + \
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)


def pool(program, folder, output, *more):
    return subprocess.run([program, "pool", folder, "--output", output, "--edition", EDITION, *more],
        capture_output=True, text=True)


def fetch(joulecast, machine, pools, profile, *more):
    return subprocess.run([joulecast, "community", "profile", "--from", pools, "--machine", machine, "--profile",
        profile,
                           "--database", os.path.join(os.path.dirname(profile), "usage.db"), *more],
                           capture_output=True, text=True)


def judge(joulecast, program, where, seeds, further=5, **fleet):
    """Results for further devices of each fleet: (inside, half-width / truth, half-width and the least possible one /
    the class's, the class's half-width / the model's mean)."""
    machine = make_machine(os.path.join(where, "machine"))
    spread = fleet.get("spread", 0.3)
    subprocess.run([joulecast, "profile", "use", "class-laptop", "--machine", machine, "--profile",
        os.path.join(where, "class.ini")],
                   check=True, stdout=subprocess.DEVNULL)
    usual = Profile(os.path.join(where, "class.ini"))
    found = {"coefficients": [], "an hour": [], "its screen": [], "its CPU": []}
    for seed in seeds:
        folder, out, profile = (os.path.join(where, f"{name}{seed}") for name in ("in", "out", "profile"))
        os.mkdir(profile)
        model, rng = make_fleet(folder, seed, **fleet)
        assert pool(program, folder, out).returncode == 0
        assert fetch(joulecast, machine, out, os.path.join(profile, "profile.ini")).returncode == 0
        prior = Profile(os.path.join(profile, "profile.ini"))
        uses = {"coefficients": [{key: 1} for key in TRUTH], "an hour": [USES]}
        for name, part in (("its screen", "display"), ("its CPU", "cpu")):
            uses[name] = [{key: amount for key, amount in USES.items() if key.startswith(part)}]
        for _ in range(further):
            truth = device(rng, model, spread)
            for kind, list_of in uses.items():
                for use in list_of:
                    energy = sum(amount * truth[key] for key, amount in use.items())
                    value, half = prior.energy(use)
                    wide = usual.energy(use)[1]
                    found[kind].append((abs(value - energy) <= half, half / energy, half / wide,
                                        least_half_width(model, spread, use) / wide,
                                        wide / sum(amount * model[key] for key, amount in use.items())))
    return found
