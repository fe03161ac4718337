/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whatif-private.h"

#include <errno.h>
#include <math.h>

#include "util/util.h"

void whatif_end_clear(struct end *end)
{
        future_sum_clear(&end->sum);
}

/* Sums all usage of the next @seconds, with the changes if @changed. */
static int sum_until(const struct question *question, bool changed, double seconds, struct end *ret)
{
        const struct future *future = &question->whatif->future;
        const struct saved *saved = &question->saved;
        double now_s, usual_s, kept_now_s = 0, kept_usual_s = 0;
        int err = 0;

        whatif_end_clear(ret);
        *ret = (struct end){ .seconds = seconds };
        mixed_seconds(&future->mixed, seconds, &now_s, &usual_s);
        if (changed) {
                mixed_seconds(&future->mixed, fmin(seconds, question->keep_s), &kept_now_s, &kept_usual_s);
                err = future_sum_rate(&ret->sum, &saved->now, kept_now_s);
                if (err == 0)
                        err = future_sum_rate(&ret->sum, &saved->usual, kept_usual_s);
        }
        if (err == 0)
                err = future_sum_rate(&ret->sum, &future->mixed.now, fmax(now_s - kept_now_s, 0));
        if (err == 0)
                err = future_sum_rate(&ret->sum, &future->mixed.usual, fmax(usual_s - kept_usual_s, 0));
        if (question->whatif->has_app && future->actors[0].foreground)
                ret->sum.own_j[0] = future->actors[0].own.power_w * seconds;
        for (size_t a = 0; a < question->changes->n_close && changed && !question->whatif->has_app; a++)
                ret->sum.own_j[a] = -(saved->apps[a].now_w * kept_now_s + saved->apps[a].usual_w * kept_usual_s);
        ret->sum.seconds = seconds;
        ret->kept_now_s = kept_now_s;
        ret->kept_usual_s = kept_usual_s;
        ret->now_s = now_s;
        return err;
}

/* The future, with the drain of this question's apps. */
static struct future future_of(const struct question *question)
{
        struct future future = question->whatif->future; /* a shallow copy: question->whatif owns all */

        future.drain = question->drain;
        return future;
}

int whatif_left_at(const struct question *question, bool changed, double seconds, struct end *end, double *left_j)
{
        const struct whatif *whatif = question->whatif;
        struct future future = future_of(question);
        int err = sum_until(question, changed, seconds, end);

        if (err == 0)
                *left_j = future_left_j(&future, &whatif->charge, whatif->available_j, &end->sum);
        return err;
}

int whatif_find_power(const struct question *question, bool changed, struct end *end)
{
        double at_s = end->seconds, step_s = fmax(at_s * 0.005, 30), from_s = fmax(at_s - step_s, 0);
        double to_s = at_s + step_s, before_j, after_j;
        int err = whatif_left_at(question, changed, to_s, end, &after_j);

        if (err == 0)
                err = whatif_left_at(question, changed, from_s, end, &before_j);
        if (err == 0)
                err = sum_until(question, changed, at_s, end);
        end->power_w = err ? NAN : (before_j - after_j) / (to_s - from_s);
        return err;
}

/* Finds the root by secants within a bracket. */
int whatif_find_end(const struct question *question, double low, double low_j, double high, struct end *end)
{
        const double most_s = 60 * MINUTES_MAX;
        double high_j, at = high, at_j;
        int err = whatif_left_at(question, true, high, end, &high_j), side = 0;

        while (err == 0 && high_j > 0 && high < most_s) {
                low = high;
                low_j = high_j;
                high = fmin(2 * high, most_s);
                err = whatif_left_at(question, true, high, end, &high_j);
        }
        if (err || high_j > 0)
                return err ? err : -ERANGE;
        for (int i = 0; i < 60 && high - low > 1e-6 * high; i++) {
                at = low + (high - low) * low_j / (low_j - high_j);
                if (!(at > low && at < high))
                        at = (low + high) / 2;
                err = whatif_left_at(question, true, at, end, &at_j);
                if (err || fabs(at_j) < 1e-6 * question->whatif->available_j)
                        break;
                if (at_j > 0) { /* the other end counts half if it stays twice (Illinois) */
                        high_j *= side > 0 ? 0.5 : 1;
                        low = at;
                        low_j = at_j;
                        side = 1;
                } else {
                        low_j *= side < 0 ? 0.5 : 1;
                        high = at;
                        high_j = at_j;
                        side = -1;
                }
        }
        return err;
}
