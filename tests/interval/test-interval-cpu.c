/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each app's part of a CPU's time and its frequencies, and the time in which a core or a package was awake. */

#include "interval-fixture.h"

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
        check_int(a->cpu.n, 2);
        check_int(a->cpu.list[0].busy_ns, 3 * S);
        check_int(a->cpu.list[1].busy_ns, 6 * S);
        check_int(a->cpu.list[0].any_ns, 3 * S); /* any = busy: the other core idles, so 10 s * 0.5 * 9 / 15 */
        check_int(usage_busy_ns(b), 3 * S); /* no app: 15 - 9 - 3 */
        check_int(b->cpu.list[0].any_ns + b->cpu.list[1].any_ns, 3 * S);
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
        check_int(a->cpu.list[0].busy_ns, 2 * S);
        check_int(a->cpu.list[1].busy_ns, 6 * S);
        check_int(a->cpu.list[1].policy, 4);
        teardown(&f);
}

/* Two policies whose drivers report no frequency: time is shared among them, without a frequency. */
static void frequencies_that_nobody_tells_split_nothing(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        for (int i = 0; i < 2; i++) {
                uint64_t n = (uint64_t)i;

                sample = after(&f, 30);
                opp(sample, 0, KHZ_UNKNOWN, n * 30 * S);
                opp(sample, 4, KHZ_UNKNOWN, n * 30 * S);
                core(sample, 0, 0, n * 6 * S);
                core(sample, 4, 4, n * 18 * S);
                process(sample, 10, 1, "a", n * 8 * S);
                poll(&f);
        }
        check_int(f.interval.split_by, SPLIT_UNKNOWN);
        check_int(f.interval.shape.n, 2);
        check(row(&f, "a", STATE_BACKGROUND)->shaped);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.cpu.list[1].busy_ns, 6 * S);
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
                any += f.interval.rows[i].usage.cpu.n ? f.interval.rows[i].usage.cpu.list[0].any_ns : 0;
        check_int(f.interval.split_by, SPLIT_NONE);
        check(!row(&f, "a", STATE_BACKGROUND)->shaped); /* there is no shape to have */
        check_near((double)any, 7.5e9, 3); /* 10 s * (1 - 0.5 * 0.5) */
        check_near((double)row(&f, "a", STATE_BACKGROUND)->usage.cpu.list[0].any_ns, 6e9, 3);
        teardown(&f);
}

/*
 * Three CPUs with a clock each: two are busy half of 10 s and one not at all, so the package is awake for 7.5
 * s, and each has half of that. A fourth is no part of it. What the kernel counted by frequency is shared the
 * same way.
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
                for (size_t k = 0; k < f.interval.rows[i].usage.cpu.n; k++) {
                        const struct point *cpu = &f.interval.rows[i].usage.cpu.list[k];

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
                *p = (struct process){ .pid = 10, .have = USAGE_CPU | PROCESS_CPU_OPPS, .app = "a",
                                       .cpu_ns = n * 6 * S, .cpu_opp_ns = p->cpu_opp_ns };
                p->cpu_opp_ns[0] = n * 1 * S;
                p->cpu_opp_ns[1] = n * 5 * S;
                poll(&f);
        }
        check_int(f.interval.split_by, SPLIT_COUNTED);
        a = &row(&f, "a", STATE_BACKGROUND)->usage;
        check_int(a->cpu.list[0].busy_ns, 1 * S);
        check_int(a->cpu.list[1].busy_ns, 5 * S);
        check_int(a->cpu.list[1].any_ns, 4 * S);
        check_int(usage_busy_ns(&f.interval.rows[0].usage), 2 * S);
        check_int(a->idle.n, 0);
        check_int(f.interval.rows[0].usage.idle.n, 1); /* at the lowest it is the base's power */
        check_int(f.interval.rows[0].usage.idle.list[0].khz, 2000000);
        check_int(f.interval.rows[0].usage.idle.list[0].idle_ns, 2 * S); /* 6 s there, 4 s of them busy */
        teardown(&f);
}

/*
 * Ten seconds in which tasks ran for a second on each of two CPUs, one idle for 8 s and one for 7: the other 3 s are
 * interrupts and belong to the base, at the policy's frequencies. In the second interval the idle time is too large by
 * half a second, which the third takes back.
 */
static void interrupts_of_idle_cpus_are_the_bases(void)
{
        static const uint64_t idle_ns[2][4] = { { 1, 8 * S + 1, 17 * S + 1, 25 * S + 1 },
                                                { 1, 7 * S + 1, 16 * S + S / 2 + 1, 24 * S + 1 } };
        static const uint64_t wanted_ns[4] = { 0, 3 * S, 0, 2 * S };
        struct fixture f;

        setup(&f);
        for (int i = 0; i < 4; i++) {
                struct sample *sample = after(&f, 10);
                uint64_t n = (uint64_t)i;
                struct process *p;

                sample->have |= SAMPLE_OPPS;
                sample->opps_counted = true;
                *sample_add_opp(sample) = (struct opp){ 0, 1000000, n * 8 * S, n * 2 * S, n * 1 * S };
                *sample_add_opp(sample) = (struct opp){ 0, 2000000, n * 2 * S, 0, 0 };
                for (uint32_t cpu = 0; cpu < 2; cpu++) {
                        core(sample, cpu, 0, 0);
                        sample->cores[cpu].idle_ns = idle_ns[cpu][i];
                }
                p = sample_add_process(sample, true);
                *p = (struct process){ .pid = 10, .have = USAGE_CPU | PROCESS_CPU_OPPS, .app = "a",
                                       .cpu_ns = n * 2 * S, .cpu_opp_ns = p->cpu_opp_ns };
                p->cpu_opp_ns[0] = n * 2 * S;
                poll(&f);
                if (i == 0)
                        continue;
                check_int(usage_busy_ns(&row(&f, "a", STATE_BACKGROUND)->usage), 2 * S);
                check_int(usage_busy_ns(&f.interval.rows[0].usage), wanted_ns[i]);
                if (i == 1) {
                        check_int(f.interval.rows[0].usage.cpu.list[0].busy_ns, 3 * S * 8 / 10);
                        check_int(f.interval.rows[0].usage.cpu.list[1].busy_ns, 3 * S * 2 / 10);
                }
        }
        teardown(&f);
}

/* A process at the operating points of two clusters; a cluster of no kHz is offline, and not listed. */
static void sample_of_clusters(struct fixture *f, const uint64_t *little_ns, const uint64_t *big_ns)
{
        struct sample *sample = after(f, 10);
        const struct {
                uint32_t policy;
                const uint64_t *ns;
        } clusters[] = { { 0, little_ns }, { 4, big_ns } };
        struct process *p;
        uint64_t sum = 0;
        size_t at = 0;

        sample->opps_counted = true;
        for (size_t i = 0; i < 2; i++)
                for (uint32_t khz = 1; clusters[i].ns && khz <= 2; khz++)
                        opp(sample, clusters[i].policy, khz * 1000000, f->boottime_ns);
        p = sample_add_process(sample, true);
        for (size_t i = 0; i < 2; i++)
                for (size_t k = 0; clusters[i].ns && k < 2; k++)
                        p->cpu_opp_ns[at++] = clusters[i].ns[k];
        for (size_t i = 0; i < at; i++)
                sum += p->cpu_opp_ns[i];
        p->pid = 10;
        p->have = USAGE_CPU | PROCESS_CPU_OPPS;
        p->cpu_ns = sum;
        strcpy(p->app, "a");
}

static uint64_t ran_at(const struct fixture *f, uint32_t policy, uint32_t khz)
{
        const struct usage *usage = &row(f, "a", STATE_BACKGROUND)->usage;

        for (size_t i = 0; i < usage->cpu.n; i++)
                if (usage->cpu.list[i].policy == policy && usage->cpu.list[i].khz == khz)
                        return usage->cpu.list[i].busy_ns;
        return 0;
}

/* Its operating points have other places in the list from then on; a process's time at them continues. */
static void a_cluster_comes_and_goes(void)
{
        struct fixture f;

        setup(&f);
        sample_of_clusters(&f, NULL, (uint64_t[]){ 1 * S, 5 * S });
        check_int(poll(&f), -ENODATA);
        sample_of_clusters(&f, (uint64_t[]){ 2 * S, 0 }, (uint64_t[]){ 2 * S, 8 * S });
        check_int(poll(&f), 0);
        check_int(ran_at(&f, 0, 1000000), 2 * S);
        check_int(ran_at(&f, 0, 2000000), 0);
        check_int(ran_at(&f, 4, 1000000), 1 * S);
        check_int(ran_at(&f, 4, 2000000), 3 * S);
        sample_of_clusters(&f, (uint64_t[]){ 3 * S, 4 * S }, NULL);
        check_int(poll(&f), 0);
        check_int(ran_at(&f, 0, 1000000), 1 * S);
        check_int(ran_at(&f, 0, 2000000), 4 * S);
        sample_of_clusters(&f, (uint64_t[]){ 3 * S, 5 * S }, (uint64_t[]){ 2 * S, 10 * S });
        check_int(poll(&f), 0);
        check_int(ran_at(&f, 0, 2000000), 1 * S);
        check_int(ran_at(&f, 4, 1000000), 0);
        check_int(ran_at(&f, 4, 2000000), 2 * S);
        teardown(&f);
}

/* Ticks of a process arrive before those of its CPU: time of no app is never negative, and nothing counts twice. */
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

int main(void)
{
        cpu_time_is_shared_by_time_in_state();
        policies_share_by_their_busy_time();
        frequencies_that_nobody_tells_split_nothing();
        any_is_one_minus_the_product();
        a_package_is_awake_once(false);
        a_package_is_awake_once(true);
        counted_by_the_kernel_is_taken_as_it_is();
        interrupts_of_idle_cpus_are_the_bases();
        a_cluster_comes_and_goes();
        early_ticks_are_a_debt();
        return check_result();
}
