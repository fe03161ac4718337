/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Time at each frequency for policies whose driver keeps no time_in_state (intel_pstate, amd-pstate): while they are
 * pinned, what scaling_cur_freq says at each look holds since the look before. The samples of the poller do
 * without, since nobody pins anything then.
 */

#include "hardware.h"

struct sampled {
        int root_fd;
        const struct hardware_description *description;
        uint64_t last_ns;          /* monotonic; 0: no look yet */
        bool needed[8];            /* of the policies: the last sample said nothing of them */
        uint64_t time_ns[8][64];   /* by policy and frequency of the description */
};

/* At each look, also at those in between that need no whole sample. */
void sampled_look(struct sampled *sampled, uint64_t monotonic_ns);
/* Puts the frequencies of the description in the place of an unknown one. 0; -ENOMEM. */
int sampled_fill(struct sampled *sampled, struct sample *sample);
