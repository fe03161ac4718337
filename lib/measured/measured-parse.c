/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A trace as CSV. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measured-private.h"
#include "util/util.h"

static const struct {
        const char *name;
        double low, high;
} numbers[NUMBER_COUNT] = {
        [NUMBER_START] = { "start_s", -TIME_MOST, TIME_MOST },
        [NUMBER_ELAPSED] = { "elapsed_s", 0, TIME_MOST },
        [NUMBER_POWER] = { "power_mw", 0, 1e9 },
        [NUMBER_ENERGY] = { "energy_j", 0, 1e12 },
        [NUMBER_PERCENT] = { "percent", 0, 100 },
        [NUMBER_CHARGE] = { "charge_uah", -1e12, 1e12 }, /* some gauges count from the charge when they started */
        [NUMBER_VOLTAGE] = { "voltage_mv", 1, 1e6 },
        [NUMBER_TEMPERATURE] = { "temperature_c", -100, 200 },
        [NUMBER_RED] = { "screen_red", 0, 1 },
        [NUMBER_GREEN] = { "screen_green", 0, 1 },
        [NUMBER_BLUE] = { "screen_blue", 0, 1 },
};

int measured_complain(const struct parser *parser, unsigned line, const char *what, const char *detail)
{
        char printable[64];

        log_error(parser->log, "%s:%u: %s%s%s", parser->file, line, what, detail ? ": " : "",
                  detail ? util_printable(detail, printable, sizeof(printable)) : "");
        return -EINVAL;
}

/* Names the column, if one is being read: its name is read from the first line again. */
static int complain(const struct parser *parser, const char *what, const char *detail)
{
        struct csv_reader head = parser->head;
        char name[CSV_FIELD_MAX], printable[64], sentence[256];
        const char *why;

        if (!parser->column)
                return measured_complain(parser, parser->line, what, detail);
        for (size_t i = 0; i <= (size_t)(parser->column - parser->columns); i++)
                if (csv_field(&head, name, &why) < 0)
                        return -EINVAL;
        snprintf(sentence, sizeof(sentence), "%s: %s", util_printable(name, printable, sizeof(printable)), what);
        return measured_complain(parser, parser->line, sentence, detail && *detail ? detail : NULL);
}

static int read_field(struct parser *parser, char buf[CSV_FIELD_MAX])
{
        const char *why;
        int more = csv_field(&parser->csv, buf, &why);

        return more < 0 ? complain(parser, why, NULL) : more;
}

static int add_rail(struct parser *parser, const char *word, size_t length, struct column *ret)
{
        struct measured_trace *trace = parser->trace;

        if (length == 0 || length >= MEASURED_WORD_MAX || trace->n_rails == MEASURED_RAILS_MAX)
                return complain(parser,
                                "a rail has no name, or too long a one, or there are more than 32 rails", word);
        *ret = (struct column){ .kind = KIND_RAIL, .at = trace->n_rails };
        memcpy(trace->rails[trace->n_rails++], word, length);
        return 0;
}

/* 0; -EINVAL: complained; -ENOENT: it has no such name. */
static int read_own_column(struct parser *parser, const char *name, struct column *ret)
{
        size_t length = strlen(name);
        uint64_t policy;

        *ret = (struct column){ .kind = KIND_SPAN };
        if (strcmp(name, "span") == 0)
                return 0;
        ret->kind = KIND_NUMBER;
        for (ret->at = 0; ret->at < NUMBER_COUNT; ret->at++)
                if (strcmp(name, numbers[ret->at].name) == 0)
                        return 0;
        ret->kind = KIND_COUNTER;
        for (ret->at = 0; ret->at < COUNTED_COUNT; ret->at++) {
                size_t prefix = strlen(counted_words[ret->at]);

                if (strncmp(name, counted_words[ret->at], prefix) != 0 || name[prefix] != '.')
                        continue;
                if (util_parse_u64(name + prefix + 1, &policy) < 0 || policy >= UINT32_MAX)
                        return complain(parser, "a column names no policy by its number", name);
                ret->policy = (uint32_t)policy;
                return 0;
        }
        if (strncmp(name, "rail.", 5) == 0 && length > 7 && strcmp(name + length - 2, "_j") == 0)
                return add_rail(parser, name + 5, length - 7, ret);
        return -ENOENT;
}

static bool is_same(const struct measured_trace *trace, const struct column *a, const struct column *b)
{
        if (a->kind != b->kind)
                return false;
        if (a->kind == KIND_USAGE)
                return usage_column_is_same(&a->usage, &b->usage);
        if (a->kind == KIND_RAIL)
                return strcmp(trace->rails[a->at], trace->rails[b->at]) == 0;
        return a->at == b->at && a->policy == b->policy;
}

/* CPU time at a frequency of a policy, and at that of one that is not named, would be one amount in two units. */
static int check_units(const struct parser *parser)
{
        if (measured_find(parser, KIND_USAGE, 0, COLUMN_KHZ) &&
            (measured_find(parser, KIND_USAGE, 0, COLUMN_CPU) || measured_find(parser, KIND_USAGE, 0, COLUMN_SHARED)))
                return complain(parser,
                                "CPU time has columns in 1/100 s and in ns (cpu.P.KHZ); leave out the ones "
                                "in 1/100 s", NULL);
        return 0;
}

/* Bytes of a modem in both directions count as received if no column has the directions. */
static void take_cellular(struct parser *parser)
{
        struct usage_column *cellular = NULL;

        for (size_t i = 0; i < parser->n_columns; i++) {
                struct usage_column *usage = &parser->columns[i].usage;

                if (parser->columns[i].kind != KIND_USAGE)
                        continue;
                if (usage_column_have(usage) == USAGE_OTHER_NET)
                        return;
                if (usage->kind == COLUMN_CELLULAR)
                        cellular = usage;
        }
        if (cellular)
                *cellular = (struct usage_column){ COLUMN_AMOUNT, AMOUNT_other_rx_bytes, 1, 0, 0 };
}

static int check_head(struct parser *parser)
{
        const char *missing = NULL;

        take_cellular(parser);
        if (!measured_find(parser, KIND_NUMBER, NUMBER_ELAPSED, 0))
                missing = "elapsed_s";
        if (!measured_find(parser, KIND_NUMBER, NUMBER_START, 0))
                missing = "start_s";
        if (!measured_find(parser, KIND_SPAN, 0, 0))
                missing = "span";
        if (!measured_find(parser, KIND_USAGE, 0, COLUMN_STATE))
                missing = "state";
        if (!measured_find(parser, KIND_USAGE, 0, COLUMN_NAME))
                missing = "name";
        if (missing)
                return complain(parser, "a column is missing", missing);
        parser->screens = measured_find(parser, KIND_USAGE, 0, COLUMN_SCREEN);
        return check_units(parser);
}

static int read_head(struct parser *parser)
{
        char field[CSV_FIELD_MAX];
        int more = 1;

        while (more > 0) {
                struct column column = { .kind = KIND_USAGE };
                int err;

                more = read_field(parser, field);
                if (more < 0)
                        return more;
                err = read_own_column(parser, field, &column); /* counters are judged */
                if (err == -ENOENT && usage_column_parse(field, &column.usage)) {
                        column.kind = KIND_USAGE;
                        err = 0;
                }
                if (err == -ENOENT && !*field)
                        return complain(parser, "a column has no name", NULL);
                if (err)
                        return err != -ENOENT ? err :
                               complain(parser, strpbrk(field, ";\t") ? "separate columns by commas, and write "
                                                                        "decimals with a point" :
                                                                        "a column of that name is not known",
                                        field);
                for (size_t i = 0; i < parser->n_columns; i++)
                        if (is_same(parser->trace, &parser->columns[i], &column))
                                return complain(parser, "an amount has two columns", field);
                if (parser->n_columns == COLUMNS_MAX)
                        return complain(parser, "too many columns", NULL);
                parser->columns[parser->n_columns++] = column;
        }
        return check_head(parser);
}

static int read_text(const struct parser *parser, enum usage_column_kind column, const char *field,
                     struct measured_owner *owner)
{
        char printable[CSV_FIELD_MAX];
        bool foreground = strcmp(field, "foreground") == 0;

        if (column == COLUMN_STATE) {
                owner->base = strcmp(field, "base") == 0;
                if (!foreground && !owner->base && strcmp(field, "background") != 0)
                        return complain(parser, "none of foreground, background and base", field);
                owner->state = foreground ? STATE_FOREGROUND : STATE_BACKGROUND;
                return 0;
        }
        if (!*field || strlen(field) >= sizeof(owner->name))
                return complain(parser, *field ? "too long" : "empty", field);
        if (strcmp(util_printable(field, printable, sizeof(printable)), field) != 0)
                return complain(parser, "not printable UTF-8", field);
        strcpy(owner->name, field);
        return 0;
}

/* Is the column for the machine only, so that rows of apps may only have 0 or nothing there? */
static bool is_base_only(const struct column *column)
{
        if (column->kind == KIND_USAGE)
                return column->usage.kind == COLUMN_IDLE ||
                       (column->usage.kind == COLUMN_AMOUNT && column->usage.amount >= OWNER_AMOUNT_COUNT);
        return column->kind == KIND_RAIL || (column->kind == KIND_NUMBER && column->at > NUMBER_ELAPSED);
}

static int add_usage(struct parser *parser, struct column *column, double value, struct row *row)
{
        int key = measured_keyed(&column->usage), err;

        column->filled = true;
        if (key < KEY_COUNT)
                row->keys[key]++;
        if (column->usage.kind == COLUMN_AMOUNT)
                row->amounts |= UINT64_C(1) << column->usage.amount;
        if (column->usage.kind == COLUMN_TIME)
                row->owner.active_s = value / 1e3;
        if (column->usage.kind == COLUMN_CELLULAR)
                parser->trace->cellular = parser->trace->cellular || value > 0;
        if (column->usage.kind == COLUMN_DISPLAY) {
                row->keys[KEY_SCREEN] += !parser->screens;
                if (parser->screens)
                        return 0;
        }
        err = usage_column_add(&column->usage, value, &row->owner.usage);
        return err == -ERANGE || err == -EOVERFLOW ? complain(parser, "an amount is out of range", NULL) : err;
}

static int add_number(struct parser *parser, struct column *column, const char *field, double value,
                      struct row *row)
{
        if (column->kind == KIND_COUNTER) {
                struct point point = { .policy = column->policy, .key = (uint32_t)column->at,
                                       .amount = (uint64_t)value };

                column->filled = true;
                parser->trace->counters = true;
                parser->trace->misses = parser->trace->misses || column->at == COUNTED_MISSES;
                return usage_points_add(&row->owner.usage.counted, &point);
        }
        if (column->kind == KIND_RAIL) {
                row->rail_j[column->at] = value;
                return 0;
        }
        if (!(value >= numbers[column->at].low && value <= numbers[column->at].high)) {
                char what[128];

                snprintf(what, sizeof(what), "not from %g to %g (leave the cell empty if it is unknown)",
                         numbers[column->at].low, numbers[column->at].high);
                return complain(parser, what, field);
        }
        parser->trace->colours = parser->trace->colours || column->at >= NUMBER_RED;
        row->number[column->at] = value;
        return 0;
}

static int read_number(struct parser *parser, struct column *column, const char *field, struct row *row)
{
        bool may_fall = column->kind == KIND_NUMBER && (column->at == NUMBER_START || column->at == NUMBER_CHARGE ||
                                                        column->at == NUMBER_TEMPERATURE);
        double value;

        if (!*field)
                return 0;
        if (util_parse_double(field, &value) < 0)
                return complain(parser, strchr(field, ',') ? "write decimals with a point, not a comma" :
                                        "not a number (leave the cell empty if it is unknown)", field);
        if (value > USAGE_COLUMN_MOST || (!may_fall && (!(value >= 0) || signbit(value))))
                return complain(parser, "below 0, or too large (leave the cell empty if it is unknown)", field);
        if (is_base_only(column) && !row->owner.base) {
                if (value > 0 || value < 0)
                        return complain(parser, "only the row of the base has this column", field);
                return 0;
        }
        return column->kind == KIND_USAGE ? add_usage(parser, column, value, row) :
                                            add_number(parser, column, field, value, row);
}

static int read_cell(struct parser *parser, struct column *column, const char *field, struct row *row)
{
        if (column->kind == KIND_SPAN)
                return util_parse_i64(field, &row->span) < 0 ? complain(parser, "not an integer", field) : 0;
        if (column->kind == KIND_USAGE && column->usage.kind <= COLUMN_STATE)
                return read_text(parser, column->usage.kind, field, &row->owner);
        return read_number(parser, column, field, row);
}

/* The state decides which columns a row has, and may be in any column: so the line is read twice. */
static int read_cells(struct parser *parser, bool texts, struct row *row)
{
        char field[CSV_FIELD_MAX];
        int more = 1;

        for (size_t i = 0; i < parser->n_columns; i++) {
                struct column *column = &parser->columns[i];
                bool is_text = column->kind == KIND_SPAN || (column->kind == KIND_USAGE &&
                                                             column->usage.kind <= COLUMN_STATE);
                int err;

                if (!more)
                        return complain(parser, "the line has too few fields", NULL);
                parser->column = column;
                more = read_field(parser, field);
                if (more < 0)
                        return more;
                err = is_text == texts ? read_cell(parser, column, field, row) : 0;
                if (err)
                        return err;
                parser->column = NULL;
        }
        return more ? complain(parser, "the line has too many fields (commas in decimals?)", NULL) : 0;
}

static int read_row(struct parser *parser)
{
        struct csv_reader begin = parser->csv;
        struct row *row;
        int err;

        if (util_grow(&parser->rows, &parser->capacity, parser->n_rows + 1, sizeof(*parser->rows)) < 0)
                return -ENOMEM;
        row = &parser->rows[parser->n_rows++];
        *row = (struct row){ .line = parser->line, .owner.active_s = NAN };
        for (size_t i = 0; i < NUMBER_COUNT; i++)
                row->number[i] = NAN;
        for (size_t i = 0; i < MEASURED_RAILS_MAX; i++)
                row->rail_j[i] = NAN;
        err = read_cells(parser, true, row);
        parser->csv = begin;
        if (!err)
                err = read_cells(parser, false, row);
        if (err)
                return err;
        if (isnan(row->number[NUMBER_START]) || !(row->number[NUMBER_ELAPSED] > 0))
                return complain(parser, "a row needs start_s, and elapsed_s above 0", NULL);
        if (!isnan(row->number[NUMBER_POWER]) && !isnan(row->number[NUMBER_ENERGY]))
                return complain(parser, "power_mw and energy_j are both there; leave one out", NULL);
        return 0;
}

/* A line of blanks alone is empty, too, and may be the last one without a newline. */
static bool skip_empty_line(struct csv_reader *csv)
{
        const char *at = csv->at;

        while (at < csv->end && *at != '\n' && strchr(" \t\r", *at) && *at)
                at++;
        if (at < csv->end && *at != '\n')
                return false;
        csv->at = at + (at < csv->end);
        return true;
}

static void parser_freep(struct parser **parser)
{
        for (size_t i = 0; *parser && i < (*parser)->n_rows; i++)
                usage_clear(&(*parser)->rows[i].owner.usage);
        if (*parser)
                free((*parser)->rows);
        free(*parser);
}

int measured_parse(const char *text, size_t length, const char *name, const struct log *log,
                   struct measured_trace **ret)
{
        _cleanup_(measured_freep) struct measured_trace *trace = calloc(1, sizeof(*trace));
        _cleanup_(parser_freep) struct parser *parser = calloc(1, sizeof(*parser)); /* too large for a stack */
        int err;

        if (!trace || !parser)
                return -ENOMEM;
        parser->csv = parser->head = (struct csv_reader){ text, text + length, true };
        parser->file = name;
        parser->log = log;
        parser->line = 1;
        parser->trace = trace;
        trace->file = name;
        trace->log = log;
        if (length == 0)
                return complain(parser, "the trace is empty", NULL);
        err = read_head(parser);
        while (!err && parser->csv.at < parser->csv.end) {
                parser->line++;
                if (!skip_empty_line(&parser->csv))
                        err = read_row(parser);
        }
        if (!err && parser->n_rows == 0)
                err = complain(parser, "the trace has no rows", NULL);
        if (!err)
                err = measured_make_spans(parser);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(trace);
        return 0;
}

int measured_load(const char *path, const struct log *log, struct measured_trace **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = csv_load(path, "trace", log, &text, &length);

        return err ? err : measured_parse(text, length, path, log, ret);
}
