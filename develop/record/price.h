/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Prices of CPU time and of bytes, by a profile. Without a profile, only CPU time counts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"
#include "util/util.h"

struct profile;
struct prices;

/* @profile: NULL: none; must outlive it. 0; -ENOMEM. */
int price_new(const struct profile *profile, struct prices **ret);
void price_free(struct prices *prices);
DEFINE_CLEANUP(struct prices, price_free)
/* Notes the frequency of each cpufreq policy of this machine at @time_ns (CLOCK_MONOTONIC). */
void price_look(struct prices *prices, uint64_t time_ns);
/*
 * price_cpu_nj() - energy of a nanosecond of CPU time, in nJ
 * @busy: number of CPUs of its policy that were busy for us; they share the power that the policy takes while any is
 *
 * 1 without a profile; NaN: the profile has no price for it.
 */
double price_cpu_nj(struct prices *prices, uint32_t cpu, uint64_t time_ns, unsigned busy);
/* The profile that prices come from; NULL: none. */
const struct profile *price_profile(const struct prices *prices);
uint32_t price_policy(const struct prices *prices, uint32_t cpu);
/* Energy of one unit of an amount (a byte, a ns), in nJ; NaN: the profile has no price; 0 without a profile. */
double price_nj(const struct prices *prices, enum amount amount);
/* Were frequencies seen? If not, CPU time is priced at the mean of all. */
bool price_knows_clock(const struct prices *prices);
