/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The present state of the device for a panel: charge, drain, time left. It reveals nothing about any user's
 * apps. The values from usage.db are read seldom, and scaled by the charge in between.
 */

#include "question.h"
#include "source/sample.h"

struct present {
        double percent;                    /* charge; NaN: unknown, like all values below */
        double percent_per_hour;           /* drain of the battery */
        struct joulecast_value minutes;    /* time left on battery with mixed use */
        struct joulecast_value minutes_to_full;
        double charge_limit_percent;       /* NaN: none */
        enum battery_status status;
        bool stale;                        /* a supply stays online although it was unplugged */
        char calibration[16];              /* profile_basis(), or "none" */

        /* values of the last reading of usage.db */
        double energy_full_mwh;
        double read_percent;
        struct joulecast_value read_minutes;
        enum battery_status read_status;
        unsigned age;                      /* polls since that reading */
};

#define PRESENT_UNKNOWN \
        { .percent = NAN, .percent_per_hour = NAN, .minutes = { NAN, NAN, NAN }, .minutes_to_full = { NAN, NAN, NAN }, \
          .charge_limit_percent = NAN, .calibration = "none", .energy_full_mwh = NAN, .read_percent = NAN, \
          .read_minutes = { NAN, NAN, NAN } }

/* Reads usage.db. Values that cannot be determined are unknown. */
void present_read(const struct question_source *source, struct present *present);
/* Call it after a poll: updates from the battery, and from usage.db when that is due. */
void present_follow(const struct question_source *source, const struct battery *battery, struct present *present);
/* Do the values differ by at least @least, and by at least @part of @other? */
bool present_differs(double one, double other, double least, double part);
