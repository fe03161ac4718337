/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Times and spans as people write them. */

#include <stddef.h>
#include <stdint.h>

/* 0; -EINVAL; -ERANGE: more than 1e6 minutes, or not from 1970 to 2200. */
int values_parse_minutes(const char *text,
                         double *ret); /* "10m" "3h" "90s" "1h30m" "2 d 4 h"; a plain number: minutes */
int values_parse_time(const char *text, int64_t now_ns, int64_t *ret); /* see docs/man/joulecast.1.scd, Times */
void values_print_local(int64_t time_ns, char *buf, size_t size); /* "2026-11-20 03:12:44", for people */
int64_t values_now_ns(void);
