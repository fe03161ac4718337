/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Batteries as /sys/class/power_supply shows them (Documentation/ABI/testing/sysfs-class-power: uV, uA, uAh, uW,
 * uWh, tenths of a degree). Firmware often shows wrong values; a value out of range, or in the wrong unit, is
 * unset, with a quirk that says so.
 */

#include "source.h"

#define BATTERY_QUIRKS_MAX 12

struct battery_unit {
        char name[32];                        /* of its folder; printable */
        struct battery battery;
        uint64_t energy_now_uwh;              /* by the gauge, or charge_now x voltage_now; see energy_have */
        uint64_t energy_full_uwh;             /* by the gauge, or charge_full x voltage_now: rough */
        uint32_t energy_have;                 /* BATTERY_ENERGY_NOW, BATTERY_ENERGY_FULL */
        uint64_t charge_full_design_uah;      /* when it was new; 0: not shown */
        uint64_t energy_full_design_uwh;      /* likewise */
        uint32_t charge_limit_percent;        /* charging ends there (charge_control_end_threshold); 0: none is set */
        uint32_t charge_start_percent;        /* only below it charging begins (charge_control_start_threshold); 0: not shown */
        bool force_discharge;                 /* the firmware can run on the battery while the charger is plugged in */
        char quirks[BATTERY_QUIRKS_MAX][192]; /* sentences */
        size_t n_quirks;
};

/* As all constructors of sources: @root_fd is only used during the call; -ENODEV: this machine has none. */
int battery_open(int root_fd, const struct log *log, struct source **ret);

/**
 * battery_list() - the machine's own batteries; not those of mice and headsets, not an empty bay
 * @ret: ascending by name; free() it
 *
 * Return: 0, also for none at all; a negative errno.
 */
int battery_list(int root_fd, struct battery_unit **ret, size_t *ret_n);

/* What one battery's uevent says: lines of POWER_SUPPLY_KEY=value. False: not a battery of this machine. */
bool battery_parse(const char *uevent, struct battery_unit *ret);

/* Energy when full, in mWh, by what is shown of all together; NaN: not shown. */
double battery_full_mwh(const struct battery *battery);

struct charge_limit {
        double end_percent;   /* charging ends there; 0: none is set */
        double start_percent; /* and begins again only below that; 0: not known */
};

/* Of all together, each by the energy that it holds. */
void battery_limit(const struct battery_unit *units, size_t n, struct charge_limit *ret);

/* All together: levels and power sum up; what one of them does not show is unset. */
void battery_sum(const struct battery_unit *units, size_t n, struct battery *ret);
