/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <xcb/res.h>
#include <xcb/xcb.h>

#include "../../poller/focus/backend.h"
#include "fuzz.h"
#include "util/util.h"

/*
 * Replies of an X server: values, classes, pids and events. XCB reads as much of a reply as its `length` says and does
 * not check its contents, so this file replaces XCB's functions, and returns buffers of exactly that size.
 */

#define CONNECTION ((xcb_connection_t *)&from)

static struct {
        const uint8_t *bytes;
        size_t size, at;
        bool over; /* the connection is closed */
} from;

static uint8_t take(void)
{
        return from.at < from.size ? from.bytes[from.at++] : 0;
}

/* A small number, so that windows and atoms match; after a byte of 255 any number. */
static uint32_t take_word(void)
{
        uint32_t word = take();

        if (word == 255)
                for (unsigned i = 0; i < 4; i++)
                        word = word << 8 | take();
        return word;
}

static uint32_t take_text(void)
{
        uint8_t bytes[] = { take(), take(), take(), take() };
        uint32_t word;

        memcpy(&word, bytes, sizeof(word));
        return word;
}

/* With @words words behind the @head bytes that each reply of its kind has. */
static void *make_reply(size_t head, uint32_t *words)
{
        uint8_t n = take();
        uint32_t *reply;

        if (n == 255)
                return NULL; /* an error */
        *words = n % 80;
        reply = calloc(1, head + 4 * (size_t)*words);
        fuzz_assert(reply);
        reply[1] = *words;
        return reply;
}

xcb_connection_t *xcb_connect(const char *name, int *screen)
{
        *screen = take() % 4;
        return CONNECTION;
}

int xcb_connection_has_error(xcb_connection_t *connection)
{
        return from.over;
}

void xcb_disconnect(xcb_connection_t *connection)
{
}

int xcb_flush(xcb_connection_t *connection)
{
        return 1;
}

int xcb_get_file_descriptor(xcb_connection_t *connection)
{
        return 0;
}

const struct xcb_setup_t *xcb_get_setup(xcb_connection_t *connection)
{
        return NULL;
}

xcb_screen_iterator_t xcb_setup_roots_iterator(const xcb_setup_t *setup)
{
        static xcb_screen_t screen = { .root = 1 };

        return (xcb_screen_iterator_t){ .data = &screen, .rem = take() % 8 != 7 };
}

const struct xcb_query_extension_reply_t *xcb_get_extension_data(xcb_connection_t *connection,
                                                                 xcb_extension_t *extension)
{
        static xcb_query_extension_reply_t reply;

        reply.present = take() % 4 != 3;
        return &reply;
}

xcb_res_query_version_cookie_t xcb_res_query_version(xcb_connection_t *connection, uint8_t major, uint8_t minor)
{
        return (xcb_res_query_version_cookie_t){ 0 };
}

xcb_res_query_version_reply_t *xcb_res_query_version_reply(xcb_connection_t *connection,
                                                           xcb_res_query_version_cookie_t cookie,
                                                           xcb_generic_error_t **error)
{
        uint32_t words;
        xcb_res_query_version_reply_t *reply = make_reply(sizeof(*reply), &words);

        if (reply) {
                reply->server_major = 1;
                reply->server_minor = take();
        }
        return reply;
}

xcb_intern_atom_cookie_t xcb_intern_atom(xcb_connection_t *connection, uint8_t only, uint16_t length, const char *name)
{
        return (xcb_intern_atom_cookie_t){ 0 };
}

xcb_intern_atom_reply_t *xcb_intern_atom_reply(xcb_connection_t *connection, xcb_intern_atom_cookie_t cookie,
                                               xcb_generic_error_t **error)
{
        uint32_t words;
        xcb_intern_atom_reply_t *reply = make_reply(sizeof(*reply), &words);

        if (reply)
                reply->atom = take_word();
        return reply;
}

xcb_get_property_cookie_t xcb_get_property(xcb_connection_t *connection, uint8_t delete, xcb_window_t window,
                                           xcb_atom_t property, xcb_atom_t type, uint32_t offset, uint32_t length)
{
        return (xcb_get_property_cookie_t){ 0 };
}

xcb_get_property_reply_t *xcb_get_property_reply(xcb_connection_t *connection, xcb_get_property_cookie_t cookie,
                                                 xcb_generic_error_t **error)
{
        uint32_t words;
        xcb_get_property_reply_t *reply = make_reply(sizeof(*reply), &words);
        uint8_t kind;

        if (!reply)
                return NULL;
        kind = take();
        reply->format = kind & 2 ? 8 : kind & 4 ? 16 : 32;
        reply->value_len = kind & 1 ? take_word() : words * 32 / reply->format; /* claimed; actual */
        for (size_t i = 0; i < words; i++) {
                uint32_t word = reply->format == 8 ? take_text() : take_word();

                memcpy((char *)(reply + 1) + 4 * i, &word, sizeof(word));
        }
        return reply;
}

xcb_res_query_client_ids_cookie_t xcb_res_query_client_ids(xcb_connection_t *connection, uint32_t n,
                                                           const xcb_res_client_id_spec_t *specs)
{
        return (xcb_res_query_client_ids_cookie_t){ 0 };
}

xcb_res_query_client_ids_reply_t *xcb_res_query_client_ids_reply(xcb_connection_t *connection,
                                                                 xcb_res_query_client_ids_cookie_t cookie,
                                                                 xcb_generic_error_t **error)
{
        uint32_t words;
        xcb_res_query_client_ids_reply_t *reply = make_reply(sizeof(*reply), &words);

        if (!reply)
                return NULL;
        reply->num_ids = take_word();
        for (size_t i = 0; i < words; i++) {
                uint32_t word = take_word();

                memcpy((char *)(reply + 1) + 4 * i, &word, sizeof(word));
        }
        return reply;
}

xcb_void_cookie_t xcb_change_window_attributes(xcb_connection_t *connection, xcb_window_t window, uint32_t mask,
                                               const void *values)
{
        return (xcb_void_cookie_t){ 0 };
}

xcb_void_cookie_t xcb_change_window_attributes_checked(xcb_connection_t *connection, xcb_window_t window,
                                                       uint32_t mask, const void *values)
{
        return (xcb_void_cookie_t){ 0 };
}

xcb_generic_error_t *xcb_request_check(xcb_connection_t *connection, xcb_void_cookie_t cookie)
{
        return take() % 8 == 7 ? calloc(1, sizeof(xcb_generic_error_t)) : NULL;
}

xcb_generic_event_t *xcb_poll_for_event(xcb_connection_t *connection)
{
        union {
                xcb_generic_event_t any;
                xcb_property_notify_event_t property;
                xcb_destroy_notify_event_t destroy;
        } *event;
        uint8_t kind = take();

        from.over = from.at >= from.size;
        if (from.over || kind % 8 == 7)
                return NULL;
        event = calloc(1, sizeof(*event));
        fuzz_assert(event);
        event->any.response_type = kind % 8 == 0 ? XCB_PROPERTY_NOTIFY : kind % 8 == 1 ? XCB_DESTROY_NOTIFY : kind;
        if (kind % 8 == 1) {
                event->destroy.window = take_word();
        } else {
                event->property.window = take_word();
                event->property.atom = take_word();
        }
        return &event->any;
}

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        char plain[FOCUS_APP_MAX];

        fuzz_assert(state->known && state->pid >= 0 && strlen(state->app_id) < sizeof(state->app_id));
        fuzz_assert(strcmp(util_printable(state->app_id, plain, sizeof(plain)), state->app_id) == 0);
}

/* The first byte selects the back-end: gamescope or plain X11. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct focus_sink sink = { .report = report };
        struct backend *backend = NULL;
        const struct backend_ops *ops;

        if (size == 0)
                return 0;
        from.bytes = data + 1;
        from.size = size - 1;
        from.at = 0;
        from.over = false;
        ops = data[0] == 'g' ? &gamescope_backend : &x11_backend;
        if (backend_open(ops, &sink, &backend) < 0)
                return 0;
        while (ops->dispatch(backend) == 0)
                continue;
        backend_close(backend);
        return 0;
}
