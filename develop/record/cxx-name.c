/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cxx-name.h"
#include "tree/name.h"
#include "util/util.h"

struct shortened {
        char *buf;
        size_t length, size;
        bool full;
};

static void add(struct shortened *name, const char *text, size_t length)
{
        if (length >= name->size - name->length) {
                name->full = true;
                return;
        }
        memcpy(name->buf + name->length, text, length);
        name->length += length;
}

static const char *take_brackets(struct shortened *result, const char *name, const char *at)
{
        const char *end = name_skip_brackets(name, at);

        if (!end)
                return NULL;
        if (*at == '(' && strncmp(at, "(anonymous namespace)::", 23) == 0)
                return at + 23;
        if (*at == '(' && result->length > 0 && strncmp(end, "::", 2) != 0 && strncmp(end, " const::", 8) != 0)
                return at + strlen(at); /* the text behind the parameters is no part of the name */
        if (*at == '(' && strncmp(end, " const::", 8) == 0)
                return end + 6;
        if (*at == '<')
                add(result, "<>", 2);
        if (*at == '{') { /* {lambda(int)#1} */
                const char *number = memrchr(at, '#', (size_t)(end - at));

                add(result, at, strcspn(at, "( #}"));
                add(result, number ? number : end - 1, (size_t)(end - (number ? number : end - 1)));
        }
        return end;
}

/* Cuts the hash off a name of Rust: foo::bar::h0123456789abcdef. */
static void cut_hash(struct shortened *result)
{
        const char *hash = result->buf + result->length - 19;

        if (result->length > 19 && strncmp(hash, "::h", 3) == 0 && strspn(hash + 3, "0123456789abcdef") == 16)
                result->length -= 19;
}

bool cxx_short(const char *name, char *buf, size_t size)
{
        char made[1024];
        struct shortened result = { .buf = made, .size = MIN(sizeof(made), size) };

        for (const char *at = name; at && *at;) {
                size_t length = name_operator_length(name, at);

                if (length > 0) {
                        add(&result, at, length);
                        at += length;
                        if (*at == ' ' && length == strlen("operator")) { /* operator new, operator bool */
                                add(&result, "_", 1);
                                at++;
                                while (*at && !strchr("(<[", *at)) {
                                        add(&result, *at == ' ' ? "_" : at, 1);
                                        at++;
                                }
                        }
                } else if (strchr("(<[{", *at)) {
                        at = take_brackets(&result, name, at);
                        if (!at)
                                return false;
                } else if (*at == ' ' && at[1] == '<') { /* operator<< <char> */
                        at++;
                } else if (*at == ' ') { /* the text before it is a return type, or says which kind of thunk it is */
                        result.length = 0;
                        result.full = false;
                        at++;
                } else {
                        add(&result, at++, 1);
                }
        }
        made[result.length] = '\0';
        cut_hash(&result);
        if (result.length == 0 || result.full)
                return false;
        memcpy(buf, made, result.length);
        buf[result.length] = '\0';
        return true;
}

bool cxx_name(const char *symbol, char *buf, size_t size)
{
        _cleanup_free_ char *name = NULL;

        if (strncmp(symbol, "_Z", 2) != 0 || strlen(symbol) > CXX_SYMBOL_MAX)
                return false;
        name = cxx_demangle(symbol);
        return name && cxx_short(name, buf, size);
}
