/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a byte over the air costs depends on the signal: a factor that wanders for hours, is log-normal, and is cut
 * where a modem gives up or cannot save more. Its mean is 1.
 */

#include "model/profile.h"
#include "wander.h"

struct reception {
        struct wander wander;
        double log_sd; /* 0: off */
        double log_mean;
        double factor; /* in force */
        double signal_db, noise_db; /* what is shown of it; 0: nothing */
        struct rng noise;
};

void reception_init(struct reception *reception, const struct profile_virtual *device, struct rng *rng);
void reception_next_second(struct reception *reception);
/* What a card shows of it now, dBm. False: it shows nothing. */
bool reception_dbm(struct reception *reception, int32_t *ret);
