/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Texts and numbers in so many columns of a terminal. */

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes @text safe for any terminal, which shows it in as many columns as text_width() says: without control
 * sequences, without stacks of combining characters, and, if @ascii, only ASCII. Returns @buf.
 */
char *top_text_safe(const char *text, bool ascii, char *buf, size_t size);
/* Cut to @columns, with an ellipsis, and filled up with blanks. Returns @buf. */
char *top_text_fit(const char *text, size_t columns, bool ascii, char *buf, size_t size);
/* A number with as many decimals (at most 3) as leave a blank before it; "?": unknown. @buf of 32. */
char *top_text_number(double value, int columns, char *buf);
