/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How the data in the database was collected. */

#include "doctor.h"
#include "forecast/suspend.h"
#include "store/store.h"
#include "util/units.h"
#include "util/util.h"

#define WEEK_NS ((int64_t)(7 * 24 * 3600 * NS_PER_S))

/* A percent is energy only by a profile. */
static void look_at_sleeps(struct store *store, struct findings *findings)
{
        struct recorded *recorded = &findings->recorded;
        struct suspend_power power;

        if (!findings->model || doctor_saw(findings, suspend_measure(findings->model, store, &power)) < 0)
                return;
        recorded->n_sleeps = power.n;
        recorded->suspend_mw = power.power_mw;
        recorded->suspend_error_mw = power.error_mw;
}

void doctor_look_at_recorded(struct findings *findings)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct store_battery week;
        int64_t first_ns, last_ns;

        if (doctor_saw(findings, store_open(findings->database, STORE_READ, NULL, &store)) < 0 ||
            doctor_saw(findings, store_span(store, &first_ns, &last_ns)) < 0 ||
            doctor_saw(findings, store_battery(store, last_ns - WEEK_NS, INT64_MAX, &week)) < 0)
                return;
        findings->recorded = (struct recorded){
                .recorded_s = (double)week.elapsed_ns / 1e9,
                .counted_s = (double)week.counted_ns / 1e9,
                .shared_s = (double)week.shared_ns / 1e9,
                .wifi_signal_dbm = week.wifi_signal_dbm,
                .cellular_signal_percent = week.cellular_signal_percent,
        };
        look_at_sleeps(store, findings);
}
