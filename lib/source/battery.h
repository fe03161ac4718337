/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Batteries and chargers as /sys/class/power_supply shows them (Documentation/ABI/testing/sysfs-class-power:
 * uV, uA, uAh, uW, uWh, tenths of a degree). Firmware often shows wrong values. battery-parse.c reads the values of a
 * unit, and unsets those that are out of range or in the wrong unit, with a quirk that says so.
 * battery-judge.c decides which units are batteries of the machine and which values to believe.
 * battery-sum.c sums them up to one battery.
 */

#include "source.h"

#define BATTERY_QUIRKS_MAX 12

enum battery_role {
        ROLE_BATTERY,
        ROLE_MAINS,    /* a supply with a plug of its own */
        ROLE_USB,      /* a port that may supply the machine */
        ROLE_WIRELESS,
        ROLE_LEFT_OUT, /* see `why` */
};

/* Does anything besides the batteries feed the machine? */
enum supply_state {
        SUPPLY_UNKNOWN, /* no supply is shown, or they contradict each other */
        SUPPLY_OFFLINE, /* all supplies are shown, and none feeds the machine */
        SUPPLY_ONLINE,
};

/* Keys that a unit shows, whatever their values. */
enum battery_shows {
        SHOWS_LEVEL = 1 << 0,    /* a state of charge, in any way */
        SHOWS_ELECTRIC = 1 << 1, /* a voltage, current, power, charge or energy */
        SHOWS_CONNECTION = 1 << 2,
};

struct battery_unit {
        char name[32];                        /* name of its folder; printable */
        uint64_t pack;                        /* see struct battery_member */
        enum battery_role role;
        const char *why;                      /* why it is left out, untranslated; NULL: it counts, or never could */
        enum supply_state supply;             /* supply state of the whole machine */
        bool online;                          /* a supply: it feeds the machine */
        bool of_another_type;                 /* it shows a level, but is a UPS, or a part of a charger */
        bool of_device;                       /* it belongs to a mouse or a dock (scope Device) */
        bool away;                            /* its bay is empty */
        uint32_t shows;                       /* SHOWS_* */
        struct battery battery;
        uint64_t energy_now_uwh;              /* by the gauge, or charge_now x its nominal voltage; see energy_have */
        uint64_t energy_full_uwh;             /* by the gauge, or charge_full x its nominal voltage: rough */
        uint32_t energy_have;                 /* BATTERY_ENERGY_NOW, BATTERY_ENERGY_FULL */
        uint64_t charge_full_design_uah;      /* full charge when it was new; 0: not shown */
        uint64_t energy_full_design_uwh;      /* likewise */
        uint32_t full_unknown;                /* BATTERY_*_FULL: shown as 0 or as unknown, or not shown */
        bool in_thousandths;                  /* its full charge is in mAh or mWh */
        uint32_t charge_limit_percent;        /* level at which charging ends; 0: none is set */
        uint32_t charge_start_percent;        /* level below which charging begins; 0: not shown */
        bool force_discharge;                 /* the firmware can run on the battery beside a charger */
        bool forced;                          /* it does so now */
        /* key of a sensor that shows nothing although the unit discharges; NULL: none */
        const char *rests;
        int64_t rests_at;                     /* value of that sensor */
        char quirks[BATTERY_QUIRKS_MAX][192]; /* sentences */
        size_t n_quirks;
};

/* As all constructors of sources: @root_fd is only used during the call; -ENODEV: this machine has none. */
int battery_open(int root_fd, const struct log *log, struct source **ret);

/**
 * battery_list() - list the units in the folder of power supplies
 * @ret: ascending by role, then by name; free() it
 * @ret_n: the first ones of @ret are the machine's own batteries; not those of mice and headsets, not an empty bay
 * @ret_n_all: length of @ret; or NULL
 *
 * Return: 0, also for none at all; a negative errno.
 */
int battery_list(int root_fd, struct battery_unit **ret, size_t *ret_n, size_t *ret_n_all);

/* Reads all batteries once and sums them. 0; -ENODEV: there is none; another negative errno. */
int battery_now(int root_fd, struct battery *ret);

/* Does anything feed the machine, whatever the status of its batteries is? */
enum supply_state battery_supply(int root_fd);

/* Parses one unit's uevent: lines of POWER_SUPPLY_KEY=value. False: not a battery of this machine. */
bool battery_parse(const char *uevent, struct battery_unit *ret);

/* Energy when full, in mWh, by the values of the sum; NaN: not shown. */
double battery_full_mwh(const struct battery *battery);

/* Can only its level show whether it discharges? It has no status, or one that its offline supplies contradict. */
static inline bool battery_is_to_watch(const struct battery *battery)
{
        return battery->status == BATTERY_UNKNOWN || (battery->unfed && battery->status != BATTERY_DISCHARGING);
}

/* State of charge that every answer shows; NaN: unknown. */
double battery_percent(const struct battery *battery);

/* The same by the finest level. */
double battery_fine_percent(const struct battery *battery);

/* Percentage points to which battery_fine_percent() is rounded down; 0: it is not rounded. */
double battery_step(const struct battery *battery);

struct charge_limit {
        double end_percent;   /* level at which charging ends; 0: none is set */
        double start_percent; /* level below which it begins again; 0: not known */
};

/*
 * Means of all batteries' limits, weighted by their full energy, or equally if one does not show it. A battery without
 * a limit counts as 100 %.
 */
void battery_limit(const struct battery_unit *units, size_t n, struct charge_limit *ret);

/*
 * Sums all batteries: levels, and power, where the power that charges one is subtracted from that of others; values
 * that one of them does not show are unset. With a supply online the sum never discharges: it is BATTERY_NOT_CHARGING,
 * or BATTERY_FULL, and its power is what the batteries give in addition to the supply.
 */
void battery_sum(const struct battery_unit *units, size_t n, struct battery *ret);
