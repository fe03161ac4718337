/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast simulate`: a scenario on a virtual device, watched by the poller's own code. The database gets
 * what a poller sees; only --truth has what really happened.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "interval/interval.h"
#include "model/json-print.h"
#include "options.h"
#include "store/store.h"
#include "util/own-folder.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/scenario.h"
#include "virtual/virtual-truth.h"

struct arguments {
        struct options options;
        const char *scenario, *truth;
        double start_percent;
        double interval_s;
        uint64_t seed;
        bool append;
};

/* State that a poller keeps from poll to poll. */
struct watcher {
        struct source *source;
        struct store *store;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        unsigned polls;
        uint32_t first_percent, last_percent; /* as shown */
};

static void watcher_clear(struct watcher *watcher)
{
        if (watcher->source)
                watcher->source->ops->close(watcher->source);
        store_close(watcher->store);
        interval_maker_free(watcher->maker);
        sample_clear(&watcher->sample);
        interval_clear(&watcher->interval);
}

static int cannot_record(const char *database, int err)
{
        log_error(&program_log, "simulate: cannot record in %s: %s", database, own_folder_why(err));
        return err;
}

/* Logs why it fails; the store does so itself. */
static int watcher_open(struct watcher *watcher, struct virtual_device *device, const char *database, bool append)
{
        int err = virtual_source_open(device, &watcher->source);

        if (!err)
                err = interval_maker_new(&watcher->maker);
        if (!err)
                err = own_folder_make(database, 0700);
        if (err < 0)
                return cannot_record(database, err);
        return store_open(database, append ? STORE_SIMULATE_MORE : STORE_SIMULATE, &program_log, &watcher->store);
}

/* Sets the device's time so that the run ends now; or, if the database has records, begins at their end. */
static int set_time(const struct watcher *watcher, struct virtual_device *device, const char *database, int64_t end_ns,
                    int64_t length_ns)
{
        int64_t first_ns, last_ns;
        int err = store_span(watcher->store, &first_ns, &last_ns);

        if (err < 0 && err != -ENODATA)
                return err;
        if (!err && last_ns > INT64_MAX - length_ns)
                return cannot_record(database, -EOVERFLOW);
        virtual_set_realtime(device, err < 0 ? end_ns - length_ns : last_ns);
        return 0;
}

/* One poll, as joulecastd makes it. */
static int poll_device(struct watcher *watcher)
{
        uint32_t percent;
        int err;

        sample_reset(&watcher->sample);
        err = watcher->source->ops->read(watcher->source, &watcher->sample);
        if (err < 0)
                return err;
        percent = watcher->sample.battery.capacity_percent;
        if (watcher->polls++ == 0)
                watcher->first_percent = percent;
        watcher->last_percent = percent;
        err = interval_make(watcher->maker, &watcher->sample, &watcher->interval);
        if (err == -ENODATA) /* the first sample has no interval before it */
                return 0;
        return err < 0 ? err : store_append(watcher->store, &watcher->interval);
}

/*
 * Time passes from one event to the next:
 * a poll, or a segment that begins or ends. -ENODATA: the battery is empty.
 */
static int play(const struct scenario *scenario, struct virtual_device *device, struct watcher *watcher,
                uint64_t interval_ns)
{
        uint64_t now_ns = 0, next_poll_ns = 0, next_change_ns = 0;
        bool empty = false;

        for (;;) {
                int err = 0;

                if (now_ns == next_change_ns && !empty) {
                        err = scenario_apply(scenario, now_ns, device);
                        next_change_ns = scenario_next_ns(scenario, now_ns);
                }
                if (!err && (now_ns == next_poll_ns || now_ns == scenario->end_ns || empty)) {
                        err = poll_device(watcher);
                        next_poll_ns = now_ns + interval_ns;
                }
                if (err < 0)
                        return err;
                if (empty || now_ns == scenario->end_ns)
                        return empty ? -ENODATA : 0;
                err = virtual_advance(device, MIN(next_change_ns, next_poll_ns) - now_ns);
                now_ns = virtual_now_ns(device);
                empty = err == -ENODATA;
                if (err < 0 && !empty)
                        return err;
        }
}

static void add_parts(struct cJSON *json, const char *key, const struct virtual_truth_app *app)
{
        struct cJSON *parts = cJSON_AddObjectToObject(json, key);

        for (size_t i = 0; i < VIRTUAL_PART_COUNT; i++)
                cJSON_AddNumberToObject(parts, virtual_part_names[i], app->part_j[i]);
}

static struct cJSON *truth_json(const struct virtual_truth *truth)
{
        struct cJSON *json = cJSON_CreateObject(), *apps, *components;

        cJSON_AddNumberToObject(json, "total_j", truth->total_j);
        cJSON_AddNumberToObject(json, "base_j", truth->base_j);
        cJSON_AddNumberToObject(json, "percent_start", truth->percent_start);
        cJSON_AddNumberToObject(json, "percent_end", truth->percent_end);
        apps = cJSON_AddObjectToObject(json, "apps");
        components = cJSON_AddObjectToObject(json, "components_j");
        for (size_t i = 0; i < truth->n_apps; i++) {
                char key[APP_ID_MAX + 16];

                snprintf(key, sizeof(key), "%s/%s", truth->apps[i].app,
                         truth->apps[i].foreground ? "foreground" : "background");
                cJSON_AddNumberToObject(apps, key, truth->apps[i].energy_j);
                add_parts(components, key, &truth->apps[i]);
        }
        return json;
}

static int write_truth(struct virtual_device *device, const char *path)
{
        _cleanup_free_ char *text = NULL;
        struct virtual_truth truth;
        char *line = NULL;
        int err = virtual_truth_read(device, &truth);

        if (!err)
                text = json_print(truth_json(&truth), JSON_INDENTED);
        if (!err)
                err = text && asprintf(&line, "%s\n", text) >= 0 ? 0 : -ENOMEM;
        if (!err) {
                err = util_write_file(path, line, strlen(line), 0644);
                free(line);
        }
        if (err < 0)
                log_error(&program_log, "%s: %s", path, util_reason(err));
        return err;
}

static int answer(const struct arguments *arguments, const struct profile *truth, const struct watcher *watcher,
                uint64_t ns, const char *database)
{
        struct cJSON *json;
        char length[32];

        if (!arguments->options.json) {
                printf(words_counted("%s: %s simulated in %u poll, battery from %u %% to %u %%.\nRecorded in %s\n",
                                     "%s: %s simulated in %u polls, battery from %u %% to %u %%.\nRecorded in %s\n",
                                     watcher->polls),
                       truth->device, answer_print_duration((double)ns / 1e9, length), watcher->polls,
                       watcher->first_percent, watcher->last_percent, database);
                return CODE_OK;
        }
        json = cJSON_CreateObject();
        cJSON_AddItemToObject(json, "device", answer_text(truth->device));
        cJSON_AddItemToObject(json, "database", answer_text(database));
        cJSON_AddNumberToObject(json, "seconds", (double)ns / 1e9);
        cJSON_AddNumberToObject(json, "polls", watcher->polls);
        cJSON_AddNumberToObject(json, "percent_start", watcher->first_percent);
        cJSON_AddNumberToObject(json, "percent_end", watcher->last_percent);
        return answer_print_json(json);
}

static int run(const struct arguments *arguments, const struct profile *truth,
               const struct scenario *scenario, const char *database, int64_t realtime_ns)
{
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        _cleanup_(watcher_clear) struct watcher watcher = { 0 };
        int err = virtual_open(truth, VIRTUAL_SIMULATE, arguments->seed, arguments->start_percent,
                               &program_log, &device);

        if (!err)
                err = watcher_open(&watcher, device, database, arguments->append);
        if (!err)
                err = set_time(&watcher, device, database, realtime_ns, (int64_t)scenario->end_ns);
        if (err < 0)
                return CODE_FAILED;
        err = play(scenario, device, &watcher, (uint64_t)llround(arguments->interval_s * 1e9));
        if (err == -ENODATA)
                log_warning(&program_log, "simulate: the battery was empty after %.0f s of %.0f s",
                            (double)virtual_now_ns(device) / 1e9, (double)scenario->end_ns / 1e9);
        else if (err < 0) {
                if (err != -ENOBUFS) /* the device has said why */
                        cannot_record(database, err);
                return CODE_FAILED;
        }
        if (arguments->truth && write_truth(device, arguments->truth) < 0)
                return CODE_FAILED;
        return answer(arguments, truth, &watcher, virtual_now_ns(device), database);
}

static int simulate(const struct arguments *arguments, int64_t realtime_ns)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_(scenario_freep) struct scenario *scenario = NULL;
        _cleanup_free_ char *database = NULL;
        int err;

        if (!arguments->options.device || !arguments->scenario) {
                log_error(&program_log, "%s is needed; see joulecast simulate --help",
                          arguments->options.device ? "--scenario FILE" : "--device virtual:NAME");
                return CODE_USAGE;
        }
        if (virtual_load(arguments->options.device, &program_log, &truth) < 0 ||
            scenario_load(arguments->scenario, truth, &program_log, &scenario) < 0)
                return CODE_FAILED;
        if (arguments->options.database)
                err = (database = strdup(arguments->options.database)) ? 0 : -ENOMEM;
        else
                err = paths_usage(arguments->options.device, true, &database);
        if (err < 0) {
                log_error(&program_log, "there is no folder for a database (%s); use --database FILE",
                          strerror(-err));
                return CODE_FAILED;
        }
        return run(arguments, truth, scenario, database, realtime_ns);
}

int simulate_main(int argc, char **argv)
{
        int64_t realtime_ns = values_now_ns();
        struct arguments arguments = { .start_percent = 90, .interval_s = 30, .seed = 1 };
        const struct option_row rows[] = {
                { "scenario", "FILE",
                  N_("which app does what, and when: a file, or a shipped one: airport, office, evening"),
                  .text = &arguments.scenario },
                { "truth", "FILE", N_("write the true energies to this file, as JSON"), .text = &arguments.truth },
                { "start-percent", "PERCENT", N_("charge at the start"), .usual = "90",
                  .number = &arguments.start_percent, .low = 0.01, .high = 100, .unit = "%" },
                { "append", NULL, N_("continue where the database ends, after charging to --start-percent"),
                  .flag = &arguments.append },
                { "interval", "S", N_("seconds between two polls"), .usual = "30",
                  .number = &arguments.interval_s, .low = 0.1, .high = 86400, .unit = "s" },
                { "seed", "N", N_("another number gives other noise of measurements"), .usual = "1",
                  .count = &arguments.seed },
        };
        const struct option_table command = {
                .called = "joulecast simulate",
                .usage = "joulecast simulate --device virtual:NAME --scenario FILE\n"
                         "                   [--database FILE] [--truth FILE]",
                .about = N_("Runs a scenario on a virtual device and records it as the service would on a real one. "
                            "Simulated hours take seconds, and end now. Afterwards cost, predict and budget "
                            "answer from that database. A simulation replaces the one before it, or continues it "
                            "with --append. It never overwrites what a real machine recorded."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code;

        code = options_parse(&command, SHARED_DEVICE | SHARED_DATABASE | SHARED_JSON, argc, argv, &arguments.options);
        return code >= 0 ? code : simulate(&arguments, realtime_ns);
}
