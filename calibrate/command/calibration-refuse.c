/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is refused before the user is asked. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "hold/rivals.h"
#include "hold/supply.h"
#include "run/refuse.h"
#include "util/own-folder.h"
#include "util/util.h"

bool calibration_changes_machine(const struct calibration *calibration)
{
        return !calibration->options.device && !calibration->options.dry_run;
}

/* Up to one until the next step, and one for an observation. */
#define STEPS_MIN_PERCENT 2.0

int calibration_refuse_limit(const struct calibration *calibration)
{
        double limit_percent = calibration->options.battery_limit_percent;

        if (calibration->run.method != METHOD_PERCENT || limit_percent >= STEPS_MIN_PERCENT)
                return 0;
        log_error(&calibration->log,
                  "--battery-limit %g: with the method percent the first observation takes up to %g %%; "
                  "allow at least that",
                  limit_percent, STEPS_MIN_PERCENT);
        return -EINVAL;
}

static bool pins_frequencies(const struct hardware_description *description)
{
        for (size_t i = 0; i < description->n_policies; i++)
                if (description->policies[i].n_khz > 1)
                        return true;
        return false;
}

int calibration_refuse_machine(const struct calibration *calibration)
{
        if (calibration->options.device)
                return 0;
        if (!calibration->run.description.battery) {
                log_error(&calibration->log,
                          "this machine has no battery to measure with; use a virtual device (--device "
                          "virtual:NAME) or --dry-run");
                return -ENODEV;
        }
        if (geteuid() != 0 && pins_frequencies(&calibration->run.description)) {
                log_error(&calibration->log,
                          "only root can set this machine's CPU frequencies; start it again with sudo, or "
                          "use --dry-run");
                return -EPERM;
        }
        return 0;
}

/* Also true if the battery discharges because the charger is weak. */
static bool charger_feeds(void)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd >= 0 && supply_online(root_fd);
}

/* The same check as in begin_run(), before the user is asked; for virtual devices only that one is made. */
int calibration_refuse_battery(const struct calibration *calibration)
{
        const struct run *run = &calibration->run;
        struct sample sample = { 0 };
        struct look look;
        int err;

        if (!calibration_changes_machine(calibration))
                return 0;
        if (!calibration->options.force_discharge && charger_feeds()) {
                log_error(&calibration->log, "the charger is plugged in; unplug it and start again");
                return -EINVAL;
        }
        err = run->hardware->ops->read_battery(run->hardware, &sample);
        if (err)
                log_error(&calibration->log, "the battery cannot be read: %s", strerror(-err));
        look_at(&sample, run->method == METHOD_TICKS, &look);
        sample_clear(&sample);
        return err ? err : refuse_start(&run->description, &look, run->method, &calibration->log);
}

/* Tries to write it now: after the run would be too late. */
int calibration_refuse_profile(const struct calibration *calibration)
{
        int err = own_folder_make(calibration->profile, 0755);

        if (!err)
                err = util_try_write_file(calibration->profile);
        if (err)
                log_error(&calibration->log,
                          "%s: the profile cannot be written: %s; name another file with --profile",
                          calibration->profile, own_folder_why(err));
        return err;
}

int calibration_refuse_rivals(const struct calibration *calibration)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return calibration_changes_machine(calibration) ? rivals_refuse(root_fd, &calibration->log) : 0;
}
