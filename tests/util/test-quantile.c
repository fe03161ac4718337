/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "check.h"
#include "util/quantile.h"
#include "util/util.h"

/* Tables of Student's distribution, e.g. Abramowitz and Stegun 26.10. */
static void student_t(void)
{
        static const struct {
                double n, level, t;
        } cases[] = {
                { 1, 0.90, 6.313752 }, { 1, 0.95, 12.706205 }, { 2, 0.95, 4.302653 },  { 3, 0.90, 2.353363 },
                { 3, 0.95, 3.182446 }, { 4, 0.95, 2.776445 },  { 5, 0.99, 4.032143 },  { 10, 0.90, 1.812461 },
                { 10, 0.95, 2.228139 }, { 21, 0.95, 2.079614 }, { 30, 0.99, 2.749996 }, { 120, 0.95, 1.979930 },
                { INFINITY, 0.90, 1.644854 }, { INFINITY, 0.95, 1.959964 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_near(quantile_student_t(cases[i].n, cases[i].level), cases[i].t, 1e-4 * cases[i].t);
        check(isnan(quantile_student_t(NAN, 0.95)));
}

int main(void)
{
        student_t();
        return check_result();
}
