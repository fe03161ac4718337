/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a machine would offer a calibration. Only looks; parts drive it (part.h). */

#include "hardware.h"

/* All of a machine tree. */
void machine_describe(int root_fd, struct hardware_description *description);
/* Its name and its battery alone; of the rest this machine offers what its parts can drive. */
void machine_describe_battery(int root_fd, struct hardware_description *description);
