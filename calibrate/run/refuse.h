/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Batteries that a calibration does not start with. */

#include "hardware/hardware.h"
#include "look.h"
#include "observation/observation.h"

/*
 * Charge at which a calibration may start, and below which it never goes: the user wakes up with a phone
 * that can call. On its charger a battery does not need to go deep, and ages by it: nearer the middle.
 */
double refuse_start_percent(const struct hardware_description *description);
double refuse_floor_percent(const struct hardware_description *description);

/* The battery at the start. 0; -EINVAL after one sentence to @log. */
int refuse_start(const struct hardware_description *description, const struct look *look,
                 enum observation_method method, const struct log *log);
