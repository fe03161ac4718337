/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* Earlier times are not since 1970: nobody recorded any before 2001. */
#define REALTIME_LEAST_S 1e9

static int64_t ns_of(double seconds)
{
        return (int64_t)(fmax(fmin(seconds, 9e9), -9e9) * NS_PER_S);
}

/* This offset is added to the trace's seconds. */
static double shift_s(const struct measured_trace *trace, int64_t now_ns)
{
        const struct measured_span *last = &trace->spans[trace->n - 1];
        double end_s = last->start_s + last->elapsed_s, now_s = (double)now_ns / NS_PER_S;

        return trace->spans[0].start_s >= REALTIME_LEAST_S && end_s <= now_s ? 0 : now_s - end_s;
}

/* In the middle of the span; where no level is known, in the middle of the battery. */
static double level_of(const struct measured_span *span)
{
        if (isnan(span->percent))
                return 50;
        return fmin(span->percent + (isnan(span->used_percent) ? 0 : span->used_percent / 2), 100);
}

static int make_row(struct measured_span *span, double full_mwh, double shift, struct everyday *ret)
{
        *ret = (struct everyday){ .start_ns = ns_of(span->start_s + shift),
                                  .elapsed_ns = (uint64_t)ns_of(span->elapsed_s),
                                  .follows = span->follows, .energy_j = span->energy_j, .late_s = span->late_s,
                                  .percent = span->energy_j / J_PER_PERCENT(full_mwh), .level = level_of(span),
                                  .metered = span->by == MEASURED_BY_METER, .wifi_signal_dbm = NAN,
                                  .cellular_signal_percent = NAN, .gauge_j = NAN };
        ret->end_ns = ret->start_ns + (int64_t)ret->elapsed_ns;
        if (span->by == MEASURED_BY_PERCENT)
                ret->energy_j = NAN;
        ret->uses = calloc(span->n_owners, sizeof(*ret->uses));
        if (!ret->uses)
                return -ENOMEM;
        for (size_t i = 0; i < span->n_owners; i++) {
                struct measured_owner *owner = &span->owners[i];
                struct everyday_use *use = &ret->uses[ret->n_uses++];

                *use = (struct everyday_use){ .state = owner->state, .active_s = owner->base ? 0 : owner->active_s,
                                              .usage = owner->usage };
                if (!owner->base)
                        snprintf(use->app, sizeof(use->app), "%s", owner->name);
                owner->usage = (struct usage){ 0 };
        }
        return 0;
}

int trace_rows(struct measured_trace *trace, double full_mwh, int64_t now_ns, struct everyday **ret, size_t *n,
               size_t *left_out,
               uint32_t *unknown)
{
        struct everyday *list;
        size_t made = 0;
        int err = measured_resolve(trace, full_mwh);

        if (err)
                return err;
        *left_out = measured_keep_known(trace, unknown);
        if (trace->n == 0)
                return -ENODATA;
        list = calloc(trace->n, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (size_t i = 0; !err && i < trace->n; i++)
                err = make_row(&trace->spans[i], full_mwh, shift_s(trace, now_ns), &list[made++]);
        if (err) {
                everyday_free(list, made);
                return err;
        }
        *ret = list;
        *n = made;
        return 0;
}
