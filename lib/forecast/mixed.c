/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mixed.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define HOUR_S 3600.0
#define STEP_S 600.0
#define STEPS_MAX 288 /* two days, from when on the hours of the day make no difference */

void mixed_clear(struct mixed *mixed)
{
        rate_clear(&mixed->now);
        rate_clear(&mixed->usual);
}

/*
 * A device that is put to sleep for the night, or for a meeting, is not in use; one that naps between two messages
 * is.
 */
static double nap_s(const struct history_block *block)
{
        return block->suspend_s >= (double)TUNING_SLEEP_NS / (double)NS_PER_S && block->awake_s < 0.1 * block->suspend_s
                       ? 0 : block->suspend_s;
}

static double use_s(const struct history_block *block)
{
        return block->awake_s + nap_s(block);
}

/* Adds a block to a sum: without its sleep, if @naps or it was a long one. */
static void add_block(const struct history *history, const struct history_block *block, double weight, bool naps,
                      struct rate *sum)
{
        double seconds = naps ? use_s(block) : block->awake_s;

        for (size_t i = 0; i < sum->vector.n; i++)
                if (history->profile->coefficients[i].term != TERM_SUSPEND || (naps && nap_s(block) > 0))
                        sum->vector.weight[i] += weight * block->total[i];
        sum->seconds += weight * seconds;
}

/* Marks components of all usage that are not priced or not known exactly; blocks add the weights later. */
static int make_empty(const struct history *history, struct rate *rate)
{
        int err = model_vector_add_scaled(&rate->vector, &history->base, 0);

        rate->vector.unpriced |= history->base.unpriced | history->background.unpriced;
        if (err == 0)
                err = model_vector_add_scaled(&rate->vector, &history->background, 0);
        for (size_t i = 0; i < history->n_apps && err == 0; i++) {
                const struct history_state *front = &history->apps[i].states[STATE_FOREGROUND];

                if (!(front->active_s > 0))
                        continue;
                err = model_vector_add_scaled(&rate->vector, &front->sum, 0);
                rate->vector.unpriced |= front->sum.unpriced;
        }
        return err;
}

static void divide(const struct history *history, struct rate *rate)
{
        for (size_t i = 0; i < rate->vector.n; i++)
                rate->vector.weight[i] /= rate->seconds;
        rate->power_w = model_energy_mj(history->profile, &rate->vector) * 1e-3;
}

static double energy_j(const struct history *history, const struct history_block *block)
{
        const struct profile *profile = history->profile;
        double sum_mj = 0;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term != TERM_SUSPEND || nap_s(block) > 0)
                        sum_mj += block->total[i] * profile->coefficients[i].value;
        return sum_mj * 1e-3;
}

static int hour_of(int64_t time_ns)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        return localtime_r(&seconds, &tm) ? tm.tm_hour : 0;
}

static bool has_hour(const struct history_block *block)
{
        return block->end_ns - block->start_ns <= (int64_t)(HOUR_S * 1e9) && use_s(block) > 0;
}

/* Each hour of the day counts as usual until it was seen for some hours. */
static void find_hours(const struct history *history, struct mixed *mixed)
{
        double seconds[24] = { 0 }, joules[24] = { 0 };
        bool days = mixed->end_ns - history->blocks[0].start_ns > (int64_t)(TUNING_MIXED_DAYS * 24 * HOUR_S * 1e9);

        for (size_t b = 0; b < history->n_blocks && days; b++) {
                const struct history_block *block = &history->blocks[b];
                int hour = hour_of(block->start_ns + (block->end_ns - block->start_ns) / 2);

                if (!has_hour(block))
                        continue;
                seconds[hour] += use_s(block);
                joules[hour] += energy_j(history, block);
        }
        for (int hour = 0; hour < 24; hour++)
                mixed->hours[hour] = (joules[hour] / mixed->usual.power_w + TUNING_MIXED_PRIOR_S) /
                                     (seconds[hour] + TUNING_MIXED_PRIOR_S);
}

static double off_w(const struct history *history, const struct history_block *block, const struct mixed *mixed)
{
        return energy_j(history, block) / use_s(block) - mixed->usual.power_w * mixed->hours[hour_of(block->start_ns)];
}

bool mixed_look(const struct history *history, const struct mixed *mixed, const struct history_block *block,
                struct mixed_block *ret)
{
        if (!has_hour(block))
                return false;
        *ret = (struct mixed_block){
                .use_s = use_s(block),
                .hour = mixed->hours[hour_of(block->start_ns)],
                .off_w = off_w(history, block, mixed),
        };
        return true;
}

static bool is_poll_block(const struct history_block *block)
{
        return fabs((double)(block->end_ns - block->start_ns) * 1e-9 - TUNING_BLOCK_S) < TUNING_BLOCK_S / 2;
}

/* How much blocks differ from the usual power; and for how long, by the correlation of neighbours. */
static void find_spread(const struct history *history, struct mixed *mixed)
{
        double least_w = TUNING_BLOCK_SD * mixed->usual.power_w, prior = TUNING_MIXED_PRIOR_S / TUNING_BLOCK_S;
        double squares = 0, seconds = 0, both = 0, each = 0, alike = exp(-TUNING_BLOCK_S / TUNING_MIXED_STAYS_S);

        for (size_t b = 0; b < history->n_blocks; b++) {
                const struct history_block *block = &history->blocks[b], *next = block + 1;
                double off;

                if (!has_hour(block))
                        continue;
                off = off_w(history, block, mixed);
                squares += use_s(block) * off * off;
                seconds += use_s(block);
                if (b + 1 == history->n_blocks || !is_poll_block(block) || !is_poll_block(next) || !has_hour(next) ||
                    next->start_ns > block->end_ns + (int64_t)NS_PER_S)
                        continue;
                both += off * off_w(history, next, mixed);
                each += off * off;
        }
        mixed->spread_w = sqrt((squares + TUNING_MIXED_PRIOR_S * least_w * least_w) / (seconds + TUNING_MIXED_PRIOR_S));
        alike = (both + prior * alike * pow(mixed->spread_w, 2)) / (each + prior * pow(mixed->spread_w, 2));
        mixed->stays_s = -TUNING_BLOCK_S / log(fmin(fmax(alike, 0.3), 0.95));
}

double mixed_is_now(const struct mixed *mixed, const struct history_block *block)
{
        return exp((double)(block->end_ns - mixed->end_ns) * 1e-9 / TUNING_MIXED_NOW_S);
}

int mixed_make(const struct history *history, struct mixed *ret)
{
        struct mixed mixed = { .end_ns = history->n_blocks ? history->blocks[history->n_blocks - 1].end_ns : 0 };
        int err = make_empty(history, &mixed.now);

        if (err == 0)
                err = make_empty(history, &mixed.usual);
        for (size_t b = 0; b < history->n_blocks && err == 0; b++) {
                const struct history_block *block = &history->blocks[b];

                add_block(history, block, 1, true, &mixed.usual);
                add_block(history, block, mixed_is_now(&mixed, block), false, &mixed.now);
        }
        if (err == 0 && !(mixed.usual.seconds > 0))
                err = -ENODATA;
        if (err < 0) {
                mixed_clear(&mixed);
                return err;
        }
        mixed.use_s = mixed.usual.seconds;
        divide(history, &mixed.usual);
        for (size_t i = 0; i < mixed.now.vector.n; i++)
                mixed.now.vector.weight[i] += TUNING_BLOCK_S * mixed.usual.vector.weight[i];
        mixed.now.seconds += TUNING_BLOCK_S;
        divide(history, &mixed.now);
        find_hours(history, &mixed);
        find_spread(history, &mixed);
        *ret = mixed;
        return 0;
}

void mixed_seconds(const struct mixed *mixed, double seconds, double *now_s, double *usual_s)
{
        double done = 0, part;

        *now_s = *usual_s = 0;
        for (int i = 0; i < STEPS_MAX && done < seconds; i++, done += part) {
                double stays;
                int hour;

                part = fmin(STEP_S, seconds - done);
                hour = hour_of(mixed->end_ns + (int64_t)((done + part / 2) * 1e9));
                stays = exp(-(done + part / 2) / mixed->stays_s);
                *now_s += stays * part;
                *usual_s += (1 - stays) * part * mixed->hours[hour];
        }
        *usual_s += fmax(seconds - done, 0);
}

/* A process of that correlation, integrated, and the mean that is known over the history only. */
double mixed_sd_j(const struct mixed *mixed, double seconds)
{
        double tau_s = mixed->stays_s, w2 = mixed->spread_w * mixed->spread_w;
        double future_j2 = 2 * w2 * tau_s * (seconds + tau_s * expm1(-seconds / tau_s));
        double mean_w2 = w2 * fmin(2 * tau_s / fmax(mixed->use_s, 1), 1);

        return sqrt(fmax(future_j2, 0) + mean_w2 * seconds * seconds);
}
