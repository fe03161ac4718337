/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a nanosecond of a CPU and a byte cost by a profile. Without a profile, CPU time alone counts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"

struct profile;
struct prices;

/* @profile: NULL: none; must live as long. 0; -ENOMEM. */
int price_new(const struct profile *profile, struct prices **ret);
void price_free(struct prices *prices);
void price_freep(struct prices **prices);
/* Notes the clock of each policy of this machine, as cpufreq shows it at @time_ns (CLOCK_MONOTONIC). */
void price_look(struct prices *prices, uint64_t time_ns);
/*
 * price_cpu_nj() - energy of a nanosecond of CPU time
 * @busy: how many CPUs of its policy were busy for us; they share what the policy needs while any is
 *
 * 1 without a profile; NaN: the profile has no price for it.
 */
double price_cpu_nj(struct prices *prices, uint32_t cpu, uint64_t time_ns, unsigned busy);
/* NULL: none. */
const struct profile *price_profile(const struct prices *prices);
uint32_t price_policy(const struct prices *prices, uint32_t cpu);
/* Energy of one of an amount: a byte, a ns; NaN: the profile has no price; 0 without a profile. */
double price_nj(const struct prices *prices, enum amount amount);
/* Frequencies were seen; false: CPU time is priced at the mean of all. */
bool price_knows_clock(const struct prices *prices);
