/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Database connections for the threads that serve requests. Each is used by one thread at a time, and opened
 * at its first use.
 */

#include <pthread.h>
#include <stdbool.h>

#include "writer.h"

#define POOL_MAX 64

struct pool_place {
        struct database *database; /* NULL: not open */
        struct writer writer;
        bool taken;
};

/* A thread that waits, on its own stack. */
struct pool_wait {
        struct pool_wait *next;
        uint64_t due_ns; /* when its work would be done if it had begun at once: the first one is next */
};

struct pool {
        const char *where;
        const struct log *log;
        pthread_mutex_t mutex;
        pthread_cond_t free;
        struct pool_wait *waiting; /* in no order */
        struct pool_place places[POOL_MAX];
        int n;
        int deadline_s; /* seconds to wait for a result of the database */
};

void pool_init(struct pool *pool, const char *where, int n, int deadline_s, const struct log *log);
/* Call when no thread uses the pool any more. */
void pool_clear(struct pool *pool);
/*
 * Waits for a free connection. Work that will probably take less than another's, by more than the other has waited for,
 * comes first. Returns a negative errno if the database cannot be opened; the log has a sentence.
 */
int pool_take(struct pool *pool, uint64_t guess_ns, struct pool_place **ret);
/* @failed: the connection is broken and must be closed. */
void pool_give(struct pool *pool, struct pool_place *place, bool failed);
