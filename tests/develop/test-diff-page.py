#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of joulecast diff: it is well-formed, loads nothing, runs its own script only, and has the numbers of
--json.

What the script makes of it is looked at where chromium is installed.

Usage: test-diff-page.py JOULECAST SOURCE-DIR
"""
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

JOULECAST = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(sys.argv[2], "tests/accuracy/diff"))
sys.dont_write_bytecode = True
import plant  # noqa: E402

VOID = {"meta", "br", "link", "input"}
EVIL = "</script><img src=x onerror=alert(1)>\u2028'\"&amp\\\u202e"
A = f"""viewer;main@viewer;compress2@libz.so.1.3;deflate@libz.so.1.3 6253
viewer;main@viewer;load@viewer;read@libc.so.6;vfs_read_[k] 1285
viewer;main@viewer;sort@viewer;qsort@libc.so.6;by_name@viewer 701
viewer;main@viewer;sort@viewer;{EVIL}@libc.so.6;by_name@viewer 90
"""
B = """show;main@show;pack@show;compress2@libz.so.1;deflate@libz.so.1 420
show;main@show;qsort@libc-2.31.so;compare@show 730
"""
MATCH = ("both", "only-a", "only-b", "possible")


def printable(text):
    return re.sub("[\u2028\u202e]", "?", text)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.scripts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] == "script" else self.words).append(data)


class DiffPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.rules = []
        cls.a, cls.b = cls.write("a", A), cls.write("b", B)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_it(self, *words, code=0, **environment):
        done = subprocess.run([JOULECAST, "diff", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def page(self, *words, **environment):
        text = self.run_it(*words, "-o", "-", **environment)
        page = Page(text)
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.scripts), 2)
        return text, page, json.loads(page.scripts[0])

    def test_alone(self):
        text, page, _ = self.page(self.a, self.b)
        self.assertEqual({tag for tag, _ in page.tags}, {"body", "dd", "dl", "dt", "footer", "h1", "head", "header",
                                                         "html",
                                                         "main", "meta", "noscript", "p", "script", "section",
                                                         "style", "title"})
        for _, attributes in page.tags:
            self.assertFalse([name for name in attributes if name.startswith("on")
                              or name in ("src", "href", "srcset")])
        self.assertEqual(set(re.findall(r"\w+://[^\"' ]*", text)), {"http://www.w3.org/2000/svg"})
        self.assertNotIn("url(", text)
        policy = next(attributes["content"] for tag, attributes in page.tags
                      if "Policy" in attributes.get("http-equiv", ""))
        digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
        self.assertEqual(policy, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
                                 f"base-uri 'none'; "
                                 "form-action 'none'")
        self.assertNotIn("innerHTML", text)

    def check_number(self, got, want):
        """--json has 15 digits."""
        self.assertEqual(got is None, want is None)
        self.assertTrue(got is None or abs(got - want) <= 1e-14 * abs(want), (got, want))

    def check_numbers(self, *words):
        _, _, data = self.page(*words)
        want = json.loads(self.run_it(*words, "--json"))
        tasks, labels, strings = data["tasks"], data["labels"], data["strings"]
        self.assertEqual(data["unit"], want["unit"])
        self.assertEqual(len(tasks["match"]), len(want["tasks"]))
        for i, task in enumerate(want["tasks"]):
            self.assertEqual(MATCH[tasks["match"][i]], task["match"])
            self.assertEqual(bool(tasks["significant"][i]), task["significant"])
            for side in "ab":
                for key in "value", "low", "high", "calls":
                    self.check_number(tasks[f"{side}_{key}"][i], task[side][key])
                self.assertEqual(tasks[f"plain_rank_{side}"][i], task[f"plain_rank_{side}"])
                node, tree = tasks[f"{side}_node"][i], data["trees"]["ab".index(side)]
                self.assertEqual(node < 0, not task[f"{side}_path"])
                if node >= 0:
                    self.assertEqual(strings[tree["frame"][node]], printable(task[f"{side}_path"][-1]))
                    name = task["task"] if side == "a" or tasks["a_node"][i] < 0 else task.get("task_b", task["task"])
                    self.assertEqual(strings[labels["name"][tree["label"][node]]], printable(name))
            for end, key in ("", "value"), ("_low", "low"), ("_high", "high"):
                self.check_number(tasks["difference" + end][i], task["difference"][key])
        for side, tree in zip("ab", data["trees"]):
            self.assertEqual(len(tree["depth"]), want[f"nodes_{side}"])
            self.assertEqual({len(tree[key]) for key in ("depth", "label", "self", "frame")}, {want[f"nodes_{side}"]})
            self.assertAlmostEqual(sum(tree["self"]), want["comparable"][f"total_{side}"], places=3)
        self.assertEqual(len(data["partner"]), want["nodes_a"])
        self.assertGreaterEqual(sum(node >= 0 for node in data["partner"]), want["matched_nodes"])
        return data

    def test_numbers_are_those_of_json(self):
        self.check_numbers(self.a, self.b)
        (first, second), _ = plant.pair(1, 3000, "mid")
        names = self.write("planted-a", first), self.write("planted-b", second)
        text, _, _ = self.page(*names, "--framework-prefix", "fw.")
        self.assertLess(len(text), 400_000)
        self.check_numbers(*names, "--framework-prefix", "fw.")
        self.check_numbers(f"{self.a},{self.a}", self.b)

    def test_hostile_names(self):
        text, page, data = self.page(self.a, self.b)
        self.assertNotIn("<img", text)
        self.assertNotRegex(text, "[\u2028\u202e\ufffd]")
        self.assertIn(printable(EVIL), data["strings"])
        for mark in "<>&":
            self.assertNotIn(mark, page.scripts[0])
        strange = self.write("x<b>&", A)
        self.assertIn("x&lt;b&gt;&amp;", self.page(strange, self.b)[0])

    def test_language(self):
        text, page, _ = self.page(self.a, self.b)
        self.assertIn('<html lang="en">', text)
        self.assertIn("Two programs, task by task", page.words)

    def test_output(self):
        path = os.path.join(self.folder.name, "page.html")
        self.assertEqual(self.run_it(self.a, self.b, "--html", path), "")
        with open(path, encoding="utf-8") as file:
            before = file.read()
        self.assertTrue(before.endswith("</html>\n"))
        self.run_it(self.a, self.write("damaged", "no count\n"), "--html", path, code=1)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.run_it(self.a, self.b, "--html", path, "--fail-if", "20%", code=4)
        self.assertIn("exclude each other", self.run_it(self.a, self.b, "--html", path, "--json", code=2))
        self.assertIn("for two programs", self.run_it(self.a, self.b, self.b, "--html", path, code=2))
        self.assertIn("cannot be written", self.run_it(self.a, self.b, "-o", "/nowhere/page.html", code=1))

    @unittest.skipUnless(shutil.which("chromium"), "what the script makes of it needs chromium")
    def test_in_a_browser(self):
        path = os.path.join(self.folder.name, "look.html")
        self.run_it(self.a, self.b, "-o", path)
        table, task = self.browse(path), self.browse(path + "#task-0")
        for page in table, task:
            self.assertFalse([tag for tag, _ in page.tags if tag in ("img", "iframe")])
        cells = [word for word in table.words if word.strip()]
        for row in self.run_it(self.a, self.b).splitlines():
            found = re.match(r"(compress2|read|qsort) +main +(\S+) +(\d+|not seen) +(\S+) +(\S+ \.\. \S+)", row)
            for want in found.groups() if found else ():
                self.assertIn(want, cells)
        links = [attributes["href"] for tag, attributes in table.tags if tag == "a"]
        self.assertEqual([link for link in links if link != "#all"], ["#task-0", "#task-1", "#task-2", "#task-3"])
        items = [attributes for _, attributes in task.tags if attributes.get("role") == "treeitem"]
        self.assertEqual([item["aria-label"] for item in items],
                         ["compress2 (libz), A 6253, B 420, A \u2212 B 5833",
                          "deflate (libz), A 6253, B 420, A \u2212 B 5833"])
        self.assertEqual([item["tabindex"] for item in items], ["0", "-1"])
        widths = [float(re.search(r"width: ?([\d.]+)%", attributes["style"])[1]) for _, attributes in task.tags
                  if re.match("box side-[ab]", attributes.get("class", "")) and "style" in attributes]
        self.assertEqual(len(widths), 4)
        for a, b in (widths[:2], widths[2:]):
            self.assertAlmostEqual(a / b, 6253 / 420, delta=0.01)  # one scale

    @unittest.skipUnless(shutil.which("chromium"), "what the script makes of it needs chromium")
    def test_boxes_are_filled_by_their_values(self):
        path = os.path.join(self.folder.name, "planted.html")
        (first, second), _ = plant.pair(2, 2000, "high")
        words = self.write("filled-a", first), self.write("filled-b", second), "--framework-prefix", "fw."
        self.run_it(*words, "-o", path)
        want = json.loads(self.run_it(*words, "--json"))["comparable"]
        root = self.dump(path + "#all").split('role="treeitem"')[1]
        filled = []
        for box in root.split('class="box')[1:]:
            width, *gaps = (float(found) for found in re.findall(r"width: ?([\d.]+)%", box))
            filled.append(width * (1 - sum(gaps) / 100))
        self.assertEqual(len(filled), 2)
        self.assertGreater(root.count("<i "), 2)
        self.assertAlmostEqual(filled[0] / filled[1], want["total_a"] / want["total_b"], delta=0.001)

    def browse(self, address):
        return Page(self.dump(address))

    def dump(self, address):
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800",
                                   f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom",
                                   "file://" + address],
                                  capture_output=True, text=True, check=True, timeout=100)
        return done.stdout


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
