/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "component.h"
#include "util/words.h"

#include <errno.h>
#include <string.h>

const char *const component_names[COMPONENT_COUNT] = {
        [COMPONENT_CPU] = N_("cpu"),       [COMPONENT_DISPLAY] = N_("display"), [COMPONENT_DISK] = N_("disk"),
        [COMPONENT_WIFI] = N_("wifi"),     [COMPONENT_GPU] = N_("gpu"),         [COMPONENT_CELLULAR] = N_("cellular"),
        [COMPONENT_GPS] = N_("gps"),       [COMPONENT_AUDIO] = N_("audio"),     [COMPONENT_CAMERA] = N_("camera"),
        [COMPONENT_UNSEEN] = N_("unseen"), [COMPONENT_BASE] = N_("base"),
};

int component_find(const char *name, size_t length)
{
        for (int c = 0; c < COMPONENT_COUNT; c++)
                if (strlen(component_names[c]) == length && strncmp(component_names[c], name, length) == 0)
                        return c;
        return -EINVAL;
}

const struct term_key term_keys[TERM_COUNT] = {
        [TERM_BASE] = { "base", "power_mw", COMPONENT_BASE, "mW" },
        [TERM_CPU_ACTIVE] = { "cpu", "active_mw", COMPONENT_CPU, "mW", .by_policy = true, .by_point = true },
        [TERM_CPU_SHARED] = { "cpu", "shared_mw", COMPONENT_CPU, "mW", .by_policy = true, .by_point = true },
        [TERM_CPU_IDLE] = { "cpu", "idle_mw", COMPONENT_CPU, "mW", .by_policy = true, .by_point = true },
        [TERM_CPU_INSTRUCTIONS] = { "cpu", "instruction_part", COMPONENT_CPU, "", .by_policy = true },
        [TERM_CPU_MISSES] = { "cpu", "miss_cycles", COMPONENT_CPU, "", .by_policy = true },
        [TERM_DISPLAY] = { "display", "power_mw", COMPONENT_DISPLAY, "mW", .by_point = true },
        [TERM_DISK_READ] = { "disk", "read_mj_per_mb", COMPONENT_DISK, "mJ/MB", .by_disk = true },
        [TERM_DISK_WRITE] = { "disk", "write_mj_per_mb", COMPONENT_DISK, "mJ/MB", .by_disk = true },
        [TERM_WIFI_ON] = { "wifi", "on_mw", COMPONENT_WIFI, "mW" },
        [TERM_WIFI_RX] = { "wifi", "rx_mj_per_mb", COMPONENT_WIFI, "mJ/MB" },
        [TERM_WIFI_TX] = { "wifi", "tx_mj_per_mb", COMPONENT_WIFI, "mJ/MB" },
        [TERM_WIFI_WAKE] = { "wifi", "wake_mj", COMPONENT_WIFI, "mJ" },
        [TERM_WIFI_RADIO] = { "wifi", "radio", COMPONENT_WIFI, "", .held = true },
        [TERM_CELLULAR] = { "cellular", "radio", COMPONENT_CELLULAR, "", .held = true },
        [TERM_CELLULAR_RX] = { "cellular", "rx_mj_per_mb", COMPONENT_CELLULAR, "mJ/MB", .held = true },
        [TERM_CELLULAR_TX] = { "cellular", "tx_mj_per_mb", COMPONENT_CELLULAR, "mJ/MB", .held = true },
        [TERM_GPU] = { "gpu", "active_mw", COMPONENT_GPU, "mW" },
        [TERM_GPS] = { "gps", "on_mw", COMPONENT_GPS, "mW", .held = true },
        [TERM_GPS_SLEEP] = { "gps", "sleep_mw", COMPONENT_BASE, "mW", .held = true },
        [TERM_AUDIO] = { "audio", "on_mw", COMPONENT_AUDIO, "mW", .held = true },
        [TERM_CAMERA] = { "camera", "on_mw", COMPONENT_CAMERA, "mW", .held = true },
        [TERM_BLUETOOTH] = { "bluetooth", "on_mw", COMPONENT_BASE, "mW", .held = true },
        [TERM_SUSPEND] = { "suspend", "power_mw", COMPONENT_BASE, "mW" },
        [TERM_CURVE] = { "battery", "curve", COMPONENT_BASE, "", .by_point = true },
        [TERM_APP_CPU] = { "app", "cpu", COMPONENT_CPU, "", .by_policy = true },
        [TERM_APP_DISPLAY] = { "app", "display", COMPONENT_DISPLAY, "", .by_policy = true },
        [TERM_APP_FRONT] = { "app", "front_mw", COMPONENT_UNSEEN, "mW", .by_policy = true },
        [TERM_APP_BEHIND] = { "app", "behind_mw", COMPONENT_UNSEEN, "mW", .by_policy = true },
        [TERM_WIFI_SIGNAL] = { "wifi", "signal", COMPONENT_WIFI, "", .by_point = true },
};

#define AMOUNT_KIND(word, have, machine, term, per_unit, trickle, debt)                                                \
        [AMOUNT_##word] = { #word, have, machine, term, per_unit, trickle, debt },

const struct amount_kind amount_kinds[AMOUNT_COUNT] = { OWNER_AMOUNTS(AMOUNT_KIND) MACHINE_AMOUNTS(AMOUNT_KIND) };

const struct keyed_kind keyed_kinds[KEYED_COUNT] = {
        [KEYED_CPU] = { "cpu", "policy", "khz", "busy_ns", "any_ns", KHZ_UNKNOWN, USAGE_CPU },
        [KEYED_SCREEN] = { "screen", NULL, "brightness", "on_ns", NULL, BRIGHTNESS_UNKNOWN, USAGE_DISPLAY },
        [KEYED_IDLE] = { "idle", "policy", "khz", "idle_ns", NULL, KHZ_UNKNOWN, USAGE_CPU },
        [KEYED_SIGNAL] = { "signal", NULL, "minus_dbm", "bytes", NULL, 0, USAGE_WIFI },
        [KEYED_COUNTED] = { "counted", "policy", "event", "amount", NULL, UINT32_MAX, USAGE_CPU },
        [KEYED_RADIO] = { "radio", "air", "cell", "amount", NULL, 0, USAGE_RADIO },
};

const char *const counted_words[COUNTED_COUNT] = { "cycles", "instructions", "misses" };
