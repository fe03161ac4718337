/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage-column.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* The columns of papers and other profilers, and ours that are not one of many. */
static const struct {
        const char *name;
        struct usage_column column;
} named_columns[] = {
        { "name", { .kind = COLUMN_NAME } },
        { "state", { .kind = COLUMN_STATE } },
        { "time_ms", { .kind = COLUMN_TIME } },
        { "display_ms", { .kind = COLUMN_DISPLAY } },
        { "cpu_busy_ns", { .kind = COLUMN_CPU_SUM } },
        { "cellular_bytes", { .kind = COLUMN_CELLULAR } },
        { "read_kb", { COLUMN_AMOUNT, AMOUNT_read_bytes, 1e3 } },
        { "write_kb", { COLUMN_AMOUNT, AMOUNT_write_bytes, 1e3 } },
        { "rx_kb", { COLUMN_AMOUNT, AMOUNT_wifi_rx_bytes, 1e3 } },
        { "tx_kb", { COLUMN_AMOUNT, AMOUNT_wifi_tx_bytes, 1e3 } },
};

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
static bool read_cpu_column(const char *text, struct usage_column *ret)
{
        static const struct {
                const char *word;
                enum usage_column_kind kind;
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

/* "cycles.4", "instructions.4" and "misses.4". */
static bool read_counted_column(const char *text, struct usage_column *ret)
{
        for (uint32_t event = 0; event < COUNTED_COUNT; event++) {
                size_t length = strlen(counted_words[event]);

                if (strncmp(text, counted_words[event], length) != 0 || text[length] != '.')
                        continue;
                *ret = (struct usage_column){ .kind = COLUMN_COUNTED, .key = event };
                return text[length + 1] != 'u' && read_key(text + length + 1, 0, &ret->group);
        }
        return false;
}

bool usage_column_parse(const char *text, struct usage_column *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(named_columns); i++)
                if (strcmp(text, named_columns[i].name) == 0) {
                        *ret = named_columns[i].column;
                        return true;
                }
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (strcmp(text, amount_kinds[i].word) == 0) {
                        *ret = (struct usage_column){ COLUMN_AMOUNT, i, 1, 0, 0 };
                        return true;
                }
        if (read_counted_column(text, ret))
                return true;
        *ret = (struct usage_column){ .kind = COLUMN_SCREEN };
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

bool usage_column_is_same(const struct usage_column *a, const struct usage_column *b)
{
        return a->kind == b->kind && a->amount == b->amount && a->group == b->group && a->key == b->key;
}

const char *usage_column_name(enum usage_column_kind kind)
{
        size_t i = 0;

        while (i + 1 < ARRAY_SIZE(named_columns) && named_columns[i].column.kind != kind)
                i++;
        return named_columns[i].name;
}

uint32_t usage_column_have(const struct usage_column *column)
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

/* @unit: how many of the usage's unit are one of the column's. */
static int in_unit(double amount, double unit, uint64_t *ret)
{
        if (amount > USAGE_COLUMN_MOST / unit)
                return -ERANGE;
        *ret = (uint64_t)llround(amount * unit);
        return 0;
}

static int add_point(struct usage *usage, enum keyed keyed, const struct usage_column *column, uint64_t ns)
{
        struct point point = { .group = column->group, .key = column->key, .ns = ns };

        return ns ? usage_add_point(usage, keyed, &point) : 0;
}

int usage_column_add(const struct usage_column *column, double amount, struct usage *usage)
{
        uint64_t n = 0;
        int err;

        switch (column->kind) {
        case COLUMN_AMOUNT:
                return in_unit(amount, column->scale, &usage->amount[column->amount]);
        case COLUMN_DISPLAY:
                err = in_unit(amount, 1e6, &n);
                return err || !n ? err : usage_add_screen(usage, BRIGHTNESS_UNKNOWN, n);
        case COLUMN_KHZ:
                err = in_unit(amount, 1e7, &n);
                return err || !n ? err : usage_add_cpu(usage, POLICY_UNKNOWN, column->key, n, n);
        case COLUMN_CPU:
        case COLUMN_SHARED:
                err = in_unit(amount, 1, &n);
                if (err || !n)
                        return err;
                return usage_add_cpu(usage, column->group, column->key, column->kind == COLUMN_CPU ? n : 0,
                                     column->kind == COLUMN_CPU ? 0 : n);
        case COLUMN_COUNTED: /* none is known, too */
                err = in_unit(amount, 1, &n);
                return err ? err : usage_add_point(usage, KEYED_COUNTED, &(struct point){ .policy = column->group,
                                                                                         .key = column->key,
                                                                                         .amount = n });
        case COLUMN_IDLE:
        case COLUMN_SIGNAL:
        case COLUMN_SCREEN:
                err = in_unit(amount, 1, &n);
                return err ? err :
                             add_point(usage,
                                       column->kind == COLUMN_IDLE   ? KEYED_IDLE :
                                       column->kind == COLUMN_SIGNAL ? KEYED_SIGNAL :
                                                                       KEYED_SCREEN,
                                       column, n);
        default:
                return 0;
        }
}
