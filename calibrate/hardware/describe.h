/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a machine offers a calibration. Changes nothing; parts (part.h) drive it. */

#include "hardware.h"

/* Everything that a machine tree shows. */
void describe_machine(int root_fd, struct hardware_description *description);
/* Only name and battery; the parts add what they can drive. */
void describe_machine_battery(int root_fd, struct hardware_description *description);
