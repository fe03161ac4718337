/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The inside of a virtual device, used only in lib/virtual/. Between two changes of work or settings nearly
 * everything is constant. So a step of time only adds to a few integrals, and virtual_device_settle() divides
 * them among the apps when they are read.
 */

#include <stdbool.h>
#include <stdint.h>

#include "automaton.h"
#include "cell.h"
#include "gauge.h"
#include "model/profile.h"
#include "noise.h"
#include "power.h"
#include "radio/radio.h"
#include "rng.h"
#include "source/sample.h"
#include "virtual-truth.h"
#include "virtual.h"
#include "wander.h"

/*
 * Kinds of work (docs/physics.md): the part of an app's CPU power that no counter tells, and the counters that tell the
 * rest. What a kind costs is in power.c.
 */

struct kinds {
        enum virtual_counters counters;
        double share;              /* part of the seconds in which the counters are read */
        double residual, variation, tau_s;
        uint64_t seed, run_seed;   /* the device's, and that of this run of it */
};

/* An app's own. */
struct app_kind {
        double residual;           /* standard normal */
        struct wander variation;
        struct rng reads;
        bool seen;                 /* the counters are read in this second */
        double *counted;           /* by policy and enum counted_event, since they were shown */
};

void kinds_init(struct kinds *kinds, const struct profile_virtual *physics, uint64_t stream, uint64_t seed);
/* Returns 0 or -ENOMEM. */
int kinds_add_app(const struct kinds *kinds, const char *id, size_t n_policies, struct app_kind *ret);
void kinds_clear_app(struct app_kind *app);
/* Whether anything changes from second to second. */
bool kinds_change(const struct kinds *kinds);
void kinds_next_second(const struct kinds *kinds, struct app_kind *app);
/* Present power of its CPU time over that of its kind; exactly 1 where the device has no such effect. */
double kinds_factor(const struct kinds *kinds, const struct app_kind *app);
/* Adds @cycles, with so many instructions and cache events in each. */
void kinds_count(const struct kinds *kinds, struct app_kind *app, size_t policy, double cycles, double instructions,
                 double misses);
/* Moves what was counted to @ret, in whole events. False: nothing was. */
bool kinds_take(const struct kinds *kinds, struct app_kind *app, size_t policy, struct process_counted *ret);

/*
 * Times by operating point on a machine whose kernel reports no frequency but counts cycles.
 *
 * Busy time and cycles between two readings give a mean frequency. The time is split between the two
 * operating points around it, so that cycles per second come out right. This is coarser than a collector in
 * the kernel, which does the same at each switch between tasks.
 */

/* Times by operating point of the device. */
struct by_cycles {
        uint64_t *seen_ns;  /* at the last reading */
        uint64_t *shown_ns; /* as computed from cycles */
};

int by_cycles_alloc(struct by_cycles *cycles, size_t n_opps);
void by_cycles_reset(struct by_cycles *cycles, size_t n_opps);
void by_cycles_clear(struct by_cycles *cycles);

/* Splits the increase of @busy_ns since the last reading, and adds it to @grown_ns, too. */
void by_cycles_look(const struct power_model *model, const uint64_t *busy_ns, struct by_cycles *busy,
                    uint64_t *grown_ns);
/* Splits the increase of each policy's @any_ns in the proportions of @grown_ns. */
void by_cycles_share(const struct power_model *model, const uint64_t *any_ns, struct by_cycles *any,
                     const uint64_t *grown_ns);

/*
 * The price of a byte over the air depends on the signal: a factor that varies over hours, is log-normal, and
 * is limited where a modem gives up or cannot save more. Its mean is 1.
 */

struct reception {
        struct wander wander;
        double log_sd; /* 0: off */
        double log_mean;
        double factor; /* present value */
        double signal_db, noise_db; /* spread of the signal that is shown; 0: none is shown */
        struct rng noise;
};

void reception_init(struct reception *reception, const struct profile_virtual *device, struct rng *rng);
void reception_next_second(struct reception *reception);
/* Signal that a network card shows now, in dBm. Returns false if it shows none. */
bool reception_dbm(struct reception *reception, int32_t *ret);

/*
 * Core temperature: ambient + thermal_c_per_w * P, approached with thermal_tau_s. Leakage increases CPU and
 * idle power by a share per degree above 33 C, and decreases them below. Without leakage the temperature has
 * no effect.
 */

struct thermal {
        double leakage_per_c;
        double c_per_w;
        double tau_s;
        double celsius;
        double keep_dt_s, keep; /* exp(-dt/tau) for the last step length */
};

void thermal_init(struct thermal *thermal, const struct profile_virtual *device);
double thermal_leakage(const struct thermal *thermal); /* the factor L */
void thermal_advance(struct thermal *thermal, double ambient_c, double power_w, double dt_s);

/* Steady power @leaky_w * L + @fixed_w at its own steady temperature in a room of @ambient_c. */
double thermal_steady_w(const struct thermal *thermal, double leaky_w, double fixed_w, double ambient_c);

/* A panel that emits light takes more power for a whiter picture; one with a backlight does not. */

struct panel {
        struct emission_point *emission; /* ascending */
        size_t n_emission;               /* 0: it has a backlight */
};

int panel_init(struct panel *panel, const struct profile_virtual *device); /* 0; -ENOMEM */
void panel_clear(struct panel *panel);
/* Additional power of the picture compared with a black one. @content: share of white, 0..1. */
double panel_emission_w(const struct panel *panel, uint32_t brightness, double content);

/*
 * Times of packets: one row of packets per piece of work. A row depends neither on readings of the device nor
 * on other rows.
 */

enum traffic_kind {
        TRAFFIC_PACKETS, /* as given by the work, sent and received in turn */
        TRAFFIC_RX,      /* packets of a byte rate, which varies */
        TRAFFIC_TX,
        TRAFFIC_BURSTS,  /* one small sent packet each */
};

struct traffic {
        /* identity of the row; a row with the same identity continues after a change of work */
        size_t app;
        uint32_t number;
        enum traffic_kind kind;
        enum air air;
        enum virtual_pattern pattern;
        double packets_per_s;
        uint64_t bytes;          /* size of a packet */
        uint32_t burst_packets;

        /* present sender */
        size_t running;

        /* state of the row */
        struct rng rng;
        uint64_t start_ns, next_ns;
        uint64_t n_packets;
        double factor;           /* factor of a varying rate */
        double part;             /* fraction of its next packet at since_ns */
        uint64_t since_ns;
};

/* An app that has run since the device was opened. It has one process while it has work. */
struct app {
        char id[APP_ID_MAX];
        pid_t pid;           /* never changes */
        uint64_t began_ns;
        uint64_t ended_ns;
        bool alive;          /* it has work; otherwise it ended at ended_ns */
        bool listed;         /* the source shows it: it is alive, or ended since the last reading */
        uint64_t *cpu_ns;    /* this process's times by operating point of the device */
        struct by_cycles cpu; /* the same if operating points are known by cycles only */
        struct app_kind kind;
        uint64_t cpu_total_ns;
        uint64_t gpu_ns, gps_on_ns, audio_on_ns, camera_on_ns;
        double bytes[RATE_COUNT];
        uint64_t shown[RATE_COUNT]; /* whole bytes of these that are in the machine's totals */
        uint64_t wakes;
        double wake_phase;   /* fraction of the next burst */
        uint64_t packets[AIR_COUNT][RADIO_DIRECTIONS];
        uint64_t other_bytes[RADIO_DIRECTIONS];
        uint64_t silent_ns;  /* a packet over WiFi from then on is a burst */
        /* last burst per radio; without packets: none since the last reading */
        struct radio_burst bursts[AIR_COUNT];
        double energy_j[2];  /* true energy: in the background, in the foreground */
        double part_j[2][VIRTUAL_PART_COUNT];
};

/* Present work of one app; several pieces of work of an app are combined. */
struct running {
        size_t app;
        bool foreground;
        double utilisation[POWER_MAX_CPUS]; /* after overlapping work was cut */
        double cpu_factor[POWER_MAX_CPUS];  /* factor of its CPU power there */
        double instructions[POWER_MAX_CPUS], misses[POWER_MAX_CPUS]; /* per cycle there */
        bool reference;       /* all of its work is a calibration's load */
        double bytes_per_s[RATE_COUNT];
        double wakes_per_s;
        double gpu;
        double leaky_w;       /* power of the CPU with its share of S and idle, before leakage */
        bool gps, audio, camera;
        /* number of apps that use the same part, including this one */
        unsigned gps_holders, audio_holders, camera_holders;
        double display_w, gpu_w, unseen_w, gps_w, audio_w, camera_w;
        double fixed_w;       /* sum of these six */
};

/* A radio that is an automaton. */
struct virtual_air {
        bool present;
        bool on;
        struct automaton automaton;
        fj seen;             /* part of its energy that total_j includes */
};

struct virtual_device {
        struct power_model model;
        struct voltage_point *voltage;
        struct cell cell;
        struct gauge gauge;
        struct thermal thermal;
        struct noise noise;
        struct reception reception;
        struct panel panel;
        struct kinds kinds;
        struct virtual_air airs[AIR_COUNT];
        uint64_t traffic_seed;
        double full_factor;                  /* ratio of the shown full charge to the true one */
        bool idle_lowers;                    /* a clock raised by work falls whenever the policy idles */
        bool counts_opps;                    /* CPU time is counted by operating point */
        bool counts_cycles; /* the points are estimated from cycles, as no counter shows a frequency */
        bool hides_opps;                     /* no counter shows a frequency */

        uint64_t now_ns;
        uint64_t next_second_ns;
        int64_t realtime_at_boot_ns;
        char boot_id[40];
        bool empty;

        /* settings */
        size_t set_opp[POWER_MAX_POLICIES];  /* set by virtual_set_khz() */
        bool screen_on;
        uint32_t brightness;
        double content;                      /* share of white in the picture */
        bool wifi_on;
        double charger_w;
        bool suspended;
        uint64_t suspended_ns;               /* total */
        int broken;                          /* the error after which the device cannot continue; 0: none */
        const struct log *log;

        /* work */
        struct running *running;
        size_t n_running;
        struct traffic *traffic;
        size_t n_traffic;
        uint32_t asked_khz[POWER_MAX_POLICIES]; /* requested by the work; 0: none */
        struct app *apps;
        size_t n_apps;
        size_t apps_capacity;
        struct screen_event screen;          /* present state */
        struct screen_event *events;         /* since the last reading of the source */
        size_t n_events;
        size_t events_capacity;

        /* constant until the next change of work or settings */
        size_t opp[POWER_MAX_POLICIES];
        size_t idle_opp[POWER_MAX_POLICIES]; /* while no core works */
        struct power_cpu cpu[POWER_MAX_POLICIES];
        double leaky_w, leaky_nobody_w;
        double fixed_w, fixed_nobody_w;
        double rate_w[RATE_COUNT];           /* at nominal rates */
        double rate_flows[RATE_COUNT];       /* 1; 0 for WiFi that is switched off */
        bool wakes;                          /* is there any burst? */

        /* integrals since virtual_device_settle() */
        uint64_t span_ns;
        double leakage_s;
        double rate_s[RATE_COUNT];           /* integral of byte rates */
        double price_s[RATE_COUNT]; /* integral of their energy, which differs if the price of a byte changes */
        double unseen_j;

        /* totals of the machine */
        uint64_t *opp_time_ns, *opp_busy_ns, *opp_any_ns; /* by operating point */
        struct by_cycles busy, any;          /* `seen_ns` of `busy`: its increase */
        uint64_t cpu_busy_ns[POWER_MAX_CPUS];
        uint64_t gpu_ns, gps_on_ns, audio_on_ns, camera_on_ns;
        uint64_t bytes[RATE_COUNT];
        uint64_t wakes_total;
        uint64_t silent_ns;                  /* as in struct app */
        uint64_t other_bytes[RADIO_DIRECTIONS];
        struct process_burst *bursts;        /* ended since the last reading of the source */
        size_t n_bursts, bursts_capacity;

        /* the truth */
        double total_j, base_j;
        double percent_start;
        struct virtual_truth_app *truth_apps;
        virtual_truth_packet *watcher;
        void *watcher_data;
};

/* Distributes the integrals to apps and counters, and sets them to 0. */
void virtual_device_settle(struct virtual_device *device);
/* Computes the constant values from work and settings. Call virtual_device_settle() first. */
void virtual_device_recompute(struct virtual_device *device);
/* Present power without bursts, at the present temperature and noise. */
double device_power_w(const struct virtual_device *device);
/* The battery's part of that power; negative while it is charged. */
double device_battery_w(const struct virtual_device *device, double power_w);

/* Returns 0 or -ENOMEM. */
int air_open(struct virtual_device *device, const struct profile *truth);
void air_close(struct virtual_device *device);
void air_set_wifi(struct virtual_device *device, bool on);
/* Power of a radio that is not used from now on, pulses at their mean. */
double air_w(const struct virtual_device *device);
/*
 * Makes the rows of packets for the present @work; rows that continue keep their state. Returns 0 or -ENOMEM.
 */
int air_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n);
/*
 * Handles the packets of the next @dt_ns; @ret_j: energy of the radios in that time. Returns 0; -ENOMEM;
 * -ENOBUFS after a sentence: too many packets wait.
 */
int air_step(struct virtual_device *device, uint64_t dt_ns, double *ret_j);
/* Adds the bursts that ended since the last reading, and open ones so far. */
int air_take_bursts(struct virtual_device *device, struct sample *sample);
/* Applies the new factors of byte rates. */
void air_next_second(struct virtual_device *device);
/* Energy of an app in the background or foreground. */
double air_j(const struct virtual_device *device, enum air air, size_t app, bool foreground);
