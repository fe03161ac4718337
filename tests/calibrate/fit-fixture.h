/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A made-up device, its loads, and exact gauge observations of them, for the tests of the fit. */

#include "check.h"
#include "observation/observation.h"
#include "fit/refit.h"
#include "util/units.h"
#include "util/util.h"

/* A made-up device: two cores, four frequencies. */
static const uint32_t khz[] = { 300000, 600000, 900000, 1200000 };
static const double active[] = { 100, 150, 205, 262 }, shared[] = { 40, 48, 55, 64 };
#define BASE 150
#define DISPLAY_LOW 300
#define DISPLAY_HIGH 700
#define READ 6
#define WIFI_ON 30
#define WIFI_RX 350
#define BATTERY_MWH 15000

struct load {
        const char *mode;
        int frequency; /* -1: idle */
        int cores;
        int brightness;
        double read_mb_per_s;
        bool wifi;
        double rx_mb_per_s;
};

static const struct load loads[] = {
        { "idle", -1 },
        { "cpu.0.300000.one", 0, 1 },
        { "cpu.0.300000.all", 0, 2 },
        { "cpu.0.600000.one", 1, 1 },
        { "cpu.0.600000.all", 1, 2 },
        { "cpu.0.900000.one", 2, 1 },
        { "cpu.0.900000.all", 2, 2 },
        { "cpu.0.1200000.one", 3, 1 },
        { "cpu.0.1200000.all", 3, 2 },
        { "display.5", -1, 0, 5 },
        { "display.255", -1, 0, 255 },
        { "disk.read", -1, 0, 0, 20 },
        { "wifi.on", -1, 0, 0, 0, true },
        { "wifi.rx", -1, 0, 0, 0, true, 1.5 },
};

static inline double power(const struct load *load)
{
        double mw = BASE + load->read_mb_per_s * READ + load->rx_mb_per_s * WIFI_RX +
                    (load->wifi ? WIFI_ON : 0);

        if (load->frequency >= 0)
                mw += active[load->frequency] * load->cores + shared[load->frequency];
        if (load->brightness > 0)
                mw += load->brightness == 5 ? DISPLAY_LOW : DISPLAY_HIGH;
        return mw;
}

static inline void fill_usage(const struct load *load, double seconds, struct usage *usage)
{
        uint64_t ns = (uint64_t)llround(seconds * NS_PER_S);

        *usage = (struct usage){ .have = USAGE_ALL, .time_ns = ns, .wifi_on_ns = load->wifi ? ns : 0 };
        if (load->frequency >= 0)
                usage_add_cpu(usage, 0, khz[load->frequency], ns * (uint64_t)load->cores, ns);
        if (load->brightness > 0)
                usage_add_screen(usage, (uint32_t)load->brightness, ns);
        usage->read_bytes = (uint64_t)llround(load->read_mb_per_s * BYTES_PER_MB * seconds);
        usage->wifi_rx_bytes = (uint64_t)llround(load->rx_mb_per_s * BYTES_PER_MB * seconds);
}

/* An exact gauge. */
static inline void observe(const struct load *load, size_t i, struct observation *observation)
{
        *observation = (struct observation){
                .id = (int64_t)i + 1, .run = 1, .sequence = (uint32_t)i, .method = METHOD_GAUGE,
                .start_realtime_ns = (int64_t)i * 10 * (int64_t)NS_PER_S * 3600, .elapsed_ns = 20 * NS_PER_S,
                .percent = 50, .steps = NAN, .charge_full_uah = NAN, .voltage_mv = NAN, .power_mw = power(load),
                .gauge_updates = 5, .refresh_s = 3.5, .temperature_c = NAN,
        };
        snprintf(observation->mode, sizeof(observation->mode), "%s", load->mode);
        snprintf(observation->kind, sizeof(observation->kind), "%.*s", (int)strcspn(load->mode, "."),
                 load->mode);
        fill_usage(load, 20, &observation->usage);
}

static inline struct observation_run run_of(const char *method)
{
        struct observation_run run = { .id = 1, .device = "made-up", .energy_full_mwh = BATTERY_MWH,
                                       .max_brightness = 255 };

        snprintf(run.method, sizeof(run.method), "%s", method);
        run.description = (char *)"{\"policies\":[{\"policy\":0,\"cpus\":\"0-1\",\"n_cpus\":2,"
                          "\"khz\":[300000,600000,900000,1200000]}]}";
        return run;
}

static inline void clear_all(struct observation *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
}

static inline double value_of(const struct outcome *outcome, const char *key)
{
        ssize_t at = profile_find_key(outcome->profile, key);

        return at < 0 ? NAN : outcome->profile->coefficients[at].value;
}
