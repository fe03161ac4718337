/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <wayland-client.h>

#include "util/util.h"
#include "util/wayland-listen.h"
#include "wayland.h"

static void base_ping(void *data, struct xdg_wm_base *base, uint32_t serial)
{
        xdg_wm_base_pong(base, serial);
}

static const struct xdg_wm_base_listener base_listener = { .ping = base_ping };

static void output_geometry(void *data, struct wl_output *wl_output, int32_t x, int32_t y, int32_t width_mm,
                            int32_t height_mm, int32_t subpixel, const char *make, const char *model,
                            int32_t transform)
{
}

static void output_mode(void *data, struct wl_output *wl_output, uint32_t flags, int32_t width,
                        int32_t height, int32_t refresh)
{
        struct output *output = data;

        if (!(flags & WL_OUTPUT_MODE_CURRENT))
                return;
        output->mode_width = width;
        output->mode_height = height;
}

static const struct wl_output_listener output_listener = { .geometry = output_geometry, .mode = output_mode };

/*
 * The Wayland protocol zwlr_output_power_management_v1, version 1: names, opcodes and signatures. Debian has
 * no package with it.
 */

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

static void power_mode(void *data, struct wl_proxy *power, uint32_t mode)
{
        ((struct output *)data)->lit = mode == OUTPUT_POWER_ON;
}

static void drop_power(struct output *output)
{
        if (output->power)
                wl_proxy_marshal_flags(output->power, OUTPUT_POWER_DESTROY, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
        output->power = NULL;
}

static void power_failed(void *data, struct wl_proxy *power)
{
        drop_power(data);
}

static const struct output_power_listener power_listener = { .mode = power_mode, .failed = power_failed };

static void add_output(struct wayland *wayland, uint32_t name)
{
        struct output *output = &wayland->outputs[wayland->n];

        if (wayland->n == OUTPUTS_MAX)
                return;
        *output = (struct output){ .wayland = wayland, .name = name };
        output->output = wl_registry_bind(wayland->registry, name, &wl_output_interface, 1);
        wl_output_add_listener(output->output, &output_listener, output);
        wayland->n++;
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                            uint32_t version)
{
        struct wayland *wayland = data;

        if (!strcmp(interface, wl_compositor_interface.name) && !wayland->compositor)
                wayland->compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 1);
        else if (!strcmp(interface, wl_shm_interface.name) && !wayland->shm)
                wayland->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
        else if (!strcmp(interface, xdg_wm_base_interface.name) && !wayland->base)
                wayland->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
        else if (!strcmp(interface, zwp_idle_inhibit_manager_v1_interface.name) && !wayland->inhibit)
                wayland->inhibit = wl_registry_bind(registry, name, &zwp_idle_inhibit_manager_v1_interface,
                                                    1);
        else if (!strcmp(interface, output_power_manager_interface.name) && !wayland->power_manager)
                wayland->power_manager = wl_registry_bind(registry, name, &output_power_manager_interface, 1);
        else if (!strcmp(interface, wl_output_interface.name))
                add_output(wayland, name);
}

void wayland_output_drop(struct output *output)
{
        wayland_window_take(output);
        drop_power(output);
        if (output->output)
                wl_output_destroy(output->output);
        output->output = NULL;
}

/* A monitor was unplugged. New ones are ignored: they were not measured before either. */
static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
        struct wayland *wayland = data;

        for (size_t i = 0; i < wayland->n; i++)
                if (wayland->outputs[i].output && wayland->outputs[i].name == name)
                        wayland_output_drop(&wayland->outputs[i]);
}

static const struct wl_registry_listener registry_listener = {
        .global = registry_global,
        .global_remove = registry_global_remove,
};

static void open_powers(struct wayland *wayland)
{
        for (size_t i = 0; wayland->power_manager && i < wayland->n; i++) {
                struct output *output = &wayland->outputs[i];

                output->lit = true;
                output->power = wl_proxy_marshal_flags(wayland->power_manager,
                                                       OUTPUT_POWER_MANAGER_GET_OUTPUT_POWER,
                                                       &output_power_interface, 1, 0, NULL, output->output);
                if (output->power)
                        wayland_listen(output->power, &power_listener, output);
        }
}

void wayland_output_switch(struct output *output, bool on)
{
        if (output->power)
                wl_proxy_marshal_flags(output->power, OUTPUT_POWER_SET_MODE, NULL, 1, 0,
                                       (uint32_t)(on ? OUTPUT_POWER_ON : OUTPUT_POWER_OFF));
}

int wayland_look(struct wayland *wayland)
{
        wayland->registry = wl_display_get_registry(wayland->display);
        wl_registry_add_listener(wayland->registry, &registry_listener, wayland);
        if (wl_display_roundtrip(wayland->display) < 0)
                return -ECONNRESET;
        if (!wayland->compositor || !wayland->shm || !wayland->base || wayland->n == 0)
                return -EOPNOTSUPP;
        xdg_wm_base_add_listener(wayland->base, &base_listener, wayland);
        open_powers(wayland);
        return wl_display_roundtrip(wayland->display) < 0 ? -ECONNRESET : 0;
}
