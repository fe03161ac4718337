/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Prints an outcome as tables and as JSON. */

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "outcome.h"
#include "util/util.h"

static const char *unit(const char *key)
{
        size_t length = strlen(key);

        if (strstr(key, "_mj_per_mb"))
                return "mJ/MB";
        return length > 3 && strcmp(key + length - 3, "_mj") == 0 ? "mJ" : "mW";
}

static void print_lines(const struct outcome *outcome, FILE *to)
{
        fprintf(to, "%-32s %10s %12s  %-5s %s\n", "coefficient", "value", "95 %", "unit", "");
        for (size_t i = 0; i < outcome->n_lines; i++) {
                const struct outcome_line *line = &outcome->lines[i];
                char width[32] = "";

                if (isfinite(line->half_width))
                        snprintf(width, sizeof(width), "+- %.1f", line->half_width);
                if (line->resolved)
                        fprintf(to, "%-32s %10.1f %12s  %-5s %s\n", line->key, line->value, width,
                                unit(line->key), line->remark);
                else
                        fprintf(to, "%-32s %23s  %s\n", line->key, unit(line->key), line->remark);
        }
}

static void print_modes(const struct outcome *outcome, FILE *to)
{
        if (outcome->n_modes == 0)
                return;
        fprintf(to, "\n%-32s %6s %10s %14s %8s\n", "mode", "rows", "power mW", "mean off by mW", "worst z");
        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];
                char name[MODE_NAME_MAX];

                fprintf(to, "%-32s %6zu %10.1f %+14.1f %+8.1f\n",
                        util_printable(mode->mode, name, sizeof(name)), mode->n, mode->power_mw,
                        mode->residual_mw, mode->z);
        }
}

static void print_checks(const struct outcome *outcome, FILE *to)
{
        if (outcome->validation == VALIDATION_NONE)
                return;
        fprintf(to, "\n%-32s %10s %10s %12s\n", "held back", "measured", "predicted", "99 %");
        for (size_t i = 0; i < outcome->n_checks; i++) {
                const struct outcome_check *check = &outcome->checks[i];
                char name[MODE_NAME_MAX], width[32];

                snprintf(width, sizeof(width), "+- %.1f", check->half_width_mw);
                fprintf(to, "%-32s %10.1f %10.1f %12s  mW   %s\n",
                        util_printable(check->mode, name, sizeof(name)), check->measured_mw,
                        check->predicted_mw, width, check->inside ? "holds" : "failed");
        }
        if (outcome->doubt[0])
                fprintf(to,
                        "Not validated: %s (x-validated = false). All intervals are widened by %.1f %% of "
                        "the power above the "
                        "base.\n",
                        outcome->doubt, outcome->profile->misfit_percent);
        else if (outcome->validation == VALIDATION_PASSED)
                fprintf(to, "Validated: held-back rows came out as predicted.\n");
        else
                fprintf(to, "Not validated: held-back rows did not come out as predicted (x-validated = false). All"
                            " intervals "
                        "are widened by %.1f %% of the power above the base.\n", outcome->profile->misfit_percent);
}

void outcome_print(const struct outcome *outcome, const char *path, FILE *to)
{
        print_lines(outcome, to);
        print_modes(outcome, to);
        print_checks(outcome, to);
        fprintf(to, "\n%zu rows fitted, %zu rejected", outcome->n_rows, outcome->n_rejected);
        if (isfinite(outcome->noise_scale))
                fprintf(to, "; noise %.2f of what was expected;\n%.1f degrees of freedom",
                        outcome->noise_scale, outcome->profile->degrees_of_freedom);
        fprintf(to, ".\n");
        for (size_t i = 0; i < outcome->n_warnings; i++)
                fprintf(to, "Warning: %s.\n", outcome->warnings[i]);
        if (path)
                fprintf(to, "Profile: %s\n", path);
}

static void add_number(cJSON *object, const char *name, double value)
{
        if (isfinite(value))
                cJSON_AddNumberToObject(object, name, value);
        else
                cJSON_AddNullToObject(object, name);
}

static cJSON *lines_to_json(const struct outcome *outcome)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < outcome->n_lines; i++) {
                const struct outcome_line *line = &outcome->lines[i];
                cJSON *item = cJSON_CreateObject();

                cJSON_AddStringToObject(item, "key", line->key);
                add_number(item, "value", line->value);
                add_number(item, "standard_error", line->standard_error);
                add_number(item, "half_width", line->half_width);
                cJSON_AddBoolToObject(item, "identifiable", line->identifiable);
                cJSON_AddBoolToObject(item, "resolved", line->resolved);
                cJSON_AddStringToObject(item, "remark", line->remark);
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static cJSON *modes_to_json(const struct outcome *outcome)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];
                cJSON *item = cJSON_CreateObject();

                cJSON_AddStringToObject(item, "mode", mode->mode);
                cJSON_AddNumberToObject(item, "rows", (double)mode->n);
                add_number(item, "power_mw", mode->power_mw);
                add_number(item, "residual_mw", mode->residual_mw);
                add_number(item, "z", mode->z);
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static cJSON *checks_to_json(const struct outcome *outcome)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < outcome->n_checks; i++) {
                const struct outcome_check *check = &outcome->checks[i];
                cJSON *item = cJSON_CreateObject();

                cJSON_AddStringToObject(item, "mode", check->mode);
                cJSON_AddNumberToObject(item, "rows", (double)check->rows);
                add_number(item, "measured_mw", check->measured_mw);
                add_number(item, "predicted_mw", check->predicted_mw);
                add_number(item, "half_width_mw", check->half_width_mw);
                cJSON_AddBoolToObject(item, "inside", check->inside);
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static void add_text(cJSON *object, const char *name, const char *text)
{
        cJSON_AddItemToObject(object, name, text && *text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

struct cJSON *outcome_to_json(const struct outcome *outcome, const struct written *written)
{
        cJSON *json = cJSON_CreateObject(), *warnings = cJSON_CreateArray();

        add_text(json, "profile", written->path);
        add_text(json, "kept", written->kept);
        add_text(json, "worse", written->worse);
        add_text(json, "stale", outcome->stale);
        cJSON_AddStringToObject(json, "estimator", outcome->estimator);
        if (outcome->validation == VALIDATION_NONE)
                cJSON_AddNullToObject(json, "validated");
        else
                cJSON_AddBoolToObject(json, "validated", outcome->validation == VALIDATION_PASSED);
        add_text(json, "doubt", outcome->doubt);
        add_number(json, "misfit_percent", outcome->profile->misfit_percent);
        cJSON_AddNumberToObject(json, "rows", (double)outcome->n_rows);
        cJSON_AddNumberToObject(json, "rejected", (double)outcome->n_rejected);
        add_number(json, "degrees_of_freedom", outcome->profile->degrees_of_freedom);
        add_number(json, "noise_scale", outcome->noise_scale);
        cJSON_AddItemToObject(json, "coefficients", lines_to_json(outcome));
        cJSON_AddItemToObject(json, "modes", modes_to_json(outcome));
        cJSON_AddItemToObject(json, "held_back", checks_to_json(outcome));
        for (size_t i = 0; i < outcome->n_warnings; i++)
                cJSON_AddItemToArray(warnings, cJSON_CreateString(outcome->warnings[i]));
        cJSON_AddItemToObject(json, "warnings", warnings);
        return json;
}
