/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Prints the energy that each app used. Apps, base and unattributed energy add up to what the battery gave.
 *
 *   cc list-costs.c $(pkg-config --cflags --libs joulecast) -o list-costs
 *   ./list-costs PROFILE [DATABASE]
 *
 * Without a DATABASE it reads this machine's, or asks the service if you may not read that.
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

/* Unknown energy is NaN, and is not part of any sum. */
static double known(double energy_j)
{
        return isnan(energy_j) ? 0 : energy_j;
}

static void print_row(const char *name, const char *state, double energy_j)
{
        if (isnan(energy_j))
                printf("%-24s %-10s %8s\n", name, state, "unknown");
        else
                printf("%-24s %-10s %8.1f J\n", name, state, energy_j);
}

static void print_costs(const struct joulecast_cost *cost)
{
        struct joulecast_cost_app app;
        double unexplained_j = joulecast_cost_unexplained_j(cost);
        double sum_j = known(joulecast_cost_base_j(cost)) + unexplained_j;
        const char *missing;
        size_t i;

        for (i = 0; joulecast_cost_app(cost, i, &app) == 0; i++) {
                print_row(app.name, app.state == JOULECAST_FOREGROUND ? "foreground" : "background",
                          app.energy_j.value);
                sum_j += known(app.energy_j.value);
        }
        print_row("base", "", joulecast_cost_base_j(cost));
        if (!isnan(unexplained_j)) {
                print_row("unattributed", "", unexplained_j);
                printf("%-24s %-10s %8.1f J (the sum is %.1f J)\n", "battery", "",
                       joulecast_cost_measured_j(cost), sum_j);
        }
        for (i = 0; (missing = joulecast_cost_not_measured(cost, i)) != NULL; i++)
                printf("not measured: %s\n", missing);
}

int main(int argc, char **argv)
{
        struct joulecast_context *context;
        struct joulecast_profile *profile = NULL;
        struct joulecast_usage *usage = NULL;
        struct joulecast_cost *cost = NULL;
        int err;

        if (argc < 2 || argc > 3) {
                fprintf(stderr, "Usage: list-costs PROFILE [DATABASE]\n");
                return 2;
        }
        if (joulecast_context_new(&context) < 0)
                return 1;
        joulecast_context_set_log(context, print_log, NULL);
        err = joulecast_profile_load(context, argv[1], &profile);
        if (err == 0)
                err = joulecast_usage_open(context, argv[2], &usage);
        if (err == 0)
                err = joulecast_cost_new(profile, usage, JOULECAST_BEGIN, JOULECAST_END, &cost);
        if (err == 0)
                print_costs(cost);
        else
                fprintf(stderr, "no answer: %s\n", strerror(-err));
        joulecast_cost_free(cost);
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        joulecast_context_free(context);
        return err < 0;
}
