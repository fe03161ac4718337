/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shaper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "util/units.h"
#include "util/util.h"

#define WAITING_BYTES_MAX (64u << 20) /* most bytes of packets that wait in one direction */

/* Packets of one direction that wait, ordered by when they are due. */
struct queue {
        struct shaped **list; /* a ring of @capacity */
        size_t first, n, capacity, bytes;
        int64_t free_ns;      /* when the link is free again */
};

struct shaper {
        struct shaper_plan plan;
        struct weather weather;
        struct queue queues[RADIO_DIRECTIONS];
        struct shaped *given;
        struct packet_record *records;
        struct packet_head *heads; /* first bytes of the records' packets, if the plan wants them */
        size_t n_records, records_capacity, heads_capacity;
        struct radio_run run;
        struct radio_event *coming; /* future events of the radio: a heap ordered by time */
        size_t n_coming, coming_capacity;
        int64_t awake_ns;
};

int shaper_new(const struct shaper_plan *plan, struct shaper **ret)
{
        struct shaper *shaper = calloc(1, sizeof(*shaper));

        if (!shaper)
                return -ENOMEM;
        shaper->plan = *plan;
        weather_start(&shaper->weather, plan->network, plan->seed);
        if (plan->radio && radio_run_start(&shaper->run, plan->radio, plan->signal) < 0) {
                free(shaper);
                return -ENOMEM;
        }
        *ret = shaper;
        return 0;
}

void shaper_free(struct shaper *shaper)
{
        if (!shaper)
                return;
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                struct queue *queue = &shaper->queues[d];

                for (size_t i = 0; i < queue->n; i++)
                        free(queue->list[(queue->first + i) % queue->capacity]);
                free(queue->list);
        }
        if (shaper->plan.radio)
                radio_run_clear(&shaper->run);
        free(shaper->given);
        free(shaper->records);
        free(shaper->heads);
        free(shaper->coming);
        free(shaper);
}

static void note(struct shaper *shaper, const struct packet_record *record, const uint8_t *bytes)
{
        size_t n = shaper->n_records;

        if (util_grow(&shaper->records, &shaper->records_capacity, n + 1, sizeof(*record)) < 0)
                return;
        if (shaper->plan.heads) {
                if (util_grow(&shaper->heads, &shaper->heads_capacity, n + 1, sizeof(*shaper->heads)) < 0)
                        return;
                shaper->heads[n] = (struct packet_head){ 0 };
                memcpy(shaper->heads[n].bytes, bytes, MIN(record->bytes, sizeof(shaper->heads[n].bytes)));
        }
        shaper->records[shaper->n_records++] = *record;
}

size_t shaper_records(struct shaper *shaper, struct packet_record *ret, struct packet_head *ret_heads, size_t n)
{
        size_t given = MIN(n, shaper->n_records);

        if (given == 0) /* there may be no room yet */
                return 0;
        memcpy(ret, shaper->records, given * sizeof(*ret));
        shaper->n_records -= given;
        memmove(shaper->records, shaper->records + given, shaper->n_records * sizeof(*ret));
        if (shaper->plan.heads) {
                memcpy(ret_heads, shaper->heads, given * sizeof(*ret_heads));
                memmove(shaper->heads, shaper->heads + given, shaper->n_records * sizeof(*ret_heads));
        }
        return given;
}

static bool before(const struct radio_event *a, const struct radio_event *b)
{
        return a->time_ns < b->time_ns;
}

static void coming_add(struct shaper *shaper, const struct radio_event *event)
{
        size_t i = shaper->n_coming;

        if (util_grow(&shaper->coming, &shaper->coming_capacity, i + 1, sizeof(*event)) < 0)
                return;
        shaper->n_coming++;
        for (; i > 0 && before(event, &shaper->coming[(i - 1) / 2]); i = (i - 1) / 2)
                shaper->coming[i] = shaper->coming[(i - 1) / 2];
        shaper->coming[i] = *event;
}

static struct radio_event coming_take(struct shaper *shaper)
{
        struct radio_event first = shaper->coming[0], last = shaper->coming[--shaper->n_coming];
        size_t i = 0, child;

        while ((child = 2 * i + 1) < shaper->n_coming) {
                child += child + 1 < shaper->n_coming && before(&shaper->coming[child + 1], &shaper->coming[child]);
                if (!before(&shaper->coming[child], &last))
                        break;
                shaper->coming[i] = shaper->coming[child];
                i = child;
        }
        shaper->coming[i] = last;
        return first;
}

/* The state that a packet wakes the radio to takes a fixed time; all wait for its end. */
static const struct radio_state *promotion(const struct radio_run *run, enum radio_direction direction)
{
        const struct radio_state *state = &run->radio->states[run->state];
        const struct radio_state *next = state->on[direction].move.given ?
                                         &run->radio->states[state->on[direction].move.state] : state;

        return next != state && next->after.move.given && next->after.fixed ? next : NULL;
}

/* The radio up to now, and what this packet does to it at once. True: the packet wakes it. */
static bool wakes(struct shaper *shaper, enum radio_direction direction, size_t length, int64_t now_ns)
{
        const struct radio_state *promoted;

        if (!shaper->plan.radio)
                return false;
        while (shaper->n_coming && shaper->coming[0].time_ns <= now_ns) {
                struct radio_event event = coming_take(shaper);

                (void)radio_run_packet(&shaper->run, MAX(event.time_ns, shaper->run.now_ns), event.direction,
                                       event.bytes);
        }
        (void)radio_run_until(&shaper->run, now_ns);
        promoted = promotion(&shaper->run, direction);
        if (!promoted || length < shaper->run.radio->states[shaper->run.state].on[direction].least_bytes)
                return false;
        shaper->awake_ns = now_ns + (int64_t)(promoted->after.ms * NS_PER_MS);
        (void)radio_run_packet(&shaper->run, MAX(now_ns, shaper->run.now_ns), direction, length);
        return true;
}

/* With whom the app talks by it. */
static void name_peer(struct packet_record *record, const uint8_t *bytes, size_t length)
{
        struct packet packet;
        bool sent = record->direction == RADIO_TX;

        if (!packet_read(bytes, length, &packet))
                return;
        record->protocol = packet.flow.protocol;
        record->peer = packet_peer(sent ? packet.flow.to : packet.flow.from);
        record->port = sent ? packet.flow.to_port : packet.flow.from_port;
}

static struct shaped **place_of(const struct queue *queue, size_t number)
{
        return &queue->list[(queue->first + number) % queue->capacity];
}

/* It does not overtake those that are as far from this machine. */
static void keep_order(const struct queue *queue, struct packet_record *record)
{
        for (size_t i = queue->n; i > 0; i--) {
                const struct packet_record *before = &(*place_of(queue, i - 1))->record;

                if (before->host_ns == record->host_ns) {
                        record->due_ns = MAX(record->due_ns, before->due_ns);
                        return;
                }
        }
}

/* Computes a packet's times, and whether it is lost or dropped. */
static void schedule(struct shaper *shaper, struct packet_record *record)
{
        const struct network_way *way = &shaper->plan.network->way[record->direction];
        struct queue *queue = &shaper->queues[record->direction];
        int64_t ready_ns = MAX(record->in_ns, shaper->awake_ns), start_ns = MAX(ready_ns, queue->free_ns);
        double queue_ns = shaper->plan.network->queue_ms * NS_PER_MS;

        if (queue->bytes + record->bytes > WAITING_BYTES_MAX ||
            (way->kbps > 0 && queue_ns > 0 && (double)(queue->free_ns - ready_ns) > queue_ns)) {
                record->verdict = PACKET_DROPPED;
                return;
        }
        record->queued = queue->free_ns > ready_ns;
        record->start_ns = start_ns;
        record->link_ns = start_ns + (way->kbps > 0 ? (int64_t)((double)record->bytes * 8e6 / way->kbps) : 0);
        queue->free_ns = record->link_ns;
        record->verdict = weather_loses(&shaper->weather, record->direction) ? PACKET_LOST : PACKET_DELIVERED;
        record->due_ns = record->link_ns +
                         weather_delay_ns(&shaper->weather, record->direction, record->host_ns, record->link_ns);
        record->left_ns = MAX(record->host_ns - (int64_t)(way->delay_ms * NS_PER_MS), INT64_C(0));
        keep_order(queue, record);
}

static int push(struct queue *queue, struct shaped *shaped)
{
        size_t at;

        if (queue->n == queue->capacity) {
                size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
                struct shaped **list = calloc(capacity, sizeof(struct shaped *));

                if (!list)
                        return -ENOMEM;
                for (size_t i = 0; i < queue->n; i++)
                        list[i] = queue->list[(queue->first + i) % queue->capacity];
                free(queue->list);
                queue->list = list;
                queue->capacity = capacity;
                queue->first = 0;
        }
        at = queue->n++;
        for (; at > 0 && (*place_of(queue, at - 1))->record.due_ns > shaped->record.due_ns; at--)
                *place_of(queue, at) = *place_of(queue, at - 1);
        *place_of(queue, at) = shaped;
        queue->bytes += shaped->record.bytes;
        return 0;
}

int shaper_take(struct shaper *shaper, enum radio_direction direction, const uint8_t *bytes, size_t length,
                int64_t host_ns, int64_t now_ns)
{
        struct packet_record record = { .in_ns = now_ns, .bytes = (uint32_t)length, .direction = (uint8_t)direction,
                                        .host_ns = host_ns };
        struct packet_record early;
        struct radio_event event;
        struct shaped *shaped;

        name_peer(&record, bytes, length);
        record.woke = wakes(shaper, direction, length, now_ns);
        schedule(shaper, &record);
        early = record;
        early.out_ns = record.due_ns;
        if (shaper->plan.radio && !record.woke && record_event(&early, &event))
                coming_add(shaper, &event);
        if (record.verdict != PACKET_DELIVERED) {
                note(shaper, &record, bytes);
                return 0;
        }
        shaped = malloc(sizeof(*shaped) + length);
        if (!shaped)
                return -ENOMEM;
        shaped->record = record;
        memcpy(shaped->bytes, bytes, length);
        if (push(&shaper->queues[direction], shaped) < 0) {
                free(shaped);
                return -ENOMEM;
        }
        return 0;
}

static struct queue *next_queue(struct shaper *shaper)
{
        struct queue *best = NULL;

        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                struct queue *queue = &shaper->queues[d];

                if (queue->n && (!best || queue->list[queue->first]->record.due_ns <
                                                  best->list[best->first]->record.due_ns))
                        best = queue;
        }
        return best;
}

int64_t shaper_next_ns(const struct shaper *shaper)
{
        int64_t next_ns = INT64_MAX;

        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                const struct queue *queue = &shaper->queues[d];

                if (queue->n)
                        next_ns = MIN(next_ns, queue->list[queue->first]->record.due_ns);
        }
        return next_ns;
}

void shaper_end(struct shaper *shaper)
{
        struct queue *queue;

        while ((queue = next_queue(shaper))) {
                struct shaped *shaped = queue->list[queue->first];

                queue->first = (queue->first + 1) % queue->capacity;
                queue->n--;
                shaped->record.verdict = PACKET_WAITING;
                note(shaper, &shaped->record, shaped->bytes);
                free(shaped);
        }
}

struct shaped *shaper_give(struct shaper *shaper, int64_t now_ns)
{
        struct queue *queue = next_queue(shaper);
        struct shaped *shaped;

        if (!queue || queue->list[queue->first]->record.due_ns > now_ns)
                return NULL;
        shaped = queue->list[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->n--;
        queue->bytes -= shaped->record.bytes;
        shaped->record.out_ns = now_ns;
        note(shaper, &shaped->record, shaped->bytes);
        free(shaper->given);
        shaper->given = shaped;
        return shaped;
}
