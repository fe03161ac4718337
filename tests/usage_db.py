# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""To change a usage.db that no program has open: Python's SQLite leaves the checksums of pages as they were."""
import contextlib
import sqlite3
import struct

MASK = 0xffffffff


def checksum(page):
    """As lib/store/store-checksum.c has it."""
    first = second = 0
    words = struct.unpack("<%dI" % (len(page) // 4 - 2), page[:-8])
    for one, other in zip(words[::2], words[1::2]):
        first = (first + one + second) & MASK
        second = (second + other + first) & MASK
    return struct.pack("<2I", first, second)


def change(path, *statements):
    """Executes them, each a text or a text with its values, and makes the checksums right."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(*((statement,) if isinstance(statement, str) else statement))
        size = database.execute("PRAGMA page_size").fetchone()[0]
    with open(path, "r+b") as file:
        while len(page := file.read(size)) == size:
            file.seek(-8, 1)
            file.write(checksum(page))
