/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a machine shows of its operating points where the kernel tells no frequency, and counts cycles: busy time and
 * cycles between two looks are a mean frequency, and the time is split between the operating points on both sides
 * of that, so that cycles per second come out right. It is coarser than what a collector in the kernel does at each
 * switch of tasks.
 */

#include <stdint.h>

#include "power.h"

/* Times by operating point of the device. */
struct by_cycles {
        uint64_t *seen_ns;  /* at the last look */
        uint64_t *shown_ns; /* as cycles tell them */
};

int by_cycles_alloc(struct by_cycles *cycles, size_t n_opps);
void by_cycles_reset(struct by_cycles *cycles, size_t n_opps);
void by_cycles_clear(struct by_cycles *cycles);

/* Splits what @busy_ns has grown by since the last look, and adds that to @grown_ns, too. */
void by_cycles_look(const struct power_model *model, const uint64_t *busy_ns, struct by_cycles *busy,
                    uint64_t *grown_ns);
/* Splits what @any_ns of each policy has grown by, in the proportions of @grown_ns. */
void by_cycles_share(const struct power_model *model, const uint64_t *any_ns, struct by_cycles *any,
                     const uint64_t *grown_ns);
