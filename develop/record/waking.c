/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <math.h>

#include "waking.h"
#include "model/model.h"
#include "model/radio-usage.h"
#include "util/units.h"
#include "util/util.h"

#define BURST_GAP_NS (50 * NS_PER_MS) /* as the collector's (net-bursts.bpf.h) */
#define REST_NS (120 * (int64_t)NS_PER_S) /* every known radio rests by then; LTE's longest timer is a minute */

static double coefficient(const struct profile *profile, enum term term)
{
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term == term)
                        return profile->coefficients[i].value;
        return NAN;
}

int waking_open(struct waking *waking, const struct profile *profile)
{
        struct radio_run quiet;
        double before;
        int err;

        *waking = (struct waking){ .wake_nj = profile ? coefficient(profile, TERM_WIFI_WAKE) * 1e6 : NAN };
        waking->factor = profile ? coefficient(profile, TERM_WIFI_RADIO) : NAN;
        if (isnan(waking->factor) || !radio_usage_radio(profile, AIR_WIFI))
                return 0;
        err = radio_run_start(&quiet, radio_usage_radio(profile, AIR_WIFI), RADIO_SIGNAL_HIGH);
        if (err)
                return err;
        err = radio_run_until(&quiet, REST_NS);
        before = radio_run_energy_j(&quiet);
        waking->rest = quiet.state;
        if (!err)
                err = radio_run_until(&quiet, 2 * REST_NS);
        waking->rest_uw = (radio_run_energy_j(&quiet) - before) * 1e6 / ((double)REST_NS / NS_PER_S);
        radio_run_clear(&quiet);
        if (!err)
                err = radio_run_start(&waking->run, radio_usage_radio(profile, AIR_WIFI), RADIO_SIGNAL_HIGH);
        if (!err)
                waking->radio = radio_usage_radio(profile, AIR_WIFI);
        return err ? err : radio_run_until(&waking->run, REST_NS);
}

void waking_close(struct waking *waking)
{
        if (waking->radio)
                radio_run_clear(&waking->run);
        waking->radio = NULL;
}

/* Above its rest. */
static double pass_nj(struct waking *waking, int64_t until_ns, int *err)
{
        double before = radio_run_energy_j(&waking->run), elapsed_ns = (double)(until_ns - waking->run.now_ns);

        *err = radio_run_until(&waking->run, until_ns);
        return fmax(0, waking->factor * ((radio_run_energy_j(&waking->run) - before) * 1e9 -
                                         waking->rest_uw * elapsed_ns * 1e-6));
}

static int run_packet(struct waking *waking, uint64_t time_ns, enum radio_direction direction, uint64_t bytes,
                      uint32_t stack, struct waking_charge *charge)
{
        int64_t at = MAX((int64_t)(time_ns - waking->first_ns) + REST_NS, waking->run.now_ns);
        double before;
        int err;

        charge->waker = waking->waker;
        charge->waker_nj = pass_nj(waking, at, &err);
        if (err)
                return err;
        charge->woke = waking->run.state == waking->rest;
        if (charge->woke)
                waking->waker = stack;
        before = radio_run_energy_j(&waking->run);
        err = radio_run_packet(&waking->run, at, direction, MIN(bytes, (uint64_t)RADIO_BYTES_MAX));
        charge->own_nj = waking->factor * (radio_run_energy_j(&waking->run) - before) * 1e9;
        return err;
}

int waking_packet(struct waking *waking, uint64_t time_ns, enum radio_direction direction, uint64_t bytes,
                  uint32_t stack, struct waking_charge *ret)
{
        struct waking_charge charge = { .own_nj = NAN, .waker = stack };
        int err = 0;

        if (!waking->began)
                waking->first_ns = time_ns;
        if (!waking->began)
                waking->waker = stack;
        if (waking->radio) {
                err = run_packet(waking, time_ns, direction, bytes, stack, &charge);
        } else {
                charge.woke = !waking->began || time_ns - waking->last_ns >= BURST_GAP_NS;
                charge.waker_nj = charge.woke && !isnan(waking->wake_nj) ? waking->wake_nj : 0;
        }
        waking->began = true;
        waking->last_ns = time_ns;
        *ret = charge;
        return err;
}

int waking_rest(struct waking *waking, struct waking_charge *ret)
{
        int err = 0;

        *ret = (struct waking_charge){ .own_nj = NAN, .waker = waking->waker };
        if (waking->radio && waking->began)
                ret->waker_nj = pass_nj(waking, waking->run.now_ns + REST_NS, &err);
        return err;
}
