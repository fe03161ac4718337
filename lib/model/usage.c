/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

void usage_clear(struct usage *usage)
{
        for (size_t k = 0; k < KEYED_COUNT; k++)
                if (usage->keyed[k].list) /* most have none */
                        free(usage->keyed[k].list);
        *usage = (struct usage){ 0 };
}

static int copy_points(struct points *to, const struct points *from)
{
        struct point *list = from->n ? reallocarray(NULL, from->n, sizeof(*list)) : NULL;

        if (from->n && !list)
                return -ENOMEM;
        if (list)
                memcpy(list, from->list, from->n * sizeof(*list));
        *to = (struct points){ list, from->n };
        return 0;
}

int usage_copy(struct usage *to, const struct usage *from)
{
        struct usage copy = *from;
        int err = 0;

        memset(copy.keyed, 0, sizeof(copy.keyed));
        for (size_t k = 0; k < KEYED_COUNT && !err; k++)
                err = copy_points(&copy.keyed[k], &from->keyed[k]);
        if (err)
                usage_clear(&copy);
        else
                *to = copy;
        return err;
}

uint64_t usage_there_add(struct usage_there *there, int64_t end_ns, uint64_t awake_ns, uint64_t active_ns)
{
        if (there->end_ns != end_ns)
                there->span_ns = 0;
        there->end_ns = end_ns;
        if (awake_ns > 0)
                active_ns = MIN(active_ns, there->span_ns < awake_ns ? awake_ns - there->span_ns : 0);
        there->span_ns += active_ns;
        there->ns += active_ns;
        return active_ns;
}

double usage_there_ns(double ns, const struct usage *base)
{
        return base->time_ns > 0 ? fmin(ns, (double)base->time_ns) : ns;
}

static int add(uint64_t *to, uint64_t amount)
{
        return __builtin_add_overflow(*to, amount, to) ? -EOVERFLOW : 0;
}

int usage_point_compare(const struct point *a, const struct point *b)
{
        if (a->group != b->group)
                return a->group < b->group ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

/* Lists grow by one; they hold a few dozen entries at most on the machines we know. */
static int insert(struct points *points, size_t at, const struct point *point)
{
        struct point *grown = reallocarray(points->list, points->n + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        memmove(grown + at + 1, grown + at, (points->n - at) * sizeof(*grown));
        grown[at] = *point;
        points->list = grown;
        points->n++;
        return 0;
}

/* @at: where to look first, as most lists have the same points; gets where it was found. */
static int add_point(struct points *points, const struct point *point, size_t *at)
{
        int err;

        while (*at < points->n && usage_point_compare(&points->list[*at], point) < 0)
                (*at)++;
        if (*at == points->n || usage_point_compare(&points->list[*at], point) != 0)
                return insert(points, *at, point);
        err = add(&points->list[*at].ns, point->ns);
        return err ? err : add(&points->list[*at].any_ns, point->any_ns);
}

static void cut(uint64_t *amount, uint64_t from, uint64_t to, uint64_t of)
{
        *amount = mul_div(*amount, to, of) - mul_div(*amount, from, of);
}

void usage_cut(struct usage *usage, uint64_t from, uint64_t to, uint64_t of)
{
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                cut(&usage->amount[i], from, to, of);
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; i < usage->keyed[k].n; i++) {
                        cut(&usage->keyed[k].list[i].ns, from, to, of);
                        cut(&usage->keyed[k].list[i].any_ns, from, to, of);
                }
}

int usage_points_add(struct points *points, const struct point *point)
{
        size_t at = 0;

        return add_point(points, point, &at);
}

int usage_add_point(struct usage *usage, enum keyed keyed, const struct point *point)
{
        return usage_points_add(&usage->keyed[keyed], point);
}

int usage_add_cpu(struct usage *usage, uint32_t policy, uint32_t khz, uint64_t busy_ns, uint64_t any_ns)
{
        return usage_add_point(usage, KEYED_CPU,
                               &(struct point){ .policy = policy, .khz = khz, .busy_ns = busy_ns, .any_ns = any_ns });
}

int usage_add_screen(struct usage *usage, uint32_t brightness, uint64_t on_ns)
{
        return usage_add_point(usage, KEYED_SCREEN, &(struct point){ .brightness = brightness, .on_ns = on_ns });
}

bool usage_is_empty(const struct usage *usage)
{
        return usage->have == 0 && usage_is_zero(usage) && usage->time_ns == 0 && usage->suspend_ns == 0;
}

/* How many points of @from @to does not have. */
static size_t count_new(const struct points *to, const struct points *from)
{
        size_t n = 0;

        for (size_t i = 0, at = 0; i < from->n; i++) {
                while (at < to->n && usage_point_compare(&to->list[at], &from->list[i]) < 0)
                        at++;
                n += at == to->n || usage_point_compare(&to->list[at], &from->list[i]) != 0;
        }
        return n;
}

/* From the back, so that none is moved twice. -EINVAL: @from is not ascending. */
static int merge_points(struct points *to, const struct points *from)
{
        size_t n = count_new(to, from), end = to->n + n, old = to->n;
        int err = 0;

        if (n > 0) {
                struct point *grown = reallocarray(to->list, end, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                to->list = grown;
                to->n = end;
        }
        for (size_t i = from->n; i-- > 0 && !err;) {
                const struct point *point = &from->list[i];

                while (old > 0 && usage_point_compare(&to->list[old - 1], point) > 0)
                        to->list[--end] = to->list[--old];
                if (old > 0 && usage_point_compare(&to->list[old - 1], point) == 0) {
                        to->list[--end] = to->list[--old];
                        err = add(&to->list[end].ns, point->ns);
                        if (!err)
                                err = add(&to->list[end].any_ns, point->any_ns);
                } else if (end == old) {
                        err = -EINVAL; /* there is no room for one that count_new() took for another */
                } else {
                        to->list[--end] = *point;
                }
        }
        return err;
}

static int add_points(struct points *to, const struct points *from)
{
        if (from->n == 0)
                return 0;
        return to->list ? merge_points(to, from) : copy_points(to, from);
}

int usage_add(struct usage *to, const struct usage *from)
{
        uint32_t have = usage_is_empty(to) ? from->have : to->have & from->have;
        int err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                err = add(&to->amount[i], from->amount[i]);
        for (size_t k = 0; !err && k < KEYED_COUNT; k++)
                err = add_points(&to->keyed[k], &from->keyed[k]);
        if (!err)
                to->have = have;
        return err;
}

static bool has_points(const struct usage *usage)
{
        for (size_t k = 0; k < KEYED_COUNT; k++)
                if (usage->keyed[k].list)
                        return true;
        return false;
}

int usage_move(struct usage *to, struct usage *from)
{
        int err = 0;

        if (usage_is_empty(to) && !has_points(to)) {
                *to = *from;
                *from = (struct usage){ 0 };
        } else {
                err = usage_add(to, from);
                usage_clear(from);
        }
        return err;
}

uint64_t usage_points_sum_ns(const struct points *points)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < points->n; i++)
                sum += points->list[i].ns;
        return sum;
}

uint64_t usage_busy_ns(const struct usage *usage)
{
        return usage_points_sum_ns(&usage->cpu);
}

uint64_t usage_screen_ns(const struct usage *usage)
{
        return usage_points_sum_ns(&usage->screen);
}

void usage_signal_shares(const struct usage *usage, const uint32_t *minus_dbm, size_t n, double *share)
{
        double all = (double)usage->wifi_rx_bytes + (double)usage->wifi_tx_bytes, within;

        for (size_t i = 0; i < n; i++)
                share[i] = 0;
        for (size_t i = 0; n > 0 && i < usage->signal.n; i++) {
                const struct point *point = &usage->signal.list[i];
                double part = all > 0 ? (double)point->bytes / all : 0;
                size_t above = 0;

                while (above < n && minus_dbm[above] < point->minus_dbm)
                        above++;
                if (above == 0 || above == n) {
                        share[above == 0 ? 0 : n - 1] += part;
                        continue;
                }
                within = (double)(point->minus_dbm - minus_dbm[above - 1]) /
                         (double)(minus_dbm[above] - minus_dbm[above - 1]);
                share[above - 1] += (1 - within) * part;
                share[above] += within * part;
        }
}

bool usage_is_zero(const struct usage *usage)
{
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                if (usage->amount[i])
                        return false;
        for (size_t k = 0; k < KEYED_COUNT; k++)
                if (k != KEYED_IDLE && usage_points_sum_ns(&usage->keyed[k]))
                        return false;
        return true;
}

int usage_points_share(const struct points *shape, uint64_t total, struct points *ret)
{
        uint64_t sum = usage_points_sum_ns(shape), running = 0, given = 0;
        struct points points = { 0 };

        if (shape->n == 0 || total == 0) {
                *ret = points;
                return 0;
        }
        points.list = calloc(shape->n, sizeof(*points.list));
        if (!points.list)
                return -ENOMEM;
        for (size_t i = 0; i < shape->n; i++) {
                const struct point *weight = &shape->list[i];
                uint64_t until, part;

                running += weight->ns;
                until = sum ? mul_div(total, running, sum) : total; /* no weights: all to the first */
                part = until - given;
                given = until;
                if (part == 0)
                        continue;
                points.list[points.n] = *weight;
                points.list[points.n].ns = part;
                points.list[points.n++].any_ns = mul_div(weight->any_ns, part, weight->ns);
        }
        *ret = points;
        return 0;
}
