/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pitfalls of a process's totals: it starts, it ends, its pid is reused, its bytes are also reported by its parent. */

#include "interval-fixture.h"
#include "util/util.h"

static void reused_pid_is_another_process(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "old", 50 * S);
        poll(&f);
        process(after(&f, 30), 10, 2, "new", 3 * S);
        check_int(poll(&f), 0);
        check_int(busy(&f, "new"), 3 * S);
        check(absent(&f, "old", STATE_BACKGROUND));
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
        check(idle(&f, "hidden", STATE_BACKGROUND));
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
        check(idle(&f, "a", STATE_BACKGROUND));
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

        /* A source that reports the end has the complete totals. */
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

/* An amount that was not counted before has no growth yet, however large it is now. */
static void what_was_not_counted_before_is_not_known(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 1 * S)->have = USAGE_CPU;
        poll(&f);
        process(after(&f, 30), 10, 1, "a", 2 * S)->read_bytes = 5000;
        check_int(poll(&f), 0);
        check(!(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_DISK));
        check(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_CPU);
        process(after(&f, 30), 10, 1, "a", 3 * S)->read_bytes = 5070;
        check_int(poll(&f), 0);
        check(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_DISK);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.read_bytes, 70);
        teardown(&f);
}

static void processes_of_an_app_are_one_owner(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 0);
        for (pid_t pid = 10; pid < 13; pid++)
                process(sample, pid, 1, "a", 0)->uid = pid == 12 ? 1001 : 1000;
        poll(&f);
        sample = after(&f, 30);
        for (pid_t pid = 10; pid < 13; pid++) {
                process(sample, pid, 1, "a", (uint64_t)pid * 1000)->uid = pid == 12 ? 1001 : 1000;
                sample->processes[sample->n_processes - 1].write_bytes = (uint64_t)pid;
        }
        check_int(poll(&f), 0);
        check_int(f.interval.n_rows, 3); /* the base, and the app of two users */
        check_int(f.interval.rows[1].uid, 1000);
        check_int(usage_busy_ns(&f.interval.rows[1].usage), 21000);
        check_int(f.interval.rows[1].usage.write_bytes, 21);
        check_int(f.interval.rows[2].uid, 1001);
        check_int(usage_busy_ns(&f.interval.rows[2].usage), 12000);
        teardown(&f);
}

/* It could not be read at one poll, as where there are no descriptors left, and so is new; its life is not. */
static void one_that_was_there_before_counts_from_here(void)
{
        static const uint64_t ran_ms[] = { 5000, 0, 5500, 6000 }, want_ms[] = { 0, 0, 0, 500 };
        struct fixture f;

        setup(&f);
        for (size_t i = 0; i < ARRAY_SIZE(ran_ms); i++) {
                struct sample *sample = after(&f, 10);

                if (ran_ms[i] > 0)
                        process(sample, 10, 1, "a", ran_ms[i] * NS_PER_MS)->began_ns = 500 * S;
                poll(&f);
                check_int(busy(&f, "a"), want_ms[i] * NS_PER_MS);
        }
        process(after(&f, 10), 11, 1, "b", 3 * S)->began_ns = 1041 * S;
        check_int(poll(&f), 0);
        check_int(busy(&f, "b"), 3 * S);
        teardown(&f);
}

static void count(struct sample *sample, pid_t pid, uint64_t start_time, uint64_t cycles, bool misses)
{
        *sample_add_counted(sample) = (struct process_counted){ .process = { pid, start_time }, .policy = 4,
                                                                .misses = misses,
                                                                .amount = { cycles, 2 * cycles, cycles / 100 } };
}

static uint64_t counted(const struct usage *usage, uint32_t event)
{
        for (size_t i = 0; i < usage->counted.n; i++)
                if (usage->counted.list[i].policy == 4 && usage->counted.list[i].key == event)
                        return usage->counted.list[i].amount;
        return UINT64_MAX;
}

/* Events go to the app of their process, by its time in each state; those of an unknown one to the base. */
static void counted_events_go_to_owners(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 0);
        screen(sample, "a", true, 100);
        process(sample, 10, 1, "a", 1 * S);
        process(sample, 11, 1, "a", 1 * S);
        process(sample, 12, 1, "b", 1 * S);
        poll(&f);
        sample = after(&f, 30);
        screen(sample, "a", true, 100);
        process(sample, 10, 1, "a", 5 * S);
        process(sample, 11, 1, "a", 5 * S);
        process(sample, 12, 1, "b", 5 * S);
        count(sample, 10, 1, 1000, true);
        count(sample, 11, 1, 3000, true);
        count(sample, 12, 1, 500, false);
        count(sample, 12, 2, 70, true); /* another process had that number */
        check_int(poll(&f), 0);
        check_int(counted(&row(&f, "a", STATE_FOREGROUND)->usage, COUNTED_CYCLES), 4000);
        check_int(counted(&row(&f, "a", STATE_FOREGROUND)->usage, COUNTED_INSTRUCTIONS), 8000);
        check_int(counted(&row(&f, "a", STATE_FOREGROUND)->usage, COUNTED_MISSES), 40);
        check_int(counted(&row(&f, "b", STATE_BACKGROUND)->usage, COUNTED_CYCLES), 500);
        check(counted(&row(&f, "b", STATE_BACKGROUND)->usage, COUNTED_MISSES) == UINT64_MAX);
        check_int(counted(&f.interval.rows[0].usage, COUNTED_CYCLES), 70);
        teardown(&f);
}

int main(void)
{
        counted_events_go_to_owners();
        reused_pid_is_another_process();
        new_process_counts_from_its_birth_but_a_hidden_one_does_not();
        backward_is_a_gap();
        cancelled_writes_do_not_count_twice();
        reaped_children_do_not_count_twice();
        what_was_not_counted_before_is_not_known();
        processes_of_an_app_are_one_owner();
        one_that_was_there_before_counts_from_here();
        return check_result();
}
