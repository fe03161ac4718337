/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The operating points of this machine, as the BPF programs index them, and their indices in a sample. */

#include <stddef.h>
#include <stdint.h>

#include "bpf/process-records.h"
#include "source/sample.h"

struct bpf_opps {
        uint32_t n;
        uint32_t n_policies;
        uint32_t policy[BPF_POLICIES_MAX];          /* the kernel's number of each policy */
        struct opp_range range[BPF_POLICIES_MAX];
        uint32_t khz[BPF_OPPS_MAX];
        uint8_t policy_of_cpu[BPF_CPUS_MAX];        /* index; BPF_POLICIES_MAX: none */
        uint32_t now[BPF_POLICIES_MAX];             /* present operating point of each policy */
        size_t place[BPF_OPPS_MAX];                 /* index in a sample */
        bool by_cycles;                             /* policies are kinds of CPUs (cpu_list_kinds()) */
};

/*
 * Assigns every CPU to a policy; CPUs without known frequencies share one with a single point of unknown
 * frequency. Returns 0; -ENODATA: no cpufreq, or only one frequency; -E2BIG: more than the programs have room
 * for.
 */
int bpf_opps_read(int root_fd, struct bpf_opps *ret);
/*
 * For machines on which no policy has known frequencies but cycles are counted. Each policy gets a point of
 * unknown frequency, the frequencies that a calibration would use, and the highest one with boost. Returns as
 * above.
 */
int bpf_opps_read_hidden(int root_fd, struct bpf_opps *ret);
void bpf_opps_look(int root_fd, struct bpf_opps *opps); /* reads `now` again */

/*
 * Finds the index of each operating point in @sample and adds the missing ones. By cycles, the sample's cores
 * get these policies, too. Returns 0 or -ENOMEM.
 */
int bpf_opps_place(struct bpf_opps *opps, struct sample *sample);
