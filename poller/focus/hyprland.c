/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Hyprland: .socket2.sock reports that something has changed, .socket.sock which window is active. Hyprland
 * freezes while a request is open, so connect, write, read and close without delay.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "json.h"
#include "stream.h"
#include "util/units.h"
#include "util/util.h"

#define REPLY_NS (500 * NS_PER_MS)

struct backend {
        struct backend_base base;
        struct stream events;
        char request_path[128];
        bool locked;
};

/* In the runtime folder since 0.40, in /tmp before. */
static int socket_path(char *buf, size_t size, const char *file)
{
        const char *instance = getenv("HYPRLAND_INSTANCE_SIGNATURE"), *runtime = getenv("XDG_RUNTIME_DIR");

        if (runtime && snprintf(buf, size, "%s/hypr/%s/%s", runtime, instance, file) < (int)size &&
            access(buf, F_OK) == 0)
                return 0;
        return snprintf(buf, size, "/tmp/hypr/%s/%s", instance, file) < (int)size ? 0 : -ENAMETOOLONG;
}

/* -ECONNRESET: the end of the answer. The limit holds for the whole answer, even if it arrives byte by byte. */
static int read_reply(struct stream *reply)
{
        uint64_t now_ns = util_boottime_ns(), end_ns = now_ns + REPLY_NS;
        int err = 0;

        while (!err && now_ns < end_ns) {
                err = stream_read(reply, (int)((end_ns - now_ns) / NS_PER_MS) + 1);
                now_ns = util_boottime_ns();
        }
        return err ? err : -ETIMEDOUT;
}

/*
 * The answer is an object of one window. Without an active window it is "{}", in old versions a word. An
 * answer that did not arrive whole leaves the focus unknown: another window is active, but not known which.
 */
static int ask_active(struct backend *backend)
{
        struct stream reply = STREAM_CLOSED;
        struct cJSON *window;
        int err = stream_connect(&reply, backend->request_path);

        if (err)
                return err;
        err = stream_write(&reply, "j/activewindow", strlen("j/activewindow"));
        if (!err)
                err = read_reply(&reply);
        window = cJSON_ParseWithLength(reply.buffer, reply.length);
        if (window || (reply.length > 0 && err == -ECONNRESET))
                focus_report(backend->base.sink, json_pid(window), json_text(window, "class"));
        else
                focus_report_unknown(backend->base.sink);
        cJSON_Delete(window);
        stream_close(&reply);
        return err == -ECONNRESET || err == -ETIMEDOUT ? 0 : err;
}

/* The active window stays active behind a locker. */
static int report(struct backend *backend)
{
        if (!backend->locked)
                return ask_active(backend);
        focus_report(backend->base.sink, 0, "");
        return 0;
}

static void stop(struct backend *backend)
{
        stream_close(&backend->events);
}

static const char *probe_hyprland(void)
{
        return getenv("HYPRLAND_INSTANCE_SIGNATURE") ? NULL : "HYPRLAND_INSTANCE_SIGNATURE is not set";
}

static int start(struct backend *backend)
{
        char path[128];
        int err = socket_path(path, sizeof(path), ".socket2.sock");

        backend->events = (struct stream)STREAM_CLOSED;
        if (!err)
                err = socket_path(backend->request_path, sizeof(backend->request_path), ".socket.sock");
        if (!err)
                err = stream_connect(&backend->events, path);
        backend->base.fd = backend->events.fd;
        return err ? err : ask_active(backend);
}

/* Events that change no focus, and come often. Which others do depends on the version: after each of them we ask. */
static bool is_harmless(const char *line)
{
        static const char *const harmless[] = {
                "activelayout>>", "bell>>", "configreloaded>>", "screencast>>", "screencastv2>>", "submap>>",
                        "urgent>>",
                "windowtitle>>", "windowtitlev2>>",
        };

        for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
                if (strncmp(line, harmless[i], strlen(harmless[i])) == 0)
                        return true;
        return false;
}

/* One request for all events that have arrived. */
static int dispatch_hyprland(struct backend *backend)
{
        bool changed = false;
        char *line;
        int err = stream_read(&backend->events, 0);

        if (err && err != -ETIMEDOUT)
                return err;
        while ((line = stream_line(&backend->events))) {
                if (strncmp(line, "lockscreen>>", 12) == 0)
                        backend->locked = line[12] == '1';
                changed = changed || !is_harmless(line);
                stream_take_line(&backend->events);
        }
        return changed ? report(backend) : 0;
}

const struct backend_ops hyprland_backend = {
        .name = "hyprland",
        .size = sizeof(struct backend),
        .probe = probe_hyprland,
        .start = start,
        .dispatch = dispatch_hyprland,
        .stop = stop,
};
