/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of lib/interval; no other file includes it. */

#include "interval.h"
#include "level-watch.h"

/* Growth of a total; 0 if it went backward (reset, unplugged, reused) or by more than @most, which is implausible. */
static inline uint64_t growth(uint64_t before, uint64_t now, uint64_t most)
{
        return now >= before && now - before <= most ? now - before : 0;
}

/* No device transfers more bytes than this between two polls: the counter is broken, not busy. */
#define MOST_BYTES (UINT64_C(1) << 56)
#define MOST_CPUS 4096

/* Bytes in the growth of a process's totals that belong to children which it reaped. */
struct reaped {
        uint64_t read_bytes;
        uint64_t write_bytes;
};

/*
 * The last known state of a process. A sample lists only processes that changed, so a process that does nothing
 * costs only its memory.
 */
struct held {
        struct held *next;         /* next in the same hash slot */
        struct held *next_of_app, **at_of_app; /* at_of_app: the pointer that points to this one */
        struct live_app *app;
        struct process *now;       /* its entry in the sample being subtracted; NULL: it has not changed */
        /* its entry in the last sample that listed it; cpu_opp_ns has the indexes of the table's opps */
        struct process process;
        size_t n_opps;             /* allocated length of process.cpu_opp_ns */
        uint64_t listed;           /* number of the last sample that listed it */
        bool fresh;                /* not known before the sample being subtracted */
        bool gone;
        struct reaped reaped;
};

/* Usage of an owner's processes, while an interval is being made. */
struct tally {
        bool used;
        uint32_t have;             /* USAGE_* that all its processes counted */
        uint64_t amount[OWNER_AMOUNT_COUNT];
        uint64_t cpu_ns;           /* CPU time without known operating points */
        uint64_t *opp_ns;          /* the other CPU time, by operating point of the sample; NULL: none */
        struct points screen;
        struct points counted;     /* as in struct usage */
        uint64_t active_ns;
};

/* An app of one user, as long as it has processes. */
struct live_app {
        struct live_app *next;     /* next in the same hash slot */
        char app[APP_ID_MAX];
        uid_t uid;
        struct held *members;
        size_t n_there;            /* members that exist in the sample being subtracted, listed or unchanged */
        size_t n;                  /* members that existed before that sample ... */
        size_t n_leaving;          /* ... and do not any more, or ended */
        bool lost_one;             /* a member is gone at an unknown time */
        /* boottime: the last gap in the interval before in which the app did not exist */
        uint64_t gap_from_ns, gap_until_ns;
        uint64_t life_ns;          /* time alive in the interval, and late time of the one before (interval-life.c) */
        struct tally tally[2];     /* by enum app_state */
        /* its number in struct radio_owners, which may have dropped it; 0: it never had one */
        uint64_t radio_owner;
};

/* Policies come and go with their CPUs, so the index of an operating point differs from sample to sample. */
struct opp_id {
        uint32_t policy;
        uint32_t khz;
};

/* A part of the interval in which a process of an app existed. */
struct life {
        struct live_app *app;
        uint64_t from_ns, until_ns; /* boottime */
};

struct held_table {
        struct held **slots;       /* hash table by pid */
        size_t n, n_slots;
        struct live_app **app_slots;
        size_t n_app_slots;
        struct live_app **apps;    /* in the order in which they appeared */
        size_t n_apps, apps_capacity;
        struct held **listed;      /* the entry of each process of the sample being subtracted */
        size_t listed_capacity;
        struct held **gone;
        size_t n_gone, gone_capacity;
        struct life *lives;        /* scratch */
        size_t n_lives, lives_capacity;
        struct opp_id *opps;       /* all operating points of the samples so far, in the order in which they appeared */
        size_t n_opps, opps_capacity;
        size_t *opp_of;            /* index in opps of each operating point of the sample being subtracted */
        size_t opp_of_capacity;
        uint64_t samples;          /* number of samples so far */
        uint64_t earlier_ns;       /* boottime of the sample before the previous one */
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

/* An app that had the screen, and for how long. */
struct screen_share {
        char app[APP_ID_MAX];   /* "": none, or unknown */
        uint64_t foreground_ns; /* time with the screen, unless it was known to be off; 0 for no app */
        struct usage usage;     /* screen time by brightness only */
};

struct screen_split {
        struct screen_share *shares; /* the first is that of no app */
        size_t n;
        size_t capacity;
        bool screen_known;           /* on or off was known all the time */
        bool foreground_known;       /* the app with the screen was known at some time, or the screen was always off */
};

int screen_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                      struct screen_split *ret);
void screen_split_clear(struct screen_split *split); /* frees its memory */
const struct screen_share *screen_split_find(const struct screen_split *split, const char *app);

/* The machine's CPU time of one interval at one operating point. */
struct cpu_point {
        uint32_t policy;
        uint32_t khz;
        uint64_t time_ns;  /* time that the policy ran at it */
        uint64_t busy_ns;  /* busy time of the whole machine */
        uint64_t any_ns;   /* time with at least one core of the policy busy */
        uint64_t owned_ns; /* busy time with an owner; may exceed busy_ns, since ticks of tasks and CPUs differ */
};

struct cpu_split {
        struct cpu_point *points; /* ascending by policy, kHz; never empty */
        uint64_t *weights;        /* weights by which CPU time without a frequency is split among the points */
        uint64_t *parts, *rest;   /* scratch, one element per point */
        size_t n;
        size_t capacity, weights_capacity, parts_capacity, rest_capacity;
        bool counted;             /* busy_ns was counted and is not just the sum of the processes */
        uint64_t excess_ns;       /* counted CPU time beyond the time in which the CPUs were not idle */
        struct points shares;     /* busy time of each used point, and its part with any core busy */
        enum cpu_split_by by;
        uint32_t n_cpus;          /* 0 unknown */
};

int cpu_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                   struct cpu_split *ret);
void cpu_split_clear(struct cpu_split *split);

/*
 * CPU time of a process since @before. With exact counters it is added to @opp_ns, one for each point, else to
 * @cpu_ns. @opp_of: index in @before of each operating point of @now. Returns whether the process ran at all.
 */
bool cpu_split_process(const struct cpu_split *split, const struct process *before, const struct process *now,
                       const size_t *opp_of, uint64_t most_ns, uint64_t *opp_ns, uint64_t *cpu_ns);
/* An owner's CPU time as points; adds it to owned_ns. Their any_ns is set later, when all owners are known. */
int cpu_split_owner(struct cpu_split *split, const struct tally *tally, struct points *ret);
/*
 * To be called when all owners are known: calculates the part of each point's time with any core busy, and the shape
 * of a shared split.
 */
int cpu_split_finish(struct cpu_split *split, struct points *shape);
/* Gives @points their part of any_ns by busy time; their sum is at most the policy's. */
void cpu_split_any(const struct cpu_split *split, struct points *points);

/*
 * CPU time that no process owns: interrupts, processes that came and went between two polls. @debt_ns carries the
 * excess of the processes over the machine to the next interval, so that ticks that one counter shows earlier than the
 * other do not count twice.
 */
int cpu_split_rest(struct cpu_split *split, uint64_t *debt_ns, uint64_t most_debt_ns, struct points *ret);
/*
 * Adds each policy's time with no core busy: by point above its lowest, or as one point if the time by frequency is
 * not known.
 */
int cpu_split_idle(const struct cpu_split *split, uint64_t awake_ns, struct points *points);

/* The battery's level, remembered so that a gauge that flickers upward is not counted twice. */
struct level {
        uint32_t kind;     /* BATTERY_ENERGY_NOW, BATTERY_CHARGE_NOW or BATTERY_CAPACITY; 0: none yet */
        uint64_t lowest;   /* lowest level since discharging began */
};

struct battery_levels {
        struct level energy;  /* gives the joules */
        struct level percent; /* gives the percents of charge */
};

void battery_discharge(struct battery_levels *levels, struct battery_watch *watch, const struct sample *before,
                       const struct sample *now, struct interval *ret);

struct radio_owners;

struct interval_maker {
        bool started;
        struct sample before;   /* without its processes, which are in: */
        struct held_table held;

        struct screen_split screen;
        struct cpu_split cpu;
        struct battery_watch watch;
        struct battery_levels levels;
        uint64_t cpu_debt_ns;
        uint64_t debt[OWNER_AMOUNT_COUNT]; /* excess of the owners over the machine's counters */
        struct radio_owners *radio;   /* NULL: no packets were counted at the last sample */
        struct screen_event *skipped; /* events of samples at which no interval ended */
        size_t n_skipped, skipped_capacity;
        struct process_burst *skipped_bursts; /* bursts of these samples */
        size_t n_skipped_bursts, skipped_bursts_capacity;
        bool missed_bursts;           /* one of these samples did not know its bursts */
};

/* Everything needed to make one interval. */
struct making {
        struct interval_maker *maker;
        const struct sample *before;
        struct sample *now;
        struct interval *interval;
        uint64_t awake_ns;
        uint32_t idle_have;     /* USAGE_* that no process can have used, as the machine used none */
};

/* interval-life.c */
int interval_measure_lives(struct making *making); /* sets life_ns of the apps */

/* interval-process.c */
void interval_life(const struct making *making, const struct held *held, uint64_t *from_ns, uint64_t *until_ns);
int interval_subtract_processes(struct making *making); /* adds to the tallies of their apps */
int interval_share_counted(struct making *making);      /* likewise, for counted events */

/* interval-owner.c */
struct interval_row *interval_add_row(struct making *making, const char *app, uid_t uid, enum app_state state);
int interval_add_owners(struct making *making); /* makes rows of the tallies, with screen time and time alive */

/* interval-base.c */
uint32_t interval_idle_have(const struct making *making);
int interval_fill_base(struct making *making);

/* interval-radio.c */
void radio_owners_free(struct radio_owners *owners);
int interval_count_radio(struct making *making); /* to be called when all rows exist */
