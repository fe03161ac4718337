# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two programs with known common tasks, made of call graphs, as folded stacks of frame@dso.

Another kind than plant.py, which changes each node of a tree for itself. Here libraries are graphs of functions: a
function that a new version renames, inlines or wraps is so in all contexts at once, also in the long paths of
dispatching that many callbacks share. An app's callback calls functions of the app, these call libraries, and some
of these call back. What a function calls depends also on who asks. A version of a program keeps the names of its
functions but those that changed; another program (other=True) has
functions of its own that do the same, in other depths, and nothing but the libraries is called alike.
"""
import random

LEVELS = {  # parts of functions: renamed, wrapped, inlined, other callees; tasks dropped and new; app functions renamed
    "low": (.02, .01, .01, .02, .05, .01),
    "mid": (.05, .03, .03, .05, .15, .05),
    "high": (.10, .06, .06, .10, .35, .15),
}
OPTIONS = ()  # for joulecast diff, which knows frameworks by their DSO
LIBRARIES, FUNCTIONS = 12, 120
EVENTS = 10
DEPTH = 7


class Libraries:
    """Functions (library, number), which call those of a greater number, or of a library below."""

    def __init__(self, chance):
        self.calls = {}
        for library in range(LIBRARIES):
            for number in range(FUNCTIONS):
                below = [self.popular(chance, min(LIBRARIES - 1, library + chance.choice((0, 0, 1, 1, 2, 4))), number)
                         for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 5)))]
                self.calls[library, number] = [callee for callee in dict.fromkeys(below) if callee > (library, number)]
        self.loop = [(0, number) for number in sorted(chance.sample(range(20), 2))]
        self.events = [sorted(chance.sample([(library, number) for library in (0, 1)
                                             for number in range(20, FUNCTIONS)], chance.randint(2, 6)))
                       for _ in range(EVENTS)]

    @staticmethod
    def popular(chance, library, after):
        """Few functions are called from everywhere, most from one place."""
        return library, min(FUNCTIONS - 1, int(chance.paretovariate(.6)) + (after if chance.random() < .5 else 0))


class Version:
    """The callees of the libraries' functions in one version, and the frames that a call of each makes."""

    def __init__(self, chance, libraries, rates=None):
        self.calls, self.frames = dict(libraries.calls), {}
        rename, wrap, inline, other = rates or (0, 0, 0, 0)
        public = {function for function in libraries.calls if function[1] % 3 == 0}  # callable by apps: not renamed
        for function in libraries.calls:
            name = f"lib{function[0]}_f{function[1]}"
            if function not in public and chance.random() < rename:
                name += "_new"
            frames = [f"{name}@liblayer{function[0]}.so.{2 if rates else 1}"]
            if chance.random() < wrap:
                frames.append(frames[0].replace("@", "_internal@"))
            elif function not in public and chance.random() < inline:
                frames = []
            self.frames[function] = frames
            if chance.random() < other and self.calls[function]:
                self.calls[function] = self.calls[function][1:]


class Task:
    """A call of a library from a callback: the same work in both programs."""

    def __init__(self, chance, libraries, callback):
        self.callback, self.seed = callback, chance.random()
        self.function = chance.choice([function for function in libraries.calls if function[0] >= 2
                                       and function[1] % 3 == 0])
        self.helpers = [f"work{chance.randrange(500)}" for _ in range(chance.choice((0, 0, 1, 1, 2, 4)))]
        self.back = chance.random() < .15  # it calls the app back, which calls a library again
        self.inner = chance.choice([function for function in libraries.calls if function[0] >= 6
                                    and function[1] % 3 == 0])


def below(version, task, path, function, depth, paths):
    """Appends the path of each frame that a call leads to."""
    for frame in version.frames[function]:
        if frame in path:
            return
        path = path + (frame,)
        paths.append(path)
    if depth == 0:
        return
    for number, callee in enumerate(version.calls[function]):
        if random.Random(f"{task.seed} {function} {number}").random() < .7:
            below(version, task, path, callee, depth - 1, paths)


class Program:
    def __init__(self, name, chance, libraries, version):
        self.name, self.chance, self.libraries, self.version = name, chance, libraries, version
        self.called = lambda function: function
        # path: weight; path to a call: task; all tasks
        self.stacks, self.tasks, self.keys = {}, {}, set()

    def app(self, function):
        return f"{self.called(function)}@{self.name}"

    def dispatch(self, event):
        return tuple(frame for function in self.libraries.loop + self.libraries.events[event]
                     for frame in self.version.frames[function])

    def add(self, task):
        path = (self.name, f"main@{self.name}", *self.dispatch(task.callback % EVENTS), self.app(f"on{task.callback}"))
        path += tuple(dict.fromkeys(self.app(helper) for helper in task.helpers))
        self.tasks[path[:3]] = "loop"  # the event loop in main() is a task, too
        self.call(task, path, task.function, (task.callback, task.function))
        if task.back:
            path += (*self.version.frames[task.function], self.app(f"compare{task.callback}"))
            self.call(task, path, task.inner, (task.callback, task.function, task.inner))

    def call(self, task, path, function, key):
        paths = []
        below(self.version, task, path, function, DEPTH, paths)
        if not paths or key in self.keys:
            return
        self.tasks[paths[0]] = key
        self.keys.add(key)
        scale = self.chance.lognormvariate(0, 1)
        for stack in paths:
            self.stacks.setdefault(stack, 1 + int(scale * self.chance.choice((1, 2, 3, 5, 8, 20))))


def other_names(chance, program, task):
    """The same task by other people."""
    made = Task.__new__(Task)
    made.__dict__.update(task.__dict__)
    made.helpers = [f"{program.name}{chance.randrange(500)}" for _ in range(chance.choice((0, 0, 1, 1, 2, 4)))]
    return made


def second(chance, first, tasks, libraries, level, other):
    """The other program, or the new version."""
    *functions, dropped, renamed = LEVELS[level]
    program = Program("other" if other else "app", chance, libraries, Version(chance, libraries, functions))
    names = {}

    def called(function):
        if function not in names:
            names[function] = f"o_{len(names)}" if other else function + ("_v2" if chance.random() < renamed else "")
        return names[function]
    program.called = called
    for task in tasks:
        if chance.random() < dropped:
            if chance.random() < .5:
                continue
            program.add(Task(chance, libraries, task.callback))
        else:
            program.add(other_names(chance, program, task) if other else task)
    return program


def pair(seed, size, level, samples=None, other=False):
    """Folded text of both programs, and of each path to a call its task, of each program."""
    chance = random.Random(f"{seed} {level}")
    libraries = Libraries(chance)
    first, tasks = Program("app", chance, libraries, Version(chance, libraries)), []
    while len(first.stacks) < size * .9:
        tasks.append(Task(chance, libraries, chance.randrange(max(10, size // 100))))
        first.add(tasks[-1])
    texts, keys = [], []
    for program in (first, second(chance, first, tasks, libraries, level, other)):
        counts = program.stacks
        if samples:
            counts = dict.fromkeys(counts, 0)
            for stack in chance.choices(list(program.stacks), weights=program.stacks.values(), k=samples):
                counts[stack] += 1
        texts.append("".join(f"{';'.join(stack)} {count}\n" for stack, count in counts.items() if count))
        seen = {stack[:n] for stack, count in counts.items() if count for n in range(1, len(stack) + 1)}
        keys.append({path: key for path, key in program.tasks.items() if path in seen})
    return texts, keys
