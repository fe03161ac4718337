/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "calls.h"
#include "frame-name.h"
#include "probe-event.h"
#include "replay.h"
#include "symbol-offset.h"
#include "tracepoints.h"
#include "util/text.h"
#include "util/util.h"

static double energy_nj(const struct line *line)
{
        double sum = 0;

        for (size_t i = 0; i < COMPONENT_COUNT; i++)
                sum += line->energy_nj[i];
        return sum;
}

/*
 * Drawing ends in one of them for each frame. What comes first may call what comes later: eglSwapBuffers()
 * calls xcb_present_pixmap(), or wl_surface.commit. That one is inline in wayland-client.h, and ends as all
 * requests of Wayland do: @filter tells it from others.
 */
static const struct {
        const char *function, *dso, *filter;
} shows[CALLS_SHOWS] = {
        { "vkQueuePresentKHR", "libvulkan.so.1" },     { "eglSwapBuffers", "libEGL.so.1" },
        { "glXSwapBuffers", "libGL.so.1" },            { "glXSwapBuffers", "libGLX.so.0" },
        { "wl_proxy_marshal_array_flags", "libwayland-client.so.0", "name == \"wl_surface\" && opcode == 6" },
        { "xcb_present_pixmap", "libxcb-present.so.0" }, { "XShmPutImage", "libXext.so.6" },
        { "XPutImage", "libX11.so.6" },                { "xcb_put_image", "libxcb.so.1" },
};

/*
 * The first function of another file that the program's code calls, as compress2 of
 * main@app;compress2@libz.so.1;... -ENOENT: none.
 */
static int64_t find_called(const struct recording *recording, size_t stack)
{
        size_t length;
        const char *bytes = words_bytes(recording->stacks, (uint32_t)stack, &length); /* packed, and not aligned */
        bool before = false;

        for (size_t i = 0; i + sizeof(uint32_t) <= length; i += sizeof(uint32_t)) {
                uint32_t frame;
                bool own;

                memcpy(&frame, bytes + i, sizeof(frame));
                own = places_is_app(&recording->places, frame);
                if (before && !own && frame < recording->places.capacity && recording->places.list[frame].known)
                        return frame;
                before = own;
        }
        return -ENOENT;
}

struct ranked {
        double nj;
        uint32_t name;
};

static int dearest_first(const void *a, const void *b)
{
        double first = ((const struct ranked *)a)->nj, second = ((const struct ranked *)b)->nj;

        return (first < second) - (first > second);
}

static int add_one(struct called_list *list, const struct recording *recording, uint32_t name)
{
        const struct place *place = &recording->places.list[name];
        const char *text = words_bytes(recording->frames, name, NULL);
        struct called called;

        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->list[i].name, text) == 0)
                        return 0;
        if (util_grow(&list->list, &list->capacity, list->n + 1, sizeof(called)) < 0)
                return -ENOMEM;
        called = (struct called){ strdup(text), strdup(words_bytes(recording->frames, place->path, NULL)),
                                  place->offset, -1 };
        if (called.name && called.path) {
                list->list[list->n++] = called;
                return 0;
        }
        free(called.name);
        free(called.path);
        return -ENOMEM;
}

/* Where a library is that this program had mapped, and its function in it. */
static int add_shows(struct called_list *list, const struct recording *recording)
{
        for (size_t i = 0; i < CALLS_SHOWS; i++)
                for (size_t j = 0; !list->shows[i].name && j < words_count(recording->frames); j++) {
                        const char *path = words_bytes(recording->frames, (uint32_t)j, NULL);
                        char file[64];
                        uint64_t offset;

                        if (*path != '/' || strcmp(frame_dso(path, file, sizeof(file)), shows[i].dso) != 0 ||
                            symbol_offset(path, shows[i].function, &offset) < 0)
                                continue;
                        list->shows[i] = (struct called){ strdup(shows[i].function), strdup(path), offset, -1 };
                        if (!list->shows[i].name || !list->shows[i].path)
                                return -ENOMEM;
                }
        return 0;
}

int calls_add(struct called_list *list, const struct recording *recording)
{
        struct ranked *ranked = calloc(words_count(recording->frames) + 1, sizeof(*ranked));
        size_t n = words_count(recording->frames);
        double total = 0;
        int err = 0;

        if (!ranked)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                ranked[i].name = (uint32_t)i;
        for (size_t i = 0; i < recording->n; i++) {
                int64_t name = find_called(recording, i);

                total += energy_nj(&recording->lines[i]);
                if (name >= 0)
                        ranked[name].nj += energy_nj(&recording->lines[i]);
        }
        qsort(ranked, n, sizeof(*ranked), dearest_first);
        for (size_t i = 0;
             !err && i < MIN(n, (size_t)CALLS_FUNCTIONS_MAX) && ranked[i].nj > CALLS_SHARE_MIN * total; i++)
                err = add_one(list, recording, ranked[i].name);
        free(ranked);
        return err ? err : add_shows(list, recording);
}

void calls_clear(struct called_list *list)
{
        calls_close(list);
        for (size_t i = 0; i < list->n + CALLS_SHOWS; i++) {
                struct called *called = i < list->n ? &list->list[i] : &list->shows[i - list->n];

                free(called->name);
                free(called->path);
        }
        free(list->list);
        *list = (struct called_list)CALLED_LIST_EMPTY;
}

/* The proxy's wl_object.interface->name, and the request's number. */
#if defined(__x86_64__)
#define REQUEST "name=+0(+0(+0(%di))):ustring opcode=%si:u32"
#elif defined(__aarch64__)
#define REQUEST "name=+0(+0(+0(%x0))):ustring opcode=%x1:u32"
#else
#define REQUEST "" /* no field to filter by: nothing is counted */
#endif

static const char *event_name(size_t number, char *buf, size_t size)
{
        snprintf(buf, size, "call%zu", number);
        return buf;
}

/*
 * An event of tracefs, and no perf_uprobe event: where a program makes a thread, the kernel looks for the
 * path of such in that program's memory, and there is no thread (EFAULT). What the kernel cannot probe or
 * filter is not counted. 0; -EACCES.
 */
static int open_probe(const struct called_list *list, struct called *called, size_t number,
                      const char *filter, pid_t pid)
{
        struct perf_event_attr attr = {
                .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT, .disabled = 1, .inherit = 1, .enable_on_exec = 1,
        };
        char name[32], format[PROBE_EVENT_FORMAT_SIZE];
        uint64_t id;
        int err = probe_event_add(list->tracefs, event_name(number, name, sizeof(name)), false, called->path,
                                  called->offset, filter ? REQUEST : "");

        if (err || probe_event_format(list->tracefs, name, &id, format) < 0)
                return err == -EACCES || err == -EPERM ? -EACCES : 0;
        attr.config = id;
        called->fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (called->fd < 0)
                return errno == EACCES || errno == EPERM ? -EACCES : 0;
        if (filter && ioctl(called->fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0) {
                close(called->fd);
                called->fd = -1;
        }
        return 0;
}

int calls_open(struct called_list *list, pid_t pid)
{
        int err;

        list->tracefs = tracepoints_open();
        if (list->tracefs < 0)
                return list->tracefs;
        err = faccessat(list->tracefs, "uprobe_events", F_OK, 0) < 0 ? -ENOSYS : 0;
        for (size_t i = 0; !err && i < list->n; i++)
                err = open_probe(list, &list->list[i], i, NULL, pid);
        for (size_t i = 0; !err && i < CALLS_SHOWS; i++)
                if (list->shows[i].name)
                        err = open_probe(list, &list->shows[i], list->n + i, shows[i].filter, pid);
        return err;
}

void calls_close(struct called_list *list)
{
        char name[32];

        for (size_t i = 0; i < list->n + CALLS_SHOWS; i++) {
                struct called *called = i < list->n ? &list->list[i] : &list->shows[i - list->n];

                if (called->name)
                        closep(&called->fd);
                called->fd = -1;
                if (list->tracefs >= 0)
                        probe_event_remove(list->tracefs, event_name(i, name, sizeof(name)));
        }
        closep(&list->tracefs);
        list->tracefs = -1;
}

static bool read_count(const struct called *called, uint64_t *ret)
{
        return called->fd >= 0 && read(called->fd, ret, sizeof(*ret)) == sizeof(*ret);
}

char *calls_print(const struct called_list *list)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        uint64_t count;

        if (!file)
                return NULL;
        fputs("function\tcalls\n", file);
        for (size_t i = 0; i < list->n; i++)
                if (read_count(&list->list[i], &count))
                        fprintf(file, "%s\t%llu\n", list->list[i].name, (unsigned long long)count);
        return text_close(file, &kept);
}

int64_t calls_frames(const struct called_list *list)
{
        int64_t frames = -1;
        uint64_t count;

        for (size_t i = 0; i < CALLS_SHOWS && frames <= 0; i++)
                if (list->shows[i].name && read_count(&list->shows[i], &count))
                        frames = (int64_t)MIN(count, (uint64_t)INT64_MAX);
        return frames;
}
