/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The run, and the fit at its end. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "run/refuse.h"
#include "util/units.h"
#include "util/words.h"

/* A resumed virtual device goes on where it was, with new noise. */
static int go_on(struct calibration *calibration)
{
        const struct run *run = &calibration->run;
        double start = calibration->options.start_percent, left_at = run_left_at(run);

        if (!calibration->options.device || isnan(left_at))
                return 0;
        return calibration_open_virtual(calibration, isnan(start) ? fmin(fmax(left_at, 0), 100) : start,
                                        calibration->options.seed +
                                                UINT64_C(0x9e3779b97f4a7c15) * run->n_before,
                                        run_ended_ns(run) + (int64_t)NS_PER_S);
}

/* From here on the device is changed, and always given back. */
static int take_device(struct run *run)
{
        int err = run->hardware->ops->begin ? run->hardware->ops->begin(run->hardware) : 0;

        if (err)
                log_error(run->log, "%s: the calibration cannot start: %s", run->description.device,
                          strerror(-err));
        return err;
}

static int begin_run(struct calibration *calibration)
{
        struct run *run = &calibration->run;
        int err = run_begin(run);

        if (!err)
                err = go_on(calibration);
        if (!err)
                err = take_device(run);
        if (!err)
                err = runner_open(run->hardware, &run->description, calibration->stop,
                                  run->method == METHOD_TICKS, &run->runner);
        calibration->runner = !err;
        run->runner.daemons_tau_s = run->request.daemons_tau_s;
        if (!err)
                err = refuse_start(&run->description, &run->runner.look, run->method, run->log);
        return err ? err : run_open(run);
}

int calibration_open_run(struct calibration *calibration)
{
        struct run *run = &calibration->run;
        int err;

        run->database = access(calibration->usage, R_OK) == 0 ? calibration->usage : NULL;
        err = observations_open(calibration->observations, true, run->log, &run->observations);
        if (!err)
                err = progress_open(calibration->options.json, &run->progress);
        return err ? err : begin_run(calibration);
}

/* The gauge that `auto` chose does not serve: fine steps of the charge do, and the percentage always does. */
static int begin_again(struct calibration *calibration, enum method_choice choice)
{
        struct run before = calibration->run;
        int err;

        run_close(&before);
        runner_close(&before.runner);
        plan_clear(&before.plan);
        calibration->runner = false;
        calibration->run = (struct run){
                .log = before.log,
                .database = before.database,
                .hardware = before.hardware,
                .description = before.description,
                .observations = before.observations,
                .progress = before.progress,
        };
        calibration->options.method = choice;
        if (isnan(calibration->options.wifi_limit_bytes) && isfinite(before.limits.wifi_bytes))
                calibration->options.wifi_limit_bytes = before.limits.wifi_bytes; /* as agreed to */
        log_warning(&calibration->log, "going on with the method %s",
                    choice == CHOICE_TICKS ? "ticks" : "percent");
        err = calibration_make_plan(calibration);
        if (!err)
                err = begin_run(calibration);
        if (err)
                return err;
        calibration->run.runner.drawn_percent = NAN; /* not to be trusted either */
        return run_perform(&calibration->run);
}

/* Where the sensor's own values are at fault, the charge that is counted beside them may be right. */
static int by_another_method(struct calibration *calibration)
{
        const struct run *run = &calibration->run;
        bool ticks = run->method == METHOD_GAUGE && run->description.fine_level &&
                     run->runner.kernel.kind > GAUGE_POINT;
        int err = begin_again(calibration, ticks ? CHOICE_TICKS : CHOICE_PERCENT);

        return err == -EPROTO && ticks ? begin_again(calibration, CHOICE_PERCENT) : err;
}

static bool has_measured(const struct run *run)
{
        for (size_t i = 0; i < run->plan.n; i++)
                if (run->times[i] > 0)
                        return true;
        return false;
}

static int fit(struct calibration *calibration, struct estimator_result *result)
{
        struct run *run = &calibration->run;
        struct estimator_request request = {
                .observations = calibration->observations,
                .run = run->record.id,
                .estimator = run->plan.sapp ? "sapp" : "regression",
                .profile = calibration->profile,
        };
        int err;

        estimator_close(run->child);
        run->child = NULL;
        err = has_measured(run) ? estimator_run(&request, result) : -ENODATA;
        if (!err && result->stale[0])
                log_warning(&calibration->log, "%s", result->stale);
        if (err == -ENOENT)
                log_error(&calibration->log, "joulecast-fit was not found, so there is no profile; the "
                                             "observations are kept in %s", calibration->observations);
        else if (err == -ENODATA)
                log_error(&calibration->log, "nothing could be fitted (%s); the observations are kept in %s",
                          run->stopped ? run->stopped : "", calibration->observations);
        else if (err)
                log_error(&calibration->log, "there is no new profile; the observations are kept in %s",
                          calibration->observations);
        return err;
}

int calibration_run(struct calibration *calibration)
{
        struct run *run = &calibration->run;
        struct estimator_result result = { 0 };
        struct progress_state state;
        int err;

        err = run_perform(run);
        if (err == -EPROTO && calibration->options.method == CHOICE_AUTO)
                err = by_another_method(calibration);
        if (err == -EINTR) {
                run->stopped = "interrupted";
                state = run_state(run);
                progress_interrupted(run->progress, &state);
                log_error(&calibration->log,
                          words_counted("stopped after %zu observation, which is kept; go on with the same "
                                        "command and --resume",
                                        "stopped after %zu observations, which are kept; go on with the same "
                                        "command and --resume", run->n),
                          run->n);
                return err;
        }
        if (err == -EDOM)
                return err; /* the sentence about the battery is enough */
        if (err) {
                log_error(&calibration->log, "the calibration ended early: %s; its observations are kept in "
                                             "%s",
                          err == -EBUSY            ? "another program changes its settings" :
                          err != -EPROTO           ? strerror(-err) :
                          calibration->options.only ? "calibrate the whole device with --method percent" :
                                                      "calibrate with --method percent",
                          calibration->observations);
                return err;
        }
        err = fit(calibration, &result);
        state = run_state(run);
        progress_done(run->progress, &state, err ? NULL : &result, calibration->profile);
        return err;
}
