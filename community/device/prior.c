/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prior.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

#define BOUND 3.0        /* standard errors of the class */
#define ERROR_LEAST 0.05 /* part of the value: devices are never more alike than that */
#define FREEDOM_LEAST 4.0
#define PERCENT_MOST 20.0 /* the pool may say so much of errors that all of its devices share */

/* A term, of one policy: taken over as a whole or not at all. */
struct group {
        enum term term;
        uint32_t policy;
};

bool prior_may_replace(const struct profile *own, const char **why)
{
        *why = !isnan(own->learned.spans) || own->measured     ? N_("learnt")
               : strcmp(profile_basis(own), "calibrated") == 0 ? N_("calibrated")
                                                               : NULL;
        return !*why;
}

static bool is_in(const struct coefficient *c, const struct group *group)
{
        return c->term == group->term && c->policy == group->policy && !*c->disk;
}

/* The value of the class at a point, between its own; beyond them, the nearest.
 * False: it has no such term. */
static bool class_at(const struct profile *class, const struct group *group, uint32_t point, double *value,
                     double *se)
{
        const struct coefficient *below = NULL, *above = NULL;
        double part;

        for (size_t i = 0; i < class->n_coefficients; i++) {
                const struct coefficient *c = &class->coefficients[i];

                if (!is_in(c, group))
                        continue;
                below = c->point <= point ? c : below;
                above = c->point >= point && !above ? c : above;
        }
        below = below ? below : above;
        above = above ? above : below;
        if (!below)
                return false;
        part = above->point > below->point ? (double)(point - below->point) / (above->point - below->point)
                                           : 0;
        *value = below->value + part * (above->value - below->value);
        *se = below->standard_error + part * (above->standard_error - below->standard_error);
        return *se > 0;
}

static bool is_within(const struct profile *class, const struct group *group, const struct coefficient *c)
{
        double value, se;

        return class_at(class, group, c->point, &value, &se) && fabs(c->value - value) <= BOUND * se &&
               c->value >= 0 && c->standard_error > 0 && c->standard_error <= se;
}

/* Has the pool this term, and all of it within the bounds? */
static bool is_good(const struct profile *class, const struct profile *pool, const struct group *group)
{
        size_t n = 0;

        for (size_t i = 0; i < pool->n_coefficients; i++)
                if (is_in(&pool->coefficients[i], group)) {
                        if (!is_within(class, group, &pool->coefficients[i]))
                                return false;
                        n++;
                }
        return n > 0;
}

static struct group group_of(const struct coefficient *c)
{
        return (struct group){ c->term, c->policy };
}

static bool is_taken(const struct profile *class, const struct profile *pool, enum card_part part,
                     const struct coefficient *c)
{
        struct group group = group_of(c);

        /* Levels of brightness are counted otherwise by another driver. */
        return card_has_term(part, c->term) && !*c->disk && is_good(class, pool, &group) &&
               (c->term != TERM_DISPLAY || class->max_brightness == pool->max_brightness);
}

static int add_policies(const struct profile *from, struct profile *to)
{
        int err = 0;

        for (size_t i = 0; !err && i < from->n_policies; i++) {
                err = profile_add_policy(to, from->policies[i].policy, from->policies[i].cpus);
                if (!err && from->policies[i].as != from->policies[i].policy)
                        err = profile_set_as(to, from->policies[i].policy, from->policies[i].as);
        }
        return err;
}

/* Adds those coefficients of @from that are taken from the pool, or that are
 * not. */
static int add_coefficients(const struct profile *from, bool taken, const struct profile *class,
                            const struct profile *pool, enum card_part part, struct profile *to)
{
        int err = 0;

        for (size_t i = 0; !err && i < from->n_coefficients; i++) {
                struct coefficient c = from->coefficients[i];

                if (is_taken(class, pool, part, &c) != taken)
                        continue;
                if (taken)
                        c.standard_error = fmax(c.standard_error, ERROR_LEAST * c.value);
                err = profile_add(to, &c);
        }
        return err;
}

/* Pairs of one source keep their covariance; those of two have none. The larger
 * errors of above only add to it. */
static void add_covariance(const struct profile *from, bool taken, const struct profile *class,
                           const struct profile *pool, enum card_part part, struct profile *to)
{
        for (size_t i = 0; i < from->n_coefficients; i++)
                for (size_t k = 0; k < i; k++) {
                        const struct coefficient *a = &from->coefficients[i], *b = &from->coefficients[k];
                        double covariance = profile_covariance(from, i, k);

                        if (isnan(covariance) || is_taken(class, pool, part, a) != taken ||
                            is_taken(class, pool, part, b) != taken)
                                continue;
                        profile_set_covariance(
                                to, (size_t)profile_find(to, a->term, a->policy, a->point, a->disk),
                                (size_t)profile_find(to, b->term, b->policy, b->point, b->disk), covariance);
                }
}

static int count_taken(const struct profile *class, const struct profile *pool, enum card_part part)
{
        const struct coefficient *c = pool->coefficients;
        int n = 0;

        for (size_t i = 0; i < pool->n_coefficients; i++)
                n += is_taken(class, pool, part, &c[i]) &&
                     (i == 0 || c[i].term != c[i - 1].term || c[i].policy != c[i - 1].policy);
        return n;
}

static double least(double a, double b)
{
        return isnan(b) ? a : fmin(a, fmax(b, FREEDOM_LEAST));
}

static double most(double a, double b)
{
        return isnan(b) ? a : isnan(a) ? fmin(b, PERCENT_MOST) : fmax(a, fmin(b, PERCENT_MOST));
}

int prior_take(struct profile **prior, const struct profile *class, const struct profile *pool,
               enum card_part part)
{
        _cleanup_(profile_freep) struct profile *made = NULL;
        const struct profile *from = *prior;
        int taken = count_taken(class, pool, part);
        int err = taken ? profile_new(from->device, from->energy_full_mwh, &made) : 0;

        if (err || !taken)
                return err;
        memcpy(made->method, from->method, sizeof(made->method));
        made->max_brightness = from->max_brightness;
        made->degrees_of_freedom = least(from->degrees_of_freedom, pool->degrees_of_freedom);
        made->scale_percent = most(from->scale_percent, pool->scale_percent);
        made->discrepancy_percent = most(from->discrepancy_percent, pool->discrepancy_percent);
        made->misfit_percent = from->misfit_percent;
        err = add_policies(from, made);
        if (!err)
                err = add_coefficients(from, false, class, pool, part, made);
        if (!err)
                err = add_coefficients(pool, true, class, pool, part, made);
        if (err || made->n_coefficients > PROFILE_COEFFICIENTS_MAX) /* so many could not be read again */
                return err;
        add_covariance(from, false, class, pool, part, made);
        add_covariance(pool, true, class, pool, part, made);
        err = profile_check_covariance(made);
        if (err)
                return err;
        profile_free(*prior);
        *prior = TAKE_PTR(made);
        return taken;
}
