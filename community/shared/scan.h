/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A strict reader of one line of JSON, in place: it allocates nothing, and a number keeps all its digits. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
        const char *at, *end;
        unsigned depth;
};

/* The characters of a string between its quotes, escapes as they were written. */
struct scan_text {
        const char *text;
        size_t length;
};

/* Skips blanks; takes @c if it is next. */
bool scan_take(struct scan *scan, char c);
bool scan_string(struct scan *scan, struct scan_text *ret);
/* A whole number; one with a fraction or an exponent is rounded. False: no number, or outside of +-4e18. */
bool scan_integer(struct scan *scan, int64_t *ret);
/* Any value, nested at most 8 deep; @ret gets its text. */
bool scan_value(struct scan *scan, struct scan_text *ret);
/* Only blanks are left. */
bool scan_done(struct scan *scan);
/*
 * Writes a string without escapes, ending in NUL. False: longer than @size - 1, not UTF-8, or it has control
 * characters.
 */
bool scan_unescape(const struct scan_text *text, char *buf, size_t size);
