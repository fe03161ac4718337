/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits on wear and data; a virtual device has none but that of its modem. */

#include "run.h"

#include <math.h>

#include "hardware/disk-file.h"

#define WRITE_MB_PER_S 10
#define WIFI_LIMIT_PERCENT_BYTES 4e9
#define MORE_MIN 3 /* observations after the block, else it is shortened */
#define WIFI_LIMIT_BYTES 500e6 /* gauge and ticks take less time */

static double wifi_bytes(const struct run *run)
{
        if (!isnan(run->request.wifi_limit_bytes))
                return run->request.wifi_limit_bytes;
        return run->method == METHOD_PERCENT ? WIFI_LIMIT_PERCENT_BYTES : WIFI_LIMIT_BYTES;
}

/* So many observations fit in the limits of charge and time: in all, or in each pass of a gauge. */
static int observations_within(const struct run *run, double *ret)
{
        struct run_request unlimited = run->request;
        struct run_estimate all;
        double share, most;
        int err;

        unlimited.battery_limit_percent = unlimited.time_limit_h = INFINITY;
        err = run_estimate(&run->description, &run->plan, run->method, &unlimited, &all);
        if (err)
                return err;
        share = fmin(run->request.battery_limit_percent / all.percent.usual,
                     run->request.time_limit_h / all.hours.usual);
        *ret = INFINITY;
        if (share >= 1)
                return 0;
        most = share * (double)all.observations;
        /* The first step is partial, and nothing begins that might not end within the limit. */
        if (run->method == METHOD_PERCENT)
                most = fmin(most, floor(run->request.battery_limit_percent - 2));
        *ret = most;
        return 0;
}

static bool measures_no_cpu(const struct plan *plan)
{
        return plan->only && !(plan->only & 1u << COMPONENT_CPU);
}

/* By percent each state costs a percent, so that the block of several policies is always short. */
static int shorten(struct run *run)
{
        double most;
        int err;

        if (run->plan.sapp || run->plan.n == 0)
                return 0;
        err = observations_within(run, &most);
        if (err)
                return err;
        if ((run->method != METHOD_PERCENT || run->description.n_policies < 2 || measures_no_cpu(&run->plan)) &&
            most >= (double)plan_block(&run->plan) + MORE_MIN)
                return 0;
        if (!plan_shorten(&run->plan, most))
                log_warning(run->log,
                            "the limit is too low to measure every component once, which takes %zu observations: "
                            "coefficients will be missing",
                            plan_block(&run->plan));
        return 0;
}

int run_limits(struct run *run)
{
        const struct run_request *request = &run->request;
        const struct hardware_ops *ops = run->hardware ? run->hardware->ops : NULL;
        double files = (double)run->description.n_disks * DISK_FILE_BYTES;

        int err = shorten(run);

        if (err)
                return err;
        run->limits = (struct plan_limits){ INFINITY, INFINITY, INFINITY, request->cellular_limit_bytes };
        if (!request->virtual_device) {
                run->limits.write_bytes = fmax(0, request->write_limit_bytes - files);
                run->limits.write_mb_per_s = WRITE_MB_PER_S;
                run->limits.wifi_bytes = wifi_bytes(run);
        }
        err = plan_limit(&run->description, run->method, request->passes, &run->limits,
                         run->description.battery ? run->log : NULL, &run->plan);
        if (err || request->virtual_device)
                return err;
        /* The scratch files count as written. */
        run->limits.write_bytes = request->write_limit_bytes;
        if (!ops || !ops->limit_air)
                return 0;
        ops->limit_air(run->hardware, AIR_WIFI, run->limits.wifi_bytes);
        if (run->description.cellular)
                ops->limit_air(run->hardware, AIR_CELLULAR, run->limits.cellular_bytes);
        return 0;
}
