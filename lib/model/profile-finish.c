/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks on a profile that need all its keys, not only one line. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profile-keys.h"
#include "profile-parse.h"
#include "radio-usage.h"
#include "util/tuning.h"
#include "util/util.h"

int profile_twice(const struct ini_place *place, const char *key)
{
        return ini_error(place, "%.60s is given twice", key);
}

static int compare_placed(const void *a, const void *b)
{
        const struct placed *x = a, *y = b;
        int order = profile_coefficient_compare(&x->coefficient, &y->coefficient);

        return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Sorts the coefficients into the profile. */
static int finish_coefficients(struct parser *parser, struct ini_place *place)
{
        _cleanup_free_ struct coefficient *list = NULL;
        size_t n = parser->n_coefficients;
        char key[PROFILE_KEY_MAX];
        int err;

        if (n == 0)
                return 0;
        qsort(parser->coefficients, n, sizeof(*parser->coefficients), compare_placed);
        list = reallocarray(NULL, n, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                list[i] = parser->coefficients[i].coefficient;
                place->line = parser->coefficients[i].line;
                if (i > 0 && profile_coefficient_compare(&list[i - 1], &list[i]) == 0)
                        return profile_twice(place, profile_coefficient_key(&list[i], key));
                if (list[i].term == TERM_DISPLAY && parser->profile->max_brightness > 0 &&
                    list[i].point > parser->profile->max_brightness)
                        return ini_error(place, "power_mw.%u is above max_brightness = %u", list[i].point,
                                         parser->profile->max_brightness);
        }
        err = profile_set_coefficients(parser->profile, list, n);
        if (!err)
                TAKE_PTR(list);
        return err;
}

struct indexed_key {
        char key[PROFILE_KEY_MAX];
        size_t index;
};

static int compare_keys(const void *a, const void *b)
{
        return strcmp(((const struct indexed_key *)a)->key, ((const struct indexed_key *)b)->key);
}

static int finish_pair(struct parser *parser, const struct ini_place *place, const struct indexed_key *keys,
                       struct pair *pair, bool *seen)
{
        size_t n = parser->profile->n_coefficients;
        const struct indexed_key *found[2];
        struct indexed_key wanted;
        char *part = pair->keys;

        for (int side = 0; side < 2; side++) {
                char *comma = strchr(part, ',');

                if ((side == 0) != (comma != NULL))
                        return ini_error(place, "a covariance is given for two keys with one comma between");
                if (comma)
                        *comma = '\0';
                if (snprintf(wanted.key, sizeof(wanted.key), "%s", part + strspn(part, " \t")) >=
                    (int)sizeof(wanted.key))
                        return ini_error(place, "%.60s is no coefficient of this profile", part);
                wanted.key[strcspn(wanted.key, " \t")] = '\0';
                found[side] = n ? bsearch(&wanted, keys, n, sizeof(wanted), compare_keys) : NULL;
                if (!found[side])
                        return ini_error(place, "%.60s is no coefficient of this profile", wanted.key);
                if (isnan(parser->profile->coefficients[found[side]->index].standard_error))
                        return ini_error(place, "%.60s has a covariance, but no standard error", wanted.key);
                part = comma ? comma + 1 : part;
        }
        if (found[0] == found[1])
                return ini_error(place, "the variance of %.60s is its standard error squared, not a pair",
                                 found[0]->key);
        if (seen[found[0]->index * n + found[1]->index])
                return ini_error(place, "the pair %.60s,%.60s is given twice", found[0]->key, found[1]->key);
        seen[found[0]->index * n + found[1]->index] = seen[found[1]->index * n + found[0]->index] = true;
        profile_set_covariance(parser->profile, found[0]->index, found[1]->index, pair->value);
        return 0;
}

static int finish_covariance(struct parser *parser, struct ini_place *place)
{
        size_t n = parser->profile->n_coefficients;
        _cleanup_free_ struct indexed_key *keys = calloc(n + 1, sizeof(*keys));
        _cleanup_free_ bool *seen = calloc(n * n + 1, sizeof(*seen));
        int err;

        if (!keys || !seen)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                profile_coefficient_key(&parser->profile->coefficients[i], keys[i].key);
                keys[i].index = i;
        }
        qsort(keys, n, sizeof(*keys), compare_keys);
        for (size_t i = 0; i < parser->n_pairs; i++) {
                place->line = parser->pairs[i].line;
                err = finish_pair(parser, place, keys, &parser->pairs[i], seen);
                if (err)
                        return err;
        }
        place->line = parser->n_pairs ? parser->pairs[0].line : 0;
        err = parser->n_pairs ? profile_check_covariance(parser->profile) : 0;
        if (err == -EINVAL)
                return ini_error(place,
                                 "the covariance is not positive semi-definite, so it belongs to no model");
        return err;
}

/* One policy has coefficients and others are as it; a chain of them would hide whose they are. */
static int finish_as(struct parser *parser, struct ini_place *place)
{
        const struct profile *profile = parser->profile;

        for (size_t i = 0; i < parser->n_as; i++) {
                const struct as *as = &parser->as[i];
                bool own = false, other = false;

                place->line = as->line;
                for (size_t k = 0; k < profile->n_coefficients; k++) {
                        enum term term = profile->coefficients[k].term; /* an app's number is no policy's */
                        bool cpu = model_term_component(term) == COMPONENT_CPU && term < TERM_APP_CPU;

                        own = own || (cpu && profile->coefficients[k].policy == as->policy);
                        other = other || (cpu && profile->coefficients[k].policy == as->as);
                }
                if (own)
                        return ini_error(place, "as = %u: [cpu %u] has coefficients of its own", as->as,
                                         as->policy);
                if (!other)
                        return ini_error(place, "as = %u: [cpu %u] has no coefficients", as->as, as->as);
        }
        return 0;
}

static int finish_emission(struct parser *parser, struct ini_place *place)
{
        const struct profile_virtual *device = &parser->profile->virtual_device;
        uint32_t max = parser->profile->max_brightness;

        if (device->n_emission == 0 || max == 0 || device->emission[device->n_emission - 1].brightness <= max)
                return 0;
        place->line = parser->emission_line;
        return ini_error(place, "emission_mw.%u is above max_brightness = %u",
                         device->emission[device->n_emission - 1].brightness, max);
}

/* Keys that say nothing without another. */
static int finish_pairs(const struct parser *parser, struct ini_place *place)
{
        const struct profile_virtual *device = &parser->profile->virtual_device;
        const struct {
                bool given, other;
                const char *key, *needs;
        } pairs[] = {
                { device->gauge_gain_at_load_percent != 0, device->gauge_load_mw > 0,
                  "gauge_gain_at_load_percent", "gauge_load_mw" },
                { device->gauge_attack > 0, device->gauge_smoothing_s > 0, "gauge_attack",
                  "gauge_smoothing_s" },
                { device->level_drift_percent > 0, device->level_drift_length_percent > 0,
                  "level_drift_percent", "level_drift_length_percent" },
                { device->gauge_smoothing_s > 0, device->gauge_period_s > 0, "gauge_smoothing_s",
                  "gauge_period_s" },
                { device->gauge_average_s > 0, device->gauge_period_s > 0, "gauge_average_s",
                  "gauge_period_s" },
                { device->gauge_delay_s > 0, device->gauge_period_s > 0, "gauge_delay_s", "gauge_period_s" },
                { device->gauge_skip_percent > 0, device->gauge_period_s > 0, "gauge_skip_percent",
                  "gauge_period_s" },
                { device->gauge_derived, device->gauge_period_s > 0, "gauge_derived", "gauge_period_s" },
                { device->kind_variation > 0, device->kind_variation_tau_s > 0, "kind_variation",
                  "kind_variation_tau_s" },
                { device->counter_share > 0, device->counters != VIRTUAL_COUNTERS_NONE, "counter_share",
                  "counters = all or instructions" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                if (pairs[i].given && !pairs[i].other)
                        return ini_error(place, "%s of [virtual] needs %s", pairs[i].key, pairs[i].needs);
        return 0;
}

/* Keys of [cpu P] that are the physics of a virtual device. */
static int finish_work(const struct parser *parser, struct ini_place *place)
{
        const struct profile *profile = parser->profile;

        place->line = parser->work_line ? parser->work_line : place->line;
        if (parser->work_line && !profile->virtual_device.present)
                return ini_error(place, "spin_ipc, instruction_cycles and idle_share of [cpu P] are only for a virtual "
                                        "device, which has [virtual]");
        for (size_t i = 0; i < profile->n_policies; i++) {
                const struct profile_policy *policy = &profile->policies[i];

                for (size_t k = 0; policy->idle_share > 0 && k < profile->n_coefficients; k++)
                        if (profile->coefficients[k].term == TERM_CPU_IDLE &&
                            profile->coefficients[k].policy == policy->policy)
                                return ini_error(place, "[cpu %u] has idle_share and idle_mw; it may have one of them",
                                                 policy->policy);
        }
        return 0;
}

/* Checks that each app with terms has an id. */
static int finish_apps(const struct parser *parser, struct ini_place *place)
{
        const struct profile *profile = parser->profile;

        for (size_t i = 0; i < profile->n_coefficients; i++) {
                bool named = strcmp(term_keys[profile->coefficients[i].term].section, "app") != 0;

                for (size_t k = 0; k < profile->n_apps && !named; k++)
                        named = profile->apps[k].number == profile->coefficients[i].policy;
                if (!named)
                        return ini_error(place, "[app %u] has no id", profile->coefficients[i].policy);
        }
        return 0;
}

/* Moves the calibration's part into the profile. */
static int finish_measured(struct parser *parser, struct ini_place *place)
{
        int err;

        if (!parser->measured)
                return 0;
        if (isnan(parser->measured->profile->energy_full_mwh))
                return ini_error(place, "energy_full_mwh of [measured battery] is missing");
        err = finish_coefficients(parser->measured, place);
        if (!err)
                err = finish_covariance(parser->measured, place);
        if (!err)
                parser->profile->measured = TAKE_PTR(parser->measured->profile);
        return err;
}

/*
 * The largest relative error of the radio's powers; if none is known and the profile has [fit], the error of numbers
 * from another device.
 */
static double radio_error(const struct profile *profile, const struct radio *radio)
{
        double most = NAN;

        for (size_t i = 0; i < radio->n_states; i++) {
                const struct radio_value *power = &radio->states[i].power_mw;

                if (power->value > 0)
                        most = fmax(most, power->standard_error / power->value);
        }
        return isnan(most) && !isnan(profile->degrees_of_freedom) ? TUNING_RADIO_ERROR : most;
}

/* Adds a coefficient for each radio whose packets are counted: a factor on all the energy that it draws. */
static int finish_radios(struct parser *parser, struct ini_place *place)
{
        struct profile *profile = parser->profile;
        int err = radio_finish(&profile->radios, place);

        for (enum air air = 0; !err && air < AIR_COUNT; air++) {
                const struct radio *radio = radio_usage_radio(profile, air);
                struct coefficient factor = { .term = radio_usage_term(air), .value = 1 };
                bool given = profile_find(profile, factor.term, 0, 0, "") >= 0;

                if (given && !radio)
                        return ini_error(place, "radio of [%s] needs [radio %s]", term_keys[factor.term].section,
                                         term_keys[factor.term].section);
                if (given || !radio)
                        continue;
                factor.standard_error = radio_error(profile, radio);
                err = profile_add(profile, &factor);
        }
        return err;
}

/* Errors about missing keys name the last line. */
int profile_finish(struct parser *parser, const char *name, unsigned lines, const struct log *log)
{
        struct ini_place place = { .name = name, .line = lines, .log = log };
        int err;

        if (!parser->version_seen)
                return ini_error(&place, "[profile] with version = %d is missing", PROFILE_VERSION);
        if (isnan(parser->profile->energy_full_mwh))
                return ini_error(&place, "energy_full_mwh of [battery] is missing");
        err = finish_coefficients(parser, &place);
        if (!err)
                err = finish_apps(parser, &place);
        if (!err)
                err = finish_measured(parser, &place);
        if (!err)
                err = finish_pairs(parser, &place);
        if (!err)
                err = finish_work(parser, &(struct ini_place){ .name = name, .line = lines, .log = log });
        if (!err)
                err = finish_emission(parser, &place);
        if (!err)
                err = finish_as(parser, &place);
        if (!err)
                err = finish_radios(parser, &place);
        return err ? err : finish_covariance(parser, &place);
}
