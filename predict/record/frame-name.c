/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
        util_printable(symbol, buf, size);
        if (*buf)
                buf[1 + strcspn(buf + 1, "@")] = '\0';
        cut_clone(buf);
        cut_variant(buf);
        for (char *at = buf; *at; at++)
                *at = *at == ';' || isspace((unsigned char)*at) ? '_' : *at;
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
        char function[FRAME_NAME_MAX / 2 + 32], dso[FRAME_NAME_MAX / 4];

        snprintf(buf, size, "%s@%s", symbol && *symbol ? frame_function(symbol, function, sizeof(function)) : "[unknown]",
                 frame_dso(path, dso, sizeof(dso)));
        return buf;
}

bool frame_is_unknown(const char *name)
{
        return strncmp(name, "[unknown]@", 10) == 0;
}
