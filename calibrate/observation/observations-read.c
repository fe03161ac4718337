/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads runs and observations. */

#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

/* Text from the file is untrusted: cut it and remove control characters. */
static void column_text(sqlite3_stmt *statement, int column, char *buf, size_t size)
{
        const char *text = (const char *)sqlite3_column_text(statement, column);

        util_printable(text ? text : "", buf, size);
}

static double column_real(sqlite3_stmt *statement, int column)
{
        if (sqlite3_column_type(statement, column) == SQLITE_NULL)
                return NAN;
        return sqlite3_column_double(statement, column);
}

static uint32_t column_u32(sqlite3_stmt *statement, int column)
{
        int64_t value = sqlite3_column_int64(statement, column);

        return value < 0 || value > UINT32_MAX ? 0 : (uint32_t)value;
}

static int read_run(sqlite3_stmt *statement, struct observation_run *run)
{
        const char *description = (const char *)sqlite3_column_text(statement, 8);

        run->id = sqlite3_column_int64(statement, 0);
        column_text(statement, 1, run->device, sizeof(run->device));
        column_text(statement, 2, run->method, sizeof(run->method));
        column_text(statement, 3, run->plan, sizeof(run->plan));
        run->seed = (uint64_t)sqlite3_column_int64(statement, 4);
        run->start_realtime_ns = sqlite3_column_int64(statement, 5);
        run->energy_full_mwh = column_real(statement, 6);
        run->max_brightness = column_u32(statement, 7);
        run->finished = sqlite3_column_int(statement, 9) != 0;
        run->description = strdup(description ? description : "");
        return run->description ? 0 : -ENOMEM;
}

void observations_free_runs(struct observation_run *runs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(runs[i].description);
        free(runs);
}

/* A run without observations (refused or broken off) does not count. */
int observations_runs(struct observations *observations, struct observation_run **ret, size_t *n)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        struct observation_run *runs = NULL;
        size_t n_runs = 0, capacity = 0;
        int code, err = observations_prepare(observations,
                "SELECT id, device, method, plan, seed, start_realtime_ns, energy_full_mwh, max_brightness,"
                " description, finished FROM run WHERE id IN (SELECT run FROM observation) ORDER BY id",
                &statement);

        if (err)
                return err;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&runs, &capacity, n_runs + 1, sizeof(*runs));
                if (!err)
                        err = read_run(statement, &runs[n_runs]);
                if (err)
                        break;
                n_runs++;
        }
        if (!err)
                err = observations_complain(observations, code, "be read");
        if (err) {
                observations_free_runs(runs, n_runs);
                return err;
        }
        *ret = runs;
        *n = n_runs;
        return 0;
}

static int read_observation(sqlite3_stmt *statement, struct observation *observation)
{
        const char *usage = (const char *)sqlite3_column_text(statement, 17);
        cJSON *json = cJSON_Parse(usage ? usage : "");
        char method[16];
        int err;

        *observation = (struct observation){ 0 };
        err = usage_from_json(json, &observation->usage);
        cJSON_Delete(json);
        column_text(statement, 6, method, sizeof(method));
        if (!err)
                err = observation_method_from_name(method, &observation->method);
        observation->id = sqlite3_column_int64(statement, 0);
        observation->run = sqlite3_column_int64(statement, 1);
        observation->sequence = column_u32(statement, 2);
        observation->pass = column_u32(statement, 3);
        column_text(statement, 4, observation->mode, sizeof(observation->mode));
        column_text(statement, 5, observation->kind, sizeof(observation->kind));
        observation->start_realtime_ns = sqlite3_column_int64(statement, 7);
        observation->elapsed_ns = (uint64_t)MAX(sqlite3_column_int64(statement, 8), 0);
        observation->percent = column_real(statement, 9);
        observation->steps = column_real(statement, 10);
        observation->charge_full_uah = column_real(statement, 11);
        observation->voltage_mv = column_real(statement, 12);
        observation->power_mw = column_real(statement, 13);
        observation->gauge_updates = column_u32(statement, 14);
        observation->refresh_s = column_real(statement, 15);
        observation->temperature_c = column_real(statement, 16);
        observation->burn = sqlite3_column_int(statement, 18) != 0;
        observation->held_back = sqlite3_column_int(statement, 19) != 0;
        column_text(statement, 20, observation->rejected, sizeof(observation->rejected));
        return err;
}

void observations_free(struct observation *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        free(list);
}

int observations_read(struct observations *observations, int64_t run, struct observation **ret, size_t *n)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        struct observation *list = NULL;
        size_t n_list = 0, capacity = 0;
        int code, err = observations_prepare(observations,
                "SELECT id, run, sequence, pass, mode, kind, method, start_realtime_ns, elapsed_ns,"
                " percent, steps, charge_full_uah, voltage_mv, power_mw, gauge_updates, refresh_s,"
                " temperature_c, usage, burn, held_back, rejected FROM observation WHERE run = :run"
                " ORDER BY sequence", &statement);

        if (err)
                return err;
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":run"), run);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
                err = util_grow(&list, &capacity, n_list + 1, sizeof(*list));
                if (err)
                        break;
                err = read_observation(statement, &list[n_list++]);
                if (err == -EINVAL)
                        log_error(observations->log,
                                  "%s: observation %lld is damaged; name another file, or delete "
                                  "that row with sqlite3",
                                  observations->path, (long long)sqlite3_column_int64(statement, 0));
                if (err)
                        break;
        }
        if (!err)
                err = observations_complain(observations, code, "be read");
        if (err) {
                observations_free(list, n_list);
                return err;
        }
        *ret = list;
        *n = n_list;
        return 0;
}
