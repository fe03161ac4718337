/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fields.h"

#include <stddef.h>

#define FIELD(type, member, kind_)                                                                           \
        { #member, FIELD_##kind_, offsetof(struct type, member), sizeof(((struct type *)0)->member) }

const struct field observation_fields[OBSERVATION_FIELDS] = {
        FIELD(observation, id, I64),
        FIELD(observation, run, I64),
        FIELD(observation, sequence, U32),
        FIELD(observation, pass, U32),
        FIELD(observation, mode, TEXT),
        FIELD(observation, kind, TEXT),
        FIELD(observation, start_realtime_ns, I64),
        FIELD(observation, elapsed_ns, U64),
        FIELD(observation, percent, REAL),
        FIELD(observation, steps, REAL),
        FIELD(observation, charge_full_uah, REAL),
        FIELD(observation, voltage_mv, REAL),
        FIELD(observation, power_mw, REAL),
        FIELD(observation, gauge_updates, U32),
        FIELD(observation, refresh_s, REAL),
        FIELD(observation, temperature_c, REAL),
        FIELD(observation, wifi_signal_dbm, REAL),
        FIELD(observation, cellular_signal_percent, REAL),
        FIELD(observation, burn, BOOL),
        FIELD(observation, held_back, BOOL),
        FIELD(observation, rejected, TEXT),
        FIELD(observation, gauge_begin_mw, REAL),
        FIELD(observation, gauge_end_mw, REAL),
        FIELD(observation, gauge_kind, TEXT),
        FIELD(observation, gauge_kernel_s, REAL),
        FIELD(observation, gauge_delay_s, REAL),
        FIELD(observation, drawn_j, REAL),
        FIELD(observation, counted_j, REAL),
};

const struct field run_fields[RUN_FIELDS] = {
        FIELD(observation_run, id, I64),
        FIELD(observation_run, device, TEXT),
        FIELD(observation_run, method, TEXT),
        FIELD(observation_run, plan, TEXT),
        FIELD(observation_run, seed, I64), /* its 64 bits, of either sign */
        FIELD(observation_run, start_realtime_ns, I64),
        FIELD(observation_run, energy_full_mwh, REAL),
        FIELD(observation_run, max_brightness, U32),
        FIELD(observation_run, finished, BOOL),
};
