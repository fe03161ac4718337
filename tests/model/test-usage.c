/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>

#include "check.h"
#include "model/usage.h"

static void adds_up(void)
{
        struct usage a = { 0 }, b = { 0 }, sum = { 0 };

        check_int(usage_add_cpu(&a, 4, 600000, 10, 9), 0);
        check_int(usage_add_cpu(&a, 0, 1200000, 5, 5), 0);
        check_int(usage_add_cpu(&a, 0, 300000, 7, 6), 0);
        check_int(usage_add_cpu(&a, 0, 1200000, 5, 4), 0);
        check_int(a.cpu.n, 3);
        check_int(a.cpu.list[0].khz, 300000);
        check_int(a.cpu.list[1].busy_ns, 10);
        check_int(a.cpu.list[2].policy, 4);
        a.have = USAGE_CPU | USAGE_DISK;
        b.have = USAGE_CPU;
        b.read_bytes = 3;
        check_int(usage_add_screen(&b, 178, 100), 0);
        check_int(usage_add(&sum, &a), 0);
        check_int(sum.have, USAGE_CPU | USAGE_DISK);
        check_int(usage_add(&sum, &b), 0);
        check_int(sum.have, USAGE_CPU); /* bytes that one of them did not count are not known */
        check_int(usage_busy_ns(&sum), 27);
        check_int(usage_screen_ns(&sum), 100);
        usage_clear(&a);
        usage_clear(&b);
        usage_clear(&sum);
}

/* A list that is not ascending would be a bug elsewhere; memory stays whole. */
static void disorder_is_an_error(void)
{
        struct point twice[] = { { .key = 2, .amount = 1 }, { .key = 2, .amount = 1 } };
        struct usage to = { 0 }, from = { .radio = { .list = twice, .n = 2 } };

        check_int(usage_add_point(&to, KEYED_RADIO, &(struct point){ .key = 1, .amount = 1 }), 0);
        check_int(usage_add_point(&to, KEYED_RADIO, &(struct point){ .key = 2, .amount = 1 }), 0);
        check_int(usage_add(&to, &from), -EINVAL);
        usage_clear(&to);
}

static void overflow_is_an_error(void)
{
        struct usage a = { .read_bytes = UINT64_MAX }, b = { .read_bytes = 1 };

        check_int(usage_add(&a, &b), -EOVERFLOW);
}

/* An app of several users; a base without a time is unknown. */
static void is_there_once(void)
{
        const struct usage base = { .time_ns = 30 }, unknown = { 0 };

        check_near(usage_there_ns(20, &base), 20, 0);
        check_near(usage_there_ns(60, &base), 30, 0);
        check_near(usage_there_ns(60, &unknown), 60, 0);
}

int main(void)
{
        is_there_once();
        adds_up();
        disorder_is_an_error();
        overflow_is_an_error();
        return check_result();
}
