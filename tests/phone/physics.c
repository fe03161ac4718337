/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The physics of the virtual phone: looks at what QEMU's guest really does, lets a virtual device draw the
 * power for it, and writes what its gauge shows into the registers of the phone's firmware. Nothing in the
 * phone sees more of it than a battery, a charger and a thermometer. Ends when QEMU does.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "options.h"
#include "physics.h"
#include "server.h"
#include "util/util.h"

#define STEP_NS 20000000
#define SAVE_STEPS 50 /* the charge is written to --state once in a second */

static const struct log log_all = { .handler = log_to_stderr, .data = (void *)"physics" };
static volatile sig_atomic_t stopped;

/* Charge without a voltage would mean nothing. */
static int check_gauge(const struct physics *physics, const struct options *options)
{
        if (!options->charge || physics->world.truth->virtual_device.n_voltage > 0)
                return 0;
        log_error(&log_all, "%s: --charge needs a device with a voltage curve (voltage_mv.PERCENT)",
                  options->device);
        return -EINVAL;
}

static int open_phone(struct physics *physics, const struct options *options)
{
        pid_t pid;
        int err = qtest_open(&physics->qtest, options->qtest, &pid);

        if (err) {
                log_error(&log_all, "%s: cannot reach QEMU: %s", options->qtest, strerror(-err));
                return err;
        }
        err = registers_open(&physics->registers, &physics->qtest, &physics->world, options->charge);
        if (!err)
                err = vcpus_open(&physics->vcpus, pid);
        if (err == -ENODEV)
                log_error(&log_all, "QEMU %d shows no CPU threads; it needs -name NAME,debug-threads=on",
                          (int)pid);
        if (!err && physics->vcpus.n != physics->world.sample.n_cores) {
                log_error(&log_all, "%s: the device has %zu CPUs, the phone %zu", options->device,
                          physics->world.sample.n_cores, physics->vcpus.n);
                return -EINVAL;
        }
        if (!err)
                err = blocks_open(&physics->blocks, options->qmp);
        if (err)
                return err;
        physics->vcpus.wake_ns = options->wake_us * 1e3;
        radio_open(&physics->radio, options->radio);
        physics->throttled = !options->no_throttle &&
                             throttle_open(&physics->throttle, &physics->vcpus, pid) == 0;
        if (!physics->throttled && !options->no_throttle)
                log_warning(&log_all,
                            "the control groups of this machine are not ours to write, so the phone's CPUs "
                            "are not throttled: their frequency changes the power only");
        return 0;
}

static void close_phone(struct physics *physics)
{
        throttle_close(&physics->throttle);
        vcpus_close(&physics->vcpus);
        blocks_close(&physics->blocks);
        radio_close(&physics->radio);
        qtest_close(&physics->qtest);
        world_close(&physics->world);
}

static int run(struct physics *physics, struct server *server, const struct options *options)
{
        uint64_t next_ns = physics_now_ns();
        int err = 0;

        physics->last_ns = next_ns;
        while (!err && !stopped && !physics->quit) {
                next_ns = MAX(next_ns + STEP_NS, physics_now_ns());
                server_run(server, physics, next_ns);
                err = physics_step(physics);
                if (!err && physics->steps % SAVE_STEPS == 0)
                        err = state_save(options, &physics->world);
        }
        if (err && err != -EPIPE)
                log_error(&log_all, "the physics of the phone failed: %s", strerror(-err));
        state_save(options, &physics->world);
        return err == -EPIPE ? 0 : err;
}

static void stop(int signal)
{
        stopped = 1;
}

static int start(struct physics *physics, struct server *server, struct options *options)
{
        int err = state_load(options, &log_all);

        if (!err)
                err = world_open(&physics->world, options->device, options->factor, options->seed,
                                 options->percent, &log_all);
        if (!err)
                err = check_gauge(physics, options);
        if (!err)
                err = open_phone(physics, options);
        if (err)
                return err;
        err = server_open(server, options->control);
        if (err) {
                log_error(&log_all, "%s: cannot listen there: %s", options->control, strerror(-err));
                return err;
        }
        return run(physics, server, options);
}

int main(int argc, char **argv)
{
        const struct sigaction action = { .sa_handler = stop };
        struct options options = { .percent = 90, .wake_us = VCPU_WAKE_US, .seed = 1 };
        struct physics physics = { .qtest.fd = -1, .blocks.fd = -1, .radio.fd = -1 };
        struct server server = { .fd = -1 };
        int err;

        if (options_parse(argc, argv, &options) < 0) {
                options_usage(stderr);
                return 2;
        }
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        err = start(&physics, &server, &options);
        server_close(&server, options.control);
        close_phone(&physics);
        return err ? 1 : 0;
}
