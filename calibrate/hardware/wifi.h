/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/* The WiFi of the machine at @root_fd, which stays the caller's: for tests on trees. */
int wifi_open(int root_fd, const struct machine_hardware *machine, struct part **ret);
