/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/*
 * The display of the machine at @root_fd, which stays the caller's: for tests on trees. @program: holds the
 * screen, a name or path; NULL: only the backlight is used.
 */
int display_part_open(int root_fd, const char *program, const struct machine_hardware *machine,
                      struct part **ret);
