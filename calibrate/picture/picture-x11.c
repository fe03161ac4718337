/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One plain picture on a whole X11 screen: an override-redirect window, which disappears with the connection. Off
 * by DPMS if it is enabled; enabling it would outlast a kill. The server's idle time is reset regularly, which
 * changes no setting.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <xcb/dpms.h>
#include <xcb/xcb.h>

#include "picture.h"
#include "util/util.h"

struct x11 {
        struct picture picture; /* first */
        xcb_connection_t *connection;
        xcb_screen_t *screen;
        xcb_window_t window; /* 0: none */
        bool capable;        /* DPMS is available and enabled */
        bool off;
};

/* The server knows its visual. The end of the connection frees the allocated colour. */
static int find_pixel(struct x11 *x11, int shade, uint32_t *ret)
{
        uint16_t value = (uint16_t)(shade * 0x101);
        _cleanup_free_ xcb_alloc_color_reply_t *reply = NULL;

        reply = xcb_alloc_color_reply(
                x11->connection,
                xcb_alloc_color(x11->connection, x11->screen->default_colormap, value, value, value), NULL);
        if (!reply)
                return -EIO;
        *ret = reply->pixel;
        return 0;
}

static void show_window(struct x11 *x11, uint32_t pixel)
{
        const uint32_t values[] = { pixel, 1, XCB_EVENT_MASK_VISIBILITY_CHANGE };

        if (x11->window) {
                xcb_change_window_attributes(x11->connection, x11->window, XCB_CW_BACK_PIXEL, &pixel);
                xcb_clear_area(x11->connection, 0, x11->window, 0, 0, 0, 0);
                return;
        }

        x11->window = xcb_generate_id(x11->connection);
        xcb_create_window(x11->connection, XCB_COPY_FROM_PARENT, x11->window, x11->screen->root, 0, 0,
                          x11->screen->width_in_pixels, x11->screen->height_in_pixels, 0,
                          XCB_WINDOW_CLASS_INPUT_OUTPUT, x11->screen->root_visual,
                          XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, values);
        xcb_map_window(x11->connection, x11->window);
}

static void take_window(struct x11 *x11)
{
        if (x11->window)
                xcb_destroy_window(x11->connection, x11->window);
        x11->window = 0;
}

static int switch_off(struct x11 *x11)
{
        _cleanup_free_ xcb_generic_error_t *error = NULL;

        x11->off = true; /* also if it fails half way: to be restored */
        error = xcb_request_check(x11->connection,
                                  xcb_dpms_force_level_checked(x11->connection, XCB_DPMS_DPMS_MODE_OFF));
        return error ? -EIO : 0;
}

static void switch_on(struct x11 *x11)
{
        if (x11->off)
                xcb_dpms_force_level(x11->connection, XCB_DPMS_DPMS_MODE_ON);
        x11->off = false;
}

/* A round trip: all requests are done. */
static int settle(struct x11 *x11)
{
        free(xcb_get_input_focus_reply(x11->connection, xcb_get_input_focus(x11->connection), NULL));
        return xcb_connection_has_error(x11->connection) ? -ECONNRESET : 0;
}

static int show(struct picture *picture, int shade)
{
        struct x11 *x11 = (struct x11 *)picture;
        uint32_t pixel;
        int err = 0;

        if (shade == PICTURE_OFF) {
                take_window(x11);
                if (x11->capable)
                        err = switch_off(x11);
        } else {
                switch_on(x11);
                xcb_force_screen_saver(x11->connection, XCB_SCREEN_SAVER_RESET);
                err = find_pixel(x11, shade, &pixel);
                if (!err)
                        show_window(x11, pixel);
        }
        return err ? err : settle(x11);
}

static bool can_switch(const struct picture *picture)
{
        return ((const struct x11 *)picture)->capable;
}

static int fd(const struct picture *picture)
{
        return xcb_get_file_descriptor(((const struct x11 *)picture)->connection);
}

/* The root window may turn and grow, and other windows may cover ours. */
static void hear(struct x11 *x11, const xcb_generic_event_t *event)
{
        const xcb_configure_notify_event_t *configure = (const xcb_configure_notify_event_t *)event;
        const xcb_visibility_notify_event_t *visibility = (const xcb_visibility_notify_event_t *)event;
        const uint32_t above = XCB_STACK_MODE_ABOVE;

        switch (event->response_type & 0x7f) {
        case XCB_CONFIGURE_NOTIFY:
                if (configure->window != x11->screen->root)
                        break;
                x11->screen->width_in_pixels = configure->width;
                x11->screen->height_in_pixels = configure->height;
                if (x11->window)
                        xcb_configure_window(x11->connection, x11->window,
                                             XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT,
                                             (const uint32_t[]){ configure->width, configure->height });
                break;
        case XCB_VISIBILITY_NOTIFY:
                if (x11->window && visibility->state != XCB_VISIBILITY_UNOBSCURED)
                        xcb_configure_window(x11->connection, x11->window, XCB_CONFIG_WINDOW_STACK_MODE,
                                             &above);
                break;
        default:
                break;
        }
}

static int dispatch(struct picture *picture)
{
        struct x11 *x11 = (struct x11 *)picture;
        xcb_generic_event_t *event;

        while ((event = xcb_poll_for_event(x11->connection))) {
                hear(x11, event);
                free(event);
        }
        if (!x11->off)
                xcb_force_screen_saver(x11->connection, XCB_SCREEN_SAVER_RESET);
        xcb_flush(x11->connection);
        return xcb_connection_has_error(x11->connection) ? -ECONNRESET : 0;
}

static void close_x11(struct picture *picture)
{
        struct x11 *x11 = (struct x11 *)picture;

        switch_on(x11);
        take_window(x11);
        settle(x11);
        xcb_disconnect(x11->connection);
        free(x11);
}

static void look_at_dpms(struct x11 *x11)
{
        const xcb_query_extension_reply_t *extension = xcb_get_extension_data(x11->connection, &xcb_dpms_id);
        _cleanup_free_ xcb_dpms_capable_reply_t *capable = NULL;
        _cleanup_free_ xcb_dpms_info_reply_t *info = NULL;

        if (!extension || !extension->present)
                return;
        capable = xcb_dpms_capable_reply(x11->connection, xcb_dpms_capable(x11->connection), NULL);
        info = xcb_dpms_info_reply(x11->connection, xcb_dpms_info(x11->connection), NULL);
        x11->capable = capable && capable->capable && info && info->state;
        /* A killed one left it off: lit on exit. */
        x11->off = x11->capable && info->power_level != XCB_DPMS_DPMS_MODE_ON;
}

static int open_x11(struct picture **ret)
{
        const uint32_t mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
        xcb_screen_iterator_t screens;
        struct x11 *x11;
        int number = 0;

        if (!getenv("DISPLAY"))
                return -ENOENT;
        x11 = calloc(1, sizeof(*x11));
        if (!x11)
                return -ENOMEM;
        x11->picture.ops = &picture_x11;
        x11->connection = xcb_connect(NULL, &number);
        if (xcb_connection_has_error(x11->connection)) {
                xcb_disconnect(x11->connection);
                free(x11);
                return -ECONNREFUSED;
        }
        screens = xcb_setup_roots_iterator(xcb_get_setup(x11->connection));
        for (; number > 0 && screens.rem > 1; number--)
                xcb_screen_next(&screens);
        x11->screen = screens.data;
        look_at_dpms(x11);
        xcb_change_window_attributes(x11->connection, x11->screen->root, XCB_CW_EVENT_MASK, &mask);
        xcb_flush(x11->connection);
        *ret = &x11->picture;
        return 0;
}

const struct picture_ops picture_x11 = {
        .name = "x11",
        .white = true,
        .open = open_x11,
        .can_switch = can_switch,
        .show = show,
        .fd = fd,
        .events = POLLIN,
        .dispatch = dispatch,
        .close = close_x11,
};
