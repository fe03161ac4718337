/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output-power.h"

#include "util/util.h"

static const struct wl_interface *no_types[1];

static const struct wl_interface *get_types[] = { &output_power_interface, &wl_output_interface };

static const struct wl_message manager_requests[] = {
        { "get_output_power", "no", get_types },
        { "destroy", "", no_types },
};

const struct wl_interface output_power_manager_interface = {
        .name = "zwlr_output_power_manager_v1",
        .version = 1,
        .method_count = ARRAY_SIZE(manager_requests),
        .methods = manager_requests,
};

static const struct wl_message power_requests[] = {
        { "set_mode", "u", no_types },
        { "destroy", "", no_types },
};

static const struct wl_message power_events[] = {
        { "mode", "u", no_types },
        { "failed", "", no_types },
};

const struct wl_interface output_power_interface = {
        .name = "zwlr_output_power_v1",
        .version = 1,
        .method_count = ARRAY_SIZE(power_requests),
        .methods = power_requests,
        .event_count = ARRAY_SIZE(power_events),
        .events = power_events,
};
