#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Houses include only lib/ and include/, and rooms only what stands below them.

The core is include/, lib/, calibrate/, poller/ and predict/; develop/ and community/ stand beside it. A file
includes headers of its own house, and of lib/ as "room/header.h"; a folder of the core reaches into no other one
but lib/. The `rooms` of a folder's meson.build are listed lowest first: a file of a room includes headers of its
own room by their bare name, and of lower rooms as "room/header.h". The headers of one room must not include each
other in a circle.

Usage: test-layers.py SOURCE-DIR
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
GENERATED = (".skel.h", "-client-protocol.h")
FOLDERS = ("lib", "calibrate", "poller", "predict", "develop", "community")
# Rooms that no other room of their folder may include: the two sides of the community meet in shared/ and in uploads.
APART = {("community", "device"), ("community", "server")}
# Folders that may leave out the room's name of these headers: most files of the commands include two or more of
# lib/answer/.
SHORT = {"predict": "lib/answer"}
ROOMS = re.compile(r"^rooms\s*=\s*\[([^\]]*)\]", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rooms_of(root, top):
    path = os.path.join(root, top, "meson.build")
    found = ROOMS.search(read(path)) if os.path.exists(path) else None
    return re.findall(r"'([^']+)'", found.group(1)) if found else []


def sources(folder):
    for where, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(where, name)


def wrong_includes(folder, room, lower, rooms, path):
    """Sentences about a file's includes; headers that it includes from its own room."""
    wrong, own = [], []
    for header in INCLUDE.findall(read(path)):
        first = header.split("/")[0]
        beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
        if os.path.exists(beside):
            if not beside.startswith(folder + os.sep):
                wrong.append(f'"{header}" leaves the room; name it as "room/header.h"')
            own.append(beside)
        elif first in rooms and first not in lower:
            wrong.append(f'"{header}": {first} is not below {room}' if first != room else
                         f'"{header}" is of its own room; leave out the room\'s name')
        elif first not in rooms and first != "joulecast.h" and not header.endswith(GENERATED):
            wrong.append(f'"{header}" does not name its room')
    return wrong, own


def circle(headers):
    """One circle among headers that include each other, or None."""
    done = set()

    def walk(header, chain):
        if header in chain:
            return chain[chain.index(header):] + [header]
        if header in done or header not in headers:
            return None
        done.add(header)
        for other in headers[header]:
            found = walk(other, chain + [header])
            if found:
                return found
        return None

    for header in headers:
        found = walk(header, [])
        if found:
            return found
    return None


def has(folder, header):
    """The header is in the folder."""
    path = os.path.normpath(os.path.join(folder, header))
    return path.startswith(folder + os.sep) and os.path.exists(path)


def is_own_or_of_library(root, top, header, path, library):
    """A header that a file may include that is in no room."""
    house = os.path.join(root, top)
    beside = os.path.relpath(os.path.join(os.path.dirname(path), header), house)
    return has(house, beside) or has(house, header) or \
        (header.split("/")[0] in library and has(os.path.join(root, "lib"), header)) or \
        (top in SHORT and has(os.path.join(root, SHORT[top]),
                              header)) or header == "joulecast.h" or header.endswith(GENERATED)


def check_rooms(root, top, rooms, library):
    seen, wrong, lower = 0, [], list(library)
    for room in rooms:
        folder = os.path.join(root, top, room)
        headers = {}
        if not os.path.isdir(folder):
            wrong.append(f"{top}/{room} is no folder")
        for path in sources(folder):
            sentences, own = wrong_includes(folder, room, lower, library + rooms, path)
            seen += 1
            wrong += [f"{os.path.relpath(path, root)}: {sentence}" for sentence in sentences]
            if path.endswith(".h"):
                headers[path] = own
        found = circle(headers)
        if found:
            wrong.append("a circle: " + " -> ".join(os.path.relpath(path, root) for path in found))
        if (top, room) not in APART:
            lower.append(room)
    return seen, wrong


def check_others(root, top, rooms, library):
    seen, wrong = 0, []
    for path in sources(os.path.join(root, top)):
        name = os.path.relpath(path, os.path.join(root, top))
        if name.split(os.sep)[0] in rooms:
            continue
        seen += 1
        wrong += [f'{top}/{name}: "{header}" is neither of {top}/ nor of lib/' for header in INCLUDE.findall(read(path))
                  if not is_own_or_of_library(root, top, header, path, library)]
    return seen, wrong


def check(root):
    library = rooms_of(root, "lib")
    seen, wrong = 0, [] if library else ["lib/meson.build lists no rooms"]
    for top in FOLDERS:
        rooms = rooms_of(root, top)
        for n, sentences in check_rooms(root, top, rooms,
                                        [] if top == "lib" else library), check_others(root, top, rooms, library):
            seen += n
            wrong += sentences
    return seen, wrong


def main():
    seen, wrong = check(os.path.abspath(sys.argv[1]))
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{seen} files, {len(wrong)} includes against the order of the rooms")
    return 1 if wrong or seen < 100 else 0


sys.exit(main())
