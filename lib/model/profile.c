/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "profile-keys.h"
#include "profile-parse.h"
#include "radio-usage.h"
#include "util/util.h"

#define NUMBER(section, key, field, min, max) { section, key, offsetof(struct profile, field), min, max }
#define LEARNED(key, min, max) NUMBER("learned", #key, learned.key, min, max)
#define SCORE(key, kind, field, min, max) NUMBER("learned", key, learned.score[kind].field, min, max)
#define VIRTUAL(key, min, max) NUMBER("virtual", #key, virtual_device.key, min, max)

const struct number_key number_keys[] = {
        NUMBER("fit", "degrees_of_freedom", degrees_of_freedom, 1e-3, 1e9),
        NUMBER("fit", "scale_percent", scale_percent, 0, 100),
        NUMBER("fit", "discrepancy_percent", discrepancy_percent, 0, 100),
        NUMBER("fit", "misfit_percent", misfit_percent, 0, 100),
        NUMBER("battery", "energy_full_mwh", energy_full_mwh, 1, 1e8),
        LEARNED(spans, 0, 1e9),
        LEARNED(charge_full_percent, -50, 100),
        LEARNED(charge_full_se, 0, 100),
        LEARNED(misfit_cpu_percent, 0, 1000),
        LEARNED(misfit_display_percent, 0, 1000),
        LEARNED(misfit_radio_percent, 0, 1000),
        LEARNED(misfit_front_mw, 0, 1e6),
        LEARNED(misfit_behind_mw, 0, 1e6),
        LEARNED(common, 0, 1),
        LEARNED(within_percent, 0, 1000),
        LEARNED(within_tau_s, 0.01, 1e6),
        LEARNED(background_sd_mw, 0, 1e6),
        LEARNED(session_percent, 0, 1000),
        SCORE("width", ANSWER_COST, width, 0.1, 100),
        SCORE("scored", ANSWER_COST, scored, 0, 1e9),
        SCORE("held", ANSWER_COST, held, 0, 1e9),
        SCORE("predict_width", ANSWER_PREDICT, width, 0.1, 100),
        SCORE("predict_scored", ANSWER_PREDICT, scored, 0, 1e9),
        SCORE("predict_held", ANSWER_PREDICT, held, 0, 1e9),
        SCORE("budget_width", ANSWER_BUDGET, width, 0.1, 100),
        SCORE("budget_scored", ANSWER_BUDGET, scored, 0, 1e9),
        SCORE("budget_held", ANSWER_BUDGET, held, 0, 1e9),
        SCORE("budget_likely", ANSWER_BUDGET, likely, 0, 1e9),
        VIRTUAL(level_step_percent, 1e-6, 100),
        VIRTUAL(level_refresh_s, 0, 3600),
        VIRTUAL(resistance_mohm, 0, 1e5),
        VIRTUAL(nonlinearity_percent, 0, 20),
        VIRTUAL(background_mw, 0, 1e6),
        VIRTUAL(background_tau_s, 0, 1e6),
        VIRTUAL(spike_mw, 0, 1e6),
        VIRTUAL(spike_s, 0, 1e5),
        VIRTUAL(spike_per_h, 0, 3600),
        VIRTUAL(sub_additivity_percent, 0, 90),
        VIRTUAL(leakage_percent_per_c, 0, 10),
        VIRTUAL(thermal_c_per_w, 0, 1e3),
        VIRTUAL(thermal_tau_s, 0, 1e6),
        VIRTUAL(ambient_sd_c, 0, 30),
        VIRTUAL(rate_variation_percent, 0, 100),
        VIRTUAL(gauge_period_s, 0, 3600),
        VIRTUAL(gauge_noise_percent, 0, 100),
        VIRTUAL(gauge_quantum_mw, 0, 1e5),
        VIRTUAL(gauge_gain_percent, 0, 50),
        VIRTUAL(gauge_offset_mw, 0, 1e5),
        VIRTUAL(gauge_piece_percent, 0, 20),
        VIRTUAL(gauge_smoothing_s, 0, 3600),
        VIRTUAL(gauge_average_s, 0, 3600),
        VIRTUAL(gauge_gain_at_load_percent, -50, 50),
        VIRTUAL(gauge_load_mw, 0, 1e6),
        VIRTUAL(gauge_attack, 0, 1),
        VIRTUAL(gauge_delay_s, 0, 3600),
        VIRTUAL(gauge_skip_percent, 0, 90),
        VIRTUAL(level_scatter_percent, 0, 100),
        VIRTUAL(level_drift_percent, 0, 50),
        VIRTUAL(level_drift_length_percent, 0, 1000),
        VIRTUAL(level_lag_percent, 0, 10),
        VIRTUAL(charge_full_error_percent, -50, 100),
        VIRTUAL(radio_variation, 0, 5),
        VIRTUAL(radio_variation_tau_s, 0, 1e6),
        VIRTUAL(radio_signal_db, 0, 30),
        VIRTUAL(radio_signal_noise_db, 0, 30),
        VIRTUAL(network_packets_per_s, 0, 1000),
        VIRTUAL(counter_share, 0.001, 1),
        VIRTUAL(kind_residual, 0, 2),
        VIRTUAL(kind_variation, 0, 2),
        VIRTUAL(kind_variation_tau_s, 0, 1e6),
};
const size_t n_number_keys = ARRAY_SIZE(number_keys);
_Static_assert(ARRAY_SIZE(number_keys) <= ARRAY_SIZE(((struct parser *)0)->numbers_seen),
               "each key is noted");

int profile_new(const char *device, double energy_full_mwh, struct profile **ret)
{
        struct profile *profile = calloc(1, sizeof(*profile));

        if (!profile || radio_prices_new(&profile->radio_prices) < 0) {
                free(profile);
                return -ENOMEM;
        }
        util_printable(device, profile->device, sizeof(profile->device));
        profile->degrees_of_freedom = NAN;
        profile->scale_percent = NAN;
        profile->discrepancy_percent = NAN;
        profile->misfit_percent = NAN;
        for (size_t i = 0; i < n_number_keys; i++)
                if (strcmp(number_keys[i].section, "learned") == 0)
                        memcpy((char *)profile + number_keys[i].offset, &(double){ NAN }, sizeof(double));
        profile->energy_full_mwh = energy_full_mwh;
        *ret = profile;
        return 0;
}

void profile_free(struct profile *profile)
{
        if (!profile)
                return;
        for (size_t i = 0; i < profile->n_extras; i++) {
                free(profile->extras[i].section);
                free(profile->extras[i].key);
                free(profile->extras[i].value);
        }
        free(profile->extras);
        profile_free(profile->measured);
        free(profile->apps);
        free(profile->match);
        free(profile->policies);
        free(profile->coefficients);
        free(profile->covariance);
        radio_clear_all(&profile->radios);
        radio_prices_free(profile->radio_prices);
        free(profile->virtual_device.voltage);
        free(profile->virtual_device.emission);
        free(profile);
}

int profile_coefficient_compare(const void *a, const void *b)
{
        const struct coefficient *x = a, *y = b;

        if (x->term != y->term)
                return x->term < y->term ? -1 : 1;
        if (x->policy != y->policy)
                return x->policy < y->policy ? -1 : 1;
        if (x->point != y->point)
                return x->point < y->point ? -1 : 1;
        return strcmp(x->disk, y->disk);
}

bool profile_is_resolved(const struct coefficient *coefficient, double half_width)
{
        return coefficient->term >= TERM_CURVE || !isfinite(half_width) ||
               half_width <= PROFILE_RESOLVED_MAX * coefficient->value;
}

char *profile_coefficient_key(const struct coefficient *coefficient, char *buf)
{
        const struct term_key *key = &term_keys[coefficient->term];
        char instance[PROFILE_NAME_MAX + 2] = "", point[16] = "";

        if (key->by_policy)
                snprintf(instance, sizeof(instance), ".%u", coefficient->policy);
        else if (key->by_disk && *coefficient->disk)
                snprintf(instance, sizeof(instance), ".%s", coefficient->disk);
        if (key->by_point)
                snprintf(point, sizeof(point), ".%u", coefficient->point);
        snprintf(buf, PROFILE_KEY_MAX, "%s%s.%s%s", key->section, instance, key->key, point);
        return buf;
}

ssize_t profile_find(const struct profile *profile, enum term term, uint32_t policy, uint32_t point,
                     const char *disk)
{
        struct coefficient wanted = { .term = term, .policy = policy, .point = point };
        const struct coefficient *found;
        size_t length = disk ? strlen(disk) : 0;

        if (length >= sizeof(wanted.disk))
                return -ENOENT;
        if (length > 0)
                memcpy(wanted.disk, disk, length);
        if (profile->n_coefficients == 0)
                return -ENOENT;
        found = bsearch(&wanted, profile->coefficients, profile->n_coefficients, sizeof(wanted),
                        profile_coefficient_compare);
        return found ? found - profile->coefficients : -ENOENT;
}

ssize_t profile_find_key(const struct profile *profile, const char *key)
{
        char buf[PROFILE_KEY_MAX];

        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (strcmp(profile_coefficient_key(&profile->coefficients[i], buf), key) == 0)
                        return (ssize_t)i;
        return -ENOENT;
}

double profile_covariance(const struct profile *profile, size_t i, size_t j)
{
        return profile->covariance[i * profile->n_coefficients + j];
}

void profile_set_covariance(struct profile *profile, size_t i, size_t j, double value)
{
        profile->covariance[i * profile->n_coefficients + j] = value;
        profile->covariance[j * profile->n_coefficients + i] = value;
}

int profile_set_coefficients(struct profile *profile, struct coefficient *coefficients, size_t n)
{
        double *covariance = calloc(n * n + 1, sizeof(*covariance));

        if (!covariance)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                covariance[i * n + i] = coefficients[i].standard_error * coefficients[i].standard_error;
        free(profile->coefficients);
        free(profile->covariance);
        profile->coefficients = coefficients;
        profile->covariance = covariance;
        profile->n_coefficients = n;
        return 0;
}

double profile_least(enum term term)
{
        if (term == TERM_APP_CPU || term == TERM_APP_DISPLAY || term == TERM_WIFI_SIGNAL)
                return -1; /* parts: nothing takes less than nothing */
        return term >= TERM_CURVE ? -PROFILE_COEFFICIENT_MAX : 0;
}

int profile_add(struct profile *profile, const struct coefficient *coefficient)
{
        size_t n = profile->n_coefficients, at = 0;
        struct profile grown = { 0 };
        struct coefficient *list;
        int order = 1, err;

        if (!(coefficient->value >= profile_least(coefficient->term)) || !isfinite(coefficient->value) ||
            coefficient->standard_error < 0 || isinf(coefficient->standard_error))
                return -EINVAL;
        while (at < n && (order = profile_coefficient_compare(&profile->coefficients[at], coefficient)) < 0)
                at++;
        if (at < n && order == 0)
                return -EEXIST;
        list = reallocarray(NULL, n + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        if (at > 0)
                memcpy(list, profile->coefficients, at * sizeof(*list));
        list[at] = *coefficient;
        if (at < n)
                memcpy(list + at + 1, profile->coefficients + at, (n - at) * sizeof(*list));
        err = profile_set_coefficients(&grown, list, n + 1);
        if (err) {
                free(list);
                return err;
        }
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                        grown.covariance[(i + (i >= at)) * (n + 1) + j + (j >= at)] = profile->covariance[i * n + j];
        free(profile->coefficients);
        free(profile->covariance);
        profile->coefficients = grown.coefficients;
        profile->covariance = grown.covariance;
        profile->n_coefficients = n + 1;
        return 0;
}

/* How many CPUs a kernel list like "0-3,6" names; 0 where it is no such list. */
static uint32_t count_cpus(const char *list)
{
        uint32_t count = 0;

        while (*list) {
                unsigned long first, last;
                char *end;

                if (*list < '0' || *list > '9')
                        return 0;
                first = last = strtoul(list, &end, 10);
                if (*end == '-' && end[1] >= '0' && end[1] <= '9')
                        last = strtoul(end + 1, &end, 10);
                if (last < first || last > 65535 || (*end && *end != ','))
                        return 0;
                count += (uint32_t)(last - first) + 1;
                list = *end ? end + 1 : end;
        }
        return count;
}

int profile_add_policy(struct profile *profile, uint32_t policy, const char *cpus)
{
        struct profile_policy *list, new = { .policy = policy, .as = policy };
        size_t at = 0;

        if (snprintf(new.cpus, sizeof(new.cpus), "%s", cpus ? cpus : "") >= (int)sizeof(new.cpus))
                return -EINVAL;
        new.n_cpus = count_cpus(new.cpus);
        if (*new.cpus && new.n_cpus == 0)
                return -EINVAL;
        while (at < profile->n_policies && profile->policies[at].policy < policy)
                at++;
        if (at < profile->n_policies && profile->policies[at].policy == policy) {
                if (*profile->policies[at].cpus && *new.cpus)
                        return -EEXIST;
                if (*new.cpus) {
                        strcpy(profile->policies[at].cpus, new.cpus);
                        profile->policies[at].n_cpus = new.n_cpus;
                }
                return 0;
        }
        list = reallocarray(profile->policies, profile->n_policies + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        memmove(list + at + 1, list + at, (profile->n_policies - at) * sizeof(*list));
        list[at] = new;
        profile->policies = list;
        profile->n_policies++;
        return 0;
}

const struct profile_app *profile_find_app(const struct profile *profile, const char *id)
{
        for (size_t i = 0; i < profile->n_apps; i++)
                if (strcmp(profile->apps[i].id, id) == 0)
                        return &profile->apps[i];
        return NULL;
}

bool profile_can_name(const char *id)
{
        char printable[PROFILE_APP_MAX];
        size_t length = strlen(id);

        return length > 0 && length < sizeof(printable) && *id != ' ' && id[length - 1] != ' ' && !strstr(id, " ;") &&
               strcmp(util_printable(id, printable, sizeof(printable)), id) == 0;
}

int profile_add_app(struct profile *profile, uint32_t number, const char *id)
{
        struct profile_app *list;
        size_t at = 0;

        if (strlen(id) >= sizeof(list->id))
                return -EINVAL;
        while (at < profile->n_apps && profile->apps[at].number < number)
                at++;
        if ((at < profile->n_apps && profile->apps[at].number == number) || profile_find_app(profile, id))
                return -EEXIST;
        list = reallocarray(profile->apps, profile->n_apps + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        memmove(list + at + 1, list + at, (profile->n_apps - at) * sizeof(*list));
        list[at] = (struct profile_app){ .number = number };
        strcpy(list[at].id, id);
        profile->apps = list;
        profile->n_apps++;
        return 0;
}

static struct profile_policy *find_policy(const struct profile *profile, uint32_t policy)
{
        for (size_t i = 0; i < profile->n_policies; i++)
                if (profile->policies[i].policy == policy)
                        return &profile->policies[i];
        return NULL;
}

int profile_set_as(struct profile *profile, uint32_t policy, uint32_t as)
{
        int err = profile_add_policy(profile, policy, NULL);
        struct profile_policy *found = err ? NULL : find_policy(profile, policy);

        if (!found)
                return err;
        if (found->as != policy && found->as != as)
                return -EEXIST;
        found->as = as;
        return 0;
}

uint32_t profile_as(const struct profile *profile, uint32_t policy)
{
        const struct profile_policy *found = find_policy(profile, policy);

        if (!found && strcmp(profile->method, "class") == 0 && profile->n_policies > 0)
                return profile->policies[0].as; /* cores of no machine in particular */
        return found ? found->as : policy;
}

const char *profile_extra(const struct profile *profile, const char *section, const char *key)
{
        for (size_t i = 0; i < profile->n_extras; i++)
                if (strcmp(profile->extras[i].section, section) == 0 &&
                    strcmp(profile->extras[i].key, key) == 0)
                        return profile->extras[i].value;
        return NULL;
}

int profile_validated(const struct profile *profile)
{
        const char *said = profile_extra(profile, "profile", "x-validated");

        return !said ? -1 : strcmp(said, "true") == 0;
}

const char *profile_basis(const struct profile *profile)
{
        if (strcmp(profile->method, "class") == 0)
                return "class";
        return profile->match || strcmp(profile->method, "import") == 0 ? "shipped" : "calibrated";
}

int profile_set_extra(struct profile *profile, const char *section, const char *key, const char *value)
{
        _cleanup_free_ char *section_copy = strdup(section), *key_copy = strdup(key),
                            *value_copy = strdup(value);
        struct profile_extra *list;

        if (!section_copy || !key_copy || !value_copy)
                return -ENOMEM;
        for (size_t i = 0; i < profile->n_extras; i++) {
                struct profile_extra *extra = &profile->extras[i];

                if (strcmp(extra->section, section) == 0 && strcmp(extra->key, key) == 0) {
                        free(extra->value);
                        extra->value = TAKE_PTR(value_copy);
                        return 0;
                }
        }
        list = reallocarray(profile->extras, profile->n_extras + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        profile->extras = list;
        list[profile->n_extras++] = (struct profile_extra){
                .section = TAKE_PTR(section_copy),
                .key = TAKE_PTR(key_copy),
                .value = TAKE_PTR(value_copy),
        };
        return 0;
}

void profile_drop_extra(struct profile *profile, const char *section, const char *key)
{
        size_t n = 0;

        for (size_t i = 0; i < profile->n_extras; i++) {
                struct profile_extra *extra = &profile->extras[i];

                if (strcmp(extra->section, section) != 0 || strcmp(extra->key, key) != 0) {
                        profile->extras[n++] = *extra;
                        continue;
                }
                free(extra->section);
                free(extra->key);
                free(extra->value);
        }
        profile->n_extras = n;
}

/*
 * Cholesky of the correlations plus 1e-6 on the diagonal: fails where an eigenvalue is below
 * about -1e-6, which no rounding of a true covariance reaches. Correlations, because the units
 * span six orders of magnitude.
 */
int profile_check_covariance(const struct profile *profile)
{
        size_t n = profile->n_coefficients;
        _cleanup_free_ double *l = calloc(n * n + 1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                double se_i = profile->coefficients[i].standard_error;

                for (size_t j = 0; j <= i; j++) {
                        double se_j = profile->coefficients[j].standard_error;
                        double c = profile->covariance[i * n + j], sum;

                        if (i != j && c != 0 && !(se_i > 0 && se_j > 0))
                                return -EINVAL;
                        sum = i == j ? 1 + 1e-6 : c == 0 ? 0 : c / (se_i * se_j);
                        for (size_t k = 0; k < j; k++)
                                sum -= l[i * n + k] * l[j * n + k];
                        if (i == j && !(sum > 0))
                                return -EINVAL;
                        l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
                }
        }
        return 0;
}

double profile_voltage_mv(const struct profile *profile, double percent)
{
        const struct profile_virtual *device = &profile->virtual_device;
        const struct voltage_point *v = device->voltage;
        size_t n = device->n_voltage, i = 1;

        if (n == 0)
                return NAN;
        if (n == 1 || percent <= v[0].percent)
                return v[0].voltage_mv;
        if (percent >= v[n - 1].percent)
                return v[n - 1].voltage_mv;
        while (v[i].percent < percent)
                i++;
        return v[i - 1].voltage_mv + (v[i].voltage_mv - v[i - 1].voltage_mv) * (percent - v[i - 1].percent) /
                                             (v[i].percent - v[i - 1].percent);
}

double profile_mean_voltage_mv(const struct profile *profile)
{
        const struct profile_virtual *device = &profile->virtual_device;
        double sum = 0, at = 0, before = profile_voltage_mv(profile, 0);

        for (size_t i = 0; i <= device->n_voltage; i++) {
                double percent = i < device->n_voltage ? device->voltage[i].percent : 100;
                double voltage = profile_voltage_mv(profile, percent);

                sum += (percent - at) * (before + voltage) / 2;
                at = percent;
                before = voltage;
        }
        return device->n_voltage ? sum / 100 : NAN;
}
