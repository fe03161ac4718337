/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "collector.h"
#include "util/words.h"

/* Collectors that were not built are missing in this table. */
const struct collector all_collectors[] = {
#ifdef HAVE_BPF
        { "bpf", N_("one system call a poll (BPF, Linux 6.7)"), process_bpf_open, process_bpf_try_counters },
        { "bpf-iter", N_("one file, a record a thread (BPF, Linux 5.8)"), process_bpf_iter_open },
#endif
        { "kept", N_("/proc of processes whose CPU clock moved"), process_kept_open },
        { "proc", N_("/proc of all processes"), process_plain_open },
        { 0 },
};
