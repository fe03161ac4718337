/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A hundred thousand polls on a simulated clock, five weeks of a machine with 60 apps, 50 of which do something in each
 * poll, and whose processes start and end. Limits the bytes written for a poll and the size of a rolled-up month, and
 * checks that memory does not grow.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "interval/interval.h"
#include "store/store.h"
#include "util/units.h"
#include "util/util.h"

#define N_ACTIVE 45
#define N_APPS 60
#define N_POLLS 100000
#define POLLS_PER_DAY 2880
#define N_POINTS 12
#define LIFE 500 /* polls, until a process is followed by another of its app */
#define N_BRIEF 5 /* also active: they start and end between two polls */

/*
 * Most bytes written for one poll, which is appended, rolled up and later deleted. Which of these steps makes a
 * checkpoint depends on sizes.
 */
#define WRITTEN_MOST 22000.0
#define STEADY (N_POLLS / 10)       /* polls until the first ones are deleted, and some more */
#define MONTH_MOST (2 * 1000 * 1000) /* bytes, in days */

static uint64_t draw(uint64_t below)
{
        static uint64_t state = UINT64_C(88172645463325252);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

/* Advances the machine by 30 s, and 50 of its processes by some ticks of 10 ms. */
static void make_sample(struct sample *sample, uint64_t poll)
{
        static uint64_t time_ns[N_POINTS], cpu_ns[N_APPS];

        sample_reset(sample);
        sample->boottime_ns = sample->monotonic_ns = (poll + 1) * 30 * NS_PER_S;
        sample->realtime_ns = (int64_t)(UINT64_C(1700006400) * NS_PER_S + sample->boottime_ns);
        sample->have = SAMPLE_OPPS | SAMPLE_CORES | SAMPLE_PROCESSES | USAGE_DISK;
        for (size_t i = 0; i < N_POINTS; i++)
                *sample_add_opp(sample) = (struct opp){ .khz = (uint32_t)(300000 + i * 100000), .time_ns =
                        time_ns[i] += draw(2 * 3000 / N_POINTS) * 10 * NS_PER_MS };
        for (uint32_t i = 0; i < 4; i++)
                *sample_add_core(sample) = (struct core){ .cpu = i, .busy_ns = poll * 3 * NS_PER_S };
        for (int i = 0; i < N_APPS; i++) {
                uint64_t born = (poll + (uint64_t)i * 8) / LIFE;
                struct process *process = sample_add_process(sample, false);

                cpu_ns[i] += i < N_ACTIVE ? (1 + draw(9)) * 10 * NS_PER_MS : 0;
                if ((poll + (uint64_t)i * 8) % LIFE == 0)
                        cpu_ns[i] = 0;
                *process = (struct process){ .pid = 100 + i, .start_time = born + 1, .have = USAGE_CPU | USAGE_DISK,
                                             .cpu_ns = cpu_ns[i], .write_bytes = i < 5 ? poll * 4096 : 0 };
                snprintf(process->app, sizeof(process->app), "app-%d", i);
        }
        for (uint64_t i = 0; i < N_BRIEF; i++) {
                struct process *process = sample_add_process(sample, false);

                *process = (struct process){ .pid = (pid_t)(1000 + poll * N_BRIEF + i), .start_time = poll,
                                             .began_ns = sample->boottime_ns - NS_PER_S,
                                             .ended_ns = sample->boottime_ns - NS_PER_MS,
                                             .have = USAGE_CPU | USAGE_DISK,
                                             .cpu_ns = (1 + draw(9)) * 10 * NS_PER_MS };
                snprintf(process->app, sizeof(process->app), "app-%d", (int)(i % 2));
        }
}

static uint64_t number_of(const char *file, const char *key)
{
        char text[8192];
        const char *at;

        if (util_read_at(AT_FDCWD, file, text, sizeof(text)) <= 0)
                return 0;
        at = strstr(text, key);
        return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Bytes that SQLite wrote, checkpoints included; how many reach the disk depends on when the kernel flushes them. */
static uint64_t written_bytes(void)
{
        return number_of("/proc/self/io", "\nwchar: ");
}

static uint64_t size_of(const char *path)
{
        struct stat info;

        return stat(path, &info) < 0 ? 0 : (uint64_t)info.st_size;
}

int main(void)
{
        const struct store_retention retention = { 48, 14, 0 };
        char folder[] = "store-growth-XXXXXX", path[64];
        struct interval_maker *maker = NULL;
        struct interval interval = { 0 };
        struct sample sample = { 0 };
        struct store *store = NULL;
        uint64_t appended = 0, rolled_up = 0, early_kb = 0, late_kb, half_size = 0, grown;
        double n_measured = N_POLLS / 10;

        check(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/usage.db", folder);
        check_int(store_open(path, STORE_WRITE, NULL, &store), 0);
        check_int(interval_maker_new(&maker), 0);
        for (uint64_t poll = 0; poll < N_POLLS; poll++) {
                bool measured = poll >= STEADY && poll < STEADY + N_POLLS / 10;
                uint64_t before, between;
                int err;

                make_sample(&sample, poll);
                err = interval_make(maker, &sample, &interval);
                before = measured ? written_bytes() : 0;
                if (!err)
                        err = store_append(store, &interval);
                between = measured ? written_bytes() : 0;
                if (!err)
                        err = store_roll_up(store, interval.end_realtime_ns, &retention);
                if (err && poll > 0)
                        check_int(err, 0);
                appended += between - before;
                rolled_up += measured ? written_bytes() - between : 0;
                if (poll == N_POLLS / 10)
                        early_kb = number_of("/proc/self/status", "\nRssAnon:");
                if (poll == N_POLLS / 2)
                        half_size = size_of(path);
        }
        late_kb = number_of("/proc/self/status", "\nRssAnon:");
        grown = (size_of(path) - half_size) * 30 * POLLS_PER_DAY / (N_POLLS / 2);
        fprintf(stderr,
                "%.1f kB written a poll, and %.1f kB to roll it up; %.2f MB after %d polls, a month "
                "more takes %.2f MB; %llu kB of our own, %llu kB after a tenth of the polls\n",
                (double)appended / n_measured / 1e3, (double)rolled_up / n_measured / 1e3,
                (double)size_of(path) / 1e6, N_POLLS, (double)grown / 1e6, (unsigned long long)late_kb,
                (unsigned long long)early_kb);
        check((double)(appended + rolled_up) / n_measured <= WRITTEN_MOST);
        check(grown <= MONTH_MOST);
        check(late_kb <= early_kb + early_kb / 10 + 64);
        interval_maker_free(maker);
        interval_clear(&interval);
        sample_clear(&sample);
        store_close(store);
        unlink(path);
        rmdir(folder);
        return check_result();
}
