/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "drop-groups.h"
#include "median.h"
#include "util/quantile.h"
#include "util/util.h"

#define LEVEL 0.95
#define PAPER_H 1.96
#define NANO 1e-9
#define WEIGHT_MAX 16.0   /* most samples that count, so that no client decides alone */
#define EFFECT_MAX 1.0
#define PART_MIN 1e-3     /* fewer rates than this are rounding of spans */
#define ODD_DEVIATIONS 5.0 /* so many standard deviations from the middle client, a client is unlike all others */
#define ODD_SHARE 0.125   /* more of them are no oddity, but two kinds of use */
#define SCALE_MIN 0.05    /* least of that standard deviation: a twentieth of the rate */
#define MAD_TO_SIGMA 1.4826
#define CANDIDATE_P 0.05
#define HOURS_ERRORS 2.0 /* standard errors that are no chance */
/*
 * The effect of hours stays among near rates, too: the more, the larger a part of the stratum these are, and at least a
 * quarter. The exponent is from made fleets with one, three and nine strata for about 110 rates.
 */
#define HOURS_STAY 4.0
#define HOURS_STAY_MIN 0.25
#define THIN 0.2          /* least part of the weight that strata leave */
#define NEEDED_T 4.0
#define WORTH_WAITING 0.05 /* least effect, as a part of the rate, that is worth more samples */

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
        return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a :
               1 - front * beta_fraction(b, a, 1 - x) / b;
}

double drop_student_upper(double t, double degrees_of_freedom)
{
        double tail = incomplete_beta(degrees_of_freedom / 2, 0.5,
                                      degrees_of_freedom / (degrees_of_freedom + t * t)) / 2;

        return t >= 0 ? tail : 1 - tail;
}

double drop_binomial_upper(size_t k, size_t n, double share)
{
        return k ? incomplete_beta((double)k, (double)(n - k + 1), share) : 1;
}

/* Sample mean's half-width, as in the paper: h s / sqrt(n). */
static double paper_error(double n, double s1, double s2)
{
        return PAPER_H * sqrt(MAX((s2 - s1 * s1 / n) / (n - 1), 0) / n);
}

bool drop_paper_rule(const struct drop_rates *with, const struct drop_rates *all)
{
        double n = all->n - with->n, s1 = all->s1 - with->s1, s2 = all->s2 - with->s2;

        if (!(with->n >= 2 && n >= 2))
                return false;
        return with->s1 / with->n - s1 / n - paper_error(with->n, with->s1, with->s2) - paper_error(n, s1, s2) > 0;
}

void drop_stratum(double n, double s, double all_n, double all_s, double *weight, double *more)
{
        double rest = all_n - n, w;

        if (n < PART_MIN || rest < PART_MIN)
                return;
        w = n * rest / all_n;
        *weight += w;
        *more += w * (s / n - (all_s - s) / rest);
}

struct drop_use drop_use_of(double weight, double more, double n, double s, double all_n, double mean, double discount)
{
        double relative, without;
        struct drop_use use = { .client = 0 };

        if (!(mean > 0 && all_n > 0))
                return use;
        use.crude = (float)(MIN(n * MAX(all_n - n, 0) / all_n, WEIGHT_MAX) * discount);
        if (!(weight > 0))
                return use;
        relative = MAX(MIN(more / weight / mean, DROP_RELATIVE_MAX), -DROP_RELATIVE_MAX);
        without = MAX(MIN((all_n * mean - s) / (all_n - n) / mean, DROP_RELATIVE_MAX), 0);
        use.weight = (float)(MIN(weight, WEIGHT_MAX) * discount);
        use.without = (float)without;
        use.with = (float)MIN(MAX(without + relative, 0), DROP_RELATIVE_MAX);
        return use;
}

/* Sums over clients: of weights w, and of e, a and b with w or its square. */
struct moments {
        double w, ww, e, wwe, wwee, a, b, wwa, wwb, wwaa, wwbb, wwab;
        double both;
};

double drop_effect(const struct drop_use *use)
{
        double effect = (double)use->with - (double)use->without;

        return MAX(MIN(effect, EFFECT_MAX), -EFFECT_MAX);
}

/* @sign -1 takes a client away. */
static void add_use(struct moments *sums, const struct drop_use *use, double sign)
{
        double w = (double)use->weight, a = (double)use->with, b = (double)use->without, e = drop_effect(use);
        double ww = sign * w * w;

        sums->both += sign;
        sums->w += sign * w;
        sums->ww += ww;
        sums->e += sign * w * e;
        sums->wwe += ww * e;
        sums->wwee += ww * e * e;
        sums->a += sign * w * a;
        sums->b += sign * w * b;
        sums->wwa += ww * a;
        sums->wwb += ww * b;
        sums->wwaa += ww * a * a;
        sums->wwbb += ww * b * b;
        sums->wwab += ww * a * b;
}

void drop_set_minutes(double value, double low, double high, struct drop *ret)
{
        ret->minutes = value;
        ret->minutes_low = low;
        /*
         * Rates are skewed: a mean that came out low comes with a variance that did, too, and most of what
         * was outside of symmetric bounds was above them. So the upper one is that of the logarithm
         * (tests/accuracy/community-promises).
         */
        ret->minutes_high = value > 0 && low > 0 ? value * exp((high - value) / value) : high;
}

/* Minutes of a full charge, and their error by the delta method: a and b are of the same clients. */
static void find_minutes(const struct moments *sums, double rate, double clients, struct drop *ret)
{
        double a = sums->a / sums->w, b = sums->b / sums->w, factor = clients / (clients - 1) / (sums->w * sums->w);
        double vaa, vbb, vab, error, minutes, per_a = 1 / (a * a), per_b = 1 / (b * b);

        vaa = (sums->wwaa - 2 * a * sums->wwa + a * a * sums->ww) * factor;
        vbb = (sums->wwbb - 2 * b * sums->wwb + b * b * sums->ww) * factor;
        vab = (sums->wwab - b * sums->wwa - a * sums->wwb + a * b * sums->ww) * factor;
        error = sqrt(MAX(per_a * per_a * vaa + per_b * per_b * vbb - 2 * per_a * per_b * vab, 0)) *
                quantile_student_t(clients - 1, LEVEL) / (rate * NANO * 60);
        ret->rate_with = a * rate;
        ret->rate_without = b * rate;
        minutes = (1 / b - 1 / a) / (rate * NANO * 60);
        drop_set_minutes(minutes, minutes - error, minutes + error, ret);
}

/* The decision asks only whether the effect is large enough, so its bound is one-sided. */
static void set_effect(double value, double error, struct drop *ret)
{
        ret->effect = value;
        ret->effect_low = value - error * quantile_student_t(ret->degrees, 2 * LEVEL - 1);
        ret->t = error > 0 ? value / error : 0;
        ret->p = ret->t > 0 ? drop_student_upper(ret->t, ret->degrees) : 1;
}

static void compare(const struct moments *sums, double rate, struct drop *ret)
{
        double clients = sums->ww > 0 ? sums->w * sums->w / sums->ww : 0, effect;

        if (sums->both < COMMUNITY_CLIENTS_MIN || clients < 3 || !(sums->a > 0 && sums->b > 0))
                return;
        ret->enough = true;
        find_minutes(sums, rate, clients, ret);
        ret->degrees = clients - 1;
        effect = sums->e / sums->w;
        set_effect(effect, sqrt(MAX(sums->wwee - 2 * effect * sums->wwe + effect * effect * sums->ww, 0) /
                                (sums->w * sums->w) * clients / (clients - 1)), ret);
}

/* In standard deviations of a sample. */
static double distance(const struct drop_use *use, double middle)
{
        return fabs(drop_effect(use) - middle) * sqrt((double)use->weight);
}

/* Finds the middle effect, and the standard deviation of one of weight 1, of those that are not @out. */
static void find_scale(const struct drop_use *uses, size_t n, const bool *out, struct weighted *list,
                       double *ret_middle, double *ret_scale)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (uses[i].weight > 0 && !out[i])
                        list[kept++] = (struct weighted){ drop_effect(&uses[i]), (double)uses[i].weight };
        *ret_middle = median_weighted(list, kept);
        kept = 0;
        for (size_t i = 0; i < n; i++)
                if (uses[i].weight > 0 && !out[i])
                        list[kept++] = (struct weighted){ distance(&uses[i], *ret_middle), 1 };
        *ret_scale = MAX(MAD_TO_SIGMA * median_weighted(list, kept), SCALE_MIN);
}

/*
 * Marks clients that are unlike all others: those far from the middle one, unless they are too many, and groups that
 * came together. Clients that lie together are a minority that agrees with nobody else.
 */
static int find_odd(const struct drop_use *uses, size_t n, const struct drop_groups *groups, bool *out)
{
        _cleanup_free_ struct weighted *list = malloc((n + 1) * sizeof(*list));
        double middle, scale;
        size_t kept = 0, odd = 0;
        int rc;

        if (!list)
                return -ENOMEM;
        find_scale(uses, n, out, list, &middle, &scale);
        rc = groups ? drop_leave_groups(uses, n, groups, scale, out) : 0;
        if (rc < 0)
                return rc;
        if (rc > 0)
                find_scale(uses, n, out, list, &middle, &scale);
        for (size_t i = 0; i < n; i++) {
                kept += uses[i].weight > 0 && !out[i];
                odd += uses[i].weight > 0 && !out[i] && distance(&uses[i], middle) > ODD_DEVIATIONS * scale;
        }
        for (size_t i = 0; i < n && (double)odd <= ODD_SHARE * (double)kept; i++)
                out[i] |= distance(&uses[i], middle) > ODD_DEVIATIONS * scale;
        return 0;
}

static int compare_support(const void *a, const void *b, void *data)
{
        const struct drop_use *uses = data, *x = &uses[*(const size_t *)a], *y = &uses[*(const size_t *)b];
        double support_x = (double)x->weight * drop_effect(x), support_y = (double)y->weight * drop_effect(y);

        if (support_x != support_y)
                return support_x > support_y ? -1 : 1;
        return x->client < y->client ? -1 : x->client > y->client;
}

static bool is_large(const struct drop *drop)
{
        return drop->enough && drop->minutes_low > 0 && drop->effect_low >= COMMUNITY_EFFECT_MIN;
}

/* How many clients to take away, the strongest first, until there is no effect; by bisection. @order: room for n. */
static size_t find_held_by(const struct drop_use *uses, size_t *order, size_t n, struct moments sums, double rate)
{
        size_t low = 0, high = n;

        qsort_r(order, n, sizeof(*order), compare_support, (void *)(uintptr_t)uses);
        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                struct moments without = sums;
                struct drop drop = { .p = 1 };

                for (size_t i = low; i < middle; i++)
                        add_use(&without, &uses[order[i]], -1);
                compare(&without, rate, &drop);
                if (is_large(&drop)) {
                        low = middle;
                        sums = without;
                } else {
                        high = middle;
                }
        }
        return high;
}

/* @out: clients that are left out. */
static int compare_others(const struct drop_use *uses, size_t n, double rate, const bool *out, bool held,
                          struct drop *ret)
{
        _cleanup_free_ size_t *order = malloc((n + 1) * sizeof(*order));
        struct drop drop = { .p = 1, .q = 1, .paper_rule = ret->paper_rule };
        struct moments sums = { .w = 0 };
        double crude = 0, weight = 0, both = 0;
        size_t kept = 0;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                crude += (double)uses[i].crude;
                weight += (double)uses[i].weight;
                both += uses[i].crude > 0;
                if (!(uses[i].weight > 0))
                        continue;
                if (out[i]) {
                        drop.odd++;
                        continue;
                }
                add_use(&sums, &uses[i], 1);
                order[kept++] = i;
        }
        drop.thin = both >= COMMUNITY_CLIENTS_MIN &&
                    (weight < THIN * crude || kept + drop.odd < COMMUNITY_CLIENTS_MIN);
        if (!drop.thin)
                compare(&sums, rate, &drop);
        if (held && is_large(&drop))
                drop.held_by = find_held_by(uses, order, kept, sums, rate);
        drop.candidate = drop.enough && drop.p <= CANDIDATE_P;
        *ret = drop;
        return 0;
}

int drop_compare(const struct drop_use *uses, size_t n, double rate, const struct drop_groups *groups, bool held,
                 struct drop *ret)
{
        _cleanup_free_ bool *out = calloc(n + 1, sizeof(*out));
        int err = out ? find_odd(uses, n, groups, out) : -ENOMEM;

        return err ? err : compare_others(uses, n, rate, out, held, ret);
}

/* The mean effect of some clients, by which each one's part of it is known. */
struct mean_effect {
        double weight, value;
};

static struct mean_effect find_mean(const struct drop_use *uses, size_t n, const bool *out)
{
        struct mean_effect mean = { .weight = 0 };

        for (size_t i = 0; i < n; i++)
                if (!out[i]) {
                        mean.weight += (double)uses[i].weight;
                        mean.value += (double)uses[i].weight * drop_effect(&uses[i]);
                }
        mean.value = mean.weight > 0 ? mean.value / mean.weight : 0;
        return mean;
}

static double part_of(const struct drop_use *use, const struct mean_effect *mean)
{
        return (double)use->weight / mean->weight * (drop_effect(use) - mean->value);
}

/* Standard error of @a times the first mean plus @b times the second: a client is one observation. */
static double error_of_both(const struct drop_use *uses, const struct drop_use *near, size_t n, const bool *out,
                            double a, double b, double clients)
{
        const struct mean_effect mean = find_mean(uses, n, out), mean_near = find_mean(near, n, out);
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                if (!out[i])
                        sum += pow(a * part_of(&uses[i], &mean) + b * part_of(&near[i], &mean_near), 2);
        return sqrt(sum * clients / (clients - 1));
}

/* The hours' effect that stays among near rates, relative to its fall from all rates to these. */
static double rest_of(const struct drop_use *near, size_t n, const bool *out)
{
        double weight = 0, part = 0, stays;

        for (size_t i = 0; i < n; i++)
                if (!out[i]) {
                        weight += (double)near[i].weight;
                        part += (double)near[i].weight * (double)near[i].part;
                }
        stays = weight > 0 ? fmax(1 - exp(-HOURS_STAY * part / weight), HOURS_STAY_MIN) : HOURS_STAY_MIN;
        return stays / (1 - stays);
}

/*
 * The difference to near hours shows what is left of the hours in the comparison with them: at the edge of a heavy hour
 * they are not equal. The truth is between the effect and that without the @rest.
 */
static void correct_hours(double rest, double error, double rate, struct drop *ret)
{
        double value = ret->effect, low = value - rest - error * quantile_student_t(ret->degrees, LEVEL),
               without = ret->rate_without;

        set_effect(value - rest, error, ret);
        value = (1 / without - 1 / (without + (value - rest / 2) * rate)) / (NANO * 60);
        low = (1 / without - 1 / (without + low * rate)) / (NANO * 60);
        drop_set_minutes(value, low, 2 * value - low, ret);
        ret->candidate = ret->p <= CANDIDATE_P;
}

int drop_hours(const struct drop_use *uses, const struct drop_use *near, size_t n, double rate,
               const struct drop_groups *groups, struct drop *ret)
{
        _cleanup_free_ bool *out = calloc(n + 1, sizeof(*out));
        struct drop drop = { .paper_rule = ret->paper_rule };
        double difference, rest;
        int err = out ? find_odd(near, n, groups, out) : -ENOMEM;

        if (!err)
                err = compare_others(near, n, rate, out, true, &drop);
        if (err < 0 || !ret->enough)
                return err;
        difference = find_mean(uses, n, out).value - find_mean(near, n, out).value;
        if (drop.enough &&
            difference <= HOURS_ERRORS * error_of_both(uses, near, n, out, 1, -1, drop.degrees + 1))
                return 0;
        rest = rest_of(near, n, out);
        if (drop.enough)
                correct_hours(rest * difference,
                              error_of_both(uses, near, n, out, -rest, 1 + rest, drop.degrees + 1), rate, &drop);
        drop.hours = true;
        *ret = drop;
        return 0;
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
                drop->hog = q <= COMMUNITY_Q_MAX && is_large(drop);
        }
}
