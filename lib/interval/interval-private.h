/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of interval share among themselves; no other file includes it. */

#include "interval.h"

/*
 * Splits @total over @n weights so that the parts sum to @total exactly: each part is the difference of two
 * rounded running sums, so an error of one unit never adds up. All weights 0: everything goes to the first.
 */
void interval_split_by_weight(uint64_t total, const uint64_t *weight, size_t n, uint64_t *part);

/* Growth of a total; one that went backward (reset, unplugged, reused) or leapt beyond reason is a gap: 0. */
static inline uint64_t growth(uint64_t before, uint64_t now, uint64_t most)
{
        return now >= before && now - before <= most ? now - before : 0;
}

/* No device moves so many bytes between two polls: beyond this a counter is broken, not busy. */
#define MOST_BYTES (UINT64_C(1) << 56)
#define MOST_CPUS 4096

/* Bytes that a process's totals grew by because it reaped children whose own they were. */
struct reaped {
        uint64_t read_bytes;
        uint64_t write_bytes;
};

/*
 * A process as the samples so far told of it. A sample lists only those that changed, so what costs of one
 * that did nothing is its memory alone.
 */
struct held {
        struct held *next;         /* of the same slot */
        struct held *next_of_app;
        struct live_app *app;
        struct process *now;       /* in the sample being subtracted; NULL: it is as it was */
        struct process process;    /* in the last sample that listed it; its cpu_opp_ns stand as the table's opps do */
        size_t n_opps;             /* that there is room for */
        uint64_t listed;           /* number of that sample */
        bool fresh;                /* not known before the sample being subtracted */
        bool gone;
        struct reaped reaped;
};

/* What processes of an owner used, while an interval is being made. */
struct tally {
        bool used;
        uint32_t have;             /* USAGE_* that all of them counted */
        uint64_t amount[OWNER_AMOUNT_COUNT];
        uint64_t cpu_ns;           /* whose operating points are not known */
        uint64_t *opp_ns;          /* the rest, one for each of the sample; NULL: none */
        struct points screen;
        uint64_t active_ns;
};

/* An app of one user, while processes of it are there. */
struct live_app {
        struct live_app *next;     /* of the same slot */
        char app[APP_ID_MAX];
        uid_t uid;
        struct held *members;
        size_t n_there;            /* of them that the sample being subtracted tells of, or left as they were */
        size_t n;                  /* of them that were there before it ... */
        size_t n_leaving;          /* ... and are not any more, or ended */
        uint64_t life_ns;          /* the longest of those that were there for a part of the interval */
        struct tally tally[2];     /* by enum app_state */
        uint64_t radio_owner;      /* its number in struct radio_owners, where that still has it; 0: it never had one */
};

/* Policies come and go with their CPUs, so the operating points of a sample stand elsewhere in the next. */
struct opp_id {
        uint32_t policy;
        uint32_t khz;
};

struct held_table {
        struct held **slots;       /* by pid */
        size_t n, n_slots;
        struct live_app **app_slots;
        size_t n_app_slots;
        struct live_app **apps;    /* in the order in which they came */
        size_t n_apps, apps_capacity;
        struct held **listed;      /* of each process of the sample being subtracted */
        size_t listed_capacity;
        struct held **gone;
        size_t n_gone, gone_capacity;
        struct opp_id *opps;       /* all that were in a sample so far, in the order in which they came */
        size_t n_opps, opps_capacity;
        size_t *opp_of;            /* of each operating point of the sample being subtracted: where it stands there */
        size_t opp_of_capacity;
        uint64_t samples;
};

int held_match(struct held_table *table, struct sample *now); /* sets `now`, `fresh`, `gone`, `app` and the lists */
void held_take_over(struct held_table *table, const struct sample *now);
void held_clear(struct held_table *table);                      /* forgets all, and frees its memory */
struct held *held_find_pid(const struct held_table *table, pid_t pid, const struct held *after); /* NULL: no more */
void reaped_find(const struct held_table *table, const struct sample *now);

static inline const struct process *held_now(const struct held *held)
{
        return held->now ? held->now : &held->process;
}

/* Who had the screen, and for how long. */
struct screen_share {
        char app[APP_ID_MAX];   /* "": none, or unknown */
        uint64_t foreground_ns; /* had the screen while it was not known to be off; 0 for no app */
        struct usage usage;     /* screen time by brightness only */
};

struct screen_split {
        struct screen_share *shares; /* first that of no app */
        size_t n;
        size_t capacity;
        bool screen_known;           /* on or off was known all the time */
        bool foreground_known;       /* who had it was known at some moment, or there was nothing to have */
};

int screen_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                      struct screen_split *ret);
void screen_split_clear(struct screen_split *split); /* frees its memory */
const struct screen_share *screen_split_find(const struct screen_split *split, const char *app);

/* The machine's CPU time of one interval at one operating point. */
struct cpu_point {
        uint32_t policy;
        uint32_t khz;
        uint64_t time_ns;  /* the policy ran there */
        uint64_t busy_ns;  /* of the whole machine */
        uint64_t any_ns;   /* at least one core of the policy busy */
        uint64_t owned_ns; /* thereof with an owner; may exceed busy_ns, since ticks of tasks and CPUs differ */
};

struct cpu_split {
        struct cpu_point *points; /* ascending by policy, kHz; never empty */
        uint64_t *weights;        /* how CPU time without a frequency is shared among them */
        uint64_t *parts, *rest;   /* scratch, one a point */
        size_t n;
        size_t capacity, weights_capacity, parts_capacity, rest_capacity;
        bool counted;             /* busy_ns was counted and is not just what processes own */
        uint64_t excess_ns;       /* counted beyond the time in which the CPUs were not idle */
        struct points shares;     /* of each point that was used: busy time, and the part with any core busy */
        enum cpu_split_by by;
        uint32_t n_cpus;          /* 0 unknown */
};

int cpu_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                   struct cpu_split *ret);
void cpu_split_clear(struct cpu_split *split);

/*
 * CPU time of a process since before. With exact counters it goes to @opp_ns, one for each point, else to
 * @cpu_ns. @opp_of: where the operating points of @now stand in @before. Returns whether it ran at all.
 */
bool cpu_split_process(const struct cpu_split *split, const struct process *before, const struct process *now,
                       const size_t *opp_of, uint64_t most_ns, uint64_t *opp_ns, uint64_t *cpu_ns);
/* An owner's CPU time as points, which adds to their owned_ns; any_ns comes later, when all owners are known. */
int cpu_split_owner(struct cpu_split *split, const struct tally *tally, struct points *ret);
/* All owners are known: what part of each point's time some core was busy. And the shape of a shared split. */
int cpu_split_finish(struct cpu_split *split, struct points *shape);
/* Gives @points their part of any_ns by busy time; sums to no more than the policy's. */
void cpu_split_any(const struct cpu_split *split, struct points *points);

/*
 * What no process owns: interrupts, processes that came and went between two polls. @debt_ns carries what
 * processes had counted beyond the machine to the next interval, so that ticks seen earlier by one counter
 * than by the other do not count twice.
 */
int cpu_split_rest(struct cpu_split *split, uint64_t *debt_ns, uint64_t most_debt_ns, struct points *ret);
/* Adds each policy's time with no core busy: by point above its lowest, or as one where no time by frequency is known. */
int cpu_split_idle(const struct cpu_split *split, uint64_t awake_ns, struct points *points);

/* The battery's level, remembered so that a gauge that flickers upward is not counted twice. */
struct level {
        uint32_t kind;     /* BATTERY_ENERGY_NOW, BATTERY_CHARGE_NOW or BATTERY_CAPACITY; 0: none yet */
        uint64_t lowest;   /* since discharging began */
};

struct battery_levels {
        struct level energy;  /* what the joules come from */
        struct level percent; /* and the percents of charge */
};

void battery_discharge(struct battery_levels *levels, const struct sample *before, const struct sample *now,
                       struct interval *ret);

struct radio_owners;

struct interval_maker {
        bool started;
        struct sample before;   /* but for its processes: */
        struct held_table held;

        struct screen_split screen;
        struct cpu_split cpu;
        struct battery_levels levels;
        uint64_t cpu_debt_ns;
        uint64_t debt[OWNER_AMOUNT_COUNT]; /* what owners had counted beyond the machine */
        struct radio_owners *radio;   /* NULL: no packets were counted at the last sample */
        struct screen_event *skipped; /* of samples at which no interval ended */
        size_t n_skipped, skipped_capacity;
        struct process_burst *skipped_bursts; /* likewise */
        size_t n_skipped_bursts, skipped_bursts_capacity;
        bool missed_bursts;           /* one of them did not know its bursts */
};

/* All that is needed to make one interval. */
struct making {
        struct interval_maker *maker;
        const struct sample *before;
        struct sample *now;
        struct interval *interval;
        uint64_t awake_ns;
        uint32_t idle_have;     /* USAGE_* that no process can have used, since the machine used none */
};

/* interval-process.c */
uint64_t interval_alive_ns(const struct making *making, const struct held *held);
int interval_subtract_processes(struct making *making); /* into the tallies of their apps */

/* interval-owner.c */
struct interval_row *interval_add_row(struct making *making, const char *app, uid_t uid, enum app_state state);
int interval_add_owners(struct making *making); /* rows of the tallies, with screen and time alive */

/* interval-base.c */
uint32_t interval_idle_have(const struct making *making);
int interval_fill_base(struct making *making);

/* interval-radio.c */
void radio_owners_free(struct radio_owners *owners);
int interval_count_radio(struct making *making); /* when all rows are there */
