/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "progress.h"
#include "refuse.h"
#include "util/units.h"
#include "util/util.h"

double night_used_percent(const struct night *night)
{
        return night->earlier_percent + runner_used_percent(&night->runner);
}

double night_hours(const struct night *night)
{
        double seconds = (double)(night->runner.look.at_ns - night->start_ns) / (double)NS_PER_S;

        return (night->earlier_s + seconds) / 3600;
}

static const char *floor_limit(const struct night *night)
{
        return night->description.force_discharge ? "40 % of charge" : "20 % of charge";
}

bool night_limit(struct night *night, double percent, double seconds)
{
        const struct options *options = night->options;

        if (night_used_percent(night) + percent > options->battery_limit_percent)
                night->stopped = "battery limit";
        else if (night_hours(night) + seconds / 3600 > options->time_limit_h)
                night->stopped = "time limit";
        else if (night->runner.look.capacity_percent - ceil(percent) <
                 refuse_floor_percent(&night->description))
                night->stopped = floor_limit(night);
        else if (refuse_night(night->n_rejected, night->n))
                night->stopped = "too many observations were rejected";
        else
                return false;
        return true;
}

/* As long as it took the last time, or as it is guessed to take at most. */
static double longest_s(const struct night *night, size_t mode)
{
        return isnan(night->seconds[mode])
                       ? plan_expected_s(&night->description, night->method, &night->plan.modes[mode])
                       : night->seconds[mode];
}

/*
 * A storage, a network or a radio that did not do what it was asked twice will hardly do it the third time: a
 * percent of the battery each. What disturbs the CPU or plugs a charger in passes.
 */
#define REFUSED_MAX 2

static bool was_refused(const struct night *night, size_t mode)
{
        const char *kind = night->plan.modes[mode].mode.kind;

        return night->refused[mode] >= REFUSED_MAX &&
               (!strcmp(kind, "disk") || !strcmp(kind, "wifi") || !strcmp(kind, "mixed"));
}

bool night_leaves_out(const struct night *night, size_t mode)
{
        const struct planned_mode *planned = &night->plan.modes[mode];
        double seconds = longest_s(night, mode);
        double writes = planned->mode.write_mb_per_s * BYTES_PER_MB * seconds;
        double moves = (planned->mode.rx_mb_per_s + planned->mode.tx_mb_per_s) * BYTES_PER_MB * seconds;

        return night->left_out[mode] || was_refused(night, mode) || night_is_away(night, mode) ||
               night->times[mode] >= planned->visits_max ||
               (writes > 0 && night->written_bytes + writes > night->limits.write_bytes) ||
               (moves > 0 && night->moved_bytes + moves > night->limits.wifi_bytes);
}

static double remaining_percent(const struct night *night)
{
        double floor_percent = night->runner.look.capacity_percent -
                               refuse_floor_percent(&night->description);

        return fmin(night->options->battery_limit_percent - night_used_percent(night), floor_percent);
}

static void count(struct night *night, const struct observation *observation, size_t mode)
{
        night->n++;
        if (refuse_is_pause(observation))
                return;
        night->n_rejected += observation->rejected[0] != '\0';
        night->written_bytes += (double)observation->usage.write_bytes;
        night->moved_bytes += (double)(observation->usage.wifi_rx_bytes + observation->usage.wifi_tx_bytes);
        if (mode >= night->plan.n || observation->burn)
                return;
        night->seconds[mode] = (double)observation->elapsed_ns / (double)NS_PER_S;
        night->times[mode] += observation->rejected[0] == '\0';
        night->refused[mode] += observation->rejected[0] && !refuse_is_away(observation);
}

static int observe(struct night *night, const struct observation *observation)
{
        _cleanup_free_ const char **left_out = calloc(night->plan.n + 1, sizeof(*left_out));
        struct fit_remaining remaining = {
                .percent = remaining_percent(night),
                .hours = night->options->time_limit_h - night_hours(night),
                .left_out = left_out,
        };

        if (!left_out)
                return -ENOMEM;
        for (size_t i = 0; i < night->plan.n; i++)
                if (night_leaves_out(night, i))
                        left_out[remaining.n_left_out++] = night->plan.modes[i].mode.name;
        return fit_child_observe(night->child, observation, &remaining, &night->judgement);
}

/* A follower that fails is left behind: the night goes on in randomised blocks. */
static void judge(struct night *night, const struct observation *observation, bool only_keep)
{
        int err;

        if (!night->child)
                return;
        if (only_keep)
                err = fit_child_keep(night->child, observation);
        else
                err = observe(night, observation);
        if (!err)
                return;
        log_warning(night->log, "joulecast-fit ended early; the night goes on in randomised blocks");
        fit_child_close(night->child);
        night->child = NULL;
        night->judgement = (struct fit_judgement){ .half_width_percent = NAN, .expected_hours = NAN,
                                                   .expected_percent = NAN };
}

int night_store(struct night *night, struct observation *observation, size_t mode)
{
        int err;

        observation->run = night->run.id;
        observation->sequence = night->sequence;
        observation->pass = night->pass;
        err = observations_append(night->observations, observation);
        if (err)
                return err;
        night->sequence++;
        count(night, observation, mode);
        judge(night, observation, night->method == METHOD_GAUGE && night->at + 1 < night->n_order);
        progress_observation(night->progress, night, observation);
        night_was_there(night, observation, mode);
        if (!observation->burn && observation->steps > night->biggest_percent)
                night->biggest_percent = observation->steps;
        return 0;
}

static size_t index_of(const struct plan *plan, const char *name)
{
        const struct planned_mode *mode = plan_find(plan, name);

        return mode ? (size_t)(mode - plan->modes) : SIZE_MAX;
}

/* What the sessions before have done counts as done, used and judged. */
static void take_up(struct night *night)
{
        double steps = 0, first = NAN, last = NAN;

        for (size_t i = 0; i < night->n_before; i++) {
                const struct observation *observation = &night->before[i];

                night->sequence = observation->sequence + 1;
                night->pass = observation->pass;
                night->earlier_s += (double)observation->elapsed_ns / (double)NS_PER_S;
                steps += isnan(observation->steps) ? 0 : observation->steps;
                first = isnan(first) ? observation->percent : first;
                last = observation->percent;
                count(night, observation, index_of(&night->plan, observation->mode));
                judge(night, observation, i + 1 < night->n_before);
        }
        night->earlier_percent = night->n_before ? fmax(steps, isnan(first - last) ? 0 : first - last) : 0;
}

/* The last run of this device, method and plan. */
static int find_run(struct night *night)
{
        struct observation_run *runs = NULL;
        size_t n = 0;
        int err = observations_runs(night->observations, &runs, &n);

        for (size_t i = n; !err && i > 0; i--) {
                struct observation_run *run = &runs[i - 1];

                if (strcmp(run->device, night->run.device) || strcmp(run->method, night->run.method) ||
                    strcmp(run->plan, night->run.plan))
                        continue;
                free(night->run.description);
                night->run = *run;
                night->run.description = NULL;
                night->was_finished = run->finished;
                err = observations_read(night->observations, run->id, &night->before, &night->n_before);
                break;
        }
        observations_free_runs(runs, n);
        return err;
}

double night_left_at(const struct night *night)
{
        const struct observation *last = night->n_before ? &night->before[night->n_before - 1] : NULL;

        if (!last)
                return NAN;
        /* Just below the edge of a step. */
        return last->percent - (isnan(last->steps) ? 0 : last->steps / 2) - 0.01;
}

int64_t night_ended_ns(const struct night *night)
{
        const struct observation *last = night->n_before ? &night->before[night->n_before - 1] : NULL;

        return last ? last->start_realtime_ns + (int64_t)last->elapsed_ns : 0;
}

int night_begin(struct night *night)
{
        cJSON *json = description_to_json(&night->description);
        int err;

        snprintf(night->run.device, sizeof(night->run.device), "%s", night->description.device);
        snprintf(night->run.method, sizeof(night->run.method), "%s", observation_method_names[night->method]);
        snprintf(night->run.plan, sizeof(night->run.plan), "%s", night->plan.sapp ? "sapp" : "");
        night->run.seed = night->options->seed;
        night->run.start_realtime_ns = night->hardware->ops->realtime_ns(night->hardware);
        night->run.energy_full_mwh = night->description.energy_full_mwh;
        night->run.max_brightness = night->description.max_brightness;
        night->run.description = cJSON_PrintUnformatted(json);
        cJSON_Delete(json);
        err = night->run.description ? 0 : -ENOMEM;
        if (!err && night->options->resume)
                err = find_run(night);
        if (!err && !night->run.id)
                err = observations_start(night->observations, &night->run);
        return err;
}

static int begin_child(struct night *night)
{
        int err;

        if (night->plan.sapp)
                return 0; /* it has an order and an end of its own */
        err = fit_child_open(&night->run, &night->description, &night->plan, night->database,
                             night->options->stop_percent, night->log, &night->child);
        if (err == -ENOENT)
                log_warning(night->log,
                            "joulecast-fit is not there; the night goes on without its judgement");
        else if (err)
                log_warning(night->log,
                            "joulecast-fit does not answer; the night goes on without its judgement");
        return err == -ENOMEM ? err : 0;
}

int night_open(struct night *night)
{
        night->last = SIZE_MAX;
        night->judgement = (struct fit_judgement){ .half_width_percent = NAN, .expected_hours = NAN,
                                                   .expected_percent = NAN };
        night->start_ns = night->runner.look.at_ns;
        night->order = calloc(NIGHT_ORDER_MAX(night), sizeof(*night->order));
        night->seconds = calloc(night->plan.n + 1, sizeof(*night->seconds));
        night->times = calloc(night->plan.n + 1, sizeof(*night->times));
        night->left_out = calloc(night->plan.n + 1, sizeof(*night->left_out));
        night->refused = calloc(night->plan.n + 1, sizeof(*night->refused));
        night->postponed = calloc(NIGHT_ORDER_MAX(night), sizeof(*night->postponed));
        if (!night->order || !night->seconds || !night->times || !night->left_out || !night->refused ||
            !night->postponed)
                return -ENOMEM;
        for (size_t i = 0; i < night->plan.n; i++)
                night->seconds[i] = NAN;
        if (begin_child(night) < 0)
                return -ENOMEM;
        take_up(night);
        return 0;
}

void night_close(struct night *night)
{
        fit_child_close(night->child);
        night->child = NULL;
        observations_free(night->before, night->n_before);
        free(night->run.description);
        free(night->order);
        free(night->seconds);
        free(night->times);
        free(night->left_out);
        free(night->refused);
        free(night->postponed);
}

/* What ended a wait early, in words; NULL: no limit but an error. */
static const char *limit_of(const struct night *night, int err)
{
        switch (err) {
        case -ECANCELED:
                return night->runner.reason;
        case -ETIMEDOUT:
                return "paused for two hours";
        case -ETIME:
                return "time limit";
        case -EDQUOT:
                return floor_limit(night);
        case -ENODATA:
                return "the battery is empty";
        default:
                return NULL;
        }
}

int night_run(struct night *night)
{
        double limit_s = (night->options->time_limit_h - night_hours(night)) * 3600;
        int err;

        if (isfinite(limit_s) && limit_s < 1e9)
                night->runner.deadline_ns = night->start_ns + (uint64_t)(fmax(limit_s, 0) * (double)NS_PER_S);
        err = night->method == METHOD_GAUGE ? night_gauge(night) : night_levels(night);
        if (limit_of(night, err)) {
                night->stopped = limit_of(night, err);
                err = 0;
        }
        night->hardware->ops->restore(night->hardware);
        if (!err)
                err = observations_finish(night->observations, night->run.id);
        return err;
}
