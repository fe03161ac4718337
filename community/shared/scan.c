/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>

#include "scan.h"
#include "util/util.h"

#define DEPTH_MAX 8
#define NUMBER_MAX 9000000000000000000 /* largest number of either sign; as a time in ns, the year 2255 */

static void skip_blanks(struct scan *scan)
{
        while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' ||
                                        *scan->at == '\n'))
                scan->at++;
}

bool scan_take(struct scan *scan, char c)
{
        skip_blanks(scan);
        if (scan->at >= scan->end || *scan->at != c)
                return false;
        scan->at++;
        return true;
}

bool scan_done(struct scan *scan)
{
        skip_blanks(scan);
        return scan->at >= scan->end;
}

bool scan_string(struct scan *scan, struct scan_text *ret)
{
        const char *start;

        if (!scan_take(scan, '"'))
                return false;
        for (start = scan->at; scan->at < scan->end && *scan->at != '"'; scan->at++) {
                if ((unsigned char)*scan->at < 0x20)
                        return false;
                if (*scan->at == '\\' && ++scan->at >= scan->end)
                        return false;
        }
        if (scan->at >= scan->end)
                return false;
        *ret = (struct scan_text){ start, (size_t)(scan->at++ - start) };
        return true;
}

static bool is_digit(const struct scan *scan)
{
        return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* The characters of a number, as JSON writes it; false: it is none. */
static bool take_number(struct scan *scan, struct scan_text *ret, bool *whole)
{
        const char *start;

        skip_blanks(scan);
        start = scan->at;
        if (scan->at < scan->end && *scan->at == '-')
                scan->at++;
        if (!is_digit(scan) || (*scan->at == '0' && scan->at + 1 < scan->end && scan->at[1] >= '0' &&
                                scan->at[1] <= '9'))
                return false;
        while (is_digit(scan))
                scan->at++;
        *whole = true;
        if (scan->at < scan->end && *scan->at == '.') {
                scan->at++;
                for (*whole = false; is_digit(scan); *whole = false)
                        scan->at++;
                if (scan->at[-1] == '.')
                        return false;
        }
        if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
                *whole = false;
                if (++scan->at < scan->end && (*scan->at == '-' || *scan->at == '+'))
                        scan->at++;
                if (!is_digit(scan))
                        return false;
                while (is_digit(scan))
                        scan->at++;
        }
        *ret = (struct scan_text){ start, (size_t)(scan->at - start) };
        return true;
}

bool scan_integer(struct scan *scan, int64_t *ret)
{
        struct scan_text text;
        char buf[64];
        double rounded;
        bool whole;

        if (!take_number(scan, &text, &whole) || text.length >= sizeof(buf))
                return false;
        memcpy(buf, text.text, text.length);
        buf[text.length] = '\0';
        if (whole)
                return util_parse_i64(buf, ret) == 0 && *ret >= -NUMBER_MAX && *ret <= NUMBER_MAX;
        if (util_parse_double(buf, &rounded) < 0 || !(fabs(rounded) <= (double)NUMBER_MAX))
                return false;
        *ret = llround(rounded);
        return true;
}

static bool take_word(struct scan *scan, const char *word)
{
        size_t length = strlen(word);

        if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
                return false;
        scan->at += length;
        return true;
}

/* Reads the contents after '{' or '['. */
static bool skip_nested(struct scan *scan, char close)
{
        struct scan_text text;
        bool fine = true;

        if (++scan->depth > DEPTH_MAX)
                return false;
        if (!scan_take(scan, close)) {
                do
                        fine = (close == ']' || (scan_string(scan, &text) && scan_take(scan, ':'))) &&
                               scan_value(scan, &text);
                while (fine && scan_take(scan, ','));
                fine = fine && scan_take(scan, close);
        }
        scan->depth--;
        return fine;
}

bool scan_value(struct scan *scan, struct scan_text *ret)
{
        struct scan_text text;
        const char *start;
        bool fine, whole;

        skip_blanks(scan);
        start = scan->at;
        if (start >= scan->end)
                return false;
        if (*start == '"')
                fine = scan_string(scan, &text);
        else if (scan_take(scan, '{'))
                fine = skip_nested(scan, '}');
        else if (scan_take(scan, '['))
                fine = skip_nested(scan, ']');
        else
                fine = take_word(scan, "true") || take_word(scan, "false") || take_word(scan, "null") ||
                       take_number(scan, &text, &whole);
        if (fine)
                *ret = (struct scan_text){ start, (size_t)(scan->at - start) };
        return fine;
}

static int hex_digit(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' &&
               c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four hexadecimal digits; -1: there are none. */
static long hex_four(const char **at, const char *end)
{
        long value = 0;

        if (end - *at < 4)
                return -1;
        for (int i = 0; i < 4; i++) {
                int digit = hex_digit(*(*at)++);

                if (digit < 0)
                        return -1;
                value = value * 16 + digit;
        }
        return value;
}

/* Reads the digits after "\u", and the second half of a surrogate pair; -1: it is no character. */
static long escaped_point(const char **at, const char *end)
{
        long point = hex_four(at, end), low;

        if (point < 0xD800 || point > 0xDFFF)
                return point;
        if (point > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
                return -1;
        *at += 2;
        low = hex_four(at, end);
        return low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00) : -1;
}

static size_t put_point(long point, char *buf)
{
        if (point < 0x80) {
                buf[0] = (char)point;
                return 1;
        }
        if (point < 0x800) {
                buf[0] = (char)(0xC0 | point >> 6);
                buf[1] = (char)(0x80 | (point & 0x3F));
                return 2;
        }
        if (point < 0x10000) {
                buf[0] = (char)(0xE0 | point >> 12);
                buf[1] = (char)(0x80 | (point >> 6 & 0x3F));
                buf[2] = (char)(0x80 | (point & 0x3F));
                return 3;
        }
        buf[0] = (char)(0xF0 | point >> 18);
        buf[1] = (char)(0x80 | (point >> 12 & 0x3F));
        buf[2] = (char)(0x80 | (point >> 6 & 0x3F));
        buf[3] = (char)(0x80 | (point & 0x3F));
        return 4;
}

/* Length of the UTF-8 character at @text; 0: it is none. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
        size_t length = *text < 0x80 ? 1 : *text >= 0xC2 && *text < 0xE0 ? 2 : *text >= 0xE0 && *text < 0xF0 ? 3 :
                        *text >= 0xF0 && *text < 0xF5 ? 4 : 0;

        if (length == 0 || length > left)
                return 0;
        for (size_t i = 1; i < length; i++)
                if ((text[i] & 0xC0) != 0x80)
                        return 0;
        if ((*text == 0xE0 && text[1] < 0xA0) || (*text == 0xED && text[1] > 0x9F) ||
            (*text == 0xF0 && text[1] < 0x90) || (*text == 0xF4 && text[1] > 0x8F))
                return 0;
        return length;
}

/* The character after a backslash; -1: it is no escape. */
static long escaped(const char **at, const char *end)
{
        static const char letters[] = "\"\\/";
        char c = *at < end ? *(*at)++ : '\0';

        if (c == 'u')
                return escaped_point(at, end);
        return c && strchr(letters, c) ? c : -1;
}

bool scan_unescape(const struct scan_text *text, char *buf, size_t size)
{
        const char *at = text->text, *end = text->text + text->length;
        size_t used = 0;

        while (at < end) {
                size_t length = utf8_length((const unsigned char *)at, (size_t)(end - at));
                long point;

                if (length == 0 || used + 5 > size)
                        return false;
                if (*at != '\\') {
                        if ((unsigned char)*at < 0x20 || *at == 0x7F)
                                return false;
                        memcpy(buf + used, at, length);
                        at += length;
                        used += length;
                        continue;
                }
                at++;
                point = escaped(&at, end);
                if (point < 0x20 || point == 0x7F)
                        return false;
                used += put_point(point, buf + used);
        }
        buf[used] = '\0';
        return true;
}
