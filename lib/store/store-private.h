/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the files of the store share among themselves,
 * and nobody else includes. SQLite stays behind this line.
 */

#include <sqlite3.h>

#include "store.h"
#include "util/units.h"

#define HOUR_NS ((int64_t)(3600 * NS_PER_S))
#define DAY_NS (24 * HOUR_NS)

/* Every statement of the store; store-schema.c has their text. Prepared when first used. */
enum statement {
        SQL_BEGIN_WRITE,
        SQL_BEGIN_READ,
        SQL_COMMIT,
        SQL_ROLLBACK,
        SQL_APPS,
        SQL_ADD_APP,
        SQL_OPPS,
        SQL_ADD_OPP,
        SQL_ADD_PROCESS,
        SQL_ADD_ALIVE,
        SQL_HAS_INTERVAL,
        SQL_LAST_KEY,
        SQL_ADD_INTERVAL,
        SQL_RAW_PIECES,
        SQL_PERIOD_PIECES,
        SQL_INTERVALS,
        SQL_PERIOD,
        SQL_FIND_PERIOD,
        SQL_PERIOD_USAGE,
        SQL_DUE_HOURS,
        SQL_ADD_PERIOD,
        SQL_ADD_PERIOD_USAGE,
        SQL_DROP_PERIOD,
        SQL_DROP_PERIOD_USAGE,
        SQL_LAST_BATTERY,
        SQL_MARKS,
        SQL_SET_MARKS,
        SQL_DROP_INTERVALS,
        SQL_DROP_ALIVE,
        SQL_DROP_PROCESSES,
        SQL_OLD_PERIODS,
        SQL_ADD_SLEEP,
        SQL_DROP_SLEEPS,
        SQL_SLEEPS,
        SQL_COUNT
};

/*
 * How far the roll-up has come, and what is gone. Every interval that ended by hour_done_ns is in the period
 * of its hour, every hour that ended by day_done_ns in the period of its day; intervals that ended by
 * raw_gone_ns and hours that ended by hour_gone_ns are not kept any more. Multiples of an hour, a day.
 */
struct marks {
        int64_t hour_done_ns;
        int64_t day_done_ns;  /* <= hour_done_ns */
        int64_t raw_gone_ns;  /* <= hour_done_ns */
        int64_t hour_gone_ns; /* <= raw_gone_ns, day_done_ns */
};

struct app_name { /* ascending by id */
        int64_t id;
        char *app;
        char *name; /* NULL: as app */
        uid_t uid;
};

struct app_count { /* of one user */
        uid_t uid;
        size_t n;
};

struct opp_name { /* ascending by id */
        int64_t id;
        uint32_t policy;
        uint32_t khz;
};

/* Grows at its end; room is kept. */
struct bytes {
        unsigned char *data;
        size_t n;
        size_t capacity;
};

/* What one app used in one state, while summing up. */
struct total {
        size_t app; /* index into the store's apps */
        enum app_state state;
        uint64_t active_ns;
        struct usage usage;
};

struct totals {
        struct total *list;
        size_t n;
        size_t capacity;
        size_t *slots; /* of app * 2 + state: index into list plus one */
        size_t slots_capacity;
};

/* The last CPU times of a blob that stood there in full: the next ones have much the same proportions. */
struct shape_point {
        struct cpu_time cpu;
        uint64_t any_scale; /* any_ns / busy_ns, at most 1, times 2^62 */
};

struct shape {
        struct shape_point *points;
        size_t n; /* 0: none yet */
        size_t capacity;
        uint64_t sum_ns;
};

struct seen_process { /* rows of `process` that this writer knows */
        pid_t pid;
        uint64_t start_time;
        int64_t app;
        int64_t id;
        int64_t seen_ns; /* end of the interval that it was written with */
};

struct store {
        sqlite3 *db;
        const struct log *log;
        char *path;
        int lock_fd;
        enum store_mode mode;
        int version;           /* of the schema that the file has */
        int told;              /* the last code of SQLite that the log heard of */
        sqlite3_stmt *statements[SQL_COUNT];

        struct app_name *apps;
        size_t n_apps, apps_capacity;
        size_t *app_slots; /* hash of (app, uid) -> index into apps, plus one; capacity a power of two */
        size_t app_slots_capacity;
        struct app_count *users;
        size_t n_users, users_capacity, last_user;
        struct opp_name *opps;
        size_t n_opps, opps_capacity, next_opp;
        struct seen_process *seen; /* open addressing; capacity a power of two */
        size_t n_seen, seen_capacity;

        struct bytes bytes;    /* scratch of append and fold */
        struct bytes alive;    /* last set written ... */
        int64_t alive_id;      /* ... and its row; 0: none */
        struct bytes active;
        struct totals totals;
        struct shape shape;
        struct marks marks;    /* a writer's; as in the database */
        int64_t last_ns;       /* end of the newest interval, if last_known; INT64_MIN: there is none */
        bool last_known;
        int64_t checked_ns;    /* store_roll_up() had nothing left to do at this time */
};

/* store-schema.c */
/* And tells the log, but not what it told before, until something is stored: a disk stays full for hours. */
int errno_from_sqlite(struct store *store, int code);
sqlite3_stmt *store_statement(struct store *store, enum statement which); /* NULL: told the log */
int store_step(struct store *store, sqlite3_stmt *statement);  /* 1: a row; 0: done; negative errno */
int store_run(struct store *store, enum statement which);      /* a statement without result */
int store_prepare_database(struct store *store);
/* A transaction for writing, if there is none yet. One statement alone is one by itself, and needs none. */
int store_begin(struct store *store);
/* Ends a transaction: commits if @err is 0, else rolls back. Returns @err or what the commit says. */
int store_finish(struct store *store, int err);

/* store-names.c */
int names_load(struct store *store);
void names_clear(struct store *store);
int names_app(struct store *store, const char *app, uid_t uid, int64_t *ret); /* adds it where it is new */
int names_opp(struct store *store, uint32_t policy, uint32_t khz, int64_t *ret);
/*
 * The numbers of its app and its process; 0 for nobody's, and for one that has none.
 * @room: so many more may get one
 */
int names_row(struct store *store, const struct interval_row *row, int64_t end_ns, size_t *room, int64_t *app,
              int64_t *process);
const struct opp_name *names_find_opp(const struct store *store, uint64_t id);
const struct app_name *names_find_app(const struct store *store, uint64_t id);
void names_fetch(const struct store *store, const struct interval *interval);
void names_forget_processes(struct store *store);
int names_drop_processes(struct store *store, int64_t raw_gone_ns); /* rows that no interval refers to any more */

/* store-blob.c: numbers as LEB128 varints. Readers return -EBADMSG for anything that no writer wrote. */
int put_number(struct bytes *bytes, uint64_t number);
/*
 * @shaped: it stands in one blob with others,
 * and may be written as what differs from one before (store->shape).
 */
int put_usage(struct store *store, struct bytes *bytes, const struct usage *usage, bool shaped);
struct reader {
        const unsigned char *at;
        const unsigned char *end;
};
int get_number(struct reader *reader, uint64_t *ret);
int get_usage(struct store *store, struct reader *reader, struct usage *ret, bool shaped);

/* store-totals.c */
void totals_reset(struct totals *totals);
void totals_clear(struct totals *totals);
struct total *totals_of(struct store *store, struct totals *totals, uint64_t app_id, enum app_state state,
                        int *err);
int totals_add_interval(struct store *store, struct totals *totals, sqlite3_stmt *row); /* of SQL_INTERVALS */
int totals_add_period(struct store *store, struct totals *totals, int64_t period);

/* An interval's or a period's own numbers. */
struct times {
        int64_t start_ns, end_ns;
        /*
         * elapsed_ns, known_ns, percent_known_ns, discharge_uj,
         * discharge_npercent, counted_ns, shared_ns: as the columns
         */
        int64_t sums[7];
};

struct times times_of_interval(sqlite3_stmt *row); /* of SQL_INTERVALS */
int times_of_period(struct store *store, int64_t period, struct times *ret);

/* store-sleep.c */
int sleep_put(struct store *store, const struct interval *interval, int64_t end_ns); /* if it was one */

/* store-rollup.c */
int marks_read(struct store *store, struct marks *ret);
/* An interval that comes after its hour was rolled up (the clock was put back) is added to what is there. */
int roll_up_late(struct store *store, int64_t end_ns);

/*
 * Start of the hour or day that a moment at its end belongs to:
 * spans are open at their start and closed at their end.
 */
static inline int64_t bucket_of(int64_t end_ns, int64_t length_ns)
{
        int64_t last = end_ns - 1, rest = last % length_ns;

        return last - rest - (rest < 0 ? length_ns : 0);
}

/* The last full hour or day before or at @now_ns. */
static inline int64_t floor_to(int64_t now_ns, int64_t length_ns)
{
        return bucket_of(now_ns + 1, length_ns);
}

void bytes_clear(struct bytes *bytes);
