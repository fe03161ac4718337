/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wlr-input.h"

#include "util/util.h"

/* Types of arguments of which the library need not know more. */
static const struct wl_interface *no_types[7];

static const struct wl_interface *keyboard_types[] = { &wl_seat_interface, &wlr_keyboard_interface };
static const struct wl_message keyboard_manager_requests[] = { { "create_virtual_keyboard", "on", keyboard_types } };
static const struct wl_message keyboard_requests[] = {
        { "keymap", "uhu", no_types },
        { "key", "uuu", no_types },
        { "modifiers", "uuuu", no_types },
        { "destroy", "", no_types },
};

const struct wl_interface wlr_keyboard_manager_interface = {
        .name = "zwp_virtual_keyboard_manager_v1", .version = 1,
        .method_count = ARRAY_SIZE(keyboard_manager_requests), .methods = keyboard_manager_requests,
};
const struct wl_interface wlr_keyboard_interface = {
        .name = "zwp_virtual_keyboard_v1",
        .version = 1,
        .method_count = ARRAY_SIZE(keyboard_requests),
        .methods = keyboard_requests,
};

static const struct wl_interface *pointer_types[] = { &wl_seat_interface, &wlr_pointer_interface };
static const struct wl_message pointer_manager_requests[] = {
        { "create_virtual_pointer", "?on", pointer_types },
        { "destroy", "", no_types },
};
static const struct wl_message pointer_requests[] = {
        { "motion", "uff", no_types },
        { "motion_absolute", "uuuuu", no_types },
        { "button", "uuu", no_types },
        { "axis", "uuf", no_types },
        { "frame", "", no_types },
        { "axis_source", "u", no_types },
        { "axis_stop", "uu", no_types },
        { "axis_discrete", "uufi", no_types },
        { "destroy", "", no_types },
};

const struct wl_interface wlr_pointer_manager_interface = {
        .name = "zwlr_virtual_pointer_manager_v1", .version = 1,
        .method_count = ARRAY_SIZE(pointer_manager_requests), .methods = pointer_manager_requests,
};
const struct wl_interface wlr_pointer_interface = {
        .name = "zwlr_virtual_pointer_v1",
        .version = 1,
        .method_count = ARRAY_SIZE(pointer_requests),
        .methods = pointer_requests,
};

static const struct wl_interface *output_types[7] = { &wlr_screencopy_frame_interface, NULL, &wl_output_interface };
static const struct wl_interface *buffer_types[] = { &wl_buffer_interface };
static const struct wl_message screencopy_requests[] = {
        { "capture_output", "nio", output_types },
        { "capture_output_region", "nioiiii", output_types },
        { "destroy", "", no_types },
};
static const struct wl_message frame_requests[] = {
        { "copy", "o", buffer_types },
        { "destroy", "", no_types },
        { "copy_with_damage", "2o", buffer_types },
};
static const struct wl_message frame_events[] = {
        { "buffer", "uuuu", no_types },
        { "flags", "u", no_types },
        { "ready", "uuu", no_types },
        { "failed", "", no_types },
        { "damage", "2uuuu", no_types },
};

const struct wl_interface wlr_screencopy_manager_interface = {
        .name = "zwlr_screencopy_manager_v1", .version = 2,
        .method_count = ARRAY_SIZE(screencopy_requests), .methods = screencopy_requests,
};
const struct wl_interface wlr_screencopy_frame_interface = {
        .name = "zwlr_screencopy_frame_v1", .version = 2,
        .method_count = ARRAY_SIZE(frame_requests), .methods = frame_requests,
        .event_count = ARRAY_SIZE(frame_events), .events = frame_events,
};
