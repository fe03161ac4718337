/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often functions were called, where that was counted. */

#include <stddef.h>

struct calls;

/*
 * Sets how often a frame, spelled as in the stacks, was called, and replaces an earlier number. @calls: in
 * and out, allocated by the first use. 0; -ENOMEM; -E2BIG.
 */
int calls_set(struct calls **calls, const char *frame, size_t length, double count);
double calls_of(const struct calls *calls, const char *frame); /* NAN: not counted */
void calls_free(struct calls *calls);
