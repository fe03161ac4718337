/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "fitted.h"
#include "judge.h"
#include "score.h"
#include "spread.h"
#include "util/quantile.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"

void learn_clear(struct learning *learning)
{
        profile_free(learning->profile);
        *learning = (struct learning){ 0 };
}

static int64_t time_of(const char *text)
{
        int64_t time_ns;

        return text && utc_parse(text, &time_ns) == 0 ? time_ns : INT64_MIN;
}

/* The end of the observations that the profile before was learnt from. */
static int64_t until_ns(const struct profile *profile)
{
        int64_t time_ns = time_of(profile->learned.until);

        return time_ns == INT64_MIN ? time_ns : time_ns + (int64_t)NS_PER_S;
}

/* Notes the scatter of shown percents in the profile, for readers who wonder why intervals are wide. */
static int note_unequal(struct profile *profile, const struct design *design)
{
        char text[32];

        if (design->metered)
                return 0;
        snprintf(text, sizeof(text), "%.3g", 100 * design->unequal);
        return profile_set_extra(profile, "profile", "x-percent_scatter", text);
}

/* One fit and its profile. */
static int fit_profile(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                       const struct known_changes *known, struct design *design, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct fitted fitted;
        struct full_charge full;
        int err = fitted_make(prior, list, n, known, &fitted);

        if (err)
                return err;
        overlay_full_charge(prior, list, n, &full);
        err = overlay_make(before, &fitted.design, &fitted.posterior, &full, &profile);
        if (!err)
                err = note_unequal(profile, &fitted.design);
        posterior_clear(&fitted.posterior);
        if (err) {
                design_clear(&fitted.design);
                return err;
        }
        *design = fitted.design;
        *ret = TAKE_PTR(profile);
        return 0;
}

/* Part of the stretches that is held out, number of folds, and number of stretches needed for holding out. */
#define HELD_OUT 0.2
#define FOLDS 2 /* where a component changed; else 1 */
#define STRETCHES_MIN 5

/* The new profile is refused if its log likelihood of the held-out stretches is lower by more than this. */
#define CLEARLY_WORSE 3.0

static size_t count_folds(const struct design *all)
{
        for (size_t c = 0; c < all->n_changes; c++)
                if (all->changes[c].app == SIZE_MAX)
                        return FOLDS;
        return 1;
}

static bool is_left_out(const struct design *all, size_t stretch, size_t first, size_t fold)
{
        return stretch >= first && (stretch - first) % count_folds(all) == fold;
}

/* Copies the observations to @ret, without the stretches that @fold holds out. Returns their number. */
static size_t leave_out(const struct design *all, const struct everyday *list, size_t n, size_t first, size_t fold,
                        struct everyday *ret)
{
        size_t n_left = 0, row = 0;

        for (size_t i = 0; i < n; i++) {
                size_t stretch;

                while (row + 1 < all->n && all->rows[row].everyday < &list[i])
                        row++;
                stretch = all->rows[row].stretch;
                if (!is_left_out(all, stretch, first, fold))
                        ret[n_left++] = list[i];
        }
        return n_left;
}

/* The times of changes of components come from all rows, their amounts do not. Renumbers the stretches. */
static struct known_changes changes_left(const struct design *all, size_t first, size_t fold)
{
        struct known_changes known = { .n = 0, .unequal = all->unequal };

        for (size_t c = 0; c < all->n_changes; c++) {
                struct design_change *change = &known.list[known.n];

                if (all->changes[c].app != SIZE_MAX)
                        continue;
                *change = all->changes[c];
                for (size_t s = first; s < all->changes[c].stretch; s++)
                        change->stretch -= is_left_out(all, s, first, fold);
                known.n++;
        }
        return known;
}

/*
 * A learnt profile describes the days since the last change of a component, not those before, and a few days are not
 * enough to know it well. The profile in use was learnt from some of the stretches, so on those it is better than
 * any profile that was not.
 */
static bool can_judge(const struct profile *before, const struct design *all, const struct design_row *last)
{
        for (size_t c = 0; c < all->n_changes; c++)
                if (all->changes[c].app == SIZE_MAX &&
                    (last->stretch < all->changes[c].stretch || all->changes[c].n_after < CHANGE_STRETCHES ||
                     last->everyday->end_ns <= until_ns(before)))
                        return false;
        return true;
}

/* Adds to ret->better how much likelier a fold's stretches are by the profile learnt from the others (logarithm). */
static int judge_fold(const struct profile *before, const struct profile *learnt, const struct design *all,
                      size_t first, size_t fold, struct learning *ret)
{
        for (size_t i = 0, length; i < all->n; i += length) {
                size_t stretch = all->rows[i].stretch;
                struct judged old, new;
                int err;

                length = spread_stretch(all, i);
                if (!is_left_out(all, stretch, first, fold) || !can_judge(before, all, &all->rows[i + length - 1]))
                        continue;
                err = judge_stretch(before, all, i, length, &old);
                if (!err)
                        err = judge_stretch(learnt, all, i, length, &new);
                if (err)
                        return err;
                if (!judge_is_known(&old) || !judge_is_known(&new))
                        continue;
                ret->better = (ret->n_held_out > 0 ? ret->better : 0) + judge_likelihood(&new) - judge_likelihood(&old);
                ret->n_held_out++;
        }
        return 0;
}

/*
 * Decides whether the learnt profile is worse than the profile in use. The newest stretches are held out; if a
 * component changed, every other one in turn, so that the profile learnt from the rest knows the newest days, too: days
 * before a change of the device say nothing about those after it.
 */
static int hold_out(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                    const struct design *all, struct learning *ret)
{
        size_t held = (size_t)ceil(HELD_OUT * (double)all->n_stretches), first = all->n_stretches - held;
        _cleanup_free_ struct everyday *rest = calloc(n, sizeof(*rest));

        ret->taken = true;
        ret->better = NAN;
        if (!rest)
                return -ENOMEM;
        for (size_t fold = 0; fold < MIN(held, count_folds(all)) && all->n_stretches >= STRETCHES_MIN; fold++) {
                _cleanup_(profile_freep) struct profile *learnt = NULL;
                size_t n_rest = leave_out(all, list, n, first, fold, rest);
                struct known_changes known = changes_left(all, first, fold);
                struct design design;
                int err = fit_profile(before, prior, rest, n_rest, &known, &design, &learnt);

                if (err)
                        return err;
                design_clear(&design);
                err = judge_fold(before, learnt, all, first, fold, ret);
                if (err)
                        return err;
        }
        ret->taken = !(ret->better < -CLEARLY_WORSE);
        return 0;
}

/* Was the component, or the whole profile, measured by joulecast-fit after this time? */
static bool measured_since(const struct profile *profile, enum component component, int64_t time_ns)
{
        char key[48];

        snprintf(key, sizeof(key), "x-measured_%s", component_names[component]);
        return time_of(profile_extra(profile, "profile", key)) > time_ns || time_of(profile->created) > time_ns;
}

/*
 * Converts the energy before the change, relative to now, to the change since then. False: too little is known: the
 * interval has no end, or includes no change.
 */
static bool find_interval(const struct design_change *change, struct learn_change *ret)
{
        size_t fewer = MIN(change->n_before, change->n_after);
        double before = 1 + change->before, half;

        if (!(change->lead >= CHANGE_LEAD) || fewer < CHANGE_STRETCHES)
                return false;
        half = quantile_student_t((double)(fewer - 1), 0.95) * change->before_se;
        if (fabs(change->before) < half + CHANGE_LEAST || before - half < CHANGE_LEAST)
                return false;
        ret->percent = 100 * (1 / before - 1);
        ret->percent_se = 100 * change->before_se / (before * before);
        ret->low = 100 * (1 / (before + half) - 1);
        ret->high = 100 * (1 / (before - half) - 1);
        return true;
}

/*
 * A change has one cause. A second one at about the same time is rather the part that the first does not explain.
 */
static bool is_single(const struct design *design, size_t number)
{
        const struct design_change *change = &design->changes[number];

        for (size_t c = 0; c < number; c++)
                if (MAX(design->changes[c].stretch, change->stretch) -
                            MIN(design->changes[c].stretch, change->stretch) <
                    CHANGE_STRETCHES)
                        return false;
        return change->app != SIZE_MAX || change->part != DESIGN_ALL;
}

static void tell_changes(const struct profile *before, const struct design *design, struct learning *ret)
{
        for (size_t c = 0; c < design->n_changes; c++) {
                const struct design_change *change = &design->changes[c];
                struct learn_change *told = &ret->changes[ret->n_changes];

                if (!is_single(design, c) || !find_interval(change, told))
                        continue;
                if (change->app != SIZE_MAX)
                        snprintf(told->app, sizeof(told->app), "%s", design->apps[change->app].id);
                told->component = change->part == DESIGN_AIR ? COMPONENT_WIFI : change->part;
                told->measured_since =
                        change->app == SIZE_MAX && measured_since(before, told->component, change->time_ns);
                told->time_ns = change->time_ns;
                ret->n_changes++;
        }
}

int learn(const struct profile *before, const struct everyday *list, size_t n, struct store *store,
          struct learning *ret)
{
        _cleanup_(profile_freep) struct profile *prior = NULL;
        const struct known_changes none = { .unequal = NAN };
        struct learning learning = { 0 };
        struct design design;
        int err = profile_measured(before, &prior);

        if (!err)
                err = fit_profile(before, prior, list, n, &none, &design, &learning.profile);
        if (err)
                return err;
        learning.n_spans = design.n;
        learning.n_stretches = design.n_stretches;
        learning.days = (double)(design.rows[design.n - 1].everyday->end_ns - design.rows[0].everyday->start_ns) /
                        (86400.0 * NS_PER_S);
        err = hold_out(before, prior, list, n, &design, &learning);
        if (!err)
                err = score(before, &design, store, until_ns(before), &learning);
        tell_changes(before, &design, &learning);
        design_clear(&design);
        if (err)
                learn_clear(&learning);
        else
                *ret = learning;
        return err;
}
