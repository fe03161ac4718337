/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The lifetime of an app: the union of its processes' lives. All cases have intervals of 30 s. */

#include <time.h>

#include "interval-fixture.h"
#include "util/util.h"

#define MOST 8

struct life {
        const char *app;
        pid_t pid;
        double began_s, ended_s; /* after the start of the interval; ended 0: it lives */
        uid_t uid;               /* 0: 1000 */
};

struct lives {
        const char *what;
        struct life before[MOST]; /* in the sample at the start */
        struct life now[MOST];    /* in the sample at the end; others have ended */
        double want_s[2];         /* active time in the background, "a" and "b" */
};

static const struct lives cases[] = {
        { "there all the time", { { "a", 1 } }, { { "a", 1 } }, { 30 } },
        { "came", { { NULL } }, { { "a", 1, 20 } }, { 10 } },
        { "ended", { { "a", 1 } }, { { "a", 1, -5, 7 } }, { 7 } },
        { "one after another",
          { { NULL } },
          { { "a", 1, 0, 10 }, { "a", 2, 10, 20 }, { "a", 3, 20, 29 } },
          { 29 } },
        { "with pauses", { { NULL } }, { { "a", 1, 1, 2 }, { "a", 2, 11, 13 }, { "a", 3, 21, 25 } }, { 7 } },
        { "at the same time",
          { { NULL } },
          { { "a", 1, 5, 15 }, { "a", 2, 5, 15 }, { "a", 3, 10, 18 } },
          { 13 } },
        { "one within another",
          { { NULL } },
          { { "a", 1, 5, 25 }, { "a", 2, 6, 7 }, { "a", 3, 8, 9 } },
          { 20 } },
        { "in no order",
          { { NULL } },
          { { "a", 1, 20, 30 }, { "a", 2, 0, 4 }, { "a", 3, 3, 8 }, { "a", 4, 19, 21 } },
          { 19 } },
        { "two apps",
          { { NULL } },
          { { "a", 1, 0, 10 }, { "b", 2, 5, 20 }, { "a", 3, 9, 12 }, { "b", 4, 25, 26 } },
          { 12, 16 } },
        { "the rest of one, and others",
          { { "a", 1 } },
          { { "a", 1, -9, 4 }, { "a", 2, 3, 6 }, { "a", 3, 28 } },
          { 8 } },
        { "one stays",
          { { "a", 1 }, { "a", 2 } },
          { { "a", 1, -9, 4 }, { "a", 2 }, { "a", 3, 3, 6 } },
          { 30 } },
        { "an end that nobody tells", { { "a", 1 } }, { { "b", 2, 10 } }, { 0, 20 } },
        { "an end that nobody tells, and a successor", { { "a", 1 } }, { { "a", 2, 29 } }, { 30 } },
        { "told in any interval but this one", { { NULL } }, { { "a", 1, 30, 31 } }, { 0 } },
        { "an end before its beginning", { { NULL } }, { { "a", 1, 20, 10 } }, { 0 } },
        { "two users", { { NULL } }, { { "a", 1, 0, 10, 1 }, { "a", 2, 5, 20, 2 } }, { 25 } },
};

static void put(struct fixture *f, const struct life *lives, uint64_t start_ns)
{
        for (size_t i = 0; i < MOST && lives[i].app; i++) {
                struct process *one = process(&f->sample, lives[i].pid, (uint64_t)lives[i].pid, lives[i].app, 0);

                one->uid = lives[i].uid ? lives[i].uid : 1000;
                one->began_ns = start_ns + (uint64_t)((int64_t)(lives[i].began_s * 1e9));
                one->ended_ns = lives[i].ended_s != 0 ? start_ns + (uint64_t)((int64_t)(lives[i].ended_s * 1e9)) : 0;
        }
}

static void unions(void)
{
        static const char *const apps[] = { "a", "b" };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fixture f;
                uint64_t start_ns;

                setup(&f);
                after(&f, 0);
                start_ns = f.boottime_ns;
                put(&f, cases[i].before, start_ns - 100 * S);
                poll(&f);
                after(&f, 30);
                put(&f, cases[i].now, start_ns);
                check_int(poll(&f), 0);
                for (size_t k = 0; k < ARRAY_SIZE(apps); k++) {
                        double got_s = (double)active(&f, apps[k], STATE_BACKGROUND) / 1e9;

                        if (fabs(got_s - cases[i].want_s[k]) > 1e-6)
                                fprintf(stderr, "%s, %s\n", cases[i].what, apps[k]);
                        check_near(got_s, cases[i].want_s[k], 1e-6);
                }
                teardown(&f);
        }
}

/* Ends of the previous interval that the kernel reported late, and the time that was counted for them already. */
static void late_ends(void)
{
        static const struct {
                const char *what;
                struct life first[MOST], second[MOST];
                double want_s;
        } late[] = {
                { "not told at all",
                  { { "a", 1, 10, 12 }, { "a", 9, 29.5 } },
                  { { "a", 9, 29.5, 31 }, { "a", 2, 26, 28 } },
                  2 + 1 },
                { "between two",
                  { { "a", 1, 10, 12 }, { "a", 3, 13, 14 }, { "a", 9, 29 } },
                  { { "a", 9, 29, 40 }, { "a", 2, 11, 13.5 }, { "a", 4, 14.5, 31 } },
                  14.5 + 10 },
                { "told by another",
                  { { "a", 1, 10, 29 }, { "a", 9, 29.5 } },
                  { { "a", 9, 29.5, 31 }, { "a", 2, 26, 28 } },
                  1 },
                { "the app was new", { { NULL } }, { { "a", 2, 26, 28 } }, 2 },
                { "from long ago", { { NULL } }, { { "a", 2, -50, 28 } }, 28 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
                struct fixture f;
                uint64_t start_ns;

                setup(&f);
                after(&f, 0);
                start_ns = f.boottime_ns;
                poll(&f);
                after(&f, 30);
                put(&f, late[i].first, start_ns);
                check_int(poll(&f), 0);
                after(&f, 30);
                put(&f, late[i].second, start_ns);
                check_int(poll(&f), 0);
                check_near((double)active(&f, "a", STATE_BACKGROUND) / 1e9, late[i].want_s, 1e-6);
                teardown(&f);
        }
}

/* The screen is used by one user: an app of two users has its foreground time once. */
static void foreground_of_two_users(void)
{
        struct fixture f;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                screen(after(&f, 30), "a", true, 1);
                process(&f.sample, 10, 1, "a", (uint64_t)i * S)->uid = 0;
                process(&f.sample, 11, 1, "a", (uint64_t)i * S);
                poll(&f);
        }
        check_int(active(&f, "a", STATE_FOREGROUND), 30 * S);
        check_int(active(&f, "a", STATE_BACKGROUND), 0);
        teardown(&f);
}

/* A fork storm needs memory for as long as it lasts. Returns the CPU time. */
static clock_t many_short_ones(int n)
{
        clock_t began = clock();
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        for (int round = 0; round < 2; round++) {
                after(&f, 30);
                for (int i = 0; round == 0 && i < n; i++) {
                        struct process *one = process(&f.sample, i + 1, 1, "a", 0);

                        one->began_ns = f.boottime_ns - 30 * S / (uint64_t)n * (uint64_t)(n - i);
                        one->ended_ns = one->began_ns + 30 * S / (uint64_t)n;
                }
                check_int(poll(&f), 0);
                check_int(active(&f, "a", STATE_BACKGROUND), round == 0 ? 30 * S : 0);
        }
        teardown(&f);
        return clock() - began;
}

/* Eight times as many take about eight times as long, and not 64 times. */
static void a_storm_is_no_square(void)
{
        clock_t few = many_short_ones(6000), many = many_short_ones(48000);

        check(many < 30 * few);
        if (many >= 30 * few)
                fprintf(stderr, "6,000 processes: %g s, 48,000: %g s\n", (double)few / CLOCKS_PER_SEC,
                        (double)many / CLOCKS_PER_SEC);
}

int main(void)
{
        unions();
        late_ends();
        foreground_of_two_users();
        a_storm_is_no_square();
        return check_result();
}
