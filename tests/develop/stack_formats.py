# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes stacks in the formats that profilers have. Stacks are a list of (["app", "main@app", "read@libc.so.6"],
value)."""
import gzip
import json
import struct


def split(frame):
    name, _, dso = frame.partition("@")
    return name, dso


def folded(stacks):
    return "".join(f"{';'.join(frames)} {value}\n" for frames, value in stacks).encode()


# Protocol buffers, as far as profile.proto needs them.
def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value & 0xffffffffffffffff)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


class Profile:
    """profile.proto, of samples and nanoseconds; one sample counts @period."""

    def __init__(self, program, packed=True):
        self.strings, self.tables, self.samples, self.packed = {"": 0}, b"", b"", packed
        self.known, self.ids = {}, {}
        self.types = [("samples", "count"), ("cpu", "nanoseconds")]
        self.mapping("/usr/bin/" + program)

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def entry(self, key, make):
        if key not in self.known:
            self.ids[key[0]] = self.known[key] = self.ids.get(key[0], 0) + 1
            self.tables += make(self.known[key])
        return self.known[key]

    def mapping(self, path):
        return self.entry(("mapping", path.rsplit("/", 1)[-1]),
                          lambda id: message(3, number(1, id) + number(5, self.string(path))))

    def location(self, frame):
        name, dso = split(frame)
        function = self.entry(("function", name), lambda id: message(5, number(1, id) + number(2, self.string(name))))
        mapping = self.mapping("/usr/lib/" + dso) if dso else 0
        return self.entry(("location", frame),
                          lambda id: message(4, number(1, id) + number(2, mapping) + number(3, id * 16) +
                                                                  message(4, number(1, function) + number(2, 7))))

    def add(self, frames, values):
        ids = [self.location(frame) for frame in reversed(frames)]
        if self.packed:
            data = message(1, b"".join(map(varint, ids))) + message(2, b"".join(map(varint, values)))
        else:
            data = b"".join(number(1, id) for id in ids) + b"".join(number(2, value) for value in values)
        self.samples += message(2, data)

    def data(self, strings=None):
        types = b"".join(message(1, number(1, self.string(kind)) + number(2, self.string(unit)))
                         for kind, unit in self.types)
        return types + self.samples + self.tables + b"".join(message(6, text.encode()) for text in strings
                                                             or self.strings)


def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Numbers of fields and their values: numbers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = take_varint(data, at)
        value, at = take_varint(data, at)
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value


def numbers(data):
    """A packed list, of numbers with a sign."""
    at, found = 0, []
    while at < len(data):
        value, at = take_varint(data, at)
        found.append(value - (value >> 63 << 64))
    return found


def read_pprof(data):
    """Types with their units, the first mapping, and a list of (frames from the root, values)."""
    top = list(fields(data))
    strings = [value.decode() for field, value in top if field == 6]
    tables = {kind: {dict(fields(value))[1]: dict(fields(value)) for field, value in top if field == kind}
              for kind in (3, 4, 5)}
    files = {at: strings[mapping[5]] for at, mapping in tables[3].items()}
    names = {}
    for at, location in tables[4].items():
        name, file = strings[tables[5][dict(fields(location[4]))[1]][2]], files.get(location.get(2))
        names[at] = name + ("@" + file if file else "")
    types = [tuple(strings[at] for _, at in fields(value)) for field, value in top if field == 1]
    samples = [dict(fields(value)) for field, value in top if field == 2]
    return types, files[next(iter(files))], [([names[at] for at in reversed(numbers(sample[1]))],
                                              numbers(sample[2])) for sample in samples]


def pprof(stacks, period=1000000, packed=True, compressed=True):
    profile = Profile(stacks[0][0][0], packed)
    for frames, value in stacks:
        profile.add(frames[1:], [value, value * period])
    return gzip.compress(profile.data()) if compressed else profile.data()


def perf_script(stacks, period=1000000):
    out = ["# ========", "# captured on    : today", "#"]
    at = 100.0
    for frames, value in stacks:
        for _ in range(value):
            at += 0.001
            out.append(f"{frames[0]}  4321 [002] {at:.6f}: {period:10} cpu-clock:pppH: ")
            for frame in reversed(frames[1:]):
                name, dso = split(frame)
                path = "inlined" if not dso else dso if dso.startswith("[") else "/usr/lib/x/" + dso
                out.append(f"\t    7f0012ab {name}+0x1f ({path})")
            out.append("")
    return "\n".join(out).encode()


def speedscope(stacks, period=1000000, events=False):
    names = sorted({frame for frames, _ in stacks for frame in frames[1:]})
    place = {name: i for i, name in enumerate(names)}
    frames = [{"name": split(name)[0], "line": 3, **({"file": "/usr/lib/" + split(name)[1]} if split(name)[1] else {})}
              for name in names]
    profile = {"name": stacks[0][0][0], "unit": "nanoseconds", "startValue": 0}
    if events:
        listed, now, open_ = [], 0, []
        for stack, value in sorted(stacks):
            keep = 0
            while keep < min(len(open_), len(stack) - 1) and open_[keep] == stack[keep + 1]:
                keep += 1
            listed += [{"type": "C", "frame": place[name], "at": now} for name in reversed(open_[keep:])]
            listed += [{"type": "O", "frame": place[name], "at": now} for name in stack[keep + 1:]]
            open_ = stack[1:]
            now += value * period
        listed += [{"type": "C", "frame": place[name], "at": now} for name in reversed(open_)]
        profile.update(type="evented", endValue=now, events=listed)
    else:
        samples = [[place[frame] for frame in stack[1:]] for stack, value in stacks for _ in range(value)]
        profile.update(type="sampled", samples=samples, weights=[period] * len(samples), endValue=len(samples) * period)
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": [profile],
                       "shared": {"frames": frames}, "name": "x", "exporter": "a test"}, indent=1).encode()


class Tables:
    def __init__(self):
        self.frames, self.stacks = {}, {}

    @staticmethod
    def index(of, what):
        return of.setdefault(what, len(of))

    def stack(self, frames):
        at = None
        for frame in frames:
            at = self.index(self.stacks, (at, self.index(self.frames, frame)))
        return at


def firefox(stacks, period=1000000, raw=False, shared=False):
    tables = Tables()
    samples = [tables.stack(frames[1:]) for frames, value in stacks for _ in range(value)]
    meta = {"interval": 1, "product": stacks[0][0][0], "sampleUnits": {"time": "ms", "threadCPUDelta": "µs"}}
    delta = period // 1000
    if raw:
        locations = [name if "@" not in name else f"{split(name)[0]} (in {split(name)[1]})" for name in tables.frames]
        thread = {
            "name": stacks[0][0][0], "tid": 1,
            "samples": {"schema": {"stack": 0, "time": 1, "threadCPUDelta": 2},
                        "data": [[stack, i, delta] for i, stack in enumerate(samples)] + [[None, 9], [0, 10, 0]]},
            "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [list(row) for row in tables.stacks]},
            "frameTable": {"schema": {"location": 0, "line": 1}, "data": [[i] for i in range(len(locations))]},
            "stringTable": locations,
        }
        return json.dumps({"meta": meta, "libs": [], "threads": [],
                           "processes": [{"meta": meta, "libs": [], "threads": [thread]}]}).encode()
    strings = sorted({part for frame in tables.frames for part in split(frame)})
    libraries = sorted({split(frame)[1] for frame in tables.frames})
    rest = {
        "stackTable": {"prefix": [row[0] for row in tables.stacks], "frame": [row[1] for row in tables.stacks],
                       "length": 0},
        "frameTable": {"func": list(range(len(tables.frames))), "address": [0] * len(tables.frames), "length": 0},
        "funcTable": {"name": [strings.index(split(frame)[0]) for frame in tables.frames],
                      "resource": [libraries.index(split(frame)[1]) if split(frame)[1] else -1
                                   for frame in tables.frames]},
        "resourceTable": {"name": [strings.index(library) for library in libraries],
                          "lib": list(range(len(libraries)))},
        "stringArray": strings,
    }
    thread = {"processName": stacks[0][0][0], "name": "GeckoMain", "samples": {
        "stack": samples, "time": list(range(len(samples))), "threadCPUDelta": [delta] * len(samples), "weight": None}}
    if not shared:
        thread.update(rest)
    return json.dumps({"meta": meta, "libs": [], **({"shared": rest} if shared else {}), "threads": [thread]}).encode()


def callgrind(stacks):
    """What callgrind says of them; with all contexts in the names, as --separate-callers does."""
    self, inclusive = {}, {}
    for frames, value in stacks:
        for depth in range(1, len(frames)):
            path = tuple(frames[1:depth + 1])
            inclusive[path] = inclusive.get(path, 0) + value
        self[path] = self.get(path, 0) + value

    def name(path):
        return "'".join(split(frame)[0] for frame in reversed(path))

    out = ["# callgrind format", "version: 1", "creator: a test", f"cmd: /usr/bin/{stacks[0][0][0]} -x",
           "positions: line",
           "events: Ir Dr", ""]
    for path in inclusive:
        out += [f"ob=/usr/lib/{split(path[-1])[1]}", f"fn={name(path)}", f"7 {self.get(path, 0)} 5"]
        for below in inclusive:
            if below[:-1] == path:
                out += [f"cob=/usr/lib/{split(below[-1])[1]}", f"cfn={name(below)}", "calls=3 +2",
                        f"* {inclusive[below]} 1"]
        out.append("")
    return "\n".join(out).encode()


def cpu_profile(stacks, period_us=1000, word="Q", order="<"):
    """Of gperftools; it has no names, so that each file is one function."""
    files = {}
    for frames, _ in stacks:
        for frame in frames[1:]:
            Tables.index(files, split(frame)[1])
    words = [0, 3, 0, period_us, 0]
    for frames, value in stacks:
        at = [0x1000 * (1 + files[split(frame)[1]]) + 8 for frame in reversed(frames[1:])]
        words += [value, len(at)] + at[:1] + [address + 1 for address in at[1:]]
    words += [0, 1, 0]
    maps = "".join(f"{0x1000 * (i + 1):08x}-{0x1000 * (i + 2):08x} r-xp 00000000 08:01 17      /usr/lib/{name}\n"
                   for i, name in enumerate(files))
    return struct.pack(f"{order}{len(words)}{word}", *words) + maps.encode()
