/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refresh.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <wayland-client.h>

#include "focus/focus-link.h"
#include "util/units.h"
#include "util/util.h"

#define PATIENCE_NS NS_PER_S
#define OUTPUTS_MAX 16
#define NAME_SINCE 4 /* version of wl_output from which outputs have names */

struct output {
        struct wl_output *proxy;
        bool built_in;
        int32_t refresh_mhz; /* rate of the current mode */
};

struct reading {
        struct wl_display *display;
        struct wl_registry *registry;
        struct output outputs[OUTPUTS_MAX];
        size_t n;
        uint64_t until_ns;
};

static void take_geometry(void *data, struct wl_output *proxy, int32_t x, int32_t y, int32_t width, int32_t height,
                          int32_t subpixel, const char *make, const char *model, int32_t transform)
{
}

static void take_mode(void *data, struct wl_output *proxy, uint32_t flags, int32_t width, int32_t height,
                      int32_t refresh)
{
        if (flags & WL_OUTPUT_MODE_CURRENT)
                ((struct output *)data)->refresh_mhz = refresh;
}

static void take_done(void *data, struct wl_output *proxy)
{
}

static void take_scale(void *data, struct wl_output *proxy, int32_t factor)
{
}

/* Compositors name an output as the kernel names its connector: "eDP-1". */
static void take_name(void *data, struct wl_output *proxy, const char *name)
{
        static const char *const built_in[] = { "eDP-", "LVDS-", "DSI-", "DPI-" };

        for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
                if (strncmp(name, built_in[i], strlen(built_in[i])) == 0)
                        ((struct output *)data)->built_in = true;
}

static void take_description(void *data, struct wl_output *proxy, const char *text)
{
}

static const struct wl_output_listener output_listener = {
        .geometry = take_geometry, .mode = take_mode, .done = take_done, .scale = take_scale, .name = take_name,
        .description = take_description,
};

static void add_global(void *data, struct wl_registry *registry, uint32_t number, const char *interface,
                       uint32_t version)
{
        struct reading *reading = data;
        struct output *output = &reading->outputs[reading->n];

        if (reading->n >= OUTPUTS_MAX || version < NAME_SINCE || strcmp(interface, wl_output_interface.name) != 0)
                return;
        output->proxy = wl_registry_bind(registry, number, &wl_output_interface, NAME_SINCE);
        if (!output->proxy)
                return;
        wl_output_add_listener(output->proxy, &output_listener, output);
        reading->n++;
}

static void remove_global(void *data, struct wl_registry *registry, uint32_t number)
{
}

static const struct wl_registry_listener registry_listener = { .global = add_global, .global_remove = remove_global };

static void note_done(void *data, struct wl_callback *callback, uint32_t serial)
{
        *(bool *)data = true;
}

/* Reads events once, and waits at most @wait_ms for them. */
static int read_events(struct wl_display *display, int wait_ms)
{
        struct pollfd wait = { .fd = wl_display_get_fd(display), .events = POLLIN };

        while (wl_display_prepare_read(display) < 0)
                if (wl_display_dispatch_pending(display) < 0)
                        return -ECONNRESET;
        if ((wl_display_flush(display) < 0 && errno != EAGAIN) || poll(&wait, 1, wait_ms) <= 0) {
                wl_display_cancel_read(display);
                return -ETIMEDOUT;
        }
        return wl_display_read_events(display) < 0 || wl_display_dispatch_pending(display) < 0 ? -ECONNRESET : 0;
}

/* Like wl_display_roundtrip(), which would wait without limit for a compositor that hangs. */
static int go_round(const struct reading *reading)
{
        static const struct wl_callback_listener listener = { note_done };
        struct wl_callback *callback = wl_display_sync(reading->display);
        bool done = false;
        int err = 0;

        if (!callback)
                return -ENOMEM;
        wl_callback_add_listener(callback, &listener, &done);
        while (!err && !done) {
                uint64_t now_ns = util_boottime_ns();

                err = now_ns < reading->until_ns
                              ? read_events(reading->display, (int)((reading->until_ns - now_ns) / NS_PER_MS) + 1) :
                              -ETIMEDOUT;
        }
        wl_callback_destroy(callback);
        return err;
}

/* The first round announces the outputs, the second their modes and names. */
static uint32_t find_rate(struct reading *reading)
{
        reading->registry = wl_display_get_registry(reading->display);
        if (!reading->registry)
                return 0;
        wl_registry_add_listener(reading->registry, &registry_listener, reading);
        if (go_round(reading) < 0 || go_round(reading) < 0)
                return 0;
        for (size_t i = 0; i < reading->n; i++) {
                int32_t mhz = reading->outputs[i].refresh_mhz;

                if (reading->outputs[i].built_in && mhz >= FOCUS_REFRESH_MIN && mhz <= FOCUS_REFRESH_MAX)
                        return (uint32_t)mhz;
        }
        return 0;
}

uint32_t refresh_read(void)
{
        struct reading reading = { .until_ns = util_boottime_ns() + PATIENCE_NS };
        uint32_t mhz;

        reading.display = getenv("WAYLAND_DISPLAY") ? wl_display_connect(NULL) : NULL;
        if (!reading.display)
                return 0;
        mhz = find_rate(&reading);
        for (size_t i = 0; i < reading.n; i++)
                wl_output_destroy(reading.outputs[i].proxy);
        if (reading.registry)
                wl_registry_destroy(reading.registry);
        wl_display_disconnect(reading.display);
        return mhz;
}
