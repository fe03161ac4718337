/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The Wayland protocol zwlr_foreign_toplevel_manager_v1, version 3: names, opcodes and signatures of what an
 * observer needs, and who plays input. Written by hand, since no Debian 12 package has its XML description.
 */

#include <wayland-client.h>

extern const struct wl_interface foreign_toplevel_manager_interface;
extern const struct wl_interface foreign_toplevel_handle_interface;

/* Opcodes of requests. */
#define FOREIGN_TOPLEVEL_HANDLE_ACTIVATE 4
#define FOREIGN_TOPLEVEL_HANDLE_CLOSE 5
#define FOREIGN_TOPLEVEL_HANDLE_DESTROY 7

/* Values in the array of the event `state`. */
#define FOREIGN_TOPLEVEL_ACTIVATED 2

struct foreign_toplevel_manager_listener { /* in the order of the events' opcodes */
        void (*toplevel)(void *data, struct wl_proxy *manager, struct wl_proxy *handle);
        void (*finished)(void *data, struct wl_proxy *manager);
};

struct foreign_toplevel_handle_listener {
        void (*title)(void *data, struct wl_proxy *handle, const char *title);
        void (*app_id)(void *data, struct wl_proxy *handle, const char *app_id);
        void (*output_enter)(void *data, struct wl_proxy *handle, struct wl_output *output);
        void (*output_leave)(void *data, struct wl_proxy *handle, struct wl_output *output);
        void (*state)(void *data, struct wl_proxy *handle, struct wl_array *states);
        void (*done)(void *data, struct wl_proxy *handle);
        void (*closed)(void *data, struct wl_proxy *handle);
        void (*parent)(void *data, struct wl_proxy *handle, struct wl_proxy *parent);
};
