/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * At the gate, before a flight of three hours and a call of ten minutes after it: how
 * long can I play?
 *
 *   cc how-long-can-i-run.c $(pkg-config --cflags --libs joulecast) -o how-long-can-i-run
 *   ./how-long-can-i-run PROFILE DATABASE APP CALLER
 *
 * An app passes NULL to joulecast_profile_load() and joulecast_usage_open(), for this machine's own.
 */

#include <joulecast.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Without a log handler the library is silent. */
static void print_log(void *data, enum joulecast_level level, const char *sentence)
{
        (void)data;
        (void)level;
        fprintf(stderr, "%s\n", sentence);
}

/*
 * Unknown is NaN. Only low is NaN if the profile lacks some of the coefficients; value is then an upper limit. Low and
 * high are NaN if the profile has no error estimates.
 */
static void print_budget(const struct joulecast_budget *budget)
{
        struct joulecast_value minutes = joulecast_budget_minutes(budget);
        double reserved = joulecast_budget_reserved_percent(budget);

        if (isnan(minutes.value))
                printf("how long %s can run is unknown", joulecast_budget_app(budget));
        else if (isnan(minutes.low))
                printf("%s can run for %s%.0f minutes; there is no lower bound", joulecast_budget_app(budget),
                       isnan(minutes.high) ? "" : "at most ", minutes.value);
        else
                printf("%s can run for at least %.0f minutes (19 times in 20), probably %.0f",
                       joulecast_budget_app(budget), minutes.low, minutes.value);
        if (!isnan(reserved))
                printf("; %.1f %% are set aside for later", reserved);
        printf(".\n");
}

static int answer(struct joulecast_context *context, char **argv)
{
        struct joulecast_profile *profile = NULL;
        struct joulecast_usage *usage = NULL;
        struct joulecast_plan *plan = NULL;
        struct joulecast_budget *budget = NULL;
        int err;

        err = joulecast_profile_load(context, argv[1], &profile);
        if (err == 0)
                err = joulecast_usage_open(context, argv[2], &usage);
        if (err == 0)
                err = joulecast_plan_new(argv[3], &plan);
        if (err == 0)
                err = joulecast_plan_standby(plan, 180);
        if (err == 0)
                err = joulecast_plan_reserve(plan, argv[4], 10);
        if (err == 0)
                err = joulecast_budget_new(profile, usage, plan, &budget);
        if (err == 0)
                print_budget(budget);
        joulecast_budget_free(budget);
        joulecast_plan_free(plan);
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        return err;
}

int main(int argc, char **argv)
{
        struct joulecast_context *context;
        int err;

        if (argc != 5) {
                fprintf(stderr, "Usage: how-long-can-i-run PROFILE DATABASE APP CALLER\n");
                return 2;
        }
        if (joulecast_context_new(&context) < 0)
                return 1;
        joulecast_context_set_log(context, print_log, NULL);
        err = answer(context, argv);
        if (err < 0)
                fprintf(stderr, "no answer: %s\n", strerror(-err));
        joulecast_context_free(context);
        return err < 0;
}
