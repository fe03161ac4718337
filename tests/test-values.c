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
                { "2026-02-31", 0 }, { "2026-13-01", 0 }, { "2026-11-20T25:00Z", 0 }, { "2026-11-20T03:12:44Zz", 0 },
                { "", 0 }, { "-", 0 }, { "-24", 0 }, { "24h", 0 }, { "yesterday", 0 }, { "-h", 0 }, { "-24x", 0 },
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
                { "1d", 1440 }, { "", NAN }, { "m", NAN }, { "10x", NAN }, { "-5m", NAN }, { "1m1h", NAN }, { "10m ", NAN },
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
        spans();
        written_back();
        return check_result();
}
