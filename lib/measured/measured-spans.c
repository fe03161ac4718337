/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of a trace as spans. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measured-private.h"
#include "util/units.h"
#include "util/util.h"

int measured_keyed(const struct usage_column *column)
{
        switch (column->kind) {
        case COLUMN_CPU:
        case COLUMN_KHZ:
                return KEY_CPU;
        case COLUMN_SHARED:
                return KEY_SHARED;
        case COLUMN_IDLE:
                return KEY_IDLE;
        case COLUMN_SCREEN:
                return KEY_SCREEN;
        default:
                return KEY_COUNT;
        }
}

const struct column *measured_find(const struct parser *parser, enum kind kind, size_t at,
                                   enum usage_column_kind usage)
{
        for (size_t i = 0; i < parser->n_columns; i++) {
                const struct column *column = &parser->columns[i];

                if (column->kind == kind && (kind == KIND_USAGE ? column->usage.kind == usage : column->at == at))
                        return column;
        }
        return NULL;
}

/* Sorts rows by span; within a span the base is first, then the order of the file. */
static int by_span(const void *a, const void *b)
{
        const struct row *x = a, *y = b;

        if (x->span != y->span)
                return (x->span > y->span) - (x->span < y->span);
        if (x->owner.base != y->owner.base)
                return x->owner.base ? -1 : 1;
        return (x->line > y->line) - (x->line < y->line);
}

static int by_owner(const void *a, const void *b)
{
        const struct row *const *x = a, *const *y = b;
        int order = strcmp((*x)->owner.name, (*y)->owner.name);

        return order ? order : ((*x)->owner.state > (*y)->owner.state) - ((*x)->owner.state < (*y)->owner.state);
}

static int check_owners(const struct parser *parser, const struct row *rows, size_t n)
{
        _cleanup_free_ const struct row **sorted = calloc(n, sizeof(*sorted));

        if (!sorted)
                return -ENOMEM;
        if (!rows[0].owner.base)
                return measured_complain(parser, rows[0].line, "the span has no row of name and state base", NULL);
        for (size_t i = 0; i < n; i++) {
                sorted[i] = &rows[i];
                if (rows[i].number[NUMBER_START] < rows[0].number[NUMBER_START] ||
                    rows[i].number[NUMBER_START] > rows[0].number[NUMBER_START] ||
                    rows[i].number[NUMBER_ELAPSED] < rows[0].number[NUMBER_ELAPSED] ||
                    rows[i].number[NUMBER_ELAPSED] > rows[0].number[NUMBER_ELAPSED])
                        return measured_complain(parser, rows[i].line,
                                                 "start_s or elapsed_s differs from that of another row of "
                                                 "the span", NULL);
                if (i > 0 && rows[i].owner.base)
                        return measured_complain(parser, rows[i].line, "the span has two rows of state base", NULL);
        }
        if (strcmp(rows[0].owner.name, "base") != 0)
                return measured_complain(parser, rows[0].line, "the row of state base is not named base",
                                         rows[0].owner.name);
        qsort(sorted + 1, n - 1, sizeof(*sorted), by_owner);
        for (size_t i = 2; i < n; i++)
                if (by_owner(&sorted[i - 1], &sorted[i]) == 0)
                        return measured_complain(parser, MAX(sorted[i]->line, sorted[i - 1]->line),
                                                 "a name and state is there twice in a span",
                                           sorted[i]->owner.name);
        return 0;
}

static uint32_t have_of(const struct column *column)
{
        static const uint32_t keyed[KEY_COUNT] = { USAGE_CPU, USAGE_CPU, USAGE_CPU, USAGE_DISPLAY };
        int key = measured_keyed(&column->usage);

        if (column->kind != KIND_USAGE || !column->filled)
                return 0;
        if (key < KEY_COUNT)
                return keyed[key];
        return column->usage.kind == COLUMN_AMOUNT || column->usage.kind == COLUMN_DISPLAY ?
                       usage_column_have(&column->usage) :
                       0;
}

/* Lists the columns of the trace; a column that is empty in all rows does not count. */
static void list_filled(struct parser *parser)
{
        struct measured_trace *trace = parser->trace;

        for (size_t i = 0; i < parser->n_columns; i++) {
                const struct column *column = &parser->columns[i];
                int key = column->kind == KIND_USAGE ? measured_keyed(&column->usage) : KEY_COUNT;

                if (column->kind == KIND_USAGE && column->usage.kind == COLUMN_DISPLAY && column->filled &&
                    !parser->screens)
                        key = KEY_SCREEN;
                trace->have |= have_of(column);
                if (key < KEY_COUNT && column->filled)
                        parser->keys[key]++;
                if (column->kind == KIND_USAGE && column->usage.kind == COLUMN_AMOUNT && column->filled)
                        trace->amounts |= UINT64_C(1) << column->usage.amount;
        }
        trace->shared = parser->keys[KEY_SHARED] > 0 || measured_find(parser, KIND_USAGE, 0, COLUMN_KHZ);
        trace->idle = parser->keys[KEY_IDLE] > 0;
}

/* USAGE_* for which a row has an empty cell that should have a value; adds those with a value to @filled. */
static uint32_t unknown_of(const struct parser *parser, const struct row *row, uint32_t *filled)
{
        const uint64_t machine = ~((UINT64_C(1) << OWNER_AMOUNT_COUNT) - 1);
        uint64_t asked = parser->trace->amounts & (row->owner.base ? machine : ~machine);
        bool front = !row->owner.base && row->owner.state == STATE_FOREGROUND;
        uint32_t unknown = 0;

        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (row->amounts & UINT64_C(1) << i)
                        *filled |= amount_kinds[i].have;
                else if (asked & UINT64_C(1) << i)
                        unknown |= amount_kinds[i].have;
        if (row->keys[KEY_CPU] + row->keys[KEY_IDLE] > 0)
                *filled |= USAGE_CPU;
        if (row->keys[KEY_SCREEN] > 0)
                *filled |= USAGE_DISPLAY;
        if (row->owner.base && row->keys[KEY_IDLE] < parser->keys[KEY_IDLE])
                unknown |= USAGE_CPU;
        if (!row->owner.base && (row->keys[KEY_CPU] < parser->keys[KEY_CPU] ||
                                 row->keys[KEY_SHARED] < parser->keys[KEY_SHARED]))
                unknown |= USAGE_CPU;
        if (front && row->keys[KEY_SCREEN] < parser->keys[KEY_SCREEN])
                unknown |= USAGE_DISPLAY;
        return unknown;
}

static int list_frequencies(const struct parser *parser)
{
        for (size_t i = 0; i < parser->n_columns; i++) {
                const struct usage_column *column = &parser->columns[i].usage;
                int key = parser->columns[i].kind == KIND_USAGE ? measured_keyed(column) : KEY_COUNT, err;
                struct point point = { .policy = column->kind == COLUMN_KHZ ? 0 : column->group, .khz = column->key };

                if (key >= KEY_SCREEN || !parser->columns[i].filled || point.khz == KHZ_UNKNOWN)
                        continue;
                if (key == KEY_IDLE)
                        point.any_ns = 1;
                else
                        point.ns = 1;
                err = usage_points_add(&parser->trace->frequencies, &point);
                if (err)
                        return err;
        }
        return 0;
}

/* If the CPU time with several cores busy at once is not known, it counts as the least possible. */
static void share_all(struct measured_span *span)
{
        double elapsed_ns = span->elapsed_s * NS_PER_S;

        for (size_t i = 0; i < span->n_owners; i++)
                for (size_t k = 0; k < span->owners[i].usage.cpu.n; k++) {
                        struct point *point = &span->owners[i].usage.cpu.list[k];
                        double busy_ns = 0;

                        for (size_t o = 0; o < span->n_owners; o++)
                                for (size_t j = 0; j < span->owners[o].usage.cpu.n; j++)
                                        if (span->owners[o].usage.cpu.list[j].policy == point->policy)
                                                busy_ns += (double)span->owners[o].usage.cpu.list[j].busy_ns;
                        point->any_ns = (uint64_t)((double)point->busy_ns * fmin(elapsed_ns / busy_ns, 1));
                }
}

static bool counts_misses(const struct parser *parser, uint32_t policy)
{
        for (size_t i = 0; i < parser->n_columns; i++) {
                const struct column *column = &parser->columns[i];

                if (column->kind == KIND_COUNTER && column->at == COUNTED_MISSES && column->policy == policy &&
                    column->filled)
                        return true;
        }
        return false;
}

/* More than any core does in a cycle: something else was counted. */
#define PER_CYCLE_MOST 16

#define KHZ_ANY 1000000 /* only parts of it count */

/*
 * Counts in a part of the CPU time stand for all of it, so that owners add up by their cycles. A kind
 * of work needs instructions and cycles, and misses where the policy has them in any row.
 */
static void extend_counted(const struct parser *parser, struct usage *usage)
{
        struct points *counted = &usage->counted;
        size_t n = 0;

        for (size_t i = 0, end; i < counted->n; i = end) {
                double sum[COUNTED_COUNT] = { 0 }, cycles = 0;
                bool has[COUNTED_COUNT] = { false };
                uint32_t policy = counted->list[i].policy;

                for (end = i; end < counted->n && counted->list[end].policy == policy; end++) {
                        sum[counted->list[end].key] = (double)counted->list[end].amount;
                        has[counted->list[end].key] = true;
                }
                for (size_t k = 0; k < usage->cpu.n; k++)
                        if (usage->cpu.list[k].policy == policy)
                                cycles += (double)usage->cpu.list[k].busy_ns * 1e-6 *
                                          (usage->cpu.list[k].khz == KHZ_UNKNOWN ? KHZ_ANY : usage->cpu.list[k].khz);
                if (!(sum[COUNTED_CYCLES] > 0) || !(sum[COUNTED_INSTRUCTIONS] > 0) || !(cycles >= 1) ||
                    sum[COUNTED_INSTRUCTIONS] > PER_CYCLE_MOST * sum[COUNTED_CYCLES] ||
                    sum[COUNTED_MISSES] > PER_CYCLE_MOST * sum[COUNTED_CYCLES] ||
                    (counts_misses(parser, policy) && !has[COUNTED_MISSES]))
                        continue;
                for (size_t k = i; k < end; k++) {
                        struct point *point = &counted->list[n++];

                        *point = counted->list[k];
                        point->amount = (uint64_t)fmin(sum[point->key] / sum[COUNTED_CYCLES] * cycles, 1e18);
                }
        }
        counted->n = n;
}

/* CPU time at no known frequency has no price beside time at known ones. */
static bool has_unknown_frequency(const struct measured_trace *trace, const struct usage *usage)
{
        for (size_t i = 0; i < usage->cpu.n; i++)
                for (size_t k = 0; usage->cpu.list[i].khz == KHZ_UNKNOWN && k < trace->frequencies.n; k++)
                        if (trace->frequencies.list[k].policy == usage->cpu.list[i].policy)
                                return true;
        return false;
}

static void fill_base(struct measured_span *span)
{
        struct usage *usage = &span->owners[0].usage;
        uint64_t elapsed_ns = (uint64_t)(fmin(span->elapsed_s, 9e9) * NS_PER_S);

        if (usage->time_ns == 0)
                usage->time_ns = elapsed_ns > usage->suspend_ns ? elapsed_ns - usage->suspend_ns : 0;
        if (usage->suspend_ns > elapsed_ns)
                usage->suspend_ns = elapsed_ns;
}

/* Takes the owners of the rows over. */
static int make_span(struct parser *parser, struct row *rows, size_t n, struct measured_span *span)
{
        const double *number = rows[0].number;
        uint32_t filled = 0;
        int err = check_owners(parser, rows, n);

        if (err)
                return err;
        *span = (struct measured_span){ .number = rows[0].span, .line = rows[0].line, .start_s = number[NUMBER_START],
                                        .elapsed_s = number[NUMBER_ELAPSED], .percent = number[NUMBER_PERCENT],
                                        .charge_uah = number[NUMBER_CHARGE], .voltage_mv = number[NUMBER_VOLTAGE],
                                        .temperature_c = number[NUMBER_TEMPERATURE], .used_percent = NAN,
                                        .light = { number[NUMBER_RED], number[NUMBER_GREEN], number[NUMBER_BLUE] },
                                        .picture = 1 };
        span->energy_j = isnan(number[NUMBER_ENERGY]) ? number[NUMBER_POWER] / 1e3 * span->elapsed_s :
                                                        number[NUMBER_ENERGY];
        span->by = isnan(span->energy_j) ? MEASURED_BY_NOTHING : MEASURED_BY_METER;
        memcpy(span->rail_j, rows[0].rail_j, sizeof(span->rail_j));
        span->owners = calloc(n, sizeof(*span->owners));
        if (!span->owners)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                struct measured_owner *owner = &span->owners[span->n_owners++];

                span->unknown |= unknown_of(parser, &rows[i], &filled);
                *owner = rows[i].owner;
                rows[i].owner.usage = (struct usage){ 0 };
                if (has_unknown_frequency(parser->trace, &owner->usage))
                        span->unknown |= USAGE_CPU;
                if (isnan(owner->active_s))
                        owner->active_s = span->elapsed_s;
                extend_counted(parser, &owner->usage);
        }
        span->unknown |= parser->trace->have & ~filled;
        for (size_t i = 0; i < n; i++)
                span->owners[i].usage.have = parser->trace->have & ~span->unknown;
        fill_base(span);
        if (!parser->trace->shared)
                share_all(span);
        return 0;
}

static int by_time(const void *a, const void *b)
{
        const struct measured_span *x = a, *y = b;

        return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

#define TOUCH_S 2e-3   /* largest overlap of adjacent spans, by rounding to ms ... */
#define FOLLOW_S 1.5   /* ... and largest gap between them */

static int order_spans(const struct parser *parser)
{
        struct measured_trace *trace = parser->trace;

        if (trace->n > 1)
                qsort(trace->spans, trace->n, sizeof(*trace->spans), by_time);
        for (size_t i = 1; i < trace->n; i++) {
                const struct measured_span *before = &trace->spans[i - 1];
                double gap_s = trace->spans[i].start_s - before->start_s - before->elapsed_s;
                char which[32];

                if (gap_s < -TOUCH_S) {
                        snprintf(which, sizeof(which), "span %lld", (long long)before->number);
                        return measured_complain(parser, trace->spans[i].line,
                                                 "the span begins before another one has ended", which);
                }
                trace->spans[i].follows = gap_s < FOLLOW_S;
        }
        return 0;
}

#define TOTAL_LEAST 10 /* so many energies do not grow from span to span by chance */

/* Values that are likely in another unit, or of another kind. The spans are in the order of time. */
static int check_values(const struct parser *parser)
{
        const struct measured_trace *trace = parser->trace;
        size_t grows = 0;
        double most = 0;

        for (size_t i = 0; i < trace->n; i++) {
                most = fmax(most, trace->spans[i].percent); /* NaN is passed over */
                grows += i > 0 && trace->spans[i].energy_j > trace->spans[i - 1].energy_j;
        }
        if (most > 0 && most <= 1)
                return measured_complain(parser, trace->spans[0].line,
                                         "percent: no value is above 1; write percent, from 0 to 100", NULL);
        if (measured_find(parser, KIND_NUMBER, NUMBER_ENERGY, 0) && trace->n >= TOTAL_LEAST && grows == trace->n - 1)
                log_warning(parser->log, "%s: energy_j grows from each span to the next; it must be each span's own "
                            "energy, not a total", parser->file);
        return 0;
}

int measured_make_spans(struct parser *parser)
{
        struct measured_trace *trace = parser->trace;
        size_t capacity = 0, n;
        int err;

        list_filled(parser);
        err = list_frequencies(parser);
        if (err)
                return err;
        qsort(parser->rows, parser->n_rows, sizeof(*parser->rows), by_span);
        for (size_t i = 0; i < parser->n_rows; i += n) {
                for (n = 1; i + n < parser->n_rows && parser->rows[i + n].span == parser->rows[i].span;)
                        n++;
                if (util_grow(&trace->spans, &capacity, trace->n + 1, sizeof(*trace->spans)) < 0)
                        return -ENOMEM;
                trace->spans[trace->n] = (struct measured_span){ 0 };
                err = make_span(parser, &parser->rows[i], n, &trace->spans[trace->n++]);
                if (err)
                        return err;
        }
        err = order_spans(parser);
        if (!err)
                err = check_values(parser);
        return err ? err : measured_check_times(parser);
}

