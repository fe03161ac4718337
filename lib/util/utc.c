/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "utc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "units.h"

#define SECOND_NS ((int64_t)NS_PER_S)
#define FORMAT "%Y-%m-%dT%H:%M:%S"

/* Also before 1970, where a clock that lost its battery may be. */
static void print_second(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / SECOND_NS - (time_ns % SECOND_NS < 0));
        struct tm tm;

        if (time_ns == INT64_MIN || !gmtime_r(&seconds, &tm) || strftime(buf, size, FORMAT, &tm) == 0)
                snprintf(buf, size, "?");
}

void utc_print(int64_t time_ns, char *buf, size_t size)
{
        char second[32];

        print_second(time_ns, second, sizeof(second));
        snprintf(buf, size, "%s%s", second, *second == '?' ? "" : "Z");
}

void utc_print_exact(int64_t time_ns, char *buf, size_t size)
{
        int64_t rest_ns = time_ns % SECOND_NS;
        char second[32];

        print_second(time_ns, second, sizeof(second));
        snprintf(buf, size, "%s.%09dZ", second, (int)(rest_ns + (rest_ns < 0 ? SECOND_NS : 0)));
}

int utc_parse(const char *text, int64_t *ret)
{
        struct tm tm = { 0 };
        const char *end = strptime(text, FORMAT "Z", &tm);
        time_t seconds = end && !*end ? timegm(&tm) : -1;

        if (seconds < 0 || seconds >= INT64_MAX / SECOND_NS)
                return -EINVAL;
        *ret = (int64_t)seconds * SECOND_NS;
        return 0;
}
