/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A usage is how much of each component somebody used in a span of time:
 * an app in an interval, the whole machine in a night, one calibration mode.
 * It is what the power model multiplies with its coefficients. Amounts only,
 * so usages add up; what was not counted is an unset bit in `have`, never 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum usage_have {
        USAGE_CPU = 1 << 0,     /* busy time by policy and frequency */
        USAGE_DISK = 1 << 1,    /* bytes that reached a storage */
        USAGE_WIFI = 1 << 2,    /* bytes and bursts over WiFi */
        USAGE_GPU = 1 << 3,
        USAGE_DISPLAY = 1 << 4, /* screen time by brightness */
};
#define USAGE_ALL (USAGE_CPU | USAGE_DISK | USAGE_WIFI | USAGE_GPU | USAGE_DISPLAY)

#define KHZ_UNKNOWN UINT32_C(0)           /* no cpufreq, or frequency not known */
#define BRIGHTNESS_UNKNOWN UINT32_MAX     /* the screen was on, nobody knows how bright */

/* CPU time at one operating point. */
struct cpu_time {
        uint32_t policy;
        uint32_t khz;
        uint64_t busy_ns; /* summed over cores and threads */
        uint64_t any_ns;  /* while at least one core of the policy was busy; an app's part is shared by busy time */
};

/* Time the screen was on at one brightness. */
struct screen_time {
        uint32_t brightness; /* raw, 0..max_brightness of the device */
        uint64_t on_ns;
};

struct usage {
        uint32_t have;           /* USAGE_* that were counted */
        uint64_t time_ns;        /* awake time of the machine; 0 in an app's usage */
        uint64_t suspend_ns;     /* suspended time of the machine; 0 in an app's usage */
        struct cpu_time *cpu;    /* ascending by policy, then kHz; each pair once */
        size_t n_cpu;
        struct screen_time *screen; /* ascending by brightness; each once */
        size_t n_screen;
        uint64_t read_bytes;
        uint64_t write_bytes;
        uint64_t wifi_on_ns;     /* associated; the machine's, 0 in an app's usage */
        uint64_t wifi_rx_bytes;
        uint64_t wifi_tx_bytes;
        uint64_t wifi_wakes;     /* bursts of packets after a silence of 1 s or more */
        uint64_t other_rx_bytes; /* interfaces that are neither WiFi nor loopback; not in the model yet */
        uint64_t other_tx_bytes;
        uint64_t gpu_busy_ns;
};

void usage_clear(struct usage *usage); /* frees the arrays, zeroes the rest */
int usage_copy(struct usage *to, const struct usage *from);

/*
 * Adds amounts; `have` becomes what both counted
 * (an empty @to takes over that of @from). 0; -ENOMEM; -EOVERFLOW.
 */
int usage_add(struct usage *to, const struct usage *from);
int usage_add_cpu(struct usage *usage, uint32_t policy, uint32_t khz, uint64_t busy_ns, uint64_t any_ns);
int usage_add_screen(struct usage *usage, uint32_t brightness, uint64_t on_ns);

uint64_t usage_busy_ns(const struct usage *usage);   /* all operating points */
uint64_t usage_screen_ns(const struct usage *usage); /* all levels */
bool usage_is_zero(const struct usage *usage);       /* nothing but time passed */
