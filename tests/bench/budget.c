/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * budget PROFILE DATABASE APP CALLER: what an app that asks for its budget waits for, by the public API. The
 * first answer reads the history; the next ones are what a game would ask between two levels.
 */

#include <joulecast.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ANSWERS 201

static double now_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
        double one = *(const double *)a, other = *(const double *)b;

        return one < other ? -1 : one > other;
}

static int ask(const struct joulecast_profile *profile, struct joulecast_usage *usage,
               const struct joulecast_plan *plan, double *minutes)
{
        struct joulecast_budget *budget = NULL;
        int err = joulecast_budget_new(profile, usage, plan, &budget);

        if (err == 0)
                *minutes = joulecast_budget_minutes(budget).low;
        joulecast_budget_free(budget);
        return err;
}

static int measure(struct joulecast_context *context, char **argv)
{
        struct joulecast_profile *profile = NULL;
        struct joulecast_usage *usage = NULL;
        struct joulecast_plan *plan = NULL;
        double took_ms[ANSWERS], minutes = 0;
        int err = joulecast_profile_load(context, argv[1], &profile);

        if (err == 0)
                err = joulecast_plan_new(argv[3], &plan);
        if (err == 0)
                err = joulecast_plan_reserve(plan, argv[4], 10);
        if (err == 0)
                err = joulecast_plan_standby(plan, 180);
        if (err == 0)
                err = joulecast_plan_battery(plan, 20);
        took_ms[0] = now_ms();
        if (err == 0)
                err = joulecast_usage_open(context, argv[2], &usage);
        if (err == 0)
                err = ask(profile, usage, plan, &minutes);
        printf("first budget, with opening and reading the history   %9.3f ms\n", now_ms() - took_ms[0]);
        for (int i = 0; err == 0 && i < ANSWERS; i++) {
                double began = now_ms();

                err = ask(profile, usage, plan, &minutes);
                took_ms[i] = now_ms() - began;
        }
        qsort(took_ms, ANSWERS, sizeof(took_ms[0]), compare);
        if (err == 0)
                printf("a budget through the API (median of %d)             %9.3f ms   goal 1 ms   %s\n",
                       ANSWERS, took_ms[ANSWERS / 2], took_ms[ANSWERS / 2] < 1 ? "met" : "MISSED");
        joulecast_plan_free(plan);
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        return err;
}

int main(int argc, char **argv)
{
        struct joulecast_context *context = NULL;
        int err;

        if (argc != 5 || joulecast_context_new(&context) < 0)
                return 2;
        err = measure(context, argv);
        joulecast_context_free(context);
        if (err < 0)
                fprintf(stderr, "budget: error %d\n", -err);
        return err < 0;
}
