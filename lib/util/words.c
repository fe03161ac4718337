/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "words.h"

#include <libintl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>

#include "paths.h"
#include "util.h"

#define DOMAIN "joulecast"

/* Catalogues of the build folder for its programs, as for all their files. */
static void find_catalogues(void)
{
        _cleanup_free_ char *build = paths_build_root(), *folder = NULL;

        if (!build)
                folder = paths_installed(JOULECAST_LOCALEDIR);
        else if (asprintf(&folder, "%s/po", build) < 0)
                folder = NULL;
        bindtextdomain(DOMAIN, folder ? folder : JOULECAST_LOCALEDIR);
        bind_textdomain_codeset(DOMAIN, "UTF-8");
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The empty text stands for the head of a catalogue there. */
const char *words_find(const char *text)
{
        pthread_once(&once, find_catalogues);
        return *text ? dgettext(DOMAIN, text) : text;
}

const char *words_counted(const char *one, const char *many, unsigned long n)
{
        pthread_once(&once, find_catalogues);
        return dngettext(DOMAIN, one, many, n);
}

void words_start(void)
{
        setlocale(LC_CTYPE, "C.UTF-8");
        setlocale(LC_MESSAGES, "");
}

void words_stop(void)
{
        setlocale(LC_MESSAGES, "C");
}

const char *words_language(void)
{
        /* Translators: the code of your language, as in de or pt-BR */
        return _("en");
}
