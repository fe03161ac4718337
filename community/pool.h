/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Connections to the database for threads that answer: each is used by one at a time, and opened when it is first needed. */

#include <pthread.h>
#include <stdbool.h>

#include "writer.h"

#define POOL_MAX 64

struct pool_place {
        struct database *database; /* NULL: not open */
        struct writer writer;
        bool taken;
};

struct pool {
        const char *where;
        const struct log *log;
        pthread_mutex_t mutex;
        pthread_cond_t free;
        struct pool_place places[POOL_MAX];
        int n;
        int deadline_s; /* of an answer of the database */
};

void pool_init(struct pool *pool, const char *where, int n, int deadline_s, const struct log *log);
/* When nobody uses it any more. */
void pool_clear(struct pool *pool);
/* Waits for a place. A negative errno, with its sentence in the log: the database cannot be opened. */
int pool_take(struct pool *pool, struct pool_place **ret);
/* @failed: the connection is of no use any more. */
void pool_give(struct pool *pool, struct pool_place *place, bool failed);
