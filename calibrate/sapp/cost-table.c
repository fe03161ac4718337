/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost-table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define FIELDS_MAX 32

static const char *const cost_columns[COST_COLUMNS] = { "display_percent", "cpu_percent", "io_percent",
                                                        "wifi_percent" };

struct layout {
        size_t name, state, cost[COST_COLUMNS], total; /* SIZE_MAX: missing */
};

/* Cuts a line at its commas, in place. Quotes are not supported. */
static size_t cut(char *line, char **fields)
{
        size_t n = 0;

        line[strcspn(line, "\r")] = '\0';
        for (char *at = line; at && n < FIELDS_MAX; n++) {
                fields[n] = at;
                at = strchr(at, ',');
                if (at)
                        *at++ = '\0';
        }
        return n;
}

static int read_head(char *line, struct layout *layout)
{
        char *fields[FIELDS_MAX];
        size_t n = cut(line, fields);

        *layout = (struct layout){ SIZE_MAX, SIZE_MAX, { SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX }, SIZE_MAX };
        for (size_t i = 0; i < n; i++) {
                if (strcmp(fields[i], "name") == 0)
                        layout->name = i;
                if (strcmp(fields[i], "state") == 0)
                        layout->state = i;
                if (strcmp(fields[i], "total_percent") == 0)
                        layout->total = i;
                for (size_t k = 0; k < COST_COLUMNS; k++)
                        if (strcmp(fields[i], cost_columns[k]) == 0)
                                layout->cost[k] = i;
        }
        return layout->name != SIZE_MAX && layout->state != SIZE_MAX ? 0 : -EINVAL;
}

/* "0.126" stands for 0.1255 to 0.1265. */
static double half_unit(const char *text)
{
        const char *point = strchr(text, '.');
        size_t digits = point ? strspn(point + 1, "0123456789") : 0;

        return 0.5 * pow(10, -(double)digits);
}

static int read_cost(char **fields, size_t n, size_t at, double *percent, double *half)
{
        *percent = *half = NAN;
        if (at == SIZE_MAX)
                return 0;
        if (at >= n || util_parse_double(fields[at], percent) < 0 || *percent < 0)
                return -EINVAL;
        *half = half_unit(fields[at]);
        return 0;
}

static int read_row(char *line, const struct layout *layout, struct cost_row *row)
{
        char *fields[FIELDS_MAX];
        size_t n = cut(line, fields);

        if (layout->name >= n || layout->state >= n)
                return -EINVAL;
        util_printable(fields[layout->name], row->name, sizeof(row->name));
        if (strcmp(fields[layout->state], "foreground") == 0)
                row->state = STATE_FOREGROUND;
        else if (strcmp(fields[layout->state], "background") == 0)
                row->state = STATE_BACKGROUND;
        else
                return -EINVAL;
        for (size_t k = 0; k < COST_COLUMNS; k++)
                if (read_cost(fields, n, layout->cost[k], &row->percent[k], &row->half_unit[k]) < 0)
                        return -EINVAL;
        return read_cost(fields, n, layout->total, &row->total, &row->total_half_unit);
}

int cost_table_parse(const char *text, size_t length, const char *name, const struct log *log,
                     struct cost_table *ret)
{
        _cleanup_free_ char *copy = strndup(text, length);
        struct cost_table table = { 0 };
        struct layout layout;
        char *save = NULL, *line;
        size_t number = 1, capacity = 0;

        if (!copy)
                return -ENOMEM;
        line = strtok_r(copy, "\n", &save);
        if (!line || read_head(line, &layout) < 0) {
                log_error(log, "%s: the first line must name the columns, name and state among them", name);
                return -EINVAL;
        }
        while ((line = strtok_r(NULL, "\n", &save))) {
                number++;
                if (util_grow(&table.rows, &capacity, table.n + 1, sizeof(*table.rows)) < 0) {
                        cost_table_clear(&table);
                        return -ENOMEM;
                }
                table.rows[table.n] = (struct cost_row){ 0 };
                if (read_row(line, &layout, &table.rows[table.n++]) < 0) {
                        log_error(log,
                                  "%s:%zu: needs a name, foreground or background, and costs of 0 or more",
                                  name, number);
                        cost_table_clear(&table);
                        return -EINVAL;
                }
        }
        *ret = table;
        return 0;
}

void cost_table_clear(struct cost_table *table)
{
        free(table->rows);
        *table = (struct cost_table){ 0 };
}
