#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of other languages: translations are right, and no sentence is cut. What is not translated is counted and
printed.

po: placeholders are the same, and msgfmt finds no mistake.
german: the commands in German fit their terminal, and answer the same JSON; English that is left is counted.
longer: in a language whose words are 40 % longer, each sentence is there from its first letter to its last.

Usage: test-words.py po|german|longer SOURCE-DIR BUILD-DIR
"""
import fcntl
import html.parser
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

WHAT, SOURCE, BUILD = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])
JOULECAST = f"{BUILD}/predict/joulecast"
MARK = re.compile(r'\b(?:_|N_|words_counted)\(\s*"')
ENGLISH = re.compile(r"\b(?:[Tt]he|of|with|which|is|are|for|and|[Tt]his|that|has|[Ii]ts|been|unknown|battery|by|"
                     r"up to)\b")
PLACEHOLDER = re.compile(r"%(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:ll|z|l)?[a-zA-Z%]")
LOCALE, LONGER = "de_DE.UTF-8", "qlonger"
COMMANDS = ["status", "cost", "predict", "budget", "whatif", "advise", "usage", "apps", "report", "warn", "limit",
            "metrics",
            "top", "trace", "price-packets", "diff", "record", "emulate", "compare", "bench", "doctor", "profile",
            "forget",
            "simulate", "community", "calibrate", "learn", "poll", "focus"]
failures = 0


def fail(sentence):
    global failures
    failures += 1
    print("failed:", sentence)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def listed(name):
    return [line for line in read(f"{SOURCE}/po/{name}").splitlines() if line and line[0] != "#"]


# ---- catalogues ----

def extract(folder):
    """The template, made as po/meson.build says."""
    arguments = re.findall(r"'(--[^']+)'", read(f"{SOURCE}/po/meson.build"))
    pot = os.path.join(folder, "joulecast.pot")
    ran = subprocess.run(["xgettext", *arguments, "-D", SOURCE, "-o", pot, *listed("POTFILES")],
                         capture_output=True, text=True)
    if ran.returncode or ran.stderr:
        fail(f"xgettext: {ran.stderr}")
    return pot


def unquote(text):
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text))


def entries(path):
    """(flags, msgid, plural or None, [translations]) of each entry but the head."""
    for block in read(path).split("\n\n"):
        found = re.search(r'^msgid ((?:".*"\n?)+)', block, re.M)
        if found and unquote(found[1]):
            plural = re.search(r'^msgid_plural ((?:".*"\n?)+)', block, re.M)
            yield (set(re.findall(r"[\w-]+", " ".join(re.findall(r"^#,(.*)", block, re.M)))), unquote(found[1]),
                   unquote(plural[1]) if plural else None,
                   [unquote(one) for one in re.findall(r'^msgstr(?:\[\d\])? ((?:".*"\n?)+)', block, re.M)])


def placeholders(text):
    return sorted(re.sub(r"^%\d+\$", "%", one) for one in PLACEHOLDER.findall(text) if one != "%%")


def check_sources():
    files = set(listed("POTFILES"))
    for top in "lib", "predict", "poller", "calibrate", "develop", "community/device":
        for where, _, names in os.walk(f"{SOURCE}/{top}"):
            for name in names:
                path = os.path.relpath(f"{where}/{name}", SOURCE)
                if not name.endswith((".c", ".h")) or name.startswith("words") or path in files:
                    continue
                if MARK.search(read(f"{where}/{name}")):
                    fail(f"{path} has words, and is not in po/POTFILES")


def check_catalogue(language, wanted):
    path = f"{SOURCE}/po/{language}.po"
    ran = subprocess.run(["msgfmt", "--check-format", "--check-domain", "-o", os.devnull, path],
                         capture_output=True, text=True)
    if ran.returncode:
        fail(ran.stderr)
    have = set()
    for flags, text, plural, translations in entries(path):
        if "fuzzy" in flags or not all(translations):
            continue
        have.add(text)
        for one in translations:
            if "c-format" in flags and placeholders(one) not in (placeholders(text), placeholders(plural or text)):
                fail(f"{language}: other placeholders: {text}")
            if text[:1].isspace() != one[:1].isspace() or text[-1:].isspace() != one[-1:].isspace() or \
                    text.endswith("\\n") != one.endswith("\\n"):
                fail(f"{language}: blanks or a newline at the ends differ: \"{text}\"")
            if "\ufffd" in one:
                fail(f"{language}: damaged: {one}")
    print(f"{language}: {len(wanted.keys() - have)} of {len(wanted)} sentences are not translated, "
          f"{len(have - wanted.keys())} "
          "are no longer in the sources; ninja joulecast-update-po takes them from there")


def check_po():
    check_sources()
    with tempfile.TemporaryDirectory() as folder:
        wanted = {text: plural for _, text, plural, _ in entries(extract(folder))}
        for language in listed("LINGUAS"):
            check_catalogue(language, wanted)


# ---- a language whose words are longer ----

def longer(text):
    """Between marks, vowels with dots, and 40 % more, in words of at most 6 letters."""
    begin, middle, end = re.fullmatch(r"((?:\\n|\s)*)(.*?)((?:\\n|\s)*)", text, re.S).groups()
    parts = re.split(rf"({PLACEHOLDER.pattern}|% |<[^>]*>|&\w+;|\\.|--[\w-]+)", middle)
    dotted = "".join(one if i % 2 else one.translate(str.maketrans("aouAOU", "äöüÄÖÜ")) for i, one in enumerate(parts))
    more = max(1, int(0.4 * len(re.sub(r"%\S+|<[^>]*>", "", middle)) + 0.5))
    filler = "".join("ü" if (i + 1) % 7 else " " for i in range(more)).rstrip()
    return f"{begin}«{dotted}{' ' if ' ' in middle else ''}{filler or 'ü'}»{end}"


def make_longer(folder):
    po = os.path.join(folder, "longer.po")
    with open(po, "w", encoding="utf-8") as file:
        file.write('msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals=2; '
                   'plural=(n != 1);\\n"\n\n')
        for _, text, plural, _ in entries(extract(folder)):
            if "%b" in text or "%Y" in text or text == "en":
                continue  # a time, and the language's code
            file.write(f'msgid "{text}"\n')
            file.write(f'msgid_plural "{plural}"\nmsgstr[0] "{longer(text)}"\nmsgstr[1] "{longer(plural)}"\n\n'
                       if plural else
                       f'msgstr "{longer(text)}"\n\n')
    place = f"{BUILD}/po/{LONGER}/LC_MESSAGES"
    os.makedirs(place, exist_ok=True)
    subprocess.run(["msgfmt", "-o", f"{place}/joulecast.mo", po], check=True)


# ---- the commands ----

class World:
    """A recorded virtual device, and an environment in a language."""

    def __init__(self, folder, language):
        self.folder = folder
        locale = next((path for path in ("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8")
                       if os.path.isdir(path)), None)
        if not locale:
            print("skipped: there is no C.UTF-8 locale to make one for the test of")
            sys.exit(77)
        # The C library translates for a locale that is not C; its other categories do not matter here.
        for name in "C.utf8", LOCALE.replace("UTF-8", "utf8"):
            shutil.copytree(locale, f"{folder}/locale/{name}")
        self.c = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "", "HOME": folder, "XDG_DATA_HOME": f"{folder}/data",
                  "XDG_RUNTIME_DIR": folder, "TZ": "UTC", "TERM": "dumb", "COLUMNS": "80"}
        # The C library leaks LOCPATH in newlocale(), which a library of libcurl's calls when it is loaded.
        with open(f"{folder}/leaks", "w", encoding="utf-8") as file:
            file.write("leak:__argz_add_sep\n")
        self.env = {**self.c, "LOCPATH": f"{folder}/locale", "LC_ALL": LOCALE, "LANGUAGE": language,
                    "LSAN_OPTIONS": f"suppressions={folder}/leaks:print_suppressions=0"}
        self.where = ["--device", "virtual:nexus-7", "--database", f"{folder}/usage.db"]
        self.asked = [*self.where, "--profile", f"{SOURCE}/data/profiles/nexus-one.ini"]
        self.run("simulate", *self.where, "--scenario", "airport", env=self.c)

    def run(self, *arguments, env=None, code=0):
        ran = subprocess.run([JOULECAST, *arguments], capture_output=True, text=True, env=env or self.env)
        if code is not None and ran.returncode != code:
            fail(f"{arguments}: exit {ran.returncode}: {ran.stderr}")
        return ran.stdout + ran.stderr

    def on_terminal(self, columns, *arguments):
        """The same on a terminal that is so wide."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([JOULECAST, *arguments], stdin=subprocess.DEVNULL, stdout=child, stderr=child,
                              env=self.env) as process:
            os.close(child)
            text = b""
            try:
                while chunk := os.read(parent, 65536):
                    text += chunk
            except OSError:
                pass  # the end of a terminal
        os.close(parent)
        return text.decode(errors="replace").replace("\r\n", "\n")

    def answers(self):
        """Commands that answer, each with its arguments."""
        ask = self.asked
        return [("status", *ask), ("cost", *ask), ("cost", "--by", "component", *ask),
                ("cost", "--by", "day", *ask), ("apps", *self.where),
                ("usage", *self.where), ("budget", *ask, "--app", "browser", "--standby", "3h", "--reserve",
                                         "phone=10m", "--keep", "5"),
                ("budget", *ask), ("predict", *ask, "--app", "browser", "--minutes", "20"),
                ("whatif", *ask, "--close", "angry-birds", "--brightness", "20%", "--keep", "1h"), ("advise", *ask),
                ("warn", *ask),
                ("doctor", *self.where), ("profile", "list"), ("profile", "show", "nexus-one")]


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_widths(what, text, columns):
    for line in text.splitlines():
        if width(line) > columns and not any(len(word) > 40 for word in line.split()):  # a path is one word
            fail(f"{what}: {width(line)} columns, not {columns}: {line}")
        if "\ufffd" in line:
            fail(f"{what}: damaged: {line}")


def check_helps(world):
    texts = {}
    for command in COMMANDS:
        texts[command] = world.run(command, "--help")
    texts["joulecast"] = world.run("--help")
    for command, text in texts.items():
        text = re.sub(r"\033\[[0-9;]*m", "", text)
        usage, _, rest = text.partition("\n\n")
        check_widths(f"{command} --help", rest, 80)
        texts[command] = rest
    return texts


def check_agreeing(world):
    """A question is asked, and agreed to, in the user's language."""
    parent, child = pty.openpty()
    os.write(parent, b"j\n")
    ran = subprocess.run([JOULECAST, "forget", "--all", *world.where], stdin=child, capture_output=True, text=True,
                         env=world.env)
    os.close(child)
    os.close(parent)
    if "? [j/N] " not in ran.stdout or ran.returncode:
        fail(f"forget, agreed to by j: exit {ran.returncode}: {ran.stdout}{ran.stderr}")


def diff_page(world):
    """The page of joulecast diff, and what its script says."""
    paths = [f"{world.folder}/{name}" for name in ("one.folded", "two.folded")]
    for path, lines in zip(paths, ("app;main;x_read 20\napp;main;x_write 90\n", "app;main;x_read 400\n")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(lines)
    page = world.run("diff", *paths, "--framework-prefix", "x_", "-o", "-")
    head, _, rest = page.partition('<script type="application/json" id="data">')
    words = json.loads(rest.partition("</script>")[0])["words"]
    return "\n".join([*Text(head).pieces, *(word for key, word in words.items() if key != "title")])


class Text(html.parser.HTMLParser):
    """The text that a reader of the page sees or hears."""

    def __init__(self, page):
        super().__init__()
        self.pieces, self.inside = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)
        self.pieces += [value for key, value in attributes if key == "aria-label"]

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "code", "bdi"} & set(self.inside[-3:]):
            self.pieces.append(data)


def plain(text):
    """Without names of commands, options, files and sections, which are the same in each language."""
    text = re.sub(r"(?m)^(?:Aufruf:| {6,}joulecast ).*$", "", text)
    return re.sub(r"--[\w-]+|\S*[/.]\S*|`[^`]*`|\[[^]]*\]|\bby (?:WORD|BY|process)\b", "", text)


def check_german():
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, "de")
        texts = check_helps(world)
        for arguments in world.answers():
            texts[" ".join(arguments)] = world.run(*arguments)
        page = world.run("report", *world.asked, "-o", "-")
        if '<html lang="de">' not in page:
            fail("the report does not say that it is in German")
        texts["report"] = "\n".join(Text(page).pieces)
        texts["report --markdown"] = world.run("report", *world.asked, "--markdown")
        texts["diff -o"] = diff_page(world)
        texts["top"] = world.run("top", *world.asked, "--from", "3h", "--once", code=None)
        english = {what: len(ENGLISH.findall(plain(text))) for what, text in texts.items()}
        print("English words left:", {what: number for what, number in english.items() if number})
        if "unbekannter Befehl" not in world.run("nothing", code=2) or "Akku" not in world.run("status", *world.asked):
            fail("it does not speak German")
        for arguments in world.answers():
            there, here = world.run(*arguments, "--json", env=world.c), world.run(*arguments, "--json")
            if there != here:
                fail(f"{arguments}: its JSON is another one in German")
            json.loads(there)
        for arguments in ("cost", "--csv", *world.asked), ("usage", "--csv", *world.where), ("metrics", *world.asked):
            if world.run(*arguments, env=world.c) != world.run(*arguments):
                fail(f"{arguments}: it is another one in German")
        check_terminals(world, 80, 60)
        check_agreeing(world)


def check_terminals(world, *widths):
    for columns in widths:
        for arguments in world.answers():
            # more columns of numbers than any such terminal has
            if arguments[0] != "usage" and arguments[1:2] != ("--by",):
                check_widths(f"{columns} columns: {arguments[:2]}", world.on_terminal(columns, *arguments), columns)
        world.env["COLUMNS"] = str(columns)
        check_widths(f"top in {columns} columns", world.run("top", *world.asked, "--from", "3h", "--once",
                                                            code=None), columns)


def check_marks(what, text):
    """Each sentence has its first and its last letter."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "«") - (c == "»")
        if depth < 0:
            break
    if depth != 0 or "«" not in text:
        fail(f"{what}: a sentence is cut: {text[:2000]}")


def check_table(text):
    """Rows that have a last cell end where the heads end."""
    lines = text.splitlines()
    heads = next(i for i, line in enumerate(lines) if "«Stäte" in line)
    rule = next(i for i, line in enumerate(lines) if line.startswith("───"))
    wide = {width(line) for line in lines[heads:rule + 2]}
    if wide != {width(lines[rule])}:
        fail(f"the table of costs is not aligned: {wide}\n{text}")


def check_longer():
    with tempfile.TemporaryDirectory() as folder:
        make_longer(folder)
        world = World(folder, LONGER)
        for what, text in check_helps(world).items():
            check_marks(f"{what} --help", text)
        for arguments in world.answers():
            check_marks(arguments[:2], world.run(*arguments))
        check_marks("report", "\n".join(Text(world.run("report", *world.asked, "-o", "-")).pieces))
        check_marks("report --markdown", world.run("report", *world.asked, "--markdown"))
        check_marks("diff -o", diff_page(world))
        check_table(world.run("cost", *world.asked))
        check_terminals(world, 80)
    shutil.rmtree(f"{BUILD}/po/{LONGER}")


{"po": check_po, "german": check_german, "longer": check_longer}[WHAT]()
sys.exit(1 if failures else 0)
