/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The text that json-write.c writes is the text that cJSON makes of the same values. */

#include <cjson/cJSON.h>
#include <float.h>
#include <stdlib.h>

#include "check.h"
#include "json-write.h"
#include "util/util.h"

/* The number as json-write.c prints it: cJSON would print 15 digits from 1e15 on, and the sign of -0. */
static cJSON *number(double value)
{
        char text[32];

        if (!isfinite(value) || fabs(value) < 1e15)
                return cJSON_CreateNumber(value == 0 ? 0 : value);
        snprintf(text, sizeof(text), "%.17g", value);
        return cJSON_CreateRaw(text);
}

static void check_same(cJSON *want, const char *got)
{
        _cleanup_free_ char *text = cJSON_PrintUnformatted(want);

        check_text(got, text);
        cJSON_Delete(want);
}

static void check_number(double value)
{
        char got[64] = "";
        FILE *file = fmemopen(got, sizeof(got), "w");
        struct json_writer json = { .file = file };

        json_write_number(&json, NULL, value);
        fclose(file);
        check_same(number(value), got);
}

static void numbers(void)
{
        static const double some[] = { 0,
                                       -0.0,
                                       1,
                                       -1,
                                       0.5,
                                       0.1,
                                       0.3,
                                       1.0 / 3,
                                       2.5,
                                       9.999999999999998,
                                       99.99999999999999,
                                       0.09999999999999999,
                                       0.001,
                                       1e-3 * (1 - DBL_EPSILON),
                                       1e-4,
                                       1e-5,
                                       1e13 + 0.5,
                                       1e14 - 0.015625,
                                       1e14,
                                       1e14 + 0.5,
                                       1e15 - 1,
                                       1e15 - 0.125,
                                       1e15,
                                       0x1p53,
                                       0x1p60,
                                       1e300,
                                       DBL_MAX,
                                       DBL_MIN,
                                       5e-324,
                                       NAN,
                                       INFINITY,
                                       -INFINITY };
        unsigned short seed[3] = { 1, 2, 3 };

        for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
                check_number(some[i]);
                check_number(-some[i]);
        }
        for (int i = 0; i < 30000; i++) {
                double value = pow(10, erand48(seed) * 24 - 8);

                check_number(value);
                check_number(round(value * 1000) / 1000);           /* few digits */
                check_number(nextafter(pow(10, i % 24 - 8), value)); /* beside a power of ten */
                check_number(ldexp((double)(jrand48(seed) | 1), i % 60 - 50)); /* half way between two texts, often */
        }
}

static void texts(void)
{
        static const char *const some[] = { "",           "main",         "a\"b",          "\\",
                                            "\b\f\n\r\t", "\x01\x1f\x7f", "\u00e4 \u2028", "ends in \"" };
        cJSON *want = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(want, "list");
        char got[512] = "";
        FILE *file = fmemopen(got, sizeof(got), "w");
        struct json_writer json = { .file = file };

        json_write_begin(&json, NULL, '{');
        json_write_begin(&json, "list", '[');
        for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
                json_write_text(&json, NULL, some[i]);
                cJSON_AddItemToArray(list, cJSON_CreateString(some[i]));
        }
        json_write_end(&json, ']');
        json_write_begin(&json, "none", '{');
        json_write_end(&json, '}');
        cJSON_AddObjectToObject(want, "none");
        json_write_bool(&json, "yes", true);
        json_write_bool(&json, "no", false);
        cJSON_AddTrueToObject(want, "yes");
        cJSON_AddFalseToObject(want, "no");
        json_write_number(&json, "number", 12.5);
        cJSON_AddNumberToObject(want, "number", 12.5);
        json_write_end(&json, '}');
        fclose(file);
        check_same(want, got);
}

int main(void)
{
        numbers();
        texts();
        return check_result();
}
