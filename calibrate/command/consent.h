/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The few lines that one agrees to before a machine is held:
 * how long, how much of what, and what is touched.
 */

#include <stdio.h>

#include "prospect.h"

/* @when: "now", "tonight at 01:30". */
void consent_print(FILE *file, const struct prospect *prospect, const char *when);

/*
 * 1: it must be asked for; 0: --yes was said, or nothing real is held;
 * -ENOTTY: it must, and nobody is there.
 */
int consent_needed(const struct options *options);
/* After consent_print(). 0: go on; -ECANCELED: no. */
int consent_ask(void);
