/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf-event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util.h"

/* Events that all files of perf script have in common so far. */
struct common {
        struct perf_events events;
        char first[256]; /* the file that the events came from */
        bool any;
};

static bool has(const struct perf_events *events, const char *name)
{
        for (size_t i = 0; i < events->n; i++)
                if (strcmp(events->names[i], name) == 0)
                        return true;
        return false;
}

static int add_file(struct common *common, const char *path, const struct log *log)
{
        struct perf_events here = { 0 };
        char name[256], before[PERF_EVENT_SIZE];
        size_t kept = 0;

        read_events(path, &here);
        if (here.n == 0)
                return 0;
        util_printable(path, name, sizeof(name));
        if (!common->any) {
                common->events = here;
                common->any = true;
                memcpy(common->first, name, sizeof(name));
                return 0;
        }
        memcpy(before, common->events.names[0], sizeof(before));
        for (size_t i = 0; i < common->events.n; i++)
                if (has(&here, common->events.names[i]))
                        memmove(common->events.names[kept++], common->events.names[i], PERF_EVENT_SIZE);
        common->events.n = kept;
        if (kept > 0)
                return 0;
        log_error(log,
                  "%s counts %s, and %s counts %s: record both with the same event, as perf record -e cpu-clock, "
                  "and let perf script name it (-F +event)",
                  common->first, *before ? before : "?", name, *here.names[0] ? here.names[0] : "?");
        return -EINVAL;
}

int perf_event_choose(const char *const *sides, const struct log *log, char event[PERF_EVENT_SIZE])
{
        static const char *const best[] = { "cpu-clock", "task-clock" };
        struct common common = { 0 };

        event[0] = '\0';
        for (; *sides; sides++) {
                _cleanup_free_ char *words = strdup(*sides);
                struct stat status;
                char *next = words, *path;
                int err = words ? 0 : -ENOMEM;

                if (err == 0 && stat(words, &status) == 0) {
                        err = add_file(&common, words, log);
                        next = NULL;
                }
                while (err == 0 && (path = strsep(&next, ",")))
                        err = *path ? add_file(&common, path, log) : 0;
                if (err < 0)
                        return err;
        }
        for (size_t i = 0; i < ARRAY_SIZE(best) && !event[0]; i++)
                if (has(&common.events, best[i]))
                        snprintf(event, PERF_EVENT_SIZE, "%s", best[i]);
        if (!event[0] && common.events.n > 0)
                memcpy(event, common.events.names[0], PERF_EVENT_SIZE);
        return 0;
}
