/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How much of a paced load is due, by an absolute schedule: late wake-ups are made up for, and errors do not
 * add up.
 */

#include <stdint.h>

struct pace {
        double bytes_per_s;  /* 0: nothing is ever due */
        uint64_t start_ns;
        double done_bytes;   /* since start_ns */
};

void pace_start(struct pace *pace, double bytes_per_s, uint64_t now_ns);

/*
 * Bytes due by @now_ns and not done yet. A backlog of more than a moment is dropped: catching up at full
 * speed would be another load than the one asked for.
 */
double pace_owed(struct pace *pace, uint64_t now_ns);
void pace_did(struct pace *pace, double bytes);
