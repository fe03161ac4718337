/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gauges show wrong levels for some seconds, and batteries are changed. Levels go through here before anything is
 * subtracted or stored. A level that moves faster than any load can is held back until it has stayed for three
 * minutes; if it goes back, nothing happened. After a suspend, gauges are late: the fall of the first minute belongs
 * to the sleep.
 */

#include "source/sample.h"

/* One level of a battery, in its own unit. Zeroed: nothing was seen yet. */
struct level_watch {
        bool started, held;
        uint64_t level;           /* that counts */
        uint64_t level_ns;        /* boottime of the last reading that agreed with it */
        uint64_t seen, seen_ns;   /* the last reading */
        uint64_t held_ns;         /* since when the readings are elsewhere */
        unsigned readings;        /* since level_ns */
        double highest;           /* level so far: stands for the full charge where that is unknown */
        double step;              /* by which a coarse gauge falls; 0: not known to be coarse */
        bool slept;               /* a suspend was seen; then: */
        bool moved;               /* the level fell since */
        uint64_t resumed_ns;
        uint64_t before, before_ns; /* the level before it */
};

struct level_reading {
        uint64_t ns;              /* boottime */
        uint64_t asleep_ns;       /* thereof suspended since the reading before */
        uint64_t level;
        double full;              /* NaN: unknown */
};

/**
 * level_watch_see() - take a reading of a level
 * @slept: fall of the level in the previous suspend, beyond the reported one; negative: too much was reported
 *
 * Return: the level that counts from now on.
 */
uint64_t level_watch_see(struct level_watch *watch, const struct level_reading *reading, double *slept);

enum { WATCHED_CAPACITY, WATCHED_CHARGE, WATCHED_ENERGY, WATCHED_COUNT };

/* All levels of all batteries together, and which batteries these are. */
struct battery_watch {
        bool started;
        uint64_t boottime_ns, monotonic_ns;
        struct battery_member members[BATTERY_MEMBERS_MAX + 1]; /* the last one: all together */
        size_t n_members;
        struct level_watch levels[WATCHED_COUNT];
        /* other batteries than at the end of the previous interval; the maker of intervals resets it */
        bool changed;
        double slept[WATCHED_COUNT]; /* see level_watch_see() */
};

/* Has the battery moved faster than any load can in that time, since the level @counted? */
bool level_watch_doubts(const struct battery *counted, const struct battery *now, uint64_t ns);

/* Puts the levels that count into @sample; each sample of a machine goes through it once, in their order. */
void level_watch_battery(struct battery_watch *watch, struct sample *sample);
