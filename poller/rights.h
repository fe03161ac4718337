/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Gives up for good what the service is started with, CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN: only opening the sources
 * needs them. Then it has none. Root that runs it by hand keeps the others, with which it reads /proc of all users.
 * 0 or a negative errno.
 */
int rights_give_up(void);

/*
 * Can programs and maps that are open still be used after that? Before Linux 5.19 not, where kernel.unprivileged_bpf_disabled
 * is set, as mostly.
 */
bool rights_bpf_stays(void);
