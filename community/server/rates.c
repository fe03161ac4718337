/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "rates.h"
#include "threads.h"
#include "util/util.h"

#define BATCH_BYTES ((size_t)1 << 18)
#define BATCHES_PER_THREAD 2

static int compare_client(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = *(const int64_t *)element;

        return client < other ? -1 : client > other;
}

static int read_clients(struct database *database, int64_t limit, struct rates *rates)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        size_t capacity = 0;
        int rc = database_prepare(database,
                                  "SELECT id FROM client WHERE quarantined = 0 AND n > 0 AND s1 <= $1 * n ORDER BY id",
                                  &select);

        if (rc < 0)
                return rc;
        select->ops->set_int(select, 1, limit);
        while ((rc = select->ops->step(select)) == 1) {
                rc = util_grow(&rates->clients, &capacity, rates->n + 1, sizeof(*rates->clients));
                if (rc < 0)
                        return rc;
                rates->clients[rates->n++] = select->ops->get_int(select, 0);
        }
        return rc;
}

int rates_open(struct database *database, int64_t limit, int64_t wanted, struct rates *ret)
{
        *ret = (struct rates){ .database = database, .wanted = wanted };
        return read_clients(database, limit, ret);
}

void rates_close(struct rates *rates)
{
        free(rates->clients);
}

/* Packed rates of one client: @length bytes of a batch, from @first on. */
struct packed {
        size_t client, first, length;
};

/* Packed rates of some clients. */
struct batch {
        struct packed *list;
        uint8_t *bytes;
        size_t n, n_bytes, capacity, bytes_capacity;
        struct batch *next;
};

struct queue {
        const struct rates *rates;
        rates_use use;
        void *const *states;
        pthread_mutex_t mutex;
        pthread_cond_t changed;
        struct batch *empty, *full; /* batches that nobody is working on */
        struct batch *batches;
        size_t n_batches;
        bool complete;  /* no more full batches will come */
        int err;        /* error of the first failure; reading stops */
};

static struct batch *pop(struct batch **list)
{
        struct batch *batch = *list;

        if (batch)
                *list = batch->next;
        return batch;
}

static void push(struct batch **list, struct batch *batch)
{
        batch->next = *list;
        *list = batch;
}

static int work_batch(struct queue *queue, const struct batch *batch, struct client_rates *rates, void *state)
{
        int err = 0;

        for (size_t i = 0; !err && i < batch->n; i++) {
                const struct packed *packed = &batch->list[i];

                err = client_rates_read(batch->bytes + packed->first, packed->length, rates);
                if (!err)
                        err = queue->use(state, packed->client, rates);
        }
        return err;
}

/* Processes full batches until one is empty (returned in @ret) or no more will come. */
static void work(struct queue *queue, size_t thread, struct client_rates *rates, struct batch **ret)
{
        pthread_mutex_lock(&queue->mutex);
        while (!ret || !(*ret = pop(&queue->empty))) {
                struct batch *batch = pop(&queue->full);
                int err = queue->err;

                if (!batch && queue->complete)
                        break;
                if (!batch) {
                        pthread_cond_wait(&queue->changed, &queue->mutex);
                        continue;
                }
                pthread_mutex_unlock(&queue->mutex);
                if (!err)
                        err = work_batch(queue, batch, rates, queue->states[thread]);
                batch->n = batch->n_bytes = 0;
                pthread_mutex_lock(&queue->mutex);
                queue->err = queue->err ? queue->err : err;
                push(&queue->empty, batch);
                pthread_cond_broadcast(&queue->changed);
        }
        pthread_mutex_unlock(&queue->mutex);
}

static void give(struct queue *queue, struct batch *batch, bool complete, int err)
{
        pthread_mutex_lock(&queue->mutex);
        if (batch)
                push(&queue->full, batch);
        queue->complete = complete;
        queue->err = queue->err ? queue->err : err;
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(&queue->mutex);
}

static int has_failed(struct queue *queue)
{
        int err;

        pthread_mutex_lock(&queue->mutex);
        err = queue->err;
        pthread_mutex_unlock(&queue->mutex);
        return err;
}

static int add_packed(struct batch *batch, size_t client, const void *bytes, size_t length)
{
        int err = util_grow(&batch->list, &batch->capacity, batch->n + 1, sizeof(*batch->list));

        if (!err)
                err = util_grow(&batch->bytes, &batch->bytes_capacity, batch->n_bytes + length, 1);
        if (err < 0)
                return err;
        if (length)
                memcpy(batch->bytes + batch->n_bytes, bytes, length);
        batch->list[batch->n++] = (struct packed){ client, batch->n_bytes, length };
        batch->n_bytes += length;
        return 0;
}

static int damaged(const struct rates *rates, int64_t samples)
{
        log_error(rates->database->log, "%s: %" PRId64 " samples of %" PRId64 " are there; the database is damaged",
                  rates->database->name, samples, rates->wanted);
        return -EUCLEAN;
}

/* Fills batches. If none is empty, the reader processes one as the other threads do. */
static int read_rows(struct queue *queue, struct client_rates *own, struct batch **batch)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        const struct rates *rates = queue->rates;
        int64_t samples = 0;
        int rc = database_prepare(rates->database, "SELECT client, samples, rates FROM client_rate", &select);

        while (rc >= 0 && (rc = select->ops->step(select)) == 1) {
                int64_t id = select->ops->get_int(select, 0);
                size_t client = util_lower_bound(&id, rates->clients, rates->n, sizeof(id), compare_client), length;
                const void *bytes;

                samples += select->ops->get_int(select, 1);
                if (client == rates->n || rates->clients[client] != id)
                        continue;
                if (!*batch)
                        work(queue, 0, own, batch);
                bytes = select->ops->get_blob(select, 2, &length);
                rc = add_packed(*batch, client, bytes, bytes ? length : 0);
                if (rc < 0 || (*batch)->n_bytes < BATCH_BYTES)
                        continue;
                give(queue, TAKE_PTR(*batch), false, 0);
                rc = has_failed(queue);
        }
        return rc < 0 ? rc : samples != rates->wanted ? damaged(rates, samples) : 0;
}

static int run_thread(void *data, size_t thread)
{
        _cleanup_(client_rates_clear) struct client_rates rates = { .n = 0 };
        struct queue *queue = data;
        struct batch *batch = NULL;

        if (thread == 0) {
                int err = read_rows(queue, &rates, &batch);

                give(queue, batch, true, err);
        }
        work(queue, thread, &rates, NULL);
        return 0;
}

static int begin_queue(struct queue *queue, size_t n_threads)
{
        queue->n_batches = 1 + BATCHES_PER_THREAD * n_threads;
        queue->batches = calloc(queue->n_batches, sizeof(*queue->batches));
        if (!queue->batches)
                return -ENOMEM;
        for (size_t i = 0; i < queue->n_batches; i++)
                push(&queue->empty, &queue->batches[i]);
        pthread_mutex_init(&queue->mutex, NULL);
        pthread_cond_init(&queue->changed, NULL);
        return 0;
}

static void end_queue(struct queue *queue)
{
        for (size_t i = 0; i < queue->n_batches; i++) {
                free(queue->batches[i].list);
                free(queue->batches[i].bytes);
        }
        free(queue->batches);
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->mutex);
}

int rates_each(const struct rates *rates, rates_use use, void *const *states, size_t n_states)
{
        struct queue queue = { .rates = rates, .use = use, .states = states };
        int err = begin_queue(&queue, n_states);

        if (err < 0)
                return err;
        (void)threads_run(run_thread, &queue, n_states);
        end_queue(&queue);
        if (queue.err != -EBADMSG)
                return queue.err;
        log_error(rates->database->log, "%s: the rates of a client are no such; the database is damaged",
                  rates->database->name);
        return -EUCLEAN;
}
