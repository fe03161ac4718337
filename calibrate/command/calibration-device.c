/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The files of a calibration, its device, and its plan. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "hardware/cellular.h"
#include "hardware/describe.h"
#include "observation/daemons.h"
#include "sapp/sapp-plan.h"
#include "util/paths.h"
#include "util/util.h"

#define START_PERCENT 95.0 /* state of charge at which a virtual device starts */

int calibration_find_files(struct calibration *calibration)
{
        const struct options *options = &calibration->options;
        const char *device = options->device;
        int err = paths_journal(&calibration->journal);

        if (!err && options->restore) /* needs no other file, and a unit at boot has no home for them */
                return 0;
        if (!err)
                err = options->profile ? ((calibration->profile = strdup(options->profile)) ? 0 : -ENOMEM)
                               : paths_profile(device, true, &calibration->profile);
        if (!err)
                err = options->observations
                              ? ((calibration->observations = strdup(options->observations)) ? 0 : -ENOMEM)
                              : paths_observations(device, &calibration->observations);
        if (!err)
                err = options->database ? ((calibration->usage = strdup(options->database)) ? 0 : -ENOMEM)
                                        : paths_usage(device, false, &calibration->usage);
        if (err)
                log_error(&calibration->log, "%s: its files cannot be placed: %s",
                          device ? device : "this machine", strerror(-err));
        return err;
}

int calibration_open_virtual(struct calibration *calibration, double start_percent, uint64_t seed,
                             int64_t not_before_ns)
{
        struct run *run = &calibration->run;
        bool asked = !isnan(calibration->options.cellular_limit_bytes);
        int err;

        if (run->hardware)
                run->hardware->ops->close(run->hardware);
        run->hardware = NULL;
        err = hardware_virtual_load(calibration->options.device, seed, start_percent, not_before_ns,
                                    &calibration->log, &run->hardware);
        if (!err)
                err = run->hardware->ops->describe(run->hardware, &run->description);
        if (!err && asked && !run->description.cellular) {
                log_error(&calibration->log, "--cellular-limit: %s has no modem, which would be [radio cellular]",
                          run->description.device);
                return -ENXIO;
        }
        run->description.cellular &= asked;
        return err;
}

/* A machine tree (sys and proc): only for a dry run. */
static int look_at_tree(struct calibration *calibration)
{
        struct hardware_description *description = &calibration->run.description;
        const char *machine = calibration->options.machine;
        char interface[32];
        _cleanup_close_ int root_fd = open(machine, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (root_fd < 0) {
                int err = -errno;

                log_error(&calibration->log, "%s: cannot be read: %s", machine, strerror(-err));
                return err;
        }
        describe_machine(root_fd, description);
        if (calibration->options.cellular_peer && cellular_find(root_fd, interface, sizeof(interface)) < 0) {
                log_error(&calibration->log, "--cellular-peer: this machine has no modem's interface (wwan)");
                return -ENXIO;
        }
        description->cellular = calibration->options.cellular_peer;
        description->wifi_tx = description->wifi && calibration->options.wifi_peer;
        description->wifi_packets = description->wifi_tx;
        description->wifi_rx = description->wifi_tx || (description->wifi && calibration->options.wifi_url);
        return 0;
}

static int open_this_machine(struct calibration *calibration)
{
        const struct options *options = &calibration->options;
        struct run *run = &calibration->run;
        int err;

        calibration->machine = (struct machine_hardware){
                .journal = calibration->journal,
                .disks = options->disks,
                .n_disks = options->n_disks,
                .write_limit_bytes = options->write_limit_bytes,
                .wifi_url = options->wifi_url,
                .wifi_peer = options->wifi_peer,
                .cellular_peer = options->cellular_peer,
                .allow_disconnect = options->allow_disconnect,
                .force_discharge = options->force_discharge,
                .stale_supply = !options->force_discharge && calibration_supply_is_stale(calibration),
                .stop = calibration->stop,
                .log = &calibration->log,
        };
        err = hardware_machine_open(&calibration->machine, &run->hardware);
        return err ? err : run->hardware->ops->describe(run->hardware, &run->description);
}

int calibration_open_device(struct calibration *calibration)
{
        double start = isnan(calibration->options.start_percent) ? START_PERCENT
                                                                 : calibration->options.start_percent;
        int err;

        if (calibration->options.device) {
                err = calibration_open_virtual(calibration, start, calibration->options.seed, 0);

                calibration->run.description.battery = true;
                return err;
        }
        err = calibration->options.machine ? look_at_tree(calibration) : open_this_machine(calibration);
        if (!err && !calibration->run.description.wifi &&
            (calibration->options.wifi_url || calibration->options.wifi_peer))
                log_warning(&calibration->log, "%s: this machine has no WiFi interface that can be measured",
                            calibration->options.wifi_url ? "--wifi-url" : "--wifi-peer");
        return err;
}

static enum observation_method choose_method(const struct calibration *calibration)
{
        const struct hardware_description *description = &calibration->run.description;

        switch (calibration->options.method) {
        case CHOICE_PERCENT:
                return METHOD_PERCENT;
        case CHOICE_GAUGE:
                return METHOD_GAUGE;
        case CHOICE_TICKS:
                return METHOD_TICKS;
        case CHOICE_AUTO:
                break;
        }
        if (description->current_sensor)
                return METHOD_GAUGE;
        return description->fine_level ? METHOD_TICKS : METHOD_PERCENT;
}

/* NULL: it can be. */
static const char *why_not_kept(const struct profile *profile, const struct hardware_description *description)
{
        enum observation_method method;

        if (strcmp(profile->device, description->device) != 0)
                return "is the profile of another device";
        if (strcmp(profile_basis(profile), "calibrated") != 0 ||
            observation_method_from_name(profile->method, &method) < 0)
                return "is not a calibration of this device";
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (isnan(profile->coefficients[i].standard_error))
                        return "has no standard errors";
        if (profile_find(profile, TERM_BASE, 0, 0, "") < 0)
                return "has no base";
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];
                const struct hardware_policy *policy = NULL;
                bool found = false;

                if (c->term != TERM_CPU_ACTIVE)
                        continue;
                for (size_t k = 0; k < description->n_policies; k++)
                        if (description->policies[k].policy == c->policy)
                                policy = &description->policies[k];
                for (size_t k = 0; policy && k < policy->n_khz; k++)
                        found = found || policy->khz[k] == c->point;
                if (!found && (!policy || policy->n_khz > 0))
                        return "has other CPU frequencies than the device";
        }
        return NULL;
}

/* With --only: loads the previous calibration, whose other components are kept, and whose method is used again. */
static int load_before(struct calibration *calibration, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL, *measured = NULL;
        const struct run *run = &calibration->run;
        enum observation_method method = METHOD_PERCENT;
        const char *why;
        int err;

        if (access(calibration->profile, F_OK) < 0 && errno == ENOENT) {
                log_error(&calibration->log, "--only: there is no %s yet; calibrate the whole device first",
                          calibration->profile);
                return -ENOENT;
        }
        err = profile_load(calibration->profile, &calibration->log, &profile);
        if (!err)
                err = profile_measured(profile, &measured);
        if (err)
                return err;
        why = why_not_kept(measured, &run->description);
        if (why) {
                log_error(&calibration->log, "--only: %s %s; calibrate the whole device", calibration->profile, why);
                return -EINVAL;
        }
        observation_method_from_name(measured->method, &method);
        if (calibration->options.method == CHOICE_AUTO)
                calibration->options.method = method == METHOD_GAUGE ? CHOICE_GAUGE :
                                              method == METHOD_TICKS ? CHOICE_TICKS : CHOICE_PERCENT;
        /* The joules of a sensor and of the level may differ by a percent. */
        if ((calibration->options.method == CHOICE_GAUGE) != (method == METHOD_GAUGE)) {
                log_error(&calibration->log, "--only: %s was measured by %s; leave --method out", calibration->profile,
                          measured->method);
                return -EINVAL;
        }
        *ret = TAKE_PTR(measured);
        return 0;
}

static int measure_only(struct calibration *calibration, const struct profile *before)
{
        enum component missing = COMPONENT_BASE;
        int err = plan_only(&calibration->run.plan, calibration->options.only, before, &missing);

        if (err == -ENODEV) {
                log_error(&calibration->log, "--only %s: %s has none that can be measured", component_names[missing],
                          calibration->run.description.device);
                calibration->wrong_usage = true;
        }
        return err;
}

int calibration_make_plan(struct calibration *calibration)
{
        _cleanup_(profile_freep) struct profile *before = NULL;
        const struct options *options = &calibration->options;
        struct run *run = &calibration->run;
        int err = options->only ? load_before(calibration, &before) : 0;

        if (err)
                return err;
        run->request = (struct run_request){
                .stop_percent = options->stop_percent,
                .battery_limit_percent = options->battery_limit_percent,
                .time_limit_h = options->time_limit_h,
                .write_limit_bytes = options->write_limit_bytes,
                .wifi_limit_bytes = options->wifi_limit_bytes,
                .cellular_limit_bytes = options->cellular_limit_bytes,
                .seed = options->seed,
                .resume = options->resume,
                .method_free = options->method == CHOICE_AUTO,
                .virtual_device = options->device != NULL,
        };
        run->log = &calibration->log;
        run->method = choose_method(calibration);
        err = daemons_tau(run->log, &run->request.daemons_tau_s);
        if (err)
                return err;
        err = options->sapp ? sapp_plan_make(&run->description, &run->plan)
                                        : plan_make(&run->description, &run->plan);
        if (err)
                log_error(&calibration->log, "%s: no plan can be made: %s", run->description.device,
                          err == -ENODATA ? "it shows no CPU to measure" : strerror(-err));
        else if (options->only)
                err = measure_only(calibration, before);
        run->request.passes = options->passes ? options->passes : run_usual_passes(&run->description, &run->plan);
        if (!err)
                err = calibration_know(calibration);
        return err ? err : run_limits(run);
}
