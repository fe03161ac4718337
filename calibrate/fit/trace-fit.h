/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A profile of a trace: rows that a meter, power rails or a battery measured while the device was used. */

#include "measured/measured.h"
#include "outcome.h"

struct trace_fit {
        const char *name;       /* name of the device */
        double energy_full_mwh; /* NaN: by the trace's percent and charge */
        bool independent;       /* rows say nothing of each other: background activity is new in each */
        enum idle_states idle_states;
        const struct voltages *voltages; /* NULL: unknown */
        const char *cache_event; /* that the trace counts as misses; NULL: unknown */
};

/*
 * Takes spans of unknown energy out of @trace and joins some. 0; -EINVAL and -ENODATA with a sentence in @error: they
 * cannot be fitted; -EDOM; -ENOMEM; -EOVERFLOW.
 */
int trace_fit(const struct trace_fit *options, struct measured_trace *trace, struct outcome *ret, char *error,
              size_t error_size);
