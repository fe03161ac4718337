/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cost-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantile.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Rows are summed by app and state before the model is applied: it is linear, so the result is the same, and a
 * month of polls needs one evaluation per app.
 */
struct entry {
        char *app;
        char *name;             /* NULL: as the app's id */
        enum app_state state;
        struct usage_there there;
        struct usage usage;
        bool used;              /* a row with counters came in */
};

struct cost_maker {
        struct entry *entries;  /* [0] is base */
        size_t n, capacity;
        uint32_t *slots;        /* open addressing: index of an entry + 1, or 0 */
        size_t n_slots;         /* a power of two, at least twice n */
        size_t last;            /* entry of the previous row: rows of one app follow each other */
        int64_t from_ns, to_ns;
        bool no_intervals;      /* the apps get none */
};

static uint32_t hash_key(const char *app, enum app_state state)
{
        uint32_t hash = UINT32_C(2166136261) ^ (uint32_t)state;

        for (; *app; app++)
                hash = (hash ^ (unsigned char)*app) * UINT32_C(16777619);
        return hash;
}

static bool is_entry(const struct entry *entry, const char *app, enum app_state state)
{
        return entry->state == state && strcmp(entry->app, app) == 0;
}

static int grow_slots(struct cost_maker *maker)
{
        size_t n_slots = maker->n_slots ? maker->n_slots * 2 : 64;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < maker->n; i++) {
                size_t at = hash_key(maker->entries[i].app, maker->entries[i].state) & (n_slots - 1);

                while (slots[at])
                        at = (at + 1) & (n_slots - 1);
                slots[at] = (uint32_t)i + 1;
        }
        free(maker->slots);
        maker->slots = slots;
        maker->n_slots = n_slots;
        return 0;
}

static int add_entry(struct cost_maker *maker, const char *app, enum app_state state, size_t slot,
                     size_t *ret)
{
        _cleanup_free_ char *copy = strdup(app);
        int err;

        if (!copy)
                return -ENOMEM;
        err = util_grow(&maker->entries, &maker->capacity, maker->n + 1, sizeof(*maker->entries));
        if (err < 0)
                return err;
        maker->entries[maker->n] = (struct entry){ .app = TAKE_PTR(copy), .state = state };
        maker->slots[slot] = (uint32_t)maker->n + 1;
        *ret = maker->n++;
        return 0;
}

static int find_entry(struct cost_maker *maker, const char *app, enum app_state state, size_t *ret)
{
        size_t at;
        int err;

        if (maker->n > 0 && is_entry(&maker->entries[maker->last], app, state)) {
                *ret = maker->last;
                return 0;
        }
        if (2 * (maker->n + 1) > maker->n_slots) {
                err = grow_slots(maker);
                if (err < 0)
                        return err;
        }
        for (at = hash_key(app, state) & (maker->n_slots - 1); maker->slots[at];
             at = (at + 1) & (maker->n_slots - 1)) {
                *ret = maker->slots[at] - 1;
                if (is_entry(&maker->entries[*ret], app, state))
                        return 0;
        }
        return add_entry(maker, app, state, at, ret);
}

int cost_maker_new(struct cost_maker **ret)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = calloc(1, sizeof(*maker));
        size_t base_entry;
        int err;

        if (!maker)
                return -ENOMEM;
        maker->from_ns = INT64_MAX;
        maker->to_ns = INT64_MIN;
        err = find_entry(maker, "", STATE_BACKGROUND, &base_entry);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(maker);
        return 0;
}

void cost_maker_omit_intervals(struct cost_maker *maker)
{
        maker->no_intervals = true;
}

void cost_maker_free(struct cost_maker *maker)
{
        if (!maker)
                return;
        for (size_t i = 0; i < maker->n; i++) {
                free(maker->entries[i].app);
                free(maker->entries[i].name);
                usage_clear(&maker->entries[i].usage);
        }
        free(maker->entries);
        free(maker->slots);
        free(maker);
}

/* The newest name counts: an app may have been renamed, or its desktop entry found later. */
static int rename_entry(struct entry *entry, const char *name)
{
        char *copy;

        if (!name || !*name || strcmp(entry->name ? entry->name : entry->app, name) == 0)
                return 0;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        free(entry->name);
        entry->name = copy;
        return 0;
}

int cost_maker_add(struct cost_maker *maker, const struct store_row *row)
{
        const char *app = row->app ? row->app : "";
        const struct usage *usage = row->usage;
        struct entry *entry;
        size_t i = 0;
        int err;

        err = find_entry(maker, app, *app ? row->state : STATE_BACKGROUND, &i);
        if (err < 0)
                return err;
        maker->last = i;
        entry = &maker->entries[i];
        err = rename_entry(entry, row->name);
        if (err < 0)
                return err;
        usage_there_add(&entry->there, row->end_ns, row->awake_ns, row->active_ns);
        maker->from_ns = MIN(maker->from_ns, row->start_ns);
        maker->to_ns = MAX(maker->to_ns, row->end_ns);
        /* An app that did nothing has no counters; none is missing. */
        if (!usage || usage_is_empty(usage))
                return 0;
        entry->used = true;
        return row->take ? usage_move(&entry->usage, row->take) : usage_add(&entry->usage, usage);
}

static struct cost_value value_of(double value, double half_width, double unit)
{
        return (struct cost_value){
                .value = value / unit,
                .low = isnan(half_width) ? NAN : fmax(value - half_width, 0) / unit,
                .high = isnan(half_width) ? NAN : (value + half_width) / unit,
        };
}

struct cost_value cost_joules(const struct cost_value *energy_j, double joule_part)
{
        double error_j = joule_part * energy_j->value, below_j;

        if (!(joule_part > 0))
                return *energy_j;
        below_j = hypot(energy_j->value - energy_j->low, error_j);
        return (struct cost_value){
                .value = energy_j->value,
                .low = isnan(energy_j->low) ? NAN : fmax(energy_j->value - below_j, 0),
                .high = energy_j->value + hypot(energy_j->high - energy_j->value, error_j),
        };
}

struct cost_value cost_percent(const struct cost_value *energy_j, const struct profile *profile)
{
        double percent_j = J_PER_PERCENT(profile->energy_full_mwh);

        return (struct cost_value){ energy_j->value / percent_j, energy_j->low / percent_j,
                                    energy_j->high / percent_j };
}

/* The CPU's energy is uncertain by so much for each degree away from the temperature of the calibration. */
#define WARMTH_PER_C 0.005

/*
 * That part of the CPU's energy, as a standard deviation; 0: a temperature is not known, or everyday use taught the
 * profile what is drawn at everyday temperatures.
 */
static double warmth_of(const struct profile *profile, const struct store_battery *battery)
{
        const char *text = profile_extra(profile, "base", "x-temperature_c");
        double usual_c;

        if (!battery || !(battery->last.have & BATTERY_TEMPERATURE) || profile->learned.spans > 0)
                return 0;
        if (!text || util_parse_double(text, &usual_c) < 0)
                return 0;
        return WARMTH_PER_C * fabs(battery->last.temperature_dc / 10.0 - usual_c);
}

static double warmth_sd_j(const struct profile *profile, const struct model_vector *vector, double warmth)
{
        struct model_energy energy;

        if (!(warmth > 0))
                return 0;
        model_energy(profile, vector, COST_LEVEL, 0, &energy);
        return warmth * fmax(energy.component_j[COMPONENT_CPU], 0); /* NaN is 0 */
}

/* Adds a part of the sum: the energy of one app, and its errors. */
static int add_part(const struct usage *usage, const struct model_user *user, const struct profile *profile,
                    struct cost_sum *sum)
{
        struct cost_part *part = &sum->parts[sum->n_parts++];
        int err = model_vector_price(&sum->prices, usage, &part->vector);

        if (err < 0)
                return err;
        model_vector_add_user(profile, user, &part->vector);
        part->misfit_j = model_misfit_sd_j(profile, user, &part->vector);
        sum->misfit_j += part->misfit_j;
        sum->misfit_j2 += part->misfit_j * part->misfit_j;
        part->within_j = model_within_sd_j(profile, user, usage, &part->vector);
        sum->within_j2 += part->within_j * part->within_j;
        return model_vector_add(&sum->vector, &part->vector);
}

static void part_energy(const struct cost_part *part, const struct profile *profile, double warmth,
                        struct model_energy *ret)
{
        double extra_sd_j = hypot(hypot(part->misfit_j, part->within_j), warmth_sd_j(profile, &part->vector, warmth));

        model_energy(profile, &part->vector, COST_LEVEL, extra_sd_j, ret);
}

/* Takes the id, the name and the usage of @entry. */
static int make_app(const struct cost_maker *maker, struct entry *entry, const struct profile *profile,
                    struct cost_sum *sum, struct cost_app *ret)
{
        double percent_j = J_PER_PERCENT(profile->energy_full_mwh);
        struct model_user user = { entry->app, entry->state == STATE_FOREGROUND,
                                   usage_there_ns((double)entry->there.ns, &maker->entries[0].usage) / NS_PER_S };
        struct cost_part *part = &sum->parts[sum->n_parts];
        struct model_energy energy;
        int err;

        if (!entry->used)
                entry->usage.have = USAGE_ALL; /* alive, and used nothing */
        err = add_part(&entry->usage, &user, profile, sum);
        if (err < 0)
                return err;
        if (maker->no_intervals)
                model_energy_alone(profile, &part->vector, &energy);
        else
                part_energy(part, profile, sum->warmth, &energy);
        ret->state = entry->state;
        ret->active_s = user.active_s;
        ret->energy_j = value_of(energy.value_j, energy.half_width_j, 1);
        ret->percent = value_of(energy.value_j, energy.half_width_j, percent_j);
        ret->percent_per_minute = (struct cost_value){ NAN, NAN, NAN };
        if (entry->there.ns > 0)
                ret->percent_per_minute =
                        value_of(energy.value_j, energy.half_width_j, percent_j * ret->active_s / 60);
        memcpy(ret->component_j, energy.component_j, sizeof(ret->component_j));
        memccpy(ret->app, entry->app, 0, sizeof(ret->app) - 1); /* it is zeroed */
        ret->name = entry->name ? TAKE_PTR(entry->name) : TAKE_PTR(entry->app);
        ret->usage = entry->usage;
        entry->usage = (struct usage){ 0 };
        return 0;
}

static void sum_clear(struct cost_sum *sum)
{
        for (size_t i = 0; i < sum->n_parts; i++)
                model_vector_clear(&sum->parts[i].vector);
        free(sum->parts);
        model_vector_clear(&sum->vector);
}

static double known(double value)
{
        return isnan(value) ? 0 : value;
}

static int make_base(const struct entry *base_entry, const struct profile *profile, struct cost *cost,
                     struct cost_sum *total)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct model_energy energy;
        int err;

        cost->base_j = cost->base_idle_j = cost->base_wifi_j = cost->base_display_j = NAN;
        if (!base_entry->used)
                return 0;
        err = model_vector_price(&total->prices, &base_entry->usage, &vector);
        if (err < 0)
                return err;
        model_energy(profile, &vector, COST_LEVEL, 0, &energy);
        cost->base_wifi_j = energy.component_j[COMPONENT_WIFI];
        cost->base_display_j = energy.component_j[COMPONENT_DISPLAY];
        if (!isnan(energy.component_j[COMPONENT_BASE])) {
                cost->base_j = energy.value_j;
                cost->base_idle_j = energy.value_j - known(cost->base_wifi_j) - known(cost->base_display_j);
        }
        /*
         * Without the idle power the base is unknown. All of it is then unattributed, the total is that of the
         * apps, and missing coefficients are still named.
         */
        return model_vector_add_scaled(&total->vector, &vector, isnan(cost->base_j) ? 0 : 1);
}

/*
 * Some percents of a gauge are larger than others: one by 1.5 % (standard deviation), all together by nothing, as
 * the full charge is known. docs/physics.md, "What the gauge shows".
 */
#define CURVE_SD 0.015

static double step_j(const struct store_battery *battery, const struct profile *profile)
{
        return interval_step_uj(&battery->last, &battery->step) / UJ_PER_J * profile_shown_part(profile);
}

/*
 * A level only shows which step the true charge is in, so that each end of a stretch is wrong by up to one
 * step. The difference of two such errors is within 0.776 steps in 95 of 100 cases (a triangular distribution).
 */
static double measured_half_width_j(const struct store_battery *battery, double measured_j,
                                    const struct profile *profile)
{
        double full_j = 100 * J_PER_PERCENT(profile->energy_full_mwh);
        double curve_j = CURVE_SD * measured_j * fmax(1 - measured_j / full_j, 0);

        return hypot((1 - sqrt(1 - COST_LEVEL)) * sqrt(battery->stretches) * step_j(battery, profile),
                     1.96 * curve_j);
}

static void widen(struct cost_value *value, double part)
{
        if (isnan(value->low)) /* unknown stays unknown; fmax() would make it 0 */
                return;
        value->low = fmax(value->low - part * value->value, 0);
        value->high += part * value->value;
}

/*
 * Unattributed energy beyond its own error is either an error of the model's form, or drawn by an app where no counter
 * shows it. Nothing tells which, so it counts as one more standard deviation of the total, and of each app
 * by its share.
 */
static void admit_unexplained(double beyond_j, struct cost *cost)
{
        double apps_j = 0, beyond = quantile_normal(COST_LEVEL) * beyond_j;

        for (size_t i = 0; i < cost->n_apps; i++)
                apps_j += known(cost->apps[i].energy_j.value);
        if (cost->total_j.value > 0)
                widen(&cost->total_j, beyond / cost->total_j.value);
        for (size_t i = 0; i < cost->n_apps && apps_j > 0; i++) {
                widen(&cost->apps[i].energy_j, beyond / apps_j);
                widen(&cost->apps[i].percent, beyond / apps_j);
                widen(&cost->apps[i].percent_per_minute, beyond / apps_j);
        }
}

/*
 * Measured energy is comparable with the model only if the device was on battery power, and recorded, all the
 * time; 1 % is allowed for polls at which the charger was plugged in or out.
 */
static void make_measured(const struct store_battery *battery, const struct profile *profile, struct cost *cost)
{
        double measured_j, half_width_j, both_j, percent_j = J_PER_PERCENT(profile->energy_full_mwh);

        cost->measured_j = cost->unexplained_j = (struct cost_value){ NAN, NAN, NAN };
        cost->measured_percent = NAN;
        if (!battery || battery->known_ns == 0)
                return;
        measured_j = (double)battery->discharge_uj / UJ_PER_J * profile_shown_part(profile);
        half_width_j = measured_half_width_j(battery, measured_j, profile);
        cost->measured_j = value_of(measured_j, half_width_j, 1);
        cost->measured_percent = measured_j / percent_j;
        if ((double)battery->known_ns < 0.99 * (double)battery->elapsed_ns)
                return;
        both_j = hypot(half_width_j, cost->total_j.high - cost->total_j.value);
        cost->unexplained_j.value = measured_j - cost->total_j.value;
        cost->unexplained_j.low = cost->unexplained_j.value - both_j;
        cost->unexplained_j.high = cost->unexplained_j.value + both_j;
        if (fabs(cost->unexplained_j.value) > both_j) /* not where it is unknown */
                admit_unexplained(fabs(cost->unexplained_j.value) - both_j, cost);
}

/* suspend.c stores it in the profile. */
static unsigned sleeps_of(const struct profile *profile, const struct usage *base_entry)
{
        const char *sleeps = profile_extra(profile, "suspend", "x-sleeps");
        uint64_t n;

        if (base_entry->suspend_ns == 0 || !sleeps || util_parse_u64(sleeps, &n) < 0)
                return 0;
        return (unsigned)MIN(n, UINT32_MAX);
}

static int by_energy(const void *a, const void *b)
{
        const struct cost_app *left = a, *right = b;
        double left_j = known(left->energy_j.value), right_j = known(right->energy_j.value);

        if (left_j != right_j)
                return left_j < right_j ? 1 : -1;
        return strcmp(left->app, right->app);
}

static int make_apps(struct cost_maker *maker, const struct profile *profile, struct cost_sum *total,
                     struct cost *cost)
{
        int err;

        cost->apps = calloc(maker->n, sizeof(*cost->apps));
        total->parts = calloc(maker->n, sizeof(*total->parts));
        if (!cost->apps || !total->parts)
                return -ENOMEM;
        for (size_t i = 1; i < maker->n; i++) {
                err = make_app(maker, &maker->entries[i], profile, total, &cost->apps[cost->n_apps++]);
                if (err < 0)
                        return err;
        }
        return 0;
}

int cost_maker_finish(struct cost_maker *maker, const struct profile *profile,
                      const struct store_battery *battery, struct cost **ret)
{
        _cleanup_(cost_freep) struct cost *cost = calloc(1, sizeof(*cost));
        _cleanup_(sum_clear) struct cost_sum total = { 0 };
        const struct usage *base_entry = &maker->entries[0].usage;
        struct model_energy energy;
        double seconds, energy_j, extra_j2;
        int err;

        if (!cost)
                return -ENOMEM;
        cost->from_ns = maker->from_ns <= maker->to_ns ? maker->from_ns : INT64_MIN;
        cost->to_ns = maker->from_ns <= maker->to_ns ? maker->to_ns : INT64_MIN;
        cost->recorded_s = battery ? (double)battery->elapsed_ns / (double)NS_PER_S : NAN;
        model_prices_find(profile, &total.prices);
        total.warmth = warmth_of(profile, battery);
        err = make_base(&maker->entries[0], profile, cost, &total);
        if (err < 0)
                return err;
        err = make_apps(maker, profile, &total, cost);
        if (!err)
                err = usage_copy(&cost->base_usage, base_entry);
        if (err < 0)
                return err;
        cost->n_sleeps = sleeps_of(profile, base_entry);
        seconds = isnan(cost->base_j) ? 0 : (double)base_entry->time_ns / (double)NS_PER_S;
        energy_j = model_energy_mj(profile, &total.vector) * 1e-3;
        extra_j2 = model_misfit_sum_j2(profile, total.misfit_j, total.misfit_j2) + total.within_j2 +
                   pow(warmth_sd_j(profile, &total.vector, total.warmth), 2) +
                   pow(model_session_sd_j(profile, seconds, energy_j), 2);
        model_energy(profile, &total.vector, COST_LEVEL,
                     hypot(model_background_sd_j(profile, seconds), sqrt(extra_j2)), &energy);
        cost->cpu_spread_j = total.vector.component_spread_mj[COMPONENT_CPU] * 1e-3;
        cost->disk_spread_j = total.vector.component_spread_mj[COMPONENT_DISK] * 1e-3;
        cost->total_j = value_of(energy.value_j, energy.half_width_j, 1);
        cost->joule_part = profile_width(profile, ANSWER_COST) * profile_joule_error(profile) *
                           known(quantile_student_t(profile->degrees_of_freedom, COST_LEVEL));
        make_measured(battery, profile, cost);
        err = battery ? cost_given(profile, &total, step_j(battery, profile), cost) : 0;
        if (err < 0)
                return err;
        if (cost->n_apps > 1)
                qsort(cost->apps, cost->n_apps, sizeof(*cost->apps), by_energy);
        cost->not_measured = TAKE_PTR(total.vector.not_measured);
        cost->n_not_measured = total.vector.n_not_measured;
        total.vector.n_not_measured = 0;
        *ret = TAKE_PTR(cost);
        return 0;
}

static void clear_app(struct cost_app *app)
{
        free(app->name);
        usage_clear(&app->usage);
}

void cost_keep_dearest(struct cost *cost, size_t most)
{
        while (cost->n_apps > most)
                clear_app(&cost->apps[--cost->n_apps]);
}

void cost_keep_app(struct cost *cost, const char *app)
{
        size_t n = 0;

        for (size_t i = 0; i < cost->n_apps; i++)
                if (strcmp(cost->apps[i].app, app) == 0)
                        cost->apps[n++] = cost->apps[i];
                else
                        clear_app(&cost->apps[i]);
        cost->n_apps = n;
}

void cost_free(struct cost *cost)
{
        if (!cost)
                return;
        for (size_t i = 0; i < cost->n_apps; i++)
                clear_app(&cost->apps[i]);
        usage_clear(&cost->base_usage);
        for (size_t i = 0; i < cost->n_not_measured; i++)
                free(cost->not_measured[i]);
        free(cost->apps);
        free(cost->not_measured);
        free(cost);
}
