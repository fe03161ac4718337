/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-write.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/wide.h"

#define NUMBER_SIZE 32
#define WHOLE_MAX 1e15 /* from here on 15 digits are too few for whole numbers */
#define SHORT_MIN 1e-3
#define SHORT_MAX 1e14

static void begin_value(struct json_writer *json, const char *key)
{
        if (json->comma)
                fputc(',', json->file);
        json->comma = true;
        if (!key)
                return;
        fputc('"', json->file);
        fputs(key, json->file);
        fputs("\":", json->file);
}

void json_write_begin(struct json_writer *json, const char *key, char open)
{
        begin_value(json, key);
        fputc(open, json->file);
        json->comma = false;
}

void json_write_end(struct json_writer *json, char close)
{
        fputc(close, json->file);
        json->comma = true;
}

/* Writes a byte that a string must escape. */
static void write_escape(FILE *file, char c)
{
        static const char bytes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
        const char *found = strchr(bytes, c);

        if (found)
                fprintf(file, "\\%c", letters[found - bytes]);
        else
                fprintf(file, "\\u%04x", (unsigned)c);
}

void json_write_text(struct json_writer *json, const char *key, const char *text)
{
        begin_value(json, key);
        fputc('"', json->file);
        for (; *text; text++) {
                size_t plain = 0;

                while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
                        plain++;
                fwrite(text, 1, plain, json->file);
                text += plain;
                if (!*text)
                        break;
                write_escape(json->file, *text);
        }
        fputc('"', json->file);
}

/* Are they equal except for the last bit? This is cJSON's test whether 15 digits are enough for a number. */
static bool is_near(double a, double b)
{
        return fabs(a - b) <= fmax(fabs(a), fabs(b)) * DBL_EPSILON;
}

static const uint64_t powers[] = { 1ULL,
                                   10ULL,
                                   100ULL,
                                   1000ULL,
                                   10000ULL,
                                   100000ULL,
                                   1000000ULL,
                                   10000000ULL,
                                   100000000ULL,
                                   1000000000ULL,
                                   10000000000ULL,
                                   100000000000ULL,
                                   1000000000000ULL,
                                   10000000000000ULL,
                                   100000000000000ULL,
                                   1000000000000000ULL,
                                   10000000000000000ULL,
                                   100000000000000000ULL,
                                   1000000000000000000ULL,
                                   10000000000000000000ULL };

/*
 * value * 10^decimals, rounded to a whole number as printf() rounds. It is exact, because 128 bits hold the
 * product.
 */
static uint64_t scale(double value, int decimals)
{
        int exponent;
        double mantissa = ldexp(frexp(value, &exponent), DBL_MANT_DIG);
        int shift = DBL_MANT_DIG - exponent;
        uint_wide product = (uint64_t)mantissa, whole, rest, half = 1;

        product *= powers[decimals];
        half <<= shift - 1;
        whole = product >> shift;
        rest = product - (whole << shift);
        return (uint64_t)whole + (rest > half || (rest == half && whole % 2 == 1));
}

/* Prints a number before @end, without trailing zeros of the decimals. Its first character. */
static char *print_digits(char *end, uint64_t digits, int decimals)
{
        for (; decimals > 0 && digits % 10 == 0; decimals--)
                digits /= 10;
        for (int i = 0; i < decimals; i++, digits /= 10)
                *--end = (char)('0' + digits % 10);
        if (decimals > 0)
                *--end = '.';
        do {
                *--end = (char)('0' + digits % 10);
                digits /= 10;
        } while (digits > 0);
        return end;
}

/*
 * Prints a number before @end as printf() does with "%.15g", or with "%.17g" where 15 digits are not near
 * enough. It is for numbers from SHORT_MIN up to SHORT_MAX, which are most: printf() and strtod() would take
 * more time than everything else.
 */
static char *print_short(char *end, double value)
{
        static const double edges[] = { 1e-2, 1e-1, 1,   1e1, 1e2,  1e3,  1e4,  1e5,      1e6,
                                        1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, SHORT_MAX };
        int before = -2, decimals; /* digits before the point; below 0, zeros after it */
        uint64_t digits;

        for (size_t i = 0; value >= edges[i]; i++)
                before++;
        decimals = 15 - before;
        digits = scale(value, decimals);
        if (!is_near((double)digits / (double)powers[decimals], value)) {
                decimals = 17 - before;
                digits = scale(value, decimals);
        }
        return print_digits(end, digits, decimals);
}

void json_write_number(struct json_writer *json, const char *key, double value)
{
        char text[NUMBER_SIZE], *at = text;
        double size = fabs(value);

        begin_value(json, key);
        if (!isfinite(value)) {
                fputs("null", json->file);
                return;
        }
        if ((size >= SHORT_MIN && size < SHORT_MAX) || size == 0) {
                text[NUMBER_SIZE - 1] = '\0';
                at = text + NUMBER_SIZE - 1;
                at = size == trunc(size) ? print_digits(at, (uint64_t)size, 0) : print_short(at, size);
                if (value < 0)
                        *--at = '-';
        } else {
                snprintf(text, sizeof(text), "%.15g", value);
                if (size >= WHOLE_MAX || !is_near(strtod(text, NULL), value))
                        snprintf(text, sizeof(text), "%.17g", value);
        }
        fputs(at, json->file);
}

void json_write_bool(struct json_writer *json, const char *key, bool value)
{
        begin_value(json, key);
        fputs(value ? "true" : "false", json->file);
}
