/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "html.h"

#include <string.h>

#include "util.h"

static const char *entity(char c)
{
        switch (c) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\'':
                return "&#39;";
        default:
                return NULL;
        }
}

void html_text(FILE *file, const char *text)
{
        char printable[1024];

        util_printable(text, printable, sizeof(printable));
        for (const char *at = printable; *at; at++) {
                const char *as = entity(*at);

                if (as)
                        fputs(as, file);
                else
                        fputc(*at, file);
        }
}

void html_begin(FILE *file, const char *title, const char *language, const char *css)
{
        fprintf(file, "<!DOCTYPE html>\n<html lang=\"%s\">\n", language);
        fputs("<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
              "base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
              file);
        html_text(file, title);
        fprintf(file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", css);
}

void html_end(FILE *file)
{
        fputs("</body>\n</html>\n", file);
}
