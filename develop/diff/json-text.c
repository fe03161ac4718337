/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-text.h"

#include <endian.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define DEPTH_MAX 512 /* deepest nesting of a value that is skipped */
#define LONG_MIN_BYTES 4096 /* shortest object or array whose end is kept */
#define ENDS_MAX 1000000
#define ONES 0x0101010101010101ULL
#define DIGITS_MAX 15 /* a double represents every whole number of so many digits exactly */

static void fail(struct json_text *json)
{
        json->failed = true;
        json->at = json->end;
}

void json_ends_clear(struct json_ends *ends)
{
        free(ends->list);
        *ends = (struct json_ends){ 0 };
}

/* The first entry of the list that does not begin before @from. */
static size_t find_end(const struct json_ends *ends, const char *from)
{
        size_t low = 0, high = ends->n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (ends->list[middle].from < from)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Adds an entry for the object or array that opens at @from. Its index; SIZE_MAX: its end is not kept. */
static size_t open_end(struct json_ends *ends, const char *from)
{
        if (!ends || ends->n >= ENDS_MAX || (ends->n > 0 && ends->list[ends->n - 1].from >= from))
                return SIZE_MAX;
        if (ends->n == ends->capacity && util_grow(&ends->list, &ends->capacity, ends->n + 1, sizeof(*ends->list)) < 0)
                return SIZE_MAX;
        ends->list[ends->n] = (struct json_end){ from, NULL };
        return ends->n++;
}

/* Sets the end of an entry, or removes a short one: nothing in it is long, so it is the last one of the list. */
static void close_end(struct json_ends *ends, size_t at, const char *end)
{
        if (end - ends->list[at].from < LONG_MIN_BYTES)
                ends->n = at;
        else
                ends->list[at].end = end;
}

char json_peek(struct json_text *json)
{
        if (json->at < json->end && (unsigned char)*json->at > ' ')
                return *json->at;
        while (json->at < json->end &&
               (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
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

/* Skips a string from its opening quote on. The closing quote; NULL: there is none. */
static const char *pass_string(struct json_text *json)
{
        const char *at = json->at + 1;

        while (at < json->end && *at != '"')
                at += *at == '\\' ? 2 : 1;
        if (at >= json->end) {
                fail(json);
                return NULL;
        }
        json->at = at + 1;
        return at;
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

/* Does a number or a word end here? */
static bool ends_word(const struct json_text *json)
{
        static const bool ends[UCHAR_MAX + 1] = {
                ['\0'] = true, [','] = true,  [']'] = true, ['}'] = true, [' '] = true, ['\n'] = true,
                ['\r'] = true, ['\t'] = true, ['['] = true, ['{'] = true, ['"'] = true, [':'] = true
        };

        return json->at == json->end || ends[(unsigned char)*json->at];
}

static void pass_word(struct json_text *json)
{
        const char *from = json->at;

        while (!ends_word(json))
                json->at++;
        if (json->at == from)
                fail(json);
}

/* A word with the highest bit set in the lowest byte that equals @byte, and in no lower byte; 0: no byte does. */
static uint64_t find_byte(uint64_t word, uint64_t byte)
{
        uint64_t zero = word ^ ONES * byte;

        return (zero - ONES) & ~zero & ONES << 7;
}

/*
 * Goes to the next bracket or quote. Numbers are most of a profile; everything up to there is skipped without
 * being parsed.
 */
static void pass_plain(struct json_text *json)
{
        const char square = '{' ^ '['; /* with this bit, square brackets become curly ones */
        uint64_t word, curly, found;

        for (; json->end - json->at >= 8; json->at += 8) {
                memcpy(&word, json->at, 8);
                word = le64toh(word);
                curly = word | ONES * square;
                found = find_byte(word, '"') | find_byte(curly, '{') | find_byte(curly, '}');
                if (found) {
                        json->at += __builtin_ctzll(found) / 8;
                        return;
                }
        }
        while (json->at < json->end && *json->at != '"' && (*json->at | square) != '{' && (*json->at | square) != '}')
                json->at++;
}

/* Skips an object or array from its opening bracket on, and keeps the ends of long ones. */
static void scan_nested(struct json_text *json)
{
        struct {
                char bracket;
                size_t end; /* index in the list of ends; SIZE_MAX: not kept */
        } open[DEPTH_MAX];
        size_t depth = 0;

        do {
                switch (*json->at) {
                case '"':
                        if (!pass_string(json))
                                return;
                        pass_plain(json);
                        continue;
                case '{':
                case '[':
                        if (depth == DEPTH_MAX) {
                                fail(json);
                                return;
                        }
                        open[depth].bracket = *json->at;
                        open[depth++].end = open_end(json->ends, json->at);
                        break;
                case '}':
                case ']':
                        if (open[--depth].bracket != (*json->at == '}' ? '{' : '[')) {
                                fail(json);
                                return;
                        }
                        if (open[depth].end != SIZE_MAX)
                                close_end(json->ends, open[depth].end, json->at + 1);
                        break;
                default:
                        break;
                }
                json->at++;
                if (depth > 0)
                        pass_plain(json);
        } while (depth > 0 && json->at < json->end);
        if (depth > 0)
                fail(json);
}

static void pass_nested(struct json_text *json)
{
        size_t n = json->ends ? json->ends->n : 0, at = n ? find_end(json->ends, json->at) : 0;

        if (at < n && json->ends->list[at].from == json->at) {
                json->at = json->ends->list[at].end;
                return;
        }
        scan_nested(json);
        if (json->failed && json->ends)
                json->ends->n = n;
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

/* Appends at most @left digits to @value. */
static uint64_t take_digits(struct json_text *json, uint64_t value, ptrdiff_t left)
{
        const char *stop = json->end - json->at > left ? json->at + left : json->end;

        for (; json->at < stop && *json->at >= '0' && *json->at <= '9'; json->at++)
                value = value * 10 + (uint64_t)(*json->at - '0');
        return value;
}

/*
 * Reads "12" or "12.5" with few digits: both operands of the division are exact, so it rounds as strtod() does.
 * False: it is something else.
 */
static bool take_short(struct json_text *json, double *ret)
{
        static const double powers[DIGITS_MAX + 1] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
        const char *from = json->at, *point;
        uint64_t value = take_digits(json, 0, DIGITS_MAX);

        if (json->at == from)
                return false;
        *ret = (double)value;
        if (json->at < json->end && *json->at == '.') {
                point = json->at++;
                value = take_digits(json, value, DIGITS_MAX - (point - from));
                *ret = (double)value / powers[json->at - point - 1];
        }
        return ends_word(json);
}

double json_number(struct json_text *json)
{
        char number[64];
        const char *from;
        double value;
        size_t length;

        if (json_peek(json) == '\0') {
                fail(json);
                return NAN;
        }
        from = json->at;
        if (take_short(json, &value))
                return value;
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

/* Reads an escape from the letter after the backslash on: writes up to four bytes to @out. Their number. */
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
        while (end && at < end && n < size) {
                const char *escape = memchr(at, '\\', (size_t)(end - at));
                size_t length = MIN((size_t)((escape ? escape : end) - at), size - n);
                char bytes[4];

                memcpy(buf + n, at, length);
                n += length;
                at += length;
                if (at != escape)
                        continue;
                at++; /* the escaped character is before @end: else the quote at @end would be escaped */
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
                        if (!found[i].at && *key == *names[i] && json_key_is(key, length, names[i]))
                                found[i] = *json;
                json_skip(json);
        }
}
