/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * append FILE N_POINTS [N_SENDERS]: what storing one poll of 50 active processes costs, each spread over
 * N_POINTS operating points by time_in_state, on a machine with 60 apps. CPU time and bytes written
 * per poll, over 500 polls. N_SENDERS of them send packets over WiFi, 20 bursts each at any time.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "interval/interval.h"
#include "store/store.h"
#include "util/units.h"
#include "util/util.h"

#define N_ACTIVE 50
#define N_APPS 60
#define N_CPUS 4
#define N_POLLS 500
#define N_BURSTS 20

static uint64_t draw(uint64_t below)
{
        static uint64_t state = UINT64_C(88172645463325252);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

/* The machine moves on by 30 s; every process by a few ticks of 10 ms, 50 of them at least by one. */
static void make_sample(struct sample *sample, uint64_t poll, size_t n_points, uint64_t n_senders, uint64_t *time_ns,
                        uint64_t *cpu_ns)
{
        sample_reset(sample);
        sample->boottime_ns = sample->monotonic_ns = (poll + 1) * 30 * NS_PER_S;
        sample->realtime_ns = (int64_t)(UINT64_C(1700000000) * NS_PER_S + sample->boottime_ns);
        sample->have = SAMPLE_OPPS | SAMPLE_CORES | SAMPLE_PROCESSES | USAGE_DISK;
        for (size_t i = 0; i < n_points; i++)
                *sample_add_opp(sample) = (struct opp){ .khz = (uint32_t)(300000 + i * 100000), .time_ns =
                        time_ns[i] += draw(2 * 3000 / n_points) * 10 * NS_PER_MS };
        for (uint32_t i = 0; i < N_CPUS; i++)
                *sample_add_core(sample) = (struct core){ .cpu = i, .busy_ns = poll * 3 * NS_PER_S };
        for (int i = 0; i < N_APPS; i++) {
                struct process *process = sample_add_process(sample, false);

                cpu_ns[i] += i < N_ACTIVE ? (1 + draw(9)) * 10 * NS_PER_MS : 0;
                *process = (struct process){ .pid = 100 + i, .start_time = 5, .have = USAGE_CPU | USAGE_DISK,
                                             .cpu_ns = cpu_ns[i], .write_bytes = i < 5 ? poll * 4096 : 0 };
                snprintf(process->app, sizeof(process->app), "app-%d", i);
        }
        sample->have |= n_senders ? SAMPLE_BURSTS : 0;
        for (uint64_t i = 0; i < n_senders * N_BURSTS; i++) {
                int64_t first_ns = (int64_t)(sample->boottime_ns - draw(30 * NS_PER_S));
                uint64_t n = 1 + draw(20);

                *sample_add_burst(sample) = (struct process_burst){
                        .process = { 100 + (pid_t)(i / N_BURSTS), 5 }, .air = AIR_WIFI,
                        .burst = { .first_ns = first_ns, .last_ns = first_ns + (int64_t)(n * NS_PER_MS), .large = n / 2,
                                   .packets = { n, 2 * n }, .bytes = { 100 * n, 1500 * n } },
                };
        }
}

static uint64_t cpu_time_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t written_bytes(void)
{
        char text[512];
        const char *at;

        if (util_read_at(-100, "/proc/self/io", text, sizeof(text)) <= 0)
                return 0;
        at = strstr(text, "\nwrite_bytes: ");
        return at ? strtoull(at + 14, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
        _cleanup_(store_closep) struct store *store = NULL;
        const struct store_retention retention = { 48, 14, 0 };
        struct interval_maker *maker = NULL;
        struct interval interval = { 0 };
        struct sample sample = { 0 };
        uint64_t n_points = 0, n_senders = 0, make_ns = 0, time_ns[64] = { 0 }, cpu_ns[N_APPS] = { 0 },
                 append_ns = 0, fold_ns = 0, bytes = 0;
        size_t rows = 0;

        if (argc < 3 || argc > 4 ||
            (argc == 4 && (util_parse_u64(argv[3], &n_senders) < 0 || n_senders > N_ACTIVE)) ||
            util_parse_u64(argv[2], &n_points) < 0 || n_points < 1 || n_points > 64)
                return 2;
        if (store_open(argv[1], STORE_WRITE, NULL, &store) < 0 || interval_maker_new(&maker) < 0)
                return 1;
        for (uint64_t poll = 0; poll < N_POLLS; poll++) {
                uint64_t before_ns, appended_ns;

                make_sample(&sample, poll, n_points, n_senders, time_ns, cpu_ns);
                before_ns = cpu_time_ns();
                if (interval_make(maker, &sample, &interval) < 0)
                        continue;
                if (poll == 20)
                        bytes = written_bytes();
                make_ns += poll >= 20 ? cpu_time_ns() - before_ns : 0;
                before_ns = cpu_time_ns();
                if (store_append(store, &interval) < 0)
                        return 1;
                appended_ns = cpu_time_ns();
                if (store_roll_up(store, interval.end_realtime_ns, &retention) < 0)
                        return 1;
                append_ns += poll >= 20 ? appended_ns - before_ns : 0;
                fold_ns += poll >= 20 ? cpu_time_ns() - appended_ns : 0;
                rows = interval.n_rows;
        }
        printf("%zu rows at %llu operating points: %.1f us of CPU a poll (goal 50), %.1f us for the interval "
               "and %.1f us for rolling it up; %.1f kB written (goal 12), all included\n",
               rows, (unsigned long long)n_points, (double)append_ns / (N_POLLS - 20) / 1e3,
               (double)make_ns / (N_POLLS - 20) / 1e3, (double)fold_ns / (N_POLLS - 20) / 1e3,
               (double)(written_bytes() - bytes) / (N_POLLS - 20) / 1e3);
        interval_maker_free(maker);
        interval_clear(&interval);
        sample_clear(&sample);
        return 0;
}
