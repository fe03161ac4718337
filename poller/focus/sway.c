/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * sway and i3, by their IPC (i3-ipc): events of windows and workspaces, and the tree where an event says too little. No
 * event tells that the focused window has moved to a workspace that is not shown, or into the scratchpad.
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

struct backend {
        struct backend_base base;
        struct stream stream;
        int64_t focused; /* the compositor's id of the container; -1: none */
        bool asked;      /* for the tree; it has not come yet */
        bool again;      /* something has changed since then */
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

/* NULL: no window has the focus. */
static void report_container(struct backend *backend, const struct cJSON *container)
{
        const char *app_id = json_text(container, "app_id");

        backend->focused = json_number(container, "id");
        if (!*app_id) /* an X11 client */
                app_id = json_text(cJSON_GetObjectItemCaseSensitive(container, "window_properties"), "class");
        focus_report(backend->base.sink, json_pid(container), app_id);
}

/* A window is a leaf with a client. A workspace or a split can have the focus, too. */
static bool is_window(const struct cJSON *node)
{
        return json_pid(node) > 0 || json_number(node, "window") >= 0;
}

/* cJSON parses no more than CJSON_NESTING_LIMIT levels, which bounds the recursion. */
static const struct cJSON *find_focused(const struct cJSON *node)
{
        static const char *const lists[] = { "nodes", "floating_nodes" };

        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(node, "focused")))
                return node;
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const struct cJSON *child, *found;

                cJSON_ArrayForEach(child, cJSON_GetObjectItemCaseSensitive(node, lists[i])) {
                        found = find_focused(child);
                        if (found)
                                return found;
                }
        }
        return NULL;
}

static const struct cJSON *child_by_id(const struct cJSON *node, int64_t id)
{
        static const char *const lists[] = { "nodes", "floating_nodes" };
        const struct cJSON *child;

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                cJSON_ArrayForEach(child, cJSON_GetObjectItemCaseSensitive(node, lists[i]))
                        if (json_number(child, "id") == id)
                                return child;
        return NULL;
}

/*
 * After "focus parent" a split or workspace has the focus: take the window in it that had it last ("focus"
 * has that order).
 */
static const struct cJSON *window_in(const struct cJSON *node)
{
        for (unsigned i = 0; node && !is_window(node) && i < CJSON_NESTING_LIMIT; i++) {
                const struct cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(node, "focus"), 0);

                node = cJSON_IsNumber(first) ? child_by_id(node, (int64_t)first->valuedouble) : NULL;
        }
        return node;
}

static int ask_tree(struct backend *backend)
{
        backend->again = backend->asked;
        if (backend->asked)
                return 0;
        backend->asked = true;
        return request(backend, IPC_GET_TREE, "");
}

static int take_tree(struct backend *backend, const struct cJSON *tree)
{
        backend->asked = false;
        report_container(backend, window_in(find_focused(tree)));
        return backend->again ? ask_tree(backend) : 0;
}

static bool is_one_of(const char *change, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(change, list[i]) == 0)
                        return true;
        return false;
}

/* When the last window closes, or a split with all windows moves away, no event "focus" follows. */
static int take_window_event(struct backend *backend, const struct cJSON *event)
{
        static const char *const harmless[] = { "mark", "new", "title", "urgent" };
        const struct cJSON *container = cJSON_GetObjectItemCaseSensitive(event, "container");
        const char *change = json_text(event, "change");

        if (strcmp(change, "focus") == 0 && is_window(container)) {
                report_container(backend, container);
                return 0;
        }
        if (strcmp(change, "focus") != 0 && is_window(container) && json_number(container, "id") != backend->focused)
                return 0;
        if (is_one_of(change, harmless, ARRAY_SIZE(harmless)))
                return 0;
        if (strcmp(change, "close") == 0 && is_window(container))
                report_container(backend, NULL);
        return ask_tree(backend);
}

static int take_workspace_event(struct backend *backend, const struct cJSON *event)
{
        static const char *const harmless[] = { "init", "reload", "rename", "urgent" };

        return is_one_of(json_text(event, "change"), harmless, ARRAY_SIZE(harmless)) ? 0 : ask_tree(backend);
}

static int take_message(struct backend *backend, uint32_t type, const struct cJSON *payload)
{
        switch (type) {
        case IPC_GET_TREE:
                return take_tree(backend, payload);
        case IPC_EVENT_WINDOW:
                return take_window_event(backend, payload);
        case IPC_EVENT_WORKSPACE:
                return take_workspace_event(backend, payload);
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
                struct cJSON *payload;
                int err;

                memcpy(&length, stream->buffer + 6, 4);
                memcpy(&type, stream->buffer + 10, 4);
                if (memcmp(stream->buffer, IPC_MAGIC, 6) != 0 || length > STREAM_MAX)
                        return -EPROTO;
                if (stream->length < IPC_HEADER + length)
                        return 0;
                payload = cJSON_ParseWithLength(stream->buffer + IPC_HEADER, length);
                err = take_message(backend, type, payload);
                cJSON_Delete(payload);
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

/* i3 reports no pids, so x11 comes before it. */
static const char *probe_i3(void)
{
        return getenv("I3SOCK") ? NULL : "I3SOCK is not set";
}

static void stop(struct backend *backend)
{
        stream_close(&backend->stream);
}

static int start(struct backend *backend, const char *path)
{
        int err;

        backend->stream = (struct stream)STREAM_CLOSED;
        backend->focused = -1;
        err = stream_connect(&backend->stream, path);
        backend->base.fd = backend->stream.fd;
        if (!err)
                err = request(backend, IPC_SUBSCRIBE, "[\"window\",\"workspace\",\"shutdown\"]");
        return err ? err : ask_tree(backend);
}

static int start_sway(struct backend *backend)
{
        return start(backend, getenv("SWAYSOCK"));
}

static int start_i3(struct backend *backend)
{
        return start(backend, getenv("I3SOCK"));
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
        .size = sizeof(struct backend),
        .probe = probe_sway,
        .start = start_sway,
        .dispatch = dispatch_sway,
        .stop = stop,
};

const struct backend_ops i3_backend = {
        .name = "i3",
        .size = sizeof(struct backend),
        .probe = probe_i3,
        .start = start_i3,
        .dispatch = dispatch_sway,
        .stop = stop,
};
