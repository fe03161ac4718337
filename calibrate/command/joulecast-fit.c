/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* joulecast-fit: observations to a profile; and, following a calibration, which mode should come next. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_errno.h>

#include "fit/follow.h"
#include "fit/refit.h"
#include "sapp/tables.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/util.h"

enum {
        EXIT_USAGE = 2,
        EXIT_NO_DATA = 3,
};

static const struct log program_log = { log_to_stderr, (void *)"joulecast-fit" };

struct options {
        const char *device;
        const char *observations;
        const char *profile;
        const char *estimator; /* NULL: what the run asks for */
        const char *name;
        const char *usage;
        const char *costs;
        int64_t run;           /* 0: the newest */
        double energy_full_mwh;
        bool follow;
        bool json;
};

static const char help[] =
        "Usage: joulecast fit [--observations FILE] [--run N] [--profile OUT] [OPTION]...\n"
        "       joulecast fit --usage CSV --costs CSV --energy-full-mwh N [--profile OUT]\n"
        "       joulecast-fit --follow\n"
        "\n"
        "Turns the observations of a calibration into a profile.\n"
        "\n"
        "  --observations FILE   what joulecast-calibrate wrote (default: this machine's)\n"
        "  --device virtual:D    that device's observations and profile instead\n"
        "  --run N               which calibration in it (default: the newest)\n"
        "  --estimator WHICH     regression: weighted, non-negative, with intervals\n"
        "                        (default); sapp: the SApp paper's equations 1 to 4\n"
        "                        (default for a run of --plan sapp)\n"
        "  --profile OUT         write the profile there; without, only show it\n"
        "  --usage CSV, --costs CSV\n"
        "                        fit tables instead: who used what, and what it cost in\n"
        "                        percent, as joulecast-fit(1) describes them\n"
        "  --energy-full-mwh N   energy of the full battery, for the tables\n"
        "  --name DEVICE         the device that the tables are about\n"
        "  --follow              JSON lines on stdin and stdout, for joulecast-calibrate\n"
        "  --json                answer as one JSON object\n"
        "  --help, --version\n"
        "\n"
        "Exit: 0 done; 1 it failed; 2 wrong usage; 3 no observations to fit.\n";

enum {
        OPTION_OBSERVATIONS = 1000,
        OPTION_RUN,
        OPTION_ESTIMATOR,
        OPTION_PROFILE,
        OPTION_DEVICE,
        OPTION_NAME,
        OPTION_USAGE,
        OPTION_COSTS,
        OPTION_ENERGY,
        OPTION_FOLLOW,
        OPTION_JSON,
        OPTION_HELP,
        OPTION_VERSION,
};

static const struct option long_options[] = {
        { "observations", required_argument, NULL, OPTION_OBSERVATIONS },
        { "run", required_argument, NULL, OPTION_RUN },
        { "estimator", required_argument, NULL, OPTION_ESTIMATOR },
        { "profile", required_argument, NULL, OPTION_PROFILE },
        { "device", required_argument, NULL, OPTION_DEVICE },
        { "name", required_argument, NULL, OPTION_NAME },
        { "usage", required_argument, NULL, OPTION_USAGE },
        { "costs", required_argument, NULL, OPTION_COSTS },
        { "energy-full-mwh", required_argument, NULL, OPTION_ENERGY },
        { "follow", no_argument, NULL, OPTION_FOLLOW },
        { "json", no_argument, NULL, OPTION_JSON },
        { "help", no_argument, NULL, OPTION_HELP },
        { "version", no_argument, NULL, OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static int wrong_usage(const char *sentence)
{
        log_error(&program_log, "%s; see joulecast fit --help", sentence);
        return -EINVAL;
}

static int wrong_word(const char *what, const char *word)
{
        char printable[64];

        log_error(&program_log, "%s: %s; see joulecast fit --help",
                  util_printable(word, printable, sizeof(printable)), what);
        return -EINVAL;
}

static int parse_option(struct options *options, int option)
{
        switch (option) {
        case OPTION_OBSERVATIONS:
                options->observations = optarg;
                return 0;
        case OPTION_RUN:
                if (util_parse_i64(optarg, &options->run) < 0 || options->run <= 0)
                        return wrong_usage("--run needs the number of a calibration, 1 or more");
                return 0;
        case OPTION_ESTIMATOR:
                options->estimator = optarg;
                if (strcmp(optarg, "regression") != 0 && strcmp(optarg, "sapp") != 0)
                        return wrong_usage("--estimator is regression or sapp");
                return 0;
        case OPTION_PROFILE:
                options->profile = optarg;
                return 0;
        case OPTION_DEVICE:
                options->device = optarg;
                return 0;
        case OPTION_NAME:
                options->name = optarg;
                return 0;
        case OPTION_USAGE:
                options->usage = optarg;
                return 0;
        case OPTION_COSTS:
                options->costs = optarg;
                return 0;
        case OPTION_ENERGY:
                if (util_parse_double(optarg, &options->energy_full_mwh) < 0 ||
                    !(options->energy_full_mwh >= 1 && options->energy_full_mwh <= 1e9))
                        return wrong_usage("--energy-full-mwh needs mWh, 1 or more");
                return 0;
        case OPTION_FOLLOW:
                options->follow = true;
                return 0;
        case OPTION_JSON:
                options->json = true;
                return 0;
        default:
                return -EINVAL;
        }
}

/* 1: there is nothing more to do. */
static int parse_options(int argc, char **argv, struct options *options)
{
        int option;

        opterr = 0;
        while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
                if (option == OPTION_HELP || option == 'h' || option == OPTION_VERSION) {
                        fputs(option == OPTION_VERSION ? "joulecast-fit " JOULECAST_VERSION "\n" : help,
                              stdout);
                        return 1;
                }
                if (option == '?' || option == ':')
                        return wrong_word(option == ':' ? "its value is missing"
                                                        : "there is no such option, or not like this",
                                          argv[optind - 1]);
                if (parse_option(options, option) < 0)
                        return -EINVAL;
        }
        if (optind < argc)
                return wrong_word("it takes options alone", argv[optind]);
        if (options->follow &&
            (options->observations || options->usage || options->costs || options->profile))
                return wrong_usage("--follow stands alone");
        if (!options->usage != !options->costs || (options->usage && isnan(options->energy_full_mwh)))
                return wrong_usage("--usage, --costs and --energy-full-mwh go together");
        return 0;
}

/* Text that came through cJSON, one line. */
static int answer(struct cJSON *json)
{
        char *text = json ? cJSON_PrintUnformatted(json) : NULL;
        int err = text ? 0 : -ENOMEM;

        cJSON_Delete(json);
        if (text && (puts(text) < 0 || fflush(stdout) < 0))
                err = -EIO;
        cJSON_free(text);
        return err;
}

static int follow_lines(void)
{
        struct follow *follow;
        _cleanup_free_ char *line = NULL;
        size_t size = 0;
        bool end = false;
        int err = follow_new(&follow);

        while (!err && !end && getline(&line, &size, stdin) > 0)
                err = answer(follow_answer(follow, line, &end));
        follow_free(follow);
        return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int set_created(struct profile *profile)
{
        time_t now = time(NULL);
        struct tm tm;

        if (!gmtime_r(&now, &tm) ||
            strftime(profile->created, sizeof(profile->created), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                return -EINVAL;
        return 0;
}

static int flush_answer(void)
{
        if (util_flush_stdout())
                return 0;
        log_error(&program_log, "the answer could not be written");
        return -EIO;
}

static int finish(const struct options *options, struct outcome *outcome)
{
        int err = 0;

        if (options->profile) {
                err = own_folder_make(options->profile, 0755);
                if (!err)
                        err = profile_save(outcome->profile, options->profile);
                if (err)
                        log_error(&program_log, "%s: the profile cannot be written: %s", options->profile,
                                  own_folder_why(err));
        }
        if (!err && options->json)
                err = answer(outcome_to_json(outcome, options->profile));
        else if (!err)
                outcome_print(outcome, options->profile, stdout);
        if (!err || err == -EIO)
                err = flush_answer();
        outcome_clear(outcome);
        return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int fail(int err, const char *where, const char *error)
{
        log_error(&program_log, "%s: %s", where, error[0] ? error : strerror(-err));
        return err == -ENODATA || err == -ENOENT ? EXIT_NO_DATA : EXIT_FAILURE;
}

static int refit(const struct options *options, const struct observation_run *run,
                 struct observations *database, const char *where)
{
        const char *estimator = options->estimator;
        struct observation *list = NULL;
        struct outcome outcome;
        char error[256] = "";
        size_t n = 0;
        int err = observations_read(database, run->id, &list, &n);

        if (!estimator)
                estimator = strcmp(run->plan, "sapp") == 0 ? "sapp" : "regression";
        if (!err && strcmp(estimator, "sapp") == 0)
                err = refit_sapp(run, list, n, &outcome, error, sizeof(error));
        else if (!err)
                err = refit_regression(run, list, n, &outcome, error, sizeof(error));
        observations_free(list, n);
        if (err)
                return fail(err, where, error);
        set_created(outcome.profile);
        return finish(options, &outcome);
}

static int fit_observations(const struct options *options)
{
        _cleanup_free_ char *path = NULL;
        struct observations *database;
        struct observation_run *runs = NULL;
        const struct observation_run *run = NULL;
        size_t n = 0;
        int err, status;

        if (options->observations)
                path = strdup(options->observations);
        else if (paths_observations(options->device, &path) < 0)
                return fail(-EINVAL, options->device ? options->device : "observations", "is no device whose "
                            "observations could be found; name them with --observations");
        if (!path)
                return fail(-ENOMEM, "observations", "");
        if (access(path, F_OK) < 0 && errno == ENOENT)
                return fail(-ENOENT, path, "no observations there; run joulecast calibrate first");
        err = observations_open(path, false, &program_log, &database);
        if (err < 0)
                return err == -ENODATA ? EXIT_NO_DATA : EXIT_FAILURE; /* the sentence is said */
        err = observations_runs(database, &runs, &n);
        for (size_t i = 0; !err && i < n; i++)
                if (options->run == 0 || runs[i].id == options->run)
                        run = &runs[i];
        if (err)
                status = fail(err, path, "");
        else if (!run)
                status = fail(-ENODATA, path, options->run ? "has no observations of a calibration of that number" :
                              "holds no observations; run joulecast calibrate first");
        else
                status = refit(options, run, database, path);
        observations_free_runs(runs, n);
        observations_close(database);
        return status;
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
        _cleanup_(usage_table_freep) struct usage_table *usage = NULL;
        _cleanup_free_ char *text = NULL;
        struct cost_table costs = { 0 };
        struct outcome outcome;
        char error[256] = "";
        size_t length = 0;
        int err;

        err = usage_table_load(options->usage, &program_log, &usage);
        if (err)
                return EXIT_FAILURE; /* the sentence is said */
        err = read_file(options->costs, &text, &length);
        if (err)
                return fail(err, options->costs, "");
        if (cost_table_parse(text, length, options->costs, &program_log, &costs) < 0)
                return EXIT_FAILURE;
        err = tables_fit(usage, &costs, options->energy_full_mwh, &outcome, error, sizeof(error));
        cost_table_clear(&costs);
        if (err)
                return fail(err, options->costs, error);
        if (options->name)
                snprintf(outcome.profile->device, sizeof(outcome.profile->device), "%s", options->name);
        return finish(options, &outcome);
}

/*
 * How long the work of daemons lasts is believed, and no calibration is long enough to learn it. Where time
 * runs at another pace, as in the virtual phone, whoever starts us knows.
 */
static int read_environment(void)
{
        const char *name = "JOULECAST_DAEMONS_TAU_S", *text = getenv(name);
        double seconds;

        if (!text)
                return 0;
        if (util_parse_double(text, &seconds) < 0 || !(seconds >= 0.1 && seconds <= 86400)) {
                log_error(&program_log, "%s wants 0.1 to 86400 seconds, not \"%s\"", name, text);
                return -EINVAL;
        }
        regression_options_default.noise.background_tau_s = seconds;
        return 0;
}

int main(int argc, char **argv)
{
        struct options options = { .energy_full_mwh = NAN };
        int err;

        util_hold_standard_fds();
        err = parse_options(argc, argv, &options);
        if (err > 0)
                return flush_answer() ? EXIT_FAILURE : EXIT_SUCCESS;
        if (err < 0 || read_environment() < 0)
                return EXIT_USAGE;
        gsl_set_error_handler_off();
        if (options.follow)
                return follow_lines();
        return options.usage ? fit_tables(&options) : fit_observations(&options);
}
