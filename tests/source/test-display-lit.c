/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which screens are lit, by the connectors and the backlight. */

#include "check.h"
#include "source/display-lit.h"

#define PANEL(...) { CONNECTOR_PANEL, 0, true, __VA_ARGS__ }
#define DSI(...) { CONNECTOR_DSI, 0, true, __VA_ARGS__ }
#define STRIP(...) { CONNECTOR_STRIP, 1, true, __VA_ARGS__ }
#define MONITOR(...) { CONNECTOR_MONITOR, 0, true, __VA_ARGS__ }
#define OTHER(...) { CONNECTOR_OTHER, 1, true, __VA_ARGS__ }
#define GONE(kind) { kind, 0, false, LIT_OFF, LIT_OFF, false }
#define ON LIT_ON, LIT_ON, false
#define OFF LIT_OFF, LIT_OFF, false

static const struct {
        const char *what;
        struct connector_says list[3];
        size_t n;
        enum lit power;
        bool backlight;
        enum lit panel, monitor; /* wanted */
} cases[] = {
        { "a laptop", { PANEL(ON), GONE(CONNECTOR_MONITOR) }, 2, LIT_ON, true, LIT_ON, LIT_OFF },
        { "off by its connector, bl_power stays 0", { PANEL(OFF) }, 1, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "dpms alone", { PANEL(LIT_UNKNOWN, LIT_OFF, false) }, 1, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "off by bl_power", { PANEL(ON) }, 1, LIT_OFF, true, LIT_OFF, LIT_OFF },
        { "never set enabled, dpms is On",
          { PANEL(LIT_OFF, LIT_ON, false) },
          1,
          LIT_ON,
          true,
          LIT_ON,
          LIT_OFF },
        { "the same beside one that is enabled",
          { PANEL(LIT_OFF, LIT_ON, false), MONITOR(ON) },
          2,
          LIT_ON,
          true,
          LIT_OFF,
          LIT_ON },
        { "a silent driver, lit", { PANEL(LIT_OFF, LIT_OFF, true) }, 1, LIT_ON, true, LIT_ON, LIT_OFF },
        { "a silent driver, dark", { PANEL(LIT_OFF, LIT_ON, true) }, 1, LIT_OFF, true, LIT_OFF, LIT_OFF },
        { "a silent driver without a backlight",
          { PANEL(LIT_OFF, LIT_ON, true) },
          1,
          LIT_UNKNOWN,
          false,
          LIT_UNKNOWN,
          LIT_OFF },
        { "a silent driver's monitor",
          { MONITOR(LIT_OFF, LIT_OFF, true) },
          1,
          LIT_UNKNOWN,
          false,
          LIT_OFF,
          LIT_UNKNOWN },
        { "lid closed, monitor lit", { PANEL(OFF), MONITOR(ON) }, 2, LIT_OFF, true, LIT_OFF, LIT_ON },
        { "lid closed, the panel counts as gone",
          { GONE(CONNECTOR_PANEL), MONITOR(ON) },
          2,
          LIT_ON,
          true,
          LIT_OFF,
          LIT_ON },
        { "the panel counts as gone, nothing else",
          { GONE(CONNECTOR_PANEL) },
          1,
          LIT_ON,
          true,
          LIT_ON,
          LIT_OFF },
        { "both", { PANEL(ON), MONITOR(ON) }, 2, LIT_ON, true, LIT_ON, LIT_ON },
        { "panel blanked beside a lit monitor",
          { PANEL(OFF), MONITOR(ON) },
          2,
          LIT_ON,
          true,
          LIT_OFF,
          LIT_ON },
        { "all blanked", { PANEL(OFF), MONITOR(OFF) }, 2, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "a monitor alone", { MONITOR(ON) }, 1, LIT_UNKNOWN, false, LIT_OFF, LIT_ON },
        { "a monitor alone, off", { MONITOR(OFF) }, 1, LIT_UNKNOWN, false, LIT_OFF, LIT_OFF },
        { "no monitor", { GONE(CONNECTOR_MONITOR) }, 1, LIT_UNKNOWN, false, LIT_UNKNOWN, LIT_OFF },
        { "the firmware's picture stays", { OTHER(ON), PANEL(OFF) }, 2, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "the firmware's picture alone", { OTHER(ON) }, 1, LIT_ON, true, LIT_ON, LIT_OFF },
        { "a virtual screen, off", { OTHER(OFF) }, 1, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "a backlight without connectors",
          { GONE(CONNECTOR_MONITOR) },
          0,
          LIT_UNKNOWN,
          true,
          LIT_ON,
          LIT_OFF },
        { "the same, off", { GONE(CONNECTOR_MONITOR) }, 0, LIT_OFF, true, LIT_OFF, LIT_OFF },
        { "an OLED without a backlight", { PANEL(ON) }, 1, LIT_UNKNOWN, false, LIT_ON, LIT_OFF },
        { "connectors without files",
          { PANEL(LIT_UNKNOWN, LIT_UNKNOWN, false) },
          1,
          LIT_UNKNOWN,
          false,
          LIT_UNKNOWN,
          LIT_OFF },
        { "a phone", { DSI(OFF) }, 1, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "a Touch Bar stays lit", { PANEL(OFF), STRIP(ON) }, 2, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "a Touch Bar, lid closed",
          { GONE(CONNECTOR_PANEL), STRIP(ON), MONITOR(ON) },
          3,
          LIT_ON,
          true,
          LIT_OFF,
          LIT_ON },
        { "a second screen by DSI stays lit", { PANEL(OFF), DSI(ON) }, 2, LIT_ON, true, LIT_OFF, LIT_OFF },
        { "a phone with an eDP port that is not used",
          { GONE(CONNECTOR_PANEL), DSI(ON) },
          2,
          LIT_ON,
          true,
          LIT_ON,
          LIT_OFF },
        { "nothing", { GONE(CONNECTOR_MONITOR) }, 0, LIT_UNKNOWN, false, LIT_UNKNOWN, LIT_OFF },
};

int main(void)
{
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                struct screen_lit lit = display_lit(cases[i].list, cases[i].n, cases[i].power, cases[i].backlight);

                if (lit.panel != cases[i].panel || lit.monitor != cases[i].monitor)
                        fprintf(stderr, "%s:\n", cases[i].what);
                check_int(lit.panel, cases[i].panel);
                check_int(lit.monitor, cases[i].monitor);
        }
        check_int(display_connector_kind("card1-eDP-1", ""), CONNECTOR_PANEL);
        check_int(display_connector_kind("card0-DSI-1", "1080x2400\n720x1600\n"), CONNECTOR_DSI);
        check_int(display_connector_kind("card0-DSI-1", "60x2008\n"), CONNECTOR_STRIP);
        check_int(display_connector_kind("card2-USB-1", "64x2170\n"), CONNECTOR_STRIP);
        check_int(display_connector_kind("card1-DP-3", "5120x1440\n"), CONNECTOR_MONITOR);
        check_int(display_connector_kind("card0-Virtual-1", "64x2170\n"), CONNECTOR_OTHER);
        check_int(display_connector_kind("card0-DSI-1", "x2008\n"), CONNECTOR_DSI);
        check_int(display_connector_kind("card0-DSI-1", "0x0\n"), CONNECTOR_DSI);
        check_int(display_connector_kind("card0-DP-1", "5120x1440\n7680x1080\n"), CONNECTOR_MONITOR);
        check_int(display_connector_kind("card0-HDMI-A-1", ""), CONNECTOR_MONITOR);
        check_int(display_connector_kind("card0-DP-2", ""), CONNECTOR_MONITOR);
        check_int(display_connector_kind("card0-Unknown-1", ""), CONNECTOR_OTHER);
        return check_result();
}
