/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A virtual device without any noise, what to make it less plain, and an app for it: what the tests of its
 * physics share.
 */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/virtual-truth.h"

/* A device without any noise: what happens can be worked out with a pencil. */
#define PLAIN                                                                                                \
        "[profile]\nversion = 1\ndevice = plain\n"                                                           \
        "[battery]\nenergy_full_mwh = 10000\n"                                                               \
        "[base]\npower_mw = 100\n"                                                                           \
        "[cpu 0]\ncpus = 0-3\n"                                                                              \
        "active_mw.500000 = 200\nactive_mw.1000000 = 500\n"                                                  \
        "shared_mw.500000 = 40\nshared_mw.1000000 = 80\n"                                                    \
        "idle_mw.500000 = 0\nidle_mw.1000000 = 20\n"                                                         \
        "[display]\nmax_brightness = 255\npower_mw.5 = 300\npower_mw.255 = 800\n"                            \
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"                                                 \
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"                        \
        "[gpu]\nactive_mw = 900\n"                                                                           \
        "[virtual]\nseed = 7\n"

#define VOLTAGE "voltage_mv.0 = 3000\nvoltage_mv.50 = 3800\nvoltage_mv.100 = 4200\n"
#define ALL                                                                                                  \
        VOLTAGE "level_step_percent = 1\nlevel_refresh_s = 10\nresistance_mohm = 120\n"                      \
        "nonlinearity_percent = 1.2\nbackground_mw = 12\nbackground_tau_s = 300\nspike_mw = 250\n"           \
        "spike_s = 60\nspike_per_h = 1\nsub_additivity_percent = 4\nleakage_percent_per_c = 0.15\n"          \
        "thermal_c_per_w = 8\nthermal_tau_s = 400\nambient_sd_c = 2\nrate_variation_percent = 10\n"          \
        "gauge_period_s = 3.5\ngauge_noise_percent = 1\ngauge_quantum_mw = 4\ngauge_gain_percent = 1\n"      \
        "gauge_offset_mw = 3\n"

static inline void print_log(void *data, enum log_level level, const char *sentence)
{
        fprintf(stderr, "%s\n", sentence);
}

static const struct log log_all = { .handler = print_log };

static inline struct virtual_device *open_device(const char *text, enum virtual_stream stream, uint64_t seed,
                                                 double percent)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        struct virtual_device *device = NULL;

        check_int(profile_parse(text, strlen(text), "test", &log_all, &truth), 0);
        check_int(truth ? virtual_open(truth, stream, seed, percent, &log_all, &device) : -EINVAL, 0);
        if (!device)
                exit(1);
        return device;
}

/* One look at the device, as the poller takes it. */
static inline void look(struct virtual_device *device, struct sample *sample)
{
        static struct source *source;
        static struct virtual_device *of;

        if (of != device) {
                if (source)
                        source->ops->close(source);
                check_int(virtual_source_open(device, &source), 0);
                of = device;
        }
        sample_reset(sample);
        check_int(source->ops->read(source, sample), 0);
        if (!(sample->have & SAMPLE_BATTERY))
                exit(1);
}

static inline void run(struct virtual_device *device, double s)
{
        check_int(virtual_advance(device, (uint64_t)(s * 1e9)), 0);
}

static const struct virtual_work game = {
        .app = "game",
        .policy_khz = { 1000000 },
        .utilisation = { 0.8, 0.5, 0.5, 0 },
        .read_mb_per_s = 0.5,
        .write_mb_per_s = 0.25,
        .rx_mb_per_s = 0.125,
        .tx_mb_per_s = 0.0625,
        .wakes_per_s = 0.1,
        .gpu = 0.5,
        .foreground = true,
};
