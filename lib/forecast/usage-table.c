/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage-table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "usage-column.h"
#include "util/csv-field.h"
#include "util/hash.h"
#include "util/units.h"
#include "util/util.h"

#define COLUMNS_MAX 16384

struct parser {
        struct csv_reader csv;
        const char *file;
        const struct log *log;
        unsigned line;
        struct usage_table *table;
        size_t n_columns;
        struct usage_column columns[COLUMNS_MAX];
        bool screens; /* there are columns of brightness, so display_ms is a sum of them */
        uint32_t have; /* USAGE_* that a row has unless a field is empty */
};

static int complain(const struct parser *parser, const char *what, const char *detail)
{
        char printable[64];

        log_error(parser->log, "%s:%u: %s%s%s", parser->file, parser->line, what, detail ? ": " : "",
                  detail ? util_printable(detail, printable, sizeof(printable)) : "");
        return -EINVAL;
}

/* One field into @buf. 1: more follow on this line; 0: it was the last; -EINVAL. */
static int read_field(struct parser *parser, char buf[CSV_FIELD_MAX])
{
        const char *why;
        int more = csv_field(&parser->csv, buf, &why);

        return more < 0 ? complain(parser, why, NULL) : more;
}

static bool has_amount(const struct parser *parser, size_t amount)
{
        for (size_t i = 0; i < parser->n_columns; i++)
                if (parser->columns[i].kind == COLUMN_AMOUNT && parser->columns[i].amount == amount)
                        return true;
        return false;
}

static int list_khz(struct parser *parser)
{
        struct usage_table *table = parser->table;

        table->khz = calloc(parser->n_columns, sizeof(*table->khz));
        if (!table->khz)
                return -ENOMEM;
        for (size_t i = 0; i < parser->n_columns; i++)
                if (parser->columns[i].kind == COLUMN_KHZ)
                        table->khz[table->n_khz++] = parser->columns[i].key;
        return 0;
}

static int check_head(struct parser *parser)
{
        static const struct {
                size_t amount;
                const char *columns;
        } needed[] = {
                { AMOUNT_read_bytes, "read_bytes or read_kb" },
                { AMOUNT_write_bytes, "write_bytes or write_kb" },
                { AMOUNT_wifi_rx_bytes, "wifi_rx_bytes or rx_kb" },
        };

        for (enum usage_column_kind kind = COLUMN_NAME; kind <= COLUMN_DISPLAY; kind++) {
                bool there = false;

                for (size_t i = 0; i < parser->n_columns; i++)
                        there = there || parser->columns[i].kind == kind;
                if (!there)
                        return complain(parser, "a column is missing", usage_column_name(kind));
        }
        for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
                if (!has_amount(parser, needed[i].amount))
                        return complain(parser, "a column is missing", needed[i].columns);
        parser->table->has_tx = has_amount(parser, AMOUNT_wifi_tx_bytes);
        parser->have = USAGE_CPU | USAGE_DISK | USAGE_WIFI | USAGE_DISPLAY;
        for (size_t i = 0; i < parser->n_columns; i++) {
                parser->screens = parser->screens || parser->columns[i].kind == COLUMN_SCREEN;
                if (parser->columns[i].kind == COLUMN_AMOUNT)
                        parser->have |= amount_kinds[parser->columns[i].amount].have;
        }
        return list_khz(parser);
}

static int read_head(struct parser *parser)
{
        char field[CSV_FIELD_MAX];
        int more = 1;

        while (more > 0) {
                struct usage_column column;

                more = read_field(parser, field);
                if (more < 0)
                        return more;
                if (!usage_column_parse(field, &column))
                        return complain(parser, "a column is neither known nor a frequency in kHz", field);
                for (size_t i = 0; i < parser->n_columns; i++)
                        if (usage_column_is_same(&parser->columns[i], &column))
                                return complain(parser, "a column is there twice", field);
                if (parser->n_columns == COLUMNS_MAX)
                        return complain(parser, "too many columns", NULL);
                parser->columns[parser->n_columns++] = column;
        }
        return check_head(parser);
}

static int read_text(struct parser *parser, enum usage_column_kind column, const char *field,
                     struct usage_table_row *row)
{
        char printable[CSV_FIELD_MAX];

        if (column == COLUMN_STATE) {
                bool foreground = strcmp(field, "foreground") == 0;

                row->base = strcmp(field, "base") == 0;
                if (!foreground && !row->base && strcmp(field, "background") != 0)
                        return complain(parser, "the state is none of foreground, background and base", field);
                row->state = foreground ? STATE_FOREGROUND : STATE_BACKGROUND;
                return 0;
        }
        if (!*field || strlen(field) >= sizeof(row->name))
                return complain(parser, *field ? "a name is too long" : "a name is empty", field);
        if (strcmp(util_printable(field, printable, sizeof(printable)), field) != 0)
                return complain(parser, "a name is not printable UTF-8", field);
        strcpy(row->name, field);
        strcpy(row->label, field);
        return 0;
}

static int add_amount(struct parser *parser, const struct usage_column *column, double amount,
                      struct usage_table_row *row)
{
        int err;

        if (column->kind == COLUMN_TIME)
                row->time_ms = amount;
        if (column->kind == COLUMN_DISPLAY) {
                row->display_ms = amount;
                if (parser->screens)
                        return 0;
        }
        err = usage_column_add(column, amount, &row->usage);
        return err == -ERANGE ? complain(parser, "an amount is out of range", NULL) : err;
}

static int read_amount(struct parser *parser, const struct usage_column *column, const char *field,
                       struct usage_table_row *row)
{
        double amount;

        if (!*field) {
                row->usage.have &= ~usage_column_have(column);
                return 0;
        }
        if (util_parse_double(field, &amount) < 0 || !(amount >= 0) || signbit(amount) || amount > USAGE_COLUMN_MOST)
                return complain(parser, "not an amount of 0 or more", field);
        return add_amount(parser, column, amount, row);
}

static void row_clear(struct usage_table_row *row)
{
        usage_clear(&row->usage);
}

static int read_row(struct parser *parser)
{
        _cleanup_(row_clear) struct usage_table_row row = { .usage.have = parser->have };
        struct usage_table *table = parser->table;
        struct usage_table_row *added;
        char field[CSV_FIELD_MAX];
        bool is_new;
        int err, more = 1;

        for (size_t i = 0; i < parser->n_columns; i++) {
                if (!more)
                        return complain(parser, "the line has too few fields", NULL);
                more = read_field(parser, field);
                if (more < 0)
                        return more;
                if (parser->columns[i].kind <= COLUMN_STATE)
                        err = read_text(parser, parser->columns[i].kind, field, &row);
                else
                        err = read_amount(parser, &parser->columns[i], field, &row);
                if (err < 0)
                        return err;
        }
        if (more)
                return complain(parser, "the line has too many fields", NULL);
        for (size_t i = OWNER_AMOUNT_COUNT; !row.base && i < AMOUNT_COUNT; i++)
                if (row.usage.amount[i])
                        return complain(parser, "only the base has this amount", amount_kinds[i].word);
        added = usage_table_row(table, row.name, row.base, row.state, &is_new);
        if (!added)
                return -ENOMEM;
        if (!is_new)
                return complain(parser, "a name and state is there twice", row.name);
        table->has_base = table->has_base || row.base;
        *added = row;
        row.usage = (struct usage){ 0 };
        return 0;
}

struct usage_table_index {
        char key[APP_ID_MAX + 2]; /* the state, and the name */
        size_t row;
        UT_hash_handle hh;
};

static struct usage_table_row *add_row(struct usage_table *table, const char *key)
{
        struct usage_table_index *entry;

        if (util_grow(&table->rows, &table->capacity, table->n_rows + 1, sizeof(*table->rows)) < 0)
                return NULL;
        entry = calloc(1, sizeof(*entry));
        if (!entry)
                return NULL;
        snprintf(entry->key, sizeof(entry->key), "%s", key);
        entry->row = table->n_rows;
        HASH_ADD_STR(table->index, key, entry);
        if (!HASH_HAS(entry)) {
                free(entry);
                return NULL;
        }
        return memset(&table->rows[table->n_rows++], 0, sizeof(*table->rows));
}

struct usage_table_row *usage_table_row(struct usage_table *table, const char *name, bool base, enum app_state state,
                                        bool *added)
{
        char key[APP_ID_MAX + 2] = { base ? 'b' : state == STATE_FOREGROUND ? '1' : '0' };
        struct usage_table_index *entry;

        memcpy(key + 1, name, strnlen(name, APP_ID_MAX)); /* a year has thousands of rows of each app */
        HASH_FIND_STR(table->index, key, entry);
        *added = !entry;
        return entry ? &table->rows[entry->row] : add_row(table, key);
}

int usage_table_parse(const char *text, size_t length, const char *name, const struct log *log,
                      struct usage_table **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table));
        _cleanup_free_ struct parser *parser = calloc(1, sizeof(*parser)); /* too large for a stack */
        int err;

        if (!table || !parser)
                return -ENOMEM;
        parser->csv = (struct csv_reader){ .at = text, .end = text + length };
        parser->file = name;
        parser->log = log;
        parser->line = 1;
        parser->table = table;
        if (length == 0)
                return complain(parser, "the table is empty", NULL);
        err = read_head(parser);
        while (err == 0 && parser->csv.at < parser->csv.end) {
                parser->line++;
                err = read_row(parser);
        }
        if (err < 0)
                return err;
        *ret = TAKE_PTR(table);
        return 0;
}

int usage_table_load(const char *path, const struct log *log, struct usage_table **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = csv_load(path, "usage table", log, &text, &length);

        return err ? err : usage_table_parse(text, length, path, log, ret);
}

void usage_table_free(struct usage_table *table)
{
        struct usage_table_index *entry, *next;

        if (!table)
                return;
        HASH_ITER(hh, table->index, entry, next) {
                HASH_DEL(table->index, entry);
                free(entry);
        }
        for (size_t i = 0; i < table->n_rows; i++)
                row_clear(&table->rows[i]);
        free(table->rows);
        free(table->khz);
        free(table);
}
