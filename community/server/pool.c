/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "pool.h"
#include "util/util.h"

void pool_init(struct pool *pool, const char *where, int n, int deadline_s, const struct log *log)
{
        *pool = (struct pool){ .where = where, .log = log, .n = n, .deadline_s = deadline_s };
        pthread_mutex_init(&pool->mutex, NULL);
        pthread_cond_init(&pool->free, NULL);
}

static void close_place(struct pool_place *place)
{
        if (place->database)
                writer_close(&place->writer);
        database_close(place->database);
        place->database = NULL;
}

void pool_clear(struct pool *pool)
{
        for (int i = 0; i < pool->n; i++)
                close_place(&pool->places[i]);
        pthread_cond_destroy(&pool->free);
        pthread_mutex_destroy(&pool->mutex);
}

static int open_place(struct pool *pool, struct pool_place *place)
{
        int err = database_open(pool->where, DATABASE_WRITE, pool->log, &place->database);

        if (err < 0)
                return err;
        place->database->deadline_s = pool->deadline_s;
        err = writer_open(place->database, &place->writer);
        if (err < 0) {
                database_close(place->database);
                place->database = NULL;
        }
        return err;
}

static void stop_waiting(struct pool *pool, const struct pool_wait *wait)
{
        struct pool_wait **at = &pool->waiting;

        while (*at != wait)
                at = &(*at)->next;
        *at = wait->next;
}

static bool is_next(const struct pool *pool, const struct pool_wait *wait)
{
        for (const struct pool_wait *other = pool->waiting; other; other = other->next)
                if (other->due_ns < wait->due_ns)
                        return false;
        return true;
}

/* Finds a free connection, preferably an open one. NULL: all are in use. */
static struct pool_place *find_place(struct pool *pool)
{
        struct pool_place *found = NULL;

        for (int i = 0; i < pool->n; i++)
                if (!pool->places[i].taken && (!found || (pool->places[i].database && !found->database)))
                        found = &pool->places[i];
        return found;
}

static void release(struct pool *pool, struct pool_place *place)
{
        pthread_mutex_lock(&pool->mutex);
        place->taken = false;
        pthread_cond_broadcast(&pool->free);
        pthread_mutex_unlock(&pool->mutex);
}

int pool_take(struct pool *pool, uint64_t guess_ns, struct pool_place **ret)
{
        struct pool_wait own = { .due_ns = util_boottime_ns() + guess_ns };
        struct pool_place *place;
        int err;

        pthread_mutex_lock(&pool->mutex);
        own.next = pool->waiting;
        pool->waiting = &own;
        while (!is_next(pool, &own) || !(place = find_place(pool)))
                pthread_cond_wait(&pool->free, &pool->mutex);
        stop_waiting(pool, &own);
        place->taken = true;
        pthread_cond_broadcast(&pool->free); /* who is next now may find another one free */
        pthread_mutex_unlock(&pool->mutex);
        err = place->database ? 0 : open_place(pool, place);
        if (err < 0)
                release(pool, place);
        else
                *ret = place;
        return err;
}

void pool_give(struct pool *pool, struct pool_place *place, bool failed)
{
        if (failed)
                close_place(place);
        else
                writer_forget(&place->writer, false);
        release(pool, place);
}
