/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The inside of a virtual device; only lib/virtual/ looks here. Between two
 * changes of work or settings nearly everything is constant, so the steps of
 * time add to a few integrals only, and virtual_device_settle() gives each app its
 * part when somebody wants to know.
 */

#include "automaton.h"
#include "by-cycles.h"
#include "cell.h"
#include "gauge.h"
#include "noise.h"
#include "panel.h"
#include "power.h"
#include "reception.h"
#include "thermal.h"
#include "traffic.h"
#include "virtual-truth.h"

/* An app that has run since the device was opened. It has one process while it has work. */
struct app {
        char id[APP_ID_MAX];
        pid_t pid;           /* one for ever */
        uint64_t began_ns;
        uint64_t ended_ns;
        bool alive;          /* it has work; else it ended at ended_ns */
        bool listed;         /* the source shows it: alive, or ended since the last look */
        uint64_t *cpu_ns;    /* by operating point of the device; of this process */
        struct by_cycles cpu; /* where only cycles tell that */
        uint64_t cpu_total_ns;
        uint64_t gpu_ns, gps_on_ns, audio_on_ns, camera_on_ns;
        double bytes[RATE_COUNT];
        uint64_t shown[RATE_COUNT]; /* whole bytes thereof that are in the machine's totals */
        uint64_t wakes;
        double wake_phase;   /* part of a burst */
        uint64_t packets[AIR_COUNT][RADIO_DIRECTIONS];
        uint64_t other_bytes[RADIO_DIRECTIONS];
        uint64_t silent_ns;  /* a packet over WiFi from then on is a burst */
        struct radio_burst bursts[AIR_COUNT]; /* the last of each; without packets since the source looked: none */
        double energy_j[2];  /* the truth: in the background, in the foreground */
        double part_j[2][VIRTUAL_PART_COUNT];
};

/* The work of one app from now on; several pieces of one app are one. */
struct running {
        size_t app;
        bool foreground;
        double utilisation[POWER_MAX_CPUS]; /* after overlapping work was cut */
        double cpu_factor[POWER_MAX_CPUS];  /* of its CPU power there */
        double bytes_per_s[RATE_COUNT];
        double wakes_per_s;
        double gpu;
        double leaky_w;       /* CPU with its share of S and idle, before leakage */
        bool gps, audio, camera;
        unsigned gps_holders, audio_holders, camera_holders; /* how many have what it has, itself included */
        double display_w, gpu_w, unseen_w, gps_w, audio_w, camera_w;
        double fixed_w;       /* all six */
};

/* A radio whose truth is an automaton. */
struct virtual_air {
        bool present;
        bool on;
        struct automaton automaton;
        fj seen;             /* of its energy, in total_j */
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
        struct virtual_air airs[AIR_COUNT];
        uint64_t traffic_seed;
        double full_factor;                  /* the full charge that is shown, against the true one */
        bool idle_lowers;                    /* the clock that work has raised falls whenever the policy idles */
        bool counts_opps;                    /* CPU time is counted by operating point ... */
        bool counts_cycles;                  /* ... by its cycles, as no counter tells a frequency */
        bool hides_opps;                     /* nothing tells a frequency */

        uint64_t now_ns;
        uint64_t next_second_ns;
        int64_t realtime_at_boot_ns;
        char boot_id[40];
        bool empty;

        /* settings */
        size_t set_opp[POWER_MAX_POLICIES];  /* asked by virtual_set_khz() */
        bool screen_on;
        uint32_t brightness;
        double content;                      /* share of white in the picture */
        bool wifi_on;
        double charger_w;
        bool suspended;
        uint64_t suspended_ns;               /* in all */
        int broken;                          /* the error after which it does not go on; or 0 */
        const struct log *log;

        /* what runs */
        struct running *running;
        size_t n_running;
        struct traffic *traffic;
        size_t n_traffic;
        uint32_t asked_khz[POWER_MAX_POLICIES]; /* by the work; 0: none */
        struct app *apps;
        size_t n_apps;
        size_t apps_capacity;
        struct screen_event screen;          /* the state now */
        struct screen_event *events;         /* since the source looked */
        size_t n_events;
        size_t events_capacity;

        /* constant until the next change of work or settings */
        size_t opp[POWER_MAX_POLICIES];
        size_t idle_opp[POWER_MAX_POLICIES]; /* where it is while no core works */
        struct power_cpu cpu[POWER_MAX_POLICIES];
        double leaky_w, leaky_nobody_w;
        double fixed_w, fixed_nobody_w;
        double rate_w[RATE_COUNT];           /* at nominal rates */
        double rate_flows[RATE_COUNT];       /* 1; 0 for WiFi that is off */
        bool wakes;                          /* any bursts */

        /* integrals since virtual_device_settle() */
        uint64_t span_ns;
        double leakage_s;
        double rate_s[RATE_COUNT];           /* of bytes ... */
        double price_s[RATE_COUNT];          /* ... and of their energy, which is another where bytes change their price */
        double unseen_j;

        /* totals of the machine */
        uint64_t *opp_time_ns, *opp_busy_ns, *opp_any_ns; /* by operating point */
        struct by_cycles busy, any;          /* `seen_ns` of `busy`: what it grew by */
        uint64_t cpu_busy_ns[POWER_MAX_CPUS];
        uint64_t gpu_ns, gps_on_ns, audio_on_ns, camera_on_ns;
        uint64_t bytes[RATE_COUNT];
        uint64_t wakes_total;
        uint64_t silent_ns;                  /* as an app's */
        uint64_t other_bytes[RADIO_DIRECTIONS];
        struct process_burst *bursts;        /* that ended since the source looked */
        size_t n_bursts, bursts_capacity;

        /* the truth */
        double total_j, base_j;
        double percent_start;
        struct virtual_truth_app *truth_apps;
        virtual_truth_packet *watcher;
        void *watcher_data;
};

/* Gives apps and counters what the integrals hold, and empties these. */
void virtual_device_settle(struct virtual_device *device);
/* Computes what is constant from work and settings; virtual_device_settle() must come first. */
void virtual_device_recompute(struct virtual_device *device);
/* Without bursts, at the temperature and with the noise of now. */
double device_power_w(const struct virtual_device *device);
/* The battery's part of that: negative while it is charged. */
double device_battery_w(const struct virtual_device *device, double power_w);

/* 0; -ENOMEM. */
int air_open(struct virtual_device *device, const struct profile *truth);
void air_close(struct virtual_device *device);
void air_set_wifi(struct virtual_device *device, bool on);
/* What a radio draws that nobody uses from now on, pulses at their mean. */
double air_w(const struct virtual_device *device);
/* Rows of packets for @work, which is what runs; those that go on keep their places. 0; -ENOMEM. */
int air_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n);
/* The packets of the next @dt_ns, and what radios draw meanwhile. 0; -ENOMEM; -ENOBUFS, as it says: too many wait. */
int air_step(struct virtual_device *device, uint64_t dt_ns, double *ret_j);
/* Those that ended since the last look, and the open ones so far. */
int air_take_bursts(struct virtual_device *device, struct sample *sample);
/* Byte rates have new factors. */
void air_next_second(struct virtual_device *device);
/* An app's part, in the background or foreground. */
double air_j(const struct virtual_device *device, enum air air, size_t app, bool foreground);

/* Remembers a change of what is on the screen as an event. 0; -ENOMEM. */
int virtual_device_note_screen(struct virtual_device *device);
