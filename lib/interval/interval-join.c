/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Joins consecutive intervals to one, which is stored if somebody looked in between. */

#include <errno.h>
#include <string.h>

#include "interval.h"
#include "util/util.h"

/* Its row of that owner; rows come in nearly the same order, so the search begins where the last one ended. */
static struct interval_row *find(struct interval *sum, const struct interval_row *row, size_t *at)
{
        for (size_t i = 0; i < sum->n_rows; i++) {
                struct interval_row *found = &sum->rows[(*at + i) % sum->n_rows];

                if (found->uid == row->uid && found->state == row->state && strcmp(found->app, row->app) == 0) {
                        *at = (*at + i + 1) % sum->n_rows;
                        return found;
                }
        }
        return NULL;
}

static struct interval_row *add(struct interval *sum, const struct interval_row *row)
{
        struct interval_row *added;

        if (util_grow(&sum->rows, &sum->capacity, sum->n_rows + 1, sizeof(*sum->rows)) < 0)
                return NULL;
        added = &sum->rows[sum->n_rows++];
        *added = (struct interval_row){ .uid = row->uid, .state = row->state };
        memcpy(added->app, row->app, sizeof(added->app));
        return added;
}

/* Each has its own points from now on: the two had different shapes. */
static int join_rows(struct interval *sum, const struct interval *next)
{
        size_t at = 0;
        int err = 0;

        for (size_t i = 0; !err && i < next->n_rows; i++) {
                struct interval_row *row = find(sum, &next->rows[i], &at);

                if (!row)
                        row = add(sum, &next->rows[i]);
                if (!row)
                        return -ENOMEM;
                row->active_ns += next->rows[i].active_ns;
                if (!usage_is_empty(&next->rows[i].usage))
                        err = usage_add(&row->usage, &next->rows[i].usage);
        }
        for (size_t i = 0; i < sum->n_rows; i++)
                sum->rows[i].shaped = false;
        free(sum->shape.list);
        sum->shape = (struct points){ 0 };
        return err;
}

static void join_times(struct interval *sum, const struct interval *next)
{
        sum->end_realtime_ns = next->end_realtime_ns;
        sum->elapsed_ns += next->elapsed_ns;
        sum->suspend_ns += next->suspend_ns;
        sum->clock_step_ns += next->clock_step_ns;
        if (next->clock_step_ns)
                sum->start_realtime_ns = (int64_t)((uint64_t)next->end_realtime_ns - sum->elapsed_ns);
}

/* Energy of a suspend that was shown late goes to the suspend, if that is in @sum. */
static void join_discharge(struct interval *sum, const struct interval *next)
{
        sum->discharge_uj += next->discharge_uj;
        sum->discharge_percent += next->discharge_percent;
        sum->slept_uj += next->slept_uj;
        sum->slept_percent += next->slept_percent;
        if (sum->suspend_ns > 0)
                interval_add_slept(sum);
}

int interval_join(struct interval *sum, const struct interval *next)
{
        int err;

        if (sum->n_rows == 0) {
                sum->start_realtime_ns = next->start_realtime_ns;
                sum->have = next->have;
                sum->battery_have = next->battery_have;
                sum->split_by = next->split_by;
        }
        err = join_rows(sum, next);
        if (err)
                return err;
        join_discharge(sum, next);
        join_times(sum, next);
        sum->have &= next->have;
        sum->split_by = MIN(sum->split_by, next->split_by);
        sum->battery = next->battery;
        sum->battery_have &= next->battery_have;
        sum->signal = next->signal;
        return 0;
}
