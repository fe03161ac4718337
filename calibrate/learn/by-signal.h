/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What everyday use taught of WiFi at a weak signal against a strong one. */

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct by_signal {
        int32_t strong_dbm, weak_dbm;
        double factor, low, high; /* WiFi takes so many times as much at the weak one; 95 % */
};

/* The pair of levels that differs most beyond its error. False: none does. */
bool by_signal_find(const struct profile *profile, struct by_signal *ret);
