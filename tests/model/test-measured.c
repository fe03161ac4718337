/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <math.h>

#include "check.h"
#include "measured/baseline.h"
#include "measured/measured.h"
#include "util/csv-field.h"
#include "util/util.h"

static char said[1024];

static void remember(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

static const struct log test_log = { .handler = remember };

static struct measured_trace *parse(const char *text)
{
        struct measured_trace *trace = NULL;

        said[0] = '\0';
        check_int(measured_parse(text, strlen(text), "t", &test_log, &trace), 0);
        check_text(said, "");
        return trace;
}

#define HEAD "span,name,state,start_s,elapsed_s"

static void rows_become_spans(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",energy_j,power_mw,cpu.0.1000000,shared.0.1000000,idle.0.1000000,screen.100,"
                           "wifi_rx_bytes,rail.cpu_j\n"
                      "7,\"a,b\",foreground,10,2,,,1500000000,1000000000,,2000000000,5000,\n"
                      "3,base,base,0,4.5,,500,0,0,1e9,0,0,1.25\n"
                      "7,base,base,10,2,8,,0,0,1e9,,,\n");

        if (!trace)
                return;
        check_int(trace->n, 2);
        check_int(trace->spans[0].number, 3);
        check_near(trace->spans[0].energy_j, 2.25, 1e-12);
        check_near(trace->spans[0].rail_j[0], 1.25, 0);
        check_int(trace->spans[0].owners[0].usage.time_ns, INT64_C(4500000000));
        check_int(trace->spans[0].unknown, 0);
        check(!trace->spans[1].follows);
        check_near(trace->spans[1].energy_j, 8, 0);
        check_int(trace->spans[1].n_owners, 2);
        check(trace->spans[1].owners[0].base);
        check_text(trace->spans[1].owners[1].name, "a,b");
        check_int(trace->spans[1].owners[1].state, STATE_FOREGROUND);
        check_near(trace->spans[1].owners[1].active_s, 2, 0);
        check_int(trace->spans[1].owners[1].usage.cpu.list[0].busy_ns, 1500000000);
        check_int(trace->spans[1].owners[1].usage.cpu.list[0].any_ns, 1000000000);
        check_int(trace->spans[1].owners[0].usage.idle.list[0].idle_ns, 1000000000);
        check_int(trace->spans[1].owners[1].usage.wifi_rx_bytes, 5000);
        check_int(trace->spans[1].unknown, 0); /* the base has neither screen nor bytes of apps */
        check_int(trace->have, USAGE_CPU | USAGE_DISPLAY | USAGE_WIFI);
}

/* An empty cell is unknown, 0 is no usage, and a column that is empty everywhere was not counted. */
static void empty_is_unknown(void)
{
        static const struct {
                /*
                 * An app's state, cpu.0.1000000, cpu.0.2000000, screen.9, gpu_busy_ns, read_bytes (always
                 * empty).
                 */
                const char *cells;
                uint32_t unknown;
        } cases[] = {
                { "foreground,0,1e9,1e9,3e6,", 0 },
                { "foreground,0,1e9,1e9,,", USAGE_GPU },
                { "foreground,1e9,,1e9,3e6,", USAGE_CPU },
                { "foreground,1e9,2,,3e6,", USAGE_DISPLAY },
                { "background,1e9,2,,3e6,", USAGE_DISPLAY }, /* unknown in every row */
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(measured_freep) struct measured_trace *trace = NULL;
                char text[600], words[64];
                uint32_t unknown;

                snprintf(text, sizeof(text), "span,start_s,elapsed_s,energy_j,name,state,cpu.0.1000000,"
                         "cpu.0.2000000,screen.9,gpu_busy_ns,read_bytes\n1,0,1,1,base,base,,,,,\n"
                         "1,0,1,,app,%s\n2,1,1,1,base,base,,,,,\n"
                         "2,1,1,,app,foreground,1e9,1,1e9,1e9,\n2,1,1,,other,background,1,1,,1,\n", cases[i].cells);
                trace = parse(text);
                if (!trace)
                        continue;
                check_int(trace->spans[0].unknown, cases[i].unknown);
                check_int(trace->spans[1].unknown, 0);
                check_int(trace->have & USAGE_DISK, 0);
                check_int(measured_keep_known(trace, &unknown), cases[i].unknown != 0);
                check_int(unknown, cases[i].unknown);
                if (cases[i].unknown == USAGE_GPU)
                        check_text(measured_words(unknown, words, sizeof(words)), "gpu");
        }
}

#define UNKNOWN " (leave the cell empty if it is unknown)"

static void bad_traces_are_named(void)
{
        static const struct {
                const char *text, *sentence;
        } cases[] = {
                { "", "t:1: the trace is empty" },
                { HEAD "\n", "t:1: the trace has no rows" },
                { "name,state,span,start_s\n", "t:1: a column is missing: elapsed_s" },
                { "name,state,start_s,elapsed_s\n", "t:1: a column is missing: span" },
                { HEAD ",wings\n", "t:1: a column of that name is not known: wings" },
                { "span;name;state\n1;base;base\n",
                  "t:1: separate columns by commas, and write decimals with a point: span;name;state" },
                { HEAD ",cycles.x\n", "t:1: a column names no policy by its number: cycles.x" },
                { HEAD ",rx_kb,wifi_rx_bytes\n", "t:1: an amount has two columns: wifi_rx_bytes" },
                { HEAD ",rail.cpu_j,rail.cpu_j\n", "t:1: an amount has two columns: rail.cpu_j" },
                { HEAD ",384000,cpu.0.384000\n",
                  "t:1: CPU time has columns in 1/100 s and in ns (cpu.P.KHZ); leave out the ones in 1/100 s" },
                { HEAD "\n1,base,base,0,1",
                  "t:2: elapsed_s: the table is cut off (its last line has no newline; add one if it is complete)" },
                { HEAD "\n1,base,base,0\n", "t:2: the line has too few fields" },
                { HEAD "\n1,base,base,0,1,2\n", "t:2: the line has too many fields (commas in decimals?)" },
                { HEAD "\n1.5,base,base,0,1\n", "t:2: span: not an integer: 1.5" },
                { HEAD "\n1,base,top,0,1\n", "t:2: state: none of foreground, background and base: top" },
                { HEAD "\n1,base,base,0,0\n", "t:2: a row needs start_s, and elapsed_s above 0" },
                { HEAD "\n1,base,base,,1\n", "t:2: a row needs start_s, and elapsed_s above 0" },
                { HEAD "\n1,base,base,0,1e300\n", "t:2: elapsed_s: below 0, or too large" UNKNOWN ": 1e300" },
                { HEAD "\n1,app,foreground,0,1\n", "t:2: the span has no row of name and state base" },
                { HEAD "\n1,root,base,0,1\n", "t:2: the row of state base is not named base: root" },
                { HEAD "\n1,base,base,0,1\n1,base,base,0,1\n", "t:3: the span has two rows of state base" },
                { HEAD "\n1,base,base,0,1\n1,a,foreground,0,1\n1,a,foreground,0,1\n",
                  "t:4: a name and state is there twice in a span: a" },
                { HEAD "\n1,base,base,0,1\n1,a,foreground,0,2\n",
                  "t:3: start_s or elapsed_s differs from that of another row of the span" },
                { HEAD "\n2,base,base,0,3\n1,base,base,2,1\n",
                  "t:3: the span begins before another one has ended: span 2" },
                { HEAD ",power_mw,energy_j\n1,base,base,0,1,5,5\n",
                  "t:2: power_mw and energy_j are both there; leave one out" },
                { HEAD ",power_mw\n1,base,base,0,1,5\n1,a,foreground,0,1,5\n",
                  "t:3: power_mw: only the row of the base has this column: 5" },
                { HEAD ",power_mw\n1,base,base,0,1,-5\n", "t:2: power_mw: below 0, or too large" UNKNOWN ": -5" },
                { HEAD ",percent\n1,base,base,0,1,101\n", "t:2: percent: not from 0 to 100" UNKNOWN ": 101" },
                { HEAD ",screen_red\n1,base,base,0,1,1.5\n", "t:2: screen_red: not from 0 to 1" UNKNOWN ": 1.5" },
                { HEAD ",voltage_mv\n1,base,base,0,1,0.0\n", "t:2: voltage_mv: not from 1 to 1e+06" UNKNOWN ": 0.0" },
                { HEAD ",power_mw\n1,base,base,0,1,nan\n", "t:2: power_mw: not a number" UNKNOWN ": nan" },
                { HEAD ",charge_uah\n1,base,base,0,1,-inf\n", "t:2: charge_uah: not a number" UNKNOWN ": -inf" },
                { HEAD ",power_mw\n1,base,base,0,1,5 mW\n", "t:2: power_mw: not a number" UNKNOWN ": 5 mW" },
                { HEAD ",power_mw\n1,base,base,0,1,\"1,5\"\n",
                  "t:2: power_mw: write decimals with a point, not a comma: 1,5" },
                { HEAD ",power_mw\n1,base,base,0,1,1,5\n", "t:2: the line has too many fields (commas in decimals?)" },
                { "span\tname\n", "t:1: separate columns by commas, and write decimals with a point: span?name" },
                { HEAD ",\n1,base,base,0,1,\n", "t:1: a column has no name" },
                { HEAD ",power_mw,\"power_mw\"\n", "t:1: an amount has two columns: power_mw" },
                { HEAD "\n,,,,\n", "t:2: span: not an integer" },
                { HEAD "\n1,base,base,0,1\n\n2,,base,1,1\n", "t:4: name: empty" },
                { HEAD ",cycles.0\n1,base,base,0,1,-1\n", "t:2: cycles.0: below 0, or too large" UNKNOWN ": -1" },
                { HEAD "\n1,\"base,base,0,1\n", "t:2: name: a quote is not closed" },
                { HEAD "\n1,\"ba\"se,base,0,1\n",
                  "t:2: name: text after a closing quote, or a carriage return inside a field" },
                { HEAD ",idle.0.5\n1,base,base,0,1,1\n1,a,foreground,0,1,1\n",
                  "t:3: idle.0.5: only the row of the base has this column: 1" },
                { HEAD ",cpu.2.5\n1,base,base,0,1,\n1,a,foreground,0,1,2e12\n",
                  "t:2: cpu.2.KHZ: 2000 s in a span of 1 s, which can have at most 1024 s; is the unit right?" },
                { HEAD ",cpu.2.5,shared.2.5\n1,base,base,0,10,,\n1,a,foreground,0,10,3e10,1.2e10\n",
                  "t:2: shared.2.KHZ: 12 s in a span of 10 s, which can have at most 10 s; is the unit right?" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct measured_trace *trace = NULL;

                said[0] = '\0';
                check_int(measured_parse(cases[i].text, strlen(cases[i].text), "t", &test_log, &trace), -EINVAL);
                check(trace == NULL);
                check_text(said, cases[i].sentence);
        }
}

#define EXPECTED(most) " times its length; expected are 0.01 to " most " times; is the unit right?"
#define EXPECTED_MW " mW; expected are 50 to 6e+05 mW of a battery of 50000 mWh; is the unit right?"

/* Factors of 1000 and more; less may be another device, or other use. */
static void other_units_are_warned_of(void)
{
        static const struct {
                const char *cells, *sentence; /* power_mw, and an app's CPU time, shared time and screen */
        } cases[] = {
                { "5000,1e9,5e8,1e10", "" },
                { "5000,0,0,0", "" },
                { "5000,2e8,1.01e8,1e10", "" },
                { "60,6.4e11,1.1e10,1.02e10", "" },
                { "5e5,1e9,1.1e9,2e8", "" },
                { "5000,3e8,3e9,1e10", "t: a span has 3 s in shared.POLICY.KHZ and 0.3 s in cpu.POLICY.KHZ, but some"
                                       " core is busy at most as long as all of them; are the units right?" },
                { "5000,8e7,1e7,1e10", "t: shared.0.KHZ: the most in any span is 0.001" EXPECTED("1") },
                { "5000,8e7,0,1e10", "t: cpu.0.KHZ: the most in any span is 0.008" EXPECTED("64") },
                { "5000,8e11,1e9,1e10", "t: cpu.0.KHZ: the most in any span is 80" EXPECTED("64") },
                { "5000,1e9,5e8,1e4", "t: screen.LEVEL: the most in any span is 1e-06" EXPECTED("1") },
                { "5000,1e9,5e8,1e13", "t: screen.LEVEL: the most in any span is 1e+03" EXPECTED("1") },
                { "12.5,1e9,5e8,1e10", "t: power_mw or energy_j: the mean power is 12.5" EXPECTED_MW },
                { "12.5e6,1e9,5e8,1e10", "t: power_mw or energy_j: the mean power is 1.25e+07" EXPECTED_MW },
        };

        static const char machine[] = HEAD ",power_mw,wifi_on_ns\n1,base,base,0,10,500,10000\n";
        struct measured_trace *by_ms = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(measured_freep) struct measured_trace *trace = NULL;
                const char *rest = strchr(cases[i].cells, ',');
                char text[400];

                said[0] = '\0';
                snprintf(text, sizeof(text),
                         HEAD ",power_mw,cpu.0.5,shared.0.5,screen.9\n"
                         "1,base,base,0,10,%.*s,,,\n1,a,foreground,0,10,%s\n",
                         (int)(rest - cases[i].cells), cases[i].cells, rest);
                check_int(measured_parse(text, strlen(text), "t", &test_log, &trace), 0);
                if (trace)
                        check_int(measured_resolve(trace, 50000), 0);
                check_text(said, cases[i].sentence);
        }
        said[0] = '\0';
        check_int(measured_parse(machine, strlen(machine), "t", &test_log, &by_ms), 0);
        check_text(said, "t: wifi_on_ns: the most in any span is 1e-06" EXPECTED("1"));
        measured_free(by_ms);
}

/* Traces of spreadsheets and scripts are read like the plain one. */
static void other_forms_are_read(void)
{
        static const char *const forms[] = {
                HEAD ",power_mw,charge_uah\n1,base,base,0,1,1500,-2\n1,a b,foreground,0,1,,\n",
                HEAD ",power_mw,charge_uah\r\n1,base,base,0,1,1500,-2\r\n1,a b,foreground,0,1,,\r\n",
                "\"span\",\"name\",\"state\",\"start_s\",\"elapsed_s\",\"power_mw\",\"charge_uah\"\n"
                "\"1\",\"base\",\"base\",\"0\",\"1\",\"1500\",\"-2\"\n"
                "\"1\",\"a b\",\"foreground\",\"0\",\"1\",\"\",\"\"\n",
                " span , name,state\t,start_s,elapsed_s, power_mw ,charge_uah \n"
                "1 ,base , base, 0,1 ,  1500\t, -2\n 1, \"a b\" ,foreground,0,1, ,\n",
                HEAD ",power_mw,charge_uah\n\n1,base,base,0,1.0,1.5e3,-2E0\n  \r\n1,a b,foreground,0.0,1,,\n\n\t",
                HEAD ",power_mw,charge_uah,temperature_c\n1,base,base,0,1,+1500,-2,\n1,a b,foreground,0,1,,,\n",
        };

        for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
                _cleanup_(measured_freep) struct measured_trace *trace = parse(forms[i]);

                if (!trace)
                        continue;
                check_int(trace->n, 1);
                check_int(trace->spans[0].n_owners, 2);
                check_near(trace->spans[0].energy_j, 1.5, 1e-12);
                check_near(trace->spans[0].charge_uah, -2, 0);
                check_text(trace->spans[0].owners[1].name, "a b");
                check_int(trace->spans[0].owners[1].state, STATE_FOREGROUND);
        }
}

static void no_texts_are_refused(void)
{
        static const char zero[] = HEAD "\n1,base,base,0,1\n1,b\0,background,0,1\n";
        char line[3 * CSV_FIELD_MAX];
        struct measured_trace *trace = NULL;

        check_int(measured_parse(zero, sizeof(zero) - 1, "t", &test_log, &trace), -EINVAL);
        check_text(said, "t:3: name: not a text in UTF-8 (a byte of 0)");
        snprintf(line, sizeof(line), HEAD "\n1,%0*d,base,0,1\n", CSV_FIELD_MAX, 0);
        check_int(measured_parse(line, strlen(line), "t", &test_log, &trace), -EINVAL);
        check_text(said, "t:2: name: a field is too long");
        check(trace == NULL);
}

/* Polls of 10 s, in which the percentage steps at times: from step to step. */
static void steps_are_joined(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",percent,cpu.0.1000000\n"
                      "1,base,base,0,10,50,\n1,app,foreground,0,10,,1e9\n"
                      "2,base,base,10,10,50,\n2,app,foreground,10,10,,1e9\n"
                      "3,base,base,20,10,49,\n3,app,foreground,20,10,,1e9\n"
                      "4,base,base,30,10,49,\n4,app,foreground,30,10,,2e7\n"
                      "5,base,base,40,10,48,\n5,app,foreground,40,10,,3e8\n"
                      "6,base,base,50,10,48,\n6,app,foreground,50,10,,4e9\n");
        uint32_t unknown;

        if (!trace)
                return;
        check_int(measured_resolve(trace, 10000), 0);
        check_int(trace->n, 4);
        check(isnan(trace->spans[1].energy_j)); /* begins within a step */
        check_near(trace->spans[2].energy_j, 360, 1e-9);
        check_near(trace->spans[2].used_percent, 1, 0);
        check_near(trace->spans[2].elapsed_s, 20, 0);
        check_near(trace->spans[2].late_s, 10, 0);
        check_int(trace->spans[2].by, MEASURED_BY_PERCENT);
        check_int(trace->spans[2].owners[1].usage.cpu.list[0].busy_ns, 320000000);
        check_int(measured_keep_known(trace, &unknown), 3);
}

/* At most to that part of all time, and not over a gap. */
static void short_spans_are_joined(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",power_mw,gpu_busy_ns\n0,base,base,0,1,100,\n0,game,foreground,0,1,,3000000\n"
                      "1,base,base,1,1,300,\n1,game,foreground,1,1,,4000000\n2,base,base,2,1,100,\n"
                      "3,base,base,9,1,100,\n4,base,base,10,1,100,\n"
                      "5,base,base,11,1,100,\n");

        if (!trace)
                return;
        check_int(measured_shorten(trace, 6), 0);
        check_int(trace->n, 6);
        check_int(measured_shorten(trace, 3), 0);
        check_int(trace->n, 4); /* 2 s, 1 s, a gap, 2 s, 1 s */
        check_near(trace->spans[0].energy_j, 0.4, 1e-12);
        check_near(trace->spans[0].elapsed_s, 2, 0);
        check_int(trace->spans[0].owners[1].usage.gpu_busy_ns, 7000000);
        check_near(trace->spans[2].start_s, 9, 0);
}

/* Times are rounded to ms, and some gauges count the charge from their start, so it falls below 0. */
static void real_loggers_are_read(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",charge_uah,voltage_mv\n1,base,base,10.001,60.001,500,4000\n\r\n"
                           "2,base,base,70.001,60.001,-500,4000\n\n");

        if (!trace)
                return;
        check_int(measured_resolve(trace, NAN), 0);
        check_near(trace->spans[1].energy_j, 1e-3 * 4 * 3600, 1e-9);
}

/* Spans that end with steps of a charge; and the full battery by both. */
static void charge_is_energy(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",percent,charge_uah,voltage_mv\n1,base,base,0,60,60,1200000,4000\n"
                           "2,base,base,60,60,55,1100000,4000\n"
                      "3,base,base,120,60,54,1080000,\n4,base,base,500,60,50,1000000,4000\n"
                      "5,base,base,560,60,52,1040000,4000\n");
        double full_mwh;

        if (!trace)
                return;
        full_mwh = measured_full_mwh(trace);
        check_near(full_mwh, 2000 * 4.0, 1e-6);
        check_int(measured_resolve(trace, full_mwh), 0);
        check_int(trace->n, 5);
        check_near(trace->spans[1].energy_j, 0.1 * 3600 * 4, 1e-9);
        check_int(trace->spans[1].by, MEASURED_BY_CHARGE);
        check_near(trace->spans[1].used_percent, 5, 1e-9);
        check_int(trace->spans[2].by, MEASURED_BY_PERCENT); /* without a voltage */
        check_near(trace->spans[2].energy_j, 288, 1e-9);
        check(isnan(trace->spans[3].energy_j)); /* after a gap */
        check(isnan(trace->spans[4].energy_j)); /* it was charged */
}

static void without_shared_all_is(void)
{
        _cleanup_(measured_freep) struct measured_trace *trace =
                parse(HEAD ",cpu.0.1000000\n1,base,base,0,1,\n1,a,foreground,0,1,3000000000\n"
                           "1,b,background,0,1,1000000000\n");

        if (!trace)
                return;
        check(!trace->shared);
        check_int(trace->spans[0].owners[1].usage.cpu.list[0].any_ns, 750000000);
        check_int(trace->spans[0].owners[2].usage.cpu.list[0].any_ns, 250000000);
}

/* Power = 100 + 300 x GHz busy + 20 x brightness, but for one span that no other explains. */
static void baselines_leave_one_out(void)
{
        static const double busy[] = { 0, 0.5, 1, 0.25, 0.75, 0.1 }, lit[] = { 10, 0, 40, 70, 20, 0 };
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        struct baseline list[ARRAY_SIZE(busy)];
        char text[1500] = HEAD ",power_mw,cpu.0.2000000,screen.10\n";

        for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text),
                         "%zu,base,base,%zu,1,%.3f,%.0f,%.0f\n", i, 2 * i,
                         100 + 600 * busy[i] + 2 * lit[i] + (i == 4) * 50, busy[i] * 1e9, lit[i] * 1e7);
        trace = parse(text);
        if (!trace)
                return;
        check_int(baseline_make(trace, NULL, list), 0);
        check_near(list[4].least_squares_j, 0.59, 1e-6); /* by the five others, which are exact */
        check(fabs(list[2].least_squares_j - 0.78) > 1e-3);
        check_near(list[0].constant_j, (0.4 + 0.78 + 0.39 + 0.64 + 0.16) / 5, 1e-9);
        check_int(baseline_make(trace, trace, list), 0);
        check_near(list[0].constant_j, (0.12 + 0.4 + 0.78 + 0.39 + 0.64 + 0.16) / 6, 1e-9);
}

int main(void)
{
        rows_become_spans();
        empty_is_unknown();
        bad_traces_are_named();
        other_units_are_warned_of();
        other_forms_are_read();
        no_texts_are_refused();
        steps_are_joined();
        short_spans_are_joined();
        real_loggers_are_read();
        charge_is_energy();
        without_shared_all_is();
        baselines_leave_one_out();
        return check_result();
}
