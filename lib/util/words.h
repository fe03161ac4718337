/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Words for people in their language (docs/translation.md). The sources have them in English; a catalogue
 * in po/ has them in another one. log_error() and the like, table_text(), table_note(), heads of tables and
 * the rows of options look up their texts. All other words for people are marked by _(). JSON, CSV,
 * metrics, profiles and D-Bus are never translated.
 */

/* Text in the user's language, or unchanged. The result has the same printf() conversions as @text. */
const char *words_find(const char *text) __attribute__((format_arg(1)));
/* @one or @many, as the language counts @n; without translation @one is for 1 only. */
const char *words_counted(const char *one, const char *many, unsigned long n)
        __attribute__((format_arg(1), format_arg(2)));

#define _(text) words_find(text)
#define N_(text) text /* for a catalogue; the code that prints it looks it up */

/*
 * For a main(), before it prints: the language of the environment. Only that: numbers stay in the C locale
 * everywhere, and characters are UTF-8. The library never calls it; an app that loads the library has set
 * its language itself.
 */
void words_start(void);
/* English from here on: the output that follows is for programs. */
void words_stop(void);
/* The language of the words in BCP 47 ("de"); "en" where there is no catalogue. For the lang attribute of HTML. */
const char *words_language(void);
