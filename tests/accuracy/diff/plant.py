# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two programs with known common tasks, as folded stacks.

Framework functions are fw.N, each with a subtree that it has wherever it is called, so that the same function
occurs in many contexts. A program is frameworks' paths down to callbacks of the app, whose functions call
frameworks: the tasks. The second program is a changed copy: names of the app's classes all differ; frameworks'
frames are renamed, inserted and deleted, subtrees change, tasks are dropped and new, callbacks are renamed.
"""
import random

LEVELS = {  # rename, insert, delete, subtree, tasks dropped and new, callback renamed
    "none": (0, 0, 0, 0, 0, 0),
    "low": (.02, .01, .01, .02, .05, .01),
    "mid": (.05, .03, .03, .05, .15, .05),
    "high": (.10, .06, .06, .10, .35, .15),
}


class Node:
    __slots__ = ("name", "app", "children", "weight", "twin", "task")

    def __init__(self, name, app=False):
        self.name, self.app, self.children, self.weight, self.twin, self.task = name, app, [], 0, None, False


class World:
    """Frameworks: what each function calls, up to a depth."""

    def __init__(self, chance, methods=1500, callbacks=60):
        self.chance = chance
        self.methods, self.callbacks = methods, callbacks
        self.calls = {}

    def path(self):
        """Frameworks' frames from the root to a callback, and its name."""
        loops = [f"fw.loop{self.chance.randrange(6)}" for _ in range(self.chance.randint(1, 4))]
        return loops, f"on{self.chance.randrange(self.callbacks)}"

    def name(self):
        return f"fw.{self.chance.randrange(self.methods)}"

    def subtree(self, node, depth):
        if depth == 0:
            return
        if node.name not in self.calls:
            own = random.Random(node.name)
            n = own.choice((0, 1, 1, 2, 2, 3))
            self.calls[node.name] = [f"fw.{own.randrange(self.methods)}" for _ in range(n)]
        for name in dict.fromkeys(self.calls[node.name]):
            child = Node(name)
            node.children.append(child)
            self.subtree(child, depth - 1)


def distinct(node, name):
    return all(child.name != name for child in node.children)


def program(world, size, prefix):
    """The first program: paths, callbacks, tasks."""
    chance = world.chance
    root, count = Node(prefix), 1
    while count < size:
        node = root
        path, callback_name = world.path()
        for name in path:
            found = next((child for child in node.children if child.name == name), None)
            if not found:
                found = Node(name)
                node.children.append(found)
                count += 1
            node = found
        callback = next((child for child in node.children if child.name == callback_name), None)
        if not callback:
            callback = Node(callback_name, True)
            node.children.append(callback)
            count += 1
        for _ in range(chance.randint(1, 4)):
            task = Node(world.name())
            if not distinct(callback, task.name):
                continue
            task.task = True
            callback.children.append(task)
            world.subtree(task, chance.randint(2, 5))
            count += size_of(task)
    return root


def size_of(node):
    return 1 + sum(size_of(child) for child in node.children)


def copy(world, node, level, under_app=False):
    """A changed copy; .twin is the node that each one came from."""
    rename, insert, delete, subtree, tasks, callback = level
    chance = world.chance
    made = Node(node.name, node.app)
    made.twin, made.task = node, node.task
    if node.app and chance.random() < callback:
        made.name = f"on{chance.randrange(world.callbacks)}"
    elif not node.app and not node.task and chance.random() < rename:
        made.name = world.name()
    for child in node.children:
        if child.task and chance.random() < tasks:
            continue
        if not child.task and not child.app and under_app and chance.random() < subtree:
            continue
        twin = copy(world, child, level, under_app or child.task)
        if not child.task and not child.app and chance.random() < delete:
            for grandchild in twin.children:
                if distinct(made, grandchild.name):
                    made.children.append(grandchild)
            continue
        if not child.task and not child.app and chance.random() < insert:
            between = Node(world.name())
            between.children.append(twin)
            twin = between
        if distinct(made, twin.name):
            made.children.append(twin)
    if node.app:
        for child in list(node.children):
            if child.task and chance.random() < tasks:
                new = Node(world.name())
                new.task = True
                if distinct(made, new.name):
                    made.children.append(new)
                    world.subtree(new, chance.randint(2, 5))
    elif under_app and chance.random() < subtree:
        new = Node(world.name())
        if distinct(made, new.name):
            made.children.append(new)
    return made


def weigh(chance, node):
    node.weight = chance.choice((1, 1, 2, 3, 5, 8, 20))
    for child in node.children:
        weigh(chance, child)


def stacks(node, prefix, path=()):
    """(path, node) of each, as text; the app's classes have other names in each program."""
    name = f"com.{prefix}.C{len(path)}.{node.name}" if node.app else node.name
    path = path + (name,)
    yield path, node
    for child in node.children:
        yield from stacks(child, prefix, path)


def fold(chance, found, counts, samples):
    """Folded stacks, all or so many samples of them, and each path that is in them. @found: of each stack its path
    first."""
    if samples:
        drawn = chance.choices(range(len(found)), weights=counts, k=samples)
        counts = [0] * len(found)
        for i in drawn:
            counts[i] += 1
    met = [(path, count) for (path, _), count in zip(found, counts) if count]
    return ("".join(f"{';'.join(path)} {count}\n" for path, count in met),
            {path[:n] for path, _ in met for n in range(1, len(path) + 1)})


def pair(seed, size, level, samples=None, made=World):
    """Folded text of both programs, and the true pairs of paths of their common tasks (those that were sampled)."""
    chance = random.Random(seed)
    world = made(chance)
    first = program(world, size, "a")
    second = copy(world, first, LEVELS[level])
    second.name = "b"
    weigh(chance, first)
    weigh(chance, second)
    texts, tasks = [], []
    for root, prefix in ((first, "a"), (second, "b")):
        found = list(stacks(root, prefix))
        counts = [node.weight for _, node in found]
        text, seen = fold(chance, found, counts, samples)
        texts.append(text)
        tasks.append({id(node): path for path, node in found if node.task and path in seen})
    true = {}
    for path, node in stacks(second, "b"):
        if node.task and node.twin is not None and id(node) in tasks[1] and id(node.twin) in tasks[0]:
            true[tasks[0][id(node.twin)]] = path
    return texts, true
