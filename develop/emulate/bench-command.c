/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `joulecast bench`: how fast this machine's CPU is, for comparison with another device's. */

#include <cjson/cJSON.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "bench.h"
#include "commands.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static int print_json(const double *speed)
{
        struct cJSON *json = cJSON_CreateObject(), *kernels = cJSON_AddObjectToObject(json, "kernels");

        for (int k = 0; k < BENCH_KERNELS; k++)
                cJSON_AddNumberToObject(kernels, bench_kinds[k].name, speed[k]);
        return answer_print_json(json);
}

int bench_main(int argc, char **argv)
{
        struct options options = { 0 };
        double seconds = 1, speed[BENCH_KERNELS];
        uint64_t repeats = 5;
        const struct option_row rows[] = {
                { "seconds", "S", N_("how long each kernel runs, each time"), .usual = "1",
                  .number = &seconds, .low = 0.01, .high = 60, .unit = "s" },
                { "repeats", "N", N_("how often each kernel runs; the median counts"), .usual = "5", .count = &repeats,
                  .low = 1, .high = 15 },
        };
        const struct option_table command = {
                .called = "joulecast bench",
                .usage = "joulecast bench [OPTIONS]",
                .about = N_("Measures how fast one CPU of this machine is, by five kernels (small computations). On "
                            "a device that others are to emulate, write the results into its profile as "
                            "x-bench-NAME of [profile]."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
        };
        int code = options_parse(&command, SHARED_JSON, argc, argv, &options);
        _cleanup_(table_freep) struct table *table = NULL;

        if (code >= 0)
                return code;
        if (bench_run(seconds, repeats, speed) < 0)
                return CODE_FAILED;
        if (options.json)
                return print_json(speed);
        table = table_new("lrll");
        table_heads(table, N_("Kernel"), N_("Speed"), "", N_("What it does"), NULL);
        for (int k = 0; k < BENCH_KERNELS; k++) {
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", bench_kinds[k].name);
                table_cell(table, "%.4g", speed[k]);
                table_cell(table, "%s", _(bench_kinds[k].unit));
                table_cell(table, "%s", _(bench_kinds[k].help));
        }
        table_print(table);
        return CODE_OK;
}
