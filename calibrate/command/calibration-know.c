/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Facts of a device that are known before it is measured: the power that it takes, and
 * how often its gauge is updated.
 */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "api/first-day.h"
#include "calibration.h"
#include "util/util.h"

/* Its own profile, else that of its class. -ENOENT: neither is there, or can be read. */
static int find_model(const struct calibration *calibration, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *own = NULL;
        const struct options *options = &calibration->options;
        int err = profile_load(calibration->profile, NULL, &own);

        if (!err && strcmp(own->device, calibration->run.description.device) == 0 && own->degrees_of_freedom > 0) {
                *ret = TAKE_PTR(own);
                return 0;
        }
        if (err != -ENOMEM)
                err = first_day_profile(options->device, options->machine, NULL, NULL, 0, ret);
        return err == 0 || err == -ENOMEM ? err : -ENOENT;
}

/* The gauge's period and kind in the newest run of this device that has them. */
static int find_gauge(const struct observation_run *run, struct observations *observations,
                      struct run_request *request)
{
        struct observation *list = NULL;
        size_t n = 0;
        int err = observations_read(observations, run->id, &list, &n);

        for (size_t i = 0; !err && i < n; i++)
                if (list[i].method == METHOD_GAUGE && list[i].refresh_s > 0) {
                        request->gauge_period_s = list[i].refresh_s;
                        request->kernel = step_test_kernel(list[i].gauge_kind, list[i].gauge_kernel_s,
                                                           list[i].gauge_delay_s);
                }
        observations_free(list, n);
        return err;
}

static int find_earlier(const struct calibration *calibration, struct run_request *request)
{
        struct observations *observations = NULL;
        struct observation_run *runs = NULL;
        size_t n = 0;
        int err;

        if (access(calibration->observations, R_OK) < 0)
                return 0;
        err = observations_open(calibration->observations, false, NULL, &observations);
        if (!err)
                err = observations_runs(observations, &runs, &n);
        for (size_t i = n; !err && i > 0 && !(request->gauge_period_s > 0); i--)
                if (strcmp(runs[i - 1].device, calibration->run.description.device) == 0)
                        err = find_gauge(&runs[i - 1], observations, request);
        observations_free_runs(runs, n);
        observations_close(observations);
        return err == -ENOMEM ? err : 0; /* an unreadable file is logged when it is to be written */
}

int calibration_know(struct calibration *calibration)
{
        struct run *run = &calibration->run;
        int err = find_model(calibration, &run->plan.model);

        if (err == -ENOMEM)
                return err;
        if (run->plan.model && isnan(run->description.rough_mwh))
                run->description.rough_mwh = run->plan.model->energy_full_mwh;
        err = run->method == METHOD_GAUGE ? find_earlier(calibration, &run->request) : 0;
        return err ? err : plan_guess(&run->description, &run->plan);
}
