/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The steps from the text of a unit to a battery. */

#include "battery.h"

#define BATTERY_PREFIX "POWER_SUPPLY_" /* before each key in a uevent */

/* Smaller readings count as 0: no device that runs this program needs less. */
#define BATTERY_CURRENT_MIN_UA 2000
#define BATTERY_POWER_MIN_UW 5000
#define BATTERY_FLOWS_UW 300000 /* more than a full battery takes or gives with a supply that is not shown */

/* A unit's levels are a charge, an energy, or both. */
struct battery_scale {
        const char *now_key, *full_key, *design_key;
        uint64_t min, max;            /* plausible range of a full charge or energy */
        uint32_t have_now, have_full; /* BATTERY_* */
};

#define BATTERY_SCALES 2
extern const struct battery_scale battery_scales[BATTERY_SCALES];

struct battery_levels_of {
        uint64_t *now, *full, *design;
};

struct battery_levels_of battery_levels_of(struct battery_unit *unit, size_t scale);

void battery_quirk(struct battery_unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Finds the value of a key in lines of POWER_SUPPLY_KEY=value; false: it is not shown. */
bool battery_find(const char *uevent, const char *key, char *value, size_t size);

/* Reads all that a unit shows, whatever it is. */
void battery_read_text(const char *uevent, struct battery_unit *ret);

/* Decides which units count, and which of their values; and sorts them by role and name. */
void battery_judge(struct battery_unit *units, size_t n);

/* Mean voltage over a whole discharge, from the number of cells in series; 0: unknown. */
uint64_t battery_nominal_uv(const struct battery *battery);
