/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Letters of Unicode in UTF-8, whatever the locale. */

#define LETTER_BYTES_MAX 5 /* with its NUL */

/* The next letter of @text, which then points behind it. -1: it is no UTF-8; not at the end of @text. */
long letter_next(const char **text);
/* "" for 0 and what is no letter. */
void letter_write(unsigned long letter, char text[LETTER_BYTES_MAX]);
