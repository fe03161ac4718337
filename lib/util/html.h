/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writing a page of HTML that is one file and loads nothing. What comes from outside goes through html_text(), in
 * element content and in quoted attributes alike, or through html_json() into data that a script reads.
 */

#include <stdio.h>

#define HTML_TEXT_MAX 4096 /* bytes; what is longer is cut */

/* Escapes &, <, > and both quotes; control characters, ends of lines (also U+2028), and what is no valid UTF-8, become "?". */
void html_text(FILE *file, const char *text);

/*
 * The head up to <body>, in a @language ("de"), with a policy by which a browser fetches and runs nothing. @css: ours; it gets into <style>.
 */
void html_begin(FILE *file, const char *title, const char *language, const char *css);
/* The same with a script: the browser runs the one whose SHA-256 in base64 is @script_hash, and no other. */
void html_begin_script(FILE *file, const char *title, const char *language, const char *css, const char *script_hash);
/* A string of JSON, which can also stand in <script>: without <, > and & of its own. Cut and made valid as by html_text(). */
void html_json(FILE *file, const char *text);
void html_end(FILE *file);
