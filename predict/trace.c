/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast trace`: power by component and app, now, as often as asked. The
 * poller's own sources and intervals, priced at once instead of stored; with
 * --database stored, too.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "ask.h"
#include "commands.h"
#include "forecast/cost.h"
#include "forecast/suspend.h"
#include "machine/machine.h"
#include "names.h"
#include "options.h"
#include "recorded.h"
#include "trace-print.h"
#include "util/config.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

#define INTERVAL_S 1

struct tracer {
        struct options options;
        double interval_s;      /* 0: not given */
        uint64_t count;
        const char *collector;
        const char *by;         /* "process"; NULL: by app */
        struct moment from; /* span of records to show; INT64_MIN and INT64_MAX: trace live */
        int64_t to_ns;
        struct trace_form form;
        struct trace_processes processes;

        struct profile *profile;
        struct desktop_index *index;
        struct sources sources;
        struct store *store;    /* NULL: not recorded */
        struct store_retention retention;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        int signal_fd, timer_fd;
};

static void tracer_close(struct tracer *tracer)
{
        sources_close(&tracer->sources);
        store_close(tracer->store);
        interval_maker_free(tracer->maker);
        interval_clear(&tracer->interval);
        sample_clear(&tracer->sample);
        trace_processes_clear(&tracer->processes);
        profile_free(tracer->profile);
        desktop_index_free(tracer->index);
        closep(&tracer->signal_fd);
        closep(&tracer->timer_fd);
}

/* Stores the interval as joulecastd does. */
static int record(struct tracer *tracer)
{
        int err = store_append(tracer->store, &tracer->interval);

        return err ? err : store_roll_up(tracer->store, tracer->interval.end_realtime_ns, &tracer->retention);
}

/* Tells once that the app was not seen. It is no error: the app may start later. */
static void log_unseen(const struct tracer *tracer, const struct cost *cost)
{
        const struct interval *interval = &tracer->interval;
        char name[APP_ID_MAX];

        for (size_t i = 0; i < cost->n_apps; i++)
                if (trace_is_wanted(&tracer->form, &cost->apps[i]))
                        return;
        for (size_t i = 0; i < interval->n_rows; i++) {
                const struct trace_process *process = trace_process_find(tracer->form.processes, interval->rows[i].app);

                if (strcmp(process ? process->app : interval->rows[i].app, tracer->form.app) == 0)
                        return;
        }
        log_info(&program_log,
                 "%s was not seen yet and has no power until it starts; without --app all apps are shown",
                 util_printable(tracer->form.app, name, sizeof(name)));
}

/* Makes the interval since the last sample. */
static int make_interval(struct tracer *tracer)
{
        int err = tracer->by ? trace_processes_name(&tracer->processes, &tracer->sample) : 0;

        if (!err)
                err = interval_make(tracer->maker, &tracer->sample, &tracer->interval);
        if (!err && tracer->by)
                trace_processes_states(&tracer->processes, &tracer->interval);
        return err;
}

/* One poll. The first has no interval before it and prints nothing. */
static int look(struct tracer *tracer)
{
        const struct interval *interval = &tracer->interval;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct trace_line line;
        int err = sources_read(&tracer->sources, &tracer->sample);

        if (!err && sources_miss_processes(&tracer->sources))
                return interval_skip(tracer->maker, &tracer->sample);
        if (!err)
                err = make_interval(tracer);
        if (err)
                return err == -ENODATA ? 0 : err;
        if (tracer->store)
                err = record(tracer);
        if (!err)
                err = cost_make_now(tracer->profile, interval, 1, -1, &cost);
        if (err)
                return err;
        names_localise(tracer->index, cost);
        if (tracer->form.app && tracer->form.lines == 0)
                log_unseen(tracer, cost);
        line = (struct trace_line){ .cost = cost, .seconds = (double)interval->elapsed_ns / 1e9,
                                    .suspend_s = (double)interval->suspend_ns / 1e9,
                                    .measured = cost_sensor_w(&interval->battery) };
        return trace_print(&tracer->form, &line);
}

static int prepare_to_wait(struct tracer *tracer)
{
        uint64_t interval_ns = (uint64_t)(tracer->interval_s * 1e9);
        const struct timespec period = { (time_t)(interval_ns / NS_PER_S), (long)(interval_ns % NS_PER_S) };
        const struct itimerspec timer = { .it_interval = period, .it_value = period };
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        signal(SIGPIPE, SIG_IGN); /* we end when our reader does */
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;
        tracer->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
        tracer->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (tracer->signal_fd < 0 || tracer->timer_fd < 0 ||
            timerfd_settime(tracer->timer_fd, 0, &timer, NULL) < 0)
                return -errno;
        return 0;
}

static int trace(struct tracer *tracer)
{
        int err = prepare_to_wait(tracer);

        if (!err)
                err = look(tracer);
        while (!err && (tracer->count == 0 || tracer->form.lines < tracer->count)) {
                struct pollfd fds[] = { { .fd = tracer->signal_fd, .events = POLLIN },
                                        { .fd = tracer->timer_fd, .events = POLLIN } };
                uint64_t expired;

                if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
                        return -errno;
                if (fds[0].revents)
                        return 0;
                if (fds[1].revents && read(tracer->timer_fd, &expired, sizeof(expired)) == sizeof(expired))
                        err = look(tracer);
        }
        if (err != -EPIPE)
                return err;
        clearerr(stdout);
        return 0;
}

static int open_database(struct tracer *tracer)
{
        _cleanup_(config_clear) struct config config = { 0 };
        _cleanup_free_ char *path = NULL;
        int err;

        if (paths_config(&path) < 0)
                path = NULL;
        err = config_load(path, &program_log, &config);
        if (err)
                return err;
        tracer->retention = (struct store_retention){ (uint32_t)config.raw_hours, (uint32_t)config.hour_days,
                                                      (uint32_t)config.day_days };
        return store_open(tracer->options.database, STORE_WRITE, &program_log, &tracer->store);
}

static int open_all(struct tracer *tracer)
{
        const struct machine_options machine = {
                .root = tracer->options.machine,
                .collectors = tracer->options.machine ? plain_collectors : all_collectors,
                .collector = tracer->collector,
                .log = &program_log,
        };
        int err = machine_open(&machine, &tracer->sources);

        if (!err && tracer->options.database)
                err = open_database(tracer);
        if (!err)
                err = interval_maker_new(&tracer->maker);
        return err;
}

static bool is_past(const struct tracer *tracer)
{
        return tracer->from.word || tracer->from.ns != INT64_MIN || tracer->to_ns != INT64_MAX;
}

/* CODE_OK, or CODE_USAGE after its sentence. */
static int check_options(const struct tracer *tracer)
{
        const char *wrong = NULL;

        if (!tracer->from.word && tracer->from.ns >= tracer->to_ns)
                wrong = N_("--from is not before --to");
        else if (is_past(tracer) &&
                 (tracer->interval_s > 0 || tracer->collector || tracer->by || tracer->options.machine))
                wrong = N_("--interval, --collector, --by and --machine are for a live trace; leave out "
                           "--from and --to");
        else if (!is_past(tracer) && tracer->options.device)
                wrong = N_("trace is for this machine; for a virtual device use joulecast simulate, and then "
                           "trace --from T");
        else if (tracer->by && tracer->options.database)
                wrong = N_("a database has apps and no processes; leave out --by or --database");
        if (wrong)
                log_error(&program_log, "%s; see joulecast trace --help", wrong);
        return wrong ? CODE_USAGE : CODE_OK;
}

static int trace_now(struct tracer *tracer)
{
        int err, code = open_profile(&tracer->options, &tracer->profile);

        if (code == CODE_OK)
                code = open_check_device(&tracer->options, tracer->profile);
        if (code != CODE_OK)
                return code;
        tracer->form.profile = tracer->profile;
        tracer->form.processes = tracer->by ? &tracer->processes : NULL;
        if (!tracer->options.json && !tracer->options.profile) /* a profile that was named needs no explanation */
                answer_note_basis(tracer->profile);
        tracer->index = tracer->options.machine ? NULL : desktop_index_of_user();
        err = open_all(tracer);
        if (err == -EINVAL && tracer->collector)
                return CODE_USAGE;
        if (!err) {
                err = trace(tracer);
                if (err)
                        log_error(&program_log, "%s: %s", ferror(stdout) ? "the answer could not be written"
                                                                         : "tracing stopped", strerror(-err));
        }
        return err ? CODE_FAILED : CODE_OK;
}

struct replay {
        struct trace_form *form;
        const struct desktop_index *index;
        uint64_t count;
        struct cost_maker *totals;
        int64_t first_ns, last_ns; /* span of the polls that were shown */
        uint64_t elapsed_ns, suspend_ns;
};

static int add_rows(struct cost_maker *maker, const struct store_poll *poll)
{
        int err = 0;

        for (size_t i = 0; !err && i < poll->n_rows; i++)
                err = cost_maker_add(maker, &poll->rows[i]);
        return err;
}

/* Returns 1 when --count is reached. The battery's level is not used: its steps are too large for a single poll. */
static int show_poll(void *data, const struct store_poll *poll)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct replay *replay = data;
        struct trace_line line;
        int err = cost_maker_new(&maker);

        if (!err)
                err = add_rows(maker, poll);
        if (!err)
                err = add_rows(replay->totals, poll);
        if (!err)
                err = cost_maker_finish(maker, replay->form->profile, NULL, &cost);
        if (err)
                return err;
        names_localise(replay->index, cost);
        if (replay->elapsed_ns == 0)
                replay->first_ns = poll->start_ns;
        replay->last_ns = poll->end_ns;
        replay->elapsed_ns += poll->elapsed_ns;
        replay->suspend_ns += poll->suspend_ns;
        line = (struct trace_line){ .cost = cost, .seconds = (double)poll->elapsed_ns / 1e9,
                                    .suspend_s = (double)poll->suspend_ns / 1e9,
                                    .measured = cost_sensor_w(&poll->battery) };
        err = trace_print(replay->form, &line);
        return !err && replay->form->lines == replay->count ? 1 : err;
}

/* Rows of zeros look like those of an app that used nothing. */
static bool was_seen(const struct trace_form *form, const struct cost *cost)
{
        for (size_t i = 0; form->app && i < cost->n_apps; i++)
                if (trace_is_wanted(form, &cost->apps[i]))
                        return true;
        return !form->app;
}

/* Prints the totals, as `joulecast cost` does for the same time. -ENOENT: --app was not seen. */
static int show_totals(struct replay *replay, struct store *store)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct store_battery battery = { 0 };
        struct trace_line line;
        int err = store_battery(store, replay->first_ns, replay->last_ns, &battery);

        if (!err)
                err = store_battery_step(store, &battery.step);
        if (!err)
                err = cost_maker_finish(replay->totals, replay->form->profile, &battery, &cost);
        if (err)
                return err;
        names_localise(replay->index, cost);
        line = (struct trace_line){ .cost = cost, .seconds = (double)replay->elapsed_ns / 1e9,
                                    .suspend_s = (double)replay->suspend_ns / 1e9, .measured = cost->measured_j.value,
                                    .total = true };
        err = trace_print(replay->form, &line);
        return err || was_seen(replay->form, cost) ? err : -ENOENT;
}

static int replay_store(struct replay *replay, struct store *store, int64_t from_ns, int64_t to_ns)
{
        int err = cost_maker_new(&replay->totals);

        if (!err)
                err = store_polls(store, from_ns, to_ns, show_poll, replay);
        if (err >= 0 && replay->elapsed_ns == 0)
                return -ENODATA;
        return err < 0 ? err : show_totals(replay, store);
}

static int failed(const char *app, int err)
{
        char name[APP_ID_MAX];

        if (err == -ENOENT && app) {
                log_error(&program_log, "%s was not seen in that time; joulecast apps lists what was",
                          util_printable(app, name, sizeof(name)));
                return CODE_NO_DATA;
        }
        if (err == -ENODATA) {
                log_error(&program_log, "no polls of that time are kept; joulecast cost has the sums of older ones");
                return CODE_NO_DATA;
        }
        log_error(&program_log, "%s: %s", ferror(stdout) ? "the answer could not be written" : "the replay stopped",
                  strerror(-err));
        return CODE_FAILED;
}

/* The id of the app that --app names; one that was not seen stays as it is. */
static int find_app(const struct options *options, const struct moment *from, int64_t to_ns, const struct ask *ask,
                    struct trace_form *form, char *app)
{
        const struct recorded wanted = { .options = *options, .app = form->app, .from = *from, .to_ns = to_ns };
        int err = form->app ? recorded_find_app(ask->usage, &wanted, app) : -ENODATA;

        if (!err)
                form->app = app;
        return err == -EEXIST || err == -ENOENT ? CODE_NO_DATA : CODE_OK;
}

/*
 * `joulecast trace --from T --to T`: prints each recorded poll with its usage, and the sums of all.
 * @count: polls at most; 0: all. An exit code.
 */
static int trace_past(const struct options *options, struct moment *from, int64_t to_ns, uint64_t count,
                      struct trace_form *form)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        _cleanup_(profile_freep) struct profile *learnt = NULL;
        struct replay replay = { .form = form, .count = count };
        struct desktop_index *index;
        const char *asked = form->app;
        char app[APP_ID_MAX];
        int code = ask_open(options, &ask), err;

        if (code != CODE_OK)
                return code;
        if (!ask.usage->store) {
                log_error(&program_log, "the service does not answer questions about single polls; run this "
                          "as root, or use joulecast cost");
                return CODE_FAILED;
        }
        code = ask_moment(ask.usage, from);
        if (code != CODE_OK)
                return code;
        code = find_app(options, from, to_ns, &ask, form, app);
        if (code != CODE_OK)
                return code;
        err = suspend_learn_past(ask.profile->profile, ask.usage->store, from->ns, to_ns, &learnt);
        if (err < 0 && err != -ENODATA)
                return failed(form->app, err);
        form->profile = learnt ? learnt : ask.profile->profile;
        form->usage = true;
        if (!options->json && !options->profile)
                answer_note_basis(form->profile);
        replay.index = index = options->device ? NULL : desktop_index_of_user();
        err = replay_store(&replay, ask.usage->store, from->ns, to_ns);
        desktop_index_free(index);
        cost_maker_free(replay.totals);
        form->app = asked;
        return err < 0 ? failed(form->app, err) : CODE_OK;
}

int trace_main(int argc, char **argv)
{
        _cleanup_(tracer_close) struct tracer tracer = { .from.ns = INT64_MIN, .to_ns = INT64_MAX, .signal_fd = -1,
                                                         .timer_fd = -1 };
        const struct option_row rows[] = {
                OPTIONS_FROM(&tracer.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&tracer.to_ns) },
                { "interval", "S", N_("seconds between two lines"), .usual = "1", .number = &tracer.interval_s,
                  .low = 0.1, .high = 86400, .unit = "s" },
                { "count", "N", N_("end after N intervals; without it, at Ctrl-C"), .count = &tracer.count, .low = 1 },
                { "app", "A", N_("show only this app, by its id or its name"), .text = &tracer.form.app },
                { "by", "process", N_("show a row for each process in place of each app"),
                  .text = &tracer.by, .words = "process" },
                { "collector", "NAME", N_("how to read processes (joulecast doctor lists the ways)"),
                  .text = &tracer.collector },
        };
        const struct option_table command = {
                .called = "joulecast trace",
                .usage = "joulecast trace [--interval S] [--count N] [--app A] [--by process]\n"
                         "joulecast trace --from T | --since WHAT [--to T] [--app A]",
                .about = N_("Power by component and app, again and again, until Ctrl-C. Root sees all apps, other "
                            "users their own. --json writes one line for each interval; --database FILE also "
                            "records, as joulecastd does. With --from or --since it shows the recorded polls "
                            "instead: power, what was used, and at the end the sums in joules."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code = options_parse(&command, SHARED_ASK, argc, argv, &tracer.options);

        if (code >= 0)
                return code;
        code = check_options(&tracer);
        if (code != CODE_OK)
                return code;
        tracer.form.json = tracer.options.json;
        trace_form_make(&tracer.form);
        if (is_past(&tracer))
                return trace_past(&tracer.options, &tracer.from, tracer.to_ns, tracer.count, &tracer.form);
        if (tracer.interval_s == 0)
                tracer.interval_s = INTERVAL_S;
        return trace_now(&tracer);
}
