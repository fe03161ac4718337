/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage-table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "util/hash.h"
#include "util/units.h"
#include "util/util.h"

#define COLUMNS_MAX 16384
#define FIELD_MAX 256
#define TABLE_BYTES_MAX (64 << 20)
#define AMOUNT_MOST 1e18 /* in whatever unit: far above all that a machine does in a year, below 2^63 */

enum column_kind {
        COLUMN_NAME,
        COLUMN_STATE,
        COLUMN_TIME,
        COLUMN_DISPLAY,
        COLUMN_AMOUNT, /* by @amount, times @scale */
        COLUMN_KHZ,    /* @key, in 1/100 s */
        COLUMN_CPU,    /* @group, @key */
        COLUMN_SHARED,
        COLUMN_IDLE,    /* idle.POLICY.KHZ, ns */
        COLUMN_SIGNAL,  /* signal.DB, bytes at so many dB below 1 mW */
        COLUMN_SCREEN, /* @key */
        COLUMN_CPU_SUM,
};

struct column {
        enum column_kind kind;
        size_t amount;
        double scale;
        uint32_t group, key;
};

/* The columns of papers and other profilers, and ours that are not one of many. */
static const struct {
        const char *name;
        struct column column;
} named_columns[] = {
        { "name", { .kind = COLUMN_NAME } },
        { "state", { .kind = COLUMN_STATE } },
        { "time_ms", { .kind = COLUMN_TIME } },
        { "display_ms", { .kind = COLUMN_DISPLAY } },
        { "cpu_busy_ns", { .kind = COLUMN_CPU_SUM } },
        { "read_kb", { COLUMN_AMOUNT, AMOUNT_read_bytes, 1e3 } },
        { "write_kb", { COLUMN_AMOUNT, AMOUNT_write_bytes, 1e3 } },
        { "rx_kb", { COLUMN_AMOUNT, AMOUNT_wifi_rx_bytes, 1e3 } },
        { "tx_kb", { COLUMN_AMOUNT, AMOUNT_wifi_tx_bytes, 1e3 } },
};

struct parser {
        const char *at, *end;
        const char *file;
        const struct log *log;
        unsigned line;
        struct usage_table *table;
        size_t n_columns;
        struct column columns[COLUMNS_MAX];
        bool screens; /* there are columns of brightness, so display_ms is a sum of them */
        uint32_t have; /* that a row has unless a field is empty */
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
                return complain(parser, "text after a closing quote, or a carriage return inside a field", NULL);
        parser->at++;
        return 0;
}

/* "384000"; "unknown" is @unknown. */
static bool read_key(const char *text, uint32_t unknown, uint32_t *ret)
{
        uint64_t key;

        if (strcmp(text, "unknown") == 0) {
                *ret = unknown;
                return true;
        }
        if (util_parse_u64(text, &key) < 0 || key >= UINT32_MAX)
                return false;
        *ret = (uint32_t)key;
        return true;
}

/* "cpu.4.384000", "shared.4.384000" and "idle.4.384000". */
static bool read_cpu_column(const char *text, struct column *ret)
{
        static const struct {
                const char *word;
                enum column_kind kind;
        } words[] = { { "cpu.", COLUMN_CPU }, { "shared.", COLUMN_SHARED }, { "idle.", COLUMN_IDLE } };
        char policy[16];
        size_t i = 0;
        int n = 0;

        while (i < ARRAY_SIZE(words) && strncmp(text, words[i].word, strlen(words[i].word)) != 0)
                i++;
        if (i == ARRAY_SIZE(words))
                return false;
        ret->kind = words[i].kind;
        text += strlen(words[i].word);
        if (sscanf(text, "%15[0-9].%n", policy, &n) != 1 || n == 0)
                return false;
        return read_key(policy, 0, &ret->group) && read_key(text + n, KHZ_UNKNOWN, &ret->key);
}

static bool read_column(const char *text, struct column *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(named_columns); i++)
                if (strcmp(text, named_columns[i].name) == 0) {
                        *ret = named_columns[i].column;
                        return true;
                }
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (strcmp(text, amount_kinds[i].word) == 0) {
                        *ret = (struct column){ COLUMN_AMOUNT, i, 1, 0, 0 };
                        return true;
                }
        *ret = (struct column){ .kind = COLUMN_SCREEN };
        if (strncmp(text, "screen.", 7) == 0)
                return read_key(text + 7, BRIGHTNESS_UNKNOWN, &ret->key);
        ret->kind = COLUMN_SIGNAL;
        if (strncmp(text, "signal.", 7) == 0)
                return read_key(text + 7, 0, &ret->key);
        ret->kind = COLUMN_KHZ;
        if (text[0] >= '0' && text[0] <= '9')
                return read_key(text, 0, &ret->key) && ret->key > 0;
        return read_cpu_column(text, ret);
}

static bool is_same(const struct column *a, const struct column *b)
{
        return a->kind == b->kind && a->amount == b->amount && a->group == b->group && a->key == b->key;
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

        for (enum column_kind kind = COLUMN_NAME; kind <= COLUMN_DISPLAY; kind++) {
                bool there = false;

                for (size_t i = 0; i < parser->n_columns; i++)
                        there = there || parser->columns[i].kind == kind;
                if (!there)
                        return complain(parser, "a column is missing", named_columns[kind].name);
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
        char field[FIELD_MAX];
        int more = 1;

        while (more > 0) {
                struct column column;

                more = read_field(parser, field);
                if (more < 0)
                        return more;
                if (!read_column(field, &column))
                        return complain(parser, "a column is neither known nor a frequency in kHz", field);
                for (size_t i = 0; i < parser->n_columns; i++)
                        if (is_same(&parser->columns[i], &column))
                                return complain(parser, "a column is there twice", field);
                if (parser->n_columns == COLUMNS_MAX)
                        return complain(parser, "too many columns", NULL);
                parser->columns[parser->n_columns++] = column;
        }
        return check_head(parser);
}

static int read_text(struct parser *parser, enum column_kind column, const char *field,
                     struct usage_table_row *row)
{
        char printable[FIELD_MAX];

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

/* What an empty field says was not counted. */
static uint32_t have_of(const struct column *column)
{
        switch (column->kind) {
        case COLUMN_AMOUNT:
                return amount_kinds[column->amount].have;
        case COLUMN_CPU_SUM:
                return USAGE_CPU;
        case COLUMN_DISPLAY:
                return USAGE_DISPLAY;
        default:
                return 0;
        }
}

static int add_amount(struct parser *parser, const struct column *column, double amount, struct usage_table_row *row)
{
        struct usage *usage = &row->usage;
        uint64_t ns = (uint64_t)llround(amount);

        switch (column->kind) {
        case COLUMN_TIME:
                row->time_ms = amount;
                return 0;
        case COLUMN_DISPLAY:
                row->display_ms = amount;
                if (amount > AMOUNT_MOST / 1e6)
                        return complain(parser, "a time is out of range", NULL);
                ns = (uint64_t)llround(amount * 1e6);
                return ns && !parser->screens ? usage_add_screen(usage, BRIGHTNESS_UNKNOWN, ns) : 0;
        case COLUMN_AMOUNT:
                if (amount > AMOUNT_MOST / column->scale)
                        return complain(parser, "an amount is out of range", NULL);
                usage->amount[column->amount] = (uint64_t)llround(amount * column->scale);
                return 0;
        case COLUMN_CPU:
        case COLUMN_SHARED:
                return ns ? usage_add_cpu(usage, column->group, column->key, column->kind == COLUMN_CPU ? ns : 0,
                                          column->kind == COLUMN_CPU ? 0 : ns) : 0;
        case COLUMN_IDLE:
                return ns ? usage_add_point(usage, KEYED_IDLE, &(struct point){ .group = column->group, .key = column->key,
                                                                                .ns = ns }) : 0;
        case COLUMN_SIGNAL:
                return ns ? usage_add_point(usage, KEYED_SIGNAL, &(struct point){ .key = column->key, .ns = ns }) : 0;
        case COLUMN_SCREEN:
                return ns ? usage_add_screen(usage, column->key, ns) : 0;
        case COLUMN_KHZ:
                if (amount > AMOUNT_MOST / 1e7)
                        return complain(parser, "a CPU time is out of range", NULL);
                ns = (uint64_t)llround(amount * 1e7);
                return ns ? usage_add_cpu(usage, POLICY_UNKNOWN, column->key, ns, ns) : 0;
        default:
                return 0; /* cpu_busy_ns: the others say it */
        }
}

static int read_amount(struct parser *parser, const struct column *column, const char *field,
                       struct usage_table_row *row)
{
        double amount;

        if (!*field) {
                row->usage.have &= ~have_of(column);
                return 0;
        }
        if (util_parse_double(field, &amount) < 0 || !(amount >= 0) || signbit(amount) || amount > AMOUNT_MOST)
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
        char field[FIELD_MAX];
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
        char key[APP_ID_MAX + 2];
        struct usage_table_index *entry;

        snprintf(key, sizeof(key), "%c%s", base ? 'b' : state == STATE_FOREGROUND ? '1' : '0', name);
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
        parser->at = text;
        parser->end = text + length;
        parser->file = name;
        parser->log = log;
        parser->line = 1;
        parser->table = table;
        if (length == 0)
                return complain(parser, "the table is empty", NULL);
        err = read_head(parser);
        while (err == 0 && parser->at < parser->end) {
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
                          S_ISREG(status.st_mode) ? "larger than 64 MiB" : "not a regular file");
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

void usage_table_freep(struct usage_table **table)
{
        usage_table_free(*table);
}
