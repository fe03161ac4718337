/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/*
 * The display of the machine whose "/" is @root_fd, which stays the caller's: for tests on trees. @program
 * holds the screen: its name or path, or NULL for the backlight alone.
 */
int display_part_open(int root_fd, const char *program, const struct machine_hardware *machine,
                      struct part **ret);
