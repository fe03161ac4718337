/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* niri: its event stream, one JSON object a line, first with all windows and then with what changes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "json.h"
#include "stream.h"
#include "util/util.h"

#define WINDOWS_MAX 4096

struct window {
        int64_t id;
        pid_t pid; /* 0 before niri 25.01 */
        char app_id[FOCUS_APP_MAX];
};

struct backend {
        struct focus_sink *sink;
        struct stream stream;
        struct window *windows;
        size_t n, capacity;
        int64_t focused; /* -1: none */
};

static struct window *find(struct backend *backend, int64_t id)
{
        for (size_t i = 0; i < backend->n; i++)
                if (backend->windows[i].id == id)
                        return &backend->windows[i];
        return NULL;
}

static void report(struct backend *backend)
{
        const struct window *window = find(backend, backend->focused);

        focus_report(backend->sink, window ? window->pid : 0, window ? window->app_id : "");
}

static int keep(struct backend *backend, const char *object)
{
        struct window *window;
        int64_t id, pid = 0;

        if (!json_int(json_get(object, "id"), &id))
                return 0;
        window = find(backend, id);
        if (!window) {
                if (backend->n >= WINDOWS_MAX ||
                    util_grow(&backend->windows, &backend->capacity, backend->n + 1, sizeof(*window)) < 0)
                        return -ENOMEM;
                window = &backend->windows[backend->n++];
        }
        *window = (struct window){ .id = id };
        if (json_int(json_get(object, "pid"), &pid) && pid > 0 && pid <= INT32_MAX)
                window->pid = (pid_t)pid;
        json_string(json_get(object, "app_id"), window->app_id, sizeof(window->app_id));
        if (json_is_true(json_get(object, "is_focused")))
                backend->focused = id;
        else if (backend->focused == id)
                backend->focused = -1;
        return 0;
}

static void forget(struct backend *backend, int64_t id)
{
        struct window *window = find(backend, id);

        if (window)
                *window = backend->windows[--backend->n];
        if (backend->focused == id)
                backend->focused = -1;
}

static int take_event(struct backend *backend, const char *event)
{
        const char *value = json_get(event, "WindowsChanged");
        int64_t id;
        int err = 0;

        if (value) {
                backend->n = 0;
                backend->focused = -1;
                for (value = json_first(json_get(value, "windows")); value && !err; value = json_next(value))
                        err = keep(backend, value);
        } else if ((value = json_get(event, "WindowOpenedOrChanged"))) {
                err = keep(backend, json_get(value, "window"));
        } else if ((value = json_get(event, "WindowClosed"))) {
                if (json_int(json_get(value, "id"), &id))
                        forget(backend, id);
        } else if ((value = json_get(event, "WindowFocusChanged"))) {
                backend->focused = json_int(json_get(value, "id"), &id) ? id : -1;
        } else {
                return 0;
        }
        if (!err)
                report(backend);
        return err;
}

static void close_niri(struct backend *backend)
{
        stream_close(&backend->stream);
        free(backend->windows);
        free(backend);
}

static const char *probe_niri(void)
{
        return getenv("NIRI_SOCKET") ? NULL : "NIRI_SOCKET is not set";
}

static int open_niri(struct focus_sink *sink, struct backend **ret)
{
        struct backend *backend = calloc(1, sizeof(*backend));
        int err;

        if (!backend)
                return -ENOMEM;
        backend->sink = sink;
        backend->stream = (struct stream)STREAM_CLOSED;
        backend->focused = -1;
        err = stream_connect(&backend->stream, getenv("NIRI_SOCKET"));
        if (!err)
                err = stream_write(&backend->stream, "\"EventStream\"\n", strlen("\"EventStream\"\n"));
        if (err) {
                close_niri(backend);
                return err;
        }
        *ret = backend;
        return 0;
}

static int fd_niri(const struct backend *backend)
{
        return backend->stream.fd;
}

static int dispatch_niri(struct backend *backend)
{
        int err = stream_read(&backend->stream, 0);
        char *line;

        if (err == -ETIMEDOUT)
                err = 0;
        while (!err && (line = stream_line(&backend->stream))) {
                err = take_event(backend, line);
                stream_take_line(&backend->stream);
        }
        return err;
}

const struct backend_ops niri_backend = {
        .name = "niri",
        .probe = probe_niri,
        .open = open_niri,
        .fd = fd_niri,
        .dispatch = dispatch_niri,
        .close = close_niri,
};
