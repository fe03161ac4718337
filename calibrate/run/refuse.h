/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Batteries with which a calibration does not start. */

#include "hardware/hardware.h"
#include "look.h"
#include "observation/observation.h"

/*
 * The charge at which a calibration may start, and the charge at which it always ends, so that a phone can
 * still make calls. On a charger both are nearer the middle, where the battery ages less.
 */
double refuse_start_percent(const struct hardware_description *description);
double refuse_floor_percent(const struct hardware_description *description);

/* The battery at the start. 0; -EINVAL, logged. */
int refuse_start(const struct hardware_description *description, const struct look *look,
                 enum observation_method method, const struct log *log);
