/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <stdlib.h>

#include "drop.h"
#include "client-sums.h"
#include "util/quantile.h"
#include "util/util.h"

#define LEVEL 0.95
#define PAPER_H 1.96
#define SIGN_MIN 1.645 /* standard deviations by which clients with more must outnumber those with less */
#define NANO 1e-9
#define NEEDED_T 4.0
#define WORTH_WAITING 0.05 /* of the rate */

/* Continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
        double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), sum = d;

        for (int m = 1; m < 500; m++) {
                double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), before = sum;

                d = 1 / (1 + even * d);
                c = 1 + even / c;
                sum *= d * c;
                d = 1 / (1 + odd * d);
                c = 1 + odd / c;
                sum *= d * c;
                if (fabs(sum - before) < 1e-14 * fabs(sum))
                        break;
        }
        return sum;
}

static double incomplete_beta(double a, double b, double x)
{
        double front;
        int sign; /* always +; lgamma() would write it into a global, and threads are here */

        if (x <= 0 || x >= 1)
                return x > 0;
        front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
        return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double drop_student_upper(double t, double degrees_of_freedom)
{
        double tail = incomplete_beta(degrees_of_freedom / 2, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t)) / 2;

        return t >= 0 ? tail : 1 - tail;
}

/* Sample mean's half-width, as in the paper: h s / sqrt(n). */
static double paper_error(double n, double s1, double s2)
{
        return PAPER_H * sqrt(MAX((s2 - s1 * s1 / n) / (n - 1), 0) / n);
}

static bool paper_rule(const struct drop_sums *app, const struct all_sums *all)
{
        double with = (double)app->n, with_s1 = (double)app->s1, with_s2 = (double)app->s2;
        double n = all->n - with, s1 = all->s1 - with_s1, s2 = all->s2 - with_s2;

        if (!(with >= 2 && n >= 2))
                return false;
        return with_s1 / with - s1 / n - paper_error(with, with_s1, with_s2) - paper_error(n, s1, s2) > 0;
}

/* Minutes of a full charge, and their error by the delta method: a and b are of the same clients. */
static void find_minutes(const struct drop_sums *app, double unit, double clients, struct drop *ret)
{
        double a = ret->rate_with, b = ret->rate_without, w = (double)app->w, ww = (double)app->ww;
        double wwa = (double)app->wwa * unit, wwb = (double)app->wwb * unit;
        double vaa, vbb, vab, error, factor = clients / (clients - 1) / (w * w);
        double per_a = 1 / (a * a), per_b = 1 / (b * b);

        vaa = ((double)app->waa * unit * unit - 2 * a * wwa + a * a * ww) * factor;
        vbb = ((double)app->wbb * unit * unit - 2 * b * wwb + b * b * ww) * factor;
        vab = ((double)app->wab * unit * unit - b * wwa - a * wwb + a * b * ww) * factor;
        error = sqrt(MAX(per_a * per_a * vaa + per_b * per_b * vbb - 2 * per_a * per_b * vab, 0)) *
                quantile_student_t(clients - 1, LEVEL);
        ret->minutes = (1 / b - 1 / a) / NANO / 60;
        error *= 1 / NANO / 60;
        ret->minutes_low = ret->minutes - error;
        /*
         * Rates are skewed: a mean that came out low comes with a variance that did, too, and most of what was outside of
         * symmetric bounds was above them. So the upper one is that of the logarithm (tests/accuracy/community-promises).
         */
        ret->minutes_high = ret->minutes > 0 ? ret->minutes * exp(error / ret->minutes) : ret->minutes + error;
}

void drop_add(struct drop_sums *sums, const struct app_sums *app)
{
        const struct drop_sums own = {
                .clients = 1, .n = app->n, .s1 = app->s1, .s2 = app->s2, .both = app->w > 0, .more = app->x > 0,
                           .less = app->x < 0,
                .w = app->w, .ww = (wide)app->w * app->w, .wa = app->wa, .wb = app->wb, .waa = (wide)app->wa * app->wa,
                .wbb = (wide)app->wb * app->wb, .wab = (wide)app->wa * app->wb, .wwa = (wide)app->w * app->wa,
                .wwb = (wide)app->w * app->wb, .x = app->x, .xx = (wide)app->x * app->x, .wx = (wide)app->w * app->x,
        };

        drop_merge(sums, &own);
}

void drop_merge(struct drop_sums *sums, const struct drop_sums *others)
{
        sums->clients += others->clients;
        sums->n += others->n;
        sums->s1 += others->s1;
        sums->s2 += others->s2;
        sums->both += others->both;
        sums->more += others->more;
        sums->less += others->less;
        sums->w += others->w;
        sums->ww += others->ww;
        sums->wa += others->wa;
        sums->wb += others->wb;
        sums->waa += others->waa;
        sums->wbb += others->wbb;
        sums->wab += others->wab;
        sums->wwa += others->wwa;
        sums->wwb += others->wwb;
        sums->x += others->x;
        sums->xx += others->xx;
        sums->wx += others->wx;
}

/* sum(w^2 (y - mean)^2): for x, a or b, whose sums times w these are. */
static double squares_about(wide wyy, wide wwy, wide ww, double mean)
{
        return MAX((double)wyy - 2 * mean * (double)wwy + mean * mean * (double)ww, 0);
}

void drop_compare(const struct drop_sums *app, const struct all_sums *all, struct drop *ret)
{
        double w = (double)app->w, clients = app->ww > 0 ? w * w / (double)app->ww : 0, unit = all->rate / CLIENT_SUMS_UNIT;
        double error, effect, sign;

        *ret = (struct drop){ .p = 1, .q = 1, .paper_rule = paper_rule(app, all) };
        if (app->both < COMMUNITY_CLIENTS_MIN || clients < 3 || app->wa <= 0 || app->wb <= 0)
                return;
        ret->enough = true;
        ret->rate_with = (double)app->wa * unit / w;
        ret->rate_without = (double)app->wb * unit / w;
        find_minutes(app, unit, clients, ret);
        effect = (double)app->x / w;
        ret->effect = effect / CLIENT_SUMS_UNIT;
        error = sqrt(squares_about(app->xx, app->wx, app->ww, effect) / (w * w) * clients / (clients - 1));
        ret->effect_low = (effect - error * quantile_student_t(clients - 1, LEVEL)) / CLIENT_SUMS_UNIT;
        sign = (double)(app->more - app->less) / sqrt((double)MAX(app->more + app->less, 1));
        ret->degrees = clients - 1;
        ret->t = error > 0 ? effect / error : 0;
        if (error > 0 && effect > 0 && sign >= SIGN_MIN)
                ret->p = drop_student_upper(ret->t, ret->degrees);
}

double drop_more(const struct drop *drop)
{
        if (!drop->enough || drop->effect < WORTH_WAITING || drop->t <= 0)
                return 0;
        return NEEDED_T * NEEDED_T / (drop->t * drop->t);
}

static int compare_p(const void *a, const void *b, void *data)
{
        const struct drop *drops = data;
        size_t i = *(const size_t *)a, j = *(const size_t *)b;

        if (drops[i].p != drops[j].p)
                return drops[i].p < drops[j].p ? -1 : 1;
        return i < j ? -1 : i > j;
}

void drop_decide(struct drop *drops, size_t n, size_t *order)
{
        size_t tested = 0;
        double q = 1;

        for (size_t i = 0; i < n; i++)
                if (drops[i].enough)
                        order[tested++] = i;
        if (tested)
                qsort_r(order, tested, sizeof(*order), compare_p, drops);
        for (size_t rank = tested; rank > 0; rank--) {
                struct drop *drop = &drops[order[rank - 1]];

                q = MIN(q, drop->p * (double)tested / (double)rank);
                drop->q = q;
                drop->hog = q <= COMMUNITY_Q_MAX && drop->minutes_low > 0 && drop->effect_low >= COMMUNITY_EFFECT_MIN;
        }
}
