/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kind.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/util.h"

/*
 * Before any row tells a price (four cores of phones, boards and servers): a cycle takes as much as g instructions,
 * with the median 3 and a factor of 2; an event of the first caches takes 5 +- 10 cycles, one of the last 15 +- 15.
 */
#define INSTRUCTION_CYCLES 3.0
#define INSTRUCTION_FACTOR 2.0
static const struct kind_prior near_miss = { 5, 10 }, last_miss = { 15, 15 };

/* Events of the last cache, by a part of their names. */
static const char *const last_cache[] = { "llc", "ll_cache", "l3", "longest_lat" };

/* Programs' instructions per cycle differ by so much of their mean. */
#define INSTRUCTIONS_SD 0.45

bool kind_of(const struct usage *usage, const struct profile *profile, uint32_t policy, struct work_kind *ret)
{
        double sum[COUNTED_COUNT] = { 0 };
        bool misses = false;

        for (size_t i = 0; i < usage->counted.n; i++) {
                const struct point *point = &usage->counted.list[i];

                if (point->key >= COUNTED_COUNT || profile_as(profile, point->policy) != policy)
                        continue;
                sum[point->key] += (double)point->amount;
                misses = misses || point->key == COUNTED_MISSES;
        }
        if (!(sum[COUNTED_CYCLES] > 0) || !(sum[COUNTED_INSTRUCTIONS] > 0))
                return false;
        *ret = (struct work_kind){ sum[COUNTED_INSTRUCTIONS] / sum[COUNTED_CYCLES],
                              misses ? sum[COUNTED_MISSES] / sum[COUNTED_CYCLES] : NAN };
        return true;
}

static double number(const struct profile *profile, uint32_t policy, const char *key)
{
        char section[32];
        const char *text;
        double value;

        snprintf(section, sizeof(section), "cpu %u", policy);
        text = profile_extra(profile, section, key);
        return text && util_parse_double(text, &value) == 0 && value >= 0 && value < 1e9 ? value : NAN;
}

bool kind_usual(const struct profile *profile, uint32_t policy, struct work_kind *ret)
{
        *ret = (struct work_kind){ number(profile, policy, "x-spin_ipc"), NAN };
        if (!(ret->instructions > 0))
                return false;
        ret->misses = number(profile, policy, "x-spin_mpk") / 1000 * ret->instructions;
        return true;
}

static int set_number(struct profile *profile, const char *section, const char *key, double value)
{
        char text[32];

        snprintf(text, sizeof(text), "%.6g", value);
        return profile_set_extra(profile, section, key, text);
}

int kind_set_usual(struct profile *profile, uint32_t policy, const struct work_kind *usual, const char *event)
{
        char section[32];
        int err;

        snprintf(section, sizeof(section), "cpu %u", policy);
        err = set_number(profile, section, "x-spin_ipc", usual->instructions);
        if (!err && !isnan(usual->misses))
                err = set_number(profile, section, "x-spin_mpk", 1000 * usual->misses / usual->instructions);
        if (!err && !isnan(usual->misses) && event && *event)
                err = profile_set_extra(profile, section, "x-miss_event", event);
        return err;
}

static double busy_mj(const struct profile *profile, uint32_t policy, const double *values,
                      const struct model_vector *vector)
{
        double sum = 0;

        for (size_t i = 0; i < vector->n && profile->coefficients[i].term <= TERM_CPU_SHARED; i++) {
                const struct coefficient *c = &profile->coefficients[i];

                if (c->term != TERM_BASE && c->policy == policy)
                        sum += vector->weight[i] * (values ? values[i] : c->value);
        }
        return sum;
}

/* Limits of what a kind of work adds, in parts of the energy of usual work. */
#define LEAST_PART (-0.8)
#define MOST_PART 4.0

static double value_of(const struct profile *profile, size_t at, const double *values)
{
        return values ? values[at] : profile->coefficients[at].value;
}

static void weigh(const struct profile *profile, const struct usage *usage, const double *values, size_t instructions,
                  struct model_vector *vector)
{
        uint32_t policy = profile->coefficients[instructions].policy;
        ssize_t misses = profile_find(profile, TERM_CPU_MISSES, policy, 0, "");
        struct work_kind kind, usual;
        double i, m = 0, part, factor = 1, mj;

        if (!kind_of(usage, profile, policy, &kind) || !kind_usual(profile, policy, &usual))
                return;
        i = kind.instructions / usual.instructions - 1;
        if (misses >= 0 && !isnan(kind.misses) && !isnan(usual.misses))
                m = kind.misses - usual.misses;
        part = value_of(profile, instructions, values) * i;
        part += misses < 0 ? 0 : value_of(profile, (size_t)misses, values) * m;
        if (part < LEAST_PART || part > MOST_PART)
                factor = fmin(fmax(part, LEAST_PART), MOST_PART) / part;
        mj = factor * busy_mj(profile, policy, values, vector);
        vector->weight[instructions] = i * mj;
        if (misses >= 0)
                vector->weight[misses] = m * mj;
}

void kind_weigh(const struct profile *profile, const struct usage *usage, const double *values,
                struct model_vector *vector)
{
        for (size_t i = 0; i < vector->n && profile->coefficients[i].term <= TERM_CPU_MISSES; i++)
                if (kind_is_ratio(profile->coefficients[i].term))
                        vector->weight[i] = 0;
        for (size_t i = 0; i < vector->n && profile->coefficients[i].term <= TERM_CPU_INSTRUCTIONS; i++)
                if (profile->coefficients[i].term == TERM_CPU_INSTRUCTIONS)
                        weigh(profile, usage, values, i, vector);
}

bool kind_is_ratio(enum term term)
{
        return term == TERM_CPU_INSTRUCTIONS || term == TERM_CPU_MISSES || term == TERM_CURVE;
}

double kind_left_percent(const struct profile *profile, double without, double instructions, double both)
{
        double left = without;

        for (size_t i = 0; i < profile->n_coefficients && profile->coefficients[i].term <= TERM_CPU_MISSES; i++) {
                if (profile->coefficients[i].term == TERM_CPU_MISSES)
                        return both;
                if (profile->coefficients[i].term == TERM_CPU_INSTRUCTIONS)
                        left = instructions;
        }
        return left;
}

double kind_unknown_mj(const struct profile *profile, const struct usage *usage, const struct model_vector *vector)
{
        double sum = 0;

        for (size_t i = 0; i < vector->n && profile->coefficients[i].term <= TERM_CPU_INSTRUCTIONS; i++) {
                const struct coefficient *c = &profile->coefficients[i];
                struct work_kind kind;

                if (c->term == TERM_CPU_INSTRUCTIONS && !kind_of(usage, profile, c->policy, &kind))
                        sum += INSTRUCTIONS_SD * c->value * busy_mj(profile, c->policy, NULL, vector);
        }
        return sum;
}

struct kind_prior kind_prior_instructions(double usual_instructions)
{
        double part = 1 / (1 + INSTRUCTION_CYCLES / usual_instructions);

        return (struct kind_prior){ part, log(INSTRUCTION_FACTOR) * part * (1 - part) };
}

struct kind_prior kind_prior_misses(const char *event)
{
        for (size_t i = 0; event && i < ARRAY_SIZE(last_cache); i++)
                for (const char *at = event; *at; at++)
                        if (strncasecmp(at, last_cache[i], strlen(last_cache[i])) == 0)
                                return last_miss;
        return near_miss;
}

static int add_price(struct profile *profile, enum term term, uint32_t policy, struct kind_prior prior)
{
        struct coefficient price = { .term = term, .policy = policy, .value = prior.value, .standard_error = prior.sd };

        return profile_find(profile, term, policy, 0, "") >= 0 ? 0 : profile_add(profile, &price);
}

int kind_add_prior(struct profile *profile, const struct usage *sum, const char *event)
{
        int err = 0;

        for (size_t i = 0; !err && i < profile->n_policies; i++) {
                uint32_t policy = profile->policies[i].policy;
                struct work_kind kind, usual;

                if (profile->policies[i].as != policy || kind_usual(profile, policy, &usual) ||
                    !kind_of(sum, profile, policy, &kind))
                        continue;
                err = add_price(profile, TERM_CPU_INSTRUCTIONS, policy, kind_prior_instructions(kind.instructions));
                if (!err && !isnan(kind.misses))
                        err = add_price(profile, TERM_CPU_MISSES, policy, kind_prior_misses(event));
                if (!err)
                        err = kind_set_usual(profile, policy, &kind, event);
        }
        return err;
}
