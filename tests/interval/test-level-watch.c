/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gauges that show wrong levels, that are late after a suspend, and batteries that are changed. */

#include <math.h>
#include <string.h>

#include "check.h"
#include "interval/level-watch.h"
#include "util/units.h"

#define READINGS 12

/* Percents of full; each reading is so many seconds after the previous one, some of which were suspended. */
struct series {
        const char *what;
        struct {
                double s, asleep_s, level, want, slept;
        } readings[READINGS]; /* up to one without a time; the first is at 1 s */
};

static const struct series all[] = {
        { "a steady load",
          { { 1, 0, 86, 86, 0 }, { 30, 0, 86, 86, 0 }, { 30, 0, 85, 85, 0 }, { 30, 0, 84, 84, 0 } } },
        { "one step is usual, however soon",
          { { 1, 0, 86, 86, 0 }, { 1, 0, 85, 85, 0 }, { 1, 0, 84, 84, 0 }, { 1, 0, 83, 83, 0 } } },
        { "a blip down",
          { { 1, 0, 86, 86, 0 }, { 5, 0, 5, 86, 0 }, { 5, 0, 5, 86, 0 }, { 5, 0, 86, 86, 0 } } },
        { "a blip up",
          { { 1, 0, 50, 50, 0 }, { 5, 0, 98, 50, 0 }, { 5, 0, 98, 50, 0 }, { 5, 0, 49, 49, 0 } } },
        { "a blip to nothing", { { 1, 0, 50, 50, 0 }, { 30, 0, 0, 50, 0 }, { 30, 0, 49, 49, 0 } } },
        { "what was used in a blip counts after it",
          { { 1, 0, 86, 86, 0 }, { 2, 0, 5, 86, 0 }, { 2, 0, 5, 86, 0 }, { 2, 0, 84, 84, 0 } } },
        { "a blip of different levels",
          { { 1, 0, 60, 60, 0 },
            { 5, 0, 5, 60, 0 },
            { 5, 0, 99, 60, 0 },
            { 5, 0, 30, 60, 0 },
            { 5, 0, 60, 60, 0 } } },
        { "back by and by",
          { { 1, 0, 86, 86, 0 }, { 30, 0, 70, 86, 0 }, { 30, 0, 76, 86, 0 }, { 30, 0, 82, 82, 0 } } },
        { "a fall that stays for three minutes",
          { { 1, 0, 86, 86, 0 },
            { 30, 0, 66, 86, 0 },
            { 60, 0, 66, 86, 0 },
            { 60, 0, 65, 86, 0 },
            { 60, 0, 65, 65, 0 } } },
        { "a rise that stays, too",
          { { 1, 0, 50, 50, 0 }, { 30, 0, 66, 50, 0 }, { 90, 0, 66, 50, 0 }, { 90, 0, 66, 66, 0 } } },
        { "other wrong levels begin the three minutes anew",
          { { 1, 0, 86, 86, 0 },
            { 30, 0, 66, 86, 0 },
            { 90, 0, 20, 86, 0 },
            { 120, 0, 20, 86, 0 },
            { 60, 0, 20, 20, 0 } } },
        { "a gauge of 5 % is known after one step",
          { { 1, 0, 90, 90, 0 },
            { 1, 0, 85, 90, 0 },
            { 100, 0, 85, 90, 0 },
            { 80, 0, 85, 85, 0 },
            { 1, 0, 80, 80, 0 },
            { 1, 0, 74, 80, 0 } } },
        { "a gap between polls",
          { { 1, 0, 86, 86, 0 }, { 600, 0, 60, 60, 0 }, { 1, 0, 5, 60, 0 }, { 1, 0, 60, 60, 0 } } },
        { "a blip that a gap ends", { { 1, 0, 86, 86, 0 }, { 1, 0, 5, 86, 0 }, { 600, 0, 80, 80, 0 } } },
        { "a sleep",
          { { 1, 0, 80, 80, 0 }, { 28801, 28800, 70, 70, 0 }, { 30, 0, 70, 70, 0 }, { 30, 0, 69, 69, 0 } } },
        { "a gauge that is late after a sleep",
          { { 1, 0, 80, 80, 0 }, { 28801, 28800, 80, 80, 0 }, { 1, 0, 60, 60, 20 }, { 30, 0, 59, 59, 0 } } },
        { "late by a little: only the first step",
          { { 1, 0, 80, 80, 0 }, { 28801, 28800, 80, 80, 0 }, { 30, 0, 79, 79, 1 }, { 20, 0, 78, 78, 0 } } },
        { "after a minute it is what was used since",
          { { 1, 0, 80, 80, 0 }, { 28801, 28800, 80, 80, 0 }, { 61, 0, 79, 79, 0 } } },
        { "a blip when it wakes up",
          { { 1, 0, 80, 80, 0 }, { 3601, 3600, 5, 5, 0 }, { 5, 0, 79, 79, -74 } } },
        { "a blip soon after that",
          { { 1, 0, 80, 80, 0 }, { 3601, 3600, 80, 80, 0 }, { 5, 0, 5, 5, 75 }, { 5, 0, 80, 80, -75 } } },
        { "too much for so short a sleep",
          { { 1, 0, 80, 80, 0 }, { 121, 120, 80, 80, 0 }, { 5, 0, 5, 80, 0 }, { 5, 0, 80, 80, 0 } } },
        { "a blip before a sleep", { { 1, 0, 80, 80, 0 }, { 5, 0, 5, 80, 0 }, { 3601, 3600, 79, 79, 0 } } },
        { "a blip long after a sleep",
          { { 1, 0, 80, 80, 0 }, { 3601, 3600, 79, 79, 0 }, { 120, 0, 5, 79, 0 }, { 5, 0, 79, 79, 0 } } },
};

/* @unit: of one percent; a gauge of percents, of energy, of charge. */
static void levels_that_count(double unit)
{
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
                struct level_watch watch = { 0 };
                uint64_t ns = 1000 * NS_PER_S;
                int failures = check_failures;

                for (size_t k = 0; k < READINGS && all[i].readings[k].s > 0; k++) {
                        struct level_reading reading = {
                                .asleep_ns = (uint64_t)(all[i].readings[k].asleep_s * NS_PER_S),
                                .level = (uint64_t)(all[i].readings[k].level * unit),
                                .full = 100 * unit,
                        };
                        double slept;

                        ns += (uint64_t)(all[i].readings[k].s * NS_PER_S);
                        reading.ns = ns;
                        check_near((double)level_watch_see(&watch, &reading, &slept),
                                   all[i].readings[k].want * unit, 1e-6);
                        check_near(slept, all[i].readings[k].slept * unit, 1e-6);
                }
                if (check_failures > failures)
                        fprintf(stderr, "in: %s, by %g\n", all[i].what, unit);
        }
}

/* Without a full charge the highest level so far replaces it: no blip is larger than that. */
static void without_a_full_charge(void)
{
        static const uint64_t levels[] = { 3000, 2990, 100, 2980 }, want[] = { 3000, 2990, 2990, 2980 };
        struct level_watch watch = { 0 };

        for (size_t i = 0; i < 4; i++) {
                struct level_reading reading = { .ns = (i + 1) * 10 * NS_PER_S, .level = levels[i], .full = NAN };
                double slept;

                check_int(level_watch_see(&watch, &reading, &slept), want[i]);
        }
}

static void extremes_do_no_harm(void)
{
        static const uint64_t levels[] = { 0, UINT64_MAX, 0, UINT64_MAX, 1 };
        struct level_watch watch = { 0 };

        for (size_t i = 0; i < 100; i++) {
                struct level_reading reading = { .ns = i % 7 * (UINT64_MAX / 7), .asleep_ns = i % 3 * (UINT64_MAX / 3),
                                                 .level = levels[i % 5], .full = i % 2 ? 0 : 1e300 };
                double slept;

                level_watch_see(&watch, &reading, &slept);
                check(isfinite(slept));
        }
}

struct two {
        const char *what;
        struct battery_member members[3];
        bool changed;
};

/* Each against a machine with two batteries of 24 and 48 Wh. */
static const struct two twos[] = {
        { "the same", { { 1, 7, 0, 24000000 }, { 2, 8, 0, 48000000 } }, false },
        { "one is taken out", { { 1, 7, 0, 24000000 } }, true },
        { "the other is taken out", { { 2, 8, 0, 48000000 } }, true },
        { "one more", { { 1, 7, 0, 24000000 }, { 2, 8, 0, 48000000 }, { 3, 9, 0, 1000000 } }, true },
        { "another name", { { 1, 7, 0, 24000000 }, { 3, 8, 0, 48000000 } }, true },
        { "another pack of the same size", { { 1, 7, 0, 24000000 }, { 2, 9, 0, 48000000 } }, true },
        { "another size", { { 1, 7, 0, 24000000 }, { 2, 8, 0, 50000000 } }, true },
        { "the small one's full charge moved by 3 %", { { 1, 7, 0, 24720000 }, { 2, 8, 0, 48000000 } }, true },
        { "learnt anew by 1.7 %", { { 1, 7, 0, 23600000 }, { 2, 8, 0, 48000000 } }, false },
        { "not shown for a moment", { { 1, 0, 0, 0 }, { 2, 8, 0, 48000000 } }, false },
};

static void see_two(struct battery_watch *watch, const struct two *two, uint64_t s)
{
        struct sample sample = { .have = SAMPLE_BATTERY, .boottime_ns = s * NS_PER_S, .monotonic_ns = s * NS_PER_S };

        sample.battery = (struct battery){ .have = BATTERY_CAPACITY, .capacity_percent = 60 };
        memcpy(sample.members, two->members, sizeof(two->members));
        while (sample.n_members < 3 && sample.members[sample.n_members].name)
                sample.n_members++;
        level_watch_battery(watch, &sample);
}

static void batteries_that_are_changed(void)
{
        for (size_t i = 0; i < sizeof(twos) / sizeof(twos[0]); i++) {
                struct battery_watch watch = { 0 };

                see_two(&watch, &twos[0], 10);
                check(!watch.changed);
                see_two(&watch, &twos[i], 20);
                check_int(watch.changed, twos[i].changed);
                watch.changed = false;
                see_two(&watch, &twos[0], 30);
                check_int(watch.changed, twos[i].changed);
                if (watch.changed != twos[i].changed)
                        fprintf(stderr, "in: %s\n", twos[i].what);
        }
}

/* The exchanged battery has other levels: a level that was held back is dropped. */
static void a_swap_in_a_blip(void)
{
        const uint64_t levels[] = { 60, 5, 20, 19 }, want[] = { 60, 60, 20, 19 };
        struct battery_watch watch = { 0 };

        for (size_t i = 0; i < 4; i++) {
                struct sample sample = { .have = SAMPLE_BATTERY, .boottime_ns = (i + 1) * NS_PER_S, .n_members = 1 };

                sample.members[0] = (struct battery_member){ .name = 1, .pack = i < 2 ? 5 : 6 };
                sample.battery = (struct battery){ .have = BATTERY_CAPACITY, .capacity_percent = (uint32_t)levels[i] };
                level_watch_battery(&watch, &sample);
                check_int(sample.battery.capacity_percent, want[i]);
                check_int(watch.changed, i >= 2);
        }
}

int main(void)
{
        levels_that_count(1);
        levels_that_count(40000);
        levels_that_count(500000);
        without_a_full_charge();
        extremes_do_no_harm();
        batteries_that_are_changed();
        a_swap_in_a_blip();
        return check_result();
}
