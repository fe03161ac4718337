/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "run/refresh.h"
#include "util/util.h"

/* Steps of a level on a grid of 10 s, seen at most half a second late. */
static void refresh_is_learnt(void)
{
        static const double periods[] = { 2.5, 7.3, 10, 30, 60 };

        for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
                struct refresh refresh;
                double t = 3;

                refresh_start(&refresh);
                srand(5);
                for (int k = 0; k < 30; k++) {
                        t += periods[i] * (20 + rand() % 150);
                        refresh_step(&refresh, (uint64_t)(1e9 * 0.5 * ceil(t / 0.5)), 0.5);
                }
                check_near(refresh.period_s, periods[i], 0.02 * periods[i]);
        }
}

/* Without a grid no refresh is reported. */
static void refresh_is_not_invented(void)
{
        struct refresh refresh;
        double t = 0;

        refresh_start(&refresh);
        srand(9);
        for (int k = 0; k < 40; k++) {
                t += 200 + 1500 * (rand() / (double)RAND_MAX);
                refresh_step(&refresh, (uint64_t)(1e9 * t), 0.5);
                check(isnan(refresh.period_s) || refresh.period_s < 1.5);
        }
}

int main(void)
{
        refresh_is_learnt();
        refresh_is_not_invented();
        return check_result();
}
