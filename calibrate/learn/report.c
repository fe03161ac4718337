/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "app/app.h"
#include "model/coefficient-words.h"
#include "model/profile.h"
#include "util/quantile.h"
#include "util/table.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"
#include "util/words.h"

static const char *const learnt_words[LEARNT_COUNT] = { "cpu", "display", "front_mw", "behind_mw" };

static const struct coefficient *find_term(const struct profile *profile, uint32_t number, size_t k)
{
        ssize_t at = profile_find(profile, design_learnt_term(k), number, 0, "");

        return at < 0 ? NULL : &profile->coefficients[at];
}

/* As tables of other commands show a day: by this machine's clock. */
static void format_day(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        *buf = '\0';
        if (localtime_r(&seconds, &tm))
                strftime(buf, size, "%Y-%m-%d", &tm);
}

static const char *name_of(const struct desktop_index *index, const char *app, char name[256])
{
        return index ? app_name(index, app, name, 256) : app;
}

/* A coefficient that changed by less than this, relative to its error, is left out of the table for people. */
#define SHOWN_CHANGE 0.3

/* "1190 ± 30", to the digits that the interval leaves. */
static void interval_cell(struct table *table, const struct coefficient *coefficient)
{
        double half_width = 1.96 * coefficient->standard_error;
        int digits = half_width >= 10 ? 0 : half_width >= 1 ? 1 : 2;

        if (isnan(half_width))
                table_cell(table, "%.2f", coefficient->value);
        else
                table_cell(table, "%.*f \u00b1 %.*f", digits, coefficient->value, digits, half_width);
}

/* Without a calibration the numbers before are those of a class, and nobody measured them. */
static void print_coefficients(const struct profile *profile)
{
        _cleanup_(table_freep) struct table *table = table_new("nrrl");
        const struct profile *measured = profile->measured;
        bool calibrated = strcmp(profile_basis(profile), "calibrated") == 0;
        char words[COEFFICIENT_WORDS_MAX];
        bool any = false;

        table_heads(table, N_("Coefficient"), calibrated ? N_("Measured") : N_("Before"), N_("Now"), N_("Unit"), NULL);
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *now = &profile->coefficients[i], *before;
                ssize_t at;

                if (now->term >= TERM_CURVE)
                        break;
                at = profile_find(measured, now->term, now->policy, now->point, now->disk);
                if (at < 0 || fabs(now->value - measured->coefficients[at].value) < SHOWN_CHANGE * now->standard_error)
                        continue;
                before = &measured->coefficients[at];
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", coefficient_words(profile, now, words));
                interval_cell(table, before);
                interval_cell(table, now);
                table_cell(table, "%s", term_keys[now->term].unit);
                any = true;
        }
        if (!any)
                return;
        table_print(table);
        table_note("\u00b1: half of the 95 %% CI");
}

static void value_cell(struct table *table, const struct coefficient *term, double unit)
{
        double value = term ? round(term->value * unit) : NAN;

        if (term && term->standard_error > 0)
                table_cell(table, value == 0 ? "%.0f \u00b1 %.0f" : "%+.0f \u00b1 %.0f", fabs(value) > 0 ? value : 0,
                           1.96 * term->standard_error * unit);
        else
                table_cell(table, "-");
}

static void print_apps(const struct profile *profile, const struct desktop_index *index)
{
        _cleanup_(table_freep) struct table *table = table_new("nrrrr");
        char name[256];

        if (profile->n_apps == 0)
                return;
        table_heads(table, N_("App"), N_("CPU %"), N_("Display %"), N_("Foreground"), N_("Background"), NULL);
        for (size_t i = 0; i < profile->n_apps; i++) {
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", name_of(index, profile->apps[i].id, name));
                for (size_t k = 0; k < LEARNT_COUNT; k++)
                        value_cell(table, find_term(profile, profile->apps[i].number, k), k < LEARNT_FRONT ? 100 : 1);
        }
        putchar('\n');
        table_text(TABLE_PLAIN, "Power of apps that no counter shows, in the foreground and in the background, in mW "
                                "(\u00b1: half of the 95 %% CI):");
        table_print(table);
}

#define DRIFTED_MAX 64

/* "display,wifi": components that have changed in everyday use since they were measured. False: none. */
static bool drifted(const struct learning *learning, char names[DRIFTED_MAX])
{
        size_t length = 0;

        if (strcmp(profile_basis(learning->profile), "calibrated") != 0)
                return false; /* a part alone cannot be */
        for (size_t i = 0; i < learning->n_changes; i++)
                if (!*learning->changes[i].app && !learning->changes[i].measured_since)
                        length += (size_t)snprintf(names + length, DRIFTED_MAX - length, "%s%s", length ? "," : "",
                                                   component_names[learning->changes[i].component]);
        return length > 0;
}

/* How much more energy WiFi takes at a weak signal than at a strong one, learnt from everyday use. */

struct by_signal {
        int32_t strong_dbm, weak_dbm;
        double factor, low, high; /* energy at the weak signal relative to the strong one, and its 95 % CI */
};

/* Less than nothing is not possible, and its logarithm is not there. */
#define LEAST_FACTOR 0.05
#define RESOLVED 1.96

/* Logarithm of the ratio of both, and its standard deviation. */
static double log_ratio(const struct profile *profile, size_t strong, size_t weak, double *ret_sd)
{
        const struct coefficient *a = &profile->coefficients[strong], *b = &profile->coefficients[weak];
        double at_a = fmax(1 + a->value, LEAST_FACTOR), at_b = fmax(1 + b->value, LEAST_FACTOR);

        *ret_sd = sqrt(fmax(pow(a->standard_error / at_a, 2) + pow(b->standard_error / at_b, 2) -
                            2 * profile_covariance(profile, strong, weak) / (at_a * at_b), 0));
        return log(at_b / at_a);
}

/* Finds the pair of signal levels whose difference is the most significant. False: no difference is significant. */
static bool by_signal_find(const struct profile *profile, struct by_signal *ret)
{
        const struct coefficient *list = profile->coefficients;
        double most = RESOLVED;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                for (size_t j = i + 1; list[i].term == TERM_WIFI_SIGNAL && j < profile->n_coefficients; j++) {
                        double sd, ratio = log_ratio(profile, i, j, &sd);

                        if (!(fabs(ratio) > most * sd) || !(sd > 0))
                                continue;
                        most = fabs(ratio) / sd;
                        *ret = (struct by_signal){ -(int32_t)list[i].point, -(int32_t)list[j].point, exp(ratio),
                                                   exp(ratio - 1.96 * sd), exp(ratio + 1.96 * sd) };
                }
        return most > RESOLVED;
}

void report_print(const struct profile *before, const struct learning *learning, const char *path, bool dry_run,
                  bool traced, const struct desktop_index *index)
{
        const struct profile_learned *learned = &learning->profile->learned;
        struct by_signal by_signal;
        char names[DRIFTED_MAX];

        printf(traced ? words_counted("%zu measured span of use in %.1f days\n\n",
                                      "%zu measured spans of use in %.1f days\n\n", learning->n_spans)
                      : words_counted("%zu percent step of everyday use in %.1f days\n\n",
                                      "%zu percent steps of everyday use in %.1f days\n\n", learning->n_spans),
               learning->n_spans, learning->days);
        print_coefficients(learning->profile);
        print_apps(learning->profile, index);
        putchar('\n');
        if (fabs(learned->charge_full_percent) > 2 * learned->charge_full_se && fabs(learned->charge_full_percent) > 2)
                table_text(
                        TABLE_PLAIN,
                        learned->charge_full_percent > 0 ?
                                N_("The full charge that the battery shows is %.0f %% too high, as its percentage "
                                   "and its sensor of power tell; energies are corrected by that.") :
                                N_("The full charge that the battery shows is %.0f %% too low, as its percentage "
                                   "and its sensor of power tell; energies are corrected by that."),
                        fabs(learned->charge_full_percent));
        if (by_signal_find(learning->profile, &by_signal))
                table_text(TABLE_PLAIN,
                           "WiFi takes %.2g times as much at %d dBm as at %d dBm (%.2g .. %.2g).",
                           by_signal.factor, by_signal.weak_dbm, by_signal.strong_dbm, by_signal.low,
                           by_signal.high);
        for (size_t i = 0; i < learning->n_changes; i++) {
                const struct learn_change *change = &learning->changes[i];
                char when[32], name[256], who[320];

                format_day(change->time_ns, when, sizeof(when));
                if (*change->app)
                        snprintf(who, sizeof(who), "%s", name_of(index, change->app, name));
                else
                        snprintf(who, sizeof(who), _("Component %s"), _(component_names[change->component]));
                table_text(TABLE_PLAIN, change->percent > 0
                                   ? N_("%s needs about %.0f %% more since %s%s. The 95 %% interval is %.0f "
                                        "to %.0f %%.")
                                   : N_("%s needs about %.0f %% less since %s%s. The 95 %% interval is %.0f "
                                        "to %.0f %%."),
                           who, fabs(change->percent), when,
                           change->measured_since ? _("; it was measured again after that") : "",
                           fmin(fabs(change->low), fabs(change->high)), fmax(fabs(change->low), fabs(change->high)));
        }
        if (drifted(learning, names))
                table_text(TABLE_PLAIN, "To measure it again: joulecast calibrate --only %s", names);
        if (learning->n_scored[ANSWER_COST] > 0)
                table_text(TABLE_PLAIN, "Costs by the profile before: %zu of %zu were inside their interval.",
                           learning->n_held[ANSWER_COST], learning->n_scored[ANSWER_COST]);
        if (learning->n_scored[ANSWER_PREDICT] > 0)
                table_text(TABLE_PLAIN, "Forecasts: %zu of %zu were inside their interval; budgets: %zu of %zu lasted.",
                           learning->n_held[ANSWER_PREDICT], learning->n_scored[ANSWER_PREDICT],
                           learning->n_held[ANSWER_BUDGET], learning->n_scored[ANSWER_BUDGET]);
        if (!learning->taken)
                table_text(TABLE_PLAIN, "Not taken: it predicts the newest days worse than the profile in use.");
        else if (dry_run)
                table_text(TABLE_PLAIN, "Nothing was written.");
        else if (path)
                table_text(TABLE_PLAIN, "Written to %s; joulecast profile undo --profile %s goes back.", path, path);
}

static void add_apps(struct cJSON *json, const struct profile *profile)
{
        struct cJSON *apps = cJSON_AddArrayToObject(json, "apps");

        for (size_t i = 0; i < profile->n_apps; i++) {
                struct cJSON *app = cJSON_CreateObject();

                cJSON_AddItemToArray(apps, app);
                cJSON_AddStringToObject(app, "app", profile->apps[i].id);
                for (size_t k = 0; k < LEARNT_COUNT; k++) {
                        const struct coefficient *term = find_term(profile, profile->apps[i].number, k);
                        struct cJSON *value;

                        if (!term)
                                continue;
                        value = cJSON_AddObjectToObject(app, learnt_words[k]);
                        cJSON_AddNumberToObject(value, "value", term->value);
                        cJSON_AddNumberToObject(value, "standard_error", term->standard_error);
                }
        }
}

static void add_coefficients(struct cJSON *json, const struct profile *profile)
{
        struct cJSON *list = cJSON_AddArrayToObject(json, "coefficients");
        char key[PROFILE_KEY_MAX];

        for (size_t i = 0; i < profile->n_coefficients && profile->coefficients[i].term < TERM_CURVE; i++) {
                const struct coefficient *now = &profile->coefficients[i];
                ssize_t at = profile_find(profile->measured, now->term, now->policy, now->point, now->disk);
                struct cJSON *item = cJSON_CreateObject();

                cJSON_AddItemToArray(list, item);
                cJSON_AddStringToObject(item, "key", profile_coefficient_key(now, key));
                /* NaN is printed as null */
                cJSON_AddNumberToObject(item, "measured", at < 0 ? NAN : profile->measured->coefficients[at].value);
                cJSON_AddNumberToObject(item, "measured_standard_error",
                                        at < 0 ? NAN : profile->measured->coefficients[at].standard_error);
                cJSON_AddNumberToObject(item, "value", now->value);
                cJSON_AddNumberToObject(item, "standard_error", now->standard_error);
        }
}

static void add_changes(struct cJSON *json, const struct learning *learning)
{
        struct cJSON *apps = cJSON_AddArrayToObject(json, "changes"),
                     *components = cJSON_AddArrayToObject(json, "drifted");
        char names[DRIFTED_MAX], command[DRIFTED_MAX + 32];

        for (size_t i = 0; i < learning->n_changes; i++) {
                const struct learn_change *change = &learning->changes[i];
                struct cJSON *item = cJSON_CreateObject();
                char when[32];

                utc_print(change->time_ns, when, sizeof(when));
                cJSON_AddItemToArray(*change->app ? apps : components, item);
                if (*change->app)
                        cJSON_AddStringToObject(item, "app", change->app);
                else
                        cJSON_AddStringToObject(item, "component", component_names[change->component]);
                cJSON_AddStringToObject(item, "since", when);
                cJSON_AddNumberToObject(item, "percent", change->percent);
                cJSON_AddNumberToObject(item, "standard_error", change->percent_se);
                cJSON_AddNumberToObject(item, "low", change->low);
                cJSON_AddNumberToObject(item, "high", change->high);
                if (!*change->app)
                        cJSON_AddBoolToObject(item, "measured_since", change->measured_since);
        }
        if (drifted(learning, names)) {
                snprintf(command, sizeof(command), "joulecast calibrate --only %s", names);
                cJSON_AddStringToObject(json, "measure_again", command);
        } else {
                cJSON_AddNullToObject(json, "measure_again");
        }
}

static void add_score(struct cJSON *json, const struct learning *learning, enum answer_kind kind)
{
        cJSON_AddNumberToObject(json, "stretches", (double)learning->n_scored[kind]);
        cJSON_AddNumberToObject(json, "held", (double)learning->n_held[kind]);
        cJSON_AddNumberToObject(json, "width", learning->profile->learned.score[kind].width);
        if (kind == ANSWER_BUDGET)
                cJSON_AddNumberToObject(json, "likely", (double)learning->n_likely);
}

static void add_coverage(struct cJSON *json, const struct learning *learning)
{
        struct cJSON *kinds;

        add_score(json, learning, ANSWER_COST);
        kinds = cJSON_AddObjectToObject(json, "kinds");
        for (enum answer_kind kind = 0; kind < ANSWER_COUNT; kind++)
                add_score(cJSON_AddObjectToObject(kinds, answer_kinds[kind]), learning, kind);
}

static void add_by_signal(struct cJSON *json, const struct profile *profile)
{
        struct by_signal by_signal;
        struct cJSON *item;

        if (!by_signal_find(profile, &by_signal)) {
                cJSON_AddNullToObject(json, "wifi_by_signal");
                return;
        }
        item = cJSON_AddObjectToObject(json, "wifi_by_signal");
        cJSON_AddNumberToObject(item, "weak_dbm", by_signal.weak_dbm);
        cJSON_AddNumberToObject(item, "strong_dbm", by_signal.strong_dbm);
        cJSON_AddNumberToObject(item, "factor", by_signal.factor);
        cJSON_AddNumberToObject(item, "low", by_signal.low);
        cJSON_AddNumberToObject(item, "high", by_signal.high);
}

struct cJSON *report_json(const struct profile *before, const struct learning *learning, const char *path)
{
        const struct profile_learned *learned = &learning->profile->learned;
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddItemToObject(json, "profile", path ? cJSON_CreateString(path) : cJSON_CreateNull());
        cJSON_AddBoolToObject(json, "taken", learning->taken);
        cJSON_AddNumberToObject(json, "spans", (double)learning->n_spans);
        cJSON_AddNumberToObject(json, "stretches", (double)learning->n_stretches);
        cJSON_AddNumberToObject(json, "days", learning->days);
        cJSON_AddNumberToObject(json, "held_out", (double)learning->n_held_out);
        cJSON_AddNumberToObject(json, "better", learning->better);
        cJSON_AddNumberToObject(json, "charge_full_percent", learned->charge_full_percent);
        cJSON_AddNumberToObject(json, "charge_full_se", learned->charge_full_se);
        cJSON_AddNumberToObject(json, "misfit_cpu_percent", learned->misfit_cpu_percent);
        cJSON_AddNumberToObject(json, "misfit_display_percent", learned->misfit_display_percent);
        cJSON_AddNumberToObject(json, "misfit_radio_percent", learned->misfit_radio_percent);
        cJSON_AddNumberToObject(json, "misfit_front_mw", learned->misfit_front_mw);
        cJSON_AddNumberToObject(json, "misfit_behind_mw", learned->misfit_behind_mw);
        add_coverage(cJSON_AddObjectToObject(json, "coverage"), learning);
        add_apps(json, learning->profile);
        add_changes(json, learning);
        add_by_signal(json, learning->profile);
        add_coefficients(json, learning->profile);
        return json;
}
