/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Energies by the level of a battery, which moves in steps. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "measured-private.h"
#include "util/units.h"
#include "util/util.h"

/* Mean voltage of a lithium-ion cell over its whole charge, V, where none is measured. */
#define CELL_V 3.88

/* A full charge by less than this is that of the percentage's steps. */
#define PERCENT_LEAST 5

#define J_PER_MV_UAH (3600 * 1e-9)

double measured_full_mwh(const struct measured_trace *trace)
{
        double percent = 0, charge_uah = 0, volt_s = 0, seconds = 0;

        for (size_t i = 0; i < trace->n; i++) {
                const struct measured_span *span = &trace->spans[i], *before = i > 0 && span->follows ? span - 1 : NULL;

                if (!isnan(span->voltage_mv)) {
                        volt_s += span->voltage_mv / 1e3 * span->elapsed_s;
                        seconds += span->elapsed_s;
                }
                if (!before || !(before->charge_uah >= span->charge_uah) || !(before->percent >= span->percent))
                        continue;
                percent += before->percent - span->percent;
                charge_uah += before->charge_uah - span->charge_uah;
        }
        if (!(percent >= PERCENT_LEAST) || !(charge_uah > 0))
                return NAN;
        return charge_uah / percent * 100 / 1e3 * (seconds > 0 ? volt_s / seconds : CELL_V);
}

/* The level at the end of a span. */
struct level {
        double percent, charge_uah;
        bool step; /* the level stepped there */
};

/*
 * Sets the energy of @span from the fall of the level since @from, if @span ends with a step. False: unknown, or it did
 * not fall. @same: it did not step.
 */
static bool take_step(const struct level *from, double full_mwh, struct measured_span *span, bool *same)
{
        double charge_j = (from->charge_uah - span->charge_uah) * span->voltage_mv * J_PER_MV_UAH;
        double percent = from->percent - span->percent;
        bool by_charge = !isnan(charge_j);
        double change = by_charge ? charge_j : percent;

        *same = !(change > 0) && !(change < 0) && !isnan(change);
        if (!(change > 0))
                return false;
        span->by = by_charge ? MEASURED_BY_CHARGE : MEASURED_BY_PERCENT;
        span->energy_j = by_charge ? charge_j : percent * J_PER_PERCENT(full_mwh);
        span->used_percent = by_charge ? charge_j / J_PER_PERCENT(full_mwh) : percent;
        return true;
}

/* Joins spans without a step to the next one with a step. */
struct resolver {
        struct measured_trace *trace; /* finished spans replace its first ones */
        struct measured_span pending; /* joined spans whose level has not stepped yet */
        size_t n_pending;             /* number of spans that `pending` consists of */
        struct level from;            /* level at the start of `pending` */
        size_t n;                     /* number of finished spans */
};

static void put(struct resolver *resolver, struct measured_span *span)
{
        resolver->trace->spans[resolver->n++] = *span;
        *span = (struct measured_span){ 0 };
}

/* Ends a stretch without a step: the energy of its last part is unknown. */
static void end_stretch(struct resolver *resolver)
{
        if (resolver->n_pending > 0)
                put(resolver, &resolver->pending);
        resolver->n_pending = 0;
        resolver->from = (struct level){ NAN, NAN, false };
}

static int add_by_level(struct resolver *resolver, struct measured_span *span, double full_mwh)
{
        double last_s = span->elapsed_s;
        struct level end = { span->percent, span->charge_uah, true };
        bool known = !isnan(resolver->from.percent) || !isnan(resolver->from.charge_uah), same, stepped;
        int err = 0;

        if (resolver->n_pending > 0)
                err = measured_join(&resolver->pending, span);
        else
                resolver->pending = *span;
        if (resolver->n_pending == 0)
                *span = (struct measured_span){ 0 };
        resolver->n_pending++;
        if (err)
                return err;
        stepped = take_step(&resolver->from, full_mwh, &resolver->pending, &same);
        if (!stepped && known && same)
                return 0;
        /* A stretch that began within a step has used less than the whole step. */
        if (stepped && resolver->n_pending > 1) {
                resolver->pending.late_s = last_s;
                if (!resolver->from.step)
                        resolver->pending.energy_j = resolver->pending.used_percent = NAN;
        }
        end.step = stepped;
        put(resolver, &resolver->pending);
        resolver->n_pending = 0;
        resolver->from = end;
        return 0;
}

int measured_resolve(struct measured_trace *trace, double full_mwh)
{
        struct resolver resolver = { .trace = trace };
        size_t all = trace->n;
        int err = 0;

        end_stretch(&resolver);
        for (size_t i = 0; !err && i < all; i++) {
                struct measured_span span = trace->spans[i];

                trace->spans[i] = (struct measured_span){ 0 }; /* there are never more finished spans than read ones */
                if (!span.follows || span.by == MEASURED_BY_METER)
                        end_stretch(&resolver);
                if (span.by == MEASURED_BY_METER) {
                        resolver.from = (struct level){ span.percent, span.charge_uah, false };
                        put(&resolver, &span);
                } else {
                        err = add_by_level(&resolver, &span, full_mwh);
                }
        }
        if (resolver.n_pending > 0)
                put(&resolver, &resolver.pending);
        trace->n = err ? all : resolver.n; /* after an error: with the spans that were not read yet */
        if (!err)
                measured_check_power(trace, full_mwh);
        return err;
}
