/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The Wayland protocol zwlr_output_power_management_v1, version 1: names, opcodes and signatures. Debian has
 * no package with it.
 */

#include <wayland-client.h>

extern const struct wl_interface output_power_manager_interface;
extern const struct wl_interface output_power_interface;

/* Opcodes of requests. */
#define OUTPUT_POWER_MANAGER_GET_OUTPUT_POWER 0
#define OUTPUT_POWER_SET_MODE 0
#define OUTPUT_POWER_DESTROY 1

/* Modes. */
#define OUTPUT_POWER_OFF 0
#define OUTPUT_POWER_ON 1

struct output_power_listener { /* in the order of the events' opcodes */
        void (*mode)(void *data, struct wl_proxy *power, uint32_t mode);
        void (*failed)(void *data, struct wl_proxy *power); /* the output is gone, or another client
                                                               controls it */
};
