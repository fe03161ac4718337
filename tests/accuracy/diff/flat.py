# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two C programs with known common tasks, as folded stacks: nearly everything hangs below main().

Stacks have few frames of frameworks above the app: main() calls functions of the app, these call libraries, and a
loop of a library calls some callbacks. The second program has functions with other names, which call in other
depths. Tasks are dropped, new, called from another callback, or renamed themselves; what they call is renamed,
inserted, removed, and other. New tasks often have internal functions of the library in common with tasks that were
dropped. """
import random

import plant

LEVELS = {  # shares of tasks dropped and new, from another callback, renamed; below: renamed, inserted, removed, other
    "low": (.05, .01, .01, .02, .01, .01, .02),
    "mid": (.15, .05, .02, .05, .03, .03, .05),
    "high": (.35, .10, .05, .10, .06, .06, .10),
}
OPTIONS = ("--framework-prefix", "lib_")
CALLS, INTERNALS = 2000, 1200  # functions that an app may call, and those below
CALLBACKS, HELPERS = 8, 100


class Function:
    """A library's function and the functions that it calls, which are the same wherever it is called."""

    def __init__(self, name, depth):
        own = random.Random(name)
        calls = [own.randrange(INTERNALS) for _ in range(own.choice((0, 1, 1, 2, 2, 3)))]
        self.name = name
        self.below = [Function(f"lib_i{number}", depth - 1) for number in dict.fromkeys(calls)] if depth else []

    def add(self, child):
        if all(other.name != child.name for other in self.below):
            self.below.append(child)

    def paths(self, above):
        yield above + (self.name,)
        for function in self.below:
            yield from function.paths(above + (self.name,))


def internal(chance):
    return f"lib_i{chance.randrange(INTERNALS)}"


def changed(chance, function, rates):
    """A copy with another inside."""
    rename, insert, remove, other = rates
    copy = Function(function.name, 0)
    for child in function.below:
        if chance.random() < other:
            copy.add(Function(internal(chance), 1))
            continue
        made = changed(chance, child, rates)
        if chance.random() < rename:
            made.name = internal(chance)
        if chance.random() < remove:
            for grandchild in made.below:
                copy.add(grandchild)
            continue
        if chance.random() < insert:
            between = Function(internal(chance), 0)
            between.add(made)
            made = between
        copy.add(made)
    return copy


class Program:
    def __init__(self, chance, name, callbacks):
        self.chance, self.name, self.callbacks = chance, name, callbacks
        self.tasks = {}  # by place and function: a number, and what is called

    def place(self):
        """main(), or one of the callbacks."""
        return max(0, self.chance.randrange(2 * CALLBACKS) - CALLBACKS + 1)

    def add(self, number, place, function):
        self.tasks.setdefault((place, function.name), (number, function))

    def add_new(self, number):
        self.add(number, self.place(), Function(f"lib_call{self.chance.randrange(CALLS)}", self.chance.randint(1, 4)))

    def stacks(self):
        """(path, number of the task that it is the call of, or None)"""
        for (place, _), (number, function) in self.tasks.items():
            helpers = [f"{self.name}_{self.chance.randrange(HELPERS)}"
                       for _ in range(self.chance.choice((0, 1, 1, 2, 4)))]
            above = (f"lib_loop{place % 3}", self.callbacks[place]) if place else ()
            above = (self.name, "main", *above, *dict.fromkeys(helpers))
            for path in function.paths(above):
                yield path, number if len(path) == len(above) + 1 else None


def second(chance, first, level, size):
    dropped, moved, renamed, *rates = LEVELS[level]
    callbacks = [name if chance.random() > dropped else f"b_{name}" for name in first.callbacks]
    program = Program(chance, "b", callbacks)
    for (place, _), (number, function) in first.tasks.items():
        if chance.random() < dropped:
            continue
        function = changed(chance, function, rates)
        if chance.random() < renamed:
            function.name += "_v2"
        program.add(number, program.place() if chance.random() < moved else place, function)
    for number in range(int(dropped * len(first.tasks))):
        program.add_new(size + number)
    return program


def pair(seed, size, level, samples=None):
    """Folded text of both programs, and of each path to a call its task, of each program."""
    chance = random.Random(f"{seed} {level}")
    first = Program(chance, "a", [f"on_{number}" for number in range(CALLBACKS + 1)])
    for number in range(size // 16):
        first.add_new(number)
    texts, keys = [], []
    for program in (first, second(chance, first, level, size)):
        found = list(program.stacks())
        counts = [chance.choice((1, 1, 2, 3, 5, 8, 20)) for _ in found]
        text, seen = plant.fold(chance, found, counts, samples)
        texts.append(text)
        keys.append({path: number for path, number in found if number is not None and path in seen})
        # a task, too
        keys[-1].update({path: path[-1] for path in seen if len(path) == 3 and path[-1].startswith("lib_loop")})
    return texts, keys
