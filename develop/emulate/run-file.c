/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run-file.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/json-print.h"
#include "run-rows.h"
#include "util/units.h"
#include "util/util.h"

#define VERSION 1
#define JSON_BYTES_MAX (1 << 20)

void run_file_clear(struct recorded_run *run)
{
        free(run->target);
        free(run->network);
        free(run->carrier);
        free(run->signal);
        free(run->app);
        for (size_t i = 0; i < run->n_runs; i++)
                price_clear_run(&run->runs[i]);
        *run = (struct recorded_run){ 0 };
}

static struct cJSON *to_json(const struct recorded_run *run)
{
        struct cJSON *json = cJSON_CreateObject(), *speeds, *runs;

        cJSON_AddNumberToObject(json, "version", VERSION);
        cJSON_AddStringToObject(json, "target", run->target);
        cJSON_AddStringToObject(json, "network", run->network);
        if (run->carrier)
                cJSON_AddStringToObject(json, "carrier", run->carrier);
        if (run->signal)
                cJSON_AddStringToObject(json, "signal", run->signal);
        if (run->app)
                cJSON_AddStringToObject(json, "app", run->app);
        cJSON_AddNumberToObject(json, "brightness_percent", run->brightness_percent);
        if (isfinite(run->cpu_factor))
                cJSON_AddNumberToObject(json, "cpu_factor", run->cpu_factor);
        speeds = cJSON_AddArrayToObject(json, "speed");
        for (int k = 0; k < BENCH_KERNELS; k++)
                cJSON_AddItemToArray(speeds, cJSON_CreateNumber(run->speed[k]));
        runs = cJSON_AddArrayToObject(json, "runs");
        for (size_t i = 0; i < run->n_runs; i++) {
                struct cJSON *one = cJSON_CreateObject();

                cJSON_AddNumberToObject(one, "seed", (double)run->runs[i].seed);
                cJSON_AddNumberToObject(one, "wall_ns", (double)run->runs[i].wall_ns);
                cJSON_AddNumberToObject(one, "status", run->runs[i].status);
                cJSON_AddStringToObject(one, "cpu_means", record_means[run->runs[i].means]);
                cJSON_AddNumberToObject(one, "cpu_reached", run->runs[i].cpu_reached);
                cJSON_AddNumberToObject(one, "outlived", run->runs[i].outlived);
                cJSON_AddNumberToObject(one, "down_slow_s", run->runs[i].slow_s[RADIO_RX]);
                cJSON_AddNumberToObject(one, "up_slow_s", run->runs[i].slow_s[RADIO_TX]);
                cJSON_AddItemToArray(runs, one);
        }
        return json;
}

static bool is_empty(DIR *dir)
{
        const struct dirent *entry;

        while ((entry = readdir(dir)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        return false;
        return true;
}

int run_check_folder(const char *folder, const struct log *log)
{
        struct recorded_run old = { 0 };
        char printable[256];
        DIR *dir = opendir(folder);
        bool empty = dir && is_empty(dir);
        int err = dir || errno == ENOENT ? 0 : -errno;

        if (dir)
                closedir(dir);
        if (err) {
                log_error(log, "a run cannot be written into %s (%s); give -o the name of a new folder",
                          util_printable(folder, printable, sizeof(printable)), util_reason(err));
                return err;
        }
        if (!dir || empty)
                return 0;
        err = run_load(folder, NULL, &old);
        if (err < 0) {
                log_error(log, "%s has other files than those of a run; -o takes the name of a new folder, "
                               "or that of a run to replace",
                          util_printable(folder, printable, sizeof(printable)));
                return err;
        }
        run_file_clear(&old);
        return 0;
}

int run_save(const struct recorded_run *run, const char *folder, const struct log *log)
{
        _cleanup_free_ char *text = NULL;
        char path[4096];
        int err = 0;

        if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
                log_error(log, "the folder %s cannot be made: %s", folder, strerror(errno));
                return -errno;
        }
        for (size_t i = 0; !err && i < run->n_runs; i++) {
                err = run_rows_save(&run->runs[i], folder, log);
        }
        if (err)
                return err;
        text = json_print(to_json(run), JSON_INDENTED);
        if (!text)
                return -ENOMEM;
        snprintf(path, sizeof(path), "%s/run.json", folder); /* last: without it the folder is no run */
        err = util_write_file(path, text, strlen(text), 0644);
        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}

static char *text_of(const struct cJSON *json, const char *key)
{
        const struct cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

        return cJSON_IsString(item) ? strdup(item->valuestring) : NULL;
}

/* A number from @low to @high, or NaN. */
static double number_of(const struct cJSON *item, double low, double high)
{
        return cJSON_IsNumber(item) && item->valuedouble >= low && item->valuedouble <= high ? item->valuedouble : NAN;
}

static double member_of(const struct cJSON *json, const char *key, double low, double high)
{
        return number_of(cJSON_GetObjectItemCaseSensitive(json, key), low, high);
}

/* False: something is missing or not possible. */
static bool read_conditions(const struct cJSON *json, struct recorded_run *run)
{
        const struct cJSON *speed = cJSON_GetObjectItemCaseSensitive(json, "speed");

        run->target = text_of(json, "target");
        run->network = text_of(json, "network");
        run->carrier = text_of(json, "carrier");
        run->signal = text_of(json, "signal");
        run->app = text_of(json, "app");
        run->brightness_percent = member_of(json, "brightness_percent", 0, 100);
        run->cpu_factor = member_of(json, "cpu_factor", 0.01, 1000);
        for (int k = 0; k < BENCH_KERNELS; k++)
                run->speed[k] = number_of(cJSON_GetArrayItem(speed, k), 1e-9, 1e12);
        return member_of(json, "version", VERSION, VERSION) == VERSION && run->target && run->network &&
               !isnan(run->brightness_percent);
}

static int read_run(const struct cJSON *json, const char *folder, const struct log *log, struct run *run)
{
        double seed = member_of(json, "seed", 0, 9e15),
               wall_ns = member_of(json, "wall_ns", 1, (double)RUN_ROWS_NS_MAX);
        double status = member_of(json, "status", 0, INT32_MAX);
        const struct cJSON *means = cJSON_GetObjectItemCaseSensitive(json, "cpu_means");
        int at = 0;

        while (cJSON_IsString(means) && at < CPU_MEANS && strcmp(means->valuestring, record_means[at]) != 0)
                at++;
        if (isnan(seed) || isnan(wall_ns) || isnan(status) || !cJSON_IsString(means) || at == CPU_MEANS) {
                log_error(log, "%s/run.json is no run of joulecast emulate: a run needs seed, wall_ns, "
                               "status and cpu_means",
                          folder);
                return -EINVAL;
        }
        run->means = (enum cpu_means)at;
        run->cpu_reached = member_of(json, "cpu_reached", 0, 1e9); /* not in runs of older versions */
        run->outlived = member_of(json, "outlived", 0, UINT32_MAX);
        run->slow_s[RADIO_RX] = member_of(json, "down_slow_s", 0, 1e9);
        run->slow_s[RADIO_TX] = member_of(json, "up_slow_s", 0, 1e9);
        run->seed = (uint64_t)seed;
        run->wall_ns = (int64_t)wall_ns;
        run->status = (int32_t)status;
        return run_rows_load(folder, log, run);
}

static int read_runs(const struct cJSON *json, const char *folder, const struct log *log, struct recorded_run *run)
{
        const struct cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "runs"), *one;
        int err = 0;

        if (!read_conditions(json, run) || cJSON_GetArraySize(runs) < 1 || cJSON_GetArraySize(runs) > PRICE_SEEDS_MAX) {
                log_error(log, "%s/run.json is no run of joulecast emulate, or of another version", folder);
                return -EINVAL;
        }
        cJSON_ArrayForEach(one, runs)
                if (!err)
                        err = read_run(one, folder, log, &run->runs[run->n_runs++]);
        return err;
}

int run_load(const char *folder, const struct log *log, struct recorded_run *ret)
{
        _cleanup_free_ char *text = malloc(JSON_BYTES_MAX);
        struct recorded_run run = { .cpu_factor = NAN };
        struct cJSON *json;
        char path[4096];
        ssize_t n;
        int err;

        snprintf(path, sizeof(path), "%s/run.json", folder);
        if (!text)
                return -ENOMEM;
        n = util_read_at(AT_FDCWD, path, text, JSON_BYTES_MAX);
        if (n < 0) {
                log_error(log, "%s is no run of joulecast emulate -o: %s", folder, strerror((int)-n));
                return (int)n;
        }
        json = cJSON_Parse(text);
        err = read_runs(json, folder, log, &run);
        cJSON_Delete(json);
        if (err)
                run_file_clear(&run);
        else
                *ret = run;
        return err;
}
