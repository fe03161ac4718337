/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-write.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 1e15 /* below, a double has all digits of a whole number, and so have 15 digits */

static void begin_value(struct json_writer *json, const char *key)
{
        if (json->comma)
                fputc(',', json->file);
        json->comma = true;
        if (key)
                fprintf(json->file, "\"%s\":", key);
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

/* A byte that cannot stand in a string as it is. */
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

/* Are they the same, but for the last bit? It is what cJSON asks before it takes 15 digits for a number. */
static bool is_near(double a, double b)
{
        return fabs(a - b) <= fmax(fabs(a), fabs(b)) * DBL_EPSILON;
}

void json_write_number(struct json_writer *json, const char *key, double value)
{
        char text[32];

        begin_value(json, key);
        if (!isfinite(value)) {
                fputs("null", json->file);
        } else if (fabs(value) < WHOLE_MAX && value == trunc(value)) {
                fprintf(json->file, "%" PRId64, (int64_t)value); /* also of -0 */
        } else {
                snprintf(text, sizeof(text), "%.15g", value);
                if (fabs(value) >= WHOLE_MAX || !is_near(strtod(text, NULL), value))
                        snprintf(text, sizeof(text), "%.17g", value);
                fputs(text, json->file);
        }
}

void json_write_bool(struct json_writer *json, const char *key, bool value)
{
        begin_value(json, key);
        fputs(value ? "true" : "false", json->file);
}
