/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the user agrees to before a machine is held: how long it takes, how much of the battery, and what is
 * changed.
 */

#include <stdio.h>

#include "prospect.h"

/* @when: "now", "tonight at 01:30". */
void consent_print(FILE *file, const struct prospect *prospect, const char *when);

/*
 * 1: the user must be asked; 0: --yes was given, or no real machine is held; -ENOTTY: there is no terminal to
 * ask on.
 */
int consent_needed(const struct options *options);
/* After consent_print(). 0: yes; -ECANCELED: no. */
int consent_ask(void);
