/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Time at each frequency for policies whose driver keeps no time_in_state (intel_pstate, amd-pstate): while
 * they are pinned, what scaling_cur_freq says at each look holds since the look before. The samples of the
 * poller do without, since nobody pins anything then.
 */

#include "hardware.h"

struct sampled {
        int root_fd;
        const struct hardware_description *description;
        uint64_t last_ns;          /* monotonic; 0: no look yet */
        struct sampled_policy {
                uint32_t policy;
                const struct hardware_policy *group; /* of the description */
                uint64_t time_ns[64];                /* by its frequencies */
        } needed[64];              /* of which a sample said nothing */
        size_t n_needed;
};

/* At each look, also at those in between that need no whole sample. */
void sampled_look(struct sampled *sampled, uint64_t monotonic_ns);
/* Puts the frequencies of the description in the place of an unknown one. 0; -ENOMEM. */
int sampled_fill(struct sampled *sampled, struct sample *sample);
