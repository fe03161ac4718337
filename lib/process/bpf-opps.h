/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The operating points of this machine, as the BPF programs index them, and their place in a sample. */

#include <stddef.h>
#include <stdint.h>

#include "bpf/process-records.h"
#include "source/sample.h"

struct bpf_opps {
        uint32_t n;
        uint32_t n_policies;
        uint32_t policy[BPF_POLICIES_MAX];          /* the kernel's number of each */
        struct opp_range range[BPF_POLICIES_MAX];
        uint32_t khz[BPF_OPPS_MAX];
        uint8_t policy_of_cpu[BPF_CPUS_MAX];        /* index; BPF_POLICIES_MAX: none */
        uint32_t now[BPF_POLICIES_MAX];             /* operating point of each policy now */
        size_t place[BPF_OPPS_MAX];                 /* in a sample */
        bool by_cycles;                             /* a policy stands for all of its kind (cpu_list_kinds()) */
};

/*
 * Puts every CPU into a policy: those without known frequencies share one, of one unknown frequency. 0; -ENODATA:
 * no cpufreq, or one frequency only; -E2BIG: more than the programs have room for.
 */
int bpf_opps_read(int root_fd, struct bpf_opps *ret);
/*
 * Where no policy has known frequencies, and cycles are counted: those that a calibration would use, and the highest
 * with boost, after a point of unknown frequency. As above.
 */
int bpf_opps_read_hidden(int root_fd, struct bpf_opps *ret);
void bpf_opps_look(int root_fd, struct bpf_opps *opps); /* reads `now` again */

/*
 * Finds the place of each operating point in @sample, and adds those that it lacks. By cycles, the sample's cores get
 * these policies. -ENOMEM.
 */
int bpf_opps_place(struct bpf_opps *opps, struct sample *sample);
