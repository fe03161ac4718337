/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Kinds of work: what instructions and cache events of a usage add to its CPU energy. */

#include <math.h>
#include <string.h>

#include "check.h"
#include "measured/measured.h"
#include "model/kind.h"
#include "util/units.h"
#include "util/util.h"

#define S(seconds) ((uint64_t)(seconds) * UINT64_C(1000000000))

static const char text[] = "[profile]\nversion = 1\ndevice = board\n[fit]\ndegrees_of_freedom = 30\n"
                           "[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100 1\n"
                           "[cpu 0]\nactive_mw.1000000 = 400 4\nshared_mw.1000000 = 100 1\nidle_mw.1000000 = 50 1\n"
                           "instruction_part = 0.4 0.05\nmiss_cycles = 5 1\n"
                           "x-spin_ipc = 1\nx-spin_mpk = 20\nx-miss_event = l2d_cache\n";

static struct profile *parse(const char *string)
{
        struct profile *profile = NULL;

        check_int(profile_parse(string, strlen(string), "test", NULL, &profile), 0);
        return profile;
}

static double energy_j(const struct profile *profile, struct point *counted, size_t n)
{
        struct point cpu = { .khz = 1000000, .busy_ns = S(10), .any_ns = S(10) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &cpu, 1 }, .counted = { counted, n } };
        struct model_vector vector = { 0 };
        double sum_mj;

        check_int(model_vector_make(profile, &usage, &vector), 0);
        sum_mj = model_energy_mj(profile, &vector);
        model_vector_clear(&vector);
        return sum_mj / 1000;
}

static void priced(const struct profile *profile)
{
        struct point counted[] = { { .key = COUNTED_CYCLES, .amount = 1000 },
                                   { .key = COUNTED_INSTRUCTIONS, .amount = 2000 },
                                   { .key = COUNTED_MISSES, .amount = 70 } };

        check_near(energy_j(profile, NULL, 0), 5.5, 1e-9); /* not counted: the usual kind of work */
        check_near(energy_j(profile, counted, 3), 5.5 + 5 * (0.4 * (2 - 1) + 5 * (0.07 - 0.02)), 1e-9);
        check_near(energy_j(profile, counted, 2), 5.5 + 5 * 0.4, 1e-9); /* instructions alone */
        check_near(energy_j(profile, counted, 1), 5.5, 1e-9);
        counted[2].amount = 1000000; /* not to be believed */
        check_near(energy_j(profile, counted, 3), 5.5 + 5 * 4, 1e-9);
        counted[1].amount = 1;
        counted[2].amount = 0;
        check_near(energy_j(profile, counted, 3), 5.5 + 5 * (0.4 * (1e-3 - 1) - 5 * 0.02), 1e-9);
        check(kind_left_percent(profile, 20, 10, 7) < 8);
}

/* An unknown kind of work, not counted, widens the interval. */
static void unknown(const struct profile *profile)
{
        struct point cpu = { .khz = 1000000, .busy_ns = S(10), .any_ns = S(10) };
        struct usage usage = { .have = USAGE_ALL, .cpu = { &cpu, 1 } };
        struct model_user user = { "game", true, 10 };
        struct model_vector vector = { 0 };

        check_int(model_vector_make(profile, &usage, &vector), 0);
        check_near(model_within_sd_j(profile, &user, &usage, &vector), 0.45 * 0.4 * 5, 1e-9);
        model_vector_clear(&vector);
}

static void priors(void)
{
        check_near(kind_prior_instructions(1).value, 0.25, 1e-9);
        check(kind_prior_misses("LLC-load-misses").value > kind_prior_misses("l2d_cache").value);
        check(kind_prior_misses("longest_lat_cache.miss").value > 10);
        check_near(kind_prior_misses(NULL).value, 5, 1e-9);
}

/*
 * A profile without prices gets them, and the kind of work to which they apply; a profile with prices stays unchanged.
 */
static void added(void)
{
        _cleanup_(profile_freep) struct profile *profile =
                parse("[profile]\nversion = 1\ndevice = board\n[battery]\nenergy_full_mwh = 10000\n"
                      "[cpu 0]\nactive_mw.1000000 = 400 4\n");
        struct point counted[] = { { .key = COUNTED_CYCLES, .amount = 1000 },
                                   { .key = COUNTED_INSTRUCTIONS, .amount = 1500 } };
        struct usage usage = { .counted = { counted, 2 } };
        struct work_kind usual;

        if (!profile)
                return;
        check_int(kind_add_prior(profile, &usage, "cache-misses"), 0);
        check(profile_find(profile, TERM_CPU_INSTRUCTIONS, 0, 0, "") >= 0);
        check(profile_find(profile, TERM_CPU_MISSES, 0, 0, "") < 0);
        check(kind_usual(profile, 0, &usual));
        check_near(usual.instructions, 1.5, 1e-9);
        check(isnan(usual.misses));
        counted[1].amount = 9;
        check_int(kind_add_prior(profile, &usage, NULL), 0);
        check(kind_usual(profile, 0, &usual));
        check_near(usual.instructions, 1.5, 1e-9);
}

#define HEAD "span,name,state,start_s,elapsed_s,power_mw,cpu.0.1000000,cycles.0,instructions.0,misses.0\n"

static struct measured_trace *trace_of(const char *rows)
{
        struct measured_trace *trace = NULL;
        char whole[1024];

        snprintf(whole, sizeof(whole), "%s%s", HEAD, rows);
        check_int(measured_parse(whole, strlen(whole), "test", NULL, &trace), 0);
        return trace;
}

/* Counts of a part of the time are extrapolated; without plausible counts the kind is unknown. */
static void counted_in_a_trace(const struct profile *profile)
{
        static const char rows[] = "1,base,base,0,10,500,,,,\n"
                                   "1,half,foreground,0,10,,2000000000,1000,1500,20\n"
                                   "1,none,background,0,10,,1000000000,1000,1500,\n"
                                   "1,wrong,background,0,10,,1000000000,1000,150000,1\n";
        struct measured_trace *trace = trace_of(rows);
        struct work_kind kind;
        struct usage sum = { 0 };

        if (!trace)
                return;
        check_int(measured_sum(&trace->spans[0], &sum), 0);
        check_int(sum.counted.n, 3);
        check_int(sum.counted.list[0].amount, 2000000000);
        check_int(sum.counted.list[1].amount, 3000000000);
        check_int(sum.counted.list[2].amount, 40000000);
        usage_clear(&sum);
        measured_drop_misses(trace, profile, "l2d_cache");
        check(kind_of(&trace->spans[0].owners[1].usage, profile, 0, &kind));
        check_near(kind.misses, 0.02, 1e-9);
        measured_drop_misses(trace, profile, "cache-misses"); /* the profile's are of another event */
        check(kind_of(&trace->spans[0].owners[1].usage, profile, 0, &kind));
        check(isnan(kind.misses));
        check_near(kind.instructions, 1.5, 1e-9);
        measured_free(trace);
}

int main(void)
{
        _cleanup_(profile_freep) struct profile *profile = parse(text);

        if (!profile)
                return 1;
        priced(profile);
        unknown(profile);
        priors();
        added();
        counted_in_a_trace(profile);
        return check_result();
}
