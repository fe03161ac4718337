/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Inequality of percents, from a test before a calibration, and its use in learning. */

#include <math.h>

#include "check.h"
#include "learn/percents.h"
#include "observation/scatter.h"
#include "util/util.h"

#define S UINT64_C(1000000000)

static struct observation percent(double seconds)
{
        return (struct observation){ .method = METHOD_PERCENT, .burn = true, .steps = 1,
                                     .elapsed_ns = (uint64_t)(seconds * (double)S) };
}

/* 100, 140, 80 and 80 s: a standard deviation of 28.28 % of the mean, from which the load's own 2 % are subtracted. */
static void test_scatter(void)
{
        struct observation list[] = { percent(7),  percent(100), percent(140),
                                      percent(80), percent(80),  percent(500) };
        size_t n;

        list[0].steps = NAN; /* the partial step */
        snprintf(list[5].rejected, sizeof(list[5].rejected), "paused");
        check_near(scatter_of(list, ARRAY_SIZE(list), &n), sqrt(0.08 - 0.0004), 1e-9);
        check_int(n, 4);
        list[4].method = METHOD_TICKS;
        list[3].burn = false;
        check(isnan(scatter_of(list, ARRAY_SIZE(list), &n)));
        check_int(n, 2);
        for (size_t i = 1; i < 5; i++)
                list[i] = percent(100);
        check_near(scatter_of(list, ARRAY_SIZE(list), &n), 0, 0);
        check(isnan(scatter_of(NULL, 0, &n)));
        list[1].steps = 2; /* two percents in twice the time */
        list[1].elapsed_ns = 200 * S;
        check_near(scatter_of(list, ARRAY_SIZE(list), &n), 0, 0);
}

static void test_rows(void)
{
        struct everyday shown = { .percent = 2, .energy_j = NAN },
                        meter = { .percent = 2, .energy_j = 60, .metered = true };
        struct design_row rows[] = { { .everyday = &shown, .energy_j = 60 },
                                     { .everyday = &meter, .energy_j = 60 } };
        struct design design = { .rows = rows, .n = 2 };

        percents_set(&design, 0.4);
        check_near(rows[0].energy_j, 60 * 1.08, 1e-9);
        check_near(rows[1].energy_j, 60, 1e-12);
        check_near(percents_variance_j2(&design, &rows[0]), 0.08 * 64.8 * 64.8, 1e-6);
        check_near(percents_variance_j2(&design, &rows[1]), 0, 0);
        check_near(percents_scale_sd(&design, 0.05), hypot(0.05, 0.1), 1e-12);
        percents_set(&design, 0.2); /* not on top of the first */
        check_near(rows[0].energy_j, 60 * 1.02, 1e-9);
        shown.energy_j = 60; /* by charge counting: the scale error is that of unequal percents */
        check_near(percents_scale_sd(&design, 0), 0.2 / 3, 1e-12);
        percents_set(&design, 0);
        check_near(rows[0].energy_j, 60, 1e-9);
        check_near(percents_scale_sd(&design, 0.01), 0.01, 1e-12);
        design.metered = true;
        design.unequal = 0.5;
        check_near(percents_scale_sd(&design, 0.01), 0.01, 0);
}

struct hill {
        double top;
        unsigned calls;
        int err;
};

static int height(void *data, double at, double *ret)
{
        struct hill *hill = data;

        hill->calls++;
        *ret = -(at - hill->top) * (at - hill->top);
        return hill->err;
}

static void test_find(void)
{
        static const double tops[][2] = {
                { 0, 0 }, { 0.04, 0.05 }, { 0.31, 0.3 }, { 0.36, 0.35 }, { 5, 0.65 }
        };
        double found;

        for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
                struct hill hill = { .top = tops[i][0] };

                check_int(percents_find(height, &hill, &found), 0);
                check_near(found, tops[i][1], 1e-9);
                check(hill.calls <= 10);
        }
        check_int(percents_find(height, &(struct hill){ .err = -12 }, &found), -12);
}

int main(void)
{
        test_scatter();
        test_rows();
        test_find();
        return check_result();
}
