/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast usage`: the recorded usage, before any model prices it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "commands.h"
#include "model/radio-usage.h"
#include "names.h"
#include "options.h"
#include "recorded.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

static void time_cell(struct table *table, bool known, uint64_t ns)
{
        char text[32];

        if (!known)
                table_cell(table, "?");
        else if (ns > 0 && ns < 10 * NS_PER_S)
                table_cell(table, "%.2f s", (double)ns / NS_PER_S);
        else
                table_cell(table, "%s", ns ? answer_print_duration((double)ns / NS_PER_S, text) : "");
}

static void bytes_cell(struct table *table, bool known, uint64_t bytes)
{
        double mb = (double)bytes / BYTES_PER_MB;

        if (!known)
                table_cell(table, "?");
        else if (bytes == 0)
                table_cell(table, "%s", "");
        else if (mb >= 0.1)
                table_cell(table, mb < 100 ? "%.1f MB" : "%.0f MB", mb);
        else
                table_cell(table, "%.1f kB", mb * 1e3);
}

static void amount_cell(struct table *table, const struct usage *usage, enum amount amount)
{
        bytes_cell(table, usage->have & amount_kinds[amount].have, usage->amount[amount]);
}

static const enum amount held_amounts[] = { AMOUNT_gps_on_ns, AMOUNT_audio_on_ns, AMOUNT_camera_on_ns };

/* Parts that few devices have: their columns are there if anything used them. */
static uint32_t used_parts(const struct usage_table *recorded)
{
        uint32_t used = 0;

        for (size_t i = 0; i < recorded->n_rows; i++) {
                const struct usage *usage = &recorded->rows[i].usage;

                used |= radio_usage_bytes(usage, AIR_CELLULAR) > 0 ? USAGE_RADIO : 0;
                for (size_t k = 0; k < ARRAY_SIZE(held_amounts); k++)
                        used |= usage->amount[held_amounts[k]] > 0 ? amount_kinds[held_amounts[k]].have : 0;
        }
        return used;
}

static void add_parts(struct table *table, const struct usage *usage, uint32_t used)
{
        uint32_t known = usage->have | ~used;

        bytes_cell(table, known & USAGE_RADIO, radio_usage_bytes(usage, AIR_CELLULAR));
        for (size_t i = 0; i < ARRAY_SIZE(held_amounts); i++)
                time_cell(table, known & amount_kinds[held_amounts[i]].have, usage->amount[held_amounts[i]]);
}

static void add_row(struct table *table, const struct usage_table_row *row, uint32_t used)
{
        const struct usage *usage = &row->usage;
        char active[32], name[APP_ID_MAX + 2];

        table_row(table, row->base ? TABLE_FAINT : TABLE_PLAIN);
        table_cell(table, "%s", row->base ? _("base") : names_in_table(row->name, row->label, name, sizeof(name)));
        table_cell(table, "%s", row->base ? "" : _(answer_state(row->state)));
        table_cell(table, "%s", answer_print_duration(row->time_ms / 1e3, active));
        time_cell(table, usage->have & USAGE_CPU, usage_busy_ns(usage));
        time_cell(table, usage->have & USAGE_DISPLAY, usage_screen_ns(usage));
        amount_cell(table, usage, AMOUNT_read_bytes);
        amount_cell(table, usage, AMOUNT_write_bytes);
        amount_cell(table, usage, AMOUNT_wifi_rx_bytes);
        amount_cell(table, usage, AMOUNT_wifi_tx_bytes);
        if (usage->have & USAGE_WIFI && usage->wifi_wakes)
                table_cell(table, "%llu", (unsigned long long)usage->wifi_wakes);
        else
                table_cell(table, "%s", usage->have & USAGE_WIFI ? "" : "?");
        time_cell(table, usage->have & USAGE_GPU, usage->gpu_busy_ns);
        add_parts(table, usage, used);
}

static int print_usage(const struct usage_table *recorded)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrrrrrrrrrrrr");
        uint32_t used = used_parts(recorded);

        table_spare(table, "A987BCDE6541");
        table_heads(table, N_("App"), N_("State"), N_("Time"), N_("CPU"), N_("Screen"), N_("Read"),
                    N_("Written"), N_("WiFi in"), N_("WiFi out"), N_("Bursts"), N_("GPU"), N_("Modem"),
                    N_("GPS"), N_("Sound"), N_("Camera"), NULL);
        for (size_t i = 0; i < recorded->n_rows; i++)
                add_row(table, &recorded->rows[i], used);
        recorded_print_span(recorded);
        table_print(table);
        putchar('\n');
        table_note("Base: what no app used. Bursts: packets after a silence of 1 s or more. ?: not counted, "
                   "or not all of the time.");
        return CODE_OK;
}

static int print_csv(const struct usage_table *table)
{
        _cleanup_free_ char *text = NULL;

        if (usage_table_print(table, &text) < 0 || fputs(text, stdout) < 0 || fflush(stdout) < 0) {
                log_error(&program_log, "the table cannot be written: %s", strerror(errno));
                return CODE_FAILED;
        }
        return CODE_OK;
}

int usage_main(int argc, char **argv)
{
        struct recorded recorded = { .from.ns = INT64_MIN, .to_ns = INT64_MAX };
        bool as_csv = false;
        const struct option_row rows[] = {
                OPTIONS_FROM(&recorded.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&recorded.to_ns) },
                { "app", "APP", N_("show only this app: its id, its name, or a part of it"), .text = &recorded.app },
                { "csv", NULL, N_("answer with a usage table (CSV), which joulecast cost --usage prices"),
                  .flag = &as_csv, .excludes = "json" },
        };
        const struct option_table command = {
                .called = "joulecast usage",
                .usage = "joulecast usage [--from T | --since WHAT] [--to T] [--app APP] [--csv]",
                .about = N_("What was recorded, by app and state: CPU time, screen time, bytes and bursts,\n"
                         "before any power model prices it. With --json and --csv also by operating point\n"
                         "and brightness. Without --from and --to everything that is recorded counts."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        int code = options_parse(&command, SHARED_DEVICE | SHARED_DATABASE | SHARED_JSON, argc, argv,
                                 &recorded.options);

        if (code >= 0)
                return code;
        code = ask_check_span("usage", &recorded.from, recorded.to_ns);
        if (code != CODE_OK)
                return code;
        code = recorded_read(&recorded, &table);
        if (code != CODE_OK)
                return code;
        if (recorded.options.json)
                return answer_print_json(answer_usage_json(table));
        return as_csv ? print_csv(table) : print_usage(table);
}
