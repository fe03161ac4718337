/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "util/util.h"

#define DEPTH_MAX 512 /* of what is passed over */

static void fail(struct json_text *json)
{
        json->failed = true;
        json->at = json->end;
}

char json_peek(struct json_text *json)
{
        while (json->at < json->end && (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
                json->at++;
        return json->at < json->end ? *json->at : '\0';
}

bool json_begin(struct json_text *json, char open)
{
        if (json_peek(json) != open) {
                fail(json);
                return false;
        }
        json->at++;
        if (json_peek(json) == (open == '{' ? '}' : ']')) {
                json->at++;
                return false;
        }
        return true;
}

bool json_more(struct json_text *json, char close)
{
        char next = json_peek(json);

        if (next == ',') {
                json->at++;
                return true;
        }
        if (next != close)
                fail(json);
        else
                json->at++;
        return false;
}

/* At the quote that opens; goes behind the one that closes. NULL: there is none. */
static const char *pass_string(struct json_text *json)
{
        const char *at = json->at + 1, *end, *back;

        for (;;) {
                end = memchr(at, '"', (size_t)(json->end - at));
                if (!end)
                        break;
                for (back = end; back > json->at + 1 && back[-1] == '\\'; back--)
                        ;
                at = end + 1;
                if ((end - back) % 2 == 0) {
                        json->at = at;
                        return end;
                }
        }
        fail(json);
        return NULL;
}

const char *json_key(struct json_text *json, size_t *length)
{
        const char *key, *end;

        *length = 0;
        if (json_peek(json) != '"') {
                fail(json);
                return "";
        }
        key = json->at + 1;
        end = pass_string(json);
        if (!end || json_peek(json) != ':') {
                fail(json);
                return "";
        }
        json->at++;
        *length = (size_t)(end - key);
        return key;
}

static void pass_word(struct json_text *json)
{
        const char *from = json->at;

        while (json->at < json->end && *json->at && !strchr(",]} \n\r\t[{\":", *json->at))
                json->at++;
        if (json->at == from)
                fail(json);
}

/* Numbers are most of a profile: whatever is no bracket and no quote is passed without a look. */
static void pass_nested(struct json_text *json)
{
        char open[DEPTH_MAX];
        size_t depth = 0;

        do {
                switch (*json->at) {
                case '"':
                        if (!pass_string(json))
                                return;
                        continue;
                case '{':
                case '[':
                        if (depth == DEPTH_MAX) {
                                fail(json);
                                return;
                        }
                        open[depth++] = *json->at;
                        break;
                case '}':
                case ']':
                        if (open[--depth] != (*json->at == '}' ? '{' : '[')) {
                                fail(json);
                                return;
                        }
                        break;
                default:
                        break;
                }
                json->at++;
        } while (depth > 0 && json->at < json->end);
        if (depth > 0)
                fail(json);
}

void json_skip(struct json_text *json)
{
        char next = json_peek(json);

        if (next == '"')
                (void)pass_string(json);
        else if (next == '{' || next == '[')
                pass_nested(json);
        else
                pass_word(json);
}

double json_number(struct json_text *json)
{
        char number[64];
        const char *from;
        uint64_t whole = 0;
        double value;
        size_t length;

        if (json_peek(json) == '\0') {
                fail(json);
                return NAN;
        }
        from = json->at;
        while (json->at < json->end && *json->at >= '0' && *json->at <= '9' && json->at - from < 15)
                whole = whole * 10 + (uint64_t)(*json->at++ - '0');
        if (json->at > from && json->at < json->end && (*json->at == ',' || *json->at == ']'))
                return (double)whole;
        json->at = from;
        pass_word(json);
        length = (size_t)(json->at - from);
        if (length == 4 && memcmp(from, "null", 4) == 0)
                return NAN;
        if (length < sizeof(number)) {
                memcpy(number, from, length);
                number[length] = '\0';
                if (util_parse_double(number, &value) == 0)
                        return value;
        }
        fail(json);
        return NAN;
}

static int hex_value(const char *at)
{
        int value = 0;

        for (int i = 0; i < 4; i++) {
                const char *digits = "0123456789abcdef", *found = at[i] ? strchr(digits, at[i] | 0x20) : NULL;

                if (!found)
                        return -1;
                value = value * 16 + (int)(found - digits);
        }
        return value;
}

static size_t put_utf8(uint32_t code, char *out)
{
        size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

        for (size_t i = n; i-- > 1; code >>= 6)
                out[i] = (char)(0x80 | (code & 0x3f));
        out[0] = (char)(heads[n] | code);
        return n;
}

/* At the letter after a backslash: writes up to four bytes to @out, and goes behind it. The number of bytes. */
static size_t unescape(const char **at, const char *end, char *out)
{
        static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
        const char *letter = strchr(letters, **at);
        int code, low;

        if (**at != 'u') {
                out[0] = letter ? bytes[letter - letters] : **at;
                (*at)++;
                return 1;
        }
        code = end - *at >= 5 ? hex_value(*at + 1) : -1;
        if (code < 0) {
                (*at)++;
                out[0] = '?';
                return 1;
        }
        *at += 5;
        if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
                low = hex_value(*at + 2);
                if (low >= 0xdc00 && low < 0xe000) {
                        *at += 6;
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
        }
        return put_utf8((uint32_t)code, out); /* half a pair becomes invalid UTF-8, which read_label() replaces */
}

size_t json_string(struct json_text *json, char *buf, size_t size)
{
        const char *at, *end;
        size_t n = 0;

        if (json_peek(json) != '"') {
                json_skip(json);
                return 0;
        }
        at = json->at + 1;
        end = pass_string(json);
        while (end && at < end) {
                char bytes[4] = { *at };
                size_t length = 1;

                if (*at++ == '\\' && at < end)
                        length = unescape(&at, end, bytes);
                if (n + length > size)
                        break;
                memcpy(buf + n, bytes, length);
                n += length;
        }
        return n;
}

void json_members(struct json_text *json, const char *const *names, size_t n, struct json_text *found)
{
        for (size_t i = 0; i < n; i++)
                found[i] = (struct json_text){ 0 };
        for (bool more = json_begin(json, '{'); more; more = json_more(json, '}')) {
                size_t length;
                const char *key = json_key(json, &length);

                for (size_t i = 0; i < n; i++)
                        if (!found[i].at && strlen(names[i]) == length && memcmp(names[i], key, length) == 0)
                                found[i] = (struct json_text){ json->at, json->end, false };
                json_skip(json);
        }
}
