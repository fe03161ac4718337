#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A calibration of a device whose WiFi is an automaton, and then what apps cost by it: tests/accuracy/radios on
three devices, one with a single tail, one with two, and one with a threshold; also where others on the network send.

Usage: test-radio-calibration.py BUILD-DIR
"""
import argparse
import importlib.machinery
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
SEEDS = {"tail": 200009, "two tails": 200016, "threshold": 200038}
MODEMS = {"3g": 310002, "lte": 310004}


def load():
    loader = importlib.machinery.SourceFileLoader("radios", os.path.join(HERE, "../accuracy/radios"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("radios", loader))
    loader.exec_module(module)
    return module


class Radios(unittest.TestCase):
    def uses(self, network):
        radios = load()
        arguments = argparse.Namespace(build=BUILD, method="gauge", keep=None, show=False, network=network,
                                       radio="wifi")
        for kind, seed in SEEDS.items():
            self.assertEqual(radios.automaton(seed)[0], kind)
            for use, error, _, width in radios.one(arguments, seed):
                with self.subTest(kind=kind, use=use):
                    self.assertLess(abs(error), 12)
                    self.assertLess(width, 60)

    def test_uses(self):
        self.uses(0)

    def test_others_on_the_network(self):
        """With a packet each other second no state with WiFi on is without packets, and association not without the
        radio."""
        self.uses(0.5)

    def test_modem(self):
        radios = load()
        arguments = argparse.Namespace(build=BUILD, method="gauge", keep=None, show=False, network=0, radio="cellular")
        for kind, seed in MODEMS.items():
            self.assertEqual(radios.modem(seed)[0], kind)
            for use, error, _, width in radios.one(arguments, seed):
                with self.subTest(kind=kind, use=use):
                    self.assertLess(abs(error), 12)
                    self.assertLess(width, 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
