/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pace.h"

#include "util/units.h"

#define CATCH_UP_S 0.5

void pace_start(struct pace *pace, double bytes_per_s, uint64_t now_ns)
{
        *pace = (struct pace){ .bytes_per_s = bytes_per_s, .start_ns = now_ns };
}

double pace_owed(struct pace *pace, uint64_t now_ns)
{
        double most = pace->bytes_per_s * CATCH_UP_S;
        double owed = pace->bytes_per_s * ((double)(now_ns - pace->start_ns) / (double)NS_PER_S) -
                      pace->done_bytes;

        if (owed > most) {
                pace->done_bytes += owed - most;
                owed = most;
        }
        return owed;
}

void pace_did(struct pace *pace, double bytes)
{
        pace->done_bytes += bytes;
}
