/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>

#include "check.h"
#include "forecast/usage-table.h"
#include "model/radio-usage.h"
#include "util/util.h"

static void figure_3(const char *path)
{
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        const struct usage_table_row *birds;

        check_int(usage_table_load(path, NULL, &table), 0);
        if (!table)
                return;
        check_int(table->n_rows, 6);
        check(!table->has_tx);
        birds = &table->rows[1];
        check_text(birds->name, "Angry Birds");
        check_int(birds->state, STATE_FOREGROUND);
        check_near(birds->time_ms, 2168274, 0);
        check_int(birds->usage.cpu.n, 3);
        check_int(birds->usage.cpu.list[0].khz, 1026000);
        check_int(birds->usage.cpu.list[0].busy_ns, INT64_C(69170000000));
        check_int(birds->usage.cpu.list[2].busy_ns, INT64_C(2295930000000));
        check_int(usage_screen_ns(&birds->usage), INT64_C(2168274000000));
        check_int(birds->usage.read_bytes, 237568);
        check_int(birds->usage.write_bytes, 4356000);
        check_int(birds->usage.wifi_rx_bytes, 4243000);
}

static char said[1024];

static void remember(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

#define HEAD "name,state,time_ms,display_ms,384000,read_kb,write_kb,rx_kb,tx_kb\n"

static void bad_tables_are_named(void)
{
        static const struct {
                const char *text, *sentence;
        } cases[] = {
                { "", "t:1: the table is empty" },
                { "name\n", "t:1: a column is missing: state" },
                { "name,state,time_ms,display_ms,write_kb,rx_kb\n",
                  "t:1: a column is missing: read_bytes or read_kb" },
                { "name,name\n", "t:1: a column is there twice: name" },
                { "name,0384000.5\n", "t:1: a column is neither known nor a frequency in kHz: 0384000.5" },
                { HEAD "a,foreground,1,1,1,1,1,1\n", "t:2: the line has too few fields" },
                { HEAD "a,foreground,1,1,1,1,1,1,1,1\n", "t:2: the line has too many fields" },
                { HEAD "a,top,1,1,1,1,1,1,1\n", "t:2: the state is none of foreground, background and base: top" },
                { HEAD "a,foreground,1,1,-1,1,1,1,1\n", "t:2: not an amount of 0 or more: -1" },
                { HEAD "a,foreground,1,1,nan,1,1,1,1\n", "t:2: not an amount of 0 or more: nan" },
                { HEAD "a,foreground,1,1,1e300,1,1,1,1\n", "t:2: not an amount of 0 or more: 1e300" },
                { HEAD "a,foreground,1,1,1,1,1,1,1\na,foreground,1,1,1,1,1,1,1\n",
                  "t:3: a name and state is there twice: a" },
                { HEAD "a\033[2J,foreground,1,1,1,1,1,1,1\n", "t:2: a name is not printable UTF-8: a?[2J" },
                { HEAD ",foreground,1,1,1,1,1,1,1\n", "t:2: a name is empty: " },
                { HEAD "a,foreground,1,1,1,1,1,1,1",
                  "t:2: the table is cut off (its last line has no newline; add one if it is complete)" },
                { HEAD "\"a,foreground,1,1,1,1,1,1,1\n", "t:2: a quote is not closed" },
                { HEAD "\n", "t:2: a name is empty: " },
        };
        struct log log = { .handler = remember };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct usage_table *table = NULL;

                said[0] = '\0';
                check_int(usage_table_parse(cases[i].text, strlen(cases[i].text), "t", &log, &table),
                          -EINVAL);
                check(table == NULL);
                check_text(said, cases[i].sentence);
        }
}

static void quotes_and_line_ends(void)
{
        static const char text[] = "tx_kb,name,state,time_ms,display_ms,600000,read_kb,write_kb,rx_kb\r\n"
                                   "4,\"Word, \"\"Draft\"\"\",background,2000,0,2.5,1,2,3\r\n";
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;

        check_int(usage_table_parse(text, sizeof(text) - 1, "t", NULL, &table), 0);
        if (!table)
                return;
        check_int(table->n_rows, 1);
        check(table->has_tx);
        check_text(table->rows[0].name, "Word, \"Draft\"");
        check_int(table->rows[0].usage.cpu.list[0].busy_ns, 25000000);
        check_int(table->rows[0].usage.read_bytes, 1000);
        check_int(table->rows[0].usage.write_bytes, 2000);
        check_int(table->rows[0].usage.wifi_rx_bytes, 3000);
        check_int(table->rows[0].usage.wifi_tx_bytes, 4000);
        check_int(table->rows[0].usage.screen.n, 0);
}

/* All values of a row are read back, and uncounted ones stay unknown. */
static void printed_tables_read_the_same(void)
{
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table)), *again = NULL;
        _cleanup_free_ char *text = NULL;
        struct point modem = { .group = AIR_CELLULAR, .amount = 4321 };
        struct usage_table_row *row, *base;
        struct radio_shape shape;
        bool added;

        radio_shape_stored(&shape);
        modem.key = (uint32_t)radio_shape_cells(&shape);
        row = usage_table_row(table, "a, \"b\"", false, STATE_FOREGROUND, &added);
        check(added);
        snprintf(row->name, sizeof(row->name), "a, \"b\"");
        row->state = STATE_FOREGROUND;
        row->time_ms = 1.5;
        row->usage.have = USAGE_ALL & ~USAGE_GPU;
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                row->usage.amount[i] = i == AMOUNT_gpu_busy_ns ? 0 : 1000001 + i;
        check_int(usage_add_cpu(&row->usage, 4, 300000, 7, 5), 0);
        check_int(usage_add_cpu(&row->usage, 4, KHZ_UNKNOWN, 9, 0), 0);
        check_int(usage_add_screen(&row->usage, BRIGHTNESS_UNKNOWN, 1000000), 0);
        check_int(usage_add_screen(&row->usage, 77, 500000), 0);
        for (uint32_t event = 0; event < COUNTED_COUNT; event++) /* no misses, which is known; none of the base is */
                check_int(usage_add_point(&row->usage, KEYED_COUNTED,
                                          &(struct point){ .policy = 4, .key = event,
                                                           .amount = 5000 * (2 - event) }), 0);
        check_int(usage_add_point(&table->rows[0].usage, KEYED_RADIO, &modem), 0);
        base = usage_table_row(table, "base", true, STATE_BACKGROUND, &added);
        snprintf(base->name, sizeof(base->name), "base");
        base->base = true;
        base->usage.have = USAGE_ALL & ~(USAGE_CPU | USAGE_DISPLAY);
        base->usage.time_ns = 123456789012345;
        base->usage.wifi_on_ns = 3;
        check_int(usage_table_print(table, &text), 0);
        check(strstr(text, ",cellular_bytes,") && strstr(text, ",4321,"));
        check(strstr(text, ",cycles.4,instructions.4,misses.4\n") && strstr(text, ",10000,5000,0\n"));
        table->rows[0].usage.radio.n = 0; /* no column has what prices them */
        check_int(usage_table_parse(text, strlen(text), "t", NULL, &again), 0);
        check_int(again ? again->n_rows : 0, 2);
        for (size_t r = 0; again && r < again->n_rows; r++) {
                const struct usage *got = &again->rows[r].usage, *want = &table->rows[r].usage;

                check_text(again->rows[r].name, table->rows[r].name);
                check_int(again->rows[r].base, table->rows[r].base);
                check_int(again->rows[r].state, table->rows[r].state);
                check_int(got->have, want->have & ~(uint32_t)USAGE_RADIO);
                check(memcmp(got->amount, want->amount, sizeof(got->amount)) == 0);
                for (size_t k = 0; k < KEYED_COUNT; k++) {
                        check_int(got->keyed[k].n, want->keyed[k].n);
                        for (size_t i = 0; i < want->keyed[k].n && i < got->keyed[k].n; i++)
                                check(memcmp(&got->keyed[k].list[i], &want->keyed[k].list[i],
                                             sizeof(struct point)) == 0);
                }
        }
}

static void only_the_base_has_the_machines_amounts(void)
{
        static const char text[] = "name,state,time_ms,display_ms,read_kb,write_kb,rx_kb,time_ns\n"
                                   "a,background,1,0,0,0,0,7\n";
        struct usage_table *table = NULL;
        struct log log = { .handler = remember };

        check_int(usage_table_parse(text, strlen(text), "t", &log, &table), -EINVAL);
        check_text(said, "t:2: only the base has this amount: time_ns");
}

int main(int argc, char **argv)
{
        figure_3(argc > 1 ? argv[1] : "tests/data/sapp-figure3-usage.csv");
        bad_tables_are_named();
        quotes_and_line_ends();
        printed_tables_read_the_same();
        only_the_base_has_the_machines_amounts();
        return check_result();
}
