/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "prospect.h"

/* Prints states, hours, battery and changed settings. */
int dry_run_print(const struct prospect *prospect);
