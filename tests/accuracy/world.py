# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random virtual devices and random use of them, to evaluate the accuracy of calibrations.

Each device draws its own coefficients around published ones (AppScope's table 3 on the SApp paper's frequencies). A
session is a scenario: four apps in turn, a system in the background all the time, and some time with the screen off.
"""

import bisect
import math
import random
import re

KHZ = [384000, 486000, 594000, 702000, 810000, 918000, 1026000, 1134000, 1242000, 1350000, 1458000, 1512000]
LITTLE_KHZ = [300000, 480000, 672000, 864000, 1056000, 1248000, 1344000, 1440000, 1536000, 1632000]

# AppScope, table 3: MHz, mW of a busy core, mW idle there.
APPSCOPE_MHZ = [245, 384, 460.8, 499.2, 576, 614.4, 652.8, 691.2, 768, 806.4, 844.8, 998.4]
APPSCOPE_BUSY = [201, 257.2, 286, 303.7, 332.7, 356.3, 378.4, 400.3, 443.4, 470.7, 493.1, 559.5]
APPSCOPE_IDLE = [35.1, 39.5, 35.2, 36.5, 39.5, 38.5, 36.7, 39.6, 40.2, 38.4, 43.5, 45.6]
DISPLAY = {5: 367.8, 55: 451.5, 105: 631.1, 155: 697.9, 205: 775.4, 255: 854.0}
VOLTAGE = {0: 3300, 5: 3520, 10: 3620, 20: 3690, 30: 3730, 40: 3760, 50: 3800, 60: 3860, 70: 3930, 80: 4010, 90: 4090,
           100: 4190}


def interpolate(x, xs, ys):
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    i = bisect.bisect_right(xs, x)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])


class Policy:
    def __init__(self, rng, number, cpus, khz, factor, wiggle):
        self.number, self.cpus, self.khz = number, cpus, khz
        low, high = khz[0], khz[-1]
        mhz = [245 + (k - low) / (high - low) * (998.4 - 245) for k in khz]
        size = factor * math.exp(rng.gauss(0, 0.15))
        busy = [size * interpolate(m, APPSCOPE_MHZ, APPSCOPE_BUSY) * (1 + rng.gauss(0, wiggle)) for m in mhz]
        share = rng.uniform(0.15, 0.40)
        self.active = [b * (1 - share) for b in busy]
        self.shared = [b * share for b in busy]
        idle = [factor * interpolate(m, APPSCOPE_MHZ, APPSCOPE_IDLE) for m in mhz]
        self.idle = [max(i - idle[0], 0) for i in idle]


class Device:
    """One truth. `text` is its file."""

    def __init__(self, seed, policies=1, harder=False, times=1):
        rng = random.Random("device %d" % seed)

        def spread(value, sd=0.15):
            return value * math.exp(rng.gauss(0, sd))

        wiggle = 0.03 if harder else 0.015
        self.seed = seed
        self.energy_mwh = 15000
        self.base = spread(150)
        if policies == 1:
            self.policies = [Policy(rng, 0, 4, KHZ, 1, wiggle)]
        else:
            self.policies = [Policy(rng, 0, 4, LITTLE_KHZ, 0.45, wiggle), Policy(rng, 4, 4, KHZ, 1, wiggle)]
        factor = spread(1)
        self.display = {level: mw * factor for level, mw in DISPLAY.items()}
        self.read, self.write = spread(6, 0.3), spread(25, 0.3)
        self.on, self.rx, self.tx, self.wake = spread(30, 0.2), spread(350, 0.2), spread(550, 0.2), spread(120, 0.2)
        self.physics = {
            "seed": seed, "level_step_percent": 1, "level_refresh_s": 15 if harder else 10,
            "resistance_mohm": 120, "nonlinearity_percent": 1.8 if harder else 1.2,
            "background_mw": 12, "background_tau_s": 300, "spike_mw": 250, "spike_s": 60, "spike_per_h": 1,
            "sub_additivity_percent": 8 if harder else 4, "leakage_percent_per_c": 0.15, "thermal_c_per_w": 8,
            "thermal_tau_s": 400, "ambient_sd_c": 2, "rate_variation_percent": 10, "gauge_period_s": 3.5,
            "gauge_noise_percent": 1, "gauge_quantum_mw": 4, "gauge_gain_percent": 1, "gauge_offset_mw": 3,
        }

        if times != 1:
            self.grow(times)

    def grow(self, times):
        """The same as a larger machine: all that is a power, an energy or a conductance is so many times as large."""
        for policy in self.policies:
            for name in ("active", "shared", "idle"):
                setattr(policy, name, [mw * times for mw in getattr(policy, name)])
        self.display = {level: mw * times for level, mw in self.display.items()}
        for name in ("energy_mwh", "base", "read", "write", "on", "rx", "tx", "wake"):
            setattr(self, name, getattr(self, name) * times)
        for key in ("background_mw", "spike_mw", "gauge_quantum_mw", "gauge_offset_mw"):
            self.physics[key] *= times
        for key in ("resistance_mohm", "thermal_c_per_w"):
            self.physics[key] /= times

    def change(self, name, factor):
        """Since its calibration a component takes so many times as much."""
        if name == "display":
            self.display = {level: mw * factor for level, mw in self.display.items()}
        for attribute in {"base": ("base",), "disk": ("read", "write"), "wifi": ("on", "rx", "tx", "wake"),
                          "display": ()}[name]:
            setattr(self, attribute, getattr(self, attribute) * factor)

    def text(self):
        lines = ["[profile]", "version = 1", "device = accuracy-%d" % self.seed, "method = virtual", "[battery]",
                 "energy_full_mwh = %d" % self.energy_mwh, "[base]", "power_mw = %.4f" % self.base]
        for policy in self.policies:
            lines += ["[cpu %d]" % policy.number,
                      "cpus = %d-%d" % (policy.number, policy.number + policy.cpus - 1)]
            for name in ("active", "shared", "idle"):
                lines += ["%s_mw.%d = %.4f" % (name, k, v) for k, v in zip(policy.khz, getattr(policy, name))]
        lines += ["[display]", "max_brightness = 255"]
        lines += ["power_mw.%d = %.4f" % item for item in self.display.items()]
        lines += ["[disk]", "read_mj_per_mb = %.4f" % self.read, "write_mj_per_mb = %.4f" % self.write]
        lines += ["[wifi]", "on_mw = %.4f" % self.on, "rx_mj_per_mb = %.4f" % self.rx,
                  "tx_mj_per_mb = %.4f" % self.tx, "wake_mj = %.4f" % self.wake]
        lines += ["[virtual]"] + ["%s = %s" % item for item in self.physics.items()]
        lines += ["voltage_mv.%d = %d" % item for item in VOLTAGE.items()]
        return "\n".join(lines) + "\n"

    def daemons_mw(self):
        p = self.physics
        return p["background_mw"] + p["spike_mw"] * p["spike_s"] * p["spike_per_h"] / 3600

    def steady_mw(self, policy=None, point=0, cores=0):
        """Power with @cores busy at one operating point of @policy, all else idle, when the temperature has settled."""
        p = self.physics
        cold = self.base + sum(q.idle[0] for q in self.policies)
        if policy:
            k = p["sub_additivity_percent"] / 100 * (cores - 1) / (policy.cpus - 1)
            cold += policy.idle[point] - policy.idle[0] + policy.shared[point] + policy.active[point] * cores * (1 - k)
        power = cold + self.daemons_mw()
        for _ in range(30):
            celsius = 25 + p["thermal_c_per_w"] * power / 1000
            power = cold * (1 + p["leakage_percent_per_c"] / 100 * (celsius - 33)) + self.daemons_mw()
        return power

    def truths(self):
        """Results of a perfect calibration, and the profile's keys that have them: [(name, {key: factor}, mW)]."""
        idle = self.steady_mw()
        found = [("base", {"base.power_mw": 1}, idle)]
        for q in self.policies:
            for i, khz in enumerate(q.khz):
                for cores in (1, q.cpus):
                    keys = {"cpu.%d.active_mw.%d" % (q.number, khz): cores,
                            "cpu.%d.shared_mw.%d" % (q.number, khz): 1}
                    found.append(("cpu %d core%s" % (cores, "s" * (cores > 1)), keys,
                                  self.steady_mw(q, i, cores) - idle))
            if q.idle[-1] > 0:
                found.append(("idling", {"cpu.%d.idle_mw.%d" % (q.number, q.khz[-1]): 1}, q.idle[-1]))
        for key, value in (("disk.read_mj_per_mb", self.read), ("disk.write_mj_per_mb", self.write),
                           ("wifi.on_mw", self.on), ("wifi.rx_mj_per_mb", self.rx), ("wifi.tx_mj_per_mb", self.tx),
                           ("wifi.wake_mj", self.wake)):
            found.append((key, {key: 1}, value))
        return found

    def display_mw(self, level):
        return interpolate(level, list(self.display), list(self.display.values()))


def pick_point(rng, n):
    """Governors keep CPUs at the ends and above the middle."""
    weights = [3, 1, 1, 1, 1, 2, 3, 3, 2, 1, 1, 4]
    return rng.choices(range(n), [interpolate(i * 11 / max(n - 1, 1), range(12), weights) for i in range(n)])[0]


def segment(number, app, state, start, length, **what):
    lines = ["[segment %d]" % number, "app = %s" % app, "state = %s" % state, "start_s = %.0f" % start,
             "length_s = %.0f" % length]
    return lines + ["%s = %s" % (re.sub(r"_(\d+)$", r".\1", key), value) for key, value in what.items()]


def session(device, seed):
    """A scenario's text."""
    rng = random.Random("session %d %d" % (device.seed, seed))
    lines = ["[scenario]", "brightness = %d" % min(max(rng.gauss(178, 40), 30), 255)]
    number, start = 0, 0
    for app in range(4):
        use = min(max(math.exp(rng.gauss(math.log(0.5), 0.7)), 0.05), 2.2)
        rates = {"read_mb_per_s": "%.4f" % rng.expovariate(1 / 0.3), "write_mb_per_s": "%.4f" % rng.expovariate(10)}
        rx = rng.expovariate(1 / 0.06)
        rates.update(rx_mb_per_s="%.4f" % rx, tx_mb_per_s="%.4f" % (0.2 * rx),
                     wakes_per_s="%.4f" % rng.uniform(0.02, 0.3))
        length = rng.uniform(300, 1500)
        shares = [rng.expovariate(1) for _ in range(3)]
        for share in shares:
            policy = rng.choice(device.policies)
            part = max(round(length * share / sum(shares)), 1)
            cores = [rng.gammavariate(1.5, 1) for _ in range(policy.cpus)]
            cores = [min(use * c / sum(cores), 0.98) for c in cores]
            suffix = "" if policy.number == 0 else "_%d" % policy.number
            number += 1
            lines += segment(number, "app-%d" % app, "foreground", start, part, **rates, **{
                "khz" + suffix: policy.khz[pick_point(rng, len(policy.khz))],
                "cores" + suffix: " ".join("%.3f" % c for c in cores)})
            start += part
    dark = round(rng.uniform(600, 2400))
    lines += segment(number + 1, "system", "background", 0, start + dark, khz=device.policies[0].khz[0],
                     cores="0.04 0.02 0.01 0", read_mb_per_s=0.02, write_mb_per_s=0.05, rx_mb_per_s=0.003,
                     tx_mb_per_s=0.001, wakes_per_s=0.05)
    return "\n".join(lines) + "\n"
