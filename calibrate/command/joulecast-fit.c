/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * joulecast-fit: makes a profile from observations; with --follow, judges a calibration and chooses the next
 * mode.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_errno.h>

#include "fit/follow.h"
#include "fit/profile-writer.h"
#include "fit/refit.h"
#include "fit/trace-fit.h"
#include "learn-command.h"
#include "model/json-print.h"
#include "observation/daemons.h"
#include "sapp/sapp-fit.h"
#include "sapp/tables.h"
#include "trace-options.h"
#include "util/drop-root.h"
#include "util/options.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"

static const struct log program_log = { log_to_stderr, (void *)"joulecast-fit" };
static const struct log learn_log = { log_to_stderr, (void *)"joulecast" };

struct options {
        const char *device;
        const char *observations;
        const char *profile;
        const char *estimator; /* NULL: by the run */
        const char *name;
        const char *usage;
        const char *costs;
        const char *trace, *spans, *cache_event, *idle_states, *voltages;
        uint64_t run;          /* 0: the newest */
        double energy_full_mwh;
        bool follow;
        bool json;
};

static int wrong_usage(const char *sentence)
{
        log_error(&program_log, "%s; see joulecast fit --help", sentence);
        return CODE_USAGE;
}

/* -1: go on; else the exit code. */
static int parse_options(int argc, char **argv, struct options *options)
{
        const struct option_row rows[] = {
                { "observations", "FILE", "what joulecast-calibrate wrote", .usual = "this machine's",
                  .text = &options->observations },
                OPTION_DEVICE(&options->device),
                { "run", "N", "which calibration run of that file; without it the newest", .count = &options->run,
                  .low = 1 },
                { "estimator", "WHICH",
                  "regression: weighted, non-negative, with intervals; sapp: equations 1 to 4 "
                  "of the SApp paper",
                  .usual = "regression, or sapp for a run of --plan sapp", .text = &options->estimator,
                  .words = "regression sapp" },
                { "profile", "OUT", "write the profile to this file; without it, only show it",
                  .text = &options->profile },
                { "usage", "CSV", "with --costs: fit a usage table, as joulecast-fit(1) describes it",
                  .text = &options->usage },
                { "costs", "CSV", "with --usage: what that usage cost, in percent of the battery",
                  .text = &options->costs },
                { "trace", "FILE", "fit measured spans of use (CSV), as joulecast-fit(1) describes them",
                  .text = &options->trace },
                { "spans", "WHICH",
                  "with --trace: background activity lasts from one span into the next, or is new in each",
                  .usual = "consecutive", .text = &options->spans, .words = "consecutive independent" },
                { "cache-event", "NAME", "with --trace: the event that the trace's columns misses.P counted",
                  .text = &options->cache_event },
                { "idle-states", "WHICH",
                  "with --trace: what an idle core turns off while its clock is pinned: deep; shallow (WFI "
                  "alone)",
                  .usual = "unknown", .text = &options->idle_states, .words = "deep shallow unknown" },
                { "voltages", "FILE",
                  "with --trace: voltages of the operating points, a line kHz,uV for each",
                  .text = &options->voltages },
                { "energy-full-mwh", "N",
                  "energy of the full battery, for the tables, and for a trace without percent and charge",
                  .number = &options->energy_full_mwh, .low = 1, .high = 1e9, .unit = "mWh" },
                { "name", "DEVICE", "the name of the device that --usage and --costs are about",
                  .text = &options->name },
                { "follow", .help = "JSON lines on stdin and stdout, for joulecast-calibrate",
                  .flag = &options->follow },
                { "json", .help = "answer as one JSON object", .flag = &options->json },
        };
        const struct option_table table = {
                .program = "joulecast-fit",
                .called = "joulecast fit",
                .usage = "joulecast fit [--observations FILE] [--run N] [--profile OUT] [OPTION]...\n"
                         "joulecast fit --trace FILE --profile OUT [--energy-full-mwh N] [OPTION]\n"
                         "joulecast fit --usage CSV --costs CSV --energy-full-mwh N [--profile OUT]\n"
                         "joulecast-fit --follow",
                .about = "Computes a profile (the power model) from the observations that a calibration\n"
                         "recorded. joulecast calibrate does this itself; run it to fit old observations\n"
                         "again, or to fit what you measured by a meter or by power rails while the device\n"
                         "was used (--trace), or a table of your own (--usage with --costs).",
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .exits = "0 done; 1 it failed; 2 wrong usage; 3 no observations to fit",
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (options->follow &&
            (options->observations || options->usage || options->costs || options->profile))
                return wrong_usage("--follow takes no file");
        if (options->trace && (options->observations || options->usage || options->costs || options->follow ||
                               options->estimator))
                return wrong_usage("--trace goes with none of --observations, --usage, --costs, --estimator "
                                   "and --follow");
        if (options->trace && !options->profile)
                return wrong_usage("--trace needs --profile, where the profile is written");
        if (!options->trace && (options->spans || options->cache_event || options->idle_states || options->voltages))
                return wrong_usage("--spans, --cache-event, --idle-states and --voltages go with --trace");
        if (!options->usage != !options->costs || (options->usage && isnan(options->energy_full_mwh)))
                return wrong_usage("--usage, --costs and --energy-full-mwh go together");
        return -1;
}

/* Prints JSON on one line. */
static int answer(struct cJSON *json)
{
        _cleanup_free_ char *text = json_print(json, JSON_LINE);

        if (!text)
                return -ENOMEM;
        return puts(text) < 0 || fflush(stdout) < 0 ? -EIO : 0;
}

static int follow_lines(void)
{
        struct follow *follow;
        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        bool end = false;
        int err = follow_new(&follow);

        /* The first line names usage.db: root becomes its owner to read it, and else nobody. */
        while (!err && !end && getline(&line, &size, stdin) > 0) {
                err = answer(follow_answer(follow, line, &end));
                if (!err)
                        err = drop_root(NULL, 0);
        }
        follow_free(follow);
        return err ? CODE_FAILED : CODE_OK;
}

/* With --only the profile keeps its date, and the measured components get their own dates. */
static int set_created(const struct outcome *outcome)
{
        struct profile *profile = outcome->profile;
        char now_text[sizeof(profile->created)], key[48];
        int err = 0;

        utc_print((int64_t)time(NULL) * (int64_t)NS_PER_S, now_text, sizeof(now_text));
        if (!outcome->only)
                strcpy(profile->created, now_text);
        for (unsigned c = 0; !err && c < COMPONENT_COUNT; c++)
                if (outcome->only && (outcome->only | 1u << COMPONENT_BASE) & 1u << c) { /* the base always is */
                        snprintf(key, sizeof(key), "x-measured_%s", component_names[c]);
                        err = profile_set_extra(profile, "profile", key, now_text);
                }
        return err;
}

static void written_clear(struct written *written)
{
        free(written->path);
        free(written->kept);
}

static void say_written(const char *path, const struct written *written)
{
        if (written->worse[0])
                log_warning(&program_log,
                            "%s stays in use: the new profile %s; to take it nevertheless: joulecast profile use %s "
                            "--profile %s",
                            path, written->worse, written->path, path);
        else if (written->kept)
                log_info(&program_log, "the profile before is kept as %s; to go back to it: joulecast profile undo "
                         "--profile %s",
                         written->kept, path);
}

static int finish(const struct options *options, struct outcome *outcome, struct profile_writer *writer)
{
        _cleanup_(written_clear) struct written written = { 0 };
        int err = 0;

        if (options->profile && outcome->profile->n_coefficients == 0) {
                log_error(&program_log, "nothing was learnt: no coefficient can be told from the others "
                          "(observations: %zu); %s is not written", outcome->n_rows, options->profile);
                outcome_clear(outcome);
                return CODE_FAILED;
        }
        if (outcome->refused[0]) {
                if (!options->json)
                        outcome_print(outcome, NULL, stdout);
                log_error(&program_log, "%s", outcome->refused);
                outcome_clear(outcome);
                return CODE_FAILED;
        }
        if (options->profile) {
                err = profile_writer_put(writer, outcome->profile, &written);
                if (err)
                        log_error(&program_log, "%s: the profile cannot be written: %s", options->profile,
                                  own_folder_why(err));
                else if (!options->json)
                        say_written(options->profile, &written);
        }
        if (!err && options->json)
                err = answer(outcome_to_json(outcome, &written));
        else if (!err)
                outcome_print(outcome, written.path, stdout);
        if (!err || err == -EIO)
                err = log_flush_stdout(&program_log);
        outcome_clear(outcome);
        return err ? CODE_FAILED : CODE_OK;
}

static int fail(int err, const char *where, const char *error)
{
        log_error(&program_log, "%s: %s", where, error[0] ? error : strerror(-err));
        return err == -ENODATA || err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
}

/* All runs of a database, and the observations of the one that was asked for. */
struct measured {
        struct observation_run *runs;
        size_t n_runs;
        const struct observation_run *run; /* the chosen element of `runs` */
        struct observation *list;
        size_t n;
};

static void measured_clear(struct measured *measured)
{
        observations_free(measured->list, measured->n);
        observations_free_runs(measured->runs, measured->n_runs);
}

/* Runs as the user nobody if root started it. */
static int refit(const struct options *options, const struct measured *measured, const char *where)
{
        _cleanup_(profile_writer_end) struct profile_writer writer = { .fd = -1 };
        const char *estimator = options->estimator;
        struct outcome outcome;
        char error[256] = "";
        int err = profile_writer_start(options->profile, false, &writer);

        if (!err)
                err = drop_root(NULL, 0);
        if (!estimator)
                estimator = strcmp(measured->run->plan, "sapp") == 0 ? "sapp" : "regression";
        if (!err && strcmp(estimator, "sapp") == 0)
                err = sapp_fit(measured->run, measured->list, measured->n, &outcome, error, sizeof(error));
        else if (!err)
                err = refit_regression(measured->run, measured->list, measured->n, &outcome, error, sizeof(error));
        if (err)
                return fail(err, where, error);
        err = set_created(&outcome);
        if (err) {
                outcome_clear(&outcome);
                return fail(err, where, error);
        }
        return finish(options, &outcome, &writer);
}

static int read_observations(const struct options *options, const char *path, struct measured *measured)
{
        struct observations *database;
        int err = observations_open(path, false, &program_log, &database);

        if (err < 0)
                return err == -ENODATA ? CODE_NO_DATA : CODE_FAILED; /* logged */
        err = observations_runs(database, &measured->runs, &measured->n_runs);
        for (size_t i = 0; !err && i < measured->n_runs; i++)
                if (options->run == 0 || measured->runs[i].id == (int64_t)options->run)
                        measured->run = &measured->runs[i];
        if (!err && measured->run)
                err = observations_read(database, measured->run->id, &measured->list, &measured->n);
        observations_close(database);
        if (err)
                return fail(err, path, "");
        if (measured->run)
                return CODE_OK;
        return fail(-ENODATA, path, options->run ? "has no calibration run with that number" :
                                                   "holds no observations; run joulecast calibrate first");
}

static int fit_observations(const struct options *options)
{
        _cleanup_(measured_clear) struct measured measured = { 0 };
        _cleanup_free_ char *path = NULL;
        int status;

        if (options->observations)
                path = strdup(options->observations);
        else if (paths_observations(options->device, &path) < 0)
                return fail(-EINVAL, options->device ? options->device : "observations",
                            "cannot be found; name them with --observations");
        if (!path)
                return fail(-ENOMEM, "observations", "");
        if (access(path, F_OK) < 0 && errno == ENOENT)
                return fail(-ENOENT, path, "there are no observations; run joulecast calibrate first");
        status = read_observations(options, path, &measured);
        return status == CODE_OK ? refit(options, &measured, path) : status;
}

static int read_file(const char *path, char **ret, size_t *length)
{
        size_t size = 1 << 20;
        _cleanup_free_ char *text = malloc(size);
        ssize_t n = text ? util_read_at(AT_FDCWD, path, text, size) : -ENOMEM;

        if (n < 0)
                return (int)n;
        *length = (size_t)n;
        *ret = TAKE_PTR(text);
        return 0;
}

static int fit_tables(const struct options *options)
{
        _cleanup_(profile_writer_end) struct profile_writer writer = { .fd = -1 };
        _cleanup_(usage_table_freep) struct usage_table *usage = NULL;
        _cleanup_free_ char *text = NULL;
        struct cost_table costs = { 0 };
        struct outcome outcome;
        char error[256] = "";
        size_t length = 0;
        int err;

        err = usage_table_load(options->usage, &program_log, &usage);
        if (err)
                return CODE_FAILED; /* logged */
        err = read_file(options->costs, &text, &length);
        if (err)
                return fail(err, options->costs, "");
        if (cost_table_parse(text, length, options->costs, &program_log, &costs) < 0)
                return CODE_FAILED;
        err = profile_writer_start(options->profile, false, &writer);
        if (!err)
                err = drop_root(NULL, 0);
        if (!err)
                err = tables_fit(usage, &costs, options->energy_full_mwh, &outcome, error, sizeof(error));
        cost_table_clear(&costs);
        if (err)
                return fail(err, options->costs, error);
        if (options->name)
                snprintf(outcome.profile->device, sizeof(outcome.profile->device), "%s", options->name);
        return finish(options, &outcome, &writer);
}

/* "unknown" is the first of the enum. */
static enum idle_states idle_states_of(const char *word)
{
        if (!word || strcmp(word, "unknown") == 0)
                return IDLE_STATES_UNKNOWN;
        return strcmp(word, "deep") == 0 ? IDLE_STATES_DEEP : IDLE_STATES_SHALLOW;
}

static int fit_trace(const struct options *options)
{
        _cleanup_(profile_writer_end) struct profile_writer writer = { .fd = -1 };
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        _cleanup_(trace_voltages_clear) struct voltages voltages = { 0 };
        struct trace_fit fit = { .energy_full_mwh = options->energy_full_mwh,
                                 .idle_states = idle_states_of(options->idle_states),
                                 .cache_event = options->cache_event,
                                 .independent =
                                         options->spans && strcmp(options->spans, "independent") == 0 };
        struct outcome outcome;
        char error[256] = "", name[PROFILE_NAME_MAX];
        int err = measured_load(options->trace, &program_log, &trace);

        if (!err && options->voltages)
                err = trace_voltages_read(options->voltages, &program_log, &voltages);
        if (err)
                return CODE_FAILED; /* logged */
        fit.voltages = voltages.n > 0 ? &voltages : NULL;
        fit.name = options->name ? options->name : trace_device_name(options->trace, name);
        err = profile_writer_start(options->profile, true, &writer);
        if (!err)
                err = drop_root(NULL, 0);
        if (!err)
                err = trace_fit(&fit, trace, &outcome, error, sizeof(error));
        if (!err) {
                err = set_created(&outcome);
                if (err)
                        outcome_clear(&outcome);
        }
        return err ? fail(err, options->trace, error) : finish(options, &outcome, &writer);
}

/* Other errors are seen where they are returned; without memory a fit would go on with less, and be another. */
static void on_gsl_error(const char *reason, const char *file, int line, int number)
{
        if (number != GSL_ENOMEM)
                return;
        log_error(&program_log, "there is not enough memory for the fit");
        exit(CODE_FAILED);
}

int main(int argc, char **argv)
{
        struct options options = { .energy_full_mwh = NAN };
        int code;

        util_hold_standard_fds();
        util_end_on_shorter_files();
        if (argc > 1 && strcmp(argv[1], "--learn") == 0) {
                words_start();
                gsl_set_error_handler(on_gsl_error);
                return options_finish(learn_command(argc - 1, argv + 1, &learn_log), &learn_log);
        }
        code = parse_options(argc, argv, &options);
        if (code >= 0)
                return code;
        if (daemons_tau(&program_log, &regression_options_default.noise.background_tau_s) < 0)
                return CODE_USAGE;
        gsl_set_error_handler(on_gsl_error);
        if (options.follow)
                code = follow_lines();
        else
                code = options.trace ? fit_trace(&options) :
                       options.usage ? fit_tables(&options) : fit_observations(&options);
        return options_finish(code, &program_log);
}
