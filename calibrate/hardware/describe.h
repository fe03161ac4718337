/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What this machine would offer a calibration. Only looks; parts drive it (part.h). */

#include "hardware.h"

/* @running: @root_fd is this machine, which libcpupower sees. @battery: whether there is one. */
void machine_describe(int root_fd, bool running, struct hardware_description *description, bool *battery);
