/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The traps of counters, one function each: two or more samples in, rows out. */

#include <errno.h>

#include "check.h"
#include "interval.h"
#include "tuning.h"
#include "units.h"

#define S NS_PER_S

struct fixture {
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        uint64_t boottime_ns;
        uint64_t monotonic_ns;
        int64_t realtime_ns;
};

static void setup(struct fixture *f)
{
        *f = (struct fixture){ .boottime_ns = 1000 * S, .monotonic_ns = 900 * S, .realtime_ns = 5000000 * (int64_t)S };
        check_int(interval_maker_new(&f->maker), 0);
}

static void teardown(struct fixture *f)
{
        interval_maker_free(f->maker);
        sample_clear(&f->sample);
        interval_clear(&f->interval);
}

/* Starts a sample @seconds after the one before. */
static struct sample *after(struct fixture *f, double seconds)
{
        uint64_t ns = (uint64_t)(seconds * 1e9);

        sample_reset(&f->sample);
        f->boottime_ns += ns;
        f->monotonic_ns += ns;
        f->realtime_ns += (int64_t)ns;
        f->sample.boottime_ns = f->boottime_ns;
        f->sample.monotonic_ns = f->monotonic_ns;
        f->sample.realtime_ns = f->realtime_ns;
        f->sample.have = SAMPLE_PROCESSES;
        strcpy(f->sample.boot_id, "a boot");
        return &f->sample;
}

static struct process *process(struct sample *sample, pid_t pid, uint64_t start_time, const char *app, uint64_t cpu_ns)
{
        struct process *process = sample_add_process(sample, false);

        process->pid = pid;
        process->start_time = start_time;
        process->uid = 1000;
        process->have = PROCESS_CPU | PROCESS_DISK;
        process->cpu_ns = cpu_ns;
        snprintf(process->app, sizeof(process->app), "%s", app);
        return process;
}

static void opp(struct sample *sample, uint32_t policy, uint32_t khz, uint64_t time_ns)
{
        *sample_add_opp(sample) = (struct opp){ .policy = policy, .khz = khz, .time_ns = time_ns };
        sample->have |= SAMPLE_OPPS;
}

static void core(struct sample *sample, uint32_t cpu, uint32_t policy, uint64_t busy_ns)
{
        *sample_add_core(sample) = (struct core){ .cpu = cpu, .policy = policy, .busy_ns = busy_ns };
        sample->have |= SAMPLE_CORES;
}

static void screen(struct sample *sample, const char *app, bool on, uint32_t brightness)
{
        sample->screen = (struct screen_event){ .foreground_known = app != NULL, .screen_known = true,
                                                .screen_on = on, .brightness = brightness };
        if (app)
                strcpy(sample->screen.app, app);
        sample->have |= SAMPLE_SCREEN | (app ? SAMPLE_FOREGROUND : 0);
}

static void event(struct sample *sample, uint64_t boottime_ns, const char *app, bool on, uint32_t brightness)
{
        struct screen_event *event = sample_add_event(sample);

        *event = (struct screen_event){ .boottime_ns = boottime_ns, .foreground_known = app != NULL,
                                        .screen_known = true, .screen_on = on, .brightness = brightness };
        if (app)
                strcpy(event->app, app);
}

static int poll(struct fixture *f)
{
        return interval_make(f->maker, &f->sample, &f->interval);
}

static const struct interval_row *row(const struct fixture *f, const char *app, enum app_state state)
{
        static const struct interval_row none = { .pid = -1 };

        for (size_t i = 0; i < f->interval.n_rows; i++)
                if (strcmp(f->interval.rows[i].app, app) == 0 && f->interval.rows[i].state == state)
                        return &f->interval.rows[i];
        return &none;
}

static uint64_t active(const struct fixture *f, const char *app, enum app_state state)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < f->interval.n_alive; i++)
                if (strcmp(f->interval.alive[i].app, app) == 0 && f->interval.alive[i].state == state)
                        sum += f->interval.alive[i].active_ns;
        return sum;
}

static uint64_t busy(const struct fixture *f, const char *app)
{
        return usage_busy_ns(&row(f, app, STATE_BACKGROUND)->usage) +
               usage_busy_ns(&row(f, app, STATE_FOREGROUND)->usage);
}

static void first_sample_has_no_interval(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 5 * S);
        check_int(poll(&f), -ENODATA);
        process(after(&f, 30), 10, 1, "a", 7 * S);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 30 * S);
        check_int(f.interval.end_realtime_ns - f.interval.start_realtime_ns, 30 * S);
        check_int(busy(&f, "a"), 2 * S);
        check_int(f.interval.rows[0].pid, 0);
        check_int(f.interval.rows[0].usage.time_ns, 30 * S);
        check_int(active(&f, "a", STATE_BACKGROUND), 30 * S);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.cpu[0].khz, KHZ_UNKNOWN);
        teardown(&f);
}

/* A build's processes are there for one poll, and so is the memory for them. */
static void a_burst_leaves_no_room_behind(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 5 * S);
        check_int(poll(&f), -ENODATA);
        for (int round = 0; round < 2; round++) {
                after(&f, 30);
                for (pid_t pid = 10; pid < 3000; pid++)
                        process(&f.sample, pid, 1, "a", (uint64_t)(6 + round) * S);
                check_int(poll(&f), 0);
        }
        check(f.sample.capacity.processes > 2000 && f.interval.capacity.rows > 2000);
        for (int round = 0; round < 4; round++) { /* two samples take turns */
                process(after(&f, 30), 10, 1, "a", (uint64_t)(8 + round) * S);
                check_int(poll(&f), 0);
                check_int(busy(&f, "a"), S);
        }
        check(f.sample.capacity.processes < 100 && f.interval.capacity.rows < 100);
        sample_reset(&f.sample);
        process(after(&f, 30), 10, 1, "a", 12 * S);
        check_int(poll(&f), 0);
        check(f.sample.capacity.processes < 100);
        teardown(&f);
}

static void reused_pid_is_another_process(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "old", 50 * S);
        poll(&f);
        process(after(&f, 30), 10, 2, "new", 3 * S);
        check_int(poll(&f), 0);
        check_int(busy(&f, "new"), 3 * S);
        check_int(row(&f, "old", STATE_BACKGROUND)->pid, -1);
        teardown(&f);
}

static void new_process_counts_from_its_birth_but_a_hidden_one_does_not(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        core(after(&f, 0), 0, 0, 0);
        poll(&f);
        sample = after(&f, 30);
        core(sample, 0, 0, 0);
        process(sample, 10, 9, "born", 4 * S);
        process(sample, 11, 2, "hidden", 4000 * S)->read_bytes = 77;
        check_int(poll(&f), 0);
        check_int(busy(&f, "born"), 4 * S);
        check_int(row(&f, "hidden", STATE_BACKGROUND)->pid, -1);
        sample = after(&f, 30);
        core(sample, 0, 0, 0);
        process(sample, 11, 2, "hidden", 4001 * S)->read_bytes = 80;
        check_int(poll(&f), 0);
        check_int(busy(&f, "hidden"), 1 * S);
        check_int(row(&f, "hidden", STATE_BACKGROUND)->usage.read_bytes, 3);
        teardown(&f);
}

static void backward_is_a_gap(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 50 * S)->read_bytes = 1000;
        poll(&f);
        process(after(&f, 30), 10, 1, "a", 20 * S)->read_bytes = 900;
        check_int(poll(&f), 0);
        check_int(busy(&f, "a"), 0);
        check_int(f.interval.n_rows, 1);
        process(after(&f, 30), 10, 1, "a", 21 * S)->read_bytes = 950;
        check_int(poll(&f), 0);
        check_int(busy(&f, "a"), 1 * S);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.read_bytes, 50);
        teardown(&f);
}

static void cancelled_writes_do_not_count_twice(void)
{
        struct fixture f;
        const uint64_t total[] = { 100, 60, 90, 130 }, want[] = { 0, 0, 0, 30 };

        setup(&f);
        for (int i = 0; i < 4; i++) {
                process(after(&f, 30), 10, 1, "a", 0)->write_bytes = total[i];
                poll(&f);
                if (i > 0)
                        check_int(row(&f, "a", STATE_BACKGROUND)->usage.write_bytes, want[i]);
        }
        teardown(&f);
}

static void born_by(struct sample *sample, pid_t pid, pid_t parent, const char *app, uint64_t write_bytes)
{
        struct process *child = process(sample, pid, (uint64_t)pid, app, 0);

        child->parent = parent;
        child->write_bytes = write_bytes;
}

/* The kernel adds a reaped child's bytes to its parent's total: they are not the parent's a second time. */
static void reaped_children_do_not_count_twice(void)
{
        struct fixture f;

        setup(&f);
        born_by(after(&f, 30), 10, 1, "shell", 1000);
        born_by(&f.sample, 20, 10, "make", 500);
        born_by(&f.sample, 30, 20, "cc", 70000);
        poll(&f);
        born_by(after(&f, 30), 10, 1, "shell", 1000 + 5 + 500 + 70000 + 300); /* 5 its own, 300 of make's end */
        check_int(poll(&f), 0);
        check_int(row(&f, "shell", STATE_BACKGROUND)->usage.write_bytes, 305);

        /* A child that is not waited for leaves nothing, and takes nothing from its parent's own. */
        born_by(after(&f, 30), 10, 1, "shell", 71805);
        born_by(&f.sample, 40, 10, "orphan", 9000);
        poll(&f);
        born_by(after(&f, 30), 10, 1, "shell", 71805 + 44);
        check_int(poll(&f), 0);
        check_int(row(&f, "shell", STATE_BACKGROUND)->usage.write_bytes, 44);

        /* A source that shows the end says all of it. */
        born_by(after(&f, 30), 10, 1, "shell", 71849);
        born_by(&f.sample, 50, 10, "brief", 10);
        poll(&f);
        born_by(after(&f, 30), 10, 1, "shell", 71849 + 77 + 1);
        born_by(&f.sample, 50, 10, "brief", 77);
        f.sample.processes[1].ended_ns = f.sample.boottime_ns - S;
        check_int(poll(&f), 0);
        check_int(row(&f, "shell", STATE_BACKGROUND)->usage.write_bytes, 1);
        check_int(row(&f, "brief", STATE_BACKGROUND)->usage.write_bytes, 67);
        born_by(after(&f, 30), 10, 1, "shell", 71927 + 2);
        check_int(poll(&f), 0);
        check_int(row(&f, "shell", STATE_BACKGROUND)->usage.write_bytes, 2);
        teardown(&f);
}

static void machine_total_backward_is_a_gap(void)
{
        struct fixture f;
        const uint64_t total[] = { 500, 700, 100, 150 }, want[] = { 0, 200, 0, 50 };

        setup(&f);
        for (int i = 0; i < 4; i++) {
                after(&f, 30)->have |= SAMPLE_DISK;
                f.sample.read_bytes = total[i];
                poll(&f);
                if (i > 0)
                        check_int(f.interval.rows[0].usage.read_bytes, want[i]);
        }
        teardown(&f);
}

static void reboot_starts_anew(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 50 * S);
        poll(&f);
        process(after(&f, 30), 10, 1, "a", 60 * S);
        strcpy(f.sample.boot_id, "another boot");
        check_int(poll(&f), -ENODATA);
        check_int(f.interval.n_rows, 0);
        process(after(&f, 30), 10, 1, "a", 61 * S);
        strcpy(f.sample.boot_id, "another boot");
        check_int(poll(&f), 0);
        check_int(busy(&f, "a"), 1 * S);
        teardown(&f);
}

static void clock_step_tears_no_hole(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        f.realtime_ns -= 3600 * (int64_t)S;
        after(&f, 30);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 30 * S);
        check_int(f.interval.end_realtime_ns - f.interval.start_realtime_ns, 30 * S);
        teardown(&f);
}

static void suspend_is_boottime_without_monotonic(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), "a", true, 10);
        poll(&f);
        f.boottime_ns += 100 * S; /* asleep */
        f.realtime_ns += 100 * (int64_t)S;
        screen(after(&f, 20), "a", true, 10);
        f.sample.monotonic_ns += 3; /* clocks are not read at the same moment */
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 120 * S);
        check_near((double)f.interval.suspend_ns, 100e9, 10);
        check_near((double)f.interval.rows[0].usage.time_ns, 20e9, 10);
        check_int(f.interval.rows[0].usage.suspend_ns + f.interval.rows[0].usage.time_ns, 120 * S);
        check_near((double)usage_screen_ns(&row(&f, "a", STATE_FOREGROUND)->usage), 20e9, 10);
        teardown(&f);
}

static void jitter_is_no_suspend(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        after(&f, 30)->boottime_ns += 50000;
        check_int(poll(&f), 0);
        check_int(f.interval.suspend_ns, 0);
        check_int(f.interval.split_by, SPLIT_UNKNOWN);
        teardown(&f);
}

/* One policy, 10 s at 1 GHz and 20 s at 2 GHz; core 0 busy 15 s of 30, core 1 idle. */
static void cpu_time_is_shared_by_time_in_state(void)
{
        struct fixture f;
        struct sample *sample;
        const struct usage *a, *b;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                uint64_t n = (uint64_t)i;

                sample = after(&f, 30);
                opp(sample, 0, 1000000, 7 * S + n * 10 * S);
                opp(sample, 0, 2000000, 9 * S + n * 20 * S);
                core(sample, 0, 0, 100 * S + n * 15 * S);
                core(sample, 1, 0, 50 * S);
                process(sample, 10, 1, "a", n * 9 * S);
                process(sample, 11, 1, "b", n * 3 * S);
                poll(&f);
        }
        a = &row(&f, "a", STATE_BACKGROUND)->usage;
        b = &f.interval.rows[0].usage;
        check_int(f.interval.split_by, SPLIT_SHARED);
        check_int(a->n_cpu, 2);
        check_int(a->cpu[0].busy_ns, 3 * S);
        check_int(a->cpu[1].busy_ns, 6 * S);
        check_int(a->cpu[0].any_ns, 3 * S); /* any = busy: the other core idles, so 10 s * 0.5 * 9 / 15 */
        check_int(usage_busy_ns(b), 3 * S); /* nobody's: 15 - 9 - 3 */
        check_int(b->cpu[0].any_ns + b->cpu[1].any_ns, 3 * S);
        teardown(&f);
}

static void policies_share_by_their_busy_time(void)
{
        struct fixture f;
        struct sample *sample;
        const struct usage *a;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                uint64_t n = (uint64_t)i;

                sample = after(&f, 30);
                opp(sample, 0, 1000000, n * 30 * S);
                opp(sample, 4, 2000000, n * 30 * S);
                core(sample, 0, 0, n * 6 * S);
                core(sample, 4, 4, n * 18 * S);
                process(sample, 10, 1, "a", n * 8 * S);
                poll(&f);
        }
        a = &row(&f, "a", STATE_BACKGROUND)->usage;
        check_int(a->cpu[0].busy_ns, 2 * S);
        check_int(a->cpu[1].busy_ns, 6 * S);
        check_int(a->cpu[1].policy, 4);
        teardown(&f);
}

static void any_is_one_minus_the_product(void)
{
        struct fixture f;
        struct sample *sample;
        uint64_t any = 0;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                sample = after(&f, 10);
                opp(sample, 0, 1000000, (uint64_t)i * 10 * S);
                core(sample, 0, 0, (uint64_t)i * 5 * S);
                core(sample, 1, 0, (uint64_t)i * 5 * S);
                process(sample, 10, 1, "a", (uint64_t)i * 8 * S);
                poll(&f);
        }
        for (size_t i = 0; i < f.interval.n_rows; i++)
                any += f.interval.rows[i].usage.n_cpu ? f.interval.rows[i].usage.cpu[0].any_ns : 0;
        check_int(f.interval.split_by, SPLIT_NONE);
        check_near((double)any, 7.5e9, 3); /* 10 s * (1 - 0.5 * 0.5) */
        check_near((double)row(&f, "a", STATE_BACKGROUND)->usage.cpu[0].any_ns, 6e9, 3);
        teardown(&f);
}

/*
 * Three CPUs with a clock each: two are busy half of 10 s and one not at all, so the package is awake for 7.5 s, and
 * each has half of that. A fourth is no part of it. What the kernel counted by frequency is shared the same way.
 */
static void a_package_is_awake_once(bool counted)
{
        static const uint64_t busy[] = { 5 * S, 5 * S, 0, 4 * S };
        static const uint64_t any[] = { 3750000000, 3750000000, 0, 4 * S };
        uint64_t total = 0, seen = 0;
        struct fixture f;

        setup(&f);
        for (int poll_number = 0; poll_number < 2; poll_number++) {
                struct sample *sample = after(&f, 10);

                for (uint32_t cpu = 0; cpu < 4; cpu++) {
                        opp(sample, cpu, 1000, 10 * S * (uint64_t)poll_number);
                        sample->opps[cpu].busy_ns = counted ? busy[cpu] * (uint64_t)poll_number : 0;
                        sample->opps[cpu].any_ns = sample->opps[cpu].busy_ns;
                        core(sample, cpu, cpu, busy[cpu] * (uint64_t)poll_number);
                        sample->cores[cpu].package = cpu < 3 ? 1 : 0;
                }
                sample->opps_counted = counted;
                process(sample, 7, 70, "app", 14 * S * (uint64_t)poll_number);
                check_int(poll(&f), poll_number ? 0 : -ENODATA);
        }
        for (size_t i = 0; i < f.interval.n_rows; i++)
                for (size_t k = 0; k < f.interval.rows[i].usage.n_cpu; k++) {
                        const struct cpu_time *cpu = &f.interval.rows[i].usage.cpu[k];

                        check_near((double)cpu->any_ns, (double)any[cpu->policy], 1);
                        total += cpu->any_ns;
                        seen++;
                }
        check_int(seen, 3);
        check_near((double)total, 11.5e9, 3);
        teardown(&f);
}

static void counted_by_the_kernel_is_taken_as_it_is(void)
{
        struct fixture f;
        struct sample *sample;
        const struct usage *a;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                struct process *p;
                uint64_t n = (uint64_t)i;

                sample = after(&f, 10);
                sample->have |= SAMPLE_OPPS;
                sample->opps_counted = true;
                *sample_add_opp(sample) = (struct opp){ 0, 1000000, n * 4 * S, n * 3 * S, n * 2 * S };
                *sample_add_opp(sample) = (struct opp){ 0, 2000000, n * 6 * S, n * 5 * S, n * 4 * S };
                p = sample_add_process(sample, true);
                *p = (struct process){ .pid = 10, .have = PROCESS_CPU | PROCESS_CPU_OPPS, .app = "a",
                                       .cpu_ns = n * 6 * S, .cpu_opp_ns = p->cpu_opp_ns };
                p->cpu_opp_ns[0] = n * 1 * S;
                p->cpu_opp_ns[1] = n * 5 * S;
                poll(&f);
        }
        check_int(f.interval.split_by, SPLIT_COUNTED);
        a = &row(&f, "a", STATE_BACKGROUND)->usage;
        check_int(a->cpu[0].busy_ns, 1 * S);
        check_int(a->cpu[1].busy_ns, 5 * S);
        check_int(a->cpu[1].any_ns, 4 * S);
        check_int(usage_busy_ns(&f.interval.rows[0].usage), 2 * S);
        teardown(&f);
}

/* Ticks of a process arrive before those of its CPU: nobody's is never negative, and nothing counts twice. */
static void early_ticks_are_a_debt(void)
{
        struct fixture f;
        struct sample *sample;
        const uint64_t machine[] = { 0, 1, 5, 9 }, owned[] = { 0, 3, 4, 6 }, want[] = { 0, 0, 1, 2 };

        setup(&f);
        for (int i = 0; i < 4; i++) {
                sample = after(&f, 10);
                core(sample, 0, 0, machine[i] * S);
                process(sample, 10, 1, "a", owned[i] * S);
                poll(&f);
                if (i > 0)
                        check_int(usage_busy_ns(&f.interval.rows[0].usage), want[i] * S);
        }
        teardown(&f);
}

static void screen_time_is_split_at_its_events(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 0);
        screen(sample, "a", true, 100);
        process(sample, 10, 1, "a", 0);
        process(sample, 11, 1, "b", 0);
        poll(&f);
        sample = after(&f, 30);
        event(sample, f.boottime_ns - 20 * S, "b", true, 100);
        event(sample, f.boottime_ns - 15 * S, "b", true, 200);
        event(sample, f.boottime_ns - 12 * S, "", true, 200);
        event(sample, f.boottime_ns - 10 * S, "b", false, 0);
        screen(sample, "b", false, 0);
        process(sample, 10, 1, "a", 3 * S);
        process(sample, 11, 1, "b", 3 * S);
        check_int(poll(&f), 0);
        check_int(row(&f, "a", STATE_FOREGROUND)->usage.n_screen, 1);
        check_int(row(&f, "a", STATE_FOREGROUND)->usage.screen[0].on_ns, 10 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen[0].on_ns, 5 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen[1].on_ns, 3 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen[1].brightness, 200);
        check_int(usage_screen_ns(&f.interval.rows[0].usage), 2 * S);
        check_int(usage_busy_ns(&row(&f, "a", STATE_FOREGROUND)->usage), 1 * S); /* a third of the time */
        check_int(usage_busy_ns(&row(&f, "a", STATE_BACKGROUND)->usage), 2 * S);
        check_int(active(&f, "a", STATE_FOREGROUND), 10 * S);
        check_int(active(&f, "a", STATE_BACKGROUND), 20 * S);
        check_int(active(&f, "b", STATE_FOREGROUND), 8 * S);
        teardown(&f);
}

static void app_without_a_process_still_has_the_screen(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), "ghost", true, 1);
        poll(&f);
        screen(after(&f, 30), "ghost", true, 1);
        check_int(poll(&f), 0);
        check_int(usage_screen_ns(&row(&f, "ghost", STATE_FOREGROUND)->usage), 30 * S);
        check_int(active(&f, "ghost", STATE_FOREGROUND), 30 * S);
        check_int(active(&f, "ghost", STATE_BACKGROUND), 0);
        teardown(&f);
}

/* A source that knows when processes begin and end: all that a player used while it lived is the foreground's. */
static void a_short_life_is_not_stretched(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 30);
        screen(sample, "", false, 0);
        check_int(poll(&f), -ENODATA);
        sample = after(&f, 30);
        process(sample, 7, 1, "player", 6 * S)->began_ns = f.boottime_ns - 25 * S;
        sample->processes[0].ended_ns = f.boottime_ns - 15 * S;
        process(sample, 8, 1, "music", 2 * S)->began_ns = f.boottime_ns - 20 * S;
        process(sample, 9, 1, "newborn", 0)->began_ns = f.boottime_ns;
        screen(sample, "", false, 0);
        event(sample, f.boottime_ns - 25 * S, "player", true, 100);
        event(sample, f.boottime_ns - 15 * S, "", false, 100);
        check_int(poll(&f), 0);
        check_int(usage_busy_ns(&row(&f, "player", STATE_FOREGROUND)->usage), 6 * S);
        check_int(row(&f, "player", STATE_BACKGROUND)->pid, -1);
        check_int(active(&f, "player", STATE_FOREGROUND), 10 * S);
        check_int(active(&f, "player", STATE_BACKGROUND), 0);
        check_int(active(&f, "music", STATE_BACKGROUND), 20 * S);
        check_int(f.interval.n_alive, 2); /* who begins at the end of an interval has not lived in it */
        teardown(&f);
}

static void unknown_foreground_is_not_nobody(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), NULL, true, 1);
        process(&f.sample, 10, 1, "a", 0);
        poll(&f);
        screen(after(&f, 30), NULL, true, 1);
        process(&f.sample, 10, 1, "a", S);
        check_int(poll(&f), 0);
        check_int(usage_screen_ns(&f.interval.rows[0].usage), 30 * S);
        check_int(f.interval.rows[0].usage.have & USAGE_DISPLAY, USAGE_DISPLAY);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_DISPLAY, 0);
        teardown(&f);
}

static void small_change_is_carried_not_lost(void)
{
        struct fixture f;
        uint64_t total = 0, want = 0;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 0);
        poll(&f);
        for (int i = 1; i <= 25; i++) {
                want = (uint64_t)i * TUNING_ROW_CPU_NS / 10;
                process(after(&f, 30), 10, 1, "a", want);
                poll(&f);
                total += busy(&f, "a");
                check_int(f.interval.n_rows, i % 10 == 0 ? 2 : 1);
        }
        after(&f, 30); /* it is gone, with half a row unpaid */
        poll(&f);
        total += busy(&f, "a");
        check_int(total, want);
        teardown(&f);
}

static void what_the_machine_did_not_do_no_process_did(void)
{
        struct fixture f;

        setup(&f);
        for (int i = 0; i < 3; i++) {
                process(after(&f, 30), 10, 1, "a", (uint64_t)i * S);
                f.sample.have |= SAMPLE_WIFI;
                f.sample.wifi_on = i > 0;
                f.sample.wifi_rx_bytes = i == 2 ? 10 : 0;
                poll(&f);
                if (i > 0)
                        check_int(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_WIFI, i == 1 ? USAGE_WIFI : 0);
                if (i > 0)
                        check_int(f.interval.rows[0].usage.wifi_on_ns, i == 1 ? 15 * S : 30 * S);
        }
        check_int(f.interval.rows[0].usage.wifi_rx_bytes, 10);
        teardown(&f);
}

struct discharge_case {
        const char *what;
        struct battery a, b;
        uint32_t have;
        double uj, percent;
};

#define LEVELS (BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE)
#define D .status = BATTERY_DISCHARGING

static const struct discharge_case discharge_cases[] = {
        { "charge times mean voltage",
          { LEVELS, D, 0, 1000000, 2000000, 0, 0, 4000000 }, { LEVELS, D, 0, 990000, 2000000, 0, 0, 3800000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 10000 * 3.9 * 3600, 0.5 },
        { "energy",
          { BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, D, 0, 0, 0, 5000000, 10000000 },
          { BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, D, 0, 0, 0, 4900000, 10000000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 100000 * 3600.0, 1 },
        { "percent steps of a known charge",
          { BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE, D, 50, 0, 2000000, 0, 0, 4000000 },
          { BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE, D, 48, 0, 2000000, 0, 0, 4000000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 40000 * 4 * 3600.0, 2 },
        { "percent alone has no joules",
          { BATTERY_CAPACITY, D, 50 }, { BATTERY_CAPACITY, D, 49 }, INTERVAL_DISCHARGE_PERCENT, 0, 1 },
        { "a level that did not move",
          { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 }, { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 },
          INTERVAL_DISCHARGE, 0, 0 },
        { "plugged in at the end",
          { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 },
          { BATTERY_ENERGY_NOW, .status = BATTERY_CHARGING, 0, 0, 0, 4900000 }, 0, 0, 0 },
        { "no level at all", { 0, D }, { 0, D }, 0, 0, 0 },
};

static void discharge_by_each_gauge(void)
{
        for (size_t i = 0; i < sizeof(discharge_cases) / sizeof(discharge_cases[0]); i++) {
                const struct discharge_case *c = &discharge_cases[i];
                int failures = check_failures;
                struct fixture f;

                setup(&f);
                after(&f, 0)->have |= SAMPLE_BATTERY;
                f.sample.battery = c->a;
                poll(&f);
                after(&f, 30)->have |= SAMPLE_BATTERY;
                f.sample.battery = c->b;
                check_int(poll(&f), 0);
                check_int(f.interval.battery_have, c->have);
                check_near((double)f.interval.discharge_uj, c->uj, 1);
                check_near(f.interval.discharge_percent, c->percent, 1e-9);
                if (check_failures > failures)
                        fprintf(stderr, "in: %s\n", c->what);
                teardown(&f);
        }
}

static void flickering_gauge_counts_once(void)
{
        struct fixture f;
        const uint64_t level[] = { 1000000, 999000, 999500, 999000, 998500 };
        uint64_t sum = 0;

        setup(&f);
        for (int i = 0; i < 5; i++) {
                after(&f, 30)->have |= SAMPLE_BATTERY;
                f.sample.battery = (struct battery){ .have = BATTERY_ENERGY_NOW, D, .energy_now_uwh = level[i] };
                poll(&f);
                sum += f.interval.discharge_uj;
        }
        check_int(sum, 1500 * 3600);
        teardown(&f);
}

static uint64_t draw(uint64_t below)
{
        static uint64_t state = 88172645463325252u;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

/* 300 intervals of 30 processes on two policies: what they and the machine counted is in the rows, and nothing else. */
static void nothing_is_lost_and_nothing_counts_twice(void)
{
        uint64_t time_ns[4] = { 0 }, busy_ns[3] = { 0 }, cpu_ns[30] = { 0 }, written[30] = { 0 }, disk = 0;
        uint64_t machine_ns = 0, rows_ns = 0, own_ns = 0, rows_own_ns = 0, rows_written = 0, own_written = 0;
        struct fixture f;

        setup(&f);
        for (int round = 0; round <= 300; round++) {
                struct sample *sample = after(&f, 10);
                bool last = round == 300;

                sample->have |= SAMPLE_DISK;
                for (uint32_t i = 0; i < 4; i++)
                        opp(sample, i / 2 * 4, 1000000 + i, time_ns[i] += draw(5 * S));
                for (int i = 0; i < 30; i++) {
                        uint64_t ran_ns = last ? 0 : draw(3) ? 0 : draw(i % 2 ? 300000 : S / 10), bytes = last ? 0 : draw(3000);
                        char app[8];

                        snprintf(app, sizeof(app), "a%d", i % 7);
                        cpu_ns[i] += ran_ns;
                        written[i] += bytes;
                        own_ns += round ? ran_ns : 0;
                        own_written += round ? bytes : 0;
                        busy_ns[i % 3] += ran_ns + (i < 3 ? draw(1000) : 0);
                        disk += bytes;
                        process(sample, 10 + i, 1, app, cpu_ns[i])->write_bytes = written[i];
                }
                sample->write_bytes = disk;
                for (uint32_t i = 0; i < 3; i++)
                        core(sample, i, i / 2 * 4, busy_ns[i]);
                machine_ns = round ? machine_ns : busy_ns[0] + busy_ns[1] + busy_ns[2];
                screen(sample, draw(2) ? "a3" : "", true, 1);
                event(sample, f.boottime_ns - draw(10 * S), "a1", true, 2);
                if (poll(&f) < 0)
                        continue;
                for (size_t i = 0; i < f.interval.n_rows; i++) {
                        rows_ns += usage_busy_ns(&f.interval.rows[i].usage);
                        rows_own_ns += i ? usage_busy_ns(&f.interval.rows[i].usage) : 0;
                        rows_written += i ? f.interval.rows[i].usage.write_bytes : 0;
                }
                check_int(f.interval.rows[0].usage.write_bytes, 0);
        }
        after(&f, 10); /* all are gone, and what was carried is settled */
        check_int(poll(&f), 0);
        for (size_t i = 1; i < f.interval.n_rows; i++)
                rows_own_ns += usage_busy_ns(&f.interval.rows[i].usage);
        check_int(rows_own_ns, own_ns);
        check_int(rows_written, own_written);
        /* Carried time was taken out of nobody's when it was counted; the machine's total is its and theirs. */
        for (size_t i = 1; i < f.interval.n_rows; i++)
                rows_ns += usage_busy_ns(&f.interval.rows[i].usage);
        check_int(rows_ns, busy_ns[0] + busy_ns[1] + busy_ns[2] - machine_ns);
        teardown(&f);
}

static void screen_time_sums_to_the_time_it_was_on(void)
{
        static const char *const apps[] = { "a", "b", "", NULL };
        struct fixture f;
        bool on = true;

        setup(&f);
        screen(after(&f, 0), "a", true, 3);
        poll(&f);
        for (int round = 0; round < 300; round++) {
                uint64_t on_ns = 0, rows_ns = 0, at;
                size_t n = draw(6);

                after(&f, 30);
                at = f.boottime_ns - 30 * S;
                for (size_t i = 0; i < n; i++) {
                        uint64_t until = at + draw((f.boottime_ns - at) / 2 + 1);

                        on_ns += on ? until - at : 0;
                        on = draw(2);
                        at = until;
                        event(&f.sample, at, apps[draw(4)], on, (uint32_t)draw(3));
                }
                on_ns += on ? f.boottime_ns - at : 0;
                screen(&f.sample, "a", on, 3);
                check_int(poll(&f), 0);
                for (size_t i = 0; i < f.interval.n_rows; i++)
                        rows_ns += usage_screen_ns(&f.interval.rows[i].usage);
                check_int(rows_ns, on_ns);
        }
        teardown(&f);
}

int main(void)
{
        first_sample_has_no_interval();
        a_burst_leaves_no_room_behind();
        reused_pid_is_another_process();
        new_process_counts_from_its_birth_but_a_hidden_one_does_not();
        backward_is_a_gap();
        cancelled_writes_do_not_count_twice();
        reaped_children_do_not_count_twice();
        machine_total_backward_is_a_gap();
        reboot_starts_anew();
        clock_step_tears_no_hole();
        suspend_is_boottime_without_monotonic();
        jitter_is_no_suspend();
        cpu_time_is_shared_by_time_in_state();
        policies_share_by_their_busy_time();
        any_is_one_minus_the_product();
        a_package_is_awake_once(false);
        a_package_is_awake_once(true);
        counted_by_the_kernel_is_taken_as_it_is();
        early_ticks_are_a_debt();
        screen_time_is_split_at_its_events();
        app_without_a_process_still_has_the_screen();
        a_short_life_is_not_stretched();
        unknown_foreground_is_not_nobody();
        small_change_is_carried_not_lost();
        what_the_machine_did_not_do_no_process_did();
        discharge_by_each_gauge();
        flickering_gauge_counts_once();
        nothing_is_lost_and_nothing_counts_twice();
        screen_time_sums_to_the_time_it_was_on();
        return check_result();
}
