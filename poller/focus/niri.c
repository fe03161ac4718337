/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* niri: an event stream with one JSON object per line, first all windows, then each change. */

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
        struct backend_base base;
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

        if (backend->focused >= 0 && !window)
                focus_report_unknown(backend->base.sink); /* the next event reports it */
        else
                focus_report(backend->base.sink, window ? window->pid : 0, window ? window->app_id : "");
}

static int keep(struct backend *backend, const struct cJSON *object)
{
        int64_t id = json_number(object, "id");
        struct window *window;

        if (id < 0)
                return 0;
        window = find(backend, id);
        if (!window) {
                if (backend->n >= WINDOWS_MAX ||
                    util_grow(&backend->windows, &backend->capacity, backend->n + 1, sizeof(*window)) < 0)
                        return -ENOMEM;
                window = &backend->windows[backend->n++];
        }
        *window = (struct window){ .id = id, .pid = json_pid(object) };
        snprintf(window->app_id, sizeof(window->app_id), "%s", json_text(object, "app_id"));
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "is_focused")))
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

static int take_event(struct backend *backend, const struct cJSON *event)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(event, "WindowsChanged"), *window;
        int err = 0;

        if (value) {
                backend->n = 0;
                backend->focused = -1;
                cJSON_ArrayForEach(window, cJSON_GetObjectItemCaseSensitive(value, "windows"))
                        if (!err)
                                err = keep(backend, window);
        } else if ((value = cJSON_GetObjectItemCaseSensitive(event, "WindowOpenedOrChanged"))) {
                err = keep(backend, cJSON_GetObjectItemCaseSensitive(value, "window"));
        } else if ((value = cJSON_GetObjectItemCaseSensitive(event, "WindowClosed"))) {
                forget(backend, json_number(value, "id"));
        } else if ((value = cJSON_GetObjectItemCaseSensitive(event, "WindowFocusChanged"))) {
                backend->focused = json_number(value, "id");
        } else {
                return 0;
        }
        if (!err)
                report(backend);
        return err;
}

static void stop(struct backend *backend)
{
        stream_close(&backend->stream);
        free(backend->windows);
}

static const char *probe_niri(void)
{
        return getenv("NIRI_SOCKET") ? NULL : "NIRI_SOCKET is not set";
}

static int start(struct backend *backend)
{
        int err;

        backend->stream = (struct stream)STREAM_CLOSED;
        backend->focused = -1;
        err = stream_connect(&backend->stream, getenv("NIRI_SOCKET"));
        backend->base.fd = backend->stream.fd;
        return err ? err : stream_write(&backend->stream, "\"EventStream\"\n", strlen("\"EventStream\"\n"));
}

static int dispatch_niri(struct backend *backend)
{
        int err = stream_read(&backend->stream, 0);
        char *line;

        if (err == -ETIMEDOUT)
                err = 0;
        while (!err && (line = stream_line(&backend->stream))) {
                struct cJSON *event = cJSON_Parse(line);

                err = take_event(backend, event);
                cJSON_Delete(event);
                stream_take_line(&backend->stream);
        }
        return err;
}

const struct backend_ops niri_backend = {
        .name = "niri",
        .size = sizeof(struct backend),
        .probe = probe_niri,
        .start = start,
        .dispatch = dispatch_niri,
        .stop = stop,
};
