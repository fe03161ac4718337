/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "shared/name-hash.h"
#include "report.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

#define HOURS(rate) (1e9 / (rate) / 3600)
#define PLURAL(n) ((n) == 1 ? "" : "s")

void report_print_why(const char *app, const struct why_report *why)
{
        char within[300] = "";
        size_t length = 0;

        for (size_t i = 0; i < why->n_within && length < sizeof(within); i++)
                length += (size_t)snprintf(within + length, sizeof(within) - length, "%s %s", i ? " and" : ", where",
                                           why->within[i]);
        table_note("%s: %.0f minutes with %s %s%s, else %.0f (%.0f devices).", app, why->minutes_there, why->feature,
                   why->is, within,
                   why->minutes_else, why->clients);
}

void report_print_hours(const struct app_report *app)
{
        if (app->drop.enough && app->drop.hours)
                table_note("%s is in use mostly in hours in which the battery empties faster anyway: that is taken"
                           " away.", app->name);
}

int report_print_hogs(const struct report *report)
{
        _cleanup_(table_freep) struct table *table = table_new("nrrrrrr");

        if (!report->n_hogs) {
                if (report->tested == 0)
                        table_text(TABLE_PLAIN, "Not enough yet: an app is compared once %d devices each have"
                                                " samples with it and"
                                   " without it.", COMMUNITY_CLIENTS_MIN);
                else
                        table_text(TABLE_PLAIN, "No app costs so much more than its absence that it could not be"
                                                " chance.");
                return 0;
        }
        table_heads(table, N_("Hog"), N_("Minutes"), N_("95 % bounds"), N_("Devices"), N_("Held by"), N_("q"),
                    N_("Paper's rule"), NULL);
        for (size_t i = 0; i < report->n_hogs; i++) {
                const struct app_report *app = &report->apps[report->hogs[i]];

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", app->name);
                table_cell(table, "%.0f", app->drop.minutes);
                table_cell(table, "%.0f .. %.0f", app->drop.minutes_low, app->drop.minutes_high);
                table_cell(table, "%.0f", app->clients);
                table_cell(table, "%zu", app->drop.held_by);
                table_cell(table, app->drop.q < 1e-4 ? "<0.0001" : "%.4f", app->drop.q);
                table_cell(table, "%s", app->drop.paper_rule ? _("hog") : _("no"));
        }
        table_print(table);
        for (size_t i = 0; i < report->n_hogs; i++) {
                const struct app_report *app = &report->apps[report->hogs[i]];

                for (size_t j = 0; j < app->n_why; j++)
                        report_print_why(app->name, &app->why[j]);
                report_print_hours(app);
                if (app->drop.odd)
                        table_note("%s: %zu devices are unlike all others, and are left out.", app->name,
                                   app->drop.odd);
                for (size_t j = 0; j < app->n_together; j++)
                        table_note("%s is always in use with %s: either may be the hog.", app->together[j], app->name);
        }
        table_note("Minutes of a full charge that the app costs while it is in use, on the devices that have it, where"
                   " features of the device are equal, and the hours where they matter. Held by: so many devices would"
                   " have to be wrong for it to be no"
                   " hog.");
        return 0;
}

static void note_screen(void)
{
        table_note("An app that keeps the screen on or bright for no reason is mostly not found: reading for long looks"
                   " the same.");
}

int report_print_bugs(const struct report *report)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrrl");

        if (!report->n_bugs) {
                table_text(TABLE_PLAIN, "No app takes much more on one device than on others.");
                note_screen();
                return 0;
        }
        table_heads(table, N_("Bug"), N_("Device"), N_("Here"), N_("Elsewhere"), N_("Devices"), N_("Mostly"), NULL);
        for (size_t i = 0; i < report->n_bugs; i++) {
                const struct bug_report *bug = &report->bugs[i];

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", bug->app_name);
                table_cell(table, "%.8s", bug->client_hex);
                table_cell(table, "%.2f W", bug->watts);
                table_cell(table, "%.2f W", bug->others_watts);
                table_cell(table, "%zu", bug->clients);
                if (bug->n_parts)
                        table_cell(table, "%s (%.0f %%)", _(component_names[bug->parts[0].part]),
                                   100 * bug->parts[0].share);
        }
        table_print(table);
        note_screen();
        return 0;
}

static void print_score(const struct report *report, const char *client)
{
        const struct score_report *score = &report->score;
        double rate, own;

        if (client && !report_score(report, name_hash_client(client), &rate, &own)) {
                table_text(TABLE_PLAIN, "That device has no J-score: it takes %d samples of it, and %d devices with"
                                        " so many.",
                           COMMUNITY_SCORE_RATES_MIN, COMMUNITY_CLIENTS_MIN);
                client = NULL;
        }
        if (score->clients < COMMUNITY_CLIENTS_MIN)
                return;
        puts("");
        table_text(TABLE_PLAIN, "A full charge in use lasts %.1f h on half of %zu devices; %.1f h or less on 5 of"
                                " 100, %.1f h or"
                   " more"
                   " on 5 of 100.", HOURS(score->rates[2]), score->clients, HOURS(score->rates[0]),
                   HOURS(score->rates[4]));
        if (client)
                table_text(TABLE_PLAIN, "That device: %.1f h, longer than %.0f of 100 like it (its J-score).",
                           HOURS(rate), own);
}

static int print_asleep(const struct report *report, const char *client)
{
        struct asleep_like like;

        if (report_asleep_like(report, client ? name_hash_client(client) : 0, &like) < 0)
                return -ENOMEM;
        if (client && !isnan(like.own))
                table_text(TABLE_PLAIN, "While suspended, that device loses %.2g %% an hour.",
                           PERCENT_AN_HOUR(like.own));
        if (!isnan(like.value))
                table_text(TABLE_PLAIN, "While suspended, %zu devices%s lose %.2g %% an hour (median; 95 %% bounds"
                                        " %.2g to"
                           " %.2g).", like.clients, like.same_model ? " of the same model" : "",
                           PERCENT_AN_HOUR(like.value), PERCENT_AN_HOUR(like.low), PERCENT_AN_HOUR(like.high));
        return 0;
}

static void print_left_out(const struct report *report)
{
        if (report->overlapping + report->too_many + report->fast > 0)
                table_note("Left out: %" PRId64 " samples that overlap others of their device, %" PRId64
                           " beyond 200 a day, %" PRId64
                           " that are faster than a battery empties.", report->overlapping, report->too_many,
                           report->fast);
        if (report->extreme > 0)
                table_note("Left out: %" PRId64 " devices that empty more than ten times as fast as half of the"
                                                " others.",
                           report->extreme);
        if (report->quarantined > 0)
                table_note("Left out: %" PRId64 " devices in quarantine.", report->quarantined);
}

#define NOT_YET_SHOWN 5

static void print_not_yet(const struct report *report)
{
        _cleanup_free_ size_t *order = NULL;
        size_t n = report_not_yet(report, &order);

        for (size_t i = 0; i < MIN(n, (size_t)NOT_YET_SHOWN); i++)
                table_note("Not enough yet for %s: about %.0f more hours with it.", report->apps[order[i]].name,
                           report->apps[order[i]].hours_more);
}

static void print_thin(const struct report *report)
{
        _cleanup_free_ size_t *order = NULL;
        size_t n = report_thin(report, &order);

        for (size_t i = 0; i < MIN(n, (size_t)NOT_YET_SHOWN); i++)
                table_note("%s cannot be told from its circumstances: it is in use nearly only %s.",
                           report->apps[order[i]].name, report->apps[order[i]].drop.hours ?
                           "in heavy hours of the day" : "where a feature of the device differs");
}

int report_print_text(const struct report *report, const char *client)
{
        int err;

        table_text(TABLE_PLAIN, "%" PRId64 " device%s, %" PRId64 " sample%s, %zu app%s, of which %zu ran on enough"
                                                                 " devices to be"
                   " compared.",
                   report->clients, PLURAL(report->clients), report->samples, PLURAL(report->samples), report->n_apps,
                   PLURAL(report->n_apps), report->tested);
        puts("");
        (void)report_print_hogs(report);
        if (report->paper_only)
                table_note("By the rule of the Carat paper, %zu more would be hogs; it takes all rates of a device for"
                           " independent, and"
                           " most of those are none.", report->paper_only);
        print_not_yet(report);
        print_thin(report);
        if (report->n_bugs) {
                puts("");
                (void)report_print_bugs(report);
        }
        print_score(report, client);
        err = print_asleep(report, client);
        print_left_out(report);
        return err;
}
