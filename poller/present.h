/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How the device does now, for a panel: charge, drain, time left. Nothing in it tells what any user's apps did. What is read
 * from usage.db for that is read seldom, and scaled by the charge in between.
 */

#include "question.h"
#include "source/sample.h"

struct present {
        double percent;                    /* of charge; NaN: unknown, as all below */
        double percent_per_hour;           /* that the battery loses */
        struct joulecast_value minutes;    /* that are left on battery, with mixed use */
        struct joulecast_value minutes_to_full;
        double charge_limit_percent;       /* NaN: none */
        enum battery_status status;
        char calibration[16];              /* profile_basis(), or "none" */

        /* of the last look into usage.db */
        double energy_full_mwh;
        double read_percent;
        struct joulecast_value read_minutes;
        enum battery_status read_status;
        unsigned age;                      /* polls since then */
};

#define PRESENT_UNKNOWN \
        { .percent = NAN, .percent_per_hour = NAN, .minutes = { NAN, NAN, NAN }, .minutes_to_full = { NAN, NAN, NAN }, \
          .charge_limit_percent = NAN, .calibration = "none", .energy_full_mwh = NAN, .read_percent = NAN, .read_minutes = { NAN, NAN, NAN } }

/* Looks into usage.db. What cannot be found out is unknown. */
void present_read(const struct question_source *source, struct present *present);
/* After a poll: by its battery, and by usage.db where that is due. */
void present_follow(const struct question_source *source, const struct battery *battery, struct present *present);
/* Is the one noticeably different from the other? */
bool present_differs(double one, double other, double least, double part);
