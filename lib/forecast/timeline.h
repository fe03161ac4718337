/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A span of time as a picture needs it: energy by app in slots of equal length, the level of the battery, its changes
 * between charger and battery, and the sleeps. It takes one pass over the records, so that a year is read in a moment.
 */

#include "model/profile.h"
#include "store/store.h"
#include "util/util.h"

#define TIMELINE_APPS 24 /* told apart, the dearest first; all others are one sum */
#define TIMELINE_SLOTS_MAX 1024
#define TIMELINE_HOURS_MAX (14 * 24 + 25)
#define TIMELINE_QUARTER_S 900
#define TIMELINE_HOUR_S 3600
#define TIMELINE_DAY_S 86400
#define TIMELINE_WEEK_S (7 * 86400)

struct timeline_app {
        char app[APP_ID_MAX];
        char name[APP_ID_MAX];
        double energy_j;           /* energy in both states, as far as known */
};

struct timeline_slot {
        int64_t start_ns, end_ns;  /* realtime; a slot begins with a local day, hour or quarter of an hour */
        double recorded_s;
        double suspend_s;          /* thereof suspended */
        double base_j;             /* NaN: the profile has no idle power */
        double others_j;           /* energy of the apps that are not told apart */
        double apps_j[TIMELINE_APPS];
        size_t n_apps;             /* as the timeline's */
};

/* All energy of an hour. */
struct timeline_hour {
        int64_t start_ns;
        double recorded_s;
        double energy_j;
};

struct timeline_level {
        int64_t time_ns;
        double percent;
        bool follows; /* nothing is missing between this one and the one before */
};

struct timeline {
        int64_t from_ns, to_ns;          /* recorded part of the span */
        uint32_t slot_s;                 /* one of TIMELINE_*_S; local days have 23 to 25 hours */
        struct timeline_app apps[TIMELINE_APPS];
        size_t n_apps;
        struct timeline_slot *slots;     /* ascending, without a gap */
        size_t n_slots;
        struct timeline_hour *hours;     /* the last two weeks of the span, as far as hours are kept */
        size_t n_hours;
        struct timeline_level *levels;   /* ascending */
        size_t n_levels;
        struct store_charge *charges;    /* up to the span's end, also from before it; ascending */
        size_t n_charges;
        struct store_sleep *sleeps;      /* sleeps that ended in the span, ascending */
        size_t n_sleeps;
};

/**
 * timeline_make() - make the timeline of a span from the stored records
 * @uid: user whose apps are told apart; those of all other users are one. -1: all apps are told apart
 * @ret: timeline_free() it; written only on success
 *
 * Quarters of an hour for up to two days, hours for up to two weeks, else days, and weeks for more than two years;
 * longer ones where only longer sums are kept. A sum that covers several slots is spread over them evenly.
 *
 * Return: 0; -ENODATA: nothing is stored in that span; another negative errno.
 */
int timeline_make(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns, int64_t to_ns,
                  struct timeline **ret);
void timeline_free(struct timeline *timeline);
DEFINE_CLEANUP(struct timeline, timeline_free)
