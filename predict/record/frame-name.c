/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cxx-name.h"
#include "frame-name.h"
#include "util/util.h"

static void cut_clone(char *name)
{
        static const char *const endings[] = { ".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm", ".localalias" };

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                char *at = strstr(name, endings[i]);

                if (at && at > name && strchr(".", at[strlen(endings[i])])) /* ends there, or a number follows */
                        *at = '\0';
        }
}

/* __memmove_avx_unaligned_erms and __strlen_avx2: the CPU chose them, and another one chooses others. */
static void cut_variant(char *name)
{
        static const char *const variants[] = { "_sse", "_ssse", "_avx", "_evex", "_erms", "_asimd", "_sve", "_mops", "_generic",
                                                "_falkor", "_thunderx", "_a64fx", "_kryo", "_kunpeng" };
        static const char *const families[] = { "__mem", "__str", "__wcs", "__wmem", "__stp", "__rawmem" };
        bool known = false;
        char *first = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(families); i++)
                known |= strncmp(name, families[i], strlen(families[i])) == 0;
        for (size_t i = 0; known && i < ARRAY_SIZE(variants); i++) {
                char *at = strstr(name, variants[i]);

                first = at && (!first || at < first) ? at : first;
        }
        if (!first)
                return;
        *first = '\0';
        memmove(name, name + 2, strlen(name + 2) + 1);
}

char *frame_function(const char *symbol, char *buf, size_t size)
{
        char plain[CXX_SYMBOL_MAX + 1];
        size_t length = strcspn(symbol + (*symbol != '\0'), "@") + (*symbol != '\0');

        if (length < sizeof(plain)) {
                memcpy(plain, symbol, length);
                plain[length] = '\0';
                cut_clone(plain);
                symbol = plain;
        }
        if (!cxx_name(symbol, buf, size))
                util_printable(symbol, buf, size);
        cut_variant(buf);
        for (char *at = buf; *at; at++)
                *at = *at == ';' || isspace((unsigned char)*at) ? '_' : *at;
        return buf;
}

/*
 * V8 marks how far it has optimised a function (JS:~f, JS:^f, JS:+f, JS:*f), and says where it stands (f /home/a/b.js:1:17), which
 * changes with what is written above it. Functions without a name keep their place.
 */
static char *code_name(const char *name, char *buf, size_t size)
{
        char *place, *end;

        util_printable(name, buf, size);
        if (strncmp(buf, "JS:", 3) == 0 && buf[3] && strchr("~^+*", buf[3]))
                memmove(buf + 3, buf + 4, strlen(buf + 4) + 1);
        place = strchr(buf, ' ');
        end = buf + strlen(buf);
        while (place && place > buf + 3 && end > place && (isdigit((unsigned char)end[-1]) || end[-1] == ':'))
                *--end = '\0';
        if (place && place[1] == '/')
                memmove(place + 1, util_base_name(place + 1), strlen(util_base_name(place + 1)) + 1);
        for (char *at = buf; *at; at++)
                *at = *at == ';' || *at == '@' || isspace((unsigned char)*at) ? '_' : *at;
        return buf;
}

char *frame_dso(const char *path, char *buf, size_t size)
{
        char *version;

        util_printable(util_base_name(path), buf, size);
        version = strstr(buf, ".so.");
        if (version)
                version[4 + strcspn(version + 4, ".")] = '\0';
        for (char *at = buf; *at; at++)
                *at = *at == ';' || *at == '@' || isspace((unsigned char)*at) ? '_' : *at;
        return buf;
}

char *frame_name(const char *symbol, const char *path, char *buf, size_t size)
{
        char function[FRAME_NAME_MAX * 3 / 4 - 2], dso[FRAME_NAME_MAX / 4];

        if (!symbol || !*symbol)
                snprintf(function, sizeof(function), "[unknown]");
        else if (strcmp(path, FRAME_CODE) == 0)
                code_name(symbol, function, sizeof(function));
        else
                frame_function(symbol, function, sizeof(function));
        snprintf(buf, size, "%s@%s", function, frame_dso(path, dso, sizeof(dso)));
        return buf;
}

bool frame_is_unknown(const char *name)
{
        return strncmp(name, "[unknown]@", 10) == 0;
}
