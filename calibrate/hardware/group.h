/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Groups of frequency policies. A laptop has a policy for each CPU, and those of a like kind are
 * measured as one: a mode of one core has one of them busy, a mode of all cores all of them, and what
 * comes out is the price of each.
 *
 * What S is then: cores with a clock each share no clock, but what they share is the package's (its caches,
 * its memory controller), awake while any of them is. One policy alone cannot tell it from its A, as its core
 * is busy whenever it is; one core against all cores can: A + S against n*A + S. So S is the group's where it
 * is made of single CPUs that share a package, and the time that it is multiplied with is the package's, once
 * (lib/interval/interval-cpu.c). Policies of several CPUs share within themselves, each has an S of its own, and the
 * group only says that it is the same.
 */

#include "hardware.h"

/*
 * Puts @policy into the group of @kind, or begins one;
 * those of several CPUs need no @package. -E2BIG: no more room.
 */
int group_add(struct hardware_description *description, const struct hardware_policy *policy, uint32_t kind,
              bool package);

/* Whether it is, or holds, this policy. */
bool group_has(const struct hardware_policy *group, uint32_t policy);
/* How many of its CPUs keep the same thing awake: 1: each for itself. */
uint32_t group_sharing(const struct hardware_policy *group);

/* How many CPUs of its member @i are busy when @cores of the whole are; the first come first. */
uint32_t group_busy(const struct hardware_policy *group, size_t i, uint32_t cores);
