/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions shared by the files that make a plan: its single modes, its mixtures, and its short block. */

#include "plan.h"

#define DISPLAY_LEVELS 5
#define DISPLAY_MIDDLE 2
#define DISPLAY_USUAL 3
#define WAKES_PER_S 0.8 /* a burst needs a second of silence before it */

/* One policy busy at one frequency, the others idle at their lowest. */
struct mode plan_cpu_mode(const struct hardware_description *description, size_t policy, uint32_t khz, bool all);
/* Raw brightness of this device for @level, which is below DISPLAY_LEVELS. */
uint32_t plan_brightness(const struct hardware_description *description, size_t level);
/* Is there a remote end for WiFi traffic in the directions whose rate is above 0? */
bool plan_can_move(const struct hardware_description *description, double receives, double sends);

/* Each 0; -ENOMEM. */
int plan_add_mixtures(struct plan *plan, const struct hardware_description *description);
int plan_add_held_back(struct plan *plan, const struct hardware_description *description);
int plan_add_burn(struct plan *plan, const struct hardware_description *description);

/* Sets `core` of each mode: the stage at which it is included in a short block. */
void plan_mark_core(const struct hardware_description *description, struct plan *plan);
