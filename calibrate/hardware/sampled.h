/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Time at each frequency for policies whose driver has no time_in_state (intel_pstate, amd-pstate). While
 * they are pinned, scaling_cur_freq at each look stands for the time since the look before. The service does
 * not do this, because it pins nothing.
 */

#include "hardware.h"

struct sampled {
        int root_fd;
        const struct hardware_description *description;
        uint64_t last_ns;          /* monotonic; 0: no look yet */
        struct sampled_policy {
                uint32_t policy;
                const struct hardware_policy *group; /* group of the description */
                uint64_t time_ns[64];                /* for each of its frequencies */
        } needed[64];              /* policies without time_in_state */
        size_t n_needed;
};

/* At each look, also between whole samples. */
void sampled_look(struct sampled *sampled, uint64_t monotonic_ns);
/* Replaces the unknown frequency in @sample by those of the description. 0; -ENOMEM. */
int sampled_fill(struct sampled *sampled, struct sample *sample);
