/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "learn-command.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/first-day.h"
#include "app/desktop-entry.h"
#include "forecast/cost.h"
#include "learn/learn.h"
#include "learn/report.h"
#include "measured/measured.h"
#include "model/json-print.h"
#include "model/kind.h"
#include "model/profile-history.h"
#include "observation/everyday.h"
#include "store/store.h"
#include "trace-options.h"
#include "util/drop-root.h"
#include "util/options.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

struct learn_options {
        const char *device, *profile, *database, *observations, *trace, *cache_event;
        bool dry_run, json;
};

struct paths {
        char *from;    /* the profile that is learnt over */
        char *profile; /* where the new one goes */
        char *database, *observations;
};

static void paths_clear(struct paths *paths)
{
        free(paths->from);
        free(paths->profile);
        free(paths->database);
        free(paths->observations);
}

static int find_paths(const struct learn_options *options, const struct log *log, struct paths *ret)
{
        int err = 0;

        if (options->profile) {
                ret->from = strdup(options->profile);
                ret->profile = strdup(options->profile);
        } else {
                err = paths_profile(options->device, false, &ret->from);
                if (!err)
                        err = paths_learned(options->device, &ret->profile);
        }
        if (!err && options->database)
                ret->database = strdup(options->database);
        else if (!err)
                err = paths_usage(options->device, false, &ret->database);
        if (!err && options->observations)
                ret->observations = strdup(options->observations);
        else if (!err)
                err = paths_everyday(options->device, &ret->observations);
        if (!err && (!ret->from || !ret->profile || !ret->database || !ret->observations))
                err = -ENOMEM;
        if (err)
                log_error(log, "learn: the places of the profile, the database and the observations are unknown: %s; "
                               "name them with --profile, --database and --observations", strerror(-err));
        return err;
}

/*
 * Adds the recordings since the last time to the observations; then reads all observations. A dry run writes nothing.
 */
static int gather(const struct learn_options *options, const struct paths *paths, struct store *store,
                  const struct log *log, struct everyday **ret, size_t *n)
{
        struct observations *observations = NULL;
        struct everyday *old = NULL, *new = NULL, *all;
        size_t n_old = 0, n_new = 0;
        int64_t newest = INT64_MIN;
        int err = 0;

        if (!options->dry_run || access(paths->observations, F_OK) == 0) /* a dry run of the first time has none */
                err = observations_open(paths->observations, !options->dry_run, log, &observations);
        if (err == -ENODATA)
                err = 0;
        if (!err && observations)
                err = everyday_newest(observations, &newest);
        if (!err)
                err = everyday_read_store(store, newest, &new, &n_new);
        if (!err && observations && n_new > 0 && !options->dry_run)
                err = everyday_append(observations, new, n_new);
        if (!err && observations)
                err = everyday_read(observations, &old, &n_old);
        observations_close(observations);
        if (!err && options->dry_run && n_new > 0) {
                all = reallocarray(old, n_old + n_new, sizeof(*all));
                if (all) {
                        memcpy(all + n_old, new, n_new * sizeof(*all));
                        old = all;
                        n_old += n_new;
                        free(new);
                        new = NULL;
                        n_new = 0;
                } else {
                        err = -ENOMEM;
                }
        }
        everyday_free(new, n_new);
        if (err) {
                everyday_free(old, n_old);
                return err;
        }
        *ret = old;
        everyday_drop_ahead(old, &n_old, (int64_t)time(NULL) * (int64_t)NS_PER_S);
        *n = n_old;
        return 0;
}

static uint32_t find_policy(uint32_t khz, const void *profile)
{
        return cost_policy_with(profile, khz);
}

/* Coefficients of kinds of work that the profile lacks begin with their usual values. */
static int take_kinds(struct measured_trace *trace, const char *event, struct profile *before)
{
        struct usage sum = { 0 };
        int err = 0;

        measured_drop_misses(trace, before, event);
        for (size_t i = 0; !err && i < trace->n; i++)
                for (size_t o = 0; !err && o < trace->spans[i].n_owners; o++)
                        err = usage_add(&sum, &trace->spans[i].owners[o].usage);
        if (!err)
                err = kind_add_prior(before, &sum, event);
        if (!err && before->measured)
                err = kind_add_prior(before->measured, &sum, event);
        usage_clear(&sum);
        return err;
}

/* Spans of a trace as observations of everyday use. */

/* Many short ones would take minutes, as each row's errors are correlated with those of all others in its stretch. */
#define TRACE_ROWS 600

/* Earlier times are not since 1970: nobody recorded any before 2001. */
#define REALTIME_LEAST_S 1e9

static int64_t ns_of(double seconds)
{
        return (int64_t)(fmax(fmin(seconds, 9e9), -9e9) * NS_PER_S);
}

/* This offset is added to the trace's seconds. */
static double shift_s(const struct measured_trace *trace, int64_t now_ns)
{
        const struct measured_span *last = &trace->spans[trace->n - 1];
        double end_s = last->start_s + last->elapsed_s, now_s = (double)now_ns / NS_PER_S;

        return trace->spans[0].start_s >= REALTIME_LEAST_S && end_s <= now_s ? 0 : now_s - end_s;
}

/* In the middle of the span; where no level is known, in the middle of the battery. */
static double level_of(const struct measured_span *span)
{
        if (isnan(span->percent))
                return 50;
        return fmin(span->percent + (isnan(span->used_percent) ? 0 : span->used_percent / 2), 100);
}

static int make_row(struct measured_span *span, double full_mwh, double shift, struct everyday *ret)
{
        *ret = (struct everyday){ .start_ns = ns_of(span->start_s + shift),
                                  .elapsed_ns = (uint64_t)ns_of(span->elapsed_s),
                                  .follows = span->follows, .energy_j = span->energy_j, .late_s = span->late_s,
                                  .percent = span->energy_j / J_PER_PERCENT(full_mwh), .level = level_of(span),
                                  .metered = span->by == MEASURED_BY_METER, .wifi_signal_dbm = NAN,
                                  .cellular_signal_percent = NAN, .gauge_j = NAN };
        ret->end_ns = ret->start_ns + (int64_t)ret->elapsed_ns;
        if (span->by == MEASURED_BY_PERCENT)
                ret->energy_j = NAN;
        ret->uses = calloc(span->n_owners, sizeof(*ret->uses));
        if (!ret->uses)
                return -ENOMEM;
        for (size_t i = 0; i < span->n_owners; i++) {
                struct measured_owner *owner = &span->owners[i];
                struct everyday_use *use = &ret->uses[ret->n_uses++];

                *use = (struct everyday_use){ .state = owner->state, .active_s = owner->base ? 0 : owner->active_s,
                                              .usage = owner->usage };
                if (!owner->base)
                        snprintf(use->app, sizeof(use->app), "%s", owner->name);
                owner->usage = (struct usage){ 0 };
        }
        return 0;
}

/*
 * Takes spans of unknown energy out of @trace (@left_out of them; @unknown: USAGE_* that some do not know) and joins
 * some; their usage moves to @ret, to be freed by everyday_free(). Times since any other zero than 1970 end at @now_ns.
 * 0; -ENODATA: no span is known; -ENOMEM; -EOVERFLOW.
 */
static int trace_rows(struct measured_trace *trace, double full_mwh, int64_t now_ns, struct everyday **ret, size_t *n,
                      size_t *left_out, uint32_t *unknown)
{
        struct everyday *list;
        size_t made = 0;
        int err = measured_resolve(trace, full_mwh);

        if (err)
                return err;
        *left_out = measured_keep_known(trace, unknown);
        if (trace->n == 0)
                return -ENODATA;
        err = measured_shorten(trace, TRACE_ROWS);
        if (err)
                return err;
        list = calloc(trace->n, sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (size_t i = 0; !err && i < trace->n; i++)
                err = make_row(&trace->spans[i], full_mwh, shift_s(trace, now_ns), &list[made++]);
        if (err) {
                everyday_free(list, made);
                return err;
        }
        *ret = list;
        *n = made;
        return 0;
}

/* Takes a trace in place of the recordings. */
static int take_trace(const struct learn_options *options, struct profile **profile, const struct log *log,
                      struct everyday **ret, size_t *n)
{
        struct profile *before;
        _cleanup_(measured_freep) struct measured_trace *trace = NULL;
        size_t left_out = 0;
        uint32_t unknown = 0;
        char sentence[256];
        int err = measured_load(options->trace, log, &trace);

        if (!err)
                err = measured_adapt(trace, profile);
        if (err)
                return err;
        before = *profile;
        trace_show(trace, before, log);
        err = measured_name_policies(trace, find_policy, before);
        if (!err)
                err = take_kinds(trace, options->cache_event, before);
        if (!err)
                err = trace_rows(trace, before->energy_full_mwh, (int64_t)time(NULL) * (int64_t)NS_PER_S, ret,
                                 n, &left_out, &unknown);
        if (!err && left_out > 0)
                log_warning(log, "learn: %s: %s", options->trace,
                            measured_left_out(left_out, unknown, sentence, sizeof(sentence)));
        if (err == -ENODATA)
                log_error(log, "learn: %s: no span has an energy: power_mw, energy_j, charge_uah with voltage_mv, or "
                               "percent", options->trace);
        else if (err)
                log_error(log, "learn: %s: %s", options->trace, strerror(-err));
        return err;
}

static int write_profile(const char *path, const struct profile *profile, const struct log *log)
{
        _cleanup_(profile_freep) struct profile *again = NULL;
        _cleanup_free_ char *text = NULL, *kept = NULL;
        int err = profile_print(profile, &text);

        /* A file that cannot be read would take the place of one that can be. */
        if (!err)
                err = profile_parse(text, strlen(text), path, log, &again);
        if (!err)
                err = own_folder_make(path, 0755);
        if (!err)
                err = profile_history_replace(path, text, &kept);
        if (!err && utimensat(AT_FDCWD, path, NULL, 0) < 0) /* also where it is the same: newer than the calibration */
                err = -errno;
        if (err)
                log_error(log, "learn: %s: the profile cannot be written: %s", path, own_folder_why(err));
        return err;
}

static int answer(const struct learn_options *options, const struct paths *paths, const struct profile *before,
                  const struct learning *learning, const struct log *log)
{
        bool written = learning->taken && !options->dry_run;
        int err = options->dry_run ? 0 : write_profile(paths->profile, written ? learning->profile : before, log);

        if (err)
                return err;
        if (options->json) {
                struct cJSON *report = report_json(before, learning, written ? paths->profile : NULL);
                _cleanup_free_ char *text = NULL;

                json_add_schema(report);
                text = json_print(report, JSON_LINE);
                if (!text)
                        return -ENOMEM;
                puts(text);
        } else {
                /* Names of this machine's apps. */
                struct desktop_index *index = options->device ? NULL : desktop_index_of_user();

                report_print(before, learning, written ? paths->profile : NULL, options->dry_run, options->trace,
                             index);
                desktop_index_free(index);
        }
        return log_flush_stdout(log);
}

/* Without a calibration it learns on top of the profile of the device's class. */
static int first_day(const struct learn_options *options, const struct log *log, struct profile **ret)
{
        char why[256];

        return first_day_profile(options->device, NULL, log, why, sizeof(why), ret);
}

/* Root never writes into another user's folder; the service's profile belongs to the service, also if root asks. */
static int become_owner(const char *profile, const struct log *log)
{
        _cleanup_free_ char *folder = strdup(profile);
        char *slash = folder ? strrchr(folder, '/') : NULL;
        struct stat info;
        int err;

        if (!folder)
                return -ENOMEM;
        if (slash)
                slash[slash == folder] = '\0';
        if (geteuid() != 0 || stat(slash ? folder : ".", &info) < 0 || info.st_uid == 0)
                return 0;
        err = drop_root_to(info.st_uid, info.st_gid);
        if (err)
                log_error(log, "learn: cannot become the user of %s: %s", folder, strerror(-err));
        return err;
}

static int run(const struct learn_options *options, const struct log *log)
{
        _cleanup_(paths_clear) struct paths paths = { 0 };
        _cleanup_(profile_freep) struct profile *before = NULL;
        struct everyday *list = NULL;
        _cleanup_(store_closep) struct store *store = NULL;
        struct learning learning = { 0 };
        size_t n = 0;
        int err = find_paths(options, log, &paths);
        bool traced = options->trace;

        if (!err && !options->dry_run)
                err = become_owner(paths.profile, log);
        if (!err)
                err = !traced && access(paths.from, F_OK) < 0 && errno == ENOENT ? first_day(options, log, &before) :
                                                                          profile_load(paths.from, log, &before);
        if (!err && !traced)
                err = first_day_adapt(options->device, NULL, log, &before);
        if (!err && !traced)
                err = store_open(paths.database, STORE_READ, log, &store);
        if (err == -ENOENT && before && !traced)
                log_error(log, "learn: %s: nothing was recorded yet; joulecastd records what apps use", paths.database);
        if (!err)
                err = traced ? take_trace(options, &before, log, &list, &n) :
                               gather(options, &paths, store, log, &list, &n);
        if (err)
                return err;
        err = learn(before, list, n, store, &learning);
        if (err == -ENODATA)
                log_error(log, "learn: nothing to learn from yet: the battery's level must fall twice while "
                               "joulecastd records");
        else if (err)
                log_error(log, "learn: the observations of %s cannot be fitted: %s",
                          traced ? options->trace : paths.observations, strerror(-err));
        if (!err && !learning.taken) { /* how often it held is known all the same, and widens it */
                memcpy(before->learned.score, learning.profile->learned.score, sizeof(before->learned.score));
                strcpy(before->learned.until, learning.profile->learned.until);
        }
        if (!err)
                err = answer(options, &paths, before, &learning, log);
        learn_clear(&learning);
        everyday_free(list, n);
        return err;
}

int learn_command(int argc, char **argv, const struct log *log)
{
        struct learn_options options = { 0 };
        const struct option_row rows[] = {
                OPTION_DEVICE(&options.device),
                { "profile", "FILE", N_("correct this profile, and write it to the same file"),
                  .usual = N_("this machine's"), .text = &options.profile },
                { "database", "FILE", N_("what joulecastd recorded"), .usual = N_("this machine's"),
                  .text = &options.database },
                { "observations", "FILE", N_("keep what everyday use showed in this file"),
                  .usual = N_("this machine's"), .text = &options.observations },
                { "cache-event", "NAME", N_("with --trace: the event that the trace's columns misses.P counted"),
                  .text = &options.cache_event },
                { "trace", "FILE",
                  N_("learn from measured spans of use (CSV), as joulecast-fit(1) describes "
                     "them, and from nothing that was recorded"),
                  .text = &options.trace },
                { "dry-run", .help = N_("only say what would change; write nothing"),
                  .flag = &options.dry_run },
                { "json", .help = N_("answer as one JSON object"), .flag = &options.json },
        };
        const struct option_table table = {
                .program = "joulecast-learn",
                .called = "joulecast learn",
                .usage = "joulecast learn [--dry-run] [--json] [OPTION]...\n"
                         "joulecast learn --trace FILE --profile FILE [--dry-run] [--json]",
                .about = N_("Learns from everyday use: corrects the calibration by the energy that the battery "
                            "delivered while apps were used, and shows the power of each app that no counter "
                            "explains."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .exits = N_("0 done; 1 it failed; 2 wrong usage; 3 nothing to learn from yet"),
        };
        int code = options_read(&table, argc, argv, log), err;

        if (options.json)
                words_stop();
        if (code >= 0)
                return code;
        if (options.trace && (!options.profile || options.database || options.observations)) {
                log_error(log, options.profile ? "learn: --trace goes with neither --database nor "
                                                 "--observations; see joulecast learn --help" :
                                                 "learn: --trace needs --profile, which is learnt over; see "
                                                 "joulecast learn --help");
                return CODE_USAGE;
        }
        err = run(&options, log);
        return !err ? CODE_OK : err == -ENODATA || err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
}
