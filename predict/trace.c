/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast trace`: power by component and app, now, as often as asked. The
 * poller's own sources and intervals, priced at once instead of stored; with
 * --database stored, too.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include "answer.h"
#include "commands.h"
#include "forecast/cost.h"
#include "machine/machine.h"
#include "model/json-print.h"
#include "names.h"
#include "options.h"
#include "util/config.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

#define SHOWN_FROM_W 0.0005 /* of an app in the table: less prints as 0.000 */
#define APP_COLUMNS 24
#define APP_COLUMNS_LEAST 12
#define COLUMNS_WIDE 99    /* of a table with APP_COLUMNS */
#define COLUMNS_BUT_APP 64 /* of a narrow one */

struct tracer {
        struct options options;
        double interval_s;
        uint64_t count;
        const char *app;        /* NULL: all */
        const char *collector;
        bool narrow;            /* the terminal */
        int app_columns;

        struct profile *profile;
        struct desktop_index *index;
        struct sources sources;
        struct store *store;    /* NULL: not recorded */
        struct store_retention retention;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        uint64_t intervals;
        int signal_fd, timer_fd;
};

static void tracer_close(struct tracer *tracer)
{
        sources_close(&tracer->sources);
        store_close(tracer->store);
        interval_maker_free(tracer->maker);
        interval_clear(&tracer->interval);
        sample_clear(&tracer->sample);
        profile_free(tracer->profile);
        desktop_index_free(tracer->index);
        closep(&tracer->signal_fd);
        closep(&tracer->timer_fd);
}

static int add_row(struct cost_maker *maker, const struct interval *interval, const struct interval_row *row,
                   const struct usage *usage, enum app_state state, uint64_t active_ns)
{
        const struct store_row stored = {
                .start_ns = interval->start_realtime_ns,
                .end_ns = interval->end_realtime_ns,
                .app = row->app,
                .name = row->app,
                .uid = row->uid,
                .state = state,
                .active_ns = active_ns,
                .usage = usage,
        };

        return cost_maker_add(maker, &stored);
}

/* As `joulecast cost` prices the same rows. */
static int price(const struct tracer *tracer, struct cost **ret)
{
        const struct interval *interval = &tracer->interval;
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        struct store_battery battery = {
                .discharge_uj = interval->discharge_uj,
                .discharge_percent = interval->discharge_percent,
                .known_ns = interval->battery_have & INTERVAL_DISCHARGE ? interval->elapsed_ns : 0,
                .elapsed_ns = interval->elapsed_ns,
                .first_ns = interval->start_realtime_ns,
                .last_ns = interval->end_realtime_ns,
                .last = interval->battery,
        };
        int err = cost_maker_new(&maker);

        for (size_t i = 0; !err && i < interval->n_rows; i++) {
                const struct interval_row *row = &interval->rows[i];

                if (!usage_is_empty(&row->usage)) /* else it was only alive */
                        err = add_row(maker, interval, row, &row->usage, row->state, interval->elapsed_ns);
        }
        return err ? err : cost_maker_finish(maker, tracer->profile, &battery, ret);
}

static bool is_wanted(const struct tracer *tracer, const struct cost_app *app)
{
        return !tracer->app || strcmp(app->app, tracer->app) == 0 || strcmp(app->name, tracer->app) == 0;
}

/* The battery's level moves in steps: only a current sensor gives the power of a second. */
static double measured_w(const struct interval *interval)
{
        return interval->battery.have & BATTERY_POWER && interval->battery.status == BATTERY_DISCHARGING
                       ? (double)interval->battery.power_uw * 1e-6 : NAN;
}

static struct cJSON *power_json(const struct cost_value *energy_j, double seconds)
{
        const struct cost_value power_w = { energy_j->value / seconds, energy_j->low / seconds,
                                            energy_j->high / seconds };

        return answer_value(&power_w);
}

static struct cJSON *app_json(const struct cost_app *app, double seconds)
{
        struct cJSON *json = cJSON_CreateObject(), *components;

        cJSON_AddItemToObject(json, "app", answer_text(app->app));
        cJSON_AddStringToObject(json, "state", answer_state(app->state));
        cJSON_AddItemToObject(json, "power_w", power_json(&app->energy_j, seconds));
        components = cJSON_AddObjectToObject(json, "components_w");
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                cJSON_AddNumberToObject(components, component_names[c], app->component_j[c] / seconds);
        return json;
}

/* One line an interval. */
static int print_json(const struct tracer *tracer, const struct cost *cost, double seconds)
{
        struct cJSON *json = cJSON_CreateObject(), *list;
        _cleanup_free_ char *text = NULL;
        char time[32];

        values_print_time(cost->to_ns, time, sizeof(time));
        cJSON_AddStringToObject(json, "time", time);
        cJSON_AddNumberToObject(json, "elapsed_s", seconds);
        cJSON_AddNumberToObject(json, "suspend_s", (double)tracer->interval.suspend_ns / 1e9);
        cJSON_AddNumberToObject(json, "measured_w", measured_w(&tracer->interval));
        cJSON_AddItemToObject(json, "total_w", power_json(&cost->total_j, seconds));
        cJSON_AddNumberToObject(json, "base_w", cost->base_j / seconds);
        cJSON_AddStringToObject(json, "profile_basis", profile_basis(tracer->profile));
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < cost->n_apps; i++)
                if (is_wanted(tracer, &cost->apps[i]))
                        cJSON_AddItemToArray(list, app_json(&cost->apps[i], seconds));
        text = json_print(json, JSON_LINE);
        if (!text)
                return -ENOMEM;
        return puts(text) == EOF ? -errno : 0;
}

/* A narrow terminal has shorter names and numbers. */
static void lay_out(struct tracer *tracer)
{
        size_t columns = table_columns();

        tracer->narrow = columns > 0 && columns < COLUMNS_WIDE;
        tracer->app_columns = APP_COLUMNS;
        if (tracer->narrow)
                tracer->app_columns = MAX((int)columns - COLUMNS_BUT_APP, APP_COLUMNS_LEAST);
}

static int power_columns(const struct tracer *tracer, size_t component)
{
        return !tracer->narrow ? 9 : component == COMPONENT_DISPLAY ? 8 : 7;
}

static void print_power(double watt, int columns)
{
        if (isnan(watt))
                printf("%*s", columns, "?");
        else
                printf("%*.*f", columns, fabs(watt) < 99.9995 ? 3 : 2, watt);
}

/* What no counter shows has a column where everyday use taught some of it. */
static size_t components_shown(const struct tracer *tracer)
{
        return tracer->profile->n_apps > 0 ? COMPONENT_BASE : COMPONENT_UNSEEN;
}

static void print_heads(const struct tracer *tracer)
{
        printf("%-8s  %-*s %-10s%*s", "time", tracer->app_columns, "app", "state",
               power_columns(tracer, COMPONENT_COUNT), "W");
        for (size_t c = 0; c < components_shown(tracer); c++)
                printf("%*s", power_columns(tracer, c), component_names[c]);
        putchar('\n');
}

static void print_line(const struct tracer *tracer, const char *time, const char *app, const char *state,
                       double watt, const double *component_j, double seconds)
{
        char name[APP_ID_MAX];
        int room = tracer->app_columns;

        printf("%-8s  ", time);
        room -= (int)table_print_cut(util_printable(app, name, sizeof(name)), (size_t)room);
        printf("%*s %-10s", room, "", state);
        print_power(watt, power_columns(tracer, COMPONENT_COUNT));
        for (size_t c = 0; component_j && c < components_shown(tracer); c++)
                print_power(component_j[c] / seconds, power_columns(tracer, c));
        putchar('\n');
}

static void print_app(const struct tracer *tracer, const struct cost_app *app, const char *clock,
                      double seconds)
{
        char name[APP_ID_MAX + 2];

        print_line(tracer, clock, names_in_table(app->app, app->name, name, sizeof(name)), answer_state(app->state),
                   app->energy_j.value / seconds, app->component_j, seconds);
}

/* Those that show, and the sum of those that do not, so that the lines are the total. */
static void print_apps(const struct tracer *tracer, const struct cost *cost, double seconds)
{
        double rest_j = 0;
        size_t n_rest = 0;
        char name[32];

        for (size_t i = 0; i < cost->n_apps; i++) {
                if (cost->apps[i].energy_j.value / seconds >= SHOWN_FROM_W) {
                        print_app(tracer, &cost->apps[i], "", seconds);
                } else {
                        rest_j += isnan(cost->apps[i].energy_j.value) ? 0 : cost->apps[i].energy_j.value;
                        n_rest++;
                }
        }
        snprintf(name, sizeof(name), "(%zu more)", n_rest);
        if (n_rest > 0 && rest_j / seconds >= SHOWN_FROM_W)
                print_line(tracer, "", name, "", rest_j / seconds, NULL, seconds);
}

/* A line for each interval, also while it does not run. */
static void print_one(const struct tracer *tracer, const struct cost *cost, const char *clock, double seconds)
{
        bool found = false;

        for (size_t i = 0; i < cost->n_apps; i++) {
                if (!is_wanted(tracer, &cost->apps[i]))
                        continue;
                print_app(tracer, &cost->apps[i], clock, seconds);
                found = true;
        }
        if (!found)
                print_line(tracer, clock, tracer->app, "-", 0, NULL, seconds);
}

static int print_table(const struct tracer *tracer, const struct cost *cost, double seconds)
{
        char time[32], *clock;

        values_print_local(cost->to_ns, time, sizeof(time));
        clock = strchr(time, ' ') ? strchr(time, ' ') + 1 : time;
        if (tracer->intervals % 20 == 0)
                print_heads(tracer);
        if (tracer->app) {
                print_one(tracer, cost, clock, seconds);
                return 0;
        }
        print_line(tracer, clock, "(all)", "", cost->total_j.value / seconds, NULL, seconds);
        print_line(tracer, "", "(base)", "", cost->base_j / seconds, NULL, seconds);
        print_apps(tracer, cost, seconds);
        return 0;
}

/* As joulecastd does. */
static int record(struct tracer *tracer)
{
        int err = store_append(tracer->store, &tracer->interval);

        return err ? err : store_roll_up(tracer->store, tracer->interval.end_realtime_ns, &tracer->retention);
}

/* Once. It is no error: the app may begin later. */
static void log_unseen(const struct tracer *tracer, const struct cost *cost)
{
        const struct interval *interval = &tracer->interval;
        char name[APP_ID_MAX];

        for (size_t i = 0; i < cost->n_apps; i++)
                if (is_wanted(tracer, &cost->apps[i]))
                        return;
        for (size_t i = 0; i < interval->n_rows; i++)
                if (strcmp(interval->rows[i].app, tracer->app) == 0)
                        return;
        log_info(&program_log,
                 "%s was not seen yet and has no power until it starts; without --app all apps are shown",
                 util_printable(tracer->app, name, sizeof(name)));
}

/* One poll. The first has no interval before it and prints nothing. */
static int look(struct tracer *tracer)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        double seconds;
        int err = sources_read(&tracer->sources, &tracer->sample);

        if (!err && sources_miss_processes(&tracer->sources))
                return interval_skip(tracer->maker, &tracer->sample);
        if (!err)
                err = interval_make(tracer->maker, &tracer->sample, &tracer->interval);
        if (err)
                return err == -ENODATA ? 0 : err;
        if (tracer->store)
                err = record(tracer);
        if (!err)
                err = price(tracer, &cost);
        if (err)
                return err;
        names_localise(tracer->index, cost);
        seconds = (double)tracer->interval.elapsed_ns / 1e9;
        if (tracer->app && tracer->intervals == 0)
                log_unseen(tracer, cost);
        err = tracer->options.json ? print_json(tracer, cost, seconds) : print_table(tracer, cost, seconds);
        tracer->intervals++;
        return !err && fflush(stdout) == EOF ? -errno : err;
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
        while (!err && (tracer->count == 0 || tracer->intervals < tracer->count)) {
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

int trace_main(int argc, char **argv)
{
        _cleanup_(tracer_close) struct tracer tracer = { .interval_s = 1, .signal_fd = -1, .timer_fd = -1 };
        const struct option_row rows[] = {
                { "interval", "S", "seconds between two lines", .usual = "1", .number = &tracer.interval_s,
                  .low = 0.1, .high = 86400, .unit = "s" },
                { "count", "N", "end after N intervals; without, at Ctrl-C", .count = &tracer.count, .low = 1 },
                { "app", "A", "this app alone: its id or its name", .text = &tracer.app },
                { "collector", "NAME", "how to read processes (see joulecast doctor)", .text = &tracer.collector },
        };
        const struct option_table command = {
                .called = "joulecast trace",
                .usage = "joulecast trace [--interval S] [--count N] [--app A]",
                .about = "Power by component and app, again and again, until Ctrl-C. Root sees all apps,\n"
                         "other users their own. --json writes one line for each interval; --database FILE\n"
                         "also records, as joulecastd does.",
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code, err;

        code = options_parse(&command, SHARED_PROFILE | SHARED_DATABASE | SHARED_MACHINE | SHARED_JSON, argc, argv,
                             &tracer.options);
        if (code >= 0)
                return code;
        if (tracer.options.device) {
                log_error(&program_log,
                          "trace is for this machine; for a virtual device use joulecast simulate");
                return CODE_USAGE;
        }
        code = open_profile(&tracer.options, &tracer.profile);
        if (code == CODE_OK)
                code = open_check_device(&tracer.options, tracer.profile);
        if (code != CODE_OK)
                return code;
        lay_out(&tracer);
        if (!tracer.options.json && !tracer.options.profile) /* who names one knows whose it is */
                answer_note_basis(tracer.profile);
        tracer.index = tracer.options.machine ? NULL : names_open();
        err = open_all(&tracer);
        if (err == -EINVAL && tracer.collector)
                return CODE_USAGE;
        if (!err) {
                err = trace(&tracer);
                if (err)
                        log_error(&program_log, "%s: %s", ferror(stdout) ? "the answer could not be written"
                                                                         : "tracing stopped", strerror(-err));
        }
        return err ? CODE_FAILED : CODE_OK;
}
