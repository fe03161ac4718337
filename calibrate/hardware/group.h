/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Groups of frequency policies. A laptop has a policy for each CPU; policies of one kind are measured as one.
 * In a one-core mode one CPU of the group is busy, in an all-cores mode all are; the result is the power of
 * each.
 *
 * Coefficient S of a group: cores with a clock each share no clock but the package (caches, memory
 * controller), which is awake while any of them is busy. A single-CPU policy cannot separate S from A,
 * because its core is busy exactly when the policy is; one core against all cores can (A + S against n*A +
 * S). So a group of single-CPU policies in one package has one S, for the time that any of them is busy
 * (lib/interval/interval-cpu.c). Policies of several CPUs have an S each, and the group only means that these are
 * equal.
 */

#include "hardware.h"

/*
 * Adds @policy to the group of @kind, or begins one; policies of several CPUs need no @package. -E2BIG: no
 * more room.
 */
int group_add(struct hardware_description *description, const struct hardware_policy *policy, uint32_t kind,
              bool package);

/* Is @policy the group itself or a member? */
bool group_has(const struct hardware_policy *group, uint32_t policy);
/* Number of its CPUs that share an S; 1: each has its own. */
uint32_t group_sharing(const struct hardware_policy *group);

/* How many CPUs of member @i are busy when @cores of the group are; the first members come first. */
uint32_t group_busy(const struct hardware_policy *group, size_t i, uint32_t cores);
