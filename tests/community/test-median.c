/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Medians by selection are those by sorting. */

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "shared/median.h"

static int by_value(const void *a, const void *b)
{
        double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;

        return x < y ? -1 : x > y;
}

/* As by sorting, with many equal values, in every kind of order. */
static void check_medians(void)
{
        for (size_t n = 1; n < 400; n++) {
                struct weighted list[400], sorted[400];
                double values[400], all = 0, sum = 0, expected;
                size_t k = 0;

                for (size_t i = 0; i < n; i++) {
                        double value = n % 4 == 0 ? (double)i : n % 4 == 1 ? (double)(n - i) : (double)(rand() % 50);

                        values[i] = value;
                        sorted[i] = list[i] = (struct weighted){ value, rand() % 9 };
                        all += list[i].weight;
                }
                qsort(sorted, n, sizeof(*sorted), by_value);
                expected = n % 2 ? sorted[n / 2].value : (sorted[n / 2 - 1].value + sorted[n / 2].value) / 2;
                check_near(median(values, n), expected, 0);
                for (sum = sorted[0].weight; 2 * sum < all; sum += sorted[k].weight)
                        k++;
                check_near(median_weighted(list, n), sorted[k].value, 0);
        }
        check(isnan(median(NULL, 0)));
        check_near(median_weighted(NULL, 0), 0, 0);
}

int main(void)
{
        check_medians();
        return check_result();
}
