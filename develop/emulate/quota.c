/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quota.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "link.h"
#include "schedstat.h"
#include "util/units.h"
#include "util/util.h"

#define PLACES_MAX 1024 /* most groups; further threads share the group of the thread that made them */
#define SETTLE_NS INT64_C(20000000)       /* interval at which threads that got too little are looked for */
#define SAVED_NS INT64_C(2000000000)      /* a thread saves up its part of at most so much time in which it could run */
#define ROOM_NS INT64_C(100000000)        /* most saved time per CPU, as the kernel counts waiting only at its end */
/* CPU time that the kernel may give too early, and take off later: at least a tick. */
#define OVERDRAWN_NS INT64_C(10000000)

struct place {
        pid_t tid;
        unsigned number; /* the thread's group: its folder's name */
        bool seen, preferred;
        int64_t ran_ns, waited_ns; /* by schedstat_read(), when it was settled last */
        int64_t ran_now_ns, wanted_now_ns; /* since it was settled before: CPU time, and time in which it could run */
        int64_t credit_ns;         /* CPU time that the thread should have got by now, and did not */
        UT_hash_handle hh;
};

struct quota {
        const struct groups *groups;
        struct place *places;   /* by thread */
        unsigned made;          /* number of groups made */
        unsigned unused[PLACES_MAX];
        size_t n_unused;
        bool limited;           /* the quota for all threads together is set */
        int64_t settled_ns;
        /* Sums over all threads since the run began: time in which the target's CPUs could run them, and CPU time. */
        int64_t wanted_ns, ran_ns;
        int64_t room_ns;        /* time of the target's CPUs that threads may still count as wanted */
        int64_t all_credit_ns;
};

int quota_new(const struct groups *groups, struct quota **ret)
{
        struct quota *quota = calloc(1, sizeof(*quota));

        if (!quota)
                return -ENOMEM;
        quota->groups = groups;
        *ret = quota;
        return 0;
}

static void leave(struct quota *quota, struct place *place)
{
        quota->unused[quota->n_unused++] = place->number; /* at most as many as groups */
        HASH_DEL(quota->places, place);
        free(place);
}

void quota_free(struct quota *quota)
{
        struct place *place, *next;

        if (!quota)
                return;
        HASH_ITER(hh, quota->places, place, next)
                leave(quota, place);
        free(quota);
}

void quota_begin(struct quota *quota)
{
        for (struct place *place = quota->places; place; place = place->hh.next)
                place->seen = false;
}

void quota_end(struct quota *quota)
{
        struct place *place, *next;

        HASH_ITER(hh, quota->places, place, next)
                if (!place->seen)
                        leave(quota, place);
        /*
         * A quota for all loses some of it wherever threads run on several CPUs at a time, as the kernel
         * hands it out to CPUs in slices of 5 ms.
         */
        if ((HASH_COUNT(quota->places) > quota->groups->cpus) == quota->limited)
                return;
        quota->limited = !quota->limited;
        (void)groups_refill(quota->groups, quota->groups->path, quota->limited ? &quota->groups->all : NULL);
}

static void path_of(const struct quota *quota, unsigned number, const char *file, char *ret, size_t size)
{
        snprintf(ret, size, "%s/%u%s", quota->groups->path, number, file);
}

/* Takes a free group: that of a thread that ended, or a new one. 0 or a negative errno. */
static int take_group(struct quota *quota, unsigned *ret)
{
        char path[PATH_MAX + 64];
        int err;

        if (quota->n_unused) {
                *ret = quota->unused[--quota->n_unused];
                return 0;
        }
        if (quota->made == PLACES_MAX)
                return -ENOSPC;
        path_of(quota, quota->made, "", path, sizeof(path));
        if (mkdir(path, 0755) < 0)
                return -errno;
        err = groups_limit(quota->groups, path, quota->groups->each);
        if (err)
                rmdir(path);
        else
                *ret = quota->made++;
        return err;
}

int quota_thread(struct quota *quota, pid_t tid)
{
        char path[PATH_MAX + 64], text[16];
        struct place *place;
        int err;

        HASH_FIND_INT(quota->places, &tid, place);
        if (place) {
                place->seen = true;
                return 0;
        }
        place = calloc(1, sizeof(*place));
        if (!place)
                return -ENOMEM;
        err = take_group(quota, &place->number);
        if (err) {
                free(place);
                return err;
        }
        path_of(quota, place->number, quota->groups->version == GROUPS_V2 ? "/cgroup.threads" : "/tasks",
                path, sizeof(path));
        snprintf(text, sizeof(text), "%d", (int)tid);
        err = link_set(path, text);
        place->tid = tid;
        place->seen = true;
        HASH_ADD_INT(quota->places, tid, place);
        if (err)
                leave(quota, place);
        return err;
}

/* Measures how long a thread ran, and how long it could have run, since it was settled last. */
static void look_at(const struct quota *quota, struct place *place, int64_t passed_ns)
{
        int64_t ran_ns, waited_ns;

        place->ran_now_ns = place->wanted_now_ns = 0;
        if (schedstat_read(place->tid, &ran_ns, &waited_ns) < 0)
                return;
        if (quota->limited && ran_ns == place->ran_ns && schedstat_state(place->tid) == 'R')
                waited_ns = place->waited_ns + passed_ns; /* the kernel will count this when the thread runs */
        place->ran_now_ns = MAX(ran_ns - place->ran_ns, INT64_C(0));
        place->wanted_now_ns = place->ran_now_ns + MAX(waited_ns - place->waited_ns, INT64_C(0));
        place->ran_ns = ran_ns;
        place->waited_ns = MAX(waited_ns, place->waited_ns);
}

static int64_t limit_credit(const struct quota *quota, double credit_ns)
{
        return (int64_t)fmin(fmax(credit_ns, -(double)OVERDRAWN_NS), (double)SAVED_NS / quota->groups->factor);
}

/*
 * @room: part of the time wanted by all threads for which the target has CPUs
 *
 * The kernel lets some of the threads that share the quota for all wait for seconds; those get preference.
 */
static void settle_one(struct quota *quota, struct place *place, double room)
{
        double wanted_ns = (double)place->wanted_now_ns * room;
        double due_ns = wanted_ns / quota->groups->factor - (double)place->ran_now_ns;
        char path[PATH_MAX + 64];

        place->credit_ns = limit_credit(quota, (double)place->credit_ns + due_ns);
        quota->all_credit_ns = limit_credit(quota, (double)quota->all_credit_ns + due_ns);
        quota->wanted_ns += (int64_t)wanted_ns;
        quota->ran_ns += place->ran_now_ns;
        path_of(quota, place->number, "", path, sizeof(path));
        if (place->credit_ns > 0)
                (void)groups_refill(quota->groups, path, &quota->groups->each);
        if (place->preferred != (quota->limited && place->credit_ns > 0)) {
                place->preferred = !place->preferred;
                (void)groups_prefer(quota->groups, path, place->preferred);
        }
}

void quota_settle(struct quota *quota, int64_t now_ns)
{
        int64_t passed_ns = now_ns - quota->settled_ns, wanted_ns = 0;
        double room;

        if (passed_ns < SETTLE_NS)
                return;
        quota->settled_ns = now_ns;
        for (struct place *place = quota->places; place; place = place->hh.next) {
                look_at(quota, place, passed_ns);
                wanted_ns += place->wanted_now_ns;
        }
        quota->room_ns = MIN(quota->room_ns + passed_ns * quota->groups->cpus,
                             MAX(passed_ns, ROOM_NS) * quota->groups->cpus);
        room = wanted_ns > quota->room_ns ? (double)quota->room_ns / (double)wanted_ns : 1;
        quota->room_ns -= (int64_t)((double)wanted_ns * room);
        for (struct place *place = quota->places; place; place = place->hh.next)
                settle_one(quota, place, room);
        if (quota->limited && quota->all_credit_ns > 0)
                (void)groups_refill(quota->groups, quota->groups->path, &quota->groups->all);
}

double quota_reached(const struct quota *quota)
{
        return quota->ran_ns > 0 ? (double)quota->wanted_ns / (double)quota->ran_ns : NAN;
}
