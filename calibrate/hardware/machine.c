/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* This machine as hardware: reads through lib's sources, acts through its parts. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "describe.h"
#include "forecast/charging.h"
#include "hold/guard.h"
#include "hold/logind.h"
#include "hold/rivals.h"
#include "machine/machine.h"
#include "part.h"
#include "sampled.h"
#include "source/battery.h"
#include "source/clock.h"
#include "util/units.h"
#include "util/util.h"

/* In the order in which a mode is applied: the battery, then clocks, then loads. */
static int (*const part_constructors[])(const struct machine_hardware *machine, struct part **ret) = {
        hardware_charger_open,
        hardware_cpu_open,
        hardware_display_open,
        hardware_gpu_open,
        hardware_disk_open,
        hardware_wifi_open,
        hardware_cellular_open,
};

struct hardware_machine {
        struct hardware hardware; /* first */
        struct machine_hardware options;
        int root_fd;
        struct sources sources; /* opened by the first look: a dry run needs none */
        struct sources battery; /* only the clocks and the battery */
        bool sources_open;
        struct part *parts[ARRAY_SIZE(part_constructors)];
        size_t n_parts;
        uint64_t checked_ns; /* last check of the loads; monotonic */
        const char *failed; /* part whose load did not run at the last check */
        unsigned changes;    /* settings that other programs had changed after a state */
        struct settings *settings; /* between begin() and restore() */
        struct guard *guard; /* since the first begin(): input before that started it */
        int inhibitor;             /* keeps the machine awake; -1: nothing does */
        struct sampled sampled;
        struct hardware_description description;
};

static struct hardware_machine *machine_of(struct hardware *hardware)
{
        return (struct hardware_machine *)hardware;
}

static int describe(struct hardware *hardware, struct hardware_description *ret)
{
        *ret = machine_of(hardware)->description;
        return 0;
}

static uint64_t now_ns(struct hardware *hardware)
{
        return util_clock_ns(CLOCK_BOOTTIME);
}

static int64_t realtime_ns(struct hardware *hardware)
{
        return (int64_t)util_clock_ns(CLOCK_REALTIME);
}

static int wait_until(struct hardware *hardware, uint64_t until_ns)
{
        return guard_wait(machine_of(hardware)->guard, until_ns);
}

/*
 * With the collectors in the kernel where they load: CPU time by frequency is exact then. The foreground app
 * is not needed, and finding it on a text console walks over all processes.
 */
static int open_sources(struct hardware_machine *machine)
{
        const struct machine_options options = {
                .collectors = all_collectors,
                .foreground = "none",
                .log = machine->options.log,
        };
        int err;

        if (machine->sources_open)
                return 0;
        err = machine_open(&options, &machine->sources);
        machine->sources_open = !err;
        return err;
}

static int open_battery(struct hardware_machine *machine)
{
        struct source *source = NULL;
        int err;

        if (machine->battery.n)
                return 0;
        err = clock_open(machine->root_fd, &source);
        if (!err)
                err = sources_add(&machine->battery, source);
        if (!err)
                err = battery_open(machine->root_fd, NULL, &source); /* the other battery source logs its
                                                                        quirks */
        if (!err)
                err = sources_add(&machine->battery, source);
        if (err)
                sources_close(&machine->battery);
        return err;
}

/* The battery is read many times a second; checking the loads once a second is enough. */
#define CHECK_NS NS_PER_S

static void check_loads(struct hardware_machine *machine, uint64_t monotonic_ns)
{
        if (!machine->settings || monotonic_ns < machine->checked_ns + CHECK_NS)
                return;
        machine->checked_ns = monotonic_ns;
        machine->failed = NULL;
        for (size_t i = 0; i < machine->n_parts && !machine->failed; i++)
                if (machine->parts[i]->ops->check && machine->parts[i]->ops->check(machine->parts[i]) < 0)
                        machine->failed = machine->parts[i]->ops->name;
}

/* Beside a supply that is not believed the batteries' own word counts. */
static void believe_battery(const struct hardware_machine *machine, struct sample *sample)
{
        if (machine->options.stale_supply && charging_is_doubtful(&sample->battery))
                sample->battery.status = BATTERY_DISCHARGING;
}

static int read_sample(struct hardware *hardware, struct sample *sample)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err = open_sources(machine);

        if (!err)
                err = sources_read(&machine->sources, sample);
        if (!err)
                err = sampled_fill(&machine->sampled, sample);
        believe_battery(machine, sample);
        check_loads(machine, sample->monotonic_ns);
        return err;
}

static int read_battery(struct hardware *hardware, struct sample *sample)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err = open_battery(machine);

        if (!err)
                err = sources_read(&machine->battery, sample);
        if (!err)
                sampled_look(&machine->sampled, sample->monotonic_ns);
        believe_battery(machine, sample);
        check_loads(machine, sample->monotonic_ns);
        return err;
}

static int may_go_on(struct hardware *hardware, const struct sample *sample, char *reason, size_t size)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err = guard_judge(machine->guard, sample, reason, size);

        if (err || !machine->failed)
                return err;
        snprintf(reason, size, "the load of %s ended", machine->failed);
        return -EIO;
}

static int refuse_changes(const struct hardware_machine *machine, const char *changed)
{
        const char *command, *rival = rivals_watched(machine->root_fd, &command);

        if (rival)
                log_error(machine->options.log, "%s was changed again by another program, perhaps %s; stop it with"
                                                " `%s` and "
                                                "go on with the same command and --resume", changed, rival, command);
        else
                log_error(machine->options.log, "%s was changed again by another program; end it and go on with the"
                                                " same command and --resume", changed);
        return -EBUSY;
}

static int look_back(struct hardware *hardware, char *reason, size_t size)
{
        struct hardware_machine *machine = machine_of(hardware);
        char changed[SETTING_NAME_MAX + 1];
        int err;

        if (!machine->settings)
                return 0;
        guard_before_change(machine->guard);
        err = settings_repeat(machine->settings, changed);
        guard_after_change(machine->guard, false);
        if (err == -ENOMEM || !changed[0])
                return err;
        if (err || machine->changes++ > 0)
                return refuse_changes(machine, changed);
        log_warning(machine->options.log, "%s was changed by another program; it is set again, and the state is"
                                          " measured again", changed);
        snprintf(reason, size, "another program changed %s", strrchr(changed, '/') + 1);
        return -EIO;
}

static int give_back(struct hardware_machine *machine)
{
        struct restore_report report;

        for (size_t i = machine->n_parts; i > 0; i--)
                machine->parts[i - 1]->ops->stop(machine->parts[i - 1]);
        if (!machine->settings)
                return 0;
        closep(&machine->inhibitor);
        machine->inhibitor = -1;
        settings_close(machine->settings);
        machine->settings = NULL;
        return settings_restore(machine->root_fd, machine->options.journal, machine->options.log, &report);
}

static int restore(struct hardware *hardware)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err;

        guard_before_change(machine->guard);
        err = give_back(machine);
        guard_after_change(machine->guard, false);
        return err;
}

/* Not while the run pauses: the machine is then its user's. */
static void stay_awake(struct hardware_machine *machine)
{
        machine->inhibitor = logind_inhibit("A calibration measures this machine's power");
        if (machine->inhibitor < 0)
                log_warning(machine->options.log,
                            "this machine cannot be kept from sleeping meanwhile: %s",
                            strerror(-machine->inhibitor));
}

static void limit_air(struct hardware *hardware, enum air air, double bytes)
{
        struct hardware_machine *machine = machine_of(hardware);

        for (size_t i = 0; i < machine->n_parts; i++)
                if (machine->parts[i]->ops->limit_air)
                        machine->parts[i]->ops->limit_air(machine->parts[i], air, bytes);
}

static int open_guard(struct hardware_machine *machine)
{
        int err;

        if (machine->guard)
                return 0;
        err = guard_open(machine->root_fd, machine->options.force_discharge, machine->options.log,
                         &machine->guard);
        if (err)
                return err;
        guard_watch_sessions(machine->guard);
        if (machine->options.stale_supply)
                guard_ignore_supply(machine->guard);
        return 0;
}

static int begin(struct hardware *hardware)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err;

        if (machine->settings)
                return 0;
        err = open_guard(machine);
        if (err)
                return err;
        guard_before_change(machine->guard);
        err = settings_open(machine->root_fd, machine->options.journal, machine->options.log,
                            &machine->settings);
        for (size_t i = 0; !err && i < machine->n_parts; i++)
                err = machine->parts[i]->ops->prepare(machine->parts[i], machine->settings);
        if (!err)
                err = settings_commit(machine->settings);
        if (err) {
                settings_close(machine->settings);
                machine->settings = NULL;
        } else {
                stay_awake(machine);
        }
        guard_after_change(machine->guard, false);
        return err;
}

static int apply(struct hardware *hardware, const struct mode *mode)
{
        struct hardware_machine *machine = machine_of(hardware);
        int err = begin(hardware), end;

        guard_before_change(machine->guard);
        machine->checked_ns = 0;
        machine->failed = NULL; /* belonged to another mode */
        if (!err)
                err = settings_begin_changes(machine->settings);
        for (size_t i = 0; !err && i < machine->n_parts; i++)
                err = machine->parts[i]->ops->apply(machine->parts[i], mode);
        end = machine->settings ? settings_end_changes(machine->settings) : 0;
        err = err ? err : end;
        guard_after_change(machine->guard, !err);
        return err;
}

static void close_machine(struct hardware *hardware)
{
        struct hardware_machine *machine = machine_of(hardware);

        restore(hardware);
        for (size_t i = machine->n_parts; i > 0; i--)
                machine->parts[i - 1]->ops->close(machine->parts[i - 1]);
        guard_close(machine->guard);
        if (machine->sources_open)
                sources_close(&machine->sources);
        sources_close(&machine->battery);
        closep(&machine->root_fd);
        free(machine);
}

static const struct hardware_ops hardware_machine_ops = {
        .name = "machine",
        .describe = describe,
        .now_ns = now_ns,
        .realtime_ns = realtime_ns,
        .limit_air = limit_air,
        .begin = begin,
        .may_go_on = may_go_on,
        .look_back = look_back,
        .wait = wait_until,
        .read = read_sample,
        .read_battery = read_battery,
        .apply = apply,
        .restore = restore,
        .close = close_machine,
};

static int open_parts(struct hardware_machine *machine)
{
        for (size_t i = 0; i < ARRAY_SIZE(part_constructors); i++) {
                struct part *part = NULL;
                int err = part_constructors[i](&machine->options, &part);

                if (err == -ENODEV)
                        continue;
                if (err)
                        return err;
                machine->parts[machine->n_parts++] = part;
                err = part->ops->describe(part, &machine->description);
                if (err)
                        return err;
        }
        return 0;
}

/* Whether packets are counted one by one; without a peer there will be no states that need it. */
static int see_packets(struct hardware_machine *machine)
{
        struct sample sample = { 0 };
        int err;

        if (!machine->description.wifi_tx && !machine->description.cellular)
                return 0;
        err = read_sample(&machine->hardware, &sample);
        machine->description.wifi_packets = machine->description.wifi_tx && sample.have & SAMPLE_BURSTS;
        if (!err && machine->description.cellular && !(sample.have & SAMPLE_BURSTS)) {
                log_error(machine->options.log, "--cellular-peer: packets cannot be counted one by one here, which a"
                                                " modem needs; `joulecast doctor` says why");
                err = -EOPNOTSUPP;
        }
        sample_clear(&sample);
        return err;
}

int hardware_machine_open(const struct machine_hardware *options, struct hardware **ret)
{
        struct hardware_machine *machine = calloc(1, sizeof(*machine));
        int err;

        if (!machine)
                return -ENOMEM;
        machine->hardware.ops = &hardware_machine_ops;
        machine->inhibitor = -1;
        machine->options = *options;
        machine->root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        machine->sampled = (struct sampled){ .root_fd = machine->root_fd,
                                             .description = &machine->description };
        err = machine->root_fd < 0 ? -errno : 0;
        if (!err) {
                describe_machine_battery(machine->root_fd, &machine->description);
                describe_idle_states(machine->root_fd, &machine->description);
                err = open_parts(machine);
        }
        if (!err)
                err = see_packets(machine);
        if (err) {
                close_machine(&machine->hardware);
                return err;
        }
        *ret = &machine->hardware;
        return 0;
}
