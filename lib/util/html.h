/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writing a page of HTML that is one file and loads nothing. Text from outside goes through html_text(), both in
 * element content and in quoted attributes, or through html_json() into data that a script reads.
 */

#include <stdio.h>

#define HTML_TEXT_MAX 4096 /* bytes; longer text is cut */

/*
 * Escapes &, <, > and both quotes; control characters, ends of lines (also U+2028), and invalid UTF-8 become "?".
 */
void html_text(FILE *file, const char *text);

/*
 * The head up to <body>, in a @language ("de"), with a policy by which a browser fetches and runs nothing.
 * @css: the content of <style>, not escaped.
 */
void html_begin(FILE *file, const char *title, const char *language, const char *css);
/* The same with a script: the browser runs the one whose SHA-256 in base64 is @script_hash, and no other. */
void html_begin_script(FILE *file, const char *title, const char *language, const char *css, const char *script_hash);
/*
 * A string of JSON, which is also safe in <script>: it has no <, > and & of its own. Cut and made valid as by
 * html_text().
 */
void html_json(FILE *file, const char *text);
void html_end(FILE *file);
