/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "firefox-table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define ROWS_MAX 4000000
#define COLUMNS_MAX 8

static int append(struct firefox_column *column, double value)
{
        if (column->n >= ROWS_MAX)
                return -E2BIG;
        if (column->n == column->capacity &&
            util_grow(&column->values, &column->capacity, column->n + 1, sizeof(*column->values)) < 0)
                return -ENOMEM;
        column->values[column->n++] = value;
        return 0;
}

static int read_column(struct json_text array, struct firefox_column *column)
{
        int err = 0;

        if (json_peek(&array) == 'n') /* null */
                return 0;
        column->there = true;
        for (bool more = json_begin(&array, '['); more && err == 0; more = err == 0 && json_more(&array, ']'))
                err = append(column, json_number(&array));
        return err == 0 && array.failed ? -EBADMSG : err;
}

/* Rows may end early. */
static int read_row(struct json_text *data, struct firefox_column *columns, size_t n, const double *place)
{
        double values[COLUMNS_MAX], at = 0;
        int err = 0;

        for (size_t i = 0; i < n; i++)
                values[i] = NAN;
        for (bool more = json_begin(data, '['); more; more = json_more(data, ']'), at++) {
                size_t column = 0;

                while (column < n && place[column] != at)
                        column++;
                if (column < n)
                        values[column] = json_number(data);
                else
                        json_skip(data);
        }
        for (size_t i = 0; i < n && err == 0; i++)
                err = columns[i].there ? append(&columns[i], values[i]) : 0;
        return data->failed ? -EBADMSG : err;
}

static int read_rows(struct json_text schema, struct json_text data, struct firefox_column *columns,
                     const char *const *names, size_t n)
{
        struct json_text found[COLUMNS_MAX];
        double place[COLUMNS_MAX];
        int err = 0;

        json_members(&schema, names, n, found);
        for (size_t i = 0; i < n; i++) {
                columns[i].there = found[i].at != NULL;
                place[i] = columns[i].there ? json_number(&found[i]) : NAN;
        }
        for (bool more = json_begin(&data, '['); more && err == 0; more = err == 0 && json_more(&data, ']'))
                err = read_row(&data, columns, n, place);
        return err == 0 && (schema.failed || data.failed) ? -EBADMSG : err;
}

int firefox_table_read(struct json_text table, struct firefox_column *columns, size_t n)
{
        const char *names[COLUMNS_MAX + 2];
        struct json_text found[COLUMNS_MAX + 2];
        size_t length = SIZE_MAX;
        int err = 0;

        for (size_t i = 0; i < n; i++)
                names[i] = columns[i].name;
        names[n] = "schema";
        names[n + 1] = "data";
        json_members(&table, names, n + 2, found);
        if (table.failed)
                return -EBADMSG;
        if (found[n].at && found[n + 1].at)
                return read_rows(found[n], found[n + 1], columns, names, n);
        for (size_t i = 0; i < n && err == 0; i++)
                err = found[i].at ? read_column(found[i], &columns[i]) : 0;
        for (size_t i = 0; i < n && err == 0; i++) {
                if (columns[i].there && length != SIZE_MAX && columns[i].n != length)
                        return -EBADMSG;
                length = columns[i].there ? columns[i].n : length;
        }
        return err;
}

int firefox_table_read_strings(struct json_text list, struct firefox_strings *ret)
{
        ret->there = true;
        ret->end = list.end;
        for (bool more = json_begin(&list, '['); more; more = json_more(&list, ']')) {
                if (ret->n >= ROWS_MAX)
                        return -E2BIG;
                if (util_grow(&ret->at, &ret->capacity, ret->n + 1, sizeof(*ret->at)) < 0)
                        return -ENOMEM;
                ret->at[ret->n++] = list.at;
                json_skip(&list);
        }
        return list.failed ? -EBADMSG : 0;
}

long firefox_table_string(const struct firefox_strings *strings, double index, char *buf, size_t size)
{
        struct json_text json;

        if (isnan(index))
                return 0;
        if (index < 0 || index >= (double)strings->n || index != floor(index))
                return -1;
        json = (struct json_text){ strings->at[(size_t)index], strings->end, false, NULL };
        return (long)json_string(&json, buf, size);
}
