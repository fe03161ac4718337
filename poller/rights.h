/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Permanently drops the capabilities that the service is started with, CAP_BPF, CAP_PERFMON and
 * CAP_NET_ADMIN: only opening the sources needs them. It has none afterwards. Root that runs it manually
 * keeps its others, with which it reads /proc of all users. Returns 0 or a negative errno.
 */
int rights_give_up(void);

/*
 * Can open BPF programs and maps still be used afterwards? Not before Linux 5.19 if
 * kernel.unprivileged_bpf_disabled is set, as it usually is.
 */
bool rights_bpf_stays(void);
