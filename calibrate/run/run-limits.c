/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits on wear and data; a virtual device has none. */

#include "run.h"

#include <math.h>

#include "hardware/disk-file.h"

#define WRITE_MB_PER_S 10
#define WIFI_LIMIT_PERCENT_BYTES 4e9
#define WIFI_LIMIT_BYTES 500e6 /* gauge and ticks take less time */

static double wifi_bytes(const struct run *run)
{
        if (!isnan(run->request.wifi_limit_bytes))
                return run->request.wifi_limit_bytes;
        return run->method == METHOD_PERCENT ? WIFI_LIMIT_PERCENT_BYTES : WIFI_LIMIT_BYTES;
}

void run_limits(struct run *run)
{
        const struct run_request *request = &run->request;
        const struct hardware_ops *ops = run->hardware ? run->hardware->ops : NULL;
        double files = (double)run->description.n_disks * DISK_FILE_BYTES;

        run->limits = (struct plan_limits){ INFINITY, INFINITY, INFINITY };
        if (request->virtual_device)
                return;
        run->limits = (struct plan_limits){
                .write_bytes = fmax(0, request->write_limit_bytes - files),
                .write_mb_per_s = WRITE_MB_PER_S,
                .wifi_bytes = wifi_bytes(run),
        };
        plan_limit(&run->description, run->method, request->passes, &run->limits,
                   run->description.battery ? run->log : NULL, &run->plan);
        /* The scratch files count as written. */
        run->limits.write_bytes = request->write_limit_bytes;
        if (ops && ops->limit_wifi)
                ops->limit_wifi(run->hardware, run->limits.wifi_bytes);
}
