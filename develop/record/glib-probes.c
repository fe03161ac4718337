/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "glib-probes.h"
#include "probe-event.h"
#include "symbol-offset.h"
#include "util/util.h"

#define FUNCTIONS_MAX 6

/* Where numbers are when a function begins or has returned. */
#if defined(__x86_64__)
#define FIRST "%di"
#define SECOND "%si"
#define THIRD "%dx"
#define FOURTH "%cx"
#define BACK "+0(%sp)"
#elif defined(__aarch64__)
#define FIRST "%x0"
#define SECOND "%x1"
#define THIRD "%x2"
#define FOURTH "%x3"
#define BACK "%x30"
#else
#define FIRST "" /* they are not known */
#define SECOND ""
#define THIRD ""
#define FOURTH ""
#define BACK ""
#endif

/*
 * Static functions that GLib calls before and after each dispatch are found by the pointers that a source has to them.
 * The types are the public first members of those in gmain.h, which are the same since GLib 2.0.
 */
struct source {
        void *callback_data;
        const struct {
                void *ref, *unref, *get;
        } *callback_funcs;
};

#define TEXT(name, where) " " name "=+0(" where "):ustring"

/* The events, each with all its functions; those that this GLib lacks are left out. */
static const struct {
        enum event_kind kind;
        const char *name;
        bool returns; /* the probe is at the function's return */
        bool gio;     /* the functions are GIO's */
        const char *value, *code, *others; /* arguments that are fetched; @others has their names, too */
        const char *functions[FUNCTIONS_MAX]; /* "get" and "unref" are those of GSourceCallbackFuncs */
} known[] = {
        { EVENT_ATTACH, "attach", false, false, FIRST, NULL, NULL, { "g_source_attach" } },
        { EVENT_DISPATCH, "dispatch", false, false, SECOND, FIRST, NULL, { "get" } },
        { EVENT_DISPATCHED, "dispatched", false, false, FIRST, NULL, NULL, { "unref" } },
        { EVENT_PUSH,
          "push",
          false,
          false,
          SECOND,
          FIRST,
          NULL,
          { "g_async_queue_push_unlocked", "g_async_queue_push_front_unlocked",
            "g_async_queue_push_sorted_unlocked" } },
        { EVENT_POP,
          "pop",
          false,
          false,
          FIRST,
          BACK,
          NULL,
          { "g_async_queue_pop", "g_async_queue_pop_unlocked", "g_async_queue_try_pop",
            "g_async_queue_try_pop_unlocked", "g_async_queue_timeout_pop",
            "g_async_queue_timeout_pop_unlocked" } },
        { EVENT_POPPED,
          "popped",
          true,
          false,
          "$retval",
          NULL,
          NULL,
          { "g_async_queue_pop", "g_async_queue_pop_unlocked", "g_async_queue_try_pop",
            "g_async_queue_try_pop_unlocked", "g_async_queue_timeout_pop",
            "g_async_queue_timeout_pop_unlocked" } },
        { EVENT_TASK, "task", false, true, FIRST, BACK, NULL, { "g_task_new" } },
        { EVENT_TASK_MADE, "task_made", true, true, "$retval", NULL, NULL, { "g_task_new" } },
        { EVENT_TASK_ATTACH, "task_attach", false, true, SECOND, FIRST, NULL, { "g_task_attach_source" } },
        { EVENT_CALL,
          "call",
          false,
          true,
          FIRST,
          NULL,
          TEXT("destination", FIRST) TEXT("path", SECOND) TEXT("interface", THIRD) TEXT("member", FOURTH),
          { "g_dbus_message_new_method_call" } },
        { EVENT_SIGNAL,
          "signal",
          false,
          true,
          FIRST,
          NULL,
          TEXT("path", FIRST) TEXT("interface", SECOND) TEXT("member", THIRD),
          { "g_dbus_message_new_signal" } },
        { EVENT_SERIAL, "serial", false, true, SECOND, NULL, NULL, { "g_dbus_message_set_serial" } },
        { EVENT_MESSAGE,
          "message",
          false,
          true,
          SECOND,
          NULL,
          " bytes=+0(" FIRST "):x64[64]",
          { "g_dbus_message_new_from_blob" } },
};

static void *nothing(void *data)
{
        return data;
}

/* Offsets in the file of the functions that GLib calls before and after it dispatches a source. */
struct callbacks {
        uint64_t get, unref;
};

/* Offset of @code in the file, by that of @exported, as both functions are in the same segment of it. 0; -ENOENT. */
static int find_static(const void *exported, uint64_t offset, const void *code, uint64_t *ret)
{
        Dl_info info, same;

        if (!dladdr(exported, &info) || !dladdr(code, &same) || same.dli_fbase != info.dli_fbase)
                return -ENOENT;
        *ret = offset + (uint64_t)((uintptr_t)code - (uintptr_t)exported);
        return 0;
}

/*
 * Finds the GLib that the loader finds for us. It finds the same for the program, unless that has a search path of its
 * own.
 */
static int find_glib(char *path, size_t size, struct callbacks *ret)
{
        void *glib = dlopen("libglib-2.0.so.0", RTLD_LAZY | RTLD_LOCAL);
        struct source *(*make)(void) = NULL;
        void (*set)(struct source * source, void *(*function)(void *data), void *data,
                    void (*destroy)(void *data)) = NULL;
        void (*release)(struct source *source) = NULL;
        void *attach = glib ? dlsym(glib, "g_source_attach") : NULL, *get, *unref;
        struct source *source;
        uint64_t offset;
        Dl_info info;

        if (!attach)
                return -ENOENT;
        *(void **)&make = dlsym(glib, "g_idle_source_new");
        *(void **)&set = dlsym(glib, "g_source_set_callback");
        *(void **)&release = dlsym(glib, "g_source_unref");
        if (!make || !set || !release || !dladdr(attach, &info) || strlen(info.dli_fname) >= size ||
            symbol_offset(info.dli_fname, "g_source_attach", &offset) < 0)
                return -ENOENT;
        source = make();
        set(source, nothing, NULL, NULL);
        get = source->callback_funcs->get;
        unref = source->callback_funcs->unref;
        release(source);
        snprintf(path, size, "%s", info.dli_fname);
        return find_static(attach, offset, get, &ret->get) < 0 ?
                       -ENOENT :
                       find_static(attach, offset, unref, &ret->unref);
}

/* GIO is made and installed together with GLib. */
static void find_gio(const char *glib, char *path, size_t size)
{
        const char *name = strstr(glib, "libglib-2.0.so");

        if (!name || snprintf(path, size, "%.*slibgio-2.0.so.0", (int)(name - glib), glib) >= (int)size ||
            access(path, R_OK) < 0)
                *path = '\0';
}

static int find_offset(const char *path, const char *function, const struct callbacks *callbacks, uint64_t *ret)
{
        if (strcmp(function, "get") == 0 || strcmp(function, "unref") == 0) {
                *ret = *function == 'g' ? callbacks->get : callbacks->unref;
                return 0;
        }
        return symbol_offset(path, function, ret);
}

static int define(const struct glib_probes *probes, size_t which, const struct callbacks *callbacks,
                  struct tracepoint *ret)
{
        const char *const *functions = known[which].functions, *path = known[which].gio ? probes->gio : probes->path;
        char fields[256];
        int err = -ENOENT;

        snprintf(fields, sizeof(fields), "value=%s:x64%s%s%s%s", known[which].value, known[which].code ? " code=" : "",
                 known[which].code ? known[which].code : "", known[which].code ? ":x64" : "",
                 known[which].others ? known[which].others : "");
        for (size_t i = 0; i < FUNCTIONS_MAX && functions[i]; i++) {
                uint64_t offset;
                int added;

                if (find_offset(path, functions[i], callbacks, &offset) < 0)
                        continue;
                added = probe_event_add(probes->tracefs, known[which].name, known[which].returns, path, offset, fields);
                if (added < 0)
                        return added;
                err = 0;
        }
        return err ? err : probe_event_find(probes->tracefs, known[which].name, known[which].code != NULL, ret);
}

int glib_probes_open(struct glib_probes *probes, struct tracepoints *points)
{
        struct tracepoints found = *points;
        struct callbacks callbacks;
        int err = *FIRST ? find_glib(probes->path, sizeof(probes->path), &callbacks) : -ENOSYS;

        if (err)
                return err;
        probes->tracefs = tracepoints_open();
        if (probes->tracefs < 0)
                return probes->tracefs;
        probe_event_remove_left(probes->tracefs);
        find_gio(probes->path, probes->gio, sizeof(probes->gio));
        for (size_t i = 0; !err && i < ARRAY_SIZE(known); i++)
                if (!known[i].gio || *probes->gio)
                        err = define(probes, i, &callbacks, &found.list[known[i].kind]);
        if (err) {
                glib_probes_close(probes);
                return err == -ENOENT ? -ENOSYS : err;
        }
        *points = found;
        return 0;
}

void glib_probes_close(struct glib_probes *probes)
{
        for (size_t i = 0; probes->tracefs >= 0 && i < ARRAY_SIZE(known); i++)
                probe_event_remove(probes->tracefs, known[i].name);
        closep(&probes->tracefs);
        probes->tracefs = -1;
}
