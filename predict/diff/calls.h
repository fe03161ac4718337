/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often functions were called, where that was counted. */

#include <stddef.h>

struct calls;

/* Of a frame as it is in the stacks. @calls: in and out, made at the first call. What was there before is replaced. 0; -ENOMEM; -E2BIG. */
int calls_set(struct calls **calls, const char *frame, size_t length, double count);
double calls_of(const struct calls *calls, const char *frame); /* NAN: not counted */
void calls_free(struct calls *calls);
