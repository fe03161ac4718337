/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A recorded run, and what it would have cost on a target: arithmetic alone, so the same run always gives the same answer. */

#include "model/component.h"
#include "record.h"
#include "target.h"

#define PRICE_SEEDS_MAX 20

/* One time that the app ran. */
struct run {
        uint64_t seed;
        int64_t wall_ns;
        int32_t status;                /* as waitpid() gives it */
        enum cpu_means means;
        double cpu_reached;            /* how much slower threads were while they could run; NaN: not known */
        double slow_s[RADIO_DIRECTIONS]; /* for how long bytes came or were sent more slowly than by the link; NaN: not known */
        struct packet_record *packets;
        size_t n_packets;
        struct packet_head *heads;     /* of each packet; NULL: not kept, as in a run that was loaded */
        struct cpu_record *cpu;        /* ascending in time, and never less */
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
        double brightness_percent;     /* of the display; 0: off */
        double battery_mwh;            /* NaN: the profile's */
};

struct span {
        double value, low, high;       /* NaN: not known */
};

/* How well it was emulated; NaN: nothing told it. */
struct price_quality {
        double kbps[RADIO_DIRECTIONS]; /* achieved while packets waited for the link */
        double lateness_p99_ms;        /* of deliveries, behind their computed time */
        double host_delay_ms;          /* of this machine's own network, there and back: the median of its peers, by packets */
        double host_late_ms;           /* how much later packets came on average, as that is longer than the network's */
        double unknown_packets;        /* to and from peers elsewhere whose distance is not known: nothing was taken off */
        double slow_s[RADIO_DIRECTIONS]; /* for how long bytes came or were sent more slowly than by the link */
        double cpu_reached;            /* how much slower threads were while they could run */
};

struct price {
        double wall_s;
        struct span energy_j, battery_hours;
        double component_j[COMPONENT_COUNT]; /* NaN: the target's profile does not tell it */
        struct price_quality quality;
};

/* 0; -ENOMEM. */
int price_run(const struct condition *condition, const struct run *run, struct price *ret);
/* Of several runs with different seeds: their means, with the spread between them in the interval. */
void price_mean(const struct condition *condition, const struct price *prices, size_t n, struct price *ret);
/* The display's energy; NaN: the profile does not tell it. 0; -ENOMEM. */
int price_display(const struct condition *condition, const struct run *run, double *ret_j);
/* Seconds in each state of the radio, in each of @n equal parts of the run. Only with a radio. 0; -ENOMEM. */
int price_radio_states(const struct condition *condition, const struct run *run, size_t n, double (*ret)[RADIO_STATES_MAX]);
/*
 * Energy of each of @n equal parts of the run, by component; those that take none are 0. @ret: @n rows. 0; -ENOMEM.
 */
int price_series(const struct condition *condition, const struct run *run, size_t n, double (*ret)[COMPONENT_COUNT]);
