/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x-server.h"

#include <errno.h>
#include <string.h>
#include <xcb/res.h>
#include <xcb/xcb.h>

#include "util/util.h"

struct x_server {
        xcb_connection_t *connection;
        xcb_window_t root, watched;
        xcb_atom_t net_wm_pid;
        bool has_res; /* XRes 1.2: pids */
};

void x_server_close(struct x_server *display)
{
        if (!display)
                return;
        xcb_disconnect(display->connection);
        free(display);
}

static bool query_res(xcb_connection_t *connection)
{
        const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &xcb_res_id);
        _cleanup_free_ xcb_res_query_version_reply_t *version = NULL;

        if (!extension || !extension->present)
                return false;
        version = xcb_res_query_version_reply(connection, xcb_res_query_version(connection, 1, 2), NULL);
        return version && (version->server_major > 1 || version->server_minor >= 2);
}

int x_server_open(struct x_server **ret)
{
        const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE;
        struct x_server *display = calloc(1, sizeof(*display));
        xcb_screen_iterator_t screens;
        int number = 0;

        if (!display)
                return -ENOMEM;
        display->connection = xcb_connect(NULL, &number);
        if (xcb_connection_has_error(display->connection)) {
                x_server_close(display);
                return -ECONNREFUSED;
        }
        screens = xcb_setup_roots_iterator(xcb_get_setup(display->connection));
        for (; number > 0 && screens.rem > 0; number--)
                xcb_screen_next(&screens);
        if (screens.rem <= 0) {
                x_server_close(display); /* $DISPLAY names a screen that it does not have */
                return -ECONNREFUSED;
        }
        display->root = screens.data->root;
        display->has_res = query_res(display->connection);
        display->net_wm_pid = x_server_atom(display, "_NET_WM_PID");
        xcb_change_window_attributes(display->connection, display->root, XCB_CW_EVENT_MASK, &mask);
        xcb_flush(display->connection);
        *ret = display;
        return 0;
}

int x_server_fd(const struct x_server *display)
{
        return xcb_get_file_descriptor(display->connection);
}

uint32_t x_server_root(const struct x_server *display)
{
        return display->root;
}

uint32_t x_server_atom(struct x_server *display, const char *name)
{
        _cleanup_free_ xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(
                display->connection, xcb_intern_atom(display->connection, 0, (uint16_t)strlen(name), name),
                        NULL);

        return reply ? reply->atom : 0;
}

static xcb_get_property_reply_t *property(struct x_server *display, uint32_t window, uint32_t atom,
                                          uint32_t words)
{
        return xcb_get_property_reply(
                display->connection,
                xcb_get_property(display->connection, 0, window, atom, XCB_GET_PROPERTY_TYPE_ANY, 0, words),
                        NULL);
}

/* Bytes of the property's value; XCB has read `length` words, but a server may claim more. */
static size_t value_length(const xcb_get_property_reply_t *reply)
{
        return MIN((size_t)xcb_get_property_value_length(reply), (size_t)reply->length * 4);
}

size_t x_server_values(struct x_server *display, uint32_t window, uint32_t atom, uint32_t *values, size_t max)
{
        _cleanup_free_ xcb_get_property_reply_t *reply = property(display, window, atom, (uint32_t)max);
        size_t n;

        if (!reply || reply->format != 32)
                return 0;
        n = MIN(value_length(reply) / sizeof(*values), max);
        memcpy(values, xcb_get_property_value(reply), n * sizeof(*values));
        return n;
}

/* Finds the pid in the variable part of a reply, whose numbers XCB does not check against its length. */
static pid_t pid_of_client(const xcb_res_query_client_ids_reply_t *reply)
{
        const uint8_t *at = (const uint8_t *)(reply + 1);
        size_t left = (size_t)reply->length * 4;
        xcb_res_client_id_value_t id;
        uint32_t pid;

        for (uint32_t i = 0; i < reply->num_ids && left >= sizeof(id); i++) {
                memcpy(&id, at, sizeof(id));
                at += sizeof(id);
                left -= sizeof(id);
                if ((id.spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID) && id.length >= 4 && left >= 4) {
                        memcpy(&pid, at, sizeof(pid));
                        return (pid_t)pid;
                }
                if (id.length > left)
                        break;
                at += id.length;
                left -= id.length;
        }
        return 0;
}

static pid_t res_pid(struct x_server *display, uint32_t window)
{
        xcb_res_client_id_spec_t spec = { .client = window, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID };
        _cleanup_free_ xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(
                display->connection, xcb_res_query_client_ids(display->connection, 1, &spec), NULL);

        return reply ? pid_of_client(reply) : 0;
}

pid_t x_server_pid(struct x_server *display, uint32_t window)
{
        pid_t pid = display->has_res ? res_pid(display, window) : 0;
        uint32_t claimed;

        if (pid > 0)
                return pid;
        return x_server_values(display, window, display->net_wm_pid, &claimed, 1) == 1 && claimed <= INT32_MAX
                       ? (pid_t)claimed : 0;
}

void x_server_class(struct x_server *display, uint32_t window, char *buf, size_t size)
{
        _cleanup_free_ xcb_get_property_reply_t *reply = property(display, window, XCB_ATOM_WM_CLASS, 64);
        size_t length = reply ? value_length(reply) : 0;
        const char *text = reply ? xcb_get_property_value(reply) : "", *class;

        *buf = '\0';
        if (!reply || reply->format != 8 || length == 0)
                return;
        class = memchr(text, '\0', length); /* "instance\0Class\0" */
        class = class && class + 1 < text + length ? class + 1 : text;
        snprintf(buf, size, "%.*s", (int)strnlen(class, (size_t)(text + length - class)), class);
}

bool x_server_watch(struct x_server *display, uint32_t window)
{
        const uint32_t mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY, none = XCB_EVENT_MASK_NO_EVENT;
        _cleanup_free_ xcb_generic_error_t *error = NULL;

        if (window == display->watched)
                return true;
        if (display->watched)
                xcb_change_window_attributes(display->connection, display->watched, XCB_CW_EVENT_MASK, &none);
        display->watched = 0;
        error = xcb_request_check(
                display->connection,
                xcb_change_window_attributes_checked(display->connection, window, XCB_CW_EVENT_MASK, &mask));
        if (!error)
                display->watched = window;
        return !error;
}

int x_server_changed(struct x_server *display, const uint32_t *atoms, size_t n)
{
        xcb_generic_event_t *event;
        int changed = 0;

        while ((event = xcb_poll_for_event(display->connection))) {
                const xcb_property_notify_event_t *notify = (const xcb_property_notify_event_t *)event;
                const xcb_destroy_notify_event_t *destroy = (const xcb_destroy_notify_event_t *)event;

                if ((event->response_type & 0x7f) == XCB_PROPERTY_NOTIFY && notify->window == display->root)
                        for (size_t i = 0; i < n; i++)
                                changed |= notify->atom == atoms[i];
                if ((event->response_type & 0x7f) == XCB_DESTROY_NOTIFY &&
                    destroy->window == display->watched) {
                        display->watched = 0;
                        changed = 1;
                }
                free(event);
        }
        return xcb_connection_has_error(display->connection) ? -ECONNRESET : changed;
}
