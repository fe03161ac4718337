/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks that refuse a calibration before the user is asked. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/first-day.h"
#include "calibration.h"
#include "forecast/charging.h"
#include "hold/rivals.h"
#include "run/refuse.h"
#include "source/battery.h"
#include "source/display-choice.h"
#include "util/drop-root.h"
#include "util/own-folder.h"
#include "util/util.h"

bool calibration_changes_machine(const struct calibration *calibration)
{
        return !calibration->options.device && !calibration->options.dry_run;
}

/* Up to 1 % until the next level step, and 1 % for an observation. */
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

int calibration_refuse_method(const struct calibration *calibration)
{
        const struct hardware_description *description = &calibration->run.description;
        enum observation_method method = calibration->run.method;

        if (!description->battery || (method == METHOD_GAUGE ? description->current_sensor :
                                      method == METHOD_TICKS ? description->fine_level : true))
                return 0;
        log_error(&calibration->log, "the battery shows no %s; choose another --method",
                  method == METHOD_GAUGE ? "power_now or current_now" : "charge_now or energy_now");
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

        return root_fd >= 0 && battery_supply(root_fd) == SUPPLY_ONLINE;
}

/* The device's own profile, else that of its class. 0; a negative errno. */
static int read_model(const struct calibration *calibration, struct profile **ret)
{
        int err = profile_load(calibration->profile, NULL, ret);

        return err == -ENOENT ? first_day_profile(NULL, NULL, NULL, NULL, 0, ret) : err;
}

#define STALE 10 /* exit status of the process that looks */

static bool is_stale(const struct calibration *calibration, struct battery *battery)
{
        _cleanup_(profile_freep) struct profile *model = NULL;
        _cleanup_(store_closep) struct store *store = NULL;

        return read_model(calibration, &model) == 0 && drop_root_to_owner(calibration->usage) == 0 &&
               store_open(calibration->usage, STORE_READ, NULL, &store) == 0 &&
               charging_correct(store, model, (int64_t)util_clock_ns(CLOCK_REALTIME), battery) > 0;
}

/*
 * If this cannot be determined, the supply is believed. Root does not open files that the service's user writes, so
 * a child looks.
 */
bool calibration_supply_is_stale(const struct calibration *calibration)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct battery battery;
        int status = 0;
        pid_t child;

        if (root_fd < 0 || battery_now(root_fd, &battery) < 0 || !charging_is_doubtful(&battery))
                return false;
        child = fork();
        if (child == 0)
                _exit(is_stale(calibration, &battery) ? STALE : 0);
        return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == STALE;
}

/* The same check as in begin_run(), before the user is asked; virtual devices are checked only there. */
int calibration_refuse_battery(const struct calibration *calibration)
{
        const struct run *run = &calibration->run;
        struct sample sample = { 0 };
        struct look look;
        int err;

        if (!calibration_changes_machine(calibration))
                return 0;
        if (calibration->machine.stale_supply)
                log_warning(&calibration->log, "a supply says that it is online, but in the last hours the "
                                               "battery supplied all that was used: it counts as unplugged");
        else if (!calibration->options.force_discharge && charger_feeds()) {
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

/* Tries to write the profile now: after the run it would be too late. */
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

int calibration_refuse_backlight(const struct calibration *calibration)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char why[512];
        int err = calibration->options.device ? 0 : display_explain_choice(root_fd, NULL, why, sizeof(why));

        if (err == -ENOENT)
                log_error(&calibration->log, "%s", why);
        return err;
}

int calibration_refuse_rivals(const struct calibration *calibration)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const char *command, *rival;
        int err = calibration_changes_machine(calibration) ? rivals_refuse(root_fd, &calibration->log) : 0;

        if (err || !calibration_changes_machine(calibration))
                return err;
        rival = rivals_watched(root_fd, &command);
        if (rival)
                log_info(&calibration->log, "%s may change clocks and power saving meanwhile: they are read "
                                            "back after each state",
                         rival);
        return 0;
}
