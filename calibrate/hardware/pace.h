/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How much of a paced load is due: an absolute schedule,
 * so that a late wake-up is made up for and no error adds up.
 */

#include <stdint.h>

struct pace {
        double bytes_per_s;  /* 0: nothing is ever due */
        uint64_t start_ns;
        double done_bytes;   /* since start_ns */
};

void pace_start(struct pace *pace, double bytes_per_s, uint64_t now_ns);

/*
 * Bytes that should have been done by @now_ns and are not. What a storage could not keep up with for longer
 * than a moment is dropped: a burst at full speed would be another load than the one asked for.
 */
double pace_owed(struct pace *pace, uint64_t now_ns);
void pace_did(struct pace *pace, double bytes);
