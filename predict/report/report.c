/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast report`: a page of what was recorded, in one file that loads nothing. */

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "api/request.h"
#include "app/app.h"
#include "ask.h"
#include "commands.h"
#include "names.h"
#include "options.h"
#include "page/page.h"
#include "source/battery.h"
#include "util/html.h"
#include "util/paths.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

struct arguments {
        struct options options;
        struct moment from;
        int64_t to_ns;
        const char *output, *compare, *compare_app;
        bool markdown, open;
};

/* The data for a report; data_clear() frees it. */
struct data {
        struct ask ask;
        struct timeline *timeline;
        struct joulecast_cost *cost, *other;
        char apps[2][APP_ID_MAX];
        struct report report;
};

static void data_clear(struct data *data)
{
        timeline_free(data->timeline);
        joulecast_cost_free(data->cost);
        joulecast_cost_free(data->other);
        ask_close(&data->ask);
}

static int ask_timeline(const struct ask *ask, int64_t from_ns, int64_t to_ns, struct timeline **ret)
{
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        struct request request;
        int err;

        request_begin(&request, "timeline", ask->profile);
        request_time(&request, "from", from_ns);
        request_time(&request, "to", to_ns);
        err = request_ask(&request, ask->usage, &json);
        return err ? err : service_check(ask->usage, answer_timeline_from_json(json, ret));
}

static int find_timeline(const struct ask *ask, int64_t from_ns, int64_t to_ns, struct timeline **ret)
{
        return ask->usage->service ? ask_timeline(ask, from_ns, to_ns, ret) :
                                     timeline_make(ask->profile->profile, ask->usage->store, ask->usage->uid,
                                                   from_ns, to_ns, ret);
}

static void localise(const struct options *options, struct data *data)
{
        struct desktop_index *index = options->device ? NULL : desktop_index_of_user();

        names_localise(index, data->cost->cost);
        if (data->other)
                names_localise(index, data->other->cost);
        for (size_t i = 0; index && i < data->timeline->n_apps; i++) {
                struct timeline_app *app = &data->timeline->apps[i];

                if (strcmp(app->name, app->app) == 0)
                        app_name(index, app->app, app->name, sizeof(app->name));
        }
        desktop_index_free(index);
}

/* The design of this machine's battery, if it is one and shows it in the unit in which it shows the full charge. */
static void find_design(const struct data *data, const struct options *options, struct report *report)
{
        const struct store_charge *last =
                data->timeline->n_charges ? &data->timeline->charges[data->timeline->n_charges - 1] : NULL;
        _cleanup_close_ int root_fd = data->ask.usage->live ? open(options->machine ? options->machine : "/",
                                                                   O_PATH | O_DIRECTORY | O_CLOEXEC) :
                                                              -1;
        _cleanup_free_ struct battery_unit *units = NULL;
        size_t n = 0;

        report->design = NAN;
        report->design_is_charge = last && isnan(last->energy_full_uwh);
        if (root_fd < 0 || battery_list(root_fd, &units, &n, NULL) < 0 || n == 0)
                return;
        report->design = 0;
        for (size_t i = 0; i < n; i++)
                report->design += (double)(report->design_is_charge ? units[i].charge_full_design_uah :
                                                                      units[i].energy_full_design_uwh);
        if (!(report->design > 0))
                report->design = NAN;
}

/* "FROM..TO", or "before": as long, right before the span of the report. CODE_OK, or an exit code after a sentence. */
static int find_other(const struct arguments *arguments, struct data *data)
{
        const struct cost *cost = data->cost->cost;
        int64_t from_ns = cost->from_ns - (cost->to_ns - cost->from_ns), to_ns = cost->from_ns;
        const char *dots = strstr(arguments->compare, "..");
        _cleanup_free_ char *first = NULL;
        int err;

        if (strcmp(arguments->compare, "before") != 0) {
                first = dots ? strndup(arguments->compare, (size_t)(dots - arguments->compare)) : NULL;
                if (!first || values_parse_time(first, values_now_ns(), &from_ns) < 0 ||
                    values_parse_time(dots + 2, values_now_ns(), &to_ns) < 0 || from_ns >= to_ns) {
                        log_error(&program_log, "--compare is \"before\", or two times such as 2026-11-01..2026-11-08");
                        return CODE_USAGE;
                }
        } else if (!arguments->from.word && arguments->from.ns == INT64_MIN) {
                log_error(&program_log, "--compare before needs --from or --since: without them the page "
                                        "begins with the first record");
                return CODE_USAGE;
        }
        err = joulecast_cost_new(data->ask.profile, data->ask.usage, from_ns, to_ns, &data->other);
        if (err == -ENODATA)
                log_error(&program_log, "nothing was recorded in the time to compare with");
        return !err ? CODE_OK : err == -ENODATA ? CODE_NO_DATA : ask_failed(err);
}

static int find_apps(const struct arguments *arguments, struct data *data)
{
        const char *comma = strchr(arguments->compare_app, ',');
        _cleanup_free_ char *first =
                comma ? strndup(arguments->compare_app, (size_t)(comma - arguments->compare_app)) : NULL;
        int code;

        if (!first || !*first || !comma[1]) {
                log_error(&program_log, "--compare-app takes two apps with a comma between them, such as "
                                        "firefox,chromium");
                return CODE_USAGE;
        }
        code = names_app_called(data->cost->cost, first, data->apps[0]);
        if (code == CODE_OK)
                code = names_app_called(data->cost->cost, comma + 1, data->apps[1]);
        data->report.apps[0] = data->apps[0];
        data->report.apps[1] = data->apps[1];
        return code;
}

/* "11000 %" tells nobody anything; 110 charges of the battery do. */
static void choose_share(struct report *report)
{
        bool charges = fmax(report->cost->total_j.value, report->cost->measured_j.value) > 150 * report->percent_j;

        report->share_j = report->percent_j * (charges ? 100 : 1);
        report->share_unit = charges ? _("charges") : "%";
}

static int find_data(struct arguments *arguments, struct data *data)
{
        int code = ask_open(&arguments->options, &data->ask), err;

        if (code == CODE_OK)
                code = ask_moment(data->ask.usage, &arguments->from);
        if (code != CODE_OK)
                return code;
        err = find_timeline(&data->ask, arguments->from.ns, arguments->to_ns, &data->timeline);
        if (!err && !arguments->options.json)
                err = joulecast_cost_new(data->ask.profile, data->ask.usage, arguments->from.ns,
                                         arguments->to_ns, &data->cost);
        if (err == -ENODATA) {
                log_error(&program_log, "nothing was recorded in that time; joulecast apps says what was recorded");
                return CODE_NO_DATA;
        }
        if (err)
                return ask_failed(err);
        if (arguments->options.json)
                return CODE_OK;
        if (arguments->compare)
                code = find_other(arguments, data);
        localise(&arguments->options, data);
        if (code == CODE_OK && arguments->compare_app)
                code = find_apps(arguments, data);
        data->report.profile = data->ask.profile->profile;
        data->report.timeline = data->timeline;
        data->report.cost = data->cost->cost;
        data->report.other = data->other ? data->other->cost : NULL;
        data->report.percent_j = J_PER_PERCENT(data->report.profile->energy_full_mwh);
        choose_share(&data->report);
        find_design(data, &arguments->options, &data->report);
        return code;
}

static void write_contents(FILE *file, const struct report *report)
{
        static const char *const links[][2] = {
                { "curve", N_("Battery and apps") }, { "apps", N_("Cost") },
                { "hours", N_("Hour by hour") },     { "compare", N_("Two periods") },
                { "compare-apps", N_("Two apps") },  { "sleeps", N_("Sleeps") },
                { "battery", N_("Battery health") }, { "calibration", N_("Calibration") },
                { "coverage", N_("Past answers") }
        };

        fprintf(file, "<nav aria-label=\"%s\"><ul>\n", _("Sections"));
        for (size_t i = 0; i < ARRAY_SIZE(links); i++)
                if ((i != 3 || report->other) && (i != 4 || report->apps[0]))
                        fprintf(file, "<li><a href=\"#%s\">%s</a></li>\n", links[i][0], _(links[i][1]));
        fputs("</ul></nav>\n", file);
}

static void write_page(FILE *file, const struct report *report)
{
        html_begin(file, _("joulecast report"), words_language(), report_css);
        fprintf(file, "<header>\n<h1>%s</h1>\n<p class=\"sub\">", _("What the battery was used for"));
        page_time(file, report->timeline->from_ns, false);
        fprintf(file, " %s ", _("to"));
        page_time(file, report->timeline->to_ns, false);
        if (*report->profile->device) {
                fputs(" \xc2\xb7 <bdi>", file);
                html_text(file, report->profile->device);
                fputs("</bdi>", file);
        }
        fputs("</p>\n", file);
        write_contents(file, report);
        fputs("</header>\n<main>\n", file);
        report_summary(file, report);
        report_curve(file, report);
        report_apps(file, report);
        report_hours(file, report);
        report_compare(file, report);
        report_compare_apps(file, report);
        report_sleeps(file, report);
        report_battery(file, report);
        report_calibration(file, report);
        report_coverage(file, report);
        fputs("</main>\n<footer>", file);
        fprintf(file, _("Made by joulecast %s. Percent is of the energy of a full battery. Intervals of "
                        "costs hold 19 times in 20. Times are local."), JOULECAST_VERSION);
        fputs("</footer>\n", file);
        html_end(file);
}

static int write_report(const struct arguments *arguments, const struct report *report)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;

        if (!file)
                return CODE_FAILED;
        (arguments->markdown ? report_markdown : write_page)(file, report);
        text = text_close(file, &kept);
        if (!text)
                return CODE_FAILED;
        return arguments->open ? page_open(text) : page_write(arguments->output, text);
}

/* A user who started it from a menu has no terminal: the browser shows that nothing is recorded, and what to do. */
static int open_empty(void)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;

        if (!file)
                return CODE_FAILED;
        html_begin(file, _("joulecast report"), words_language(), report_css);
        fprintf(file, "<header>\n<h1>%s</h1>\n</header>\n<main><p>", _("Nothing is recorded yet"));
        fprintf(file, _("This page shows what used the battery once joulecast has recorded it. Start the service with "
                        "<code>%s enable --now joulecastd</code>, or record as yourself with <code>"
                        "joulecast poll</code>."), paths_systemctl());
        fprintf(file, "</p></main>\n");
        html_end(file);
        text = text_close(file, &kept);
        return text ? page_open(text) : CODE_FAILED;
}

int report_main(int argc, char **argv)
{
        struct arguments arguments = { .from.ns = INT64_MIN, .to_ns = INT64_MAX };
        const struct option_row rows[] = {
                { "output", "FILE", N_("where to write the page; - for standard output"), .letter = 'o',
                  .text = &arguments.output },
                { "open", NULL, N_("show the page in a browser"), .flag = &arguments.open },
                { "markdown", NULL, N_("write tables in Markdown in place of the page"),
                  .flag = &arguments.markdown },
                OPTIONS_FROM(&arguments.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&arguments.to_ns) },
                { "compare", "SPAN", N_("compare with another time: before (of the same length, right before it), or "
                                        "FROM..TO"),
                  .text = &arguments.compare },
                { "compare-app", "A,B", N_("show two apps side by side, by id, name or a part of it"),
                  .text = &arguments.compare_app },
        };
        const struct option_table command = {
                .called = "joulecast report",
                .usage = "joulecast report -o FILE.html | --open [--from T | --since WHAT] [--to T]\n"
                         "                 [--compare SPAN] [--compare-app A,B]\n"
                         "joulecast report --markdown [-o FILE.md] ...\n"
                         "joulecast report --json [--from T | --since WHAT] [--to T]",
                .about = N_("A page of what was recorded: the battery and the apps over time, costs, hours, sleeps, "
                            "charges, battery health, the power model, and how often past answers were right. It is "
                            "one file, which loads nothing and runs no script. --markdown writes the same as "
                            "tables, for an issue or a wiki; without -o to standard output. --json prints the "
                            "numbers that the pictures are made of."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(data_clear) struct data data = { 0 };
        int code =
                options_parse(&command,
                              SHARED_DEVICE | SHARED_PROFILE | SHARED_DATABASE | SHARED_MACHINE | SHARED_JSON,
                              argc, argv, &arguments.options);
        if (code >= 0)
                return code;
        code = ask_check_span("report", &arguments.from, arguments.to_ns);
        if (code != CODE_OK)
                return code;
        if (arguments.options.json ? arguments.output || arguments.markdown :
                                     !arguments.output && !arguments.markdown && !arguments.open) {
                log_error(&program_log, "no output is named; give one of -o FILE.html, --open, --markdown and --json");
                return CODE_USAGE;
        }
        if (arguments.open && (arguments.output || arguments.markdown || arguments.options.json)) {
                log_error(&program_log, "--open has a file of its own; leave out -o, --markdown and --json");
                return CODE_USAGE;
        }
        code = find_data(&arguments, &data);
        if (code == CODE_NO_DATA && arguments.open && !isatty(STDERR_FILENO))
                return open_empty();
        if (code != CODE_OK)
                return code;
        return arguments.options.json ? answer_print_json(answer_json(timeline_fields, data.timeline, NULL)) :
                                        write_report(&arguments, &data.report);
}
