/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The night itself, and the fit at its end. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "run/progress.h"
#include "run/refuse.h"
#include "util/units.h"

/* A resumed virtual device goes on where it was, with new noise. */
static int go_on(struct calibration *calibration)
{
        const struct night *night = &calibration->night;
        double start = calibration->options.start_percent, left_at = night_left_at(night);

        if (!calibration->options.device || isnan(left_at))
                return 0;
        return calibration_open_virtual(calibration, isnan(start) ? fmin(fmax(left_at, 0), 100) : start,
                                        calibration->options.seed +
                                                UINT64_C(0x9e3779b97f4a7c15) * night->n_before,
                                        night_ended_ns(night) + (int64_t)NS_PER_S);
}

/* From here on the device is ours, and whatever happens it is given back. */
static int take_device(struct night *night)
{
        int err = night->hardware->ops->begin ? night->hardware->ops->begin(night->hardware) : 0;

        if (err)
                log_error(night->log, "%s: cannot be taken for a calibration: %s", night->description.device,
                          strerror(-err));
        return err;
}

static int begin_night(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        int err = night_begin(night);

        if (!err)
                err = go_on(calibration);
        if (!err)
                err = take_device(night);
        if (!err)
                err = runner_open(night->hardware, &night->description, calibration->stop,
                                  night->method == METHOD_TICKS, &night->runner);
        calibration->runner = !err;
        if (!err)
                err = refuse_start(&night->description, &night->runner.look, night->method, night->log);
        return err ? err : night_open(night);
}

int calibration_open_night(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        int err;

        night->database = access(calibration->usage, R_OK) == 0 ? calibration->usage : NULL;
        err = observations_open(calibration->observations, true, night->log, &night->observations);
        if (!err)
                err = progress_open(calibration->options.json, &night->progress);
        return err ? err : begin_night(calibration);
}

/* The gauge that `auto` took does not do what it shows: the percentage always does something. */
static int begin_again_by_percent(struct calibration *calibration)
{
        struct night before = calibration->night;
        int err;

        night_close(&before);
        runner_close(&before.runner);
        plan_clear(&before.plan);
        calibration->runner = false;
        calibration->night = (struct night){
                .options = before.options,
                .log = before.log,
                .database = before.database,
                .hardware = before.hardware,
                .description = before.description,
                .observations = before.observations,
                .progress = before.progress,
        };
        calibration->options.method = CHOICE_PERCENT;
        if (isnan(calibration->options.wifi_limit_bytes) && isfinite(before.limits.wifi_bytes))
                calibration->options.wifi_limit_bytes = before.limits.wifi_bytes; /* what was agreed to */
        log_warning(&calibration->log, "it goes on by the steps of the battery's percentage");
        err = calibration_make_plan(calibration);
        if (!err)
                err = begin_night(calibration);
        if (err)
                return err;
        calibration->night.runner.drawn_percent = NAN; /* nor is what it counts */
        progress_begin(calibration->night.progress, &calibration->night);
        return night_run(&calibration->night);
}

static bool has_measured(const struct night *night)
{
        for (size_t i = 0; i < night->plan.n; i++)
                if (night->times[i] > 0)
                        return true;
        return false;
}

static int fit(struct calibration *calibration, struct fit_result *result)
{
        struct night *night = &calibration->night;
        struct fit_request request = {
                .observations = calibration->observations,
                .run = night->run.id,
                .estimator = night->plan.sapp ? "sapp" : "regression",
                .profile = calibration->profile,
        };
        int err;

        fit_child_close(night->child);
        night->child = NULL;
        err = has_measured(night) ? fit_child_run(&request, result) : -ENODATA;
        if (err == -ENOENT)
                log_error(&calibration->log, "joulecast-fit is not there, so there is no profile yet; the "
                          "observations are kept in %s", calibration->observations);
        else if (err)
                log_error(&calibration->log, "nothing could be fitted (%s); the observations are kept in %s",
                          night->stopped ? night->stopped : "", calibration->observations);
        return err;
}

int calibration_run(struct calibration *calibration)
{
        struct night *night = &calibration->night;
        struct fit_result result = { 0 };
        int err;

        progress_begin(night->progress, night);
        err = night_run(night);
        if (err == -EPROTO && calibration->options.method == CHOICE_AUTO)
                err = begin_again_by_percent(calibration);
        if (err == -EINTR) {
                night->stopped = "interrupted";
                progress_interrupted(night->progress, night);
                log_error(&calibration->log,
                          "stopped after %zu observations, which are kept; go on with the same "
                          "command and --resume",
                          night->n);
                return err;
        }
        if (err) {
                log_error(&calibration->log, "the night ended early: %s; its observations are kept in %s",
                          err == -EPROTO ? "calibrate with --method percent" : strerror(-err),
                          calibration->observations);
                return err;
        }
        err = fit(calibration, &result);
        progress_done(night->progress, night, err ? NULL : &result, calibration->profile);
        return err;
}
