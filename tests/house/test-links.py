#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Links in Markdown to other files of the project, and to their sections, lead somewhere.

Usage: test-links.py FOLDER
"""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1]).resolve()
failures = 0


def sections(text):
    """As GitHub makes anchors of headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


for page in [path for path in folder.rglob("*.md") if not path.relative_to(folder).parts[0].startswith((".", "build"))]:
    for link in re.findall(r"\]\(([^)\s:]+)\)", page.read_text(encoding="utf-8")):  # with ":" it is of the web
        name, _, section = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (section and section not in sections(target.read_text(encoding="utf-8"))):
            failures += 1
            print(f"failed: {page.relative_to(folder)} links to {link}, which is not there")
sys.exit(1 if failures else 0)
