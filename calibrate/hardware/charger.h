/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/* The charger of the machine at @root_fd, which stays the caller's: for tests on trees. */
int charger_open(int root_fd, const struct machine_hardware *machine, struct part **ret);
