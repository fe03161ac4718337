/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "future.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/usage.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

void future_clear(struct future *future)
{
        for (size_t i = 0; i < ACTORS_MAX; i++) {
                rate_clear(&future->actors[i].own);
                rate_clear(&future->actors[i].background);
        }
        rate_clear(&future->other);
        rate_clear(&future->standby);
        rate_clear(&future->base);
        drain_clear(&future->drain);
        mixed_clear(&future->mixed);
}

/* In the foreground if it ever was, else in the background. */
static int actor_own(const struct history *history, struct actor *actor)
{
        int err = rate_of_app(history, actor->app, STATE_FOREGROUND, &actor->own);

        actor->foreground = err == 0;
        return err == -ENODATA ? rate_of_app(history, actor->app, STATE_BACKGROUND, &actor->own) : err;
}

uint32_t future_brightness(const struct history *history, const struct forecast_battery *battery)
{
        return battery->screen_known ? battery->brightness : history->brightness;
}

double future_relight(const struct profile *profile, const struct model_vector *lit, double *weight)
{
        double on_s = 0, before_mj = 0, after_mj = 0, learned_mj = 0;

        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *one = &profile->coefficients[i];

                if (one->term != TERM_DISPLAY)
                        continue;
                on_s += weight[i];
                before_mj += weight[i] * one->value;
        }
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *one = &profile->coefficients[i];

                if (one->term == TERM_DISPLAY)
                        weight[i] = lit->weight[i] * on_s;
                after_mj += one->term == TERM_DISPLAY ? weight[i] * one->value : 0;
        }
        for (size_t i = 0; i < profile->n_coefficients && before_mj > 0; i++) {
                const struct coefficient *one = &profile->coefficients[i];

                if (one->term != TERM_APP_DISPLAY)
                        continue;
                learned_mj += weight[i] * one->value * (after_mj / before_mj - 1);
                weight[i] *= after_mj / before_mj;
        }
        return (after_mj - before_mj + learned_mj) * 1e-3;
}

/* Model weights of the screen for one second at a brightness. */
int future_lit(const struct profile *profile, uint32_t brightness, struct model_vector *ret)
{
        _cleanup_(usage_clear) struct usage usage = { .have = USAGE_ALL };
        int err = usage_add_screen(&usage, brightness, NS_PER_S);

        return err ? err : model_vector_make(profile, &usage, ret);
}

/*
 * Prices the screen's part of @rate at the present brightness instead of the history's. Where the screen was brighter,
 * it may become so again.
 */
static int with_brightness(const struct profile *profile, uint32_t brightness, struct rate *rate)
{
        _cleanup_(model_vector_clear) struct model_vector now = { 0 };
        double change_w;
        int err;

        if (brightness == BRIGHTNESS_UNKNOWN)
                return 0;
        err = future_lit(profile, brightness, &now);
        if (err < 0)
                return err;
        change_w = future_relight(profile, &now, rate->vector.weight);
        rate->power_w += change_w;
        if (change_w < 0)
                rate->session_sd_w = hypot(rate->session_sd_w, change_w * sqrt(TUNING_BRIGHTNESS_BACK));
        return 0;
}

/*
 * A background app that is an actor is no part of the usual background. The power of other apps in that time is
 * the mean of all time awake.
 */
static void without_own(const struct history *history, const struct actor *actor, struct rate *background)
{
        const struct history_app *app = &history->apps[actor->app];
        const struct model_vector *own = &app->states[STATE_BACKGROUND].sum;

        if (app->states[STATE_FOREGROUND].active_s > 0 || !own->weight)
                return;
        for (size_t i = 0; i < background->vector.n; i++)
                background->vector.weight[i] =
                        fmax(background->vector.weight[i] - own->weight[i] / history->awake_s, 0);
        background->power_w = model_energy_mj(history->profile, &background->vector) * 1e-3;
        background->mean_sd_w = sqrt(background->noise_j2_per_s / history->awake_s);
        background->seconds = history->awake_s;
}

/* With a suspend power, and a history that has sleeps, standby is mostly suspended. */
static double suspend_share(const struct history *history)
{
        double idle_s = history->awake_s;

        if (profile_find(history->profile, TERM_SUSPEND, 0, 0, "") < 0 || !(history->suspend_s > 0))
                return 0;
        for (size_t b = 0; b < history->n_blocks; b++)
                idle_s -= fmin(history->blocks[b].foreground_s, history->blocks[b].awake_s);
        return history->suspend_s / (history->suspend_s + fmax(idle_s, 0));
}

int future_make(const struct history *history, const size_t *apps, size_t n_apps, uint32_t brightness,
                struct future *future)
{
        struct rate background[ACTORS_MAX + 2];
        int err;

        future->history = history;
        future->n_actors = n_apps;
        err = rate_of_background(history, apps, n_apps, background);
        if (err < 0)
                return err;
        for (size_t i = 0; i < n_apps; i++) {
                future->actors[i].app = apps[i];
                future->actors[i].background = background[i];
        }
        future->other = background[n_apps];
        future->standby = background[n_apps + 1];
        for (size_t i = 0; i < n_apps; i++) {
                err = actor_own(history, &future->actors[i]);
                if (err == 0)
                        err = with_brightness(history->profile, brightness, &future->actors[i].own);
                if (err < 0)
                        return err;
                without_own(history, &future->actors[i], &future->actors[i].background);
        }
        future->suspend_share = suspend_share(history);
        err = rate_of_base(history, &future->base);
        return err < 0 ? err : drain_make(history, apps, n_apps, &future->drain);
}

void future_sum_clear(struct sum *sum)
{
        model_vector_clear(&sum->vector);
}

int future_make_mixed(const struct history *history, const size_t *apps, size_t n_apps, uint32_t brightness,
                      struct future *future)
{
        int err = future_make(history, apps, n_apps, brightness, future);

        if (err == 0)
                err = mixed_make(history, &future->mixed);
        if (err == 0)
                err = with_brightness(history->profile, brightness, &future->mixed.now);
        future->has_mixed = err == 0;
        return err;
}

static int sum_add(struct sum *sum, const struct rate *rate, double seconds)
{
        double sd_j = rate_sd_j(rate, seconds);

        sum->variance_j2 += sd_j * sd_j;
        return model_vector_add_scaled(&sum->vector, &rate->vector, seconds);
}

/* Adds the power that @app may draw beyond its counters, as in a cost. A measured drain is better, and replaces it. */
static void sum_misfit(struct sum *sum, const struct future *future, const char *app, bool front,
                       const struct rate *rate, double seconds)
{
        struct model_user user = { app, front, 1 };
        double sd_j = future->drain.n > 0 ?
                              0 :
                              model_misfit_sd_j(future->history->profile, &user, &rate->vector) * seconds;

        sum->misfit_j += sd_j;
        sum->misfit_j2 += sd_j * sd_j;
}

int future_sum_own(struct sum *sum, const struct future *future, size_t i, double seconds)
{
        const struct actor *actor = &future->actors[i];
        size_t first = 0;

        while (future->actors[first].app != actor->app)
                first++;
        if (actor->foreground)
                sum->own_j[first] += actor->own.power_w * seconds;
        sum_misfit(sum, future, future->history->apps[actor->app].app, actor->foreground, &actor->own, seconds);
        return sum_add(sum, &actor->own, seconds);
}

static void sum_load(struct sum *sum, double power_w, double seconds)
{
        sum->energy_j += power_w * seconds;
        sum->squares += power_w * power_w * seconds;
}

int future_sum_actor(struct sum *sum, const struct future *future, size_t i, double seconds)
{
        int err = future_sum_own(sum, future, i, seconds);

        if (err == 0)
                err = sum_add(sum, &future->actors[i].background, seconds);
        if (err == 0)
                err = sum_add(sum, &future->base, seconds);
        sum_load(sum,
                 future->actors[i].own.power_w + future->actors[i].background.power_w + future->base.power_w,
                 seconds);
        sum->seconds += seconds;
        return err;
}

int future_sum_rate(struct sum *sum, const struct rate *rate, double seconds)
{
        sum_load(sum, rate->power_w, seconds);
        return model_vector_add_scaled(&sum->vector, &rate->vector, seconds);
}

int future_sum_mixed(struct sum *sum, const struct future *future, double seconds)
{
        const struct mixed *mixed = &future->mixed;
        double now_s, usual_s, sd_j = mixed_sd_j(mixed, seconds);
        int err;

        mixed_seconds(mixed, seconds, &now_s, &usual_s);
        sum_misfit(sum, future, TUNING_OTHER_APPS, true, &mixed->now, now_s);
        sum_misfit(sum, future, TUNING_OTHER_APPS, true, &mixed->usual, usual_s);
        sum->variance_j2 += sd_j * sd_j + pow(mixed->now.session_sd_w * now_s, 2);
        err = future_sum_rate(sum, &mixed->now, now_s);
        if (err == 0)
                err = future_sum_rate(sum, &mixed->usual, usual_s);
        sum->seconds += seconds;
        return err;
}

int future_sum_standby(struct sum *sum, const struct future *future, double seconds)
{
        double suspend_s = seconds * future->suspend_share, awake_s = seconds - suspend_s;
        ssize_t suspend = profile_find(future->history->profile, TERM_SUSPEND, 0, 0, "");
        int err = sum_add(sum, &future->standby, awake_s);

        if (err == 0)
                err = sum_add(sum, &future->base, awake_s);
        if (err == 0 && suspend >= 0)
                sum->vector.weight[suspend] += suspend_s;
        sum_load(sum, future->standby.power_w + future->base.power_w, awake_s);
        sum->seconds += awake_s;
        return err;
}

/*
 * Energy of a sum, with the correction by what the battery gave lately, and that correction's variance. Where
 * something has no coefficient the energy is a lower limit; it is not corrected, so that it stays one.
 */
static double sum_drain(const struct future *future, const struct sum *sum, double *variance_j2)
{
        double energy_j = model_energy_mj(future->history->profile, &sum->vector) * 1e-3, shift_j;

        if (sum->vector.unpriced) {
                *variance_j2 = 0;
                return energy_j;
        }
        drain_add(&future->drain, &sum->vector, energy_j, sum->own_j, &shift_j, variance_j2);
        return energy_j + shift_j;
}

double future_sum_energy_j(const struct future *future, const struct sum *sum)
{
        double variance_j2;

        return model_knows(&sum->vector) ? sum_drain(future, sum, &variance_j2) : NAN;
}

/*
 * Standard deviation of a sum at the level's normal quantile: the model's errors have Student's t of the fit,
 * so their part is widened by it. A half range counts as a uniform distribution's. NaN: the profile has no
 * error estimates.
 */
double future_sum_sd_j(const struct future *future, const struct sum *sum)
{
        const struct profile *profile = future->history->profile;
        double t = quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) /
                   quantile_normal(FORECAST_LEVEL);
        double daemons_j = model_background_sd_j(profile, sum->seconds), spread_j = 0, drain_j2, model_j2;
        double session_j = model_session_sd_j(profile, sum->seconds, model_energy_mj(profile, &sum->vector) * 1e-3);

        sum_drain(future, sum, &drain_j2);
        model_j2 = t * t * model_variance_j2(profile, &sum->vector) + drain_j2;
        if (sum->misfit_j > 0)
                model_j2 += t * t * model_misfit_sum_j2(profile, sum->misfit_j, sum->misfit_j2);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                spread_j += sum->vector.component_spread_mj[c] * 1e-3;
        return sqrt((model_j2 < 0 ? 0 : model_j2) + sum->variance_j2 + /* NaN stays */
                    daemons_j * daemons_j + session_j * session_j + spread_j * spread_j / 3);
}

/* The load is the model's, scaled to the energy that is expected with what the battery gave. */
double future_sag(const struct future *future, const struct charge *charge, const struct sum *sum, double energy_j)
{
        double model_j = model_energy_mj(future->history->profile, &sum->vector) * 1e-3;
        double load_w = sum->energy_j > 0 ? sum->squares / sum->energy_j : 0;

        if (model_j > 0 && energy_j > 0)
                load_w *= energy_j / model_j;
        return fmin(fmax(charge->sag_per_w * load_w, 0), 0.5);
}

double future_left_j(const struct future *future, const struct charge *charge, double available_j,
                     const struct sum *sum)
{
        double energy_j = future_sum_energy_j(future, sum); /* NaN: nothing in it is priced */

        return available_j * (1 - future_sag(future, charge, sum, energy_j)) -
               (isnan(energy_j) ? 0 : energy_j * (1 + TUNING_WARM));
}

/*
 * The load at which the battery was read: by its own sensor, else idle. Charging raises the voltage as a load lowers
 * it.
 */
double future_read_load_w(const struct future *future, const struct forecast_battery *battery)
{
        const struct battery *shown = &battery->battery;
        bool fed = battery->known && (shown->status == BATTERY_CHARGING || shown->status == BATTERY_FULL ||
                                      shown->status == BATTERY_NOT_CHARGING);
        double power_w = (double)shown->power_uw / UJ_PER_J;

        if (!battery->known || !(shown->have & BATTERY_POWER))
                return fed ? 0 : future->standby.power_w + future->base.power_w;
        return shown->status == BATTERY_CHARGING ? -power_w : power_w;
}

static void append_unpriced(uint32_t unpriced, char *basis)
{
        const char *before = _("; incomplete: the profile lacks coefficients of ");

        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
                size_t length = strlen(basis);

                if (!(unpriced & UINT32_C(1) << c))
                        continue;
                snprintf(basis + length, FORECAST_BASIS_MAX - length, "%s%s", before, _(component_names[c]));
                before = ", ";
        }
}

/* Says how much recorded use is behind the answer. @buf has 160 bytes. */
static const char *basis_of_use(const struct future *future, char *buf)
{
        const struct rate *own = &future->actors[0].own;
        double minutes = (future->has_mixed ? future->mixed.use_s : own->seconds) / 60;
        const char *app = future->history->apps[future->actors[0].app].name;
        char name[64], time[48];

        if (minutes < 120)
                snprintf(time, sizeof(time), _("%.*f minutes"), minutes < 10 ? 1 : 0, minutes);
        else
                snprintf(time, sizeof(time), _("%.0f hours"), minutes / 60);
        if (future->has_mixed)
                snprintf(buf, 160, _("%s of mixed use"), time);
        else
                snprintf(buf, 160,
                         words_counted("%s of %s in %zu session", "%s of %s in %zu sessions",
                                       own->n_sessions),
                         time, util_printable(app, name, sizeof(name)), own->n_sessions);
        return buf;
}

static const char *basis_of_charge(const struct forecast_battery *battery, double said)
{
        if (!isnan(said))
                return _("charge as given");
        if (!battery->known)
                return _("battery unknown");
        return battery->live ? _("battery read now") : _("battery as last stored");
}

static const char *basis_of_power(const struct forecast_battery *battery)
{
        if (battery->known && battery->battery.status == BATTERY_CHARGING)
                return _("; plugged in, computed as if unplugged now");
        if (battery->known &&
            (battery->battery.status == BATTERY_FULL || battery->battery.status == BATTERY_NOT_CHARGING))
                return _("; on external power, computed as if unplugged now");
        return "";
}

/* 160 bytes. */
static const char *basis_of_standby(const struct future *future, char *buf)
{
        const char *sleeps = profile_extra(future->history->profile, "suspend", "x-sleeps");

        buf[0] = '\0';
        if (future->suspend_share > 0 && sleeps)
                snprintf(buf, 160, _("; standby mostly suspended, as in %.16s sleeps of this device"), sleeps);
        else if (future->suspend_share > 0)
                snprintf(buf, 160, "%s", _("; standby mostly suspended"));
        else if (future->tells_standby)
                snprintf(buf, 160, "%s", _("; standby awake, as no long sleep of this device is known"));
        return buf;
}

void future_basis(const struct future *future, const struct forecast_battery *battery, double said,
                  uint32_t unpriced, char *basis)
{
        const struct profile *profile = future->history->profile;
        const char *device = profile->device[0] ? profile->device : _("unnamed");
        char of[160], standby[160], model[320];
        int validated = profile_validated(profile);

        if (profile->method[0])
                snprintf(model, sizeof(model), _("profile %s, by %s"), device, profile->method);
        else
                snprintf(model, sizeof(model), _("profile %s"), device);
        snprintf(basis, FORECAST_BASIS_MAX, "%s; %s; %s%s%s%s%s", basis_of_use(future, of), model,
                 basis_of_charge(battery, said), basis_of_power(battery), basis_of_standby(future, standby),
                 isnan(profile->degrees_of_freedom) ? _("; this profile has no error estimates") : "",
                 validated > 0 ? "" : validated == 0 ? _("; this profile failed its validation")
                                                     : _("; this profile was never validated"));
        append_unpriced(unpriced, basis);
}
