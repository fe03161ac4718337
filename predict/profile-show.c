/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast profile show`: the coefficients of one. */

#include "profile-show.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "answer.h"
#include "options.h"
#include "source/cpu.h"
#include "util/quantile.h"
#include "util/table.h"
#include "util/util.h"

const char *profile_known(const char *text)
{
        return *text ? text : "?";
}

void profile_add_text(struct cJSON *json, const char *key, const char *text)
{
        cJSON_AddItemToObject(json, key, answer_text(text && *text ? text : NULL));
}

/* What a calibration measured of a coefficient that everyday use corrected; NULL: it did not, or nothing was learnt. */
static const struct coefficient *find_measured(const struct profile *profile, const struct coefficient *now)
{
        ssize_t at = !profile->measured ? -ENOENT :
                     profile_find(profile->measured, now->term, now->policy, now->point, now->disk);

        return at < 0 ? NULL : &profile->measured->coefficients[at];
}

static const char *app_of(const struct profile *profile, const struct coefficient *coefficient)
{
        for (size_t i = 0; coefficient->term >= TERM_APP_CPU && i < profile->n_apps; i++)
                if (profile->apps[i].number == coefficient->policy)
                        return profile->apps[i].id;
        return NULL;
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
                cJSON_AddItemToObject(item, "app", answer_text(app_of(profile, c)));
                cJSON_AddNumberToObject(item, "measured", measured ? measured->value : NAN);
                cJSON_AddNumberToObject(item, "measured_standard_error", measured ? measured->standard_error : NAN);
                cJSON_AddItemToArray(list, item);
        }
        return answer_print_json(json);
}

/* Policies of one kind are measured as one: which others have the coefficients of a policy in the table. */
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
                printf("%scpu.%u: also of policies %s\n", first ? "\n" : "", as,
                       cpu_print_list(policies, n, text, sizeof(text)));
                first = false;
        }
}

/* "app-3 display" */
static void name_cell(struct table *table, const struct profile *profile, const struct coefficient *coefficient)
{
        const char *app = app_of(profile, coefficient);
        char key[PROFILE_KEY_MAX];

        if (app)
                table_cell(table, "%s %s", app, term_keys[coefficient->term].key);
        else
                table_cell(table, "%s", profile_coefficient_key(coefficient, key));
}

static void measured_cell(struct table *table, const struct profile *profile, const struct coefficient *now)
{
        const struct coefficient *measured = find_measured(profile, now);
        char text[64];

        table_cell(table, "%s", measured ? answer_print_number(measured->value, fmax(measured->value / 100, 0.01), text) : "");
}

int profile_show_table(const struct profile *profile, const char *path)
{
        _cleanup_(table_freep) struct table *table = table_new("nrrlr");
        double t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL);
        struct cost_value interval;
        char text[64];

        table_spare(table, "431");
        table_texts(table, TABLE_HEAD, "Coefficient", profile->measured ? "Measured" : "", "Value", "Unit", isnan(t) ? "" : "95 % CI", NULL);
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];

                if (c->term == TERM_CURVE) /* of the gauge, for a fit */
                        continue;
                table_row(table, TABLE_PLAIN);
                name_cell(table, profile, c);
                measured_cell(table, profile, c);
                table_cell(table, "%s", answer_print_number(c->value, fmax(fabs(c->value) / 100, 0.01), text));
                table_cell(table, "%s", term_keys[c->term].unit);
                interval = (struct cost_value){ c->value, c->value - t * c->standard_error,
                                                c->value + t * c->standard_error };
                if (c->term < TERM_CURVE && c->value > 0 && t * c->standard_error > 0.5 * c->value)
                        table_cell(table, "not resolved, below %s",
                                   answer_print_number(interval.high, interval.high / 100, text));
                else
                        table_cell(table, "%s", answer_print_bounds(&interval, text));
        }
        printf("%s\n", path ? path : "No profile of its own; answers are by this one:");
        table_text(TABLE_PLAIN, "Device %s, method %s, created %s, %.0f mWh when full",
                   profile_known(profile->device), profile_known(profile->method),
                   profile_known(profile->created), profile->energy_full_mwh);
        putchar('\n');
        table_print(table);
        print_alike(profile);
        answer_note_profile(profile);
        return CODE_OK;
}
