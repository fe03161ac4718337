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

        if (x <= 0 || x >= 1)
                return x > 0;
        front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
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
        double n = all->n - app->n, s1 = all->s1 - app->s1, s2 = all->s2 - app->s2;

        if (!(app->n >= 2 && n >= 2))
                return false;
        return app->s1 / app->n - s1 / n - paper_error(app->n, app->s1, app->s2) - paper_error(n, s1, s2) > 0;
}

/* The variance of a ratio sum(wy) / sum(w), one client one observation. @clients: as many equal ones tell as much. */
static double cluster_variance(double wyy, double wwy, double ww, double mean, double w, double clients)
{
        return MAX(wyy - 2 * mean * wwy + mean * mean * ww, 0) / (w * w) * clients / (clients - 1);
}

/* Minutes of a full charge, and their error by the delta method: a and b are of the same clients. */
static void find_minutes(const struct drop_sums *app, double unit, double clients, struct drop *ret)
{
        double a = ret->rate_with, b = ret->rate_without;
        double vaa, vbb, vab, error, factor = clients / (clients - 1) / (app->w * app->w);
        double per_a = 1 / (a * a), per_b = 1 / (b * b);

        vaa = (app->waa * unit * unit - 2 * a * app->wwa * unit + a * a * app->ww) * factor;
        vbb = (app->wbb * unit * unit - 2 * b * app->wwb * unit + b * b * app->ww) * factor;
        vab = (app->wab * unit * unit - b * app->wwa * unit - a * app->wwb * unit + a * b * app->ww) * factor;
        error = sqrt(MAX(per_a * per_a * vaa + per_b * per_b * vbb - 2 * per_a * per_b * vab, 0)) *
                quantile_student_t(clients - 1, LEVEL);
        ret->minutes = (1 / b - 1 / a) / NANO / 60;
        ret->minutes_low = ret->minutes - error / NANO / 60;
        ret->minutes_high = ret->minutes + error / NANO / 60;
}

/* Each is an integer below 2^53, as are sums of them over some 100000 clients; so the order is no matter. */
void drop_add(struct drop_sums *sums, const struct app_sums *app)
{
        double w = (double)app->w, wa = (double)app->wa, wb = (double)app->wb, x = (double)app->x;

        sums->clients++;
        sums->both += app->w > 0;
        sums->more += app->x > 0;
        sums->less += app->x < 0;
        sums->w += w;
        sums->ww += w * w;
        sums->wa += wa;
        sums->wb += wb;
        sums->waa += wa * wa;
        sums->wbb += wb * wb;
        sums->wab += wa * wb;
        sums->wwa += w * wa;
        sums->wwb += w * wb;
        sums->x += x;
        sums->xx += x * x;
        sums->wx += w * x;
}

void drop_compare(const struct drop_sums *app, const struct all_sums *all, struct drop *ret)
{
        double clients = app->ww > 0 ? app->w * app->w / app->ww : 0, unit = all->rate / CLIENT_SUMS_UNIT, variance, effect, sign;

        *ret = (struct drop){ .p = 1, .q = 1, .paper_rule = paper_rule(app, all) };
        if (app->both < COMMUNITY_CLIENTS_MIN || clients < 3 || app->wa <= 0 || app->wb <= 0)
                return;
        ret->enough = true;
        ret->rate_with = app->wa * unit / app->w;
        ret->rate_without = app->wb * unit / app->w;
        find_minutes(app, unit, clients, ret);
        effect = app->x / app->w;
        ret->effect = effect / CLIENT_SUMS_UNIT;
        variance = cluster_variance(app->xx, app->wx, app->ww, effect, app->w, clients);
        ret->effect_low = (effect - sqrt(variance) * quantile_student_t(clients - 1, LEVEL)) / CLIENT_SUMS_UNIT;
        sign = (app->more - app->less) / sqrt(MAX(app->more + app->less, 1));
        ret->degrees = clients - 1;
        ret->t = variance > 0 ? effect / sqrt(variance) : 0;
        if (variance > 0 && effect > 0 && sign >= SIGN_MIN)
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
