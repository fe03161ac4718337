/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Times and spans as people write them on the command line. */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "options.h"
#include "until.h"
#include "util/utc.h"
#include "util/util.h"

static void times(void)
{
        static const int64_t now = INT64_C(1795000000000000000);
        static const struct {
                const char *text;
                int64_t s; /* 0: refused; -1: out of range */
        } cases[] = {
                { "2026-11-20T03:12:44Z", 1795144364 },
                { "2026-11-20T04:12:44+01:00", 1795144364 },
                { "2026-11-20T04:12:44+0100", 1795144364 },
                { "2026-11-20T04:12:44+01", 1795144364 },
                { "2026-11-20 03:12:44Z", 1795144364 },
                { "2026-11-20T08:57:44+05:45", 1795144364 },
                { "2026-11-19T22:12:44-05:00", 1795144364 },
                { "2026-11-20T17:12:44+14:00", 1795144364 },
                { "2026-11-20T17:12:44+15:00", 0 },
                { "2026-11-20T03:12:44+00:60", 0 },
                { "2026-11-20T03:12:44+00:", 0 },
                { "2026-11-20T03:12:44+1", 0 },
                { "2026-11-20T03:12:44+01:0", 0 },
                { "2026-11-20T03:12", 1795144320 + 5 * 3600 }, /* local: TZ below is 5 h behind */
                { "2026-11-20", 1795132800 + 5 * 3600 },
                { "-24h", 1795000000 - 86400 },
                { "-1h30m", 1795000000 - 5400 },
                { "-7d", 1795000000 - 7 * 86400 },
                { "-90s", 1795000000 - 90 },
                { "24h", 1795000000 - 86400 },
                { "3 h", 1795000000 - 3 * 3600 }, /* like in answers */
                { "2 d 4 h", 1795000000 - 52 * 3600 },
                { "1 h 5 min", 1795000000 - 65 * 60 },
                { "-20 min", 1795000000 - 20 * 60 },
                { "12 s", 1795000000 - 12 },
                { "today", 1794978000 }, /* at 06:06:40 of 2026-11-18 */
                { "yesterday", 1794978000 - 86400 },
                { "last week", 1794978000 - 7 * 86400 },
                { "last month", 1794978000 - 31 * 86400 }, /* October has 31 days */
                { "06:00", 1794978000 + 6 * 3600 },
                { "6:00:30", 1794978000 + 6 * 3600 + 30 },
                { "06:07", 1794978000 + 6 * 3600 + 7 * 60 - 86400 }, /* not yet today: yesterday's */
                { "2 hours", 1795000000 - 7200 },
                { "2 hours ago", 1795000000 - 7200 },
                { "1 day 30 minutes ago", 1795000000 - 86400 - 1800 },
                { "2 weeks", 1795000000 - 14 * 86400 },
                { "2026-02-31", 0 },
                { "2026-13-01", 0 },
                { "2026-11-20T25:00Z", 0 },
                { "2026-11-20T03:12:44Zz", 0 },
                { "", 0 },
                { "-", 0 },
                { "-24", 0 },
                { "24", 0 },
                { "-h", 0 },
                { "tomorrow", 0 },
                { "3 hou", 0 },
                { "ago", 0 },
                { "3 ago", 0 },
                { "25:00", 0 },
                { "14:60", 0 },
                { "14:", 0 },
                { "- 24h", 0 },
                { " 24h", 0 },
                { "--24h", 0 },
                { "3 h 20", 0 },
                { "h 3", 0 },
                { "-24x", 0 },
                { "2026-11-20T03:12:44+", 0 },
                { "20261120", 0 },
                { "9999-12-31T24:00", 0 },
                { "1969-01-01Z", -1 },
                { "1600-01-01Z", -1 },
                { "9999-12-31Z", -1 },
                { "9999-12-31", -1 },
                { "-99999h", -1 },
        };

        setenv("TZ", "EST5", 1);
        tzset();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int64_t got = -1;

                if (cases[i].s > 0) {
                        check_int(values_parse_time(cases[i].text, now, &got), 0);
                        check_int(got, cases[i].s * INT64_C(1000000000));
                } else {
                        check_int(values_parse_time(cases[i].text, now, &got), cases[i].s ? -ERANGE : -EINVAL);
                        check_int(got, -1);
                }
        }
}

static void spans(void)
{
        static const struct {
                const char *text;
                double minutes; /* NaN: refused; infinite: out of range */
        } cases[] = {
                { "10m", 10 },
                { "10", 10 },
                { "3h", 180 },
                { "1h30m", 90 },
                { "90s", 1.5 },
                { "2.5h", 150 },
                { "10min", 10 },
                { "1d", 1440 },
                { "", NAN },
                { "m", NAN },
                { "10x", NAN },
                { "-5m", NAN },
                { "1m1h", NAN },
                { "10m 5", NAN },
                { "3 h", 180 },
                { "2 d 4 h", 3120 },
                { "1 h 30 min", 90 },
                { "1h30min", 90 },
                { " 3h", NAN },
                { "3 hmin", NAN },
                { "2 hours", 120 },
                { "1 hour 30 minutes", 90 },
                { "45 sec", 0.75 },
                { "2 fortnights", NAN },
                { "nan", NAN },
                { "1e9", NAN },
                { "10m5", NAN },
                { "1000000", 1e6 },
                { "9999999", INFINITY },
                { "99999h", INFINITY },
                { "99999h5", NAN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                double got = NAN;

                check_int(values_parse_minutes(cases[i].text, &got),
                          isnan(cases[i].minutes) ? -EINVAL : isinf(cases[i].minutes) ? -ERANGE : 0);
                if (isfinite(cases[i].minutes))
                        check_near(got, cases[i].minutes, 1e-12);
        }
}

/* The next one, today or tomorrow. */
static void until(void)
{
        const int64_t s = INT64_C(1000000000), now = INT64_C(1795122000) * s; /* 2026-11-19 16:00 EST */
        static const struct {
                const char *text;
                int err;
                int64_t after_s;
        } cases[] = {
                { "18:00", 0, 7200 },
                { "16:01", 0, 60 },
                { "16:00", 0, 86400 },
                { "9:05", 0, 61500 },
                { "18:00:30", 0, 7230 },
                { "00:00", 0, 28800 },
                { "2026-11-19T18:00", 0, 7200 },
                { "2026-11-20", 0, 28800 },
                { "2026-11-19T23:00Z", 0, 7200 },
                { "2026-11-19T15:00", -ERANGE, 0 },
                { "2100-01-01", -ERANGE, 0 },
                { "24:00", -EINVAL, 0 },
                { "18:60", -EINVAL, 0 },
                { "18", -EINVAL, 0 },
                { "18:0", -EINVAL, 0 },
                { "18:00:00:00", -EINVAL, 0 },
                { "", -EINVAL, 0 },
                { ":", -EINVAL, 0 },
                { "18:00 ", -EINVAL, 0 },
                { "3h", -EINVAL, 0 },
                { "-3h", -EINVAL, 0 },
                { "today", -EINVAL, 0 },
                { "118:00", -EINVAL, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int64_t got = now;

                check_int(until_parse(cases[i].text, now, &got), cases[i].err);
                check_int((got - now) / s, cases[i].after_s);
        }
        setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
        tzset();
        {
                int64_t got = 0, saturday = INT64_C(1792861200) * s; /* 2026-10-24 19:00, before the clock goes back */

                check_int(until_parse("18:00", saturday, &got), 0);
                check_int((got - saturday) / s, 24 * 3600);
        }
        setenv("TZ", "EST5", 1);
        tzset();
}

/* A day of a change of the clock has no 24 hours. */
static void days(void)
{
        int64_t got;

        setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
        tzset();
        check_int(values_parse_time("today", INT64_C(1793142000000000000), &got), 0); /* 2026-10-28 00:00 in winter */
        check_int(got, INT64_C(1793142000000000000));
        check_int(values_parse_time("yesterday", INT64_C(1792994400000000000), &got), 0); /* 10-26 07:00, after it */
        check_int(got, INT64_C(1792879200000000000)); /* 10-25 00:00 in summer */
        setenv("TZ", "EST5", 1);
        tzset();
}

static void written_back(void)
{
        char buf[32];

        utc_print(INT64_C(1795144364999999999), buf, sizeof(buf));
        check_text(buf, "2026-11-20T03:12:44Z");
        utc_print(-1, buf, sizeof(buf));
        check_text(buf, "1969-12-31T23:59:59Z");
        utc_print(-INT64_C(86400000000000), buf, sizeof(buf));
        check_text(buf, "1969-12-31T00:00:00Z");
        utc_print(INT64_MIN + 1, buf, sizeof(buf));
        check_text(buf, "1677-09-21T00:12:43Z");
        utc_print(INT64_MAX, buf, sizeof(buf));
        check_text(buf, "2262-04-11T23:47:16Z");
        utc_print(INT64_MIN, buf, sizeof(buf));
        check_text(buf, "?");
}

int main(void)
{
        times();
        days();
        until();
        spans();
        written_back();
        return check_result();
}
