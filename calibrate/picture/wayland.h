/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The Wayland session: its outputs (wayland-output.c), our windows on them (wayland-window.c), the picture
 * (picture-wayland.c).
 */

#include "idle-inhibit-unstable-v1-client-protocol.h"
#include "picture.h"
#include "xdg-shell-client-protocol.h"

#define OUTPUTS_MAX 8

struct wayland;

struct output {
        struct wayland *wayland;
        uint32_t name;
        struct wl_output *output;  /* NULL: unplugged */
        struct wl_proxy *power;    /* NULL: the compositor does not switch it */
        bool lit;                  /* by the compositor's last event */
        int mode_width, mode_height;
        struct wl_surface *surface;
        struct xdg_surface *shell;
        struct xdg_toplevel *window;
        struct zwp_idle_inhibitor_v1 *inhibitor;
        struct wl_buffer *buffer;
        int width, height;         /* asked for by the compositor; 0: we choose */
        int shown_width, shown_height, shown_shade;
};

struct wayland {
        struct picture picture; /* first */
        struct wl_display *display;
        struct wl_registry *registry;
        struct wl_compositor *compositor;
        struct wl_shm *shm;
        struct xdg_wm_base *base;
        struct zwp_idle_inhibit_manager_v1 *inhibit;
        struct wl_proxy *power_manager;
        struct output outputs[OUTPUTS_MAX];
        size_t n;
        int shade;                 /* PICTURE_..., the same for all windows */
        int err;                   /* why the session is lost; 0: it is not */
};

/* Finds globals and outputs, and whether outputs can be switched. */
int wayland_look(struct wayland *wayland);
void wayland_output_switch(struct output *output, bool on);
void wayland_output_drop(struct output *output);

/* Shows a plain window of wayland->shade over the whole output, and keeps the session from idling. */
void wayland_window_show(struct output *output);
bool wayland_window_is_drawn(const struct output *output);
void wayland_window_take(struct output *output);
