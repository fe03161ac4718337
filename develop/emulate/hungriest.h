/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a run that took most, and what ran in them. */

#include "price.h"

/* Lines for people. @series: energy of the first run by component, in @n parts of @part_s. 0; -ENOMEM. */
int hungriest_print(const struct condition *condition, const struct run *run,
                    const double (*series)[COMPONENT_COUNT], size_t n, double part_s);
