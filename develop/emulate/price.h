/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A recorded run, and what it would have cost on a target. This is only arithmetic, so the same run always gives
 * the same answer.
 */

#include "model/component.h"
#include "record.h"
#include "target.h"

#define PRICE_SEEDS_MAX 20

/* One execution of the app. */
struct run {
        uint64_t seed;
        int64_t wall_ns;
        int32_t status;                /* as waitpid() gives it */
        enum cpu_means means;
        double cpu_reached;            /* how many times slower threads were while they could run; NaN: not known */
        double outlived;               /* processes that still ran at the app's end, and were ended; NaN: not known */
        /* For how long TCP was slower than the emulated link (struct relay_slow); NaN: not known. */
        double slow_s[RADIO_DIRECTIONS];
        struct packet_record *packets;
        size_t n_packets;
        struct packet_head *heads;     /* the first bytes of each packet; NULL: not kept, as in a run that was loaded */
        struct cpu_record *cpu;        /* ascending in time; CPU time never decreases */
        size_t n_cpu;
        struct task_record *tasks;     /* ascending in time */
        size_t n_tasks;
        struct name_record *names;
        size_t n_names;
        struct frame_record *frames;   /* ascending in time; none: the screen was not read */
        size_t n_frames;
};

void price_clear_run(struct run *run);

struct condition {
        const struct target *target;
        const struct network *network;
        struct factor factor;
        double brightness_percent;     /* the display's brightness; 0: off */
        double battery_mwh;            /* NaN: the profile's */
};

struct span {
        double value, low, high;       /* NaN: not known */
};

/* How well the run was emulated; NaN: not known. */
struct price_quality {
        double kbps[RADIO_DIRECTIONS]; /* rate achieved while packets waited for the link */
        double lateness_p99_ms;        /* how late packets were delivered after their computed time: 99th percentile */
        /* Round trip in this machine's own network: the median over packets. */
        double host_delay_ms;
        /* How much too late packets came on average, as this machine's delay is longer than the emulated network's. */
        double host_late_ms;
        /* UDP packets to and from peers elsewhere whose distance is not known, so no delay was subtracted. */
        double unknown_packets;
        double slow_s[RADIO_DIRECTIONS]; /* for how long TCP was slower than the emulated link */
        double cpu_reached;            /* how many times slower threads were while they could run */
        double outlived;               /* processes that were ended with the app */
};

struct price {
        double wall_s;
        struct span energy_j, battery_hours;
        /* Energy of the radio after the app's end above its power at rest, if no more packets come; NaN: not known. */
        double tail_j;
        double component_j[COMPONENT_COUNT]; /* NaN: the target's profile does not have it */
        struct price_quality quality;
};

/* 0; -ENOMEM. */
int price_run(const struct condition *condition, const struct run *run, struct price *ret);
/* Averages the prices of several runs with different seeds. The interval includes the spread between them. */
void price_mean(const struct condition *condition, const struct price *prices, size_t n, struct price *ret);
/* The display's energy; NaN: the profile does not have it. 0; -ENOMEM. */
int price_display(const struct condition *condition, const struct run *run, double *ret_j);
/* Seconds in each state of the radio, in each of @n equal parts of the run. Only with a radio. 0; -ENOMEM. */
int price_radio_states(const struct condition *condition, const struct run *run, size_t n,
                       double (*ret)[RADIO_STATES_MAX]);
/*
 * Energy of each of @n equal parts of the run by component; 0 for those that take none. @ret: @n rows. 0; -ENOMEM.
 */
int price_series(const struct condition *condition, const struct run *run, size_t n, double (*ret)[COMPONENT_COUNT]);
