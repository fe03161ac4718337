/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Pages of HTML that are one file. Their styles and scripts are in files of their own, which lib/page/embed converts to
 * texts in C: first page.css and page.js, which pages share, then the page's own (predict/meson.build). util/html.h
 * writes the head, and texts from outside.
 */

extern const char report_css[];
extern const char emulate_css[], emulate_js[], emulate_js_hash[];
extern const char diff_css[], diff_js[], diff_js_hash[];

/*
 * Writes a page, whole or not at all; to standard output where @path is NULL or "-". CODE_OK; CODE_FAILED
 * after its sentence.
 */
int page_write(const char *path, const char *text);
/* Writes the page to paths_page() and shows it in the user's browser. An exit code, after its sentence. */
int page_open(const char *text);
