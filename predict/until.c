/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "until.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "util/units.h"
#include "values.h"

#define MOST_NS (1000000 * 60 * (int64_t)NS_PER_S)

/* "8:05" and "18:00:30". */
static int parse_clock(const char *text, struct tm *tm)
{
        int *const parts[] = { &tm->tm_hour, &tm->tm_min, &tm->tm_sec };
        static const int most[] = { 23, 59, 59 };
        size_t n = 0;

        for (;; text++, n++) {
                size_t digits = strspn(text, "0123456789");

                if (n == 3 || digits == 0 || digits > 2 || (n > 0 && digits != 2))
                        return -EINVAL;
                *parts[n] = text[0] - '0';
                if (digits == 2)
                        *parts[n] = 10 * *parts[n] + text[1] - '0';
                text += digits;
                if (*parts[n] > most[n] || (*text && *text != ':'))
                        return -EINVAL;
                if (!*text)
                        break;
        }
        return n > 0 ? 0 : -EINVAL;
}

/* The day after has its own offset from UTC. */
static int next_clock(const char *text, int64_t now_ns, int64_t *ret)
{
        time_t now = (time_t)(now_ns / (int64_t)NS_PER_S), at;
        struct tm today, tm;

        if (!localtime_r(&now, &today))
                return -EINVAL;
        for (int day = 0; day < 2; day++) {
                tm = (struct tm){
                        .tm_year = today.tm_year,
                        .tm_mon = today.tm_mon,
                        .tm_mday = today.tm_mday + day,
                        .tm_isdst = -1,
                };
                if (parse_clock(text, &tm) < 0)
                        return -EINVAL;
                at = mktime(&tm);
                if (at == -1)
                        return -EINVAL;
                *ret = (int64_t)at * (int64_t)NS_PER_S;
                if (*ret > now_ns)
                        break;
        }
        return 0;
}

int until_parse(const char *text, int64_t now_ns, int64_t *ret)
{
        int64_t at_ns;
        int err = next_clock(text, now_ns, &at_ns);

        /* values_parse_time() takes times before now; a date alone may lie ahead. */
        if (err == -EINVAL && isdigit((unsigned char)text[0]) && strlen(text) >= 10 && text[4] == '-')
                err = values_parse_time(text, now_ns, &at_ns);
        if (err)
                return err;
        if (at_ns <= now_ns || at_ns - now_ns > MOST_NS)
                return -ERANGE;
        *ret = at_ns;
        return 0;
}
