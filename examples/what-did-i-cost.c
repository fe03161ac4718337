/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An app asks about itself: what did I cost this battery, in front and in the background?
 *
 *   cc what-did-i-cost.c $(pkg-config --cflags --libs joulecast) -o what-did-i-cost
 *   ./what-did-i-cost PROFILE DATABASE [APP]
 *
 * Without APP it is this very process, under the id that the service has for it.
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

static void print_state(const struct joulecast_cost *cost, const char *app, enum joulecast_state state)
{
        struct joulecast_cost_app mine;

        if (joulecast_cost_find(cost, app, state, &mine) < 0) {
                printf("%s: never %s\n", app,
                       state == JOULECAST_FOREGROUND ? "in front" : "in the background");
                return;
        }
        printf("%s %s: ", app, state == JOULECAST_FOREGROUND ? "in front" : "in the background");
        if (isnan(mine.energy_j.value)) { /* the profile has no coefficient for anything that it used */
                printf("unknown, in %.0f s\n", mine.active_s);
                return;
        }
        printf("%.0f J in %.0f s, %.2f %% of the battery, %.4f %% a minute", mine.energy_j.value, mine.active_s,
               mine.percent.value, mine.percent_per_minute.value);
        if (isnan(mine.component_j[JOULECAST_DISPLAY]))
                printf(" (without the display, which is unknown)\n");
        else
                printf(" (%.0f J of it the display)\n", mine.component_j[JOULECAST_DISPLAY]);
}

static int answer(struct joulecast_context *context, const char *profile_path, const char *usage_path,
                  const char *app)
{
        struct joulecast_profile *profile = NULL;
        struct joulecast_usage *usage = NULL;
        struct joulecast_cost *cost = NULL;
        int err;

        err = joulecast_profile_load(context, profile_path, &profile);
        if (err == 0)
                err = joulecast_usage_open(context, usage_path, &usage);
        if (err == 0)
                err = joulecast_cost_new(profile, usage, JOULECAST_BEGIN, JOULECAST_END, &cost);
        if (err == 0) {
                print_state(cost, app, JOULECAST_FOREGROUND);
                print_state(cost, app, JOULECAST_BACKGROUND);
        }
        joulecast_cost_free(cost);
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        return err;
}

int main(int argc, char **argv)
{
        struct joulecast_context *context;
        char app[JOULECAST_APP_MAX];
        int err;

        if (argc < 3 || argc > 4) {
                fprintf(stderr, "Usage: what-did-i-cost PROFILE DATABASE [APP]\n");
                return 2;
        }
        if (joulecast_context_new(&context) < 0)
                return 1;
        joulecast_context_set_log(context, print_log, NULL);
        err = joulecast_app_of_pid(0, app, sizeof(app)); /* 0: this very process */
        if (err == 0)
                err = answer(context, argv[1], argv[2], argc == 4 ? argv[3] : app);
        if (err < 0)
                fprintf(stderr, "no answer: %s\n", strerror(-err));
        joulecast_context_free(context);
        return err < 0;
}
