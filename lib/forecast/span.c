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

/* Adds the part of one app in one state, by the model and by what was learnt of it in everyday use. */
static int add_part(const struct history *history, const struct span_use *use, const struct usage *base,
                    struct model_vector *total, struct history_span *span)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct model_user user = { history->apps[use->app].app, use->state == STATE_FOREGROUND,
                                   usage_there_ns((double)use->active_ns, base) / NS_PER_S };
        int err = model_vector_make(history->profile, &use->usage, &vector);

        if (err < 0)
                return err;
        model_vector_add_user(history->profile, &user, &vector);
        span->seconds += (double)use->usage.time_ns / (double)NS_PER_S;
        if (user.front)
                span->parts[span->n_parts++] = (struct history_part){
                        .app = use->app,
                        .energy_j = model_energy_mj(history->profile, &vector) * 1e-3,
                };
        return model_vector_add(total, &vector);
}

/* Adds a finished span. The measured energy includes usage without a coefficient, the model's energy does not. */
static int add_span(struct history *history, const struct span_reader *reader, int64_t end_ns)
{
        _cleanup_(model_vector_clear) struct model_vector total = { 0 };
        const struct usage none = { 0 }, *base = &none;
        struct history_span *span;
        int err = util_grow(&history->spans, &history->capacity.spans, history->n_spans + 1, sizeof(*history->spans));

        if (err < 0)
                return err;
        span = &history->spans[history->n_spans++];
        *span = (struct history_span){
                .end_ns = end_ns,
                .follows = reader->follows,
                .measured_j = reader->measured_j,
                .parts = calloc(reader->n_uses + 1, sizeof(*span->parts)),
        };
        total.n = history->profile->n_coefficients;
        total.weight = calloc(total.n + 1, sizeof(*total.weight));
        if (!span->parts || !total.weight)
                return -ENOMEM;
        for (size_t i = 0; i < reader->n_uses; i++)
                if (reader->uses[i].app == 0)
                        base = &reader->uses[i].usage;
        for (size_t i = 0; i < reader->n_uses; i++) {
                err = add_part(history, &reader->uses[i], base, &total, span);
                if (err < 0)
                        return err;
        }
        span->model_j = model_energy_mj(history->profile, &total) * 1e-3;
        span->total = TAKE_PTR(total.weight);
        return 0;
}

static int pass_level(struct history *history, struct span_reader *reader, const struct store_poll *level)
{
        const struct store_poll *before = reader->level > 0 ? level - 1 : NULL;
        double percent_j = J_PER_PERCENT(history->profile->energy_full_mwh);
        double gave_j = isnan(level->discharge_j) ? level->discharge_percent * percent_j :
                                                    level->discharge_j * profile_shown_part(history->profile);
        int err = 0;

        reader->level++;
        if (isnan(gave_j) || (before && !store_goes_on(before, level))) {
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

static int use_of(struct span_reader *reader, size_t app, enum app_state state, struct span_use **ret)
{
        int err;

        for (size_t i = 0; i < reader->n_uses; i++) {
                if (reader->uses[i].app == app && reader->uses[i].state == state) {
                        *ret = &reader->uses[i];
                        return 0;
                }
        }
        err = util_grow(&reader->uses, &reader->capacity, reader->n_uses + 1, sizeof(*reader->uses));
        if (err < 0)
                return err;
        reader->uses[reader->n_uses] = (struct span_use){ .app = (uint32_t)app, .state = state };
        *ret = &reader->uses[reader->n_uses++];
        return 0;
}

int span_add(struct history *history, struct span_reader *reader, size_t app, const struct store_row *row)
{
        struct span_use *use;
        int err = pass_levels(history, reader, row->end_ns);

        if (err < 0 || !reader->open || !row->usage || usage_is_empty(row->usage))
                return err;
        err = use_of(reader, app, app > 0 ? row->state : STATE_BACKGROUND, &use);
        if (err < 0)
                return err;
        use->active_ns += row->active_ns;
        return usage_add(&use->usage, row->usage);
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
