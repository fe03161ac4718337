/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The Wayland protocols zwp_virtual_keyboard_v1 (version 1), zwlr_virtual_pointer_v1 (1) and
 * zwlr_screencopy_v1 (2): names, opcodes and signatures of what plays input and sees that the screen
 * changed. Written by hand, since no Debian 12 package has their XML.
 */

#include <stdint.h>
#include <wayland-client.h>

extern const struct wl_interface wlr_keyboard_manager_interface;
extern const struct wl_interface wlr_keyboard_interface;
extern const struct wl_interface wlr_pointer_manager_interface;
extern const struct wl_interface wlr_pointer_interface;
extern const struct wl_interface wlr_screencopy_manager_interface;
extern const struct wl_interface wlr_screencopy_frame_interface;

/* Opcodes of requests. */
enum {
        WLR_KEYBOARD_MANAGER_CREATE = 0,
        WLR_KEYBOARD_KEYMAP = 0,
        WLR_KEYBOARD_KEY = 1,
        WLR_KEYBOARD_MODIFIERS = 2,
        WLR_POINTER_MANAGER_CREATE = 0,
        WLR_POINTER_MOTION_ABSOLUTE = 1,
        WLR_POINTER_BUTTON = 2,
        WLR_POINTER_FRAME = 4,
        WLR_POINTER_AXIS_SOURCE = 5,
        WLR_POINTER_AXIS_DISCRETE = 7,
        WLR_SCREENCOPY_CAPTURE_REGION = 1,
        WLR_SCREENCOPY_FRAME_DESTROY = 1,
        WLR_SCREENCOPY_FRAME_COPY_WITH_DAMAGE = 2,
};

struct wlr_screencopy_frame_listener { /* in the order of the events' opcodes */
        void (*buffer)(void *data, struct wl_proxy *frame, uint32_t format, uint32_t width, uint32_t height,
                       uint32_t stride);
        void (*flags)(void *data, struct wl_proxy *frame, uint32_t flags);
        void (*ready)(void *data, struct wl_proxy *frame, uint32_t seconds_high, uint32_t seconds_low, uint32_t ns);
        void (*failed)(void *data, struct wl_proxy *frame);
        void (*damage)(void *data, struct wl_proxy *frame, uint32_t x, uint32_t y, uint32_t width, uint32_t height);
};
