/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Several programs side by side, as JSON: docs/json.md. */

#include <cjson/cJSON.h>
#include <math.h>

#include "diff.h"
#include "util/util.h"

static void add_programs(cJSON *json, const struct matrix *matrix)
{
        cJSON *names = cJSON_AddArrayToObject(json, "programs"), *totals = cJSON_AddArrayToObject(json, "totals");
        cJSON *runs = cJSON_AddArrayToObject(json, "runs"), *without = cJSON_AddArrayToObject(json, "without_app");

        for (size_t i = 0; i < matrix->n_sides; i++) {
                const struct side *side = &matrix->sides[i];

                cJSON_AddItemToArray(names, cJSON_CreateString(side->name));
                cJSON_AddItemToArray(totals, cJSON_CreateNumber(side_value(side, 0)));
                cJSON_AddItemToArray(runs, cJSON_CreateNumber((double)side->contexts.n_runs));
                cJSON_AddItemToArray(without, cJSON_CreateNumber(side_without_app(side)));
        }
}

static void add_names(cJSON *json, const struct matrix *matrix, const struct matrix_row *row)
{
        char text[FRAME_NAME_MAX];

        cJSON_AddStringToObject(json, "task", matrix_name(matrix, row, text, sizeof(text)));
        cJSON_AddStringToObject(json, "from", matrix_from(matrix, row, text, sizeof(text)));
}

static cJSON *row_json(const struct matrix *matrix, const struct matrix_row *row)
{
        cJSON *json = cJSON_CreateObject(), *values;

        add_names(json, matrix, row);
        values = cJSON_AddArrayToObject(json, "values");
        for (size_t i = 0; i < matrix->n_sides; i++) {
                cJSON *value = answer_add_estimate(values, NULL, row->cells[i].interval);

                answer_add_number(value, "calls", row->cells[i].calls);
                cJSON_AddBoolToObject(value, "seen", row->cells[i].node >= 0);
                answer_add_path(value, "path", &matrix->sides[i], row->cells[i].node);
        }
        cJSON_AddNumberToObject(json, "dearest", (double)row->dearest);
        cJSON_AddNumberToObject(json, "cheapest", (double)row->cheapest);
        answer_add_estimate(json, "difference", row->difference);
        answer_add_number(json, "p", row->p);
        cJSON_AddBoolToObject(json, "significant", row->significant);
        return json;
}

static cJSON *step_json(const struct matrix *matrix, const struct matrix_step *step)
{
        cJSON *json = cJSON_CreateObject();

        add_names(json, matrix, &matrix->rows[step->row]);
        cJSON_AddNumberToObject(json, "before", (double)step->before);
        cJSON_AddNumberToObject(json, "after", (double)step->after);
        answer_add_estimate(json, "difference", step->difference);
        answer_add_number(json, "p", step->p);
        return json;
}

struct cJSON *answer_matrix_json(const struct matrix *matrix, bool bisect)
{
        cJSON *json = cJSON_CreateObject(), *list;

        add_programs(json, matrix);
        cJSON_AddStringToObject(json, "unit", matrix->sides[0].unit);
        cJSON_AddNumberToObject(json, "alpha", matrix->alpha);
        cJSON_AddBoolToObject(json, "fell_back", matrix->fell_back);
        list = cJSON_AddArrayToObject(json, "tasks");
        for (size_t i = 0; i < matrix->n; i++)
                cJSON_AddItemToArray(list, row_json(matrix, &matrix->rows[i]));
        if (!bisect)
                return json;
        list = cJSON_AddArrayToObject(json, "steps");
        for (size_t i = 0; i < matrix->n_steps; i++)
                cJSON_AddItemToArray(list, step_json(matrix, &matrix->steps[i]));
        return json;
}
