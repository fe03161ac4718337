#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dearest apps since the last full charge, and how long the battery lasts.

Usage: dearest.py [DEVICE PROFILE DATABASE]
"""
import sys

import joulecast


def span(value, unit):
    return "unknown" if value.low is None else f"{value.low:.3g} to {value.high:.3g} {unit}"


try:
    with joulecast.Device(*sys.argv[1:]) as device:
        try:
            cost = device.cost(since="full")
        except joulecast.Error:  # never in what is recorded
            cost = device.cost()
        for app in cost.apps[:3]:
            print(f"{app.name}, {app.state}: {span(app.percent, '%')}")
        print("The battery lasts for", span(device.budget().minutes, "minutes"))
except joulecast.Error as error:
    sys.exit(f"dearest.py: {error}")
