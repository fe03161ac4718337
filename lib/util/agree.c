/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "agree.h"

#include <ctype.h>

#include "words.h"

bool agree_ask(FILE *file, const char *question)
{
        /* The small letter that agrees, in the user's language. */
        const char *yes = _("y");
        char line[16] = "";
        int letter;

        fprintf(file, "%s [%c/N] ", question, *yes);
        fflush(file);
        if (!fgets(line, sizeof(line), stdin))
                return false;
        letter = tolower((unsigned char)line[0]);
        return letter == 'y' || letter == *yes;
}
