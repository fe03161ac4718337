/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Real storages wear and real data costs money; a virtual device has neither. */

#include "run.h"

#include <math.h>

#include "hardware/disk-file.h"

#define WRITE_MB_PER_S 10
#define WIFI_LIMIT_PERCENT_BYTES 4e9
#define WIFI_LIMIT_BYTES 500e6 /* of gauge and ticks, which are over soon */

static double wifi_bytes(const struct night *night)
{
        if (!isnan(night->options->wifi_limit_bytes))
                return night->options->wifi_limit_bytes;
        return night->method == METHOD_PERCENT ? WIFI_LIMIT_PERCENT_BYTES : WIFI_LIMIT_BYTES;
}

void night_limits(struct night *night)
{
        const struct options *options = night->options;
        const struct hardware_ops *ops = night->hardware ? night->hardware->ops : NULL;
        double files = (double)night->description.n_disks * DISK_FILE_BYTES;

        night->limits = (struct plan_limits){ INFINITY, INFINITY, INFINITY };
        if (options->device)
                return;
        night->limits = (struct plan_limits){
                .write_bytes = fmax(0, options->write_limit_bytes - files),
                .write_mb_per_s = WRITE_MB_PER_S,
                .wifi_bytes = wifi_bytes(night),
        };
        plan_limit(&night->description, night->method, options->passes, &night->limits,
                   night->description.battery ? night->log : NULL, &night->plan);
        /* The files are among what a night has written. */
        night->limits.write_bytes = options->write_limit_bytes;
        if (ops && ops->limit_wifi)
                ops->limit_wifi(night->hardware, night->limits.wifi_bytes);
}
