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

/* From the longest to the shortest; each unit by any of its words. */
static const struct {
        const char *words;
        double minutes;
} units[] = {
        { "w week weeks", 7 * 1440 },
        { "d day days", 1440 },
        { "h hr hrs hour hours", 60 },
        { "m min mins minute minutes", 1 },
        { "s sec secs second seconds", 1.0 / 60 },
};

/* The unit at the start of *text, from @from on, which moves behind it; ARRAY_SIZE(units): none. */
static size_t take_unit(const char **text, size_t from)
{
        char word[16];
        size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyz");

        if (length == 0 || length >= sizeof(word))
                return ARRAY_SIZE(units);
        memcpy(word, *text, length);
        word[length] = '\0';
        *text += length;
        *text += strspn(*text, " ");
        while (from < ARRAY_SIZE(units) && !util_is_word(units[from].words, word))
                from++;
        return from;
}

int values_parse_minutes(const char *text, double *ret)
{
        double minutes = 0, number;
        size_t unit = 0;

        if (!take_number(&text, &number))
                return -EINVAL;
        if (!*text)
                minutes = number;
        while (*text) {
                unit = take_unit(&text, unit);
                if (unit == ARRAY_SIZE(units))
                        return -EINVAL;
                minutes += number * units[unit++].minutes;
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

/* Two digits of at most 59 at *text, and what is behind them there. */
static bool take_two_digits(const char **text, long *ret)
{
        const char *at = *text;

        if (*at < '0' || *at > '5' || !isdigit((unsigned char)at[1]))
                return false;
        *ret = 10 * (at[0] - '0') + at[1] - '0';
        *text = at + 2;
        return true;
}

/* "Z", "+01", "+0100", "+01:00": as %z of strptime(3), which musl lacks. @ret: s east. NULL: none of these. */
static const char *parse_zone(const char *text, long *ret)
{
        const char sign = *text++;
        long hours, minutes = 0;

        *ret = 0;
        if (sign == 'Z')
                return text;
        if ((sign != '+' && sign != '-') || !take_two_digits(&text, &hours))
                return NULL;
        text += *text == ':';
        if ((*text || text[-1] == ':') && !take_two_digits(&text, &minutes))
                return NULL;
        *ret = (sign == '-' ? -60 : 60) * (60 * hours + minutes);
        return text;
}

/* 2026-11-20, 2026-11-20T03:12, 2026-11-20T03:12:44.5Z, 2026-11-20 03:12+01:00; without a zone: local time */
static int parse_iso(const char *text, int64_t *ret)
{
        static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
        struct tm tm = { 0 }, check;
        const char *end = NULL;
        double fraction = 0;
        char copy[64];
        bool local;
        long zone_s = 0;
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
                end = parse_zone(end, &zone_s);
        if (!end || *end || labs(zone_s) >= 15 * 3600)
                return -EINVAL;
        if (tm.tm_year < 70 || tm.tm_year > 300)
                return -ERANGE;
        check = tm;
        seconds = local ? mktime(&check) : timegm(&check);
        if (seconds == -1 || check.tm_mday != tm.tm_mday || check.tm_mon != tm.tm_mon)
                return -EINVAL; /* the 31st of February */
        *ret = ((int64_t)seconds - zone_s) * (int64_t)NS_PER_S + (int64_t)llround(fraction * 1e9);
        return 0;
}

/* Local midnight of the day so many days and months before @now_ns. */
static int parse_day(int days_ago, int months_ago, int64_t now_ns, int64_t *ret)
{
        time_t seconds = (time_t)(now_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -EINVAL;
        tm.tm_mday -= days_ago;
        tm.tm_mon -= months_ago;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        *ret = (int64_t)mktime(&tm) * (int64_t)NS_PER_S;
        return 0;
}

/* 14:00 or 14:00:30: the last time that clocks showed it, today or yesterday */
static int parse_clock(const char *text, int64_t now_ns, int64_t *ret)
{
        time_t seconds = (time_t)(now_ns / (int64_t)NS_PER_S), at;
        struct tm tm, read = { 0 };
        const char *end = strptime(text, "%H:%M:%S", &read);

        if (!end)
                end = strptime(text, "%H:%M", &read);
        if (!end || *end || !localtime_r(&seconds, &tm))
                return -EINVAL;
        for (int days_ago = 0; days_ago < 2; days_ago++) {
                tm.tm_mday -= days_ago;
                tm.tm_hour = read.tm_hour;
                tm.tm_min = read.tm_min;
                tm.tm_sec = read.tm_sec;
                tm.tm_isdst = -1;
                at = mktime(&tm);
                if (at <= seconds)
                        break;
        }
        *ret = (int64_t)at * (int64_t)NS_PER_S;
        return 0;
}

/* "24h", "2 hours ago": before @now_ns. A number without a unit is none: it may be meant for a year. */
static int parse_ago(const char *text, int64_t now_ns, int64_t *ret)
{
        size_t length = strlen(text);
        char span[64];
        double minutes;
        int err;

        if (length > 4 && strcmp(text + length - 4, " ago") == 0)
                length -= 4;
        if (length == 0 || length >= sizeof(span) || isdigit((unsigned char)text[length - 1]))
                return -EINVAL;
        memcpy(span, text, length);
        span[length] = '\0';
        err = values_parse_minutes(span, &minutes);
        if (err < 0)
                return err;
        *ret = now_ns - (int64_t)llround(minutes * 60e9);
        return 0;
}

int values_parse_time(const char *text, int64_t now_ns, int64_t *ret)
{
        static const struct {
                const char *word;
                int days_ago, months_ago;
        } days[] = { { "today", 0, 0 }, { "yesterday", 1, 0 }, { "last week", 7, 0 }, { "last month", 0, 1 } };
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(days); i++)
                if (strcmp(text, days[i].word) == 0)
                        return parse_day(days[i].days_ago, days[i].months_ago, now_ns, ret);
        if (text[0] == '-')
                return parse_ago(text + 1, now_ns, ret);
        if (parse_clock(text, now_ns, ret) == 0)
                return 0;
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
