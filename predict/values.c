/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Times and spans as people write them. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "util/units.h"
#include "util/util.h"

#define MINUTES_MOST 1e6 /* as the library takes */

/* A number in the C locale at the start of *text, which moves behind it. Only digits and one point. */
static bool take_number(const char **text, double *ret)
{
        char buf[32];
        size_t length = strspn(*text, "0123456789.");

        if (length == 0 || length >= sizeof(buf))
                return false;
        memcpy(buf, *text, length);
        buf[length] = '\0';
        *text += length;
        return util_parse_double(buf, ret) == 0;
}

int values_parse_minutes(const char *text, double *ret)
{
        static const struct {
                char unit;
                double minutes;
        } units[] = { { 'd', 1440 }, { 'h', 60 }, { 'm', 1 }, { 's', 1.0 / 60 } };
        double minutes = 0, number;
        size_t unit = 0;

        if (!take_number(&text, &number))
                return -EINVAL;
        if (!*text)
                minutes = number;
        while (*text) {
                while (unit < ARRAY_SIZE(units) && units[unit].unit != *text)
                        unit++;
                if (unit == ARRAY_SIZE(units))
                        return -EINVAL;
                minutes += number * units[unit++].minutes;
                text += strcmp(text, "min") == 0 ? 3 : 1;
                if (*text && (!take_number(&text, &number) || !*text))
                        return -EINVAL;
        }
        if (minutes > MINUTES_MOST)
                return -ERANGE;
        *ret = minutes;
        return 0;
}

int64_t values_now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        return (int64_t)now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

static bool digits(const char **text, int n, int *ret)
{
        int value = 0;

        for (int i = 0; i < n; i++, (*text)++) {
                if (!isdigit((unsigned char)**text))
                        return false;
                value = value * 10 + (**text - '0');
        }
        *ret = value;
        return true;
}

static bool character(const char **text, char c)
{
        if (**text != c)
                return false;
        (*text)++;
        return true;
}

/* "Z", "+01:00", "-0530"; nothing: local time. */
static bool take_zone(const char **text, bool *local, int *offset_s)
{
        int hours, minutes = 0, sign;

        *offset_s = 0;
        *local = !**text;
        if (*local || character(text, 'Z'))
                return !**text;
        sign = **text == '-' ? -1 : 1;
        if (!character(text, '+') && !character(text, '-'))
                return false;
        if (!digits(text, 2, &hours))
                return false;
        if (**text) {
                character(text, ':');
                if (!digits(text, 2, &minutes))
                        return false;
        }
        *offset_s = sign * (hours * 3600 + minutes * 60);
        return !**text && hours <= 14 && minutes < 60;
}

/* 2026-11-20, 2026-11-20T03:12, 2026-11-20T03:12:44.5Z, 2026-11-20 03:12+01:00 */
static int parse_iso(const char *text, int64_t *ret)
{
        struct tm tm = { .tm_isdst = -1 }, check;
        double fraction = 0;
        bool local;
        int year, month, offset_s;
        time_t seconds;

        if (!digits(&text, 4, &year) || !character(&text, '-') || !digits(&text, 2, &month) ||
            !character(&text, '-') || !digits(&text, 2, &tm.tm_mday))
                return -EINVAL;
        if (character(&text, 'T') || character(&text, ' ')) {
                if (!digits(&text, 2, &tm.tm_hour) || !character(&text, ':') || !digits(&text, 2, &tm.tm_min))
                        return -EINVAL;
                if (character(&text, ':') && !digits(&text, 2, &tm.tm_sec))
                        return -EINVAL;
                if (*text == '.' && !take_number(&text, &fraction))
                        return -EINVAL;
        }
        if (!take_zone(&text, &local, &offset_s) || fraction >= 1)
                return -EINVAL;
        tm.tm_year = year - 1900;
        tm.tm_mon = month - 1;
        if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
                return -EINVAL;
        if (year < 1970 || year > 2200)
                return -ERANGE;
        check = tm;
        seconds = local ? mktime(&check) : timegm(&check);
        if (seconds == -1 || check.tm_mday != tm.tm_mday || check.tm_mon != tm.tm_mon)
                return -EINVAL; /* the 31st of February */
        *ret = ((int64_t)seconds - offset_s) * (int64_t)NS_PER_S + (int64_t)llround(fraction * 1e9);
        return 0;
}

int values_parse_time(const char *text, int64_t now_ns, int64_t *ret)
{
        double minutes;
        int err;

        if (text[0] != '-')
                return parse_iso(text, ret);
        if (!text[1] || isdigit((unsigned char)text[strlen(text) - 1]))
                return -EINVAL;
        err = values_parse_minutes(text + 1, &minutes);
        if (err < 0)
                return err;
        *ret = now_ns - (int64_t)llround(minutes * 60e9);
        return 0;
}

void values_print_local(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (time_ns < 0 || !localtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                snprintf(buf, size, "?");
}

void values_print_time(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (time_ns < 0 || !gmtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                snprintf(buf, size, "?");
}
