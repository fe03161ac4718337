/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "prospect.h"

/* Prints all of it: states, hours, battery, what is touched. */
void dry_run_print(const struct prospect *prospect);
