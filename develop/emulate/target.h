/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The device that is emulated: its profile, the radio that carries the app's packets, and how many times slower
 * its CPU is.
 */

#include "model/profile.h"
#include "network.h"

struct factor {
        double value, low, high; /* seconds on the target for a second here; 1: as fast, or not known */
        bool known;
        double spread;           /* the kernels' largest factor divided by their smallest; NaN with fewer than two */
};

/* How the screen's power depends on its pictures. */
struct target_screen {
        double emission;         /* how much less a black picture takes than a white one, as a part; NaN: not known */
        double parts[3];         /* weights of red, green and blue in that; their sum is 1 */
        double channels_mw;      /* power of red, green and blue at full light and brightness; NaN: emission counts */
        double video_mw;         /* additional power while a video plays; 0: not known */
        char pixels[24];         /* width x height, as in "1080x1920" */
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
 * @carrier: NULL: the network's
 * @signal: NULL: high
 *
 * A radio of the profile is named after the network's kind; the files of data/radios have others, for
 * carriers, signals and profiles without one. 0, and target_clear() it; a negative errno after a sentence to @log.
 */
int target_load(const char *name, const struct network *network, const char *carrier, const char *signal,
                const struct log *log, struct target *ret);
void target_clear(struct target *target);

/* Radios of the network's kind, with their carriers; empty if there are none. 0, and radio_clear_all() them. */
int target_radios(const struct network *network, const struct log *log, struct radios *ret);

/*
 * How many times slower its CPU is than this machine's, whose results of bench_run() are @speed. Kernels that have no
 * results in the profile do not count. 0; -EINVAL after a sentence about an x-bench key.
 */
int target_factor(const struct target *target, const double *speed, const struct log *log, struct factor *ret);
