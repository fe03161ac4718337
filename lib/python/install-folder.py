#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the first folder of site packages below PREFIX in which this Python looks for modules, or nothing.

Usage: install-folder.py PREFIX
"""
import site
import sys

prefix = sys.argv[1].rstrip("/") + "/"
# /usr/local lies below /usr, and belongs to another installation.
folders = [folder for folder in site.getsitepackages()
           if folder.startswith(prefix) and (prefix != "/usr/" or not folder.startswith("/usr/local/"))]
print(folders[0] if folders else "")
