/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reached.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "schedstat.h"
#include "util/hash.h"
#include "util/util.h"

struct thread {
        pid_t tid;
        bool seen;
        int64_t ran_ns, waited_ns; /* by schedstat_read() */
        struct reached_stops stops; /* those of its process */
        int64_t looked_ns;
        double busy;               /* part of the time not stopped in which it ran or waited */
        UT_hash_handle hh;
};

struct reached {
        uint32_t cpus;
        struct thread *threads;
        int64_t settled_ns;
        double wanted_now_ns, ran_now_ns; /* since then */
        double wanted_ns, ran_ns;
};

struct reached *reached_new(uint32_t cpus)
{
        struct reached *reached = calloc(1, sizeof(*reached));

        if (reached)
                reached->cpus = cpus;
        return reached;
}

/* Threads that have ended. */
static void forget_ended(struct reached *reached)
{
        struct thread *thread, *next;

        HASH_ITER(hh, reached->threads, thread, next) {
                if (thread->seen) {
                        thread->seen = false;
                        continue;
                }
                HASH_DEL(reached->threads, thread);
                free(thread);
        }
}

void reached_free(struct reached *reached)
{
        if (reached)
                HASH_FREE(reached->threads);
        free(reached);
}

static void count(struct reached *reached, struct thread *thread, const struct thread *now)
{
        double ran_ns = (double)MAX(now->ran_ns - thread->ran_ns, INT64_C(0));
        double used_ns = ran_ns + (double)MAX(now->waited_ns - thread->waited_ns, INT64_C(0));
        double passed_ns = (double)(now->looked_ns - thread->looked_ns);
        double stopped_ns = fmin((double)(now->stops.stopped_ns - thread->stops.stopped_ns), passed_ns);
        double wanting_ns = (double)(now->stops.wanting_ns - thread->stops.wanting_ns);

        if (stopped_ns < passed_ns)
                thread->busy = fmin(used_ns / (passed_ns - stopped_ns), 1);
        reached->ran_now_ns += ran_ns;
        reached->wanted_now_ns += fmin(used_ns + wanting_ns * thread->busy, passed_ns);
        thread->ran_ns = now->ran_ns;
        thread->waited_ns = MAX(now->waited_ns, thread->waited_ns);
        thread->stops = now->stops;
        thread->looked_ns = now->looked_ns;
}

/* A new thread counts from the second look on, since nobody knows when it began. */
static void look(struct reached *reached, const struct thread *now)
{
        struct thread *thread;

        HASH_FIND_INT(reached->threads, &now->tid, thread);
        if (thread) {
                count(reached, thread, now);
        } else {
                thread = malloc(sizeof(*thread));
                if (!thread)
                        return;
                *thread = *now;
                HASH_ADD_INT(reached->threads, tid, thread);
                if (!HASH_HAS(thread)) {
                        free(thread);
                        return;
                }
        }
        thread->seen = true;
}

void reached_look(struct reached *reached, pid_t pid, const struct reached_stops *stops, int64_t now_ns)
{
        char path[64];
        struct dirent *entry;
        DIR *dir;

        snprintf(path, sizeof(path), "/proc/%d/task", pid);
        dir = opendir(path);
        while (dir && (entry = readdir(dir))) {
                struct thread now = { .tid = (pid_t)strtol(entry->d_name, NULL, 10),
                                      .stops = *stops,
                                      .looked_ns = now_ns };

                if (now.tid > 0 && schedstat_read(now.tid, &now.ran_ns, &now.waited_ns) == 0)
                        look(reached, &now);
        }
        if (dir)
                closedir(dir);
}

/* The threads could not have run for longer than the target's CPUs have time. */
void reached_settle(struct reached *reached, int64_t now_ns)
{
        double room_ns = (double)(now_ns - reached->settled_ns) * reached->cpus;

        reached->wanted_ns += fmin(reached->wanted_now_ns, room_ns);
        reached->ran_ns += reached->ran_now_ns;
        reached->wanted_now_ns = reached->ran_now_ns = 0;
        reached->settled_ns = now_ns;
        forget_ended(reached);
}

double reached_factor(const struct reached *reached)
{
        return reached->ran_ns > 0 ? reached->wanted_ns / reached->ran_ns : NAN;
}
