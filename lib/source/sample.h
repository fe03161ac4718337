/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A sample is what all sources say at one moment: totals that only grow (CPU
 * time, bytes) and levels (charge, brightness), never differences. A late or a
 * missed read then loses nothing. interval.c alone subtracts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/component.h"
#include "radio/radio-ladder.h"

#define APP_ID_MAX 128  /* longest id of an app, with its NUL */

/* Bits of `have` beside the USAGE_* of amounts; USAGE_WIFI: associated or not, too. */
enum sample_have {
        SAMPLE_BATTERY = 1 << 16,
        SAMPLE_OPPS = 1 << 17,       /* time (and busy, any where counted) by policy and frequency */
        SAMPLE_CORES = 1 << 18,      /* busy time of each CPU */
        SAMPLE_SCREEN = 1 << 19,     /* on or off, brightness */
        SAMPLE_FOREGROUND = 1 << 20, /* which app has the screen; unset: unknown */
        SAMPLE_PROCESSES = 1 << 21,
        SAMPLE_BURSTS = 1 << 22,     /* all packets since the sample before are in bursts */
};

enum battery_status {
        BATTERY_UNKNOWN,
        BATTERY_DISCHARGING,
        BATTERY_CHARGING,
        BATTERY_NOT_CHARGING,
        BATTERY_FULL,
};

enum battery_have {
        BATTERY_CAPACITY = 1 << 0,
        BATTERY_CHARGE_NOW = 1 << 1,
        BATTERY_CHARGE_FULL = 1 << 2,
        BATTERY_ENERGY_NOW = 1 << 3,
        BATTERY_ENERGY_FULL = 1 << 4,
        BATTERY_VOLTAGE = 1 << 5,
        BATTERY_POWER = 1 << 6, /* a current sensor: power_now, or current_now x voltage_now */
        BATTERY_TEMPERATURE = 1 << 7,
};

/* All system batteries of the machine together, as the kernel's power_supply class shows them. */
struct battery {
        uint32_t have;              /* BATTERY_*; what a gauge does not show, or shows out of range, is unset */
        enum battery_status status; /* decides the direction; magnitudes below are never negative */
        uint32_t capacity_percent;  /* 0..100, floored by the firmware */
        uint64_t charge_now_uah;
        uint64_t charge_full_uah;
        uint64_t energy_now_uwh;
        uint64_t energy_full_uwh;
        uint64_t voltage_uv;
        uint64_t power_uw;
        uint64_t current_ua;        /* what power_uw is made of, its voltage aside; 0: it is power_now itself */
        int32_t temperature_dc;     /* tenths of a degree C */
};

enum signal_have {
        SIGNAL_WIFI = 1 << 0,
        SIGNAL_CELLULAR = 1 << 1,
};

/* How strongly the radios hear their other side now: what they send and receive costs more where that is weak. */
struct signal {
        uint32_t have;                    /* SIGNAL_* */
        int32_t wifi_signal_dbm;          /* -128..-1, of the access point */
        uint32_t cellular_signal_percent; /* 0..100, as ModemManager makes it of what the modem says */
};

/* One operating point of one policy, since boot. */
struct opp {
        uint32_t policy;
        uint32_t khz;     /* KHZ_UNKNOWN: the machine has no cpufreq; then one opp for the whole machine */
        uint64_t time_ns; /* the policy ran at this frequency (time_in_state) */
        uint64_t busy_ns; /* core-seconds of work there, if opps_counted */
        uint64_t any_ns;  /* at least one core busy there, if opps_counted */
};

struct core {
        uint32_t cpu;
        uint32_t policy;
        uint32_t package; /* > 0: it has a clock of its own, and shares the rest with those of the same number */
        uint64_t busy_ns;
        uint64_t idle_ns; /* waiting for storage included, interrupts not; 0: unknown */
};

/* Beside the USAGE_* of amounts; USAGE_DISK is unset for a process whose io may not be read. */
enum process_have {
        PROCESS_CPU_OPPS = 1 << 16, /* cpu_opp_ns is exact; else interval.c splits cpu_ns by time_in_state */
};

/* Identity is pid and start time; a reused pid is another process. */
struct process {
        pid_t pid;
        uid_t uid;
        uint64_t start_time;   /* in the unit of its source (clock ticks since boot for /proc); identity only */
        uint64_t began_ns;     /* boottime at which it began; 0: unknown */
        uint64_t ended_ns;     /* boottime of its end, in the one sample after it by a collector that sees ends; 0: alive, or unknown */
        pid_t parent;          /* who reaps it, and inherits its bytes (interval-reaped.c); 0: unknown, or nobody does */
        uint32_t have;         /* PROCESS_* */
        uint64_t cpu_ns;       /* user and system, with its exited threads */
        uint64_t *cpu_opp_ns;  /* one for each opp of the sample, or NULL; the sample's */
        OWNER_AMOUNT_MEMBERS;  /* write_bytes: minus cancelled writes */
        char comm[32];         /* hostile bytes as the kernel gives them */
        char app[APP_ID_MAX];  /* the app it belongs to; printable UTF-8 */
};

struct process_id {
        pid_t pid;
        uint64_t start_time;
};

/*
 * Packets of one process over one radio. Not a total: a sample has those since the sample before, also of processes that it
 * does not list and of some that ended; one that goes on at the poll is in it so far, and its rest is in the next.
 */
struct process_burst {
        struct process_id process;   /* pid 0: of no process, as broadcasts are */
        enum air air;
        struct radio_burst burst;    /* its owner is not set; CLOCK_BOOTTIME */
};

/* A hostile agent cannot fill the memory: of more changes between two polls, the newest overwrites the last. */
#define SCREEN_CHANGES_MAX 1024

/* Something on the screen changed, at its time and not at the poll that hears of it. */
struct screen_event {
        uint64_t boottime_ns;
        bool foreground_known;   /* false: from here on it is unknown which app has the screen */
        char app[APP_ID_MAX];    /* the app that has it; "": none */
        bool screen_known;       /* false: unknown whether it is on */
        bool screen_on;
        uint32_t brightness;     /* raw; BRIGHTNESS_UNKNOWN */
};

struct sample {
        uint64_t boottime_ns;   /* CLOCK_BOOTTIME: goes on while suspended */
        uint64_t monotonic_ns;  /* CLOCK_MONOTONIC: does not */
        int64_t realtime_ns;    /* CLOCK_REALTIME, for people; may step */
        char boot_id[40];       /* another boot: totals start at 0 */

        uint32_t have;          /* SAMPLE_* */
        struct battery battery;

        struct opp *opps;       /* ascending by policy, kHz; policies without a CPU that is online are missing */
        size_t n_opps;
        bool opps_counted;      /* busy_ns and any_ns of opps come from the kernel; else interval.c estimates them */
        struct core *cores;     /* ascending by cpu; offline ones are missing */
        size_t n_cores;

        bool wifi_on;           /* associated now */
        bool bluetooth_on;      /* an adapter has a connection now */
        struct signal signal;
        OWNER_AMOUNT_MEMBERS;   /* of all storages, of all WiFi interfaces ... */

        struct screen_event *events; /* since the sample before, ascending in time; the last one holds from then on */
        size_t n_events;
        struct screen_event screen;  /* the state now; valid under SAMPLE_SCREEN and SAMPLE_FOREGROUND */

        struct process *processes;   /* ascending by pid */
        size_t n_processes;
        uint64_t *cpu_opps;          /* what cpu_opp_ns point to: a row for each process of the array */

        /*
         * Where interval.c took the sample before, processes that are as they were need not be
         * listed: `n_unlisted` is how many are not, and `gone` tells of those that were there and are
         * no more. Else all are listed.
         */
        bool partial;
        size_t n_unlisted;
        struct process_id *gone;
        size_t n_gone;
        struct process_burst *bursts; /* in no order */
        size_t n_bursts;
        const void *shown_by;        /* the table of processes that filled it in, at this poll of its own ... */
        uint64_t shown_poll;
        bool taken;                  /* ... and what it showed is known to who gets the next sample */

        struct {
                size_t opps, cores, events, processes, cpu_opps, gone, bursts;
        } capacity;             /* arrays are kept from poll to poll */
};

void sample_reset(struct sample *sample); /* empties it, keeps its memory, and whether it was taken */
void sample_clear(struct sample *sample); /* frees its memory */

/* Room for one more, zeroed; NULL without memory. A process gets cpu_opp_ns of n_opps if @opps. */
struct process *sample_add_process(struct sample *sample, bool opps);
int sample_add_gone(struct sample *sample, pid_t pid, uint64_t start_time);
struct screen_event *sample_add_event(struct sample *sample);
struct process_burst *sample_add_burst(struct sample *sample);
struct opp *sample_add_opp(struct sample *sample);
struct core *sample_add_core(struct sample *sample);
