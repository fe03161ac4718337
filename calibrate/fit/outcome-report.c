/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Prints an outcome as tables and as JSON. */

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "outcome.h"
#include "util/fields.h"
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

                fprintf(to, "%-32s %6" PRIu64 " %10.1f %+14.1f %+8.1f\n",
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
        fprintf(to, "\nRows: %zu fitted, %zu rejected", outcome->n_rows, outcome->n_rejected);
        if (isfinite(outcome->noise_scale))
                fprintf(to, "; noise %.2f of what was expected;\n%.1f degrees of freedom",
                        outcome->noise_scale, outcome->profile->degrees_of_freedom);
        fprintf(to, ".\n");
        for (size_t i = 0; i < outcome->n_warnings; i++)
                fprintf(to, "Warning: %s.\n", outcome->warnings[i]);
        if (path)
                fprintf(to, "Profile: %s\n", path);
}

static const struct field line_fields[] = {
        FIELD(outcome_line, key, TEXT),
        FIELD(outcome_line, value, NUMBER),
        FIELD(outcome_line, standard_error, NUMBER),
        FIELD(outcome_line, half_width, NUMBER),
        FIELD(outcome_line, identifiable, BOOL),
        FIELD(outcome_line, resolved, BOOL),
        FIELD(outcome_line, remark, TEXT),
        FIELDS_END,
};

static const struct field mode_fields[] = {
        FIELD(outcome_mode, mode, TEXT),
        FIELD_AS(outcome_mode, "rows", n, FIELD_U64),
        FIELD(outcome_mode, power_mw, NUMBER),
        FIELD(outcome_mode, residual_mw, NUMBER),
        FIELD(outcome_mode, z, NUMBER),
        FIELDS_END,
};

static const struct field check_fields[] = {
        FIELD(outcome_check, mode, TEXT),
        FIELD(outcome_check, rows, U64),
        FIELD(outcome_check, measured_mw, NUMBER),
        FIELD(outcome_check, predicted_mw, NUMBER),
        FIELD(outcome_check, half_width_mw, NUMBER),
        FIELD(outcome_check, inside, BOOL),
        FIELDS_END,
};

static const struct field list_fields[] = {
        FIELD(outcome, noise_scale, NUMBER),
        FIELD_LIST_OF(outcome, "coefficients", lines, n_lines, line_fields, 0),
        FIELD_LIST_OF(outcome, "modes", modes, n_modes, mode_fields, 0),
        FIELD_LIST_OF(outcome, "held_back", checks, n_checks, check_fields, 0),
        FIELD_LIST_OF(outcome, "warnings", warnings, n_warnings, fields_strings, 0),
        FIELDS_END,
};

static void add_text(cJSON *object, const char *name, const char *text)
{
        cJSON_AddItemToObject(object, name, text && *text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

struct cJSON *outcome_to_json(const struct outcome *outcome, const struct written *written)
{
        cJSON *json = cJSON_CreateObject();

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
        cJSON_AddNumberToObject(json, "misfit_percent", outcome->profile->misfit_percent); /* NaN is printed as null */
        cJSON_AddNumberToObject(json, "rows", (double)outcome->n_rows);
        cJSON_AddNumberToObject(json, "rejected", (double)outcome->n_rejected);
        cJSON_AddNumberToObject(json, "degrees_of_freedom", outcome->profile->degrees_of_freedom);
        fields_to_json(list_fields, outcome, json);
        return json;
}
