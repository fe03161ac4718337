/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Times and spans as people write them. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/units.h"
#include "util/util.h"
#include "values.h"

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
        *text += strspn(*text, " ");
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
                text += strncmp(text, "min", 3) == 0 ? 3 : 1;
                text += strspn(text, " ");
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
        return (int64_t)util_clock_ns(CLOCK_REALTIME);
}

/* 2026-11-20, 2026-11-20T03:12, 2026-11-20T03:12:44.5Z, 2026-11-20 03:12+01:00; without a zone: local time */
static int parse_iso(const char *text, int64_t *ret)
{
        static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
        struct tm tm = { 0 }, check, zone = { 0 };
        const char *end = NULL;
        double fraction = 0;
        char copy[64];
        bool local;
        time_t seconds;

        if (!isdigit((unsigned char)*text) || snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
                return -EINVAL;
        if (strlen(copy) > 10 && copy[10] == ' ')
                copy[10] = 'T';
        for (size_t i = 0; !end && i < ARRAY_SIZE(forms); i++) {
                tm = (struct tm){ .tm_isdst = -1 };
                end = strptime(copy, forms[i], &tm);
                if (end && i == 0 && *end == '.' && (!take_number(&end, &fraction) || fraction >= 1))
                        return -EINVAL;
        }
        local = end && !*end;
        if (end && !local)
                end = strptime(end, "%z", &zone);
        if (!end || *end || labs(zone.tm_gmtoff) >= 15 * 3600)
                return -EINVAL;
        if (tm.tm_year < 70 || tm.tm_year > 300)
                return -ERANGE;
        check = tm;
        seconds = local ? mktime(&check) : timegm(&check);
        if (seconds == -1 || check.tm_mday != tm.tm_mday || check.tm_mon != tm.tm_mon)
                return -EINVAL; /* the 31st of February */
        *ret = ((int64_t)seconds - zone.tm_gmtoff) * (int64_t)NS_PER_S + (int64_t)llround(fraction * 1e9);
        return 0;
}

/* Local midnight of the day so many days before @now_ns. */
static int parse_day(int days_ago, int64_t now_ns, int64_t *ret)
{
        time_t seconds = (time_t)(now_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -EINVAL;
        tm.tm_mday -= days_ago;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        *ret = (int64_t)mktime(&tm) * (int64_t)NS_PER_S;
        return 0;
}

/* Before @now_ns. A number without a unit is none: it may be meant for a year. */
static int parse_ago(const char *text, int64_t now_ns, int64_t *ret)
{
        double minutes;
        int err;

        if (!*text || isdigit((unsigned char)text[strlen(text) - 1]))
                return -EINVAL;
        err = values_parse_minutes(text, &minutes);
        if (err < 0)
                return err;
        *ret = now_ns - (int64_t)llround(minutes * 60e9);
        return 0;
}

int values_parse_time(const char *text, int64_t now_ns, int64_t *ret)
{
        int err;

        if (strcmp(text, "today") == 0 || strcmp(text, "yesterday") == 0)
                return parse_day(text[0] == 'y', now_ns, ret);
        if (text[0] == '-')
                return parse_ago(text + 1, now_ns, ret);
        err = parse_iso(text, ret);
        return err == -EINVAL ? parse_ago(text, now_ns, ret) : err;
}

void values_print_local(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                snprintf(buf, size, "?");
}

void values_print_time(int64_t time_ns, char *buf, size_t size)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (time_ns < 0 || !gmtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                snprintf(buf, size, "?");
}
