/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "span.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* Usage of the block that is being filled, by 2 * app + state; app 0 is base. */
struct cell {
        struct usage usage;
        uint64_t active_ns;
        bool touched;
};

struct history_reader {
        struct cell *cells;
        size_t n_cells;
        size_t *touched;
        size_t n_touched, touched_capacity;
        bool open;
        int64_t start_ns, end_ns;
        uint32_t *slots; /* open addressing by app id: index + 1, or 0 */
        size_t n_slots;
        struct span_reader span;
        struct model_prices prices;
        struct model_vector vector; /* weights of one app; its memory is reused for the next */
};

static void reader_free(struct history_reader *reader)
{
        if (!reader)
                return;
        for (size_t i = 0; i < reader->n_cells; i++)
                usage_clear(&reader->cells[i].usage);
        free(reader->cells);
        free(reader->touched);
        free(reader->slots);
        span_clear(&reader->span);
        model_vector_clear(&reader->vector);
        free(reader);
}

void history_free(struct history *history)
{
        if (!history)
                return;
        reader_free(history->reader);
        for (size_t i = 0; i < history->n_apps; i++) {
                free(history->apps[i].app);
                free(history->apps[i].name);
                for (size_t s = 0; s < ARRAY_SIZE(history->apps[i].states); s++) {
                        model_vector_clear(&history->apps[i].states[s].sum);
                        model_vector_clear(&history->apps[i].states[s].recent);
                }
        }
        for (size_t i = 0; i < history->n_blocks; i++)
                free(history->blocks[i].background); /* and the total, behind it */
        for (size_t i = 0; i < history->n_spans; i++) {
                free(history->spans[i].total);
                free(history->spans[i].parts);
        }
        free(history->spans);
        free(history->levels);
        free(history->apps);
        free(history->blocks);
        free(history->uses);
        model_vector_clear(&history->base);
        model_vector_clear(&history->background);
        free(history);
}

size_t history_bytes(const struct history *history)
{
        size_t weights = history->profile->n_coefficients * sizeof(double);

        return history->capacity.apps * sizeof(*history->apps) + history->n_apps * 4 * weights +
               history->capacity.blocks * sizeof(*history->blocks) + history->n_blocks * 2 * weights +
               history->capacity.uses * sizeof(*history->uses) + history->capacity.levels * sizeof(*history->levels) +
               history->capacity.spans * sizeof(*history->spans) + history->n_spans * weights;
}

static uint32_t hash_text(const char *text)
{
        uint32_t hash = UINT32_C(2166136261);

        for (; *text; text++)
                hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
        return hash;
}

static int grow_slots(struct history *history)
{
        struct history_reader *reader = history->reader;
        size_t n = reader->n_slots ? reader->n_slots * 2 : 64;
        uint32_t *slots = calloc(n, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < history->n_apps; i++) {
                size_t at = hash_text(history->apps[i].app) & (n - 1);

                while (slots[at])
                        at = (at + 1) & (n - 1);
                slots[at] = (uint32_t)i + 1;
        }
        free(reader->slots);
        reader->slots = slots;
        reader->n_slots = n;
        return 0;
}

static int add_app(struct history *history, const char *app, size_t slot, size_t *ret)
{
        struct history_reader *reader = history->reader;
        _cleanup_free_ char *id = strdup(app), *name = strdup(app);
        size_t capacity = reader->n_cells;
        int err;

        if (!id || !name)
                return -ENOMEM;
        err = util_grow(&history->apps, &history->capacity.apps, history->n_apps + 1, sizeof(*history->apps));
        if (err < 0)
                return err;
        err = util_grow(&reader->cells, &capacity, 2 * (history->n_apps + 1), sizeof(*reader->cells));
        if (err < 0)
                return err;
        memset(reader->cells + reader->n_cells, 0, (capacity - reader->n_cells) * sizeof(*reader->cells));
        reader->n_cells = capacity;
        reader->slots[slot] = (uint32_t)history->n_apps + 1;
        history->apps[history->n_apps] = (struct history_app){ .app = TAKE_PTR(id), .name = TAKE_PTR(name) };
        *ret = history->n_apps++;
        return 0;
}

static int find_app(struct history *history, const char *app, size_t *ret)
{
        struct history_reader *reader = history->reader;
        size_t at;
        int err;

        if (2 * (history->n_apps + 1) > reader->n_slots) {
                err = grow_slots(history);
                if (err < 0)
                        return err;
        }
        for (at = hash_text(app) & (reader->n_slots - 1); reader->slots[at];
             at = (at + 1) & (reader->n_slots - 1)) {
                *ret = reader->slots[at] - 1;
                if (strcmp(history->apps[*ret].app, app) == 0)
                        return 0;
        }
        return add_app(history, app, at, ret);
}

int history_new(const struct profile *profile, struct history **ret)
{
        _cleanup_(history_freep) struct history *history = calloc(1, sizeof(*history));
        size_t base;
        int err;

        if (!history)
                return -ENOMEM;
        history->profile = profile;
        history->brightness = BRIGHTNESS_UNKNOWN;
        history->reader = calloc(1, sizeof(*history->reader));
        if (!history->reader)
                return -ENOMEM;
        model_prices_find(profile, &history->reader->prices);
        err = find_app(history, "", &base);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(history);
        return 0;
}

int history_add_level(struct history *history, const struct store_poll *level)
{
        int err = util_grow(&history->levels, &history->capacity.levels, history->n_levels + 1, sizeof(*level));

        if (err == 0)
                history->levels[history->n_levels++] = *level;
        return err;
}

static void add_weights(double *to, const struct model_vector *from)
{
        for (size_t i = 0; i < from->n; i++)
                to[i] += from->weight[i];
}

/* All that the base used, with the screen and suspended. */
static int add_total(const struct history *history, const struct usage *usage, struct history_block *block)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        int err = model_vector_price(&history->reader->prices, usage, &vector);

        if (err == 0)
                add_weights(block->total, &vector);
        return err;
}

static int close_base(struct history *history, const struct cell *cell, struct history_block *block)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct usage awake = cell->usage;
        int err;

        /* The screen on without an app is no part of standby, and suspended time is no part of time awake. */
        awake.screen.n = 0;
        awake.suspend_ns = 0;
        block->awake_s = (double)cell->usage.time_ns / (double)NS_PER_S;
        block->suspend_s = (double)cell->usage.suspend_ns / (double)NS_PER_S;
        history->awake_s += block->awake_s;
        history->suspend_s += block->suspend_s;
        err = model_vector_price(&history->reader->prices, &awake, &vector);
        if (err == 0)
                err = model_vector_add(&history->base, &vector);
        return err < 0 ? err : add_total(history, &cell->usage, block);
}

/* A session counts the less the more of the app's use came after it. */
static int add_recent(struct history_state *state, const struct model_vector *vector, double active_s,
                      const struct history_block *block)
{
        if (state->recent_s > 0 && history_is_new_session(state->last_ns, block->start_ns)) {
                double age = history_session_part(state->session_s), factor = exp2(-age / TUNING_SESSION_HALF);

                for (size_t i = 0; i < state->recent.n; i++)
                        state->recent.weight[i] *= factor;
                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        state->recent.component_spread_mj[c] *= factor;
                state->recent_s *= factor;
                state->session_s = 0;
        }
        state->recent_s += active_s;
        state->session_s += active_s;
        state->last_ns = block->end_ns;
        return model_vector_add_rest(&state->recent, vector);
}

/* Adds the weights to all sums that have the use, and sets its energy, with the screen and without. */
static void add_app_weights(struct history *history, struct history_state *state, const struct model_vector *vector,
                            struct history_block *block, struct history_use *use)
{
        const struct coefficient *coefficients = history->profile->coefficients;
        double *sum = state->sum.weight, *recent = state->recent.weight, *total = block->total,
               *background = history->background.weight, *behind = block->background, energy_mj = 0, unlit_mj = 0;
        bool in_background = use->state == STATE_BACKGROUND;

        for (size_t i = 0; i < vector->n; i++) {
                double weight = vector->weight[i], mj;

                if (weight == 0) /* most are */
                        continue;
                sum[i] += weight;
                recent[i] += weight;
                total[i] += weight;
                if (in_background) {
                        background[i] += weight;
                        behind[i] += weight;
                }
                mj = weight * coefficients[i].value;
                energy_mj += mj;
                if (model_term_component(coefficients[i].term) != COMPONENT_DISPLAY)
                        unlit_mj += mj;
        }
        use->energy_mj = energy_mj;
        use->unlit_mj = unlit_mj;
}

static int close_app(struct history *history, size_t i, struct cell *cell, struct history_block *block)
{
        struct model_vector *vector = &history->reader->vector;
        struct history_app *app = &history->apps[i / 2];
        struct history_state *state = &app->states[i % 2];
        double active_s = usage_there_ns((double)cell->active_ns, &history->reader->cells[0].usage) / NS_PER_S;
        struct model_user user = { app->app, i % 2 == STATE_FOREGROUND, active_s };
        int err;

        if (cell->usage.have == 0 && usage_is_zero(&cell->usage))
                cell->usage.have = USAGE_ALL; /* alive, and used nothing */
        err = model_vector_price(&history->reader->prices, &cell->usage, vector);
        if (err == 0) {
                model_vector_add_user(history->profile, &user, vector);
                err = model_vector_add_rest(&state->sum, vector);
        }
        if (err == 0 && i % 2 == STATE_BACKGROUND)
                err = model_vector_add_rest(&history->background, vector);
        if (err == 0)
                err = add_recent(state, vector, active_s, block);
        if (err == 0)
                err = util_grow(&history->uses, &history->capacity.uses, history->n_uses + 1,
                                sizeof(*history->uses));
        if (err < 0)
                return err;
        state->active_s += active_s;
        if (i % 2 == STATE_FOREGROUND)
                block->foreground_s += active_s;
        history->uses[history->n_uses++] = (struct history_use){
                .app = (unsigned)(i / 2) & INT32_MAX,
                .block = (uint32_t)history->n_blocks,
                .state = i % 2,
                .active_s = active_s,
        };
        add_app_weights(history, state, vector, block, &history->uses[history->n_uses - 1]);
        return 0;
}

static int close_block(struct history *history)
{
        struct history_reader *reader = history->reader;
        size_t n = history->profile->n_coefficients;
        struct history_block *block;
        int err;

        if (!reader->open)
                return 0;
        err = util_grow(&history->blocks, &history->capacity.blocks, history->n_blocks + 1,
                        sizeof(*history->blocks));
        if (err < 0)
                return err;
        block = &history->blocks[history->n_blocks];
        *block = (struct history_block){ .start_ns = reader->start_ns, .end_ns = reader->end_ns };
        block->background = calloc(n ? 2 * n : 1, sizeof(*block->background));
        if (!block->background)
                return -ENOMEM;
        block->total = block->background + n;
        for (size_t i = 0; i < reader->n_touched && err == 0; i++) {
                struct cell *cell = &reader->cells[reader->touched[i]];

                err = reader->touched[i] < 2 ? close_base(history, cell, block) :
                                               close_app(history, reader->touched[i], cell, block);
        }
        for (size_t i = 0; i < reader->n_touched; i++) {
                usage_clear(&reader->cells[reader->touched[i]].usage);
                reader->cells[reader->touched[i]] = (struct cell){ 0 };
        }
        reader->n_touched = 0;
        reader->open = false;
        history->n_blocks++; /* also after an error: its memory is freed with the others */
        return err;
}

static int rename_app(struct history_app *app, const char *name)
{
        char *copy;

        if (!name || !*name || strcmp(app->name, name) == 0)
                return 0;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        free(app->name);
        app->name = copy;
        return 0;
}

/* The brightness for most of the last row that had the screen. */
static void see_brightness(struct history *history, const struct points *screen)
{
        uint64_t most_ns = 0;

        for (size_t i = 0; i < screen->n; i++) {
                if (screen->list[i].brightness == BRIGHTNESS_UNKNOWN || screen->list[i].on_ns <= most_ns)
                        continue;
                most_ns = screen->list[i].on_ns;
                history->brightness = screen->list[i].brightness;
        }
}

static int add_name(struct history *history, const struct store_row *row, size_t *app)
{
        int err = find_app(history, row->app ? row->app : "", app);

        return err < 0 ? err : rename_app(&history->apps[*app], row->name);
}

int history_add_name(struct history *history, const struct store_row *row)
{
        size_t app = 0;

        return add_name(history, row, &app);
}

int history_add(struct history *history, const struct store_row *row)
{
        struct history_reader *reader = history->reader;
        struct cell *cell;
        size_t app = 0, i;
        int err;

        if (reader->open && (row->start_ns >= reader->start_ns + (int64_t)(TUNING_BLOCK_S * 1e9) ||
                             row->start_ns > reader->end_ns + (int64_t)NS_PER_S)) {
                err = close_block(history);
                if (err < 0)
                        return err;
        }
        err = add_name(history, row, &app);
        if (err == 0)
                err = span_add(history, &reader->span, app, row);
        if (err < 0)
                return err;
        if (row->active_ns > 0)
                history->apps[app].seen_ns = MAX(history->apps[app].seen_ns, row->end_ns);
        if (row->usage)
                see_brightness(history, &row->usage->screen);
        if (!reader->open)
                reader->start_ns = reader->end_ns = row->start_ns;
        reader->open = true;
        reader->end_ns = MAX(reader->end_ns, row->end_ns);
        i = 2 * app + (app > 0 && row->state == STATE_FOREGROUND);
        cell = &reader->cells[i];
        if (!cell->touched) {
                err = util_grow(&reader->touched, &reader->touched_capacity, reader->n_touched + 1,
                                sizeof(*reader->touched));
                if (err < 0)
                        return err;
                reader->touched[reader->n_touched++] = i;
                cell->touched = true;
        }
        cell->active_ns += row->active_ns;
        if (!row->usage || (row->usage->have == 0 && usage_is_zero(row->usage) && row->usage->time_ns == 0 &&
                            row->usage->suspend_ns == 0))
                return 0;
        return row->take ? usage_move(&cell->usage, row->take) : usage_add(&cell->usage, row->usage);
}

/* An empty sum has a weight for each coefficient, too. */
static int make_empty(const struct history *history, struct model_vector *vector)
{
        if (vector->weight)
                return 0;
        vector->n = history->profile->n_coefficients;
        vector->weight = calloc(vector->n ? vector->n : 1, sizeof(*vector->weight));
        return vector->weight ? 0 : -ENOMEM;
}

/* It may be kept for a while, and grows by doubling. */
static void shrink(void *list, size_t *capacity, size_t n, size_t size)
{
        void *shrunk = n > 0 ? reallocarray(*(void **)list, n, size) : NULL;

        if (!shrunk)
                return;
        *(void **)list = shrunk;
        *capacity = n;
}

int history_finish(struct history *history)
{
        int err = close_block(history);

        if (err == 0)
                err = span_finish(history, &history->reader->span);
        if (err == 0)
                err = make_empty(history, &history->base);
        if (err == 0)
                err = make_empty(history, &history->background);
        reader_free(history->reader);
        history->reader = NULL;
        shrink(&history->uses, &history->capacity.uses, history->n_uses, sizeof(*history->uses));
        shrink(&history->blocks, &history->capacity.blocks, history->n_blocks, sizeof(*history->blocks));
        shrink(&history->levels, &history->capacity.levels, history->n_levels, sizeof(*history->levels));
        return err;
}
