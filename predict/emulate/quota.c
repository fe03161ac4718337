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

#define PLACES_MAX 1024 /* groups: threads beyond share those of the threads that made them */
#define SETTLE_NS INT64_C(20000000)       /* how often it is looked who got too little */
#define SAVED_NS INT64_C(2000000000)      /* time for which threads could run, whose part may be saved up */
#define ROOM_NS INT64_C(100000000)        /* time of a CPU that may be saved up: waiting counts only when it is over */
#define OVERDRAWN_NS INT64_C(10000000)    /* CPU time that the kernel gives too early, and takes off later: a tick, at least */

struct place {
        pid_t tid;
        unsigned number; /* of its group */
        bool seen, preferred;
        int64_t ran_ns, waited_ns; /* by schedstat_read(), when it was settled */
        int64_t ran_now_ns, wanted_now_ns; /* since then */
        int64_t credit_ns;         /* CPU time that it should have got by now */
        UT_hash_handle hh;
};

struct quota {
        const struct groups *groups;
        struct place *places;   /* by thread */
        unsigned made;          /* groups */
        unsigned unused[PLACES_MAX];
        size_t n_unused;
        bool limited;           /* all together */
        int64_t settled_ns;
        int64_t wanted_ns, ran_ns; /* of all, since the run began; as much as the target's CPUs had room for */
        int64_t room_ns;        /* of the target's CPUs */
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
        quota->unused[quota->n_unused++] = place->number; /* as many as groups at most */
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
         * A quota for all loses some of it wherever threads run on several CPUs at a time, as the kernel hands it out to CPUs in
         * slices of 5 ms.
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

/* A group that nobody has: one of a thread that ended, or a new one. 0 or a negative errno. */
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
        path_of(quota, place->number, quota->groups->version == GROUPS_V2 ? "/cgroup.threads" : "/tasks", path, sizeof(path));
        snprintf(text, sizeof(text), "%d", (int)tid);
        err = link_set(path, text);
        place->tid = tid;
        place->seen = true;
        HASH_ADD_INT(quota->places, tid, place);
        if (err)
                leave(quota, place);
        return err;
}

/* What a thread ran, and for how long it could have run. */
static void look_at(const struct quota *quota, struct place *place, int64_t passed_ns)
{
        int64_t ran_ns, waited_ns;

        place->ran_now_ns = place->wanted_now_ns = 0;
        if (schedstat_read(place->tid, &ran_ns, &waited_ns) < 0)
                return;
        if (quota->limited && ran_ns == place->ran_ns && schedstat_waits(place->tid))
                waited_ns = place->waited_ns + passed_ns; /* which the kernel will tell when it runs */
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
 * @room: part of what the threads wanted for which the target has CPUs. Of threads that share the quota for all, the kernel lets some
 * wait for seconds; those come first.
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
        quota->room_ns = MIN(quota->room_ns + passed_ns * quota->groups->cpus, MAX(passed_ns, ROOM_NS) * quota->groups->cpus);
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
