/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "part.h"

/*
 * The GPU of the machine at @root_fd, for tests on trees. @arguments: the program that makes the load, as for
 * program_start(); kept.
 */
int gpu_part_open(int root_fd, char *const arguments[], const struct machine_hardware *machine,
                  struct part **ret);
