/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-ladder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"
#include "util/wide.h"

/*
 * Number of packets of all owners in the last second, for each moment of a cluster. A cluster is a series of
 * bursts that are less than a second apart.
 */

#define RADIO_SLOT_MS 125
#define RADIO_SLOTS_PER_S 8

struct radio_rate {
        struct radio_slot *slots; /* the cluster, and the second before it */
        size_t capacity, n;
        int64_t first;            /* first slot, by radio_slot_of() */
};

static inline int64_t radio_slot_of(int64_t ms)
{
        return ms / RADIO_SLOT_MS;
}

/* Both ends are rounded down, so that lengths are right on average. */
static inline int64_t radio_first_ms(const struct radio_burst *burst)
{
        return burst->first_ns / (int64_t)NS_PER_MS;
}

static inline int64_t radio_last_ms(const struct radio_burst *burst)
{
        return burst->last_ns / (int64_t)NS_PER_MS;
}

static inline uint64_t radio_packets_of(const struct radio_burst *burst)
{
        return burst->packets[RADIO_TX] + burst->packets[RADIO_RX];
}

struct radio_slot {
        uint64_t packets, large;
        int64_t busy_ms; /* sum over its bursts; more than the slot where bursts overlap */
};

static void radio_rate_clear(struct radio_rate *rate)
{
        free(rate->slots);
        *rate = (struct radio_rate){ 0 };
}

/* Number of a burst's @n packets that come before @time_ms, if they are evenly spaced. */
static uint64_t radio_rate_before(const struct radio_burst *burst, uint64_t n, int64_t time_ms)
{
        int64_t first_ms = radio_first_ms(burst), long_ms = radio_last_ms(burst) - first_ms;

        if (time_ms > first_ms + long_ms)
                return n;
        return time_ms <= first_ms ? 0 : (uint64_t)((double)n * (double)(time_ms - first_ms) / (double)(long_ms + 1));
}

static struct radio_slot *slot_at(const struct radio_rate *rate, int64_t slot)
{
        return &rate->slots[slot - rate->first];
}

static void count_burst(const struct radio_rate *rate, const struct radio_burst *burst)
{
        int64_t first_ms = radio_first_ms(burst), last_ms = radio_last_ms(burst);
        uint64_t packets = 0, large = 0, all = radio_packets_of(burst);

        for (int64_t s = radio_slot_of(first_ms); s <= radio_slot_of(last_ms); s++) {
                int64_t from_ms = s * RADIO_SLOT_MS, to_ms = from_ms + RADIO_SLOT_MS;
                uint64_t to = radio_rate_before(burst, all, to_ms);
                uint64_t large_to = radio_rate_before(burst, burst->large, to_ms);

                slot_at(rate, s)->busy_ms += MIN(last_ms, to_ms) - MAX(first_ms, from_ms);
                slot_at(rate, s)->packets += to - packets;
                slot_at(rate, s)->large += large_to - large;
                packets = to;
                large = large_to;
        }
}

/* Replaces the cluster by the next one. @bursts is sorted by the first packets. Returns 0 or -ENOMEM. */
static int radio_rate_count(struct radio_rate *rate, const struct radio_burst *bursts, size_t n)
{
        int64_t first = radio_slot_of(radio_first_ms(&bursts[0])) - RADIO_SLOTS_PER_S, end = 0;
        struct radio_slot kept[RADIO_SLOTS_PER_S] = { 0 };
        int err;

        for (size_t i = 0; i < n; i++)
                end = MAX(end, radio_slot_of(radio_last_ms(&bursts[i])) + 1);
        for (int64_t s = 0; s < RADIO_SLOTS_PER_S; s++)
                if (first + s >= rate->first && first + s - rate->first < (int64_t)rate->n)
                        kept[s] = *slot_at(rate, first + s);
        err = util_grow(&rate->slots, &rate->capacity, (size_t)(end - first), sizeof(*rate->slots));
        if (err)
                return err;
        rate->first = first;
        rate->n = (size_t)(end - first);
        memset(rate->slots, 0, rate->n * sizeof(*rate->slots));
        memcpy(rate->slots, kept, sizeof(kept));
        for (size_t i = 0; i < n; i++)
                count_burst(rate, &bursts[i]);
        return 0;
}

/* Class of the packets in a slot of the cluster. */
static size_t radio_rate_class(const struct radio_rate *rate, const struct radio_shape *shape, int64_t slot)
{
        const struct radio_slot *now = slot_at(rate, slot);
        uint64_t packets = 0, large = 0;
        size_t class = 0;

        for (int64_t s = slot - RADIO_SLOTS_PER_S + 1; s <= slot; s++) {
                packets += slot_at(rate, s)->packets;
                large += slot_at(rate, s)->large;
        }
        if (packets >= RADIO_DENSE) {
                uint64_t busy_ms = (uint64_t)MIN(MAX(now->busy_ms, 1), RADIO_SLOT_MS);

                packets = MAX(RADIO_DENSE, now->packets * 1000 / busy_ms);
        }
        while (class + 1 < shape->n_rates && (int64_t)packets >= shape->rate[class + 1])
                class++;
        return class + (shape->sizes && large > 0 ? shape->n_rates : 0);
}

struct radio_ladder_work {
        /*
         * This poll's part of the open span at each rung. Its owners share it when the span ends, or at the
         * poll.
         */
        struct {
                int64_t up_ms[RADIO_CLASSES_MAX], early_ms[RADIO_AGES_MAX];
                uint64_t packets;
                bool any;
        } inside[RADIO_RUNGS_MAX];
        uint64_t *shares;     /* packets by rung, then by owner */
        size_t shares_capacity;
        uint64_t *numbers;    /* scratch: owner numbers, sorted */
        size_t numbers_capacity;
        struct radio_rate rate;
};

int radio_ladder_start(struct radio_ladder *ladder, const struct radio_shape *shape)
{
        *ladder = (struct radio_ladder){ .shape = shape, .work = calloc(1, sizeof(*ladder->work)) };
        return ladder->work ? 0 : -ENOMEM;
}

void radio_ladder_clear(struct radio_ladder *ladder)
{
        if (ladder->work) {
                free(ladder->work->shares);
                free(ladder->work->numbers);
                radio_rate_clear(&ladder->work->rate);
        }
        free(ladder->work);
        free(ladder->owners);
        free(ladder->cells);
        *ladder = (struct radio_ladder){ 0 };
}

static int compare_bursts(const void *a, const void *b)
{
        const struct radio_burst *left = a, *right = b;

        if (left->first_ns != right->first_ns)
                return left->first_ns < right->first_ns ? -1 : 1;
        return left->owner < right->owner ? -1 : left->owner > right->owner;
}

static int compare_numbers(const void *a, const void *b)
{
        const uint64_t *left = a, *right = b;

        return *left < *right ? -1 : *left > *right;
}

static int compare_owner(const void *key, const void *element)
{
        return compare_numbers(key, &((const struct radio_amounts *)element)->owner);
}

static size_t owner_of(const struct radio_ladder *ladder, uint64_t owner)
{
        return util_lower_bound(&owner, ladder->owners, ladder->n_owners, sizeof(*ladder->owners), compare_owner);
}

static size_t drop_repeated(uint64_t *numbers, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (kept == 0 || numbers[kept - 1] != numbers[i])
                        numbers[kept++] = numbers[i];
        return kept;
}

/* Lists all owners that this poll may charge: those of its bursts and the openers of open spans. */
static int prepare(struct radio_ladder *ladder, const struct radio_burst *bursts, size_t n_bursts)
{
        size_t rungs = ladder->shape->n_rungs, cells = radio_shape_cells(ladder->shape), n = 0;
        struct radio_ladder_work *work = ladder->work;
        int err;

        ladder->n_owners = 0;
        err = util_grow(&work->numbers, &work->numbers_capacity, n_bursts + rungs, sizeof(*work->numbers));
        if (err)
                return err;
        for (size_t k = 0; ladder->began && k < rungs; k++)
                work->numbers[n++] = ladder->rungs[k].opener;
        for (size_t i = 0; i < n_bursts; i++)
                if (n == 0 || work->numbers[n - 1] != bursts[i].owner)
                        work->numbers[n++] = bursts[i].owner;
        qsort(work->numbers, n, sizeof(*work->numbers), compare_numbers);
        n = drop_repeated(work->numbers, n);
        err = util_grow(&ladder->owners, &ladder->owners_capacity, n, sizeof(*ladder->owners));
        if (!err)
                err = util_grow(&ladder->cells, &ladder->cells_capacity, n * cells, sizeof(*ladder->cells));
        if (!err)
                err = util_grow(&work->shares, &work->shares_capacity, n * rungs, sizeof(*work->shares));
        if (err || n == 0)
                return err;
        for (size_t i = 0; i < n; i++)
                ladder->owners[i] = (struct radio_amounts){ .owner = work->numbers[i],
                                                            .cells = ladder->cells + i * cells };
        ladder->n_owners = n;
        memset(ladder->cells, 0, n * cells * sizeof(*ladder->cells));
        memset(work->shares, 0, n * rungs * sizeof(*work->shares));
        return 0;
}

/*
 * Splits @total. The shortcuts avoid a 128-bit division, which takes ten times as long and is seldom needed.
 */
static int64_t part_of(int64_t total, uint64_t part, uint64_t all)
{
        if (part == all)
                return total;
        if (total <= INT32_MAX && all <= INT32_MAX)
                return (int64_t)((uint64_t)total * part / all);
        return (int64_t)wide_divide((int_wide)total * part, all);
}

/* Each share is the difference of two rounded running totals, so the shares add up to @total exactly. */
static void share_cell(struct radio_ladder *ladder, size_t rung, size_t cell, int64_t total)
{
        const uint64_t *shares = ladder->work->shares + rung * ladder->n_owners;
        uint64_t so_far = 0;
        int64_t given = 0;

        for (size_t i = 0; i < ladder->n_owners; i++) {
                int64_t to;

                if (shares[i] == 0)
                        continue;
                so_far += shares[i];
                to = part_of(total, so_far, ladder->work->inside[rung].packets);
                ladder->owners[i].cells[cell] += to - given;
                given = to;
        }
}

/* Splits this poll's part of a rung's open span among its owners, in proportion to their packets. */
static void share(struct radio_ladder *ladder, size_t rung)
{
        struct radio_ladder_work *work = ladder->work;
        const struct radio_shape *shape = ladder->shape;
        size_t n = radio_shape_classes(shape);

        if (!work->inside[rung].any)
                return;
        for (size_t c = 0; (c = radio_next_cell(work->inside[rung].up_ms, c, n)) < n; c++)
                share_cell(ladder, rung, radio_cell_up(shape, c, rung), work->inside[rung].up_ms[c]);
        for (size_t d = 0; (d = radio_next_cell(work->inside[rung].early_ms, d, shape->n_ages)) < shape->n_ages; d++)
                share_cell(ladder, rung, radio_cell_early(shape, rung, d), work->inside[rung].early_ms[d]);
        memset(work->shares + rung * ladder->n_owners, 0, ladder->n_owners * sizeof(*work->shares));
        memset(&work->inside[rung], 0, sizeof(work->inside[rung]));
}

/* Lengthens the open span of a rung by @ms and counts the time in its early parts. */
static void grow(struct radio_ladder *ladder, size_t rung, int64_t ms)
{
        const struct radio_shape *shape = ladder->shape;
        int64_t from_ms = ladder->rungs[rung].age_ms, to_ms = from_ms + ms, lower_ms = 0;

        ladder->rungs[rung].age_ms = to_ms;
        if (shape->rung_ms[rung] < RADIO_EARLY_MS || from_ms >= shape->age_ms[shape->n_ages - 1])
                return;
        for (size_t d = 0; d < shape->n_ages && lower_ms < to_ms; d++) {
                int64_t a = MAX(from_ms, lower_ms), b = MIN(to_ms, shape->age_ms[d]);

                if (b > a)
                        ladder->work->inside[rung].early_ms[d] += b - a;
                lower_ms = shape->age_ms[d];
        }
}

/*
 * Counts the silence from the last packet until @until_ms; an earlier poll may have counted the first part of
 * it.
 * @next: owner of the packet that ends the silence then; SIZE_MAX: the silence goes on.
 */
static void be_silent(struct radio_ladder *ladder, int64_t until_ms, size_t next)
{
        const struct radio_shape *shape = ladder->shape;
        size_t class = ladder->last_class;
        bool ends = next != SIZE_MAX;

        for (size_t k = 0; k < shape->n_rungs; k++) {
                /* a radio with this timer sleeps from then on */
                int64_t asleep_ms = ladder->last_ms + shape->rung_ms[k];
                int64_t shared_ms = ladder->last_ms + MAX(shape->rung_ms[k], shape->share_ms);
                int64_t up_ms = MAX(0, MIN(until_ms, asleep_ms) - ladder->now_ms);
                /* true: the span's owners share this time; false: the opener pays for it */
                bool inside = ladder->began && until_ms < shared_ms && (ends || ladder->work->inside[k].packets > 0);

                if (inside)
                        ladder->work->inside[k].up_ms[class] += up_ms;
                else if (ladder->began)
                        ladder->owners[owner_of(ladder, ladder->rungs[k].opener)]
                                .cells[radio_cell_up(shape, class, k)] += up_ms;
                if (!ends)
                        continue;
                if (ladder->began && until_ms < asleep_ms) {
                        grow(ladder, k, until_ms - ladder->last_ms);
                        continue;
                }
                ladder->rungs[k].age_ms = 0;
                ladder->owners[next].cells[radio_cell_opened(shape, class, k)]++;
                if (inside)
                        continue;
                share(ladder, k);
                ladder->rungs[k].opener = ladder->owners[next].owner;
        }
        ladder->now_ms = MAX(ladder->now_ms, until_ms);
}

/* Counts the time until @until_ms within a burst: the radio is up at every rung. */
static void be_busy(struct radio_ladder *ladder, int64_t until_ms)
{
        const struct radio_shape *shape = ladder->shape;
        int64_t counted_ms = MAX(ladder->now_ms, ladder->last_ms), from_ms = ladder->last_ms;

        for (int64_t at = counted_ms; at < until_ms;) {
                int64_t to = MIN(until_ms, (radio_slot_of(at) + 1) * RADIO_SLOT_MS);
                size_t class = radio_rate_class(&ladder->work->rate, ladder->shape, radio_slot_of(at));

                for (size_t k = 0; k < shape->n_rungs; k++)
                        ladder->work->inside[k].up_ms[class] += to - at;
                at = to;
        }
        for (size_t k = 0; k < shape->n_rungs; k++)
                grow(ladder, k, until_ms - from_ms);
        ladder->last_ms = until_ms;
        ladder->now_ms = MAX(ladder->now_ms, until_ms);
}

static void count_packets(struct radio_ladder *ladder, const struct radio_burst *burst, size_t owner)
{
        struct radio_amounts *amounts = &ladder->owners[owner];
        uint64_t all = radio_packets_of(burst), sent[RADIO_DIRECTIONS] = { 0 };

        for (size_t k = 0; k < ladder->shape->n_rungs; k++) {
                ladder->work->shares[k * ladder->n_owners + owner] += all;
                ladder->work->inside[k].packets += all;
                ladder->work->inside[k].any = true;
        }
        for (int64_t s = radio_slot_of(radio_first_ms(burst)); s <= radio_slot_of(radio_last_ms(burst)); s++) {
                size_t class = radio_rate_class(&ladder->work->rate, ladder->shape, s);

                for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                        uint64_t to = radio_rate_before(burst, burst->packets[d], (s + 1) * RADIO_SLOT_MS);

                        amounts->cells[radio_cell_packets(class, d)] += (int64_t)(to - sent[d]);
                        sent[d] = to;
                }
        }
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                amounts->bytes[d] += burst->bytes[d];
}

static void add_burst(struct radio_ladder *ladder, const struct radio_burst *burst)
{
        int64_t first_ms = radio_first_ms(burst), last_ms = radio_last_ms(burst);
        size_t owner = owner_of(ladder, burst->owner);

        if (radio_packets_of(burst) == 0)
                return;
        if (!ladder->began || first_ms > ladder->last_ms) {
                be_silent(ladder, first_ms, owner);
                ladder->last_ms = first_ms;
                ladder->began = true;
        }
        count_packets(ladder, burst, owner);
        if (last_ms < ladder->last_ms)
                return;
        be_busy(ladder, last_ms);
        ladder->last_class = radio_rate_class(&ladder->work->rate, ladder->shape, radio_slot_of(last_ms));
}

int radio_ladder_poll(struct radio_ladder *ladder, struct radio_burst *bursts, size_t n, int64_t until_ns)
{
        const int64_t apart_ns = (int64_t)NS_PER_S;
        int err;

        for (size_t i = 0; i < n; i++) {
                bursts[i].last_ns = MIN(bursts[i].last_ns, until_ns);
                bursts[i].first_ns = MIN(bursts[i].first_ns, bursts[i].last_ns);
        }
        if (n > 0)
                qsort(bursts, n, sizeof(*bursts), compare_bursts);
        err = prepare(ladder, bursts, n);
        for (size_t i = 0, j; !err && i < n; i = j) {
                int64_t last_ns = bursts[i].last_ns;

                for (j = i + 1; j < n && bursts[j].first_ns < last_ns + apart_ns; j++)
                        last_ns = MAX(last_ns, bursts[j].last_ns);
                err = radio_rate_count(&ladder->work->rate, bursts + i, j - i);
                for (size_t b = i; !err && b < j; b++)
                        add_burst(ladder, &bursts[b]);
        }
        if (err) {
                ladder->n_owners = 0;
                return err;
        }
        if (!ladder->began)
                return 0;
        be_silent(ladder, until_ns / (int64_t)NS_PER_MS, SIZE_MAX);
        for (size_t k = 0; k < ladder->shape->n_rungs; k++)
                share(ladder, k);
        return 0;
}
