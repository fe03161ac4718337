/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A virtual device without noise. */

#include "check.h"
#include "model/profile.h"
#include "run/runner-private.h"
#include "util/util.h"

static const char device_text[] =
        "[profile]\nversion = 1\ndevice = quiet\nmethod = virtual\n"
        "[battery]\nenergy_full_mwh = 15000\n"
        "[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-3\n"
        "active_mw.384000 = 160\nactive_mw.1000000 = 300\nshared_mw.384000 = 40\nshared_mw.1000000 = 80\n"
        "[display]\nmax_brightness = 255\npower_mw.5 = 360\npower_mw.255 = 850\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"
        "[virtual]\nseed = 7\nvoltage_mv.0 = 3500\nvoltage_mv.100 = 3500\n";

static const volatile sig_atomic_t no_signal;

static inline void open_quiet(const char *more, double start_percent, struct hardware **hardware,
                              struct hardware_description *description)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        char text[2048];
        int n = snprintf(text, sizeof(text), "%s%s", device_text, more);

        check_int(profile_parse(text, (size_t)n, "quiet", NULL, &truth), 0);
        check_int(hardware_virtual_open(truth, 1, start_percent, NULL, hardware), 0);
        check_int((*hardware)->ops->describe(*hardware, description), 0);
}

/* mW of a mode on the device above. */
static inline double true_mw(const struct mode *mode)
{
        bool fast = mode->policy_khz[0] == 1000000;
        double mw = 150;

        if (mode->policy_cores[0])
                mw += (fast ? 80 : 40) + mode->policy_cores[0] * (fast ? 300.0 : 160.0);
        if (mode->screen_on)
                mw += 360 + (850.0 - 360) * (mode->brightness - 5) / 250;
        return mw + mode->read_mb_per_s * 6 + mode->write_mb_per_s * 25 + mode->wifi_on * 30 +
               mode->rx_mb_per_s * 350 + mode->tx_mb_per_s * 550 + mode->wakes_per_s * 120;
}
