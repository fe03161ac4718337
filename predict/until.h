/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A point in time that is still to come, as people say it. */

#include <stdint.h>

/*
 * "18:00" (the next one, today or tomorrow, local time), or ISO 8601 as values_parse_time(). 0; -EINVAL: neither;
 * -ERANGE: it is over, or more than 1e6 minutes away.
 */
int until_parse(const char *text, int64_t now_ns, int64_t *ret);
