/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The device that is emulated: its profile, the radio that carries the app's packets, and how much slower its CPU is. */

#include "model/profile.h"
#include "network.h"

struct factor {
        double value, low, high; /* time on the target for a second here; 1: as fast, or it is not known */
        bool known;
        double spread;           /* of the kernels: the largest factor by the smallest; NaN with fewer than two */
};

/* What its pictures do to the screen's power. */
struct target_screen {
        double emission;         /* how much less a black picture takes than a white one, as a part; NaN: not known */
        double parts[3];         /* of that for red, green and blue; their sum is 1 */
        double video_mw;         /* more while a video plays; 0: not known */
        char pixels[24];         /* width x height */
};

struct target {
        char name[PROFILE_NAME_MAX];
        struct profile *profile;
        struct radio radio;
        bool has_radio;
        enum radio_signal signal;
        uint32_t cpus;           /* at least 1 */
        struct target_screen screen;
};

/*
 * @carrier, @signal: NULL: the network's, and high
 *
 * A radio of the profile has the name of the network's kind; the files of data/radios have others, for carriers, signals and
 * profiles without one. 0, and target_clear() it; a negative errno after a sentence to @log.
 */
int target_load(const char *name, const struct network *network, const char *carrier, const char *signal,
                const struct log *log, struct target *ret);
void target_clear(struct target *target);

/*
 * How much slower its CPU is than this machine's, whose results of bench_run() are @speed. Kernels whose results the profile
 * does not have do not count. 0; -EINVAL after a sentence about an x-bench key.
 */
int target_factor(const struct target *target, const double *speed, const struct log *log, struct factor *ret);
