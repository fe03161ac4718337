/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "portfolio-usage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/units.h"

/*
 * The default portfolio: sessions of four apps in turn, and the system with the screen off. The amounts are
 * assumptions for typical use of a phone.
 */
#define SESSIONS 25
#define APPS 4
#define PARTS 3

struct random {
        uint64_t state;
};

/* xorshift64*, so that the portfolio is the same on each machine and in each run. */
static double uniform(struct random *random, double low, double high)
{
        uint64_t x = random->state;

        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        random->state = x;
        return low + (high - low) * (double)((x * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static double normal(struct random *random)
{
        double u = uniform(random, 1e-12, 1), v = uniform(random, 0, 2 * M_PI);

        return sqrt(-2 * log(u)) * cos(v);
}

static double exponential(struct random *random, double mean)
{
        return -mean * log(uniform(random, 1e-12, 1));
}

static uint64_t ns(double seconds)
{
        return (uint64_t)(seconds * NS_PER_S);
}

/*
 * Frequencies of typical use: governors are mostly at the ends and above the middle. Weighted by position in
 * the list.
 */
static size_t pick_point(struct random *random, size_t n)
{
        double u = uniform(random, 0, 1), place;

        /* Without cpufreq the first entry is KHZ_UNKNOWN. */
        if (n == 0 || u < 0.15)
                return 0;
        if (u < 0.33)
                return n - 1;
        place = 0.55 + 0.22 * normal(random);
        return (size_t)fmin(fmax(round(place * (double)(n - 1)), 0), (double)(n - 1));
}

static int busy_part(struct random *random, const struct device *device, double utilisation, double seconds,
                     struct usage *usage)
{
        const struct device_policy *policy;
        double share[4], sum = 0, busy = 0, idle = 1;
        size_t cores;

        if (device->n_policies == 0)
                return 0;
        policy = &device->policies[(size_t)uniform(random, 0, (double)device->n_policies)];
        cores = policy->n_cpus >= 1 && policy->n_cpus < 4 ? policy->n_cpus : 4;
        for (size_t c = 0; c < cores; c++) {
                share[c] = exponential(random, 1);
                sum += share[c];
        }
        for (size_t c = 0; c < cores; c++) {
                double u = fmin(utilisation * share[c] / sum, 0.98);

                busy += u;
                idle *= 1 - u;
        }
        return usage_add_cpu(usage, policy->policy, policy->khz[pick_point(random, policy->n_khz)],
                             ns(busy * seconds), ns((1 - idle) * seconds));
}

static int make_app(struct random *random, const struct device *device, uint32_t brightness, double *seconds,
                    struct usage *usage)
{
        double utilisation = fmin(fmax(exp(log(0.5) + 0.7 * normal(random)), 0.05), 2.2), rx;
        int err = 0;

        *seconds = uniform(random, 300, 1500);
        usage->have = USAGE_ALL;
        for (size_t part = 0; !err && part < PARTS; part++)
                err = busy_part(random, device, utilisation, *seconds / PARTS, usage);
        if (!err)
                err = usage_add_screen(usage, brightness, ns(*seconds));
        rx = exponential(random, 0.06);
        usage->read_bytes = (uint64_t)(exponential(random, 0.3) * *seconds * BYTES_PER_MB);
        usage->write_bytes = (uint64_t)(exponential(random, 0.1) * *seconds * BYTES_PER_MB);
        usage->wifi_rx_bytes = (uint64_t)(rx * *seconds * BYTES_PER_MB);
        usage->wifi_tx_bytes = (uint64_t)(0.2 * rx * *seconds * BYTES_PER_MB);
        usage->wifi_wakes = (uint64_t)(uniform(random, 0.02, 0.3) * *seconds);
        usage->gpu_busy_ns = ns(uniform(random, 0, 0.5) * *seconds);
        return err;
}

static int make_system(struct random *random, const struct device *device, double *seconds,
                       struct usage *usage)
{
        *seconds = uniform(random, 600, 2400);
        usage->have = USAGE_ALL;
        usage->read_bytes = (uint64_t)(0.02 * *seconds * BYTES_PER_MB);
        usage->write_bytes = (uint64_t)(0.05 * *seconds * BYTES_PER_MB);
        usage->wifi_rx_bytes = (uint64_t)(0.003 * *seconds * BYTES_PER_MB);
        usage->wifi_tx_bytes = (uint64_t)(0.001 * *seconds * BYTES_PER_MB);
        usage->wifi_wakes = (uint64_t)(0.05 * *seconds);
        if (device->n_policies == 0)
                return 0;
        return usage_add_cpu(usage, device->policies[0].policy, device->policies[0].khz[0],
                             ns(0.07 * *seconds), ns(0.068 * *seconds));
}

static int make_session(struct random *random, const struct device *device, uint32_t max_brightness,
                        struct portfolio_usage *usage)
{
        double level = fmin(fmax(0.7 + 0.16 * normal(random), 0.12), 1), seconds, all = 0;
        struct usage *total = &usage->totals[usage->n_totals++];
        struct usage system = { 0 };
        int err = 0;

        for (size_t a = 0; !err && a < APPS; a++) {
                struct usage *app = &usage->apps[usage->n_apps++];

                err = make_app(random, device, (uint32_t)(level * max_brightness), &seconds, app);
                if (!err)
                        err = usage_add(total, app);
                all += seconds;
        }
        if (!err)
                err = make_system(random, device, &seconds, &system);
        if (!err)
                err = usage_add(total, &system);
        usage_clear(&system);
        all += seconds;
        total->time_ns = ns(all);
        total->wifi_on_ns = ns(all);
        return err;
}

static uint32_t brightest(const struct columns *columns)
{
        if (columns->device.max_brightness > 0 || columns->levels == 0)
                return columns->device.max_brightness;
        return columns->list[columns->term[TERM_DISPLAY] + columns->levels - 1].point;
}

int portfolio_usage_make(const struct device *device, const struct columns *columns, const char *path,
                         struct portfolio_usage *ret)
{
        struct random random = { UINT64_C(0x9e3779b97f4a7c15) };
        struct portfolio_usage usage = { 0 };
        int err = 0;

        if (path && portfolio_usage_recorded(path, ret) == 0)
                return 0;
        usage.totals = calloc(SESSIONS, sizeof(*usage.totals));
        usage.apps = calloc(SESSIONS * APPS, sizeof(*usage.apps));
        if (!usage.totals || !usage.apps)
                err = -ENOMEM;
        for (size_t i = 0; !err && i < SESSIONS; i++)
                err = make_session(&random, device, brightest(columns), &usage);
        if (err)
                portfolio_usage_clear(&usage);
        else
                *ret = usage;
        return err;
}

void portfolio_usage_clear(struct portfolio_usage *usage)
{
        for (size_t i = 0; i < usage->n_totals; i++)
                usage_clear(&usage->totals[i]);
        for (size_t i = 0; i < usage->n_apps; i++)
                usage_clear(&usage->apps[i]);
        free(usage->totals);
        free(usage->apps);
        *usage = (struct portfolio_usage){ 0 };
}
