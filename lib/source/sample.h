/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A sample has the readings of all sources at one moment: totals that only grow
 * (CPU time, bytes) and levels (charge, brightness), never differences. A late
 * or a missed read then loses nothing. Only interval.c subtracts.
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
        SAMPLE_OPPS = 1 << 17,       /* time (and busy, any if counted) by policy and frequency */
        SAMPLE_CORES = 1 << 18,      /* busy time of each CPU */
        SAMPLE_SCREEN = 1 << 19,     /* on or off, brightness */
        SAMPLE_FOREGROUND = 1 << 20, /* the app that has the screen; unset: unknown */
        SAMPLE_PROCESSES = 1 << 21,
        SAMPLE_BURSTS = 1 << 22,     /* all packets since the previous sample are in bursts */
        SAMPLE_COUNTED = 1 << 23,    /* cycles and instructions since the previous sample are in counted */
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
        uint32_t have;              /* BATTERY_*; values that a gauge does not show, or out of range, are unset */
        enum battery_status status; /* decides the direction; magnitudes below are never negative */
        uint32_t capacity_percent;  /* 0..100, rounded down by the firmware */
        uint64_t charge_now_uah;
        uint64_t charge_full_uah;
        uint64_t energy_now_uwh;
        uint64_t energy_full_uwh;
        uint64_t voltage_uv;
        uint64_t power_uw;
        uint64_t current_ua;        /* current from which power_uw was calculated; 0: power_uw is power_now itself */
        int32_t temperature_dc;     /* tenths of a degree C */
        /* status by the batteries alone, without the effect of a supply that is online; not stored */
        enum battery_status said;
        bool unfed; /* all supplies are shown, and offline; not stored */
};

#define BATTERY_MEMBERS_MAX 8 /* further batteries are not listed */

/* One of the batteries that are in the sums of struct battery. */
struct battery_member {
        uint64_t name;            /* hash of the name of its folder */
        uint64_t pack;            /* hash of its maker, model and serial number; 0: not shown */
        uint64_t charge_full_uah; /* 0: not shown */
        uint64_t energy_full_uwh; /* likewise */
};

enum signal_have {
        SIGNAL_WIFI = 1 << 0,
        SIGNAL_CELLULAR = 1 << 1,
};

/* Signal strength at the radios now: sending and receiving costs more with a weak signal. */
struct signal {
        uint32_t have;                    /* SIGNAL_* */
        int32_t wifi_signal_dbm;          /* -128..-1, signal of the access point */
        uint32_t cellular_signal_percent; /* 0..100, as ModemManager calculates it from the modem's values */
};

/* One operating point of one policy, since boot. */
struct opp {
        uint32_t policy;
        uint32_t khz;     /* KHZ_UNKNOWN: the machine has no cpufreq; then one opp for the whole machine */
        uint64_t time_ns; /* time that the policy ran at this frequency (time_in_state) */
        uint64_t busy_ns; /* core time of work at it, if opps_counted */
        uint64_t any_ns;  /* time at it with at least one core busy, if opps_counted */
};

struct core {
        uint32_t cpu;
        uint32_t policy;
        uint32_t package; /* > 0: it has its own clock, and shares everything else with cores of the same number */
        uint64_t busy_ns;
        uint64_t idle_ns; /* includes waiting for storage, not interrupts; 0: unknown */
};

/* Bits in addition to the USAGE_* of amounts; USAGE_DISK is unset for a process whose io may not be read. */
enum process_have {
        PROCESS_CPU_OPPS = 1 << 16, /* cpu_opp_ns is exact; else interval.c splits cpu_ns by time_in_state */
};

/* A process is identified by pid and start time; a reused pid is another process. */
struct process {
        pid_t pid;
        uid_t uid;
        uint64_t start_time;   /* in the unit of its source (clock ticks since boot for /proc); identity only */
        uint64_t began_ns;     /* boottime at which it began; 0: unknown */
        /* boottime of its end, only in the next sample, by a collector that sees ends; 0: alive, or unknown */
        uint64_t ended_ns;
        /* process that reaps it, and inherits its bytes (interval-reaped.c); 0: unknown, or none does */
        pid_t parent;
        uint32_t have;         /* PROCESS_* */
        uint64_t cpu_ns;       /* user and system time, with its exited threads */
        uint64_t *cpu_opp_ns;  /* one for each opp of the sample, or NULL; points into the sample's cpu_opps */
        OWNER_AMOUNT_MEMBERS;  /* write_bytes: minus cancelled writes */
        char comm[32];         /* as the kernel gives it: untrusted bytes */
        char app[APP_ID_MAX];  /* the app it belongs to; printable UTF-8 */
};

struct process_id {
        pid_t pid;
        uint64_t start_time;
};

/*
 * Packets of one process over one radio. Not a total: a sample has the bursts since the previous sample, also those of
 * processes that it does not list and of some that ended. A burst during the poll is split: its begin is in this
 * sample, its rest in the next.
 */
struct process_burst {
        struct process_id process;   /* pid 0: no process, as for broadcasts */
        enum air air;
        struct radio_burst burst;    /* its owner is not set; CLOCK_BOOTTIME */
};

/*
 * Events of one process on one policy, over the stretches in which the counters were read. As with bursts, these are no
 * totals: a sample has those since the previous sample.
 */
struct process_counted {
        struct process_id process; /* pid 0: no particular process */
        uint32_t policy;
        bool misses;               /* cache events were counted, too */
        uint64_t amount[COUNTED_COUNT];
};

/* Most changes between two polls, so that a hostile agent cannot fill the memory; a further one overwrites the last. */
#define SCREEN_CHANGES_MAX 1024

/* A change on the screen, at its own time and not at that of the poll that reads it. */
struct screen_event {
        uint64_t boottime_ns;
        bool foreground_known;   /* false: from here on the app that has the screen is unknown */
        char app[APP_ID_MAX];    /* the app that has it; "": none */
        bool screen_known;       /* false: on or off is unknown */
        bool screen_on;          /* the built-in panel */
        /* a monitor is lit, or may be: an app can have the foreground while the panel is off */
        bool monitor_on;
        uint32_t brightness;     /* raw; BRIGHTNESS_UNKNOWN */
};

struct sample {
        uint64_t boottime_ns;   /* CLOCK_BOOTTIME: runs during suspend */
        uint64_t monotonic_ns;  /* CLOCK_MONOTONIC: stops during suspend */
        int64_t realtime_ns;    /* CLOCK_REALTIME, for people; may step */
        char boot_id[40];       /* differs after a reboot: totals start at 0 */

        uint32_t have;          /* SAMPLE_* */
        struct battery battery;
        struct battery_member members[BATTERY_MEMBERS_MAX]; /* ascending by name, if the source has them */
        size_t n_members;

        struct opp *opps;       /* ascending by policy, kHz; policies without an online CPU are missing */
        size_t n_opps;
        bool opps_counted;      /* busy_ns and any_ns of opps come from the kernel; else interval.c estimates them */
        struct core *cores;     /* ascending by cpu; offline ones are missing */
        size_t n_cores;

        bool wifi_on;           /* associated now */
        bool bluetooth_on;      /* an adapter has a connection now */
        struct signal signal;
        OWNER_AMOUNT_MEMBERS;   /* totals of all storages, all WiFi interfaces ... */

        struct screen_event *events; /* since the previous sample, ascending in time; the last one is still valid */
        size_t n_events;
        struct screen_event screen;  /* the state now; valid under SAMPLE_SCREEN and SAMPLE_FOREGROUND */

        struct process *processes;   /* ascending by pid */
        size_t n_processes;
        uint64_t *cpu_opps;          /* memory of all cpu_opp_ns: a row for each process of the array */

        /*
         * True: interval.c took the previous sample, and unchanged processes may be left out. `n_unlisted` is
         * the number of processes left out, `gone` lists those that were in an earlier sample and ended.
         * False: all processes are listed.
         */
        bool partial;
        size_t n_unlisted;
        struct process_id *gone;
        size_t n_gone;
        struct process_burst *bursts; /* in no order */
        size_t n_bursts;
        struct process_counted *counted; /* in no order */
        size_t n_counted;
        const void *shown_by;        /* the table of processes that filled it in, at this poll of that table ... */
        uint64_t shown_poll;
        bool taken;                  /* ... and its processes are known to the reader of the next sample */

        struct {
                size_t opps, cores, events, processes, cpu_opps, gone, bursts, counted;
        } capacity;             /* arrays are kept from poll to poll */
};

void sample_reset(struct sample *sample); /* empties it, keeps its memory, and whether it was taken */
void sample_clear(struct sample *sample); /* frees its memory */

/* Each adds one element, zeroed; NULL or -ENOMEM without memory. @opps: a process gets cpu_opp_ns with n_opps. */
struct process *sample_add_process(struct sample *sample, bool opps);
int sample_add_gone(struct sample *sample, pid_t pid, uint64_t start_time);
struct screen_event *sample_add_event(struct sample *sample);
struct process_burst *sample_add_burst(struct sample *sample);
struct process_counted *sample_add_counted(struct sample *sample);
struct opp *sample_add_opp(struct sample *sample);
struct core *sample_add_core(struct sample *sample);
