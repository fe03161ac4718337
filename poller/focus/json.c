/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *blanks(const char *at)
{
        return at + strspn(at, " \t\r\n");
}

/* After the closing quote; NULL if there is none. */
static const char *skip_string(const char *at)
{
        for (at++; *at && *at != '"'; at++)
                if (*at == '\\' && at[1])
                        at++;
        return *at ? at + 1 : NULL;
}

/* After the value that begins here, of any kind; NULL if it does not end. */
static const char *skip_value(const char *at)
{
        size_t depth = 0;

        do {
                at = blanks(at);
                if (*at == '"') {
                        at = skip_string(at);
                        if (!at)
                                return NULL;
                } else if (*at == '{' || *at == '[') {
                        depth++;
                        at++;
                } else if (*at == '}' || *at == ']') {
                        if (depth == 0)
                                return NULL;
                        depth--;
                        at++;
                } else if (*at == ',' || *at == ':') {
                        if (depth == 0)
                                return NULL;
                        at++;
                } else {
                        size_t length = strcspn(at, ",:]} \t\r\n\"[{");

                        if (length == 0)
                                return NULL;
                        at += length;
                }
        } while (depth > 0);
        return at;
}

const char *json_get(const char *object, const char *key)
{
        size_t wanted = strlen(key);
        const char *at;

        if (!json_is_object(object))
                return NULL;
        at = blanks(object + 1);
        while (*at == '"') {
                const char *name = at + 1, *end = skip_string(at);

                if (!end)
                        return NULL;
                at = blanks(end);
                if (*at != ':')
                        return NULL;
                at = blanks(at + 1);
                if ((size_t)(end - name) == wanted + 1 && memcmp(name, key, wanted) == 0)
                        return at;
                at = skip_value(at);
                if (!at)
                        return NULL;
                at = blanks(at);
                if (*at != ',')
                        return NULL;
                at = blanks(at + 1);
        }
        return NULL;
}

const char *json_first(const char *array)
{
        if (!array || *array != '[')
                return NULL;
        array = blanks(array + 1);
        return *array && *array != ']' ? array : NULL;
}

const char *json_next(const char *element)
{
        const char *at = element ? skip_value(element) : NULL;

        if (!at)
                return NULL;
        at = blanks(at);
        if (*at != ',')
                return NULL;
        at = blanks(at + 1);
        return *at ? at : NULL;
}

bool json_is_object(const char *value)
{
        return value && *value == '{';
}

bool json_is_true(const char *value)
{
        return value && strncmp(value, "true", 4) == 0;
}

bool json_int(const char *value, int64_t *ret)
{
        long long number;
        char *end;

        if (!value || (*value != '-' && (*value < '0' || *value > '9')))
                return false;
        errno = 0;
        number = strtoll(value, &end, 10);
        if (errno || end == value || (*end && !strchr(",:]} \t\r\n", *end)))
                return false;
        *ret = number;
        return true;
}

static size_t put_utf8(unsigned code, char *out)
{
        if (code < 0x80) {
                out[0] = code < 0x20 ? '?' : (char)code;
                return 1;
        }
        if (code < 0x800) {
                out[0] = (char)(0xc0 | code >> 6);
                out[1] = (char)(0x80 | (code & 0x3f));
                return 2;
        }
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
}

/* The four digits of \uXXXX, or -1. Halves of a pair stay halves; ids do not use them. */
static int hex4(const char *at)
{
        char digits[5] = { 0 };

        for (int i = 0; i < 4; i++) {
                if (!at[i] || !strchr("0123456789abcdefABCDEF", at[i]))
                        return -1;
                digits[i] = at[i];
        }
        return (int)strtol(digits, NULL, 16);
}

bool json_string(const char *value, char *buf, size_t size)
{
        size_t length = 0;

        *buf = '\0';
        if (!value || *value != '"')
                return false;
        for (value++; *value && *value != '"'; value++) {
                char piece[4] = { *value };
                size_t n = 1;

                if (*value == '\\') {
                        int code = value[1] == 'u' ? hex4(value + 2) : -1;

                        if (!value[1])
                                break;
                        value++;
                        piece[0] = strchr("bfnrt", *value) ? ' ' : *value;
                        if (code >= 0) {
                                n = put_utf8((unsigned)code, piece);
                                value += 4;
                        }
                }
                if (length + n >= size)
                        break;
                memcpy(buf + length, piece, n);
                length += n;
        }
        buf[length] = '\0';
        return true;
}
