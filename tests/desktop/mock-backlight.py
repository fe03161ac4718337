# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Under umockdev-wrapper: a backlight and a connector of their own, and the service's end that watches them."""
import os
import sys

import gi
gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import inside  # noqa: E402

testbed = UMockdev.Testbed.new()
PANEL = testbed.add_device("backlight", "panel", None, [
    "type", "raw", "brightness", "100", "actual_brightness", "100", "max_brightness", "255", "bl_power", "0"], [])
CONNECTOR = testbed.add_device("drm", "card0-eDP-1", None, ["status", "connected", "enabled", "enabled", "dpms",
                                                            "On"], [])


def shows(on, brightness):
    return lambda state: (state["screen_known"] and state["screen_on"] == on
                          and (not on or state["brightness"] == brightness))


def set_attributes(device, **attributes):
    """In place, as sysfs does: the testbed's own set_attribute() makes new files, which kept descriptors do not see."""
    for name, value in attributes.items():
        with open(testbed.get_root_dir() + device + "/" + name, "w", encoding="ascii") as file:
            file.write(str(value))


# The testbed redirects absolute paths only; ours are relative to the root folder of a machine.
service = inside.Service(testbed.get_root_dir(), UMOCKDEV_DIR=testbed.get_root_dir())
service.poll()
inside.check(service.wait(shows(True, 100)), "the screen is on, at 100")
set_attributes(PANEL, brightness=40, actual_brightness=40)
testbed.uevent(PANEL, "change")
state = service.wait(shows(True, 40))
inside.check(state and state["what"] == "state", "a change of brightness is heard without a poll")
set_attributes(PANEL, bl_power=4)
service.poll()
inside.check(service.wait(shows(False, 0)), "blanking, which makes no event, is seen at the poll")
set_attributes(PANEL, bl_power=0)
service.poll()
inside.check(service.wait(shows(True, 40)), "and that it is lit again")
set_attributes(CONNECTOR, dpms="Off")
service.poll()
inside.check(service.wait(shows(False, 0)), "the connector's dpms too")
service.process.kill()
sys.exit(1 if inside.failures else 0)
