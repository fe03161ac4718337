/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile-class.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

/*
 * One policy's cores are dear or cheap at all their frequencies, and a big and a little cluster share one process and
 * one design. These are guesses, as nobody publishes how devices differ.
 */
#define CORRELATION_POLICY 0.8
#define CORRELATION_COMPONENT 0.5
#define POINTS_OF_POLICY 6 /* frequencies of a policy that are used: the curve between them is almost straight */

/* If the firmware does not tell the class: most full energy of a phone, and of a tablet; a clock above any tablet's. */
#define PHONE_MWH 24e3
#define TABLET_MWH 46e3
#define HANDHELD_KHZ 3400000

#define TREE_ROOT "sys/firmware/devicetree/base/"

static const struct {
        const char *chassis, *class;
} classes[] = {
        { "handset", "class-phone" },     { "watch", "class-phone" },        { "tablet", "class-tablet" },
        { "handheld", "class-handheld" }, { "laptop", "class-laptop" },      { "convertible", "class-laptop" },
        { "detachable", "class-laptop" }, { "all-in-one", "class-laptop" },
};

static const struct {
        unsigned long type;
        const char *chassis;
} smbios_types[] = {
        { 8, "laptop" }, { 9, "laptop" }, { 10, "laptop" }, { 11, "handheld" }, { 13, "all-in-one" }, { 14, "laptop" },
        { 30, "tablet" }, { 31, "convertible" }, { 32, "detachable" },
};

void class_facts_clear(struct class_facts *facts)
{
        free(facts->policies);
        *facts = (struct class_facts){ 0 };
}

void profile_class_read_chassis(int root_fd, char *buf, size_t size)
{
        unsigned long type;
        char text[32];

        buf[0] = '\0';
        if (util_read_at(root_fd, TREE_ROOT "chassis-type", text, sizeof(text)) > 0) {
                text[strcspn(text, "\n")] = '\0';
                util_printable(text, buf, size);
                return;
        }
        if (util_read_at(root_fd, "sys/class/dmi/id/chassis_type", text, sizeof(text)) <= 0)
                return;
        type = strtoul(text, NULL, 10);
        for (size_t i = 0; i < ARRAY_SIZE(smbios_types); i++)
                if (smbios_types[i].type == type)
                        snprintf(buf, size, "%s", smbios_types[i].chassis);
}

static uint32_t highest_khz(const struct class_facts *facts)
{
        uint32_t highest = 0;

        for (size_t i = 0; i < facts->n_policies; i++)
                if (facts->policies[i].n_khz > 0)
                        highest = MAX(highest, facts->policies[i].khz[facts->policies[i].n_khz - 1]);
        return highest;
}

const char *profile_class_choose(const struct class_facts *facts, char *why, size_t size)
{
        double full_mwh = facts->energy_full_mwh;
        uint32_t khz = highest_khz(facts);
        char clock[48] = "";

        if (!facts->battery)
                return NULL;
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
                if (strcmp(classes[i].chassis, facts->chassis) != 0)
                        continue;
                snprintf(why, size, _("its firmware says: %s"), facts->chassis);
                return classes[i].class;
        }
        if (khz > 0)
                snprintf(clock, sizeof(clock), _(" up to %.1f GHz"), khz / 1e6);
        if (isnan(full_mwh))
                snprintf(why, size,
                         words_counted("%u CPU%s; it does not show its battery's energy",
                                       "%u CPUs%s; it does not show its battery's energy", facts->n_cpus),
                         facts->n_cpus, clock);
        else
                snprintf(why, size, words_counted("a battery of %.0f Wh, %u CPU%s",
                                                  "a battery of %.0f Wh, %u CPUs%s", facts->n_cpus),
                         full_mwh / 1e3, facts->n_cpus, clock);
        if (isnan(full_mwh))
                return khz >= HANDHELD_KHZ ? "class-laptop" : "class-phone";
        if (full_mwh <= PHONE_MWH)
                return "class-phone";
        if (full_mwh > TABLET_MWH)
                return "class-laptop";
        return khz >= HANDHELD_KHZ ? "class-handheld" : "class-tablet";
}

bool profile_is_class_file(const struct profile *profile)
{
        return strcmp(profile->method, "class") == 0 && profile_extra(profile, "profile", "x-any-machine");
}

/* Value or standard error of a term of the class at any frequency; beyond its points, the nearest. */
static struct coefficient at_khz(const struct profile *class, enum term term, uint32_t khz)
{
        const struct coefficient *below = NULL, *above = NULL;
        struct coefficient found;
        double part;

        for (size_t i = 0; i < class->n_coefficients; i++) {
                const struct coefficient *c = &class->coefficients[i];

                if (c->term != term)
                        continue;
                if (c->point <= khz)
                        below = c;
                if (c->point >= khz && !above)
                        above = c;
        }
        below = below ? below : above;
        above = above ? above : below;
        found = below ? *below : (struct coefficient){ .term = term, .standard_error = NAN };
        found.point = khz;
        if (below && above->point > below->point) {
                part = (double)(khz - below->point) / (double)(above->point - below->point);
                found.value += part * (above->value - below->value);
                found.standard_error += part * (above->standard_error - below->standard_error);
        }
        return found;
}

/* The work that a core does per clock. NaN: unknown. */
static double work(const struct class_policy *policy)
{
        return policy->n_khz > 0 && policy->capacity > 0 ?
                       (double)policy->capacity / policy->khz[policy->n_khz - 1] :
                       NAN;
}

/*
 * The part of a big core's power that a core of @policy has, where the kernel tells big and little cores apart: it is
 * the part of the big core's work per clock. 1: they are not told apart.
 */
static double share_of(const struct class_facts *facts, const struct class_policy *policy)
{
        double most = NAN;

        for (size_t i = 0; i < facts->n_policies; i++)
                most = fmax(most, work(&facts->policies[i]));
        return work(policy) > 0 && most > 0 ? work(policy) / most : 1;
}

static int add_point(const struct profile *class, uint32_t policy, uint32_t khz, double share, struct profile *profile)
{
        static const enum term terms[] = { TERM_CPU_ACTIVE, TERM_CPU_SHARED };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(terms); i++) {
                struct coefficient c = at_khz(class, terms[i], khz);

                c.policy = policy;
                c.value *= share;
                c.standard_error *= (1 + share) / 2; /* relative to its value a little core's is wider */
                err = profile_add(profile, &c);
        }
        return err;
}

/* Adds the policy's own frequencies, evenly spread; those of the class where it lists none. */
static int add_points(const struct profile *class, const struct class_policy *policy, double share,
                      struct profile *profile)
{
        size_t n = MIN(policy->n_khz, (size_t)POINTS_OF_POLICY);
        int err = 0;

        for (size_t i = 0; !err && i < n; i++)
                err = add_point(class, policy->policy,
                                policy->khz[n > 1 ? i * (policy->n_khz - 1) / (n - 1) : 0], share, profile);
        for (size_t i = 0; !err && n == 0 && i < class->n_coefficients; i++)
                if (class->coefficients[i].term == TERM_CPU_ACTIVE)
                        err = add_point(class, policy->policy, class->coefficients[i].point, share, profile);
        return err;
}

/* The first policy with the same frequencies and capacity: it has the same cores, and has the coefficients for all. */
static uint32_t first_alike(const struct class_facts *facts, const struct class_policy *policy)
{
        const struct class_policy *other = facts->policies;

        while (other != policy && (other->n_khz != policy->n_khz || other->capacity != policy->capacity ||
                                   memcmp(other->khz, policy->khz, policy->n_khz * sizeof(policy->khz[0])) != 0))
                other++;
        return other->policy;
}

static int add_policies(const struct profile *class, const struct class_facts *facts, struct profile *profile)
{
        static const struct class_policy whole = { .policy = 0 }; /* no cpufreq */
        int err = 0;

        for (size_t i = 0; !err && i < facts->n_policies; i++) {
                const struct class_policy *policy = &facts->policies[i];
                uint32_t as = first_alike(facts, policy);

                err = profile_add_policy(profile, policy->policy, policy->cpus);
                if (!err && as != policy->policy)
                        err = profile_set_as(profile, policy->policy, as);
                else if (!err)
                        err = add_points(class, policy, share_of(facts, policy), profile);
        }
        if (facts->n_policies > 0)
                return err;
        err = profile_add_policy(profile, 0, "");
        return err ? err : add_points(class, &whole, 1, profile);
}

/* All other coefficients are taken as they stand; brightness is in percent of the machine's. */
static int add_rest(const struct profile *class, const struct class_facts *facts, struct profile *profile)
{
        int err = 0;

        profile->max_brightness = facts->max_brightness ? facts->max_brightness : class->max_brightness;
        for (size_t i = 0; i < class->n_coefficients; i++) {
                struct coefficient c = class->coefficients[i];

                if (model_term_component(c.term) == COMPONENT_CPU)
                        continue;
                if (c.term == TERM_DISPLAY && class->max_brightness > 0)
                        c.point = (uint32_t)((uint64_t)c.point * profile->max_brightness / class->max_brightness);
                err = profile_add(profile, &c);
                if (err && err != -EEXIST) /* a backlight with few levels has no room for all */
                        return err;
        }
        return 0;
}

static void correlate(struct profile *profile)
{
        const struct coefficient *c = profile->coefficients;

        for (size_t i = 0; i < profile->n_coefficients; i++)
                for (size_t k = 0; k < i; k++) {
                        double correlation = c[i].policy == c[k].policy ? CORRELATION_POLICY : CORRELATION_COMPONENT;

                        if (model_term_component(c[i].term) == model_term_component(c[k].term) &&
                            (c[i].term == TERM_SUSPEND) == (c[k].term == TERM_SUSPEND))
                                profile_set_covariance(profile, i, k,
                                                       correlation * c[i].standard_error * c[k].standard_error);
                }
}

int profile_from_class(const struct profile *class, const struct class_facts *facts, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int err = profile_new(class->device,
                              isnan(facts->energy_full_mwh) ? class->energy_full_mwh : facts->energy_full_mwh,
                              &profile);

        if (err)
                return err;
        snprintf(profile->method, sizeof(profile->method), "class");
        profile->degrees_of_freedom = class->degrees_of_freedom;
        profile->scale_percent = class->scale_percent;
        profile->discrepancy_percent = class->discrepancy_percent;
        profile->misfit_percent = class->misfit_percent;
        err = add_policies(class, facts, profile);
        if (!err)
                err = add_rest(class, facts, profile);
        if (err)
                return err;
        correlate(profile);
        *ret = TAKE_PTR(profile);
        return 0;
}
