/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "span.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

static void forget(struct span_reader *reader)
{
        usage_clear(&reader->usage);
        for (size_t i = 0; i < reader->n_uses; i++)
                usage_clear(&reader->uses[i].usage);
        reader->n_uses = 0;
        reader->measured_j = 0;
}

void span_clear(struct span_reader *reader)
{
        forget(reader);
        free(reader->uses);
}

static int add_parts(const struct history *history, const struct span_reader *reader, struct history_span *span)
{
        span->parts = calloc(reader->n_uses + 1, sizeof(*span->parts));
        if (!span->parts)
                return -ENOMEM;
        for (size_t i = 0; i < reader->n_uses; i++) {
                _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
                int err = model_vector_make(history->profile, &reader->uses[i].usage, &vector);

                if (err < 0)
                        return err;
                span->parts[span->n_parts++] = (struct history_part){
                        .app = reader->uses[i].app,
                        .energy_j = model_energy_mj(history->profile, &vector) * 1e-3,
                };
        }
        return 0;
}

/* Of what has no coefficient nothing can be learnt here: it is part of what the battery gave. */
static int add_span(struct history *history, const struct span_reader *reader, int64_t end_ns)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct history_span *span;
        int err = util_grow(&history->spans, &history->capacity.spans, history->n_spans + 1, sizeof(*history->spans));

        if (err == 0)
                err = model_vector_make(history->profile, &reader->usage, &vector);
        if (err < 0)
                return err;
        span = &history->spans[history->n_spans++];
        *span = (struct history_span){
                .end_ns = end_ns,
                .follows = reader->follows,
                .seconds = (double)reader->usage.time_ns / (double)NS_PER_S,
                .measured_j = reader->measured_j,
                .model_j = model_energy_mj(history->profile, &vector) * 1e-3,
                .total = TAKE_PTR(vector.weight),
        };
        return add_parts(history, reader, span);
}

static int pass_level(struct history *history, struct span_reader *reader, const struct store_poll *level)
{
        const struct store_poll *before = reader->level > 0 ? level - 1 : NULL;
        double percent_j = J_PER_PERCENT(history->profile->energy_full_mwh);
        double gave_j = isnan(level->discharge_j) ? level->discharge_percent * percent_j : level->discharge_j;
        int err = 0;

        reader->level++;
        if (isnan(gave_j) || (before && level->start_ns > before->end_ns + (int64_t)NS_PER_S)) {
                forget(reader);
                reader->open = false;
                return 0;
        }
        reader->measured_j += gave_j;
        if (!(gave_j > 0) || (reader->open && reader->measured_j < TUNING_SPAN_PERCENT * percent_j))
                return 0;
        if (reader->open)
                err = add_span(history, reader, level->end_ns);
        reader->follows = reader->open;
        reader->open = true;
        forget(reader);
        return err;
}

static int pass_levels(struct history *history, struct span_reader *reader, int64_t before_ns)
{
        int err = 0;

        while (err == 0 && reader->level < history->n_levels && history->levels[reader->level].end_ns < before_ns)
                err = pass_level(history, reader, &history->levels[reader->level]);
        return err;
}

static int use_of(struct span_reader *reader, size_t app, struct usage **ret)
{
        int err;

        for (size_t i = 0; i < reader->n_uses; i++) {
                if (reader->uses[i].app == app) {
                        *ret = &reader->uses[i].usage;
                        return 0;
                }
        }
        err = util_grow(&reader->uses, &reader->capacity, reader->n_uses + 1, sizeof(*reader->uses));
        if (err < 0)
                return err;
        reader->uses[reader->n_uses] = (struct span_use){ .app = (uint32_t)app };
        *ret = &reader->uses[reader->n_uses++].usage;
        return 0;
}

int span_add(struct history *history, struct span_reader *reader, size_t app, const struct store_row *row)
{
        struct usage *use;
        int err = pass_levels(history, reader, row->end_ns);

        if (err < 0 || !reader->open || !row->usage || usage_is_empty(row->usage))
                return err;
        err = usage_add(&reader->usage, row->usage);
        if (err < 0 || app == 0 || row->state != STATE_FOREGROUND)
                return err;
        err = use_of(reader, app, &use);
        return err < 0 ? err : usage_add(use, row->usage);
}

/* Sessions of an app in the foreground that ended between a time and its last one. */
static double age_of(const struct history *history, uint32_t app, int64_t time_ns)
{
        double age = 0, session_s = 0;
        int64_t last_ns = INT64_MIN;

        for (size_t i = 0; i < history->n_uses; i++) {
                const struct history_use *use = &history->uses[i];
                const struct history_block *block = &history->blocks[use->block];

                if (use->app != app || use->state != STATE_FOREGROUND)
                        continue;
                if (last_ns != INT64_MIN && history_is_new_session(last_ns, block->start_ns)) {
                        age += block->start_ns >= time_ns ? history_session_part(session_s) : 0;
                        session_s = 0;
                }
                last_ns = block->end_ns;
                session_s += use->active_s;
        }
        return age;
}

int span_finish(struct history *history, struct span_reader *reader)
{
        int err = pass_levels(history, reader, INT64_MAX);

        for (size_t i = 0; i < history->n_spans; i++) {
                struct history_span *span = &history->spans[i];

                for (size_t j = 0; j < span->n_parts; j++)
                        span->parts[j].age = age_of(history, span->parts[j].app, span->end_ns);
        }
        return err;
}
