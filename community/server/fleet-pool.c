/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Random effects: device i has the coefficient x_i with the error s_i, and
 * devices differ by tau. The mean has the weights 1 / (tau^2 + s_i^2), and tau
 * is that with which the weighted squares are as many as degrees of freedom
 * (Paule and Mandel). A further device is within mean +- t sqrt(tau^2 +
 * variance of the mean).
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"
#include "shared/median.h"
#include "util/util.h"

/*
 * A value farther than so many robust standard deviations from the median is
 * left out, and a device with all of its n values if their root mean square is
 * above 2 + 1.5 / sqrt(n). But at most a quarter of all: more are no single
 * liars, and widen what is told.
 */
#define FAR 3.5
#define FAR_MANY 2.0
#define FAR_PART 4
#define MAD_TO_SD 1.4826
/* At least a quarter of the devices must have a coefficient; else a few would decide it for a large group. */
#define SHARE_PART 4
#define ERROR_LEAST 0.02 /* part of the value: no gauge is better */
/* Before anything is seen, devices of one kind are taken to differ by 30 %;
 * that counts as one device. */
#define SPREAD_BEFORE 0.3
#define SPREAD_DEVICES 1
#define CORRELATION_BEFORE 0.5 /* among coefficients of one component; counts as so many devices: */
#define CORRELATION_DEVICES 5
#define ROUNDS 60
#define COEFFICIENTS_MAX 256 /* so many fit into POOL_BYTES_MAX with all their pairs */
#define ASKED_MAX 500 /* so many cards are compared with each other */

struct value {
        double x, s; /* NaN: the device does not have it */
        bool kept;
        unsigned network;
};

struct pooled {
        double mean, tau2, variance; /* the last: of the mean */
        size_t kept;
};

/* The values of a group, by coefficient and device, and what comes of each
 * coefficient. */
struct table {
        const struct fleet_card *const *group;
        size_t n;
        const struct profile *typical;
        struct value *values; /* those of one coefficient */
        double *work;
        double *deviations; /* for all coefficients: n each */
        struct doubt {
                double squares; /* sum over distances from the medians; then their root mean
                                   square, of what it may be */
                size_t n;
                bool out; /* no single number is far, but all are off: a liar */
        } *doubts;       /* one for each device */
};

static void table_clear(struct table *table)
{
        free(table->values);
        free(table->work);
        free(table->deviations);
        free(table->doubts);
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Levels are of one scale, and a policy that is as another has no numbers of its own. */
static bool fits(const struct profile *typical, const struct profile *card, enum term term, uint32_t policy)
{
        if (term == TERM_DISPLAY)
                return card->max_brightness == typical->max_brightness;
        for (size_t i = 0; model_term_component(term) == COMPONENT_CPU && i < typical->n_policies; i++)
                if (typical->policies[i].policy == policy)
                        return typical->policies[i].as == policy;
        return true;
}

static bool take(const struct profile *card, const struct coefficient *wanted, struct value *value)
{
        ssize_t at = profile_find(card, wanted->term, wanted->policy, wanted->point, wanted->disk);

        if (at < 0 || !(card->coefficients[at].standard_error > 0))
                return false;
        value->x = card->coefficients[at].value;
        value->s = fmax(card->coefficients[at].standard_error, ERROR_LEAST * value->x);
        return true;
}

/* How many devices have it; 0 where they, or their networks, are too few. */
static size_t gather(struct table *table, const struct coefficient *wanted)
{
        unsigned seen[FLEET_NETWORKS_MIN];
        size_t n = 0, networks = 0, k;

        for (size_t i = 0; i < table->n; i++) {
                struct value *value = &table->values[i];

                *value = (struct value){ .x = NAN, .s = NAN, .network = table->group[i]->network };
                value->kept = fits(table->typical, table->group[i]->card, wanted->term, wanted->policy) &&
                              take(table->group[i]->card, wanted, value);
                n += value->kept;
                for (k = 0; value->kept && k < networks && seen[k] != value->network; k++)
                        ;
                if (value->kept && k == networks && networks < FLEET_NETWORKS_MIN)
                        seen[networks++] = value->network;
        }
        return n >= FLEET_DEVICES_MIN && n * SHARE_PART >= table->n && networks == FLEET_NETWORKS_MIN ? n : 0;
}

static double distance(const struct value *value, double center, double spread)
{
        return fabs(value->x - center) / hypot(spread, value->s);
}

static void find_middle(struct table *table, double *center, double *spread)
{
        size_t known = 0;

        for (size_t i = 0; i < table->n; i++)
                if (table->values[i].kept)
                        table->work[known++] = table->values[i].x;
        *center = median(table->work, known);
        for (size_t i = 0; i < known; i++)
                table->work[i] = fabs(table->work[i] - *center);
        *spread = MAD_TO_SD * median(table->work, known);
}

/* The distance up to which values are kept: FAR, or that of three quarters of
 * @known in table->work. */
static double limit_of(struct table *table, size_t known, double far)
{
        qsort(table->work, known, sizeof(*table->work), compare);
        return fmax(far, table->work[known - known / FAR_PART - 1]);
}

/* None is surer than a quarter of all are: who says that its error is next to nothing would decide alone. */
static void bound_errors(struct table *table)
{
        size_t known = 0;

        for (size_t i = 0; i < table->n; i++)
                if (table->values[i].kept)
                        table->work[known++] = table->values[i].s;
        qsort(table->work, known, sizeof(*table->work), compare);
        for (size_t i = 0; i < table->n; i++)
                table->values[i].s = fmax(table->values[i].s, table->work[known / FAR_PART]);
}

/* Leaves out liars, and values that are far from the median. False: most of those who have it are liars. */
static bool leave_out_far(struct table *table)
{
        double center, spread, limit;
        size_t known = 0, honest = 0;

        for (size_t i = 0; i < table->n; i++) {
                table->values[i].kept = table->values[i].kept && !table->doubts[i].out;
                honest += table->values[i].kept;
        }
        if (honest < FLEET_DEVICES_MIN - FLEET_DEVICES_MIN / FAR_PART)
                return false;
        bound_errors(table);
        find_middle(table, &center, &spread);
        for (size_t i = 0; i < table->n; i++)
                if (table->values[i].kept)
                        table->work[known++] = distance(&table->values[i], center, spread);
        limit = limit_of(table, known, FAR);
        for (size_t i = 0; i < table->n; i++)
                table->values[i].kept =
                        table->values[i].kept && distance(&table->values[i], center, spread) <= limit;
        return true;
}

/* Which devices are off in all that they say. */
static void find_liars(struct table *table, const struct profile *all)
{
        double limit;

        for (size_t k = 0; k < all->n_coefficients; k++) {
                double center, spread;

                if (gather(table, &all->coefficients[k]) == 0)
                        continue;
                find_middle(table, &center, &spread);
                for (size_t i = 0; i < table->n; i++) {
                        double far = table->values[i].kept ? distance(&table->values[i], center, spread) : 0;

                        table->doubts[i].squares += far * far;
                        table->doubts[i].n += table->values[i].kept;
                }
        }
        for (size_t i = 0; i < table->n; i++) {
                double n = fmax((double)table->doubts[i].n, 1);

                table->doubts[i].squares =
                        sqrt(table->doubts[i].squares / n) / (FAR_MANY + (FAR - FAR_MANY) / sqrt(n));
                table->work[i] = table->doubts[i].squares;
        }
        limit = limit_of(table, table->n, 1);
        for (size_t i = 0; i < table->n; i++)
                table->doubts[i].out = table->doubts[i].squares > limit;
}

/* The mean with that tau, and how many squares are too many. @slope: by how
 * much fewer they become with tau^2. */
static double squares(const struct table *table, struct pooled *pooled, double *slope)
{
        double sum = 0, weights = 0, excess = 0;

        *slope = 0;
        pooled->kept = 0;
        for (size_t i = 0; i < table->n; i++) {
                const struct value *v = &table->values[i];

                if (!v->kept)
                        continue;
                pooled->kept++;
                sum += v->x / (pooled->tau2 + v->s * v->s);
                weights += 1 / (pooled->tau2 + v->s * v->s);
        }
        pooled->mean = sum / weights;
        pooled->variance = 1 / weights;
        for (size_t i = 0; i < table->n; i++) {
                const struct value *v = &table->values[i];
                double w = 1 / (pooled->tau2 + v->s * v->s), far = v->x - pooled->mean;

                excess += v->kept ? w * far * far : 0;
                *slope += v->kept ? w * w * far * far : 0;
        }
        return excess - ((double)pooled->kept - 1);
}

static struct pooled estimate(const struct table *table)
{
        struct pooled pooled = { .tau2 = 0 };
        double excess, slope, before;

        for (int i = 0; i < ROUNDS; i++) {
                excess = squares(table, &pooled, &slope);
                if (!(slope > 0) || (i == 0 && excess <= 0))
                        break;
                pooled.tau2 = fmax(0, pooled.tau2 + excess / slope);
        }
        before = SPREAD_BEFORE * pooled.mean;
        pooled.tau2 = (((double)pooled.kept - 1) * pooled.tau2 + SPREAD_DEVICES * before * before) /
                      ((double)pooled.kept - 1 + SPREAD_DEVICES);
        (void)squares(table, &pooled, &slope);
        return pooled;
}

/* Adds one coefficient to @ret where enough devices have it. */
static int pool_one(struct table *table, const struct coefficient *wanted, struct profile *ret)
{
        struct coefficient c = *wanted;
        double *deviations = table->deviations + ret->n_coefficients * table->n;
        struct pooled pooled;

        if (gather(table, wanted) == 0 || !leave_out_far(table))
                return 0;
        pooled = estimate(table);
        c.value = pooled.mean;
        c.standard_error = sqrt(pooled.tau2 + pooled.variance);
        if (!(c.standard_error > 0))
                return 0;
        for (size_t i = 0; i < table->n; i++) {
                const struct value *v = &table->values[i];

                deviations[i] = v->kept ? (v->x - c.value) / c.standard_error : 0;
        }
        ret->degrees_of_freedom = fmin(ret->degrees_of_freedom, (double)pooled.kept - 1 + SPREAD_DEVICES);
        return profile_add(ret, &c);
}

/* Devices that are dear in one coefficient may be so in another: what was seen
 * of that, and what is usual. */
static void correlate(const struct table *table, struct profile *ret)
{
        const struct coefficient *c = ret->coefficients;

        for (size_t i = 0; i < ret->n_coefficients; i++)
                for (size_t k = 0; k < i; k++) {
                        const double *a = table->deviations + i * table->n,
                                     *b = table->deviations + k * table->n;
                        double ab = 0, aa = 0, bb = 0, r, usual;

                        for (size_t d = 0; d < table->n; d++) {
                                ab += a[d] * b[d];
                                aa += a[d] * a[d];
                                bb += b[d] * b[d];
                        }
                        usual = model_term_component(c[i].term) == model_term_component(c[k].term)
                                        ? CORRELATION_BEFORE
                                        : 0;
                        r = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
                        r = ((double)table->n * r + CORRELATION_DEVICES * usual) /
                            ((double)table->n + CORRELATION_DEVICES);
                        profile_set_covariance(ret, i, k, r * c[i].standard_error * c[k].standard_error);
                }
}

/* All coefficients that enough devices have, in order. */
static int list_all(struct table *table, enum card_part part, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *all = NULL;
        int err = profile_new("pool", 1, &all);

        for (size_t i = 0; !err && i < table->n; i++) {
                const struct profile *card = table->group[i]->card;

                for (size_t k = 0; !err && k < card->n_coefficients; k++) {
                        struct coefficient c = card->coefficients[k];

                        if (!card_has_term(part, c.term) || *c.disk ||
                            profile_find(all, c.term, c.policy, c.point, c.disk) >= 0 ||
                            all->n_coefficients >= COEFFICIENTS_MAX || gather(table, &c) == 0)
                                continue;
                        err = profile_add(all, &c);
                }
        }
        if (!err)
                *ret = TAKE_PTR(all);
        return err;
}

/* A number that all cards have: the middle one's number counts; NaN where
 * none says it. */
static double middle(const struct table *table, size_t offset)
{
        size_t n = 0;

        for (size_t i = 0; i < table->n; i++) {
                double number;

                memcpy(&number, (const char *)table->group[i]->card + offset, sizeof(number));
                if (!isnan(number))
                        table->work[n++] = number;
        }
        return median(table->work, n);
}

static bool same_machine(const struct profile *a, const struct profile *b)
{
        bool same = a->n_policies == b->n_policies && a->max_brightness == b->max_brightness;

        for (size_t i = 0; same && i < a->n_policies; i++)
                same = a->policies[i].policy == b->policies[i].policy &&
                       a->policies[i].as == b->policies[i].as &&
                       strcmp(a->policies[i].cpus, b->policies[i].cpus) == 0;
        return same;
}

/* The card whose policies and brightness most others have, too: one liar says
 * nothing of them. */
static const struct profile *typical(const struct table *table)
{
        const struct profile *best = table->group[0]->card;
        size_t most = 0, n = MIN(table->n, (size_t)ASKED_MAX);

        for (size_t i = 0; i < n; i++) {
                size_t like = 0;

                for (size_t k = 0; k < n; k++)
                        like += same_machine(table->group[i]->card, table->group[k]->card);
                if (like > most) {
                        best = table->group[i]->card;
                        most = like;
                }
        }
        return best;
}

static int add_policies(const struct profile *card, struct profile *ret)
{
        int err = 0;

        for (size_t i = 0; !err && i < card->n_policies; i++)
                err = profile_add_policy(ret, card->policies[i].policy, card->policies[i].cpus);
        return err;
}

static int pool_all(struct table *table, enum card_part part, const struct profile *all, struct profile *ret)
{
        const struct profile *card = table->typical;
        int err = part == CARD_MODEL || part == CARD_CPU ? add_policies(card, ret) : 0;

        ret->degrees_of_freedom = (double)table->n;
        find_liars(table, all);
        for (size_t i = 0; !err && i < all->n_coefficients; i++)
                err = pool_one(table, &all->coefficients[i], ret);
        if (!err && ret->n_policies > 0)
                err = card_copy_as(card, ret);
        if (err || ret->n_coefficients == 0)
                return err ? err : -ENODATA;
        correlate(table, ret);
        /* An error that all gauges of a model share is not among those that devices
         * differ by. */
        ret->scale_percent = middle(table, offsetof(struct profile, scale_percent));
        ret->discrepancy_percent = middle(table, offsetof(struct profile, discrepancy_percent));
        ret->max_brightness = card->max_brightness;
        return profile_check_covariance(ret);
}

int fleet_pool(const struct fleet_card *const *group, size_t n, enum card_part part, struct profile **ret)
{
        _cleanup_(table_clear) struct table table = { .group = group, .n = n };
        _cleanup_(profile_freep) struct profile *all = NULL, *pool = NULL;
        int err;

        if (n < FLEET_DEVICES_MIN)
                return -ENODATA;
        table.typical = typical(&table);
        table.values = calloc(n, sizeof(*table.values));
        table.work = calloc(n, sizeof(*table.work));
        err = table.values && table.work ? list_all(&table, part, &all) : -ENOMEM;
        if (!err) {
                table.deviations = calloc((all->n_coefficients + 1) * n, sizeof(*table.deviations));
                table.doubts = calloc(n, sizeof(*table.doubts));
                err = table.deviations && table.doubts ? 0 : -ENOMEM;
        }
        for (size_t i = 0; !err && i < n; i++)
                table.work[i] = group[i]->card->energy_full_mwh;
        if (!err)
                err = profile_new("pool", median(table.work, n), &pool);
        if (!err)
                err = pool_all(&table, part, all, pool);
        if (!err)
                *ret = TAKE_PTR(pool);
        return err;
}
