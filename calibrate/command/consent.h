/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The user's consent before a machine is held: it says how long the run takes, how much of the battery it uses, and
 * what it changes.
 */

#include <stdio.h>

#include "prospect.h"

/* @when: "now", "tonight at 01:30". -ENOMEM. */
int consent_print(FILE *file, const struct prospect *prospect, const char *when);

/* A sentence that says on what the expected time and charge are based. */
const char *consent_basis(const struct prospect *prospect);

/*
 * 1: the user must be asked; 0: --yes was given, or no real machine is held; -ENOTTY: there is no terminal to
 * ask on.
 */
int consent_needed(const struct options *options);
/* After consent_print(). 0: yes; -ECANCELED: no. */
int consent_ask(void);
