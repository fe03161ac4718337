/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The price of a byte over the air depends on the signal: a factor that varies over hours, is log-normal, and
 * is limited where a modem gives up or cannot save more. Its mean is 1.
 */

#include "model/profile.h"
#include "wander.h"

struct reception {
        struct wander wander;
        double log_sd; /* 0: off */
        double log_mean;
        double factor; /* present value */
        double signal_db, noise_db; /* spread of the signal that is shown; 0: none is shown */
        struct rng noise;
};

void reception_init(struct reception *reception, const struct profile_virtual *device, struct rng *rng);
void reception_next_second(struct reception *reception);
/* Signal that a network card shows now, in dBm. Returns false if it shows none. */
bool reception_dbm(struct reception *reception, int32_t *ret);
