/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes runs and observations, each in a transaction. */

#include "observations-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>

#include "util/util.h"

static void bind_real(sqlite3_stmt *statement, const char *name, double value)
{
        int at = sqlite3_bind_parameter_index(statement, name);

        if (isfinite(value))
                sqlite3_bind_double(statement, at, value);
        else
                sqlite3_bind_null(statement, at);
}

static void bind_integer(sqlite3_stmt *statement, const char *name, int64_t value)
{
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, name), value);
}

static void bind_text(sqlite3_stmt *statement, const char *name, const char *value)
{
        sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, name), value, -1, SQLITE_STATIC);
}

int observations_start(struct observations *observations, struct observation_run *run)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int err = observations_prepare(observations,
                "INSERT INTO run (device, method, plan, seed, start_realtime_ns, energy_full_mwh,"
                " max_brightness, description) VALUES (:device, :method, :plan, :seed, :start, :energy,"
                " :brightness, :description)",
                &statement);

        if (err)
                return err;
        bind_text(statement, ":device", run->device);
        bind_text(statement, ":method", run->method);
        bind_text(statement, ":plan", run->plan);
        bind_integer(statement, ":seed", (int64_t)run->seed);
        bind_integer(statement, ":start", run->start_realtime_ns);
        bind_real(statement, ":energy", run->energy_full_mwh);
        bind_integer(statement, ":brightness", run->max_brightness);
        bind_text(statement, ":description", run->description);
        err = observations_complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        run->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

static void bind_observation(sqlite3_stmt *statement, const struct observation *observation)
{
        bind_integer(statement, ":run", observation->run);
        bind_integer(statement, ":sequence", observation->sequence);
        bind_integer(statement, ":pass", observation->pass);
        bind_text(statement, ":mode", observation->mode);
        bind_text(statement, ":kind", observation->kind);
        bind_text(statement, ":method", observation_method_names[observation->method]);
        bind_integer(statement, ":start", observation->start_realtime_ns);
        bind_integer(statement, ":elapsed", (int64_t)observation->elapsed_ns);
        bind_real(statement, ":percent", observation->percent);
        bind_real(statement, ":steps", observation->steps);
        bind_real(statement, ":charge_full", observation->charge_full_uah);
        bind_real(statement, ":voltage", observation->voltage_mv);
        bind_real(statement, ":power", observation->power_mw);
        bind_integer(statement, ":gauge_updates", observation->gauge_updates);
        bind_real(statement, ":refresh", observation->refresh_s);
        bind_real(statement, ":temperature", observation->temperature_c);
        bind_integer(statement, ":burn", observation->burn);
        bind_integer(statement, ":held_back", observation->held_back);
        bind_text(statement, ":rejected", observation->rejected);
}

int observations_append(struct observations *observations, struct observation *observation)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        cJSON *json = usage_to_json(&observation->usage);
        _cleanup_free_ char *usage = cJSON_PrintUnformatted(json);
        int err = usage ? 0 : -ENOMEM;

        cJSON_Delete(json);
        if (!err)
                err = observations_prepare(observations,
                        "INSERT INTO observation (run, sequence, pass, mode, kind, method,"
                        " start_realtime_ns, elapsed_ns, percent, steps, charge_full_uah, voltage_mv,"
                        " power_mw, gauge_updates, refresh_s, temperature_c, usage, burn, held_back,"
                        " rejected) VALUES (:run, :sequence, :pass, :mode, :kind, :method, :start,"
                        " :elapsed, :percent, :steps, :charge_full, :voltage, :power, :gauge_updates,"
                        " :refresh, :temperature, :usage, :burn, :held_back, :rejected)",
                        &statement);
        if (err)
                return err;
        bind_observation(statement, observation);
        bind_text(statement, ":usage", usage);
        err = observations_complain(observations, sqlite3_step(statement), "be written");
        if (err)
                return err;
        observation->id = sqlite3_last_insert_rowid(observations->db);
        return 0;
}

int observations_finish(struct observations *observations, int64_t run)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int err = observations_prepare(observations, "UPDATE run SET finished = 1 WHERE id = :run",
                                       &statement);

        if (err)
                return err;
        bind_integer(statement, ":run", run);
        return observations_complain(observations, sqlite3_step(statement), "be written");
}
