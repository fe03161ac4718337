/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints all that the report knows about one app. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "shared/name-hash.h"
#include "report-joint.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static int compare_rates(const void *a, const void *b)
{
        int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

        return x < y ? -1 : x > y;
}

static void set_points(int32_t *rates, size_t n, struct distribution *ret)
{
        ret->n = n;
        if (!n)
                return;
        qsort(rates, n, sizeof(*rates), compare_rates);
        for (int i = 0; i < SCORE_POINTS; i++)
                ret->rates[i] = rates[(n - 1) * (size_t)score_percent[i] / 100];
}

static int join_rates(const struct joint *joint, bool with, struct distribution *ret)
{
        _cleanup_free_ int32_t *rates = NULL;
        size_t n = 0;

        for (size_t i = 0; i < joint->n_parts; i++)
                n += with ? joint->parts[i].n_with : joint->parts[i].n_without;
        rates = malloc((n + 1) * sizeof(*rates));
        if (!rates)
                return -ENOMEM;
        n = 0;
        for (size_t i = 0; i < joint->n_parts; i++) {
                const struct joint_part *part = &joint->parts[i];
                size_t more = with ? part->n_with : part->n_without;

                if (more)
                        memcpy(rates + n, with ? part->with : part->without, more * sizeof(*rates));
                n += more;
        }
        set_points(rates, n, ret);
        return 0;
}

int report_distributions(const struct joint *joint, struct report *report)
{
        int err = join_rates(joint, true, &report->with);

        return err ? err : join_rates(joint, false, &report->without);
}

static void print_distribution(struct table *table, const char *name, const struct distribution *distribution)
{
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", name);
        table_cell(table, "%zu", distribution->n);
        for (int i = 0; i < SCORE_POINTS; i++)
                table_cell(table, distribution->n ? "%.2f" : "-", distribution->rates[i] * 3600e-7);
}

int report_print_versions(const struct report *report)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrr");
        const struct app_report *app = &report->apps[report->asked];
        size_t n = 0;

        table_heads(table, N_("App"), N_("Version"), N_("Devices"), N_("More"), N_("95 % bounds"), NULL);
        for (size_t i = 0; i < report->n_versions; i++) {
                const struct version_report *version = &report->versions[i];

                if (version->app != app->id)
                        continue;
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", app->name);
                table_cell(table, "%s", version->version);
                table_cell(table, "%.0f", version->clients);
                table_cell(table, "%.0f %%", 100 * version->effect);
                table_cell(table, "%.0f .. %.0f %%", 100 * version->effect_low, 100 * version->effect_high);
                n++;
        }
        if (!n) {
                table_text(TABLE_PLAIN, "No version of %s was told by %d devices that have samples with it and"
                                        " without it.",
                           app->name,
                           COMMUNITY_CLIENTS_MIN);
                return 0;
        }
        table_print(table);
        table_note("More: how much faster the battery empties with that version than without the app, on the same"
                   " devices.");
        return 0;
}

static void print_verdict(const struct app_report *app)
{
        char q[16];

        snprintf(q, sizeof(q), app->drop.q < 1e-4 ? "below 0.0001" : "%.4f", app->drop.q);
        if (app->hidden)
                table_text(TABLE_PLAIN, "It is always in use with another app that is called a hog: either may be it.");
        else if (app->drop.thin && app->drop.hours)
                table_text(TABLE_PLAIN, "Cannot tell: it is in use nearly only in hours in which the battery empties"
                                        " faster anyway.");
        else if (app->drop.thin)
                table_text(TABLE_PLAIN, "Cannot tell: it is in use nearly only where a feature of the device"
                                        " (brightness, network, ...) has another value than without it.");
        else if (!app->drop.enough)
                table_text(TABLE_PLAIN, "Not enough yet: it is compared once %d devices each have samples with it"
                                        " and without"
                           " it.",
                           COMMUNITY_CLIENTS_MIN);
        else if (app->drop.hog)
                table_text(TABLE_PLAIN, "A hog: it costs %.0f minutes of a full charge (%.0f .. %.0f).",
                           app->drop.minutes, app->drop.minutes_low,
                           app->drop.minutes_high);
        else if (app->hours_more > 0)
                table_text(TABLE_PLAIN, "Not enough yet: if it costs what it seems to, about %.0f more hours with it"
                                        " would tell.",
                           app->hours_more);
        else
                table_text(TABLE_PLAIN, "It does not cost so much more than its absence that it could not be chance.");
        if (app->drop.enough)
                table_text(TABLE_PLAIN, "The battery empties %.0f %% faster with it than without (at least %.0f %%,"
                                        " at 95 %%); q"
                           " is %s.",
                           100 * app->drop.effect, 100 * app->drop.effect_low, q);
}

int report_print_app(const struct report *report)
{
        const struct app_report *app = &report->apps[report->asked];
        _cleanup_(table_freep) struct table *table = table_new("lrrrrrr");

        table_text(TABLE_PLAIN, "%s: %.0f device%s, %.0f samples with it, %.0f hours.", app->name, app->clients,
                   app->clients == 1 ? "" : "s", app->rates, app->hours);
        print_verdict(app);
        puts("");
        table_heads(table, N_("% of full an hour"), N_("Samples"), "5 %", "25 %", "50 %", "75 %", "95 %", NULL);
        print_distribution(table, _("with it"), &report->with);
        print_distribution(table, _("without it"), &report->without);
        table_print(table);
        table_note("So many of 100 samples of the devices that have it show at most that rate.");
        report_print_hours(app);
        for (size_t i = 0; i < app->n_why; i++)
                report_print_why(app->name, &app->why[i]);
        if (report->n_versions) {
                puts("");
                return report_print_versions(report);
        }
        return 0;
}
