/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast profile show`: the coefficients of one. */

#include "profile-show.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "app/app.h"
#include "options.h"
#include "source/cpu.h"
#include "util/quantile.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

const char *profile_known(const char *text)
{
        return *text ? text : "?";
}

void profile_add_text(struct cJSON *json, const char *key, const char *text)
{
        cJSON_AddItemToObject(json, key, answer_text(text && *text ? text : NULL));
}

/* The calibrated value of a coefficient that everyday use corrected; NULL: it has none, or nothing was learnt. */
static const struct coefficient *find_measured(const struct profile *profile, const struct coefficient *now)
{
        ssize_t at = !profile->measured ? -ENOENT :
                     profile_find(profile->measured, now->term, now->policy, now->point, now->disk);

        return at < 0 ? NULL : &profile->measured->coefficients[at];
}

static const char *app_of(const struct profile *profile, const struct coefficient *coefficient)
{
        for (size_t i = 0; coefficient->policy > 0 && coefficient->term >= TERM_APP_CPU && i < profile->n_apps; i++)
                if (profile->apps[i].number == coefficient->policy)
                        return profile->apps[i].id;
        return NULL;
}

/*
 * The factor that makes a coefficient percent of the battery: for 10 s on or busy, for a MB, or for each event.
 * NaN: the coefficient is itself a factor, without a unit.
 */
static double percent_of_unit(const struct profile *profile, enum term term)
{
        double percent_mj = 1e3 * J_PER_PERCENT(profile->energy_full_mwh);

        if (!*term_keys[term].unit)
                return NAN;
        return (strcmp(term_keys[term].unit, "mW") == 0 ? 10 : 1) / percent_mj;
}

static const char *percent_unit(enum term term)
{
        const char *unit = term_keys[term].unit;

        if (strcmp(unit, "mW") == 0)
                return /* xgettext:no-c-format */ N_("% per 10 s");
        return strcmp(unit, "mJ/MB") == 0 ? /* xgettext:no-c-format */ N_("% per MB") : *unit ? N_("% each") : NULL;
}

int profile_show_json(const struct profile *profile, const char *path)
{
        struct cJSON *json = cJSON_CreateObject(), *list, *item;
        char key[PROFILE_KEY_MAX];

        cJSON_AddItemToObject(json, "path", answer_text(path));
        profile_add_text(json, "device", profile->device);
        profile_add_text(json, "method", profile->method);
        profile_add_text(json, "created", profile->created);
        answer_add_validated(json, profile);
        cJSON_AddNumberToObject(json, "energy_full_mwh", profile->energy_full_mwh);
        cJSON_AddNumberToObject(json, "degrees_of_freedom", profile->degrees_of_freedom);
        cJSON_AddNumberToObject(json, "scale_percent", profile->scale_percent);
        cJSON_AddNumberToObject(json, "discrepancy_percent", profile->discrepancy_percent);
        cJSON_AddNumberToObject(json, "misfit_percent", profile->misfit_percent);
        list = cJSON_AddArrayToObject(json, "policies");
        for (size_t i = 0; i < profile->n_policies; i++) {
                item = cJSON_CreateObject();
                cJSON_AddNumberToObject(item, "policy", profile->policies[i].policy);
                profile_add_text(item, "cpus", profile->policies[i].cpus);
                cJSON_AddNumberToObject(item, "as", profile->policies[i].as);
                cJSON_AddItemToArray(list, item);
        }
        list = cJSON_AddArrayToObject(json, "coefficients");
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i], *measured = find_measured(profile, c);

                item = cJSON_CreateObject();
                cJSON_AddStringToObject(item, "key", profile_coefficient_key(c, key));
                cJSON_AddNumberToObject(item, "value", c->value);
                cJSON_AddNumberToObject(item, "standard_error", c->standard_error);
                cJSON_AddStringToObject(item, "unit", term_keys[c->term].unit);
                cJSON_AddNumberToObject(item, "percent", c->value * percent_of_unit(profile, c->term));
                cJSON_AddItemToObject(item, "percent_unit", answer_text(percent_unit(c->term)));
                cJSON_AddItemToObject(item, "app", answer_text(app_of(profile, c)));
                cJSON_AddNumberToObject(item, "measured", measured ? measured->value : NAN);
                cJSON_AddNumberToObject(item, "measured_standard_error", measured ? measured->standard_error : NAN);
                cJSON_AddItemToArray(list, item);
        }
        return answer_print_json(json);
}

/* Prints which policies share the coefficients of a policy in the table: those of one kind are measured as one. */
static void print_alike(const struct profile *profile)
{
        bool first = true;

        for (size_t i = 0; i < profile->n_policies; i++) {
                uint32_t policies[256], as = profile->policies[i].policy;
                char text[256];
                size_t n = 0;

                for (size_t k = 0; k < profile->n_policies && n < ARRAY_SIZE(policies); k++)
                        if (k != i && profile->policies[k].as == as)
                                policies[n++] = profile->policies[k].policy;
                if (n == 0)
                        continue;
                if (first)
                        putchar('\n');
                printf(_("cpu.%u: also of policies %s\n"), as, cpu_print_list(policies, n, text, sizeof(text)));
                first = false;
        }
}

/* "app-3 display" */
static void name_cell(struct table *table, const struct profile *profile, const struct coefficient *coefficient,
                      const struct desktop_index *index)
{
        const char *app = app_of(profile, coefficient);
        char key[PROFILE_KEY_MAX], name[256];

        if (app)
                table_cell(table, "%s %s", index ? app_name(index, app, name, sizeof(name)) : app,
                           term_keys[coefficient->term].key);
        else
                table_cell(table, "%s", profile_coefficient_key(coefficient, key));
}

/* The unit in which a coefficient is shown: its own; or percent of the battery, if asked for and if it has that. */
struct unit {
        double times;
        const char *text;
        bool percent;
};

static struct unit unit_of(const struct profile *profile, enum term term, bool percent)
{
        if (percent && percent_unit(term))
                return (struct unit){ percent_of_unit(profile, term), percent_unit(term), true };
        return (struct unit){ 1, term_keys[term].unit, false };
}

/* Prints percent with three digits, as a MB takes a millionth of a percent on one device and a tenth on another. */
static char *print_in(const struct unit *unit, double value, double least, char *buf)
{
        return unit->percent ? answer_print_digits(value * unit->times, buf)
                             : answer_print_number(value, fmax(fabs(value) / 100, least), buf);
}

static void measured_cell(struct table *table, const struct profile *profile, const struct coefficient *now,
                          const struct unit *unit)
{
        const struct coefficient *measured = find_measured(profile, now);
        char text[64];

        table_cell(table, "%s", measured ? print_in(unit, measured->value, 0.01, text) : "");
}

static void interval_cell(struct table *table, const struct coefficient *c, double half_width, const struct unit *unit)
{
        const struct cost_value interval = { c->value, c->value - half_width, c->value + half_width };
        char text[128], high[64];

        if (answer_print_unresolved(c, half_width, unit->times, text))
                table_cell(table, "%s", text);
        else if (unit->percent && !isnan(half_width))
                table_cell(table, "%s .. %s", print_in(unit, interval.low, 0, text),
                           print_in(unit, interval.high, 0, high));
        else
                table_cell(table, "%s", answer_print_bounds(&interval, text));
}

int profile_show_table(const struct profile *profile, const char *path, bool percent, const struct desktop_index *index)
{
        _cleanup_(table_freep) struct table *table = table_new("nrrlr");
        double t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL);
        char text[64];

        table_spare(table, "431");
        table_heads(table, N_("Coefficient"), profile->measured ? N_("Measured") : "", N_("Value"), N_("Unit"),
                    isnan(t) ? "" : /* xgettext:no-c-format */ N_("95 % CI"), NULL);
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];
                const struct unit unit = unit_of(profile, c->term, percent);

                if (c->term == TERM_CURVE) /* a wave of the gauge, only for fits */
                        continue;
                table_row(table, TABLE_PLAIN);
                name_cell(table, profile, c, index);
                measured_cell(table, profile, c, &unit);
                table_cell(table, "%s", print_in(&unit, c->value, 0.01, text));
                table_cell(table, "%s", unit.percent ? _(unit.text) : unit.text);
                interval_cell(table, c, t * c->standard_error, &unit);
        }
        printf("%s\n", path ? path : _("This machine has no profile of its own; this one is used:"));
        table_text(TABLE_PLAIN, "Device %s, method %s, created %s, %.0f mWh when full",
                   profile_known(profile->device), profile_known(profile->method),
                   profile_known(profile->created), profile->energy_full_mwh);
        putchar('\n');
        table_print(table);
        if (percent) {
                putchar('\n');
                table_note("Percent of the full battery: per 10 s on or busy (CPU: of one core), per 10^6 "
                           "bytes, and per burst.");
        }
        print_alike(profile);
        answer_note_profile(profile);
        return CODE_OK;
}
