/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Describes the machine's parts that a calibration can use. It changes nothing; parts (part.h) drive them. */

#include "hardware.h"

/* Everything that a machine tree shows. */
void describe_machine(int root_fd, struct hardware_description *description);
/* Whether cores that idle turn off most of themselves, as far as the kernel lists it. */
void describe_idle_states(int root_fd, struct hardware_description *description);
/* Describes only name and battery; the parts add the hardware that they can drive. */
void describe_machine_battery(int root_fd, struct hardware_description *description);
