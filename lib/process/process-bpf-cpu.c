/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "model/usage.h"
#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

/*
 * While cores are busy, the sums are smaller by the time at which they began. A CPU that is updating them may
 * leave them off by that much for an instant. A policy cannot have run for longer than the clock, so such
 * values are skipped in this poll.
 */
static void read_policy(const struct policy_state *policy, uint64_t now_ns, struct policy_times *ret)
{
        uint64_t word = __atomic_load_n(&policy->word, __ATOMIC_ACQUIRE);
        uint32_t opp = WORD_OPP(word), busy = WORD_BUSY(word);

        *ret = policy->times;
        if (opp >= BPF_OPPS_MAX || busy == 0)
                return;
        ret->busy_ns[opp] += now_ns * busy;
        ret->any_ns[opp] += now_ns;
}

/*
 * By cycles, a policy's busy time is the sum over its tasks and can only grow. The time with any core busy is
 * counted for all operating points together; it is divided in proportion to busy time.
 */
static void show_cycles(const struct policy_times *read, const struct opp_range *range, uint64_t now_ns,
                        struct policy_times *shown)
{
        uint64_t grown_ns[BPF_OPPS_MAX] = { 0 }, busy_ns = 0, any_ns = 0, so_far_ns = 0;

        for (uint32_t i = range->first; i < range->first + range->n; i++) {
                grown_ns[i] = read->busy_ns[i] - MIN(shown->busy_ns[i], read->busy_ns[i]);
                shown->busy_ns[i] += grown_ns[i];
                busy_ns += grown_ns[i];
                any_ns += shown->any_ns[i];
        }
        if (read->any_ns[range->first] > now_ns || read->any_ns[range->first] < any_ns)
                return;
        any_ns = read->any_ns[range->first] - any_ns;
        for (uint32_t i = range->first; i < range->first + range->n; i++) {
                shown->any_ns[i] += mul_div(any_ns, so_far_ns + grown_ns[i], busy_ns) -
                                    mul_div(any_ns, so_far_ns, busy_ns);
                so_far_ns += grown_ns[i];
        }
}

static void show_policy(const struct policy_times *read, const struct opp_range *range, uint64_t now_ns,
                        struct policy_times *shown)
{
        for (uint32_t i = range->first; i < range->first + range->n; i++) {
                if (read->any_ns[i] <= now_ns && read->any_ns[i] > shown->any_ns[i])
                        shown->any_ns[i] = read->any_ns[i];
                if (read->busy_ns[i] / BPF_CPUS_MAX <= now_ns && read->busy_ns[i] > shown->busy_ns[i])
                        shown->busy_ns[i] = read->busy_ns[i];
        }
}

int process_bpf_read_opps(struct process_collector *collector, struct sample *sample)
{
        struct bpf_opps *opps = &collector->opps;
        uint64_t now_ns = util_clock_ns(CLOCK_MONOTONIC);

        if (sample->n_opps == 0)
                return 0;
        if (bpf_opps_place(opps, sample) < 0)
                return -ENOMEM;
        for (uint32_t p = 0; p < opps->n_policies; p++) {
                struct policy_times *shown = &collector->shown[p], read;
                const struct opp_range *range = &opps->range[p];

                read_policy(&collector->bpf->bss->policies[p], now_ns, &read);
                (opps->by_cycles ? show_cycles : show_policy)(&read, range, now_ns, shown);
                for (uint32_t i = range->first; i < range->first + range->n; i++) {
                        struct opp *opp = &sample->opps[opps->place[i]];

                        opp->any_ns = shown->any_ns[i];
                        opp->busy_ns = shown->busy_ns[i];
                        if (opps->by_cycles) /* cycles give no more than this about the time at each point */
                                opp->time_ns = opp->any_ns;
                }
        }
        sample->opps_counted = true;
        return 0;
}

int process_bpf_feed_frequency(struct source *source, uint32_t cpu, uint32_t khz)
{
        struct process_collector *collector = (struct process_collector *)source;
        struct fed_frequency fed = { .khz = khz, .cpu = cpu };
        struct bpf_test_run_opts run = { .sz = sizeof(run), .ctx_in = &fed, .ctx_size_in = sizeof(fed) };

        if (!(collector->source.counts & COUNTS_OPPS) || collector->opps.by_cycles)
                return -ENODATA;
        return bpf_prog_test_run_opts(bpf_program__fd(collector->bpf->progs.feed_frequency), &run) ? -errno : 0;
}
