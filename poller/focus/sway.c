/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * sway and i3, by their IPC (i3-ipc): events of windows and workspaces,
 * and the tree where an event says too little.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "json.h"
#include "stream.h"
#include "util/util.h"

#define IPC_MAGIC "i3-ipc"
#define IPC_HEADER 14
#define IPC_SUBSCRIBE 2
#define IPC_GET_TREE 4
#define IPC_EVENT_WORKSPACE 0x80000000u
#define IPC_EVENT_WINDOW 0x80000003u
#define IPC_EVENT_SHUTDOWN 0x80000006u
#define TREE_DEPTH 64

struct backend {
        struct focus_sink *sink;
        struct stream stream;
        int64_t focused; /* the compositor's id of the container; 0: none */
};

static int request(struct backend *backend, uint32_t type, const char *payload)
{
        uint32_t length = (uint32_t)strlen(payload);
        char bytes[IPC_HEADER + 128];

        memcpy(bytes, IPC_MAGIC, 6);
        memcpy(bytes + 6, &length, 4);
        memcpy(bytes + 10, &type, 4);
        memcpy(bytes + IPC_HEADER, payload, length);
        return stream_write(&backend->stream, bytes, IPC_HEADER + length);
}

static void report_container(struct backend *backend, const char *container)
{
        char app_id[FOCUS_APP_MAX];
        int64_t pid = 0;

        backend->focused = 0;
        json_int(json_get(container, "id"), &backend->focused);
        if (!json_int(json_get(container, "pid"), &pid) || pid < 0 || pid > INT32_MAX)
                pid = 0;
        if (!json_string(json_get(container, "app_id"), app_id, sizeof(app_id)))
                json_string(json_get(json_get(container, "window_properties"), "class"), app_id,
                            sizeof(app_id));
        focus_report(backend->sink, (pid_t)pid, app_id);
}

/* A window is a leaf with a client; workspaces and splits can have the focus too, and are nobody. */
static bool is_window(const char *node)
{
        int64_t number;

        return (json_int(json_get(node, "pid"), &number) && number > 0) ||
               json_int(json_get(node, "window"), &number);
}

static const char *find_focused(const char *node, int depth)
{
        static const char *const lists[] = { "nodes", "floating_nodes" };

        if (depth > TREE_DEPTH)
                return NULL;
        if (json_is_true(json_get(node, "focused")))
                return node;
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                for (const char *child = json_first(json_get(node,
                                                             lists[i])); child; child = json_next(child)) {
                        const char *found = find_focused(child, depth + 1);

                        if (found)
                                return found;
                }
        return NULL;
}

static void take_tree(struct backend *backend, const char *tree)
{
        const char *focused = find_focused(tree, 0);

        if (focused && is_window(focused))
                report_container(backend, focused);
        else
                report_container(backend, NULL);
}

/* Closing the last window is told by "close" alone; where another gets the focus, that is told next. */
static void take_window_event(struct backend *backend, const char *event)
{
        const char *container = json_get(event, "container");
        char change[32];
        int64_t id = 0;

        json_string(json_get(event, "change"), change, sizeof(change));
        json_int(json_get(container, "id"), &id);
        if (strcmp(change, "focus") == 0)
                report_container(backend, container);
        else if (strcmp(change, "close") == 0 && id == backend->focused)
                report_container(backend, NULL);
}

static int take_message(struct backend *backend, uint32_t type, const char *payload)
{
        char change[32];

        switch (type) {
        case IPC_GET_TREE:
                take_tree(backend, payload);
                return 0;
        case IPC_EVENT_WINDOW:
                take_window_event(backend, payload);
                return 0;
        case IPC_EVENT_WORKSPACE:
                json_string(json_get(payload, "change"), change, sizeof(change));
                return strcmp(change, "focus") == 0 ? request(backend, IPC_GET_TREE, "") : 0;
        case IPC_EVENT_SHUTDOWN:
                return -ECONNRESET;
        default:
                return 0;
        }
}

static int take_messages(struct backend *backend)
{
        struct stream *stream = &backend->stream;

        while (stream->length >= IPC_HEADER) {
                uint32_t length, type;
                char after;
                int err;

                memcpy(&length, stream->buffer + 6, 4);
                memcpy(&type, stream->buffer + 10, 4);
                if (memcmp(stream->buffer, IPC_MAGIC, 6) != 0 || length > STREAM_MAX)
                        return -EPROTO;
                if (stream->length < IPC_HEADER + length)
                        return 0;
                after = stream->buffer[IPC_HEADER + length];
                stream->buffer[IPC_HEADER + length] = '\0';
                err = take_message(backend, type, stream->buffer + IPC_HEADER);
                stream->buffer[IPC_HEADER + length] = after;
                if (err)
                        return err;
                stream_take(stream, IPC_HEADER + length);
        }
        return 0;
}

static const char *probe_sway(void)
{
        return getenv("SWAYSOCK") ? NULL : "SWAYSOCK is not set";
}

/* i3 tells no pids, so X11 is asked before it. */
static const char *probe_i3(void)
{
        return getenv("I3SOCK") ? NULL : "I3SOCK is not set";
}

static void close_sway(struct backend *backend)
{
        stream_close(&backend->stream);
        free(backend);
}

static int open_ipc(struct focus_sink *sink, const char *path, struct backend **ret)
{
        struct backend *backend = calloc(1, sizeof(*backend));
        int err;

        if (!backend)
                return -ENOMEM;
        backend->sink = sink;
        backend->stream = (struct stream)STREAM_CLOSED;
        err = stream_connect(&backend->stream, path);
        if (!err)
                err = request(backend, IPC_SUBSCRIBE, "[\"window\",\"workspace\",\"shutdown\"]");
        if (!err)
                err = request(backend, IPC_GET_TREE, "");
        if (err) {
                close_sway(backend);
                return err;
        }
        *ret = backend;
        return 0;
}

static int open_sway(struct focus_sink *sink, struct backend **ret)
{
        return open_ipc(sink, getenv("SWAYSOCK"), ret);
}

static int open_i3(struct focus_sink *sink, struct backend **ret)
{
        return open_ipc(sink, getenv("I3SOCK"), ret);
}

static int fd_sway(const struct backend *backend)
{
        return backend->stream.fd;
}

static int dispatch_sway(struct backend *backend)
{
        int err = stream_read(&backend->stream, 0);

        if (err && err != -ETIMEDOUT)
                return err;
        return take_messages(backend);
}

const struct backend_ops sway_backend = {
        .name = "sway",
        .probe = probe_sway,
        .open = open_sway,
        .fd = fd_sway,
        .dispatch = dispatch_sway,
        .close = close_sway,
};

const struct backend_ops i3_backend = {
        .name = "i3",
        .probe = probe_i3,
        .open = open_i3,
        .fd = fd_sway,
        .dispatch = dispatch_sway,
        .close = close_sway,
};
