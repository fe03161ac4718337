/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CPU time by operating point, which a collector counts together with CPU time, sums to that at every poll. Also tests
 * the owner of an event between two polls.
 */

#include <fcntl.h>

#include "check.h"
#include "process/process-table.h"
#include "util/units.h"
#include "util/util.h"

#define OPPS 3

struct look {
        uint64_t cpu_ns, opp_ns[OPPS];
};

static void poll(struct process_table *table, struct sample *sample, const struct look *look)
{
        static const size_t places[OPPS] = { 0, 1, 2 };
        struct process_seen seen = { .pid = 10, .ppid = 1, .start_ns = 5, .comm = "a", .have = USAGE_CPU,
                                     .total = { .cpu_ns = look->cpu_ns }, .cpu_opp_ns = look->opp_ns };

        sample_reset(sample);
        for (size_t i = 0; i < OPPS; i++)
                sample_add_opp(sample);
        process_table_begin(table);
        check_int(process_table_alive(table, 0, &seen), 0);
        check_int(process_table_finish(table, true, sample, places), 0);
        check_int(sample->n_processes, 1);
}

static void points_sum_to_the_cpu_time(void)
{
        /* Thirds round; a counter that went back; one that stood while the process ran. */
        static const struct look looks[] = {
                { 0, { 0, 0, 0 } }, { 100, { 7, 7, 7 } }, { 101, { 8, 8, 8 } }, { 151, { 4, 9, 30 } },
                { 160, { 4, 9, 30 } }, { 1000, { 1004, 9, 30 } },
        };
        struct process_table *table = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint64_t before[OPPS] = { 0 };

        check_int(process_table_new(root_fd, NULL, false, OPPS, &table), 0);
        for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
                uint64_t sum = 0;

                poll(table, &sample, &looks[i]);
                for (size_t k = 0; k < OPPS; k++) {
                        check(sample.processes[0].cpu_opp_ns[k] >= before[k]);
                        sum += before[k] = sample.processes[0].cpu_opp_ns[k];
                }
                check_int(sample.processes[0].cpu_ns, looks[i].cpu_ns);
                /* Where no point is known to have grown, the next one that does gets the time. */
                check_int(sum, i == 4 ? looks[3].cpu_ns : looks[i].cpu_ns);
        }
        check(before[0] > 800);
        process_table_free(table);
        sample_clear(&sample);
}

/* Events before an exec belong to the old program, later ones to the new one, with start times as in the sample. */
static void events_are_of_a_program(void)
{
        struct process_seen seen = { .pid = 10, .ppid = 1, .start_ns = 5 * NS_PER_S, .comm = "a", .have = USAGE_CPU };
        struct process_table *table = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint64_t before, after;

        check_int(process_table_new(root_fd, NULL, true, 0, &table), 0);
        check_int(process_table_start_time(table, 10, seen.start_ns), 500); /* never seen: ticks of 10 ms, like all */
        process_table_begin(table);
        check_int(process_table_alive(table, 0, &seen), 0);
        check_int(process_table_finish(table, true, &sample, NULL), 0);
        sample_reset(&sample);
        process_table_begin(table);
        before = process_table_start_time(table, 10, seen.start_ns);
        check_int(process_table_execed(table, &seen, 7 * NS_PER_S), 0);
        after = process_table_start_time(table, 10, seen.start_ns);
        check_int(process_table_ended(table, &seen, 8 * NS_PER_S, NULL), 0);
        check_int(process_table_finish(table, true, &sample, NULL), 0);
        check_int(sample.n_processes, 2);
        check_int(before, sample.processes[0].start_time);
        check_int(after, sample.processes[1].start_time);
        check_int(before, 500);
        check_int(after, 700);
        process_table_free(table);
        sample_clear(&sample);
}

int main(void)
{
        points_sum_to_the_cpu_time();
        events_are_of_a_program();
        return check_result();
}
