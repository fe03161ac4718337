/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/json-print.h"
#include "model/radio-usage.h"
#include "observation/scatter.h"
#include "refuse.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

double run_used_percent(const struct run *run)
{
        return run->earlier_percent + runner_used_percent(&run->runner);
}

double run_hours(const struct run *run)
{
        double seconds = (double)(run->runner.look.at_ns - run->start_ns) / (double)NS_PER_S;

        return (run->earlier_s + seconds) / 3600;
}

struct progress_state run_state(const struct run *run)
{
        return (struct progress_state){
                .percent = run->runner.look.capacity_percent,
                .used_percent = run_used_percent(run),
                .hours = run_hours(run),
                .hours_left = run_hours_left(run),
                .half_width_percent = run->judgement.half_width_percent,
                .observations = run->n,
                .stopped = run->stopped,
        };
}

static const char *floor_limit(const struct run *run)
{
        return run->description.force_discharge ? /* xgettext:no-c-format */ N_("40 % of charge")
                                                : /* xgettext:no-c-format */ N_("20 % of charge");
}

bool run_limit(struct run *run, double percent, double seconds)
{
        const struct run_request *request = &run->request;

        if (run_used_percent(run) + percent > request->battery_limit_percent)
                run->stopped = N_("battery limit");
        else if (run_hours(run) + seconds / 3600 > request->time_limit_h)
                run->stopped = N_("time limit");
        else if (run->runner.look.capacity_percent - ceil(percent) <
                 refuse_floor_percent(&run->description))
                run->stopped = floor_limit(run);
        else if (runner_rejected_too_many(run->n_rejected, run->n))
                run->stopped = N_("too many observations were rejected");
        else
                return false;
        return true;
}

/* The time that it took last, or the longest it should take. */
static double longest_s(const struct run *run, size_t mode)
{
        return isnan(run->seconds[mode])
                       ? plan_expected_s(&run->description, run->method, &run->plan.modes[mode])
                       : run->seconds[mode];
}

/*
 * A storage, network or radio that failed twice will probably fail again, and each try costs one percent of
 * charge. Disturbances of the CPU and chargers pass.
 */
#define REFUSED_MAX 2

#define AROUND_S 10 /* longest time of a mode before and after its observation */

static bool was_refused(const struct run *run, size_t mode)
{
        const char *kind = run->plan.modes[mode].mode.kind;

        return run->refused[mode] >= REFUSED_MAX &&
               (!strcmp(kind, "disk") || !strcmp(kind, "wifi") || !strcmp(kind, "mixed") || !strcmp(kind, "cellular"));
}

bool run_leaves_out(const struct run *run, size_t mode)
{
        const struct planned_mode *planned = &run->plan.modes[mode];
        double seconds = longest_s(run, mode);
        double writes = planned->mode.write_mb_per_s * BYTES_PER_MB * seconds;
        double wifi = plan_air_bytes_per_s(&planned->mode, AIR_WIFI) * seconds;
        double cellular = plan_air_bytes_per_s(&planned->mode, AIR_CELLULAR) * (seconds + AROUND_S);

        return run->left_out[mode] || was_refused(run, mode) || run_is_away(run, mode) ||
               run->times[mode] >= planned->visits_max ||
               (writes > 0 && run->written_bytes + writes > run->limits.write_bytes) ||
               (wifi > 0 && run->moved_bytes[AIR_WIFI] + wifi > run->limits.wifi_bytes) ||
               (cellular > 0 && run->moved_bytes[AIR_CELLULAR] + cellular > run->limits.cellular_bytes);
}

static double remaining_percent(const struct run *run)
{
        double floor_percent = run->runner.look.capacity_percent -
                               refuse_floor_percent(&run->description);

        return fmin(run->request.battery_limit_percent - run_used_percent(run), floor_percent);
}

/* The counted or the requested bytes, whichever are more: bytes may cost money. */
static double moved_by_modem(const struct run *run, const struct observation *observation, size_t mode)
{
        double seconds = (double)observation->elapsed_ns / (double)NS_PER_S + AROUND_S;
        double asked = mode < run->plan.n ?
                               plan_air_bytes_per_s(&run->plan.modes[mode].mode, AIR_CELLULAR) * seconds :
                               0;

        return fmax(asked, (double)radio_usage_bytes(&observation->usage, AIR_CELLULAR));
}

static void count(struct run *run, const struct observation *observation, size_t mode)
{
        run->n++;
        if (runner_rejected_pause(observation))
                return;
        run->n_scatter += scatter_counts(observation);
        run->n_rejected += observation->rejected[0] != '\0';
        run->written_bytes += (double)observation->usage.write_bytes;
        run->moved_bytes[AIR_WIFI] += (double)(observation->usage.wifi_rx_bytes + observation->usage.wifi_tx_bytes);
        run->moved_bytes[AIR_CELLULAR] += moved_by_modem(run, observation, mode);
        if (mode >= run->plan.n || observation->burn)
                return;
        run->seconds[mode] = (double)observation->elapsed_ns / (double)NS_PER_S;
        run->times[mode] += observation->rejected[0] == '\0';
        run->refused[mode] += observation->rejected[0] && !runner_rejected_away(observation);
}

static int observe(struct run *run, const struct observation *observation)
{
        _cleanup_free_ const char **left_out = calloc(run->plan.n + 1, sizeof(*left_out));
        struct estimator_remaining remaining = {
                .percent = remaining_percent(run),
                .hours = run->request.time_limit_h - run_hours(run),
                .left_out = left_out,
        };

        if (!left_out)
                return -ENOMEM;
        for (size_t i = 0; i < run->plan.n; i++)
                if (run_leaves_out(run, i))
                        left_out[remaining.n_left_out++] = run->plan.modes[i].mode.name;
        return estimator_observe(run->child, observation, &remaining, &run->judgement);
}

/* Without joulecast-fit the run goes on in randomised blocks. */
static void judge(struct run *run, const struct observation *observation, bool only_keep)
{
        int err;

        if (!run->child)
                return;
        if (only_keep)
                err = estimator_keep(run->child, observation);
        else
                err = observe(run, observation);
        if (!err)
                return;
        log_warning(run->log, "joulecast-fit ended early; the run goes on in randomised blocks");
        estimator_close(run->child);
        run->child = NULL;
        run->judgement = (struct estimator_judgement){ .half_width_percent = NAN, .expected_hours = NAN,
                                                   .expected_percent = NAN };
}

static double power_mw(const struct run *run, const struct observation *observation)
{
        double hours = (double)observation->elapsed_ns / (double)NS_PER_S / 3600;
        double full_mwh = observation->charge_full_uah * observation->voltage_mv / 1e6;

        if (observation->method == METHOD_GAUGE)
                return observation->power_mw;
        if (isnan(full_mwh))
                full_mwh = run->description.energy_full_mwh;
        return observation->steps / 100 * full_mwh / hours;
}

int run_store(struct run *run, struct observation *observation, size_t mode)
{
        struct progress_state state;
        int err;

        observation->run = run->record.id;
        observation->sequence = run->sequence;
        observation->pass = run->pass;
        err = observations_append(run->observations, observation);
        if (err)
                return err;
        run->sequence++;
        count(run, observation, mode);
        judge(run, observation, run->method == METHOD_GAUGE && run->at + 1 < run->n_order);
        state = run_state(run);
        progress_observation(run->progress, &state, observation, power_mw(run, observation));
        run_was_there(run, observation, mode);
        if (!observation->burn && observation->steps > run->biggest_percent)
                run->biggest_percent = observation->steps;
        return 0;
}

static size_t index_of(const struct plan *plan, const char *name)
{
        const struct planned_mode *mode = plan_find(plan, name);

        return mode ? (size_t)(mode - plan->modes) : SIZE_MAX;
}

size_t run_doubted(const struct run *run)
{
        size_t mode = run->child ? index_of(&run->plan, run->judgement.doubted) : SIZE_MAX;

        return mode == SIZE_MAX || run_leaves_out(run, mode) ? SIZE_MAX : mode;
}

/* Counts and judges the observations that were made before the run was resumed. */
static void take_up(struct run *run)
{
        double steps = 0, first = NAN, last = NAN;

        for (size_t i = 0; i < run->n_before; i++) {
                const struct observation *observation = &run->before[i];

                run->sequence = observation->sequence + 1;
                run->pass = observation->pass;
                run->earlier_s += (double)observation->elapsed_ns / (double)NS_PER_S;
                steps += isnan(observation->steps) ? 0 : observation->steps;
                first = isnan(first) ? observation->percent : first;
                last = observation->percent;
                count(run, observation, index_of(&run->plan, observation->mode));
                judge(run, observation, i + 1 < run->n_before);
        }
        run->earlier_percent = run->n_before ? fmax(steps, isnan(first - last) ? 0 : first - last) : 0;
}

/* The last run of this device, method and plan. */
static int find_run(struct run *run)
{
        struct observation_run *runs = NULL;
        size_t n = 0;
        int err = observations_runs(run->observations, &runs, &n);

        for (size_t i = n; !err && i > 0; i--) {
                struct observation_run *earlier = &runs[i - 1];

                if (strcmp(earlier->device, run->record.device) ||
                    strcmp(earlier->method, run->record.method) || strcmp(earlier->plan, run->record.plan))
                        continue;
                free(run->record.description);
                run->record = *earlier;
                run->record.description = NULL;
                run->was_finished = earlier->finished;
                err = observations_read(run->observations, earlier->id, &run->before, &run->n_before);
                break;
        }
        observations_free_runs(runs, n);
        return err;
}

double run_left_at(const struct run *run)
{
        const struct observation *last = run->n_before ? &run->before[run->n_before - 1] : NULL;

        if (!last)
                return NAN;
        /* Just below the edge of a step. */
        return last->percent - (isnan(last->steps) ? 0 : last->steps / 2) - 0.01;
}

int64_t run_ended_ns(const struct run *run)
{
        const struct observation *last = run->n_before ? &run->before[run->n_before - 1] : NULL;

        return last ? last->start_realtime_ns + (int64_t)last->elapsed_ns : 0;
}

int run_begin(struct run *run)
{
        int err;

        snprintf(run->record.device, sizeof(run->record.device), "%s", run->description.device);
        snprintf(run->record.method, sizeof(run->record.method), "%s", observation_method_names[run->method]);
        plan_name(&run->plan, run->record.plan);
        run->record.seed = run->request.seed;
        run->record.start_realtime_ns = run->hardware->ops->realtime_ns(run->hardware);
        run->record.energy_full_mwh = run->description.energy_full_mwh;
        run->record.max_brightness = run->description.max_brightness;
        run->record.description = json_print(estimator_description_json(&run->description, &run->plan), JSON_LINE);
        err = run->record.description ? 0 : -ENOMEM;
        if (!err && run->request.resume)
                err = find_run(run);
        if (!err && !run->record.id)
                err = observations_start(run->observations, &run->record);
        return err;
}

static int begin_child(struct run *run)
{
        int err;

        if (run->plan.sapp)
                return 0; /* it has its own order and end */
        err = estimator_open(&run->record, &run->description, &run->plan, run->database,
                             run->request.stop_percent, run->log, &run->child);
        if (err == -ENOENT)
                log_warning(run->log,
                            "joulecast-fit was not found; the run goes on in randomised blocks");
        else if (err)
                log_warning(run->log,
                            "joulecast-fit does not answer; the run goes on in randomised blocks");
        return err == -ENOMEM ? err : 0;
}

int run_open(struct run *run)
{
        run->last = SIZE_MAX;
        run->judgement = (struct estimator_judgement){ .half_width_percent = NAN, .expected_hours = NAN,
                                                   .expected_percent = NAN };
        run->start_ns = run->runner.look.at_ns;
        run->start_percent = run->runner.look.capacity_percent;
        run->order = calloc(RUN_ORDER_MAX(run), sizeof(*run->order));
        run->seconds = calloc(run->plan.n + 1, sizeof(*run->seconds));
        run->times = calloc(run->plan.n + 1, sizeof(*run->times));
        run->left_out = calloc(run->plan.n + 1, sizeof(*run->left_out));
        run->refused = calloc(run->plan.n + 1, sizeof(*run->refused));
        run->postponed = calloc(RUN_ORDER_MAX(run), sizeof(*run->postponed));
        if (!run->order || !run->seconds || !run->times || !run->left_out || !run->refused ||
            !run->postponed)
                return -ENOMEM;
        for (size_t i = 0; i < run->plan.n; i++)
                run->seconds[i] = NAN;
        if (begin_child(run) < 0)
                return -ENOMEM;
        take_up(run);
        return 0;
}

void run_close(struct run *run)
{
        estimator_close(run->child);
        run->child = NULL;
        observations_free(run->before, run->n_before);
        free(run->record.description);
        free(run->order);
        free(run->seconds);
        free(run->times);
        free(run->left_out);
        free(run->refused);
        free(run->postponed);
}

/* Why a wait ended early; NULL: an error. */
static const char *limit_of(const struct run *run, int err)
{
        switch (err) {
        case -ECANCELED:
                return run->runner.reason;
        case -ETIMEDOUT:
                return N_("paused for two hours");
        case -ETIME:
                return N_("time limit");
        case -EDQUOT:
                return floor_limit(run);
        case -ENODATA:
                return N_("the battery is empty");
        default:
                return NULL;
        }
}

/* Prints the start of the run. */
static int announce(const struct run *run)
{
        struct progress_start start = {
                .device = run->description.device,
                .method = run->record.method,
                .plan = run->record.plan,
                .run = run->record.id,
                .resumed = run->n_before > 0,
                .observations = run->n,
                .percent = run->runner.look.capacity_percent,
        };
        int err = run_estimate(&run->description, &run->plan, run->method, &run->request, &start.expected);

        if (!err)
                progress_begin(run->progress, &start);
        return err;
}

int run_perform(struct run *run)
{
        double limit_s = (run->request.time_limit_h - run_hours(run)) * 3600;
        int err = announce(run);

        if (err)
                return err;
        if (isfinite(limit_s) && limit_s < 1e9)
                run->runner.deadline_ns = run->start_ns + (uint64_t)(fmax(limit_s, 0) * (double)NS_PER_S);
        err = run->method == METHOD_GAUGE ? run_gauge(run) : run_levels(run);
        if (limit_of(run, err)) {
                run->stopped = limit_of(run, err);
                err = 0;
        }
        run->hardware->ops->restore(run->hardware);
        if (!err)
                err = observations_finish(run->observations, run->record.id);
        return err;
}
