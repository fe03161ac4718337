/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage-table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "util/units.h"
#include "util/util.h"

#define COLUMNS_MAX 128
#define FIELD_MAX 256
#define TABLE_BYTES_MAX (64 << 20)
#define AMOUNT_MAX                                                                                           \
        1e15 /* in whatever unit: far above all that a machine does in a year, far below 2^64 after scaling  \
              */

enum column {
        COLUMN_NAME,
        COLUMN_STATE,
        COLUMN_TIME,
        COLUMN_DISPLAY,
        COLUMN_READ_BYTES,
        COLUMN_READ_KB,
        COLUMN_WRITE,
        COLUMN_RX,
        COLUMN_TX,
        COLUMN_KHZ,
};

static const char *const column_names[] = {
        [COLUMN_NAME] = "name",
        [COLUMN_STATE] = "state",
        [COLUMN_TIME] = "time_ms",
        [COLUMN_DISPLAY] = "display_ms",
        [COLUMN_READ_BYTES] = "read_bytes",
        [COLUMN_READ_KB] = "read_kb",
        [COLUMN_WRITE] = "write_kb",
        [COLUMN_RX] = "rx_kb",
        [COLUMN_TX] = "tx_kb",
};

struct parser {
        const char *at, *end;
        const char *file;
        const struct log *log;
        unsigned line;
        struct usage_table *table;
        size_t capacity;
        size_t n_columns;
        struct {
                enum column column;
                uint32_t khz;
        } columns[COLUMNS_MAX];
};

static int complain(const struct parser *parser, const char *what, const char *detail)
{
        char printable[64];

        log_error(parser->log, "%s:%u: %s%s%s", parser->file, parser->line, what, detail ? ": " : "",
                  detail ? util_printable(detail, printable, sizeof(printable)) : "");
        return -EINVAL;
}

/* One field into @buf, quotes taken off. 1: more follow on this line; 0: it was the last; -EINVAL. */
static int read_field(struct parser *parser, char buf[FIELD_MAX])
{
        bool quoted = parser->at < parser->end && *parser->at == '"';
        size_t n = 0;

        if (quoted)
                parser->at++;
        while (parser->at < parser->end) {
                char c = *parser->at;

                if (quoted && c == '"') {
                        parser->at++;
                        if (parser->at == parser->end || *parser->at != '"') {
                                quoted = false;
                                break;
                        }
                } else if (!quoted && (c == ',' || c == '\n' || c == '\r')) {
                        break;
                }
                if (c == '\0' || n == FIELD_MAX - 1)
                        return complain(parser, c ? "a field is too long" : "not a text", NULL);
                buf[n++] = c;
                parser->at++;
        }
        buf[n] = '\0';
        if (quoted)
                return complain(parser, "a quote is not closed", NULL);
        if (parser->at < parser->end && *parser->at == ',') {
                parser->at++;
                return 1;
        }
        if (parser->at < parser->end && *parser->at == '\r')
                parser->at++;
        if (parser->at == parser->end)
                return complain(parser, "the table is cut off (its last line has no newline)", NULL);
        if (*parser->at != '\n')
                return complain(parser, "text after a closing quote", NULL);
        parser->at++;
        return 0;
}

static int list_khz(struct parser *parser)
{
        struct usage_table *table = parser->table;

        table->khz = calloc(parser->n_columns, sizeof(*table->khz));
        if (!table->khz)
                return -ENOMEM;
        for (size_t i = 0; i < parser->n_columns; i++) {
                if (parser->columns[i].column == COLUMN_KHZ)
                        table->khz[table->n_khz++] = parser->columns[i].khz;
        }
        return 0;
}

static int read_head(struct parser *parser)
{
        char field[FIELD_MAX];
        bool seen[COLUMN_KHZ + 1] = { false };
        int more = 1;

        while (more > 0) {
                enum column column = 0;
                uint64_t khz = 0;

                more = read_field(parser, field);
                if (more < 0)
                        return more;
                while (column < COLUMN_KHZ && strcmp(field, column_names[column]) != 0)
                        column++;
                if (column == COLUMN_KHZ &&
                    (util_parse_u64(field, &khz) < 0 || khz == 0 || khz >= UINT32_MAX))
                        return complain(parser, "a column is neither known nor a frequency in kHz", field);
                for (size_t i = 0; i < parser->n_columns; i++) {
                        if (parser->columns[i].column == column && parser->columns[i].khz == khz)
                                return complain(parser, "a column is there twice", field);
                }
                if (parser->n_columns == COLUMNS_MAX)
                        return complain(parser, "too many columns", NULL);
                parser->columns[parser->n_columns].column = column;
                parser->columns[parser->n_columns++].khz = (uint32_t)khz;
                seen[column] = true;
        }
        for (enum column c = COLUMN_NAME; c <= COLUMN_RX; c++) {
                if (!seen[c] && c != COLUMN_READ_BYTES && c != COLUMN_READ_KB)
                        return complain(parser, "a column is missing", column_names[c]);
        }
        if (seen[COLUMN_READ_BYTES] == seen[COLUMN_READ_KB])
                return complain(parser, "it needs one column of the two read_bytes and read_kb", NULL);
        parser->table->has_tx = seen[COLUMN_TX];
        return list_khz(parser);
}

static int read_text(struct parser *parser, enum column column, const char *field,
                     struct usage_table_row *row)
{
        char printable[FIELD_MAX];

        if (column == COLUMN_STATE) {
                bool foreground = strcmp(field, "foreground") == 0;

                if (!foreground && strcmp(field, "background") != 0)
                        return complain(parser, "the state is neither foreground nor background", field);
                row->state = foreground ? STATE_FOREGROUND : STATE_BACKGROUND;
                return 0;
        }
        if (!*field || strlen(field) >= sizeof(row->name))
                return complain(parser, *field ? "a name is too long" : "a name is empty", field);
        if (strcmp(util_printable(field, printable, sizeof(printable)), field) != 0)
                return complain(parser, "a name is not printable UTF-8", field);
        strcpy(row->name, field);
        return 0;
}

static int read_amount(struct parser *parser, size_t i, const char *field, struct usage_table_row *row)
{
        struct usage *usage = &row->usage;
        double amount;
        uint64_t ns;

        if (util_parse_double(field, &amount) < 0 || !(amount >= 0) || signbit(amount) || amount > AMOUNT_MAX)
                return complain(parser, "not an amount of 0 or more", field);
        switch (parser->columns[i].column) {
        case COLUMN_TIME:
                row->time_ms = amount;
                return 0;
        case COLUMN_DISPLAY:
                row->display_ms = amount;
                if (amount > 1e12)
                        return complain(parser, "a time is out of range", field);
                return amount > 0
                               ? usage_add_screen(usage, BRIGHTNESS_UNKNOWN, (uint64_t)llround(amount * 1e6))
                               : 0;
        case COLUMN_READ_BYTES:
                usage->read_bytes = (uint64_t)llround(amount);
                return 0;
        case COLUMN_READ_KB:
                usage->read_bytes = (uint64_t)llround(amount * 1e3);
                return 0;
        case COLUMN_WRITE:
                usage->write_bytes = (uint64_t)llround(amount * 1e3);
                return 0;
        case COLUMN_RX:
                usage->wifi_rx_bytes = (uint64_t)llround(amount * 1e3);
                return 0;
        case COLUMN_TX:
                usage->wifi_tx_bytes = (uint64_t)llround(amount * 1e3);
                return 0;
        default:
                if (amount > 1e11)
                        return complain(parser, "a CPU time is out of range", field);
                ns = (uint64_t)llround(amount * 1e7);
                return ns > 0 ? usage_add_cpu(usage, 0, parser->columns[i].khz, ns, ns) : 0;
        }
}

static void row_clear(struct usage_table_row *row)
{
        usage_clear(&row->usage);
}

static int read_row(struct parser *parser)
{
        _cleanup_(row_clear) struct usage_table_row row = {
                .usage.have = USAGE_CPU | USAGE_DISK | USAGE_WIFI | USAGE_DISPLAY,
        };
        struct usage_table *table = parser->table;
        char field[FIELD_MAX];
        int err, more = 1;

        for (size_t i = 0; i < parser->n_columns; i++) {
                if (!more)
                        return complain(parser, "the line has too few fields", NULL);
                more = read_field(parser, field);
                if (more < 0)
                        return more;
                if (parser->columns[i].column <= COLUMN_STATE)
                        err = read_text(parser, parser->columns[i].column, field, &row);
                else
                        err = read_amount(parser, i, field, &row);
                if (err < 0)
                        return err;
        }
        if (more)
                return complain(parser, "the line has too many fields", NULL);
        for (size_t i = 0; i < table->n_rows; i++) {
                if (table->rows[i].state == row.state && strcmp(table->rows[i].name, row.name) == 0)
                        return complain(parser, "a name and state is there twice", row.name);
        }
        err = util_grow(&table->rows, &parser->capacity, table->n_rows + 1, sizeof(*table->rows));
        if (err < 0)
                return err;
        table->rows[table->n_rows++] = row;
        row.usage = (struct usage){ 0 };
        return 0;
}

int usage_table_parse(const char *text, size_t length, const char *name, const struct log *log,
                      struct usage_table **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table));
        struct parser parser = {
                .at = text, .end = text + length, .file = name, .log = log, .line = 1, .table = table,
        };
        int err;

        if (!table)
                return -ENOMEM;
        if (length == 0)
                return complain(&parser, "the table is empty", NULL);
        err = read_head(&parser);
        while (err == 0 && parser.at < parser.end) {
                parser.line++;
                err = read_row(&parser);
        }
        if (err < 0)
                return err;
        *ret = TAKE_PTR(table);
        return 0;
}

int usage_table_load(const char *path, const struct log *log, struct usage_table **ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, too */
        _cleanup_free_ char *text = NULL;
        struct stat status;
        ssize_t length;
        int err;

        if (fd < 0 || fstat(fd, &status) < 0) {
                err = -errno;
                log_error(log, "%s: cannot read the usage table: %s", path, strerror(-err));
                return err;
        }
        if (!S_ISREG(status.st_mode) || status.st_size > TABLE_BYTES_MAX) {
                log_error(log, "%s: not a usage table (%s)", path,
                          S_ISREG(status.st_mode) ? "larger than 64 MiB" : "not a file");
                return -EINVAL;
        }
        text = malloc((size_t)status.st_size + 2);
        if (!text)
                return -ENOMEM;
        length = util_read_at(AT_FDCWD, path, text, (size_t)status.st_size + 2);
        if (length < 0) {
                log_error(log, "%s: cannot read the usage table: %s", path, strerror((int)-length));
                return (int)length;
        }
        return usage_table_parse(text, (size_t)length, path, log, ret);
}

void usage_table_free(struct usage_table *table)
{
        if (!table)
                return;
        for (size_t i = 0; i < table->n_rows; i++)
                row_clear(&table->rows[i]);
        free(table->rows);
        free(table->khz);
        free(table);
}

void usage_table_freep(struct usage_table **table)
{
        usage_table_free(*table);
}
