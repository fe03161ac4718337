/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "child.h"
#include "options.h"
#include "replay.h"
#include "util/text.h"
#include "util/util.h"

static double energy_nj(const struct line *line)
{
        double sum = 0;

        for (size_t i = 0; i < COMPONENT_COUNT; i++)
                sum += line->energy_nj[i];
        return sum;
}

/* The first function of another file that the program's code calls, as compress2 of main@app;compress2@libz.so.1;... -ENOENT: none. */
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

static int dearest_first(const void *a, const void *b)
{
        double first = ((const struct called *)a)->nj, second = ((const struct called *)b)->nj;

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
        called = (struct called){ strdup(text), strdup(words_bytes(recording->frames, place->path, NULL)), place->offset, 0 };
        if (called.name && called.path) {
                list->list[list->n++] = called;
                return 0;
        }
        free(called.name);
        free(called.path);
        return -ENOMEM;
}

int calls_add(struct called_list *list, const struct recording *recording)
{
        struct ranked {
                struct called called; /* only its energy is used */
                uint32_t name;
        } *ranked = calloc(words_count(recording->frames) + 1, sizeof(*ranked));
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
                        ranked[name].called.nj += energy_nj(&recording->lines[i]);
        }
        qsort(ranked, n, sizeof(*ranked), dearest_first);
        for (size_t i = 0; !err && i < MIN(n, (size_t)CALLS_FUNCTIONS_MAX) && ranked[i].called.nj > CALLS_SHARE_MIN * total; i++)
                err = add_one(list, recording, ranked[i].name);
        free(ranked);
        return err;
}

void calls_clear(struct called_list *list)
{
        for (size_t i = 0; i < list->n; i++) {
                free(list->list[i].name);
                free(list->list[i].path);
        }
        free(list->list);
        *list = (struct called_list){ 0 };
}

static int uprobe_type(uint32_t *ret)
{
        char text[32];
        uint64_t type;

        if (util_read_at(AT_FDCWD, "/sys/bus/event_source/devices/uprobe/type", text, sizeof(text)) <= 0 ||
            util_parse_u64(text, &type) < 0)
                return -ENOSYS;
        *ret = (uint32_t)type;
        return 0;
}

/* A function that cannot be probed is left out. -EACCES: none can. */
static int open_probes(const struct called_list *list, pid_t pid, int *fds)
{
        uint32_t type = 0;
        int err = uprobe_type(&type);

        for (size_t i = 0; !err && i < list->n; i++) {
                struct perf_event_attr attr = {
                        .size = sizeof(attr), .type = type, .uprobe_path = (uint64_t)(uintptr_t)list->list[i].path,
                        .probe_offset = list->list[i].offset, .disabled = 1, .inherit = 1, .enable_on_exec = 1,
                };

                fds[i] = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
                if (fds[i] < 0 && (errno == EACCES || errno == EPERM))
                        err = -EACCES;
        }
        return err;
}

static char *print_calls(const struct called_list *list, const int *fds)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);

        if (!file)
                return NULL;
        fputs("function\tcalls\n", file);
        for (size_t i = 0; i < list->n; i++) {
                uint64_t count;

                if (fds[i] >= 0 && read(fds[i], &count, sizeof(count)) == sizeof(count))
                        fprintf(file, "%s\t%llu\n", list->list[i].name, (unsigned long long)count);
        }
        return text_close(file, &kept);
}

static int run_probed(char *const argv[], const struct called_list *list, int *fds)
{
        struct child_place place = CHILD_NOWHERE;
        struct child child;
        struct child_result result;
        int err = child_start(argv, &place, &child);

        if (!err)
                err = open_probes(list, child.pid, fds);
        if (!err)
                err = child_go(&child);
        if (!err)
                err = child_wait(&child, &result);
        child_end(&child);
        return err;
}

int calls_count(char *const argv[], const struct called_list *list, char **ret)
{
        _cleanup_free_ int *fds = malloc((list->n + 1) * sizeof(*fds));
        char *text = NULL;
        int err;

        if (!fds)
                return -ENOMEM;
        for (size_t i = 0; i < list->n; i++)
                fds[i] = -1;
        err = run_probed(argv, list, fds);
        if (!err)
                text = print_calls(list, fds);
        for (size_t i = 0; i < list->n; i++)
                closep(&fds[i]);
        if (err)
                log_error(&program_log, "calls cannot be counted: %s; it needs root and a kernel with uprobes", strerror(-err));
        else if (text)
                *ret = text;
        return err ? err : text ? 0 : -ENOMEM;
}
