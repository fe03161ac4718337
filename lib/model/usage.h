/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage is how much of each component an owner used in a span of time: an app in an interval, the whole
 * machine in a calibration run, one mode of it. The power model multiplies it with its coefficients. It holds
 * amounts only, so usages add up.
 */

#include "component.h"
#include "util/wide.h"

/*
 * An amount by key. Its members have the names of each kind: CPU time by (policy, khz) is busy_ns, screen time
 * by (0, brightness) is on_ns.
 */
struct point {
        union {
                uint32_t group;
                uint32_t policy;
        };
        union {
                uint32_t key;
                uint32_t khz;
                uint32_t brightness; /* raw, 0..max_brightness of the device */
                uint32_t minus_dbm;  /* strength of the signal, in dB below 1 mW */
        };
        union {
                uint64_t ns;
                uint64_t busy_ns; /* summed over cores and threads */
                uint64_t on_ns;
                uint64_t idle_ns;
                uint64_t bytes;
                uint64_t amount;  /* amount in a cell: packets, bytes, ms or spans */
        };
        uint64_t any_ns; /* CPU: while at least one core of the policy was busy; an app's part is shared by busy time */
};

struct points { /* ascending by group, then key; each once */
        struct point *list;
        size_t n;
};

struct usage {
        uint32_t have; /* USAGE_* that were counted */
        AMOUNT_MEMBERS;
        union {
                struct points keyed[KEYED_COUNT];
                struct { /* as enum keyed */
                        struct points cpu;
                        struct points screen;
                        struct points idle;
                        struct points signal;
                        struct points counted; /* the kind of work (kind.h) */
                        struct points radio;
                };
        };
};

int usage_point_compare(const struct point *a, const struct point *b); /* by group, then key */
void usage_clear(struct usage *usage); /* frees the points, zeroes the rest */
int usage_copy(struct usage *to, const struct usage *from);

/*
 * Adds amounts; `have` keeps the bits that both have
 * (an empty @to takes over that of @from). 0; -ENOMEM; -EOVERFLOW.
 */
int usage_add(struct usage *to, const struct usage *from);
/* Adds and clears @from: an empty @to takes its points over. Likewise. */
int usage_move(struct usage *to, struct usage *from);
/* Reduces it to its part from @from to @to of @of; adjacent parts sum to the whole exactly. */
void usage_cut(struct usage *usage, uint64_t from, uint64_t to, uint64_t of);
/* 0; -ENOMEM; -EOVERFLOW. */
int usage_points_add(struct points *points, const struct point *point);
int usage_add_point(struct usage *usage, enum keyed keyed, const struct point *point);
int usage_add_cpu(struct usage *usage, uint32_t policy, uint32_t khz, uint64_t busy_ns, uint64_t any_ns);
int usage_add_screen(struct usage *usage, uint32_t brightness, uint64_t on_ns);

uint64_t usage_points_sum_ns(const struct points *points);
uint64_t usage_busy_ns(const struct usage *usage);
uint64_t usage_screen_ns(const struct usage *usage);
/*
 * Parts of the bytes over WiFi at each of @n levels of the signal, in dB below 1 mW and ascending: between two levels,
 * split by distance; outside, all at the nearest. Bytes without a known signal are in none.
 */
void usage_signal_shares(const struct usage *usage, const uint32_t *minus_dbm, size_t n, double *share);
/* How long an app was there, summed over the rows of its users, span by span. */
struct usage_there {
        int64_t end_ns;   /* end of the newest span */
        uint64_t span_ns; /* time in that span */
        uint64_t ns;      /* time in all spans */
};
/*
 * Adds a row of the span that ends at @end_ns. No app is there for longer than the machine was awake, @awake_ns; 0: not
 * known. Return: by how much the time that the app was there has grown.
 */
uint64_t usage_there_add(struct usage_there *there, int64_t end_ns, uint64_t awake_ns, uint64_t active_ns);
/*
 * How long an app was there whose users' times sum to @ns: no longer than the machine was awake, which is the time of
 * @base, the usage of no app in the same span. If @base has no time: @ns.
 */
double usage_there_ns(double ns, const struct usage *base);
bool usage_is_zero(const struct usage *usage); /* apart from the amounts of the machine */
bool usage_is_empty(const struct usage *usage); /* it is zero, also the machine's times, and nothing was counted */

/* a * b / c, rounded down, without overflow in between; 0 where @c is 0. The result must fit. */
static inline uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
        return c ? (uint64_t)wide_divide_unsigned((uint_wide)a * b, c) : 0;
}

/**
 * usage_points_share() - spread a time over points in the proportions of others
 * @shape:  weights (ns) and, of each, the part in which some core was busy (any_ns); each below 2^62
 * @total:  to be spread; the parts sum to it exactly, as each is the difference of two rounded running sums
 * @ret:    gets a list of its own; points without a part are left out
 *
 * Where the kernel counts no CPU time by frequency, all usages of an interval have the shape of the machine. The
 * interval and the store use this one function, so a store need only write the shape and each total.
 * Return: 0; -ENOMEM.
 */
int usage_points_share(const struct points *shape, uint64_t total, struct points *ret);
