/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * x-gauge of [profile]: the gauge as the step test found it and the fit corrected it, in words for
 * `joulecast doctor`.
 */

#include <math.h>
#include <string.h>

#include "outcome.h"

/* Time constant of an exponential mean that lags by @lag updates of @period_s. */
static double time_constant(double lag, double period_s)
{
        return lag > 0 ? period_s / log1p(1 / lag) : 0;
}

static void describe(const struct observation *observation, double lag, char *text, size_t size)
{
        const char *kind = observation->gauge_kind;
        double period_s = observation->refresh_s;

        if (strcmp(kind, "exponential") == 0)
                snprintf(text, size, "exponential mean of %.3g s, each %.3g s", time_constant(lag, period_s),
                         period_s);
        else if (strcmp(kind, "mean") == 0)
                snprintf(text, size, "mean of %.3g s, each %.3g s", observation->gauge_kernel_s, period_s);
        else if (strcmp(kind, "instant") == 0)
                snprintf(text, size, "one instant, each %.3g s", period_s);
        else if (strcmp(kind, "plain") == 0)
                snprintf(text, size, "mean since the last update, each %.3g s", period_s);
}

int outcome_gauge(struct outcome *outcome, const struct rows *rows)
{
        char text[80] = "", scatter[32];

        for (size_t i = 0; i < rows->n && !text[0]; i++)
                if (!rows->list[i].charge && rows->list[i].observation->refresh_s > 0)
                        describe(rows->list[i].observation, rows->lag, text, sizeof(text));
        if (rows->scatter > 0) {
                int err;

                snprintf(text, sizeof(text), "percents that differ by %.0f %%", 100 * rows->scatter);
                snprintf(scatter, sizeof(scatter), "%.3g", 100 * rows->scatter);
                err = profile_set_extra(outcome->profile, "profile", "x-percent_scatter", scatter);
                if (err)
                        return err;
        }
        return text[0] ? profile_set_extra(outcome->profile, "profile", "x-gauge", text) : 0;
}
