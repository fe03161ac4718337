/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cxx-name.h"
#include "frame-name.h"
#include "tree/name.h"
#include "util/util.h"

static void cut_clone(char *name)
{
        static const char *const endings[] = { ".constprop", ".isra", ".part",      ".cold",
                                               ".lto_priv",  ".llvm", ".localalias" };

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                char *at = strstr(name, endings[i]);

                if (at && at > name && strchr(".", at[strlen(endings[i])])) /* ends there, or a number follows */
                        *at = '\0';
        }
}

/*
 * A name of Rust, or one that a program gave to code that it made, stays whole: diff knows what is a file, a line
 * or a mark in it.
 */
static char *code_name(const char *name, char *buf, size_t size)
{
        util_printable(name, buf, size);
        for (char *at = buf; *at; at++)
                if (strchr(";\t\n\v\f\r", *at))
                        *at = '_';
        return buf;
}

/*
 * frame_function() - the name in the source of a name in a symbol table
 *
 * Without what a compiler adds to parts and copies of a function (.constprop.0, .isra.0, .part.0, .cold,
 * .lto_priv.0, .llvm.1), without a symbol's version (@GLIBC_2.17), and for the variants of glibc that its
 * loader chooses among by the CPU (__memcpy_avx_unaligned_erms) the name that was called (memcpy). Of C++
 * the short name (cxx-name.h). Returns @buf.
 */
static char *frame_function(const char *symbol, char *buf, size_t size)
{
        char plain[NAME_MAX_BYTES], rust[NAME_MAX_BYTES];
        size_t length = strcspn(symbol + (*symbol != '\0'), "@") + (*symbol != '\0');

        if (length < sizeof(plain)) {
                memcpy(plain, symbol, length);
                plain[length] = '\0';
                cut_clone(plain);
                (void)name_clean_variant(plain); /* diff does it again */
                symbol = plain;
        }
        if (strncmp(symbol, "_R", 2) == 0 && name_rust(symbol, rust))
                return code_name(rust, buf, size);
        if (!cxx_name(symbol, buf, size))
                util_printable(symbol, buf, size);
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
