/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "foreign-toplevel.h"

#include "util/util.h"

/* Types of arguments that we neither send nor read. */
static const struct wl_interface *no_types[5];

static const struct wl_interface *handle_types[] = { &foreign_toplevel_handle_interface };

static const struct wl_message manager_requests[] = {
        { "stop", "", no_types },
};

static const struct wl_message manager_events[] = {
        { "toplevel", "n", handle_types },
        { "finished", "", no_types },
};

const struct wl_interface foreign_toplevel_manager_interface = {
        .name = "zwlr_foreign_toplevel_manager_v1",
        .version = 3,
        .method_count = ARRAY_SIZE(manager_requests),
        .methods = manager_requests,
        .event_count = ARRAY_SIZE(manager_events),
        .events = manager_events,
};

static const struct wl_message handle_requests[] = {
        { "set_maximized", "", no_types },
        { "unset_maximized", "", no_types },
        { "set_minimized", "", no_types },
        { "unset_minimized", "", no_types },
        { "activate", "o", no_types },
        { "close", "", no_types },
        { "set_rectangle", "oiiii", no_types },
        { "destroy", "", no_types },
        { "set_fullscreen", "2?o", no_types },
        { "unset_fullscreen", "2", no_types },
};

static const struct wl_message handle_events[] = {
        { "title", "s", no_types },
        { "app_id", "s", no_types },
        { "output_enter", "o", no_types },
        { "output_leave", "o", no_types },
        { "state", "a", no_types },
        { "done", "", no_types },
        { "closed", "", no_types },
        { "parent", "3?o", handle_types },
};

const struct wl_interface foreign_toplevel_handle_interface = {
        .name = "zwlr_foreign_toplevel_handle_v1",
        .version = 3,
        .method_count = ARRAY_SIZE(handle_requests),
        .methods = handle_requests,
        .event_count = ARRAY_SIZE(handle_events),
        .events = handle_events,
};
