/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writing a page of HTML that is one file and loads nothing. What comes from outside goes through html_text(), in
 * element content and in quoted attributes alike.
 */

#include <stdio.h>

/* Escapes &, <, > and both quotes; control characters, and what is no valid UTF-8, become "?". */
void html_text(FILE *file, const char *text);

/*
 * The head up to <body>, in a @language ("de"), with a policy by which a browser fetches and runs nothing. @css: ours; it gets into <style>.
 */
void html_begin(FILE *file, const char *title, const char *language, const char *css);
void html_end(FILE *file);
