/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Realtime in ns as a time of ISO 8601 in UTC. */

#include <stddef.h>
#include <stdint.h>

/* "2026-11-20T03:12:44Z"; "?": no such time. 32 bytes suffice. */
void utc_print(int64_t time_ns, char *buf, size_t size);
void utc_print_exact(int64_t time_ns, char *buf, size_t size); /* to the ns; 40 bytes suffice */
int utc_parse(const char *text, int64_t *ret); /* as utc_print(), from 1970 on. 0; -EINVAL */
