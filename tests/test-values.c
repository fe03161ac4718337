/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Times and spans as people write them on the command line. */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "options.h"
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
                { "2026-11-20 03:12:44Z", 1795144364 },
                { "2026-11-20T08:57:44+05:45", 1795144364 },
                { "2026-11-19T22:12:44-05:00", 1795144364 },
                { "2026-11-20T17:12:44+14:00", 1795144364 },
                { "2026-11-20T17:12:44+15:00", 0 },
                { "2026-11-20T03:12:44+00:60", 0 },
                { "2026-11-20T03:12", 1795144320 + 5 * 3600 }, /* local: TZ below is 5 h behind */
                { "2026-11-20", 1795132800 + 5 * 3600 },
                { "-24h", 1795000000 - 86400 },
                { "-1h30m", 1795000000 - 5400 },
                { "-7d", 1795000000 - 7 * 86400 },
                { "-90s", 1795000000 - 90 },
                { "24h", 1795000000 - 86400 },
                { "3 h", 1795000000 - 3 * 3600 }, /* as answers write it */
                { "2 d 4 h", 1795000000 - 52 * 3600 },
                { "1 h 5 min", 1795000000 - 65 * 60 },
                { "-20 min", 1795000000 - 20 * 60 },
                { "12 s", 1795000000 - 12 },
                { "today", 1794978000 }, /* at 06:06:40 of 2026-11-18 */
                { "yesterday", 1794978000 - 86400 },
                { "2026-02-31", 0 }, { "2026-13-01", 0 }, { "2026-11-20T25:00Z", 0 }, { "2026-11-20T03:12:44Zz", 0 },
                { "", 0 }, { "-", 0 }, { "-24", 0 }, { "24", 0 }, { "-h", 0 }, { "tomorrow", 0 }, { "3 hours", 0 },
                { "- 24h", 0 }, { " 24h", 0 }, { "--24h", 0 }, { "3 h 20", 0 }, { "h 3", 0 }, { "-24x", 0 },
                { "2026-11-20T03:12:44+", 0 }, { "20261120", 0 }, { "9999-12-31T24:00", 0 },
                { "1969-01-01Z", -1 }, { "1600-01-01Z", -1 }, { "9999-12-31Z", -1 }, { "9999-12-31", -1 }, { "-99999h", -1 },
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
                { "10m", 10 }, { "10", 10 }, { "3h", 180 }, { "1h30m", 90 }, { "90s", 1.5 }, { "2.5h", 150 }, { "10min", 10 },
                { "1d", 1440 }, { "", NAN }, { "m", NAN }, { "10x", NAN }, { "-5m", NAN }, { "1m1h", NAN }, { "10m 5", NAN },
                { "3 h", 180 }, { "2 d 4 h", 3120 }, { "1 h 30 min", 90 }, { "1h30min", 90 }, { " 3h", NAN },
                { "3 hmin", NAN },
                { "nan", NAN }, { "1e9", NAN }, { "10m5", NAN },
                { "1000000", 1e6 }, { "9999999", INFINITY }, { "99999h", INFINITY }, { "99999h5", NAN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                double got = NAN;

                check_int(values_parse_minutes(cases[i].text, &got),
                          isnan(cases[i].minutes) ? -EINVAL : isinf(cases[i].minutes) ? -ERANGE : 0);
                if (isfinite(cases[i].minutes))
                        check_near(got, cases[i].minutes, 1e-12);
        }
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

        values_print_time(INT64_C(1795144364999999999), buf, sizeof(buf));
        check_text(buf, "2026-11-20T03:12:44Z");
        values_print_time(INT64_MIN, buf, sizeof(buf));
        check_text(buf, "?");
}

int main(void)
{
        times();
        days();
        spans();
        written_back();
        return check_result();
}
