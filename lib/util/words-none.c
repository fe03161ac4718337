/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of words.c in a build without catalogues: English. */
#include "words.h"

#include <locale.h>

const char *words_find(const char *text)
{
        return text;
}

const char *words_counted(const char *one, const char *many, unsigned long n)
{
        return n == 1 ? one : many;
}

void words_start(void)
{
        setlocale(LC_CTYPE, "C.UTF-8");
}

void words_stop(void)
{
}

const char *words_language(void)
{
        return "en";
}
