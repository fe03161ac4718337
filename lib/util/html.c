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
        char printable[HTML_TEXT_MAX];

        util_printable(text, printable, sizeof(printable));
        for (const char *at = printable; *at; at++) {
                const char *as = entity(*at);

                if (as)
                        fputs(as, file);
                else
                        fputc(*at, file);
        }
}

void html_json(FILE *file, const char *text)
{
        char printable[HTML_TEXT_MAX];

        util_printable(text, printable, sizeof(printable));
        fputc('"', file);
        for (const char *at = printable; *at; at++) {
                if (strchr("<>&'", *at)) {
                        fprintf(file, "\\u%04x", (unsigned char)*at);
                } else {
                        if (*at == '"' || *at == '\\')
                                fputc('\\', file);
                        fputc(*at, file);
                }
        }
        fputc('"', file);
}

static void begin(FILE *file, const char *title, const char *language, const char *css, const char *script)
{
        fprintf(file, "<!DOCTYPE html>\n<html lang=\"%s\">\n", language);
        fprintf(file, "<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
                "%sbase-uri 'none'; form-action 'none'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
                script);
        html_text(file, title);
        fprintf(file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", css);
}

void html_begin(FILE *file, const char *title, const char *language, const char *css)
{
        begin(file, title, language, css, "");
}

void html_begin_script(FILE *file, const char *title, const char *language, const char *css, const char *script_hash)
{
        char policy[128];

        snprintf(policy, sizeof(policy), "script-src 'sha256-%s'; ", script_hash);
        begin(file, title, language, css, policy);
}

void html_end(FILE *file)
{
        fputs("</body>\n</html>\n", file);
}
