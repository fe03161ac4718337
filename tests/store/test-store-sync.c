/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frequency of commits that wait for the disk: at most five minutes can be lost (or one interval, if that is longer),
 * and not each poll is synced. The clock and fdatasync() are the test's own, SQLite and the files are real.
 */

#include <sys/syscall.h>
#include <time.h>

#include "store-fixture.h"

static uint64_t boottime_ns = 3600 * NS_PER_S;
static int n_syncs;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
        if (clock != CLOCK_BOOTTIME)
                return (int)syscall(SYS_clock_gettime, clock, ret);
        *ret = (struct timespec){ (time_t)(boottime_ns / NS_PER_S), (long)(boottime_ns % NS_PER_S) };
        return 0;
}

int fdatasync(int fd)
{
        n_syncs++;
        return 0;
}

int fsync(int fd)
{
        n_syncs++;
        return 0;
}

static void a_power_cut_takes_at_most_five_minutes(uint64_t poll_s)
{
        const int polls = (int)(6 * 3600 / poll_s);
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };
        uint64_t synced_ns = boottime_ns, most_ns = 0;
        int waited = 0;

        for (int i = 0; i < polls; i++) {
                int before = n_syncs;

                boottime_ns += poll_s * NS_PER_S;
                most_ns = i ? MAX(most_ns, boottime_ns - synced_ns) : 0; /* at stake just before this one */
                make_interval(&interval, START + (int64_t)boottime_ns, poll_s * NS_PER_S, 5);
                check_int(store_append(store, &interval), 0);
                waited += n_syncs > before;
                synced_ns = n_syncs > before ? boottime_ns : synced_ns;
                check(i > 0 || n_syncs > before); /* the first one: what an earlier process left is safe, too */
        }
        check(most_ns <= MAX(300 * NS_PER_S, poll_s * NS_PER_S));
        if (poll_s <= 60) /* not more often than every four minutes */
                check(waited <= 6 * 3600 / 240 + polls / 60);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

int main(void)
{
        const uint64_t polls_s[] = { 10, 30, 60, 140, 200, 600 };

        name_database();
        for (size_t i = 0; i < ARRAY_SIZE(polls_s); i++)
                a_power_cut_takes_at_most_five_minutes(polls_s[i]);
        return check_result();
}
