/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Times by operating point on a machine whose kernel reports no frequency but counts cycles.
 *
 * Busy time and cycles between two readings give a mean frequency. The time is split between the two
 * operating points around it, so that cycles per second come out right. This is coarser than a collector in
 * the kernel, which does the same at each switch between tasks.
 */

#include <stdint.h>

#include "power.h"

/* Times by operating point of the device. */
struct by_cycles {
        uint64_t *seen_ns;  /* at the last reading */
        uint64_t *shown_ns; /* as computed from cycles */
};

int by_cycles_alloc(struct by_cycles *cycles, size_t n_opps);
void by_cycles_reset(struct by_cycles *cycles, size_t n_opps);
void by_cycles_clear(struct by_cycles *cycles);

/* Splits the increase of @busy_ns since the last reading, and adds it to @grown_ns, too. */
void by_cycles_look(const struct power_model *model, const uint64_t *busy_ns, struct by_cycles *busy,
                    uint64_t *grown_ns);
/* Splits the increase of each policy's @any_ns in the proportions of @grown_ns. */
void by_cycles_share(const struct power_model *model, const uint64_t *any_ns, struct by_cycles *any,
                     const uint64_t *grown_ns);
