/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdlib.h>
#include <string.h>

#include "cxx-name.h"

/* The demangler of libstdc++ (Itanium C++ ABI), declared here because its header is only for C++. */
char *__cxa_demangle(const char *symbol, char *buf, size_t *length, int *status);

char *cxx_demangle(const char *symbol)
{
        size_t repeats = 0;
        char *name;
        int status;

        /* S_, S0_, ... and T_, T0_, ... stand for earlier parts of it; each pair of them can double the name. */
        for (const char *at = symbol; (at = strchr(at, 'S')); at++)
                repeats += at[1] == '_' || at[1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
        for (const char *at = symbol; (at = strchr(at, 'T')); at++)
                repeats += at[1] == '_' || at[1 + strspn(at + 1, "0123456789")] == '_';
        if (repeats > CXX_REPEATS_MAX)
                return NULL;
        name = __cxa_demangle(symbol, NULL, NULL, &status);
        if (name && strlen(name) > CXX_NAME_MAX) {
                free(name);
                return NULL;
        }
        return name;
}
