/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Spans between level steps. The time of a step within the poll that saw it is not known: on average it is half of the
 * poll before its end, and half of the battery's refresh before that. The usage of that part of the poll belongs to
 * the next span. If all of it were in the span before, a span that begins bright and ends dark would seem to have
 * taken too much.
 */

#include "everyday-private.h"
#include "signal-mean.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/*
 * Length of a span. With 1 % steps it is one step. With finer steps the error of a step, and of the poll that sees it
 * late, must be small against the span, which needs SPAN_PERCENT of charge and SPAN_NS of time. A gauge is fine if its
 * steps are smaller than COARSE_PERCENT.
 */
#define SPAN_PERCENT 0.5
#define SPAN_NS (180 * NS_PER_S)
#define COARSE_PERCENT 0.75
#define ROUNDING_PERCENT 1e-6

/* A larger step is a correction of the gauge, not usage. */
#define JUMP_PERCENT 3
/* A suspended device follows another model, and its level steps are not seen. */
#define MOST_SUSPEND_NS (5 * NS_PER_S)

/* Mean delay of a level's refresh; batteries of 1 to 30 s were seen. */
#define REFRESH_NS (5 * NS_PER_S)

struct walk {
        int64_t after_ns;
        struct everyday *list;
        size_t n, capacity;

        struct everyday span; /* the span that is open, if `open` */
        bool open;
        size_t capacity_of_uses;
        size_t hint;          /* index where the search for the next use begins: rows come in about the same order */
        double level_begin;
        struct signal_mean signal;

        bool has_before;      /* the poll before: */
        struct store_poll before;
        double finest;        /* the smallest step so far, percent */
};

void everyday_clear(struct everyday *everyday)
{
        for (size_t i = 0; i < everyday->n_uses; i++)
                usage_clear(&everyday->uses[i].usage);
        free(everyday->uses);
        *everyday = (struct everyday){ 0 };
}

void everyday_free(struct everyday *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                everyday_clear(&list[i]);
        free(list);
}

static void drop(struct walk *walk)
{
        everyday_clear(&walk->span);
        walk->open = false;
        walk->capacity_of_uses = walk->hint = 0;
        walk->signal = (struct signal_mean){ 0 };
}

static void walk_clear(struct walk *walk)
{
        drop(walk);
        everyday_free(walk->list, walk->n);
}

/* Can the usage of this poll be compared with the battery's energy? Not on a charger: the energy is unknown there. */
static bool is_sound(const struct store_poll *poll)
{
        return poll->discharge_percent <= JUMP_PERCENT && poll->suspend_ns <= MOST_SUSPEND_NS;
}

static bool has_cpu_time(const struct store_poll *poll)
{
        for (size_t i = 0; i < poll->n_rows; i++)
                if (usage_busy_ns(poll->rows[i].usage) > 0)
                        return true;
        return false;
}

static struct everyday_use *find_use(struct walk *walk, const struct store_row *row)
{
        struct everyday *span = &walk->span;

        for (size_t i = 0; i < span->n_uses; i++) {
                size_t at = (walk->hint + i) % span->n_uses;
                struct everyday_use *use = &span->uses[at];

                if (use->state != row->state || strcmp(use->app, row->app) != 0)
                        continue;
                walk->hint = at + 1;
                return use;
        }
        if (util_grow(&span->uses, &walk->capacity_of_uses, span->n_uses + 1, sizeof(*span->uses)) < 0)
                return NULL;
        span->uses[span->n_uses] = (struct everyday_use){ .state = row->state };
        snprintf(span->uses[span->n_uses].app, sizeof(span->uses->app), "%s", row->app);
        walk->hint = 0;
        return &span->uses[span->n_uses++];
}

/* Which part of a poll. */
struct part {
        uint64_t from, to, of; /* ns in it */
};

static struct part whole(const struct store_poll *poll)
{
        return (struct part){ 0, poll->elapsed_ns, poll->elapsed_ns };
}

/* When the step that a poll saw happened, on average. */
static uint64_t step_ns(const struct store_poll *poll)
{
        uint64_t late_ns = poll->elapsed_ns / 2 + REFRESH_NS;

        return poll->elapsed_ns - MIN(late_ns, poll->elapsed_ns);
}

static int add_part(struct usage *to, const struct usage *from, const struct part *part)
{
        struct usage cut = { 0 };
        int err;

        if (part->from == 0 && part->to == part->of)
                return usage_add(to, from);
        err = usage_copy(&cut, from);
        if (!err) {
                usage_cut(&cut, part->from, part->to, part->of);
                err = usage_add(to, &cut);
        }
        usage_clear(&cut);
        return err;
}

static int add_uses(struct walk *walk, const struct store_poll *poll, const struct part *part)
{
        double share = part->of > 0 ? (double)(part->to - part->from) / (double)part->of : 0;
        int err = 0;

        for (size_t i = 0; !err && i < poll->n_rows; i++) {
                struct everyday_use *use = find_use(walk, &poll->rows[i]);

                if (!use)
                        return -ENOMEM;
                use->active_s += share * (double)poll->rows[i].active_ns / NS_PER_S;
                err = add_part(&use->usage, poll->rows[i].usage, part);
        }
        return err;
}

/* Adds the usage of a part of a poll to the open span. */
static int extend(struct walk *walk, const struct store_poll *poll, struct part part)
{
        const struct battery *battery = &poll->battery;
        struct everyday *span = &walk->span;
        uint64_t elapsed_ns = part.to - part.from;

        if (elapsed_ns == 0)
                return 0;
        span->elapsed_ns += elapsed_ns;
        span->gauge_j += battery->have & BATTERY_POWER
                                 ? (double)battery->power_uw / 1e6 * (double)elapsed_ns / NS_PER_S : NAN;
        signal_mean_add(&walk->signal, &poll->signal, (double)elapsed_ns);
        span->shared = span->shared || (poll->split_by == SPLIT_SHARED && has_cpu_time(poll));
        return add_uses(walk, poll, &part);
}

/* Adds the battery's discharge up to its step to the span that ends with the step. */
static void discharge(struct walk *walk, const struct store_poll *poll)
{
        walk->span.energy_j += poll->discharge_j;
        walk->span.percent += poll->discharge_percent;
}

static int begin(struct walk *walk, const struct store_poll *poll, bool follows)
{
        walk->span = (struct everyday){ .start_ns = poll->end_ns, .follows = follows };
        walk->open = true;
        walk->capacity_of_uses = walk->hint = 0;
        walk->signal = (struct signal_mean){ 0 };
        walk->level_begin = store_level_percent(&poll->battery, poll->battery.have);
        return extend(walk, poll, (struct part){ step_ns(poll), poll->elapsed_ns, poll->elapsed_ns });
}

static bool is_long_enough(const struct walk *walk, const struct store_poll *poll)
{
        return walk->span.percent >= SPAN_PERCENT - ROUNDING_PERCENT &&
               (walk->span.elapsed_ns + step_ns(poll) >= SPAN_NS || walk->finest >= COARSE_PERCENT);
}

static void cap_times(struct everyday *span)
{
        const struct usage none = { 0 }, *base = &none;

        for (size_t i = 0; i < span->n_uses; i++)
                if (!*span->uses[i].app)
                        base = &span->uses[i].usage;
        for (size_t i = 0; i < span->n_uses; i++)
                span->uses[i].active_s = usage_there_ns(span->uses[i].active_s * NS_PER_S, base) / NS_PER_S;
}

static int finish(struct walk *walk, const struct store_poll *poll)
{
        struct everyday *span = &walk->span;
        int err = util_grow(&walk->list, &walk->capacity, walk->n + 1, sizeof(*walk->list));

        if (!err)
                err = everyday_merge_small(span);
        if (err)
                return err;
        cap_times(span);
        span->end_ns = poll->end_ns;
        span->late_s = (double)poll->elapsed_ns / NS_PER_S;
        span->wifi_signal_dbm = signal_mean_wifi_dbm(&walk->signal);
        span->cellular_signal_percent = signal_mean_cellular_percent(&walk->signal);
        span->level = (walk->level_begin + store_level_percent(&poll->battery, poll->battery.have)) / 2;
        walk->list[walk->n++] = *span;
        *span = (struct everyday){ 0 };
        walk->open = false;
        return 0;
}

static int take(struct walk *walk, const struct store_poll *poll)
{
        bool stepped = poll->discharge_percent > 0, follows = poll->end_ns == walk->after_ns;
        int err = 0;

        if (stepped)
                walk->finest = MIN(walk->finest, poll->discharge_percent);
        if (walk->open)
                discharge(walk, poll);
        if (walk->open && stepped && is_long_enough(walk, poll)) {
                err = extend(walk, poll, (struct part){ 0, step_ns(poll), poll->elapsed_ns });
                if (!err)
                        err = finish(walk, poll);
                follows = true;
        } else if (walk->open) {
                err = extend(walk, poll, whole(poll));
        }
        if (err == -EOVERFLOW) { /* amounts that no device has */
                drop(walk);
                err = 0;
                follows = false;
        }
        if (!err && stepped && !walk->open)
                err = begin(walk, poll, follows);
        return err;
}

/* Does the open span, if there is one, go on with this poll? */
static bool goes_on(const struct walk *walk, const struct store_poll *poll)
{
        return walk->has_before && store_goes_on(&walk->before, poll) && is_sound(poll);
}

/* Are the rows of this poll used? Not on a charger, nor between a gap and the next step. */
static bool needs_rows(const void *data, const struct store_poll *poll)
{
        const struct walk *walk = data;

        return (walk->open && goes_on(walk, poll)) || (is_sound(poll) && poll->discharge_percent > 0);
}

static int each_poll(void *data, const struct store_poll *poll)
{
        struct walk *walk = data;
        int err = 0;

        if (!goes_on(walk, poll))
                drop(walk);
        if (is_sound(poll))
                err = take(walk, poll);
        walk->has_before = true;
        walk->before = *poll;
        return err;
}

/*
 * The newest known span ended with a step; if the poll of that step is still stored, it is the first one that is read,
 * and the next span begins with it. If no poll ended since, the clock may have been set back.
 */
int everyday_read_store(struct store *store, int64_t after_ns, struct everyday **ret, size_t *n)
{
        _cleanup_(walk_clear) struct walk walk = { .after_ns = after_ns, .finest = INFINITY };
        int err = store_polls_that(store, after_ns == INT64_MIN ? after_ns : after_ns - 1, INT64_MAX, needs_rows,
                                   each_poll, &walk);

        if (!err && !walk.has_before)
                err = store_polls_that(store, INT64_MIN, INT64_MAX, needs_rows, each_poll, &walk);
        if (err)
                return err;
        *ret = TAKE_PTR(walk.list);
        *n = walk.n;
        walk.n = 0;
        return 0;
}
