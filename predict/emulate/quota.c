/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quota.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "link.h"
#include "util/util.h"

#define PLACES_MAX 1024 /* groups: threads beyond share those of the threads that made them */

struct place {
        pid_t tid;
        unsigned number; /* of its group */
        bool seen;
        UT_hash_handle hh;
};

struct quota {
        const struct groups *groups;
        struct place *places;   /* by thread */
        unsigned made;          /* groups */
        unsigned unused[PLACES_MAX];
        size_t n_unused;
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
