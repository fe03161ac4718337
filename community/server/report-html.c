/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a report as one page for an administrator: a file that loads nothing else. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "report.h"
#include "util/html.h"
#include "util/util.h"

#define HOURS(rate) (1e9 / (rate) / 3600)
#define BAR_WIDTH 180.0

extern const char community_css[]; /* community-pages.c */

static void section(FILE *file, const char *title, const char *caption, const char *const *heads)
{
        fprintf(file, "<h2>%s</h2>\n<div"
                " class=\"wide\" role=\"region\" tabindex=\"0\""
                " aria-label=\"%s\">\n<table>\n<caption>%s</caption>\n<thead><tr>", title, title, caption);
        for (size_t i = 0; heads[i]; i++)
                fprintf(file, "<th scope=\"col\"%s>%s</th>", *heads[i] == '<' ? " class=\"text\"" : "",
                        heads[i] + (*heads[i] == '<'));
        fputs("</tr></thead>\n<tbody>\n", file);
}

static void section_end(FILE *file)
{
        fputs("</tbody>\n</table>\n</div>\n", file);
}

static void write_name(FILE *file, const char *name)
{
        fputs("<bdi>", file);
        html_text(file, name);
        fputs("</bdi>", file);
}

/* Draws the minutes as a bar and their bounds as a line; all bars have one scale. */
static void write_bar(FILE *file, const struct drop *drop, double most)
{
        double unit = BAR_WIDTH / most, value = MAX(drop->minutes, 0) * unit, low = MAX(drop->minutes_low, 0) * unit,
               high = MIN(drop->minutes_high * unit, BAR_WIDTH);

        fprintf(file, "<td class=\"text\"><svg width=\"%.0f\" height=\"18\" viewBox=\"0 0 %.0f 18\""
                      " preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%.0f to "
                      "%.0f minutes\">"
                      "<rect x=\"0\" y=\"4\" width=\"%.1f\" height=\"10\" class=\"c1\"/>"
                      "<path d=\"M%.1f 9H%.1fM%.1f 4v10M%.1f"
                      " 4v10\" class=\"mark\"/></svg></td>",
                BAR_WIDTH + 2, BAR_WIDTH + 2, drop->minutes_low, drop->minutes_high, value, low, high, low + 1, high);
}

static void write_reasons(FILE *file, const struct app_report *app)
{
        for (size_t i = 0; i < app->n_why; i++) {
                const struct why_report *why = &app->why[i];

                fputs("<li>", file);
                html_text(file, why->feature);
                fputs(" ", file);
                html_text(file, why->is);
                for (size_t j = 0; j < why->n_within; j++) {
                        fputs(j ? " and " : ", where ", file);
                        html_text(file, why->within[j]);
                }
                fprintf(file, ": %.0f minutes there, %.0f elsewhere (%.0f devices)%s</li>\n", why->minutes_there,
                        why->minutes_else, why->clients,
                        why->actionable ? "" : "; nobody can change it");
        }
        for (size_t i = 0; i < app->n_parts && i < 3; i++)
                fprintf(file, "<li>%.0f %% of its own energy is <span class=\"key part %s\"></span>%s</li>\n",
                        100 * app->parts[i].share,
                        component_names[app->parts[i].part], component_names[app->parts[i].part]);
        if (app->drop.hours)
                fputs("<li>in use mostly in hours in which the battery empties faster anyway: that is taken away</li>"
                      "\n", file);
        for (size_t i = 0; i < app->n_together; i++) {
                fputs("<li>always in use with ", file);
                write_name(file, app->together[i]);
                fputs(": either may be the hog</li>\n", file);
        }
}

/* Sorts by minutes times devices, so that the app with the largest effect over all devices is first. */
static int compare_gain(const void *a, const void *b, void *data)
{
        const struct app_report *apps = data, *x = &apps[*(const size_t *)a], *y = &apps[*(const size_t *)b];
        double gain_x = x->drop.minutes * x->clients, gain_y = y->drop.minutes * y->clients;

        return gain_x > gain_y ? -1 : gain_x < gain_y ? 1 : *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

static int write_hogs(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "App", "Minutes", "<95 % bounds", "<", "Devices", "q", NULL };
        _cleanup_free_ size_t *order = calloc(report->n_hogs + 1, sizeof(*order));
        double most = 1;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < report->n_hogs; i++) {
                order[i] = report->hogs[i];
                most = MAX(most, report->apps[order[i]].drop.minutes_high);
        }
        if (report->n_hogs)
                qsort_r(order, report->n_hogs, sizeof(*order), compare_gain, report->apps);
        section(file, "Hogs", "Minutes of a full charge that an app costs while it is in use, on the devices that"
                              " have it. What"
                " would help all "
                              "devices together most is first.", heads);
        for (size_t i = 0; i < report->n_hogs; i++) {
                const struct app_report *app = &report->apps[order[i]];

                fputs("<tr><td>", file);
                write_name(file, app->name);
                fputs("<ul class=\"sub\">", file);
                write_reasons(file, app);
                fprintf(file, "</ul></td><td>%.0f</td><td class=\"text\">%.0f to %.0f</td>", app->drop.minutes,
                        app->drop.minutes_low,
                        app->drop.minutes_high);
                write_bar(file, &app->drop, most);
                fprintf(file, app->drop.q < 1e-4 ? "<td>%.0f</td><td>&lt;0.0001</td></tr>\n" :
                        "<td>%.0f</td><td>%.4f</td></tr>\n", app->clients,
                        app->drop.q);
        }
        section_end(file);
        if (!report->n_hogs)
                fputs("<p>No app costs so much more than its absence that it could not be chance.</p>\n", file);
        return 0;
}

static void write_versions(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "App", "<Version", "Devices", "More than without", "95 % bounds", NULL };

        if (!report->n_versions)
                return;
        section(file, "Versions", "How much faster the battery empties with the app, by its version.", heads);
        for (size_t i = 0; i < report->n_versions; i++) {
                const struct version_report *version = &report->versions[i];

                fputs("<tr><td>", file);
                write_name(file, report_app(report, version->app)->name);
                fputs("</td><td class=\"text\">", file);
                html_text(file, version->version);
                fprintf(file, "</td><td>%.0f</td><td>%.0f %%</td><td>%.0f to %.0f %%</td></tr>\n", version->clients,
                        100 * version->effect,
                        100 * version->effect_low, 100 * version->effect_high);
        }
        section_end(file);
}

static void write_bugs(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "App", "<Device", "Here", "Elsewhere", "Devices",
                                             "<Most of the difference", NULL };

        if (!report->n_bugs)
                return;
        section(file, "Bugs", "Apps that take much more on one device than on others, by the devices' own models."
                              " Restart or"
                " update them there; "
                              "show each only to its owner.", heads);
        for (size_t i = 0; i < report->n_bugs; i++) {
                const struct bug_report *bug = &report->bugs[i];

                fputs("<tr><td>", file);
                write_name(file, bug->app_name);
                fprintf(file, "</td><td class=\"text\">%.8s</td><td>%.2f&nbsp;W</td><td>%.2f&nbsp;W</td><td>%zu</td><td"
                        " class=\"text\">", bug->client_hex,
                        bug->watts, bug->others_watts, bug->clients);
                if (bug->n_parts)
                        fprintf(file, "<span class=\"key part %s\"></span>%s (%.0f %%)",
                                component_names[bug->parts[0].part],
                                component_names[bug->parts[0].part], 100 * bug->parts[0].share);
                fputs("</td></tr>\n", file);
        }
        section_end(file);
}

static int write_not_yet(FILE *file, const struct report *report)
{
        _cleanup_free_ size_t *order = NULL;
        size_t n = report_not_yet(report, &order);

        if (!order)
                return -ENOMEM;
        if (!n)
                return 0;
        fputs("<h2>Not enough yet</h2>\n<p>These seem to cost, and it can still be chance:</p>\n<ul>\n", file);
        for (size_t i = 0; i < n; i++) {
                fputs("<li>", file);
                write_name(file, report->apps[order[i]].name);
                fprintf(file, ": about %.0f more hours with it</li>\n", report->apps[order[i]].hours_more);
        }
        fputs("</ul>\n", file);
        return 0;
}

static void write_score(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "Longer than", "Hours of use from a full charge", NULL };

        if (report->score.clients < COMMUNITY_CLIENTS_MIN)
                return;
        section(file, "How long batteries last", "Of devices with at least ten samples.", heads);
        for (int i = 0; i < SCORE_POINTS; i++)
                fprintf(file, "<tr><td>%d of 100 devices</td><td>%.1f</td></tr>\n", score_percent[i],
                        HOURS(report->score.rates[i]));
        section_end(file);
}

static int write_asleep(FILE *file, const struct report *report)
{
        struct asleep_like like;

        if (report_asleep_like(report, 0, &like) < 0)
                return -ENOMEM;
        if (!isnan(like.value))
                fprintf(file, "<p>While suspended, %zu devices lose %.2g&nbsp;%% of a full charge an hour (median;"
                              " 95&nbsp;%% bounds %.2g to %.2g).</p>\n", like.clients, PERCENT_AN_HOUR(like.value),
                        PERCENT_AN_HOUR(like.low), PERCENT_AN_HOUR(like.high));
        return 0;
}

static void write_left_out(FILE *file, const struct report *report)
{
        fprintf(file, "<h2>Left out</h2>\n<p class=\"sub\">%" PRId64 " samples that overlap others of their device,"
                " %" PRId64 " beyond 200 a day, %" PRId64
                      " faster than a battery empties; %" PRId64 " devices that empty more than ten times as fast as"
                                                                 " half of the"
                      " others, %" PRId64
                      " in quarantine. By the rule of the Carat paper, %zu more apps would be hogs; it takes all"
                      " samples of a device for "
                      "independent, and most of those are none.</p>\n",
                report->overlapping, report->too_many, report->fast, report->extreme, report->quarantined,
                report->paper_only);
}

static int write_page(FILE *file, const struct report *report)
{
        int err;

        html_begin(file, "What batteries of all devices say", "en", community_css);
        fprintf(file,
                "<main>\n<h1>What the batteries of all devices say together</h1>\n<p class=\"big\">%" PRId64 " devices,"
                " %" PRId64
                      " samples; %zu apps, of which %zu ran on enough devices to be compared.</p>\n", report->clients,
                      report->samples,
                report->n_apps, report->tested);
        err = write_hogs(file, report);
        if (err < 0)
                return err;
        write_versions(file, report);
        write_bugs(file, report);
        err = write_not_yet(file, report);
        write_score(file, report);
        if (!err)
                err = write_asleep(file, report);
        write_left_out(file, report);
        fputs("</main>\n", file);
        html_end(file);
        return err;
}

int report_write_html(const struct report *report, const char *path, const struct log *log)
{
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        int err = file ? write_page(file, report) : -ENOMEM;

        if (file && fclose(file) != 0)
                err = -ENOMEM;
        if (!err)
                err = util_write_file(path, text, size, 0644);
        if (err < 0)
                log_error(log, "%s: cannot be written: %s", path, util_reason(err));
        return err;
}
