/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The learnt part of a profile (from everyday use), and the profile without it. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile-keys.h"
#include "util/util.h"

int profile_copy(const struct profile *profile, struct profile **ret)
{
        _cleanup_free_ char *text = NULL;
        int err = profile_print(profile, &text);

        return err ? err : profile_parse(text, strlen(text), "profile", NULL, ret);
}

/* Copies the coefficients and covariance of @from, without terms of apps, to @to. */
static int take_coefficients(struct profile *to, const struct profile *from)
{
        size_t n = 0;
        struct coefficient *list;
        int err;

        while (n < from->n_coefficients && from->coefficients[n].term < TERM_APP_CPU)
                n++;
        list = calloc(n + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        if (n > 0)
                memcpy(list, from->coefficients, n * sizeof(*list));
        err = profile_set_coefficients(to, list, n);
        if (err) {
                free(list);
                return err;
        }
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++)
                        profile_set_covariance(to, i, j, profile_covariance(from, i, j));
        return 0;
}

void profile_forget_apps(struct profile *profile)
{
        size_t n = 0;

        profile->n_apps = 0;
        for (size_t i = 0; i < profile->n_extras; i++) {
                struct profile_extra *extra = &profile->extras[i];

                if (strncmp(extra->section, "app ", 4) != 0) {
                        profile->extras[n++] = *extra;
                        continue;
                }
                free(extra->section);
                free(extra->key);
                free(extra->value);
        }
        profile->n_extras = n;
}

static void forget(struct profile *profile)
{
        profile_forget_apps(profile);
        for (size_t i = 0; i < n_number_keys; i++)
                if (strcmp(number_keys[i].section, "learned") == 0)
                        memcpy((char *)profile + number_keys[i].offset, &(double){ NAN }, sizeof(double));
        *profile->learned.until = '\0';
}

int profile_measured(const struct profile *profile, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *measured = NULL;
        const struct profile *from = profile->measured ? profile->measured : profile;
        int err = profile_copy(profile, &measured);

        if (!err)
                err = take_coefficients(measured, from);
        if (err)
                return err;
        measured->energy_full_mwh = from->energy_full_mwh;
        measured->degrees_of_freedom = from->degrees_of_freedom;
        measured->scale_percent = from->scale_percent;
        measured->discrepancy_percent = from->discrepancy_percent;
        measured->misfit_percent = from->misfit_percent;
        forget(measured);
        profile_free(TAKE_PTR(measured->measured));
        *ret = TAKE_PTR(measured);
        return 0;
}

const char *const answer_kinds[ANSWER_COUNT] = {
        [ANSWER_COST] = "cost", [ANSWER_PREDICT] = "predict", [ANSWER_BUDGET] = "budget"
};

double profile_width(const struct profile *profile, enum answer_kind kind)
{
        double width = profile->learned.score[kind].width;

        return isnan(width) ? 1 : width;
}

double profile_joule_error(const struct profile *profile)
{
        bool own = !profile_extra(profile, "profile", "x-by") && util_is_word("percent ticks gauge", profile->method);
        bool cancels = own || profile->learned.spans > 0; /* everyday use is measured by this battery, too */

        return cancels && profile->scale_percent > 0 ? profile->scale_percent / 100 : 0;
}

double profile_shown_part(const struct profile *profile)
{
        double percent = profile->learned.charge_full_percent;

        return isnan(percent) ? 1 : 1 / (1 + percent / 100);
}
