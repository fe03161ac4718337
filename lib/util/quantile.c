/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "quantile.h"

double quantile_normal(double level)
{
        const double tail = 1 - level; /* probability in both tails together */
        double z = 0;

        /* Newton's method from 0 on the convex branch of erfc: monotone, so it cannot run away. */
        for (int i = 0; i < 100; i++) {
                double step = (erfc(z / M_SQRT2) - tail) / (sqrt(2 / M_PI) * exp(-z * z / 2));

                z += step;
                if (fabs(step) < 1e-13 * (1 + z))
                        break;
        }
        return z;
}

/* Hill, G. W., "Algorithm 396: Student's t-quantiles", CACM 13 (1970) 619; variables have its letters. */
double quantile_student_t(double n, double level)
{
        const double P = 1 - level;
        double a, b, c, d, x, y;

        if (isnan(n) || !(level > 0 && level < 1))
                return NAN;
        if (isinf(n) || n > 1e9)
                return quantile_normal(level);
        if (n <= 1)
                return 1 / tan(P * M_PI_2);
        if (n == 2)
                return sqrt(2 / (P * (2 - P)) - 2);
        a = 1 / (n - 0.5);
        b = 48 / (a * a);
        c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
        d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * n;
        x = d * P;
        y = pow(x, 2 / n);
        if (y > 0.05 + a) {
                x = -quantile_normal(level);
                y = x * x;
                if (n < 5)
                        c += 0.3 * (n - 4.5) * (x + 0.6);
                c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
                y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
                y = expm1(a * y * y);
        } else {
                y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) *
                            (n + 1) / (n + 2) +
                    1 / y;
        }
        return sqrt(n * y);
}
