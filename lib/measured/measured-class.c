/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The device of a trace, as far as a class needs it. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"
#include "model/profile-class.h"

/* Levels of a backlight up to this are percents. */
#define PERCENT_MOST 100

uint32_t measured_brightest(const struct usage *usage)
{
        uint32_t most = 0;

        for (size_t k = 0; k < usage->screen.n; k++)
                if (usage->screen.list[k].brightness != BRIGHTNESS_UNKNOWN)
                        most = MAX(most, usage->screen.list[k].brightness);
        return most;
}

/* The class spreads its points over the first and the last frequency, so of many the last ones are enough. */
static void add_frequency(struct class_policy *policy, uint32_t khz)
{
        if (policy->n_khz == CLASS_POINTS_MAX)
                policy->n_khz--;
        policy->khz[policy->n_khz++] = khz;
}

int measured_adapt(const struct measured_trace *trace, struct profile **profile)
{
        const struct points *all = &trace->frequencies;
        _cleanup_(class_facts_clear) struct class_facts facts = { .energy_full_mwh = NAN };
        struct profile *adapted = NULL;
        int err;

        if (!profile_is_class_file(*profile))
                return 0;
        facts.max_brightness = PERCENT_MOST;
        for (size_t i = 0; i < trace->n; i++)
                for (size_t o = 0; o < trace->spans[i].n_owners; o++)
                        facts.max_brightness = MAX(facts.max_brightness,
                                                   measured_brightest(&trace->spans[i].owners[o].usage));
        facts.policies = calloc(all->n + 1, sizeof(*facts.policies));
        if (!facts.policies)
                return -ENOMEM;
        for (size_t i = 0; i < all->n; i++) {
                if (i == 0 || all->list[i].policy != all->list[i - 1].policy)
                        facts.policies[facts.n_policies++].policy = all->list[i].policy;
                add_frequency(&facts.policies[facts.n_policies - 1], all->list[i].khz);
        }
        err = profile_from_class(*profile, &facts, &adapted);
        if (err)
                return err;
        profile_free(*profile);
        *profile = adapted;
        return 0;
}
