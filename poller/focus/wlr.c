/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Compositors with the protocol for panels, zwlr_foreign_toplevel_manager_v1: phosh, labwc, wayfire, river,
 * sway and others. It reports the app id but no pid. Some compositors activate a window on each monitor, and
 * do not report which of these has the focus. A new window is activated before the old one is deactivated, in
 * one batch of messages.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "desktop/foreign-toplevel.h"
#include "util/util.h"
#include "util/wayland-listen.h"

struct toplevel {
        struct toplevel *next;
        struct backend *backend;
        struct wl_proxy *handle;
        char app_id[FOCUS_APP_MAX];
        bool active;    /* in the last event `state` */
        bool activated; /* at the last event `done` */
};

struct backend {
        struct backend_base base;
        struct wl_display *display;
        struct wl_registry *registry;
        struct wl_proxy *manager;
        struct toplevel *toplevels;
        bool changed;  /* since the last report */
        bool finished;
};

static void report(struct backend *backend)
{
        const struct toplevel *only = NULL;

        for (const struct toplevel *at = backend->toplevels; at; at = at->next) {
                if (!at->activated)
                        continue;
                if (only && strcmp(only->app_id, at->app_id) != 0) {
                        focus_report_unknown(backend->base.sink);
                        return;
                }
                only = at;
        }
        focus_report(backend->base.sink, 0, only ? only->app_id : "");
}

static void handle_title(void *data, struct wl_proxy *handle, const char *title)
{
        /* Titles are private. */
}

static void handle_app_id(void *data, struct wl_proxy *handle, const char *app_id)
{
        struct toplevel *toplevel = data;

        snprintf(toplevel->app_id, sizeof(toplevel->app_id), "%s", app_id);
}

static void handle_output(void *data, struct wl_proxy *handle, struct wl_output *output)
{
}

static void handle_state(void *data, struct wl_proxy *handle, struct wl_array *states)
{
        struct toplevel *toplevel = data;
        const uint32_t *state = states->data;

        toplevel->active = false;
        for (size_t i = 0; i < states->size / sizeof(*state); i++)
                if (state[i] == FOREIGN_TOPLEVEL_ACTIVATED)
                        toplevel->active = true;
}

static void handle_done(void *data, struct wl_proxy *handle)
{
        struct toplevel *toplevel = data;

        toplevel->activated = toplevel->active;
        toplevel->backend->changed = true;
}

static void drop(struct toplevel *toplevel)
{
        struct toplevel **at = &toplevel->backend->toplevels;

        while (*at != toplevel)
                at = &(*at)->next;
        *at = toplevel->next;
        wl_proxy_marshal_flags(toplevel->handle, FOREIGN_TOPLEVEL_HANDLE_DESTROY, NULL,
                               wl_proxy_get_version(toplevel->handle), WL_MARSHAL_FLAG_DESTROY);
        free(toplevel);
}

static void handle_closed(void *data, struct wl_proxy *handle)
{
        struct toplevel *toplevel = data;

        toplevel->backend->changed = true;
        drop(toplevel);
}

static void handle_parent(void *data, struct wl_proxy *handle, struct wl_proxy *parent)
{
}

static const struct foreign_toplevel_handle_listener handle_listener = {
        .title = handle_title,
        .app_id = handle_app_id,
        .output_enter = handle_output,
        .output_leave = handle_output,
        .state = handle_state,
        .done = handle_done,
        .closed = handle_closed,
        .parent = handle_parent,
};

static void manager_toplevel(void *data, struct wl_proxy *manager, struct wl_proxy *handle)
{
        struct backend *backend = data;
        struct toplevel *toplevel = calloc(1, sizeof(*toplevel));

        if (!toplevel) {
                backend->finished = true;
                return;
        }
        toplevel->backend = backend;
        toplevel->handle = handle;
        toplevel->next = backend->toplevels;
        backend->toplevels = toplevel;
        wayland_listen(handle, &handle_listener, toplevel);
}

static void manager_finished(void *data, struct wl_proxy *manager)
{
        ((struct backend *)data)->finished = true;
}

static const struct foreign_toplevel_manager_listener manager_listener = {
        .toplevel = manager_toplevel,
        .finished = manager_finished,
};

static void registry_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                            uint32_t version)
{
        struct backend *backend = data;

        if (backend->manager || strcmp(interface, foreign_toplevel_manager_interface.name) != 0)
                return;
        backend->manager = wl_registry_bind(registry, name, &foreign_toplevel_manager_interface,
                                            MIN(version, 3u));
        if (backend->manager)
                wayland_listen(backend->manager, &manager_listener, backend);
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
}

static const struct wl_registry_listener registry_listener = {
        .global = registry_global,
        .global_remove = registry_global_remove,
};

static void stop(struct backend *backend)
{
        while (backend->toplevels)
                drop(backend->toplevels);
        if (backend->manager)
                wl_proxy_destroy(backend->manager);
        if (backend->registry)
                wl_registry_destroy(backend->registry);
        if (backend->display)
                wl_display_disconnect(backend->display);
}

static const char *probe_wlr(void)
{
        return getenv("WAYLAND_DISPLAY") ? NULL : "WAYLAND_DISPLAY is not set";
}

static int start(struct backend *backend)
{
        backend->display = wl_display_connect(NULL);
        if (!backend->display)
                return -errno;
        backend->base.fd = wl_display_get_fd(backend->display);
        backend->registry = wl_display_get_registry(backend->display);
        if (!backend->registry)
                return -ENOMEM;
        wl_registry_add_listener(backend->registry, &registry_listener, backend);
        if (wl_display_roundtrip(backend->display) < 0)
                return -ECONNRESET;
        if (!backend->manager)
                return -EOPNOTSUPP;
        /* The first roundtrip announces the windows, the second their properties. */
        if (wl_display_roundtrip(backend->display) < 0 || wl_display_roundtrip(backend->display) < 0)
                return -ECONNRESET;
        report(backend);
        return 0;
}

static int dispatch_wlr(struct backend *backend)
{
        while (wl_display_prepare_read(backend->display) < 0)
                if (wl_display_dispatch_pending(backend->display) < 0)
                        return -ECONNRESET;
        wl_display_flush(backend->display);
        if (wl_display_read_events(backend->display) < 0 || wl_display_dispatch_pending(backend->display) < 0)
                return -ECONNRESET;
        if (backend->changed)
                report(backend);
        backend->changed = false;
        wl_display_flush(backend->display);
        return backend->finished ? -ECONNRESET : 0;
}

const struct backend_ops wlr_backend = {
        .name = "wlr-foreign-toplevel",
        .size = sizeof(struct backend),
        .probe = probe_wlr,
        .start = start,
        .dispatch = dispatch_wlr,
        .stop = stop,
};
