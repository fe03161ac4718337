/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whatif-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "future.h"
#include "util/tuning.h"
#include "util/util.h"

/* Parts of all that the apps to close ever used, by state. */
struct parts {
        double of[CHANGE_APPS_MAX][2];
};

struct saver {
        const struct history *history;
        const struct changes *changes;
        const size_t *apps;
        bool relight;
        struct model_vector lit;   /* the screen for a second, as it is to be; all 0: off */
        struct parts all_mj;       /* energy of the apps, without the screen */
        double *scratch[2];        /* weights, n_coefficients */
};

static void saver_clear(struct saver *saver)
{
        model_vector_clear(&saver->lit);
        free(saver->scratch[0]);
        free(saver->scratch[1]);
}

void saved_clear(struct saved *saved)
{
        rate_clear(&saved->now);
        rate_clear(&saved->usual);
}

static const struct history_state *state_of(const struct saver *saver, size_t a, size_t state)
{
        return &saver->history->apps[saver->apps[a]].states[state];
}

/* An app that is only frozen in the background goes on in the foreground. */
static bool stops(const struct saver *saver, size_t a, size_t state)
{
        return state == STATE_BACKGROUND || !(saver->changes->behind & UINT32_C(1) << a);
}

static bool is_of_screen(const struct profile *profile, size_t coefficient)
{
        return model_term_component(profile->coefficients[coefficient].term) == COMPONENT_DISPLAY;
}

/* The screen stays on without the app, for whatever has it then. */
static void close_apps(const struct saver *saver, const struct parts *parts, double *weight)
{
        const struct profile *profile = saver->history->profile;

        for (size_t a = 0; a < saver->changes->n_close; a++)
                for (size_t s = 0; s < 2; s++) {
                        const struct model_vector *sum = &state_of(saver, a, s)->sum;

                        for (size_t i = 0; i < sum->n; i++)
                                if (!is_of_screen(profile, i))
                                        weight[i] = fmax(weight[i] - parts->of[a][s] * sum->weight[i], 0);
                }
}

static bool is_off(const struct changes *changes, const struct coefficient *coefficient)
{
        return coefficient->term != TERM_GPS_SLEEP &&
               changes->off & UINT32_C(1) << model_term_component(coefficient->term);
}

/* A GPS that is off sleeps, as when no app uses it. */
static void switch_off(const struct saver *saver, double *weight)
{
        const struct profile *profile = saver->history->profile;
        ssize_t sleep = profile_find(profile, TERM_GPS_SLEEP, 0, 0, "");

        for (size_t i = 0; i < profile->n_coefficients; i++) {
                if (!is_off(saver->changes, &profile->coefficients[i]) || is_of_screen(profile, i))
                        continue;
                if (profile->coefficients[i].term == TERM_GPS && sleep >= 0)
                        weight[sleep] += weight[i];
                weight[i] = 0;
        }
}

static void change(const struct saver *saver, const struct parts *parts, double *weight)
{
        close_apps(saver, parts, weight);
        switch_off(saver, weight);
        if (saver->relight)
                future_relight(saver->history->profile, &saver->lit, weight);
}

static int make_lit(struct saver *saver)
{
        const struct profile *profile = saver->history->profile;
        const struct changes *changes = saver->changes;

        saver->relight = !isnan(changes->brightness_percent) || changes->off & UINT32_C(1) << COMPONENT_DISPLAY;
        if (!saver->relight)
                return 0;
        if (changes->off & UINT32_C(1) << COMPONENT_DISPLAY)
                return model_vector_add_scaled(&saver->lit, &saver->history->base, 0);
        return future_lit(profile, whatif_brightness(profile, changes->brightness_percent), &saver->lit);
}

/* Sums the energy of each app and state over its uses. */
static void add_up(struct saver *saver)
{
        for (size_t i = 0; i < saver->history->n_uses; i++)
                for (size_t a = 0; a < saver->changes->n_close; a++)
                        if (saver->history->uses[i].app == saver->apps[a])
                                saver->all_mj.of[a][saver->history->uses[i].state] += saver->history->uses[i].unlit_mj;
}

static double part_of(const struct saver *saver, const struct history_use *use, size_t a)
{
        double all_mj = saver->all_mj.of[a][use->state];

        return all_mj > 0 ? use->unlit_mj / all_mj : 0;
}

/* Parts of the apps' use in one second of present use, and in one of usual use; weighted as in mixed_make(). */
static void make_parts(const struct saver *saver, const struct mixed *mixed, struct parts *now, struct parts *usual)
{
        for (size_t a = 0; a < saver->changes->n_close; a++)
                for (size_t s = 0; s < 2; s++) {
                        usual->of[a][s] = stops(saver, a, s) ? 1 / mixed->usual.seconds : 0;
                        now->of[a][s] = TUNING_BLOCK_S * usual->of[a][s] / mixed->now.seconds;
                }
        for (size_t i = 0; i < saver->history->n_uses; i++) {
                const struct history_use *use = &saver->history->uses[i];
                double weight = mixed_is_now(mixed, &saver->history->blocks[use->block]) / mixed->now.seconds;

                for (size_t a = 0; a < saver->changes->n_close; a++)
                        if (use->app == saver->apps[a] && stops(saver, a, use->state))
                                now->of[a][use->state] += weight * part_of(saver, use, a);
        }
}

static double square(double value)
{
        return value * value;
}

/*
 * Standard deviation of the saved power that no counter shows: of apps in the foreground; and of all else, with the
 * unknown part of the screen's or a radio's power.
 */
static void find_misfit(const struct saver *saver, const struct parts *parts, const double *closed,
                        const double *changed, double *front_w, double *else_w)
{
        const struct profile *profile = saver->history->profile;
        double sums[2] = { 0 }, squares[2] = { 0 }, sd_w, *difference = saver->scratch[1];
        const struct model_user nobody = { "", true, 0 };
        struct model_vector vector = { .weight = difference, .n = profile->n_coefficients };

        for (size_t a = 0; a < saver->changes->n_close; a++)
                for (size_t s = 0; s < 2; s++) {
                        const struct history_state *state = state_of(saver, a, s);
                        struct model_user user = { saver->history->apps[saver->apps[a]].app, s == STATE_FOREGROUND,
                                                   parts->of[a][s] * state->active_s };

                        for (size_t i = 0; i < vector.n; i++)
                                difference[i] = state->sum.n == 0 || is_of_screen(profile, i) ? 0 :
                                                parts->of[a][s] * state->sum.weight[i];
                        sd_w = model_misfit_sd_j(profile, &user, &vector);
                        sums[s] += sd_w;
                        squares[s] += sd_w * sd_w;
                }
        for (size_t i = 0; i < vector.n; i++)
                difference[i] = closed[i] - changed[i];
        sd_w = model_misfit_sd_j(profile, &nobody, &vector);
        *front_w = sqrt(model_misfit_sum_j2(profile, sums[STATE_FOREGROUND], squares[STATE_FOREGROUND]));
        *else_w = sqrt(model_misfit_sum_j2(profile, sums[STATE_BACKGROUND], squares[STATE_BACKGROUND]) + square(sd_w));
}

/* Half range of the saved power: for a brightness that was not calibrated, and for CPU time at unknown frequencies. */
static double spread_w(const struct saver *saver, const struct parts *parts, const double *before)
{
        double on_s = 0, sum_mj = 0;

        for (size_t i = 0; i < saver->history->profile->n_coefficients; i++)
                if (saver->history->profile->coefficients[i].term == TERM_DISPLAY)
                        on_s += before[i];
        if (saver->relight)
                sum_mj += saver->lit.component_spread_mj[COMPONENT_DISPLAY] * on_s;
        for (size_t a = 0; a < saver->changes->n_close; a++)
                for (size_t s = 0; s < 2; s++)
                        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                                sum_mj += c == COMPONENT_DISPLAY ? 0 : parts->of[a][s] *
                                          state_of(saver, a, s)->sum.component_spread_mj[c];
        return sum_mj * 1e-3;
}

static double power_w(const struct profile *profile, const double *weight)
{
        double sum_mj = 0;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                sum_mj += weight[i] * profile->coefficients[i].value;
        return sum_mj * 1e-3;
}

/* @after gets the rate with the change. */
static int make_rate(const struct saver *saver, const struct parts *parts, const struct rate *before,
                     struct rate *after, double *saved_w, double misfit_w[2], double *spread)
{
        const struct profile *profile = saver->history->profile;
        double *closed = saver->scratch[0];
        int err = model_vector_add_scaled(&after->vector, &before->vector, 1);

        if (err < 0)
                return err;
        close_apps(saver, parts, after->vector.weight);
        memcpy(closed, after->vector.weight, after->vector.n * sizeof(*closed));
        memcpy(after->vector.weight, before->vector.weight, after->vector.n * sizeof(*closed));
        change(saver, parts, after->vector.weight);
        find_misfit(saver, parts, closed, after->vector.weight, &misfit_w[0], &misfit_w[1]);
        *spread = spread_w(saver, parts, before->vector.weight);
        *saved_w = power_w(profile, before->vector.weight) - power_w(profile, after->vector.weight);
        after->power_w = before->power_w - *saved_w;
        after->session_sd_w = saver->relight ? 0 : before->session_sd_w; /* caused by the brightness alone */
        return 0;
}

/* An app that was used little may be used once more, as it was: that session is in no block. */
static double once_more(const struct saver *saver)
{
        double sum = 0;

        for (size_t a = 0; a < saver->changes->n_close; a++)
                for (size_t s = 0; s < 2; s++) {
                        double active_s = state_of(saver, a, s)->active_s;

                        if (active_s > 0 && stops(saver, a, s))
                                sum += square(saver->all_mj.of[a][s] * 1e-3 / active_s) * TUNING_SAVED_SESSION_S;
                }
        return sum;
}

/*
 * Variance of the power that blocks save around what they usually save, and its covariance with the deviation of
 * their power.
 */
static void find_spread(const struct saver *saver, const struct mixed *mixed, struct saved *saved)
{
        const struct history *history = saver->history;
        double least_w2 = square(TUNING_BLOCK_SD * saved->usual_w), seconds = TUNING_MIXED_PRIOR_S;
        double squares = seconds * least_w2 + once_more(saver), both = seconds * least_w2, *weight = saver->scratch[0];
        size_t u = 0;

        for (size_t b = 0; b < history->n_blocks; b++) {
                struct parts parts = { 0 };
                struct mixed_block look;
                double off_w;

                for (; u < history->n_uses && history->uses[u].block == b; u++)
                        for (size_t a = 0; a < saver->changes->n_close; a++)
                                if (history->uses[u].app == saver->apps[a] && stops(saver, a, history->uses[u].state))
                                        parts.of[a][history->uses[u].state] += part_of(saver, &history->uses[u], a);
                if (!mixed_look(history, mixed, &history->blocks[b], &look))
                        continue;
                memcpy(weight, history->blocks[b].total, history->profile->n_coefficients * sizeof(*weight));
                change(saver, &parts, weight);
                off_w = (power_w(history->profile, history->blocks[b].total) -
                         power_w(history->profile, weight)) /
                                look.use_s -
                        saved->usual_w * look.hour;
                squares += look.use_s * off_w * off_w;
                both += look.use_s * off_w * look.off_w;
                seconds += look.use_s;
        }
        saved->variance_part = squares / seconds / square(mixed->spread_w);
        saved->common_part = fmin(fmax(both / seconds / square(mixed->spread_w), -sqrt(saved->variance_part)),
                                  sqrt(saved->variance_part));
}

static bool uses_any(const struct profile *profile, const struct mixed *mixed, enum component component)
{
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (model_term_component(profile->coefficients[i].term) == component &&
                    (mixed->now.vector.weight[i] != 0 || mixed->usual.vector.weight[i] != 0))
                        return true;
        return false;
}

/*
 * Components that are changed and have no coefficient. A component that is not counted all the time (the GPS, before
 * a service reported it) counts as known if some of its use was counted.
 */
static uint32_t find_lacks(const struct saver *saver, const struct mixed *mixed)
{
        const struct changes *changes = saver->changes;
        uint32_t changed = changes->off | (saver->relight ? UINT32_C(1) << COMPONENT_DISPLAY : 0);
        uint32_t lacks = changed & (mixed->usual.vector.unpriced | mixed->now.vector.unpriced);

        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (mixed->usual.vector.unknown & changed & UINT32_C(1) << c &&
                    !uses_any(saver->history->profile, mixed, c))
                        lacks |= UINT32_C(1) << c;
        for (size_t a = 0; a < changes->n_close; a++)
                for (size_t s = 0; s < 2; s++)
                        lacks |= !stops(saver, a, s) ? 0 :
                                                       state_of(saver, a, s)->sum.unpriced &
                                                               ~(UINT32_C(1) << COMPONENT_DISPLAY);
        return lacks;
}

static void find_apps(const struct saver *saver, const struct parts *now, const struct parts *usual,
                      struct saved *saved)
{
        for (size_t a = 0; a < saver->changes->n_close; a++) {
                double all_j = saver->all_mj.of[a][STATE_FOREGROUND] * 1e-3;

                saved->apps[a].now_w = now->of[a][STATE_FOREGROUND] * all_j;
                saved->apps[a].usual_w = usual->of[a][STATE_FOREGROUND] * all_j;
        }
}

int saved_make(const struct history *history, const struct changes *changes, const size_t *apps,
               const struct mixed *mixed, struct saved *ret)
{
        _cleanup_(saver_clear) struct saver saver = { .history = history, .changes = changes, .apps = apps };
        _cleanup_(saved_clear) struct saved saved = { 0 };
        struct parts now = { 0 }, usual = { 0 };
        double now_misfit_w[2], usual_misfit_w[2];
        int err = make_lit(&saver);

        for (size_t i = 0; i < ARRAY_SIZE(saver.scratch); i++) {
                saver.scratch[i] = calloc(history->profile->n_coefficients + 1, sizeof(*saver.scratch[i]));
                err = saver.scratch[i] ? err : -ENOMEM;
        }
        if (err < 0)
                return err;
        add_up(&saver);
        make_parts(&saver, mixed, &now, &usual);
        err = make_rate(&saver, &now, &mixed->now, &saved.now, &saved.now_w, now_misfit_w, &saved.spread_now_w);
        if (err == 0)
                err = make_rate(&saver, &usual, &mixed->usual, &saved.usual, &saved.usual_w, usual_misfit_w,
                                &saved.spread_usual_w);
        if (err < 0)
                return err;
        saved.front_now_w = now_misfit_w[0];
        saved.else_now_w = now_misfit_w[1];
        saved.front_usual_w = usual_misfit_w[0];
        saved.else_usual_w = usual_misfit_w[1];
        saved.relit = saver.relight;
        saved.lacks = find_lacks(&saver, mixed);
        find_apps(&saver, &now, &usual, &saved);
        find_spread(&saver, mixed, &saved);
        *ret = saved;
        saved = (struct saved){ 0 };
        return 0;
}
