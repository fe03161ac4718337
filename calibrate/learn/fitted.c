/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fitted.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "change.h"
#include "percents.h"
#include "util/util.h"

/* A calibration by the level is in the joules that the battery shows, others are not. */
static double scale_sd(const struct profile *profile)
{
        bool by_level = strcmp(profile->method, "percent") == 0 || strcmp(profile->method, "ticks") == 0;

        return by_level ? 0.01 : 0.05;
}

static int64_t stretch_start_ns(const struct design *design, size_t stretch)
{
        size_t i = 0;

        while (i + 1 < design->n && design->rows[i].stretch < stretch)
                i++;
        return design->rows[i].everyday->start_ns;
}

static struct design_change change_of(const struct design *design, const struct candidate *candidate)
{
        return (struct design_change){ .app = candidate->app, .part = candidate->part, .stretch = candidate->stretch,
                                       .time_ns = stretch_start_ns(design, candidate->stretch) };
}

static void fitted_clear(struct fitted *fitted)
{
        posterior_clear(&fitted->posterior);
        design_clear(&fitted->design);
}

/* @scatter: result of a fit of the same rows; NULL: it is estimated from the rows. */
static int fit_with(const struct profile *prior, const struct everyday *list, size_t n,
                    const struct known_changes *known, const struct scatter *scatter, struct fitted *ret)
{
        struct fitted fitted = { 0 };
        int err = design_make(prior, list, n, known->list, known->n, &fitted.design);

        if (!err && scatter)
                fitted.design.scatter = *scatter;
        if (!err)
                percents_set(&fitted.design, known->unequal);
        if (!err)
                err = posterior_make(&fitted.design, percents_scale_sd(&fitted.design, scale_sd(prior)),
                                     &fitted.posterior);
        if (err)
                fitted_clear(&fitted);
        else
                *ret = fitted;
        return err;
}

/* The rows of one learning, while it is sought how unequal their percents are. */
struct search {
        const struct profile *prior;
        const struct everyday *list;
        size_t n;
        const struct known_changes *known;
};

/* A size that cannot be fitted is not likely. */
static int evidence_of(void *data, double unequal, double *ret)
{
        const struct search *search = data;
        struct known_changes known = *search->known;
        struct fitted fitted;
        int err;

        known.unequal = unequal;
        err = fit_with(search->prior, search->list, search->n, &known, NULL, &fitted);
        *ret = err ? -INFINITY : fitted.posterior.evidence;
        if (!err)
                fitted_clear(&fitted);
        return err == -ENOMEM || err == -ENODATA ? err : 0;
}

static int find_unequal(const struct profile *prior, const struct everyday *list, size_t n,
                        struct known_changes *known)
{
        struct search search = { prior, list, n, known };
        bool by_level = false;

        for (size_t i = 0; i < n; i++)
                by_level = by_level || !list[i].metered;
        if (!isnan(known->unequal))
                return 0;
        known->unequal = 0;
        return by_level ? percents_find(evidence_of, &search, &known->unequal) : 0;
}

/* Candidates for one more change, and the fit with each. */
struct choice {
        struct candidate list[CHANGE_CANDIDATES];
        double evidence[CHANGE_CANDIDATES];
        size_t n;
        size_t best;
};

/* A change that cannot be fitted explains nothing. */
static int try_candidate(const struct profile *prior, const struct everyday *list, size_t n,
                         const struct fitted *without, const struct known_changes *known,
                         const struct candidate *candidate, double *ret_evidence)
{
        struct known_changes with = *known;
        struct fitted fitted;
        int err;

        with.list[with.n++] = change_of(&without->design, candidate);
        err = fit_with(prior, list, n, &with, &without->design.scatter, &fitted);
        *ret_evidence = err ? -INFINITY : fitted.posterior.evidence;
        if (!err)
                fitted_clear(&fitted);
        return err == -ENOMEM ? err : 0;
}

/* Each on its own day, and then all on the day of the best one, so that causes are compared and not days. */
static int try_candidates(const struct profile *prior, const struct everyday *list, size_t n,
                          const struct fitted *without, const struct known_changes *known,
                          struct choice *choice)
{
        size_t stretch = SIZE_MAX;

        for (size_t c = 0; c < choice->n; c++)
                choice->evidence[c] = -INFINITY;
        for (int round = 0; round < 2; round++) {
                for (size_t c = 0; c < choice->n; c++) {
                        struct candidate candidate = choice->list[c];
                        double evidence;
                        int err;

                        if (candidate.stretch == stretch)
                                continue;
                        candidate.stretch = round > 0 ? stretch : candidate.stretch;
                        err = try_candidate(prior, list, n, without, known, &candidate, &evidence);
                        if (err)
                                return err;
                        if (round > 0 && evidence <= choice->evidence[c])
                                continue;
                        choice->evidence[c] = evidence;
                        choice->list[c] = candidate;
                        if (evidence > choice->evidence[choice->best])
                                choice->best = c;
                }
                stretch = choice->n > 0 ? choice->list[choice->best].stretch : SIZE_MAX;
        }
        return 0;
}

/* By the logarithm of how much likelier the best candidate makes the rows than all others and than none. */
static double find_lead(const struct choice *choice, double none)
{
        const struct candidate *best = &choice->list[choice->best];
        double lead = choice->n > 0 ? choice->evidence[choice->best] - none : -INFINITY;

        for (size_t c = 0; c < choice->n; c++)
                if (!change_is_same(choice->list[c].app, choice->list[c].part, best->app, best->part))
                        lead = fmin(lead, choice->evidence[choice->best] - choice->evidence[c]);
        return lead;
}

/* The change that makes the rows likeliest is one more. @more: there is one. */
static int add_change(const struct profile *prior, const struct everyday *list, size_t n, struct known_changes *known,
                      struct fitted *fitted, bool *more)
{
        const struct scatter scatter = fitted->design.scatter;
        struct choice choice = { 0 };
        struct design_change change;
        double lead;
        int err = change_find(&fitted->design, &fitted->posterior, choice.list, &choice.n);

        if (!err)
                err = try_candidates(prior, list, n, fitted, known, &choice);
        lead = find_lead(&choice, fitted->posterior.evidence);
        *more = choice.n > 0 && choice.evidence[choice.best] > fitted->posterior.evidence;
        if (err || !*more)
                return err;
        change = change_of(&fitted->design, &choice.list[choice.best]);
        change.lead = lead;
        known->list[known->n++] = change;
        fitted_clear(fitted);
        return fit_with(prior, list, n, known, &scatter, fitted);
}

int fitted_make(const struct profile *prior, const struct everyday *list, size_t n, const struct known_changes *known,
                struct fitted *ret)
{
        struct known_changes changes = *known;
        struct fitted fitted;
        bool more = true;
        int err = find_unequal(prior, list, n, &changes);

        if (!err)
                err = fit_with(prior, list, n, &changes, NULL, &fitted);
        if (err)
                return err;
        while (!err && more && changes.n < DESIGN_CHANGES_MAX) {
                err = add_change(prior, list, n, &changes, &fitted, &more);
        }
        for (size_t c = 0; !err && c < changes.n; c++) {
                fitted.design.changes[c] = changes.list[c];
                err = change_read(&fitted.design, &fitted.posterior, c, &fitted.design.changes[c]);
        }
        if (err)
                fitted_clear(&fitted);
        else
                *ret = fitted;
        return err;
}
