/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How much more energy WiFi takes at a weak signal than at a strong one, learnt from everyday use. */

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct by_signal {
        int32_t strong_dbm, weak_dbm;
        double factor, low, high; /* energy at the weak signal relative to the strong one, and its 95 % CI */
};

/* Finds the pair of signal levels whose difference is the most significant. False: no difference is significant. */
bool by_signal_find(const struct profile *profile, struct by_signal *ret);
