/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Packets over radios: from bursts of processes to amounts of owners. An app may pay for a silence that it
 * began polls ago, so the ladder's owners are remembered beyond the poll, and may have a row although no
 * process of them is there any more.
 */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "model/radio-usage.h"
#include "util/util.h"

#define OWNER_BASE 0

/* The number by which the ladders know an app of a user; the list is ascending by number. */
struct radio_owner {
        uint64_t number;
        uid_t uid;
        char app[APP_ID_MAX];
};

struct radio_owners {
        struct radio_shape shape;
        struct radio_ladder ladders[AIR_COUNT];
        struct radio_burst *bursts; /* scratch: bursts of one kind of radio */
        size_t bursts_capacity;
        struct radio_owner *list;
        size_t n, capacity;
        uint64_t last_number;
};

void radio_owners_free(struct radio_owners *owners)
{
        if (!owners)
                return;
        for (size_t i = 0; i < AIR_COUNT; i++)
                radio_ladder_clear(&owners->ladders[i]);
        free(owners->bursts);
        free(owners->list);
        free(owners);
}

static int start(struct radio_owners **ret)
{
        struct radio_owners *owners = calloc(1, sizeof(*owners));
        int err = owners ? 0 : -ENOMEM;

        if (!err)
                radio_shape_stored(&owners->shape);
        for (size_t i = 0; !err && i < AIR_COUNT; i++)
                err = radio_ladder_start(&owners->ladders[i], &owners->shape);
        if (err)
                radio_owners_free(owners);
        else
                *ret = owners;
        return err;
}

static int compare_number(const void *key, const void *element)
{
        const uint64_t *number = key;
        const struct radio_owner *owner = element;

        return *number < owner->number ? -1 : *number > owner->number;
}

static const struct radio_owner *find_owner(const struct radio_owners *owners, uint64_t number)
{
        size_t at = util_lower_bound(&number, owners->list, owners->n, sizeof(*owners->list), compare_number);

        return at < owners->n && owners->list[at].number == number ? &owners->list[at] : NULL;
}

/* An app that starts again after all its processes ended is a new struct live_app, but the same owner. */
static const struct radio_owner *find_app(const struct radio_owners *owners, const struct live_app *app)
{
        for (size_t i = 0; i < owners->n; i++)
                if (owners->list[i].uid == app->uid && strcmp(owners->list[i].app, app->app) == 0)
                        return &owners->list[i];
        return NULL;
}

static int number_of(struct radio_owners *owners, struct live_app *app, uint64_t *ret)
{
        const struct radio_owner *found = find_owner(owners, app->radio_owner);

        if (!found)
                found = find_app(owners, app);
        if (!found) {
                struct radio_owner *owner;

                if (util_grow(&owners->list, &owners->capacity, owners->n + 1, sizeof(*owners->list)) < 0)
                        return -ENOMEM;
                owner = &owners->list[owners->n++];
                *owner = (struct radio_owner){ .number = ++owners->last_number, .uid = app->uid };
                memcpy(owner->app, app->app, sizeof(owner->app));
                found = owner;
        }
        *ret = app->radio_owner = found->number;
        return 0;
}

/* NULL: no sample listed the process; its packets belong to the base. */
static const struct held *find_process(const struct held_table *table, const struct process_id *id)
{
        const struct held *held = held_find_pid(table, id->pid, NULL);

        while (held && held->process.start_time != id->start_time)
                held = held_find_pid(table, id->pid, held);
        return held;
}

static int collect_bursts(const struct making *making, struct radio_owners *owners, enum air air, size_t *ret)
{
        const struct sample *now = making->now;
        size_t n = 0;
        int err = util_grow(&owners->bursts, &owners->bursts_capacity, now->n_bursts, sizeof(*owners->bursts));

        for (size_t i = 0; !err && i < now->n_bursts; i++) {
                const struct held *held;

                if (now->bursts[i].air != air)
                        continue;
                held = find_process(&making->maker->held, &now->bursts[i].process);
                owners->bursts[n] = now->bursts[i].burst;
                owners->bursts[n].owner = OWNER_BASE;
                if (held)
                        err = number_of(owners, held->app, &owners->bursts[n].owner);
                n++;
        }
        *ret = n;
        return err;
}

static struct interval_row *find_row(const struct making *making, const struct radio_owner *owner, enum app_state state)
{
        for (size_t i = 1; i < making->interval->n_rows; i++) {
                struct interval_row *row = &making->interval->rows[i];

                if (row->state == state && row->uid == owner->uid && strcmp(row->app, owner->app) == 0)
                        return row;
        }
        return NULL;
}

/* True for an app that woke the radio once, and after whose packets all timers have expired. */
static bool is_nothing(const struct radio_shape *shape, const struct radio_amounts *amounts)
{
        size_t n = radio_shape_cells(shape);

        return radio_next_cell(amounts->cells, 0, n) == n;
}

static int add_part(struct making *making, const struct radio_owner *owner, enum app_state state, enum air air,
                    const struct radio_amounts *amounts, const uint64_t part[3])
{
        struct interval_row *row;

        if (part[0] == part[1])
                return 0;
        row = find_row(making, owner, state);
        if (!row)
                row = interval_add_row(making, owner->app, owner->uid, state);
        return row ? radio_usage_append(&row->usage.radio, air, &making->maker->radio->shape, amounts, part) : -ENOMEM;
}

/* Splits among the app's states, by the time that it spent in each. */
static int add_to_owner(struct making *making, const struct radio_owner *owner, enum air air,
                        const struct radio_amounts *amounts)
{
        const struct interval_row *front = find_row(making, owner, STATE_FOREGROUND),
                                  *behind = find_row(making, owner, STATE_BACKGROUND);
        uint64_t front_ns = front ? front->active_ns : 0, all_ns = front_ns + (behind ? behind->active_ns : 0);
        int err;

        if (all_ns == 0) {
                front_ns = front && !behind;
                all_ns = 1;
        }
        err = add_part(making, owner, STATE_FOREGROUND, air, amounts, (uint64_t[]){ 0, front_ns, all_ns });
        return err ? err : add_part(making, owner, STATE_BACKGROUND, air, amounts,
                                    (uint64_t[]){ front_ns, all_ns, all_ns });
}

static int share(struct making *making, enum air air)
{
        struct radio_owners *owners = making->maker->radio;
        struct radio_ladder *ladder = &owners->ladders[air];
        size_t n;
        int err = collect_bursts(making, owners, air, &n);

        if (!err)
                err = radio_ladder_poll(ladder, owners->bursts, n, (int64_t)making->now->boottime_ns);
        for (size_t i = 0; !err && i < ladder->n_owners; i++) {
                const struct radio_owner *owner = find_owner(owners, ladder->owners[i].owner);

                if (is_nothing(&owners->shape, &ladder->owners[i]))
                        continue;
                err = owner ? add_to_owner(making, owner, air, &ladder->owners[i]) :
                              radio_usage_append(&making->interval->rows[0].usage.radio, air, &owners->shape,
                                                 &ladder->owners[i], (uint64_t[]){ 0, 1, 1 });
        }
        return err;
}

static bool is_opener(const struct radio_owners *owners, uint64_t number)
{
        for (size_t a = 0; a < AIR_COUNT; a++)
                for (size_t k = 0; k < owners->shape.n_rungs; k++)
                        if (owners->ladders[a].rungs[k].opener == number)
                                return true;
        return false;
}

static void forget_others(struct radio_owners *owners)
{
        size_t kept = 0;

        for (size_t i = 0; i < owners->n; i++)
                if (is_opener(owners, owners->list[i].number))
                        owners->list[kept++] = owners->list[i];
        owners->n = kept;
}

int interval_count_radio(struct making *making)
{
        struct interval *interval = making->interval;
        struct interval_maker *maker = making->maker;
        uint32_t base_have = interval->rows[0].usage.have;
        int err = 0;

        if (!(making->now->have & SAMPLE_BURSTS) || maker->missed_bursts) {
                maker->missed_bursts = false;
                radio_owners_free(TAKE_PTR(maker->radio)); /* the next known bursts begin anew */
                return 0;
        }
        if (!maker->radio)
                err = start(&maker->radio);
        for (enum air air = 0; !err && air < AIR_COUNT; air++)
                err = share(making, air);
        if (err)
                return err;
        forget_others(maker->radio);
        for (size_t i = 0; i < interval->n_rows; i++) {
                struct usage *usage = &interval->rows[i].usage;

                if (usage->have == 0 && usage->radio.n > 0)
                        usage->have = base_have; /* the packets are its only usage */
                if (usage->have)
                        usage->have |= USAGE_RADIO;
        }
        return 0;
}
