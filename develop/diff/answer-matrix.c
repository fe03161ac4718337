/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Several programs side by side, as JSON: docs/json.md. */

#include <cjson/cJSON.h>

#include "answer/options.h"
#include "diff.h"
#include "model/json-print.h"
#include "overlap.h"

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

static void write_names(struct json_writer *json, const struct matrix *matrix, const struct matrix_row *row)
{
        char text[FRAME_NAME_MAX];

        json_write_text(json, "task", matrix_name(matrix, row, text, sizeof(text)));
        json_write_text(json, "from", matrix_from(matrix, row, text, sizeof(text)));
}

static void write_row(struct json_writer *json, const struct matrix *matrix, const struct matrix_row *row)
{
        json_write_begin(json, NULL, '{');
        write_names(json, matrix, row);
        json_write_begin(json, "values", '[');
        for (size_t i = 0; i < matrix->n_sides; i++) {
                json_write_begin(json, NULL, '{');
                answer_write_side(json, &row->cells[i]);
                json_write_bool(json, "seen", row->cells[i].node >= 0);
                answer_write_path(json, "path", &matrix->sides[i], row->cells[i].node);
                json_write_end(json, '}');
        }
        json_write_end(json, ']');
        json_write_number(json, "dearest", (double)row->dearest);
        json_write_number(json, "cheapest", (double)row->cheapest);
        answer_write_estimate(json, "difference", row->difference);
        json_write_number(json, "p", row->p);
        json_write_bool(json, "significant", row->significant);
        json_write_end(json, '}');
}

static void write_step(struct json_writer *json, const struct matrix *matrix, const struct matrix_step *step)
{
        json_write_begin(json, NULL, '{');
        write_names(json, matrix, &matrix->rows[step->row]);
        json_write_number(json, "before", (double)step->before);
        json_write_number(json, "after", (double)step->after);
        answer_write_estimate(json, "difference", step->difference);
        json_write_number(json, "p", step->p);
        json_write_end(json, '}');
}

static void add_counts(cJSON *json, const char *key, const struct matrix *matrix,
                       size_t (*counts)[DIFF_SIDES_MAX])
{
        cJSON *rows = cJSON_AddArrayToObject(json, key);

        for (size_t i = 0; i < matrix->n_sides; i++) {
                cJSON *row = cJSON_CreateArray();

                for (size_t j = 0; j < matrix->n_sides; j++)
                        cJSON_AddItemToArray(row, cJSON_CreateNumber((double)counts[i][j]));
                cJSON_AddItemToArray(rows, row);
        }
}

static void add_overlap(cJSON *json, const struct matrix *matrix)
{
        struct overlap overlap;
        cJSON *shares;

        overlap_count(matrix, &overlap);
        add_counts(json, "matched_with", matrix, overlap.with);
        add_counts(json, "common", matrix, overlap.common);
        shares = cJSON_AddArrayToObject(json, "matched_share");
        for (size_t i = 0; i < matrix->n_sides; i++)
                cJSON_AddItemToArray(shares, cJSON_CreateNumber(overlap.share[i]));
}

static cJSON *head_json(const struct matrix *matrix)
{
        cJSON *json = cJSON_CreateObject();

        add_programs(json, matrix);
        cJSON_AddStringToObject(json, "unit", matrix->sides[0].unit);
        cJSON_AddNumberToObject(json, "alpha", matrix->alpha);
        cJSON_AddBoolToObject(json, "fell_back", matrix->fell_back);
        add_overlap(json, matrix);
        json_add_schema(json);
        return json;
}

int answer_print_matrix(const struct matrix *matrix, bool bisect)
{
        if (!answer_begin_json(head_json(matrix)))
                return CODE_FAILED; /* main() says that there is no memory */
        answer_begin_rows("tasks");
        for (size_t i = 0; i < matrix->n; i++) {
                struct json_writer json = answer_begin_row(i == 0);

                write_row(&json, matrix, &matrix->rows[i]);
        }
        putchar(']');
        if (bisect) {
                answer_begin_rows("steps");
                for (size_t i = 0; i < matrix->n_steps; i++) {
                        struct json_writer json = answer_begin_row(i == 0);

                        write_step(&json, matrix, &matrix->steps[i]);
                }
                putchar(']');
        }
        return answer_end_json();
}
