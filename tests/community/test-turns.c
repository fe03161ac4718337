/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whose turn it is at the server's database, and how much of its time a network takes. */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "server/limits.h"
#include "server/pool.h"
#include "util/units.h"

#define S ((uint64_t)NS_PER_S)

struct worker {
        struct pool *pool;
        uint64_t guess_ns;
        unsigned *turns, turn;
        pthread_t thread;
};

static void *work(void *data)
{
        struct worker *worker = data;
        struct pool_place *place = NULL;

        check_int(pool_take(worker->pool, worker->guess_ns, &place), 0);
        worker->turn = ++*worker->turns;
        pool_give(worker->pool, place, false);
        return NULL;
}

static size_t count_waiting(struct pool *pool)
{
        size_t n = 0;

        pthread_mutex_lock(&pool->mutex);
        for (const struct pool_wait *wait = pool->waiting; wait; wait = wait->next)
                n++;
        pthread_mutex_unlock(&pool->mutex);
        return n;
}

/* Who takes long comes after who takes less, though it came first. */
static void check_order(void)
{
        static const uint64_t guesses_ns[] = { 40 * S, 20 * S, 30 * S, 0 };
        static const unsigned turns[] = { 4, 2, 3, 1 };
        const struct log quiet = { 0 };
        struct worker workers[4];
        struct pool_place *place = NULL;
        struct database *database = NULL;
        char folder[] = "/tmp/test-turns-XXXXXX", path[64];
        struct pool pool;
        unsigned turn = 0;

        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/turns.db", folder);
        check_int(database_open(path, DATABASE_MAKE, &quiet, &database), 0);
        database_close(database);
        pool_init(&pool, path, 1, 30, &quiet);
        check_int(pool_take(&pool, 0, &place), 0);
        for (size_t i = 0; i < 4; i++) {
                workers[i] = (struct worker){ &pool, guesses_ns[i], &turn, 0, 0 };
                check_int(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
                while (count_waiting(&pool) <= i)
                        usleep(1000);
        }
        pool_give(&pool, place, false);
        for (size_t i = 0; i < 4; i++) {
                pthread_join(workers[i].thread, NULL);
                check_int(workers[i].turn, turns[i]);
        }
        pool_clear(&pool);
        remove(path);
        rmdir(folder);
}

/* A network may begin only as much at the same time as its share has room for. */
static void check_share(void)
{
        struct limits limits;

        check_int(limits_init(&limits), 0);
        check(limits_may_work(&limits, "a", S / 3));
        check(limits_may_work(&limits, "a", S / 3));
        check(!limits_may_work(&limits, "a", 0));
        check(limits_may_work(&limits, "b", 0));
        limits_worked(&limits, "a", S / 3, S / 1000); /* less than was guessed */
        check(limits_may_work(&limits, "a", 0));
        limits_worked(&limits, "a", S / 3, S); /* and more */
        check(!limits_may_work(&limits, "a", 0));
        limits_clear(&limits);
}

int main(void)
{
        check_order();
        check_share();
        return check_result();
}
