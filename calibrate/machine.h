/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What this machine would offer a calibration. Only looks; real hardware is not driven yet. */

#include "hardware.h"

/* @battery: whether there is one. */
void machine_describe(int root_fd, struct hardware_description *description, bool *battery);
