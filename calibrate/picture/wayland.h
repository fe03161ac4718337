/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The Wayland session that is shown a picture, in three files: its outputs, our windows on them, the picture.
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
        struct wl_proxy *power;    /* NULL: the compositor does not switch it for us */
        bool lit;                  /* as the compositor last said */
        int mode_width, mode_height;
        struct wl_surface *surface;
        struct xdg_surface *shell;
        struct xdg_toplevel *window;
        struct zwp_idle_inhibitor_v1 *inhibitor;
        struct wl_buffer *buffer;
        int width, height;         /* asked for; 0: ours to choose */
        int shown_width, shown_height;
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
        int err;                   /* why it is over */
};

/* What the session has: its globals, its outputs, and whether they can be switched. */
int wayland_look(struct wayland *wayland);
void output_switch(struct output *output, bool on);
void output_drop(struct output *output);

/* One white window over the whole output, and the session kept from idling while it is there. */
void window_show(struct output *output);
void window_take(struct output *output);
