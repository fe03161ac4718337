/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Shared by the files of the store, and included by no others.
 * SQLite's types and codes do not go beyond these files.
 */

#include <sqlite3.h>

#include "store.h"
#include "util/bytes.h"
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
        SQL_USED_APPS,
        SQL_DROP_APP,
        SQL_ALIVE,
        SQL_KEYS,
        SQL_ADD_KEY,
        SQL_ADD_ALIVE,
        SQL_HAS_INTERVAL,
        SQL_LAST_KEY,
        SQL_ADD_INTERVAL,
        SQL_ADD_USAGE,
        SQL_ADD_COMMON_USAGES,
        SQL_LAST_USAGE,
        SQL_USAGE,
        SQL_USAGE_TIMES,
        SQL_RAW_PIECES,
        SQL_PERIOD_PIECES,
        SQL_INTERVAL,
        SQL_POLLS,
        SQL_CLOSED,
        SQL_DUE,
        SQL_OPEN,
        SQL_PERIOD,
        SQL_FIND_PERIOD,
        SQL_PERIOD_USAGE,
        SQL_PERIOD_USAGE_TIMES,
        SQL_ADD_PERIOD,
        SQL_ADD_SUMMARY,
        SQL_DROP_PERIOD,
        SQL_DROP_SUMMARY,
        SQL_SUMMARY,
        SQL_SUMMARIES,
        SQL_PERIODS,
        SQL_LAST_BATTERY,
        SQL_SPAN,
        SQL_BATTERY_STEP,
        SQL_LOOK,
        SQL_MARKS,
        SQL_SET_MARKS,
        SQL_OLD_INTERVALS,
        SQL_DROP_INTERVALS,
        SQL_DROP_DETAILS,
        SQL_DROP_ALIVE,
        SQL_DROP_USAGE,
        SQL_OLD_PERIODS,
        SQL_ADD_SLEEP,
        SQL_DROP_SLEEPS,
        SQL_SLEEPS,
        SQL_ADD_CHARGE,
        SQL_LAST_CHARGE,
        SQL_DROP_CHARGES,
        SQL_CHARGES,
        SQL_LAST_SUSPEND,
        SQL_ADD_LATE,
        SQL_ADD_LATE_SLEEP,
        SQL_SET_LEVELS,
        SQL_SINCE_FULL,
        SQL_SINCE_UNPLUG,
        SQL_SINCE_RESUME,
        SQL_DOUBTFUL,
        SQL_REDATE_INTERVAL,
        SQL_REDATE_USAGE,
        SQL_REDATE_SLEEP,
        SQL_REDATE_CHARGE,
        SQL_INTERVALS_OF,
        SQL_USAGE_APPS,
        SQL_GIVE_USAGE,
        SQL_GET_ALIVE,
        SQL_SET_ALIVE,
        SQL_DROP_LOST_ALIVE,
        SQL_PERIOD_BUCKETS,
        SQL_HOURS_OF,
        SQL_FOLDED,
        SQL_FORGET_USAGE,
        SQL_FORGET_INTERVALS,
        SQL_FORGET_SLEEPS,
        SQL_FORGET_CHARGES,
        SQL_COUNT
};

/*
 * How far the roll-up has come. Clocks jump, so it goes by the time that was recorded: every interval up to folded_ns
 * of it is in the periods of its hour and of its day. All others ended after open_ns.
 */
struct marks {
        int64_t folded_ns;
        int64_t open_ns; /* realtime */
};

/*
 * Intervals in doubt: those since the clock was set after it had stayed for TUNING_CLOCK_DOUBT_NS, or since the store
 * was opened. They are dated anew each time the clock is set again within that time: it may have been ahead for a
 * moment, or wrong until a time server was asked, and may be set in one step or several.
 */
struct doubt {
        bool begun;
        int64_t from_ns;   /* recorded time at which it began */
        int64_t before_ns; /* end of the interval before it; INT64_MIN: unknown */
        uint64_t age_ns;   /* recorded since the clock was set */
};

/* A writer's: as of the last poll. */
struct store_power {
        bool known;           /* read from the database, or set */
        int state;            /* enum store_power_state; -1: none yet */
        double level_percent; /* NaN: unknown */
        uint64_t charge_full_uah, energy_full_uwh; /* 0: unknown */
};

struct app_name { /* ascending by id */
        int64_t id;
        char *app;
        char *name; /* NULL: as app */
        uid_t uid;
};

struct app_count { /* number of apps of one user */
        uid_t uid;
        size_t n;
};

struct key_name { /* ascending by id: what points are counted by, where that is a pair */
        int64_t id;
        enum keyed keyed;
        uint32_t group;
        uint32_t key;
};

/* Sum of the usage of one app in one state. */
struct total {
        size_t app; /* index into the store's apps */
        enum app_state state;
        uint64_t active_ns;
        struct usage usage;
};

struct totals_slot {
        size_t total;      /* index into list plus one; 0: none yet */
        uint64_t interval; /* number of the last one that has a row */
};

struct totals {
        struct total *list;
        size_t n;
        size_t capacity;
        struct totals_slot *slots; /* indexed by app * 2 + state */
        size_t slots_capacity;
        uint64_t intervals;        /* that were added */
        bool times;                /* only the machine's times are read from usages */
};

/*
 * The amounts that a database has, in the order of the columns of table usage, which is also that of the packed ones in
 * table summary. That of an older version may lack some, and have another order.
 */
struct layout {
        enum amount amounts[AMOUNT_COUNT];
        size_t n_amounts;
        enum keyed keyed[KEYED_COUNT];
        size_t n_keyed;
};

struct store {
        sqlite3 *db;
        const struct log *log;
        char *path;
        int lock_fd;
        enum store_mode mode;
        bool rows_apart;       /* an older version: its periods have table period_usage and no summary */
        struct layout layout;
        int told;              /* the last code of SQLite that the log heard of */
        sqlite3_stmt *statements[SQL_COUNT];

        struct app_name *apps;
        size_t n_apps, apps_capacity;
        size_t *app_slots; /* hash of (app, uid) -> index into apps, plus one; capacity a power of two */
        size_t app_slots_capacity;
        struct app_count *users;
        size_t n_users, users_capacity, last_user;
        struct key_name *keys;
        size_t n_keys, keys_capacity, next_key;

        struct bytes bytes;    /* scratch of append and fold */
        int64_t *ids;          /* id of the app of each row that is being appended */
        size_t ids_capacity;
        struct bytes alive;    /* last set written ... */
        int64_t alive_id;      /* ... and its row; 0: none */
        struct totals totals;
        struct marks marks;    /* a writer's; as in the database */
        int64_t last_ns;       /* highest end of an interval, if last_known; INT64_MIN: there is none */
        int64_t recorded_ns;   /* all time recorded so far, if last_known */
        bool last_known;
        struct doubt doubt;
        struct store_power power;
        uint64_t sync_ns;      /* see store_sync_within() */
        uint64_t appended_ns;  /* boottime of the last commit ... */
        uint64_t synced_ns;    /* ... and of the last one that waited for the disk */
        struct battery step;   /* result of store_battery_step(), if step_known, for this version of the file */
        bool step_known, names_known;
        uint32_t step_version, names_version;
        int64_t checked_ns;    /* store_roll_up() had nothing left to do at this time */
};

/* store-schema.c */
/* And tells the log, but not what it told before, until something is stored: a disk stays full for hours. */
int errno_from_sqlite(struct store *store, int code);
/*
 * Makes the checksums of a whole database anew where another program wrote pages without them, and tells the log. For
 * one that a killed writer left and whose -wal is gone; nobody has it open. Returns 0 or a negative errno.
 */
int store_resum(const struct store *store);
int store_damaged(struct store *store); /* -EBADMSG: told the log */
sqlite3_stmt *store_statement(struct store *store, enum statement which); /* NULL: told the log */
int store_step(struct store *store, sqlite3_stmt *statement);  /* 1: a row; 0: done; negative errno */
int store_run(struct store *store, enum statement which);      /* a statement without result */
int store_prepare_database(struct store *store); /* -ESTALE to a writer: an older version's */
/* A transaction for writing, if there is none yet. One statement alone is one by itself, and needs none. */
int store_begin(struct store *store);
int store_wait_for_disk(struct store *store, bool wait); /* at commits from here on; not within a transaction */
/* Ends a transaction: commits if @err is 0, else rolls back. Returns @err or what the commit says. */
int store_finish(struct store *store, int err);

/* Is a column a number, an integer that is not negative? Damaged data, or other programs' data, may be anything. */
static inline bool store_is_number(sqlite3_stmt *row, int column)
{
        return sqlite3_column_type(row, column) == SQLITE_INTEGER && sqlite3_column_int64(row, column) >= 0;
}

/* SQLite's integers are signed: more than fits is a broken counter, and the most that fits. */
static inline int64_t store_clamp(uint64_t number)
{
        return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* @text with the table of amounts in its places, @COLUMNS@ and the like. sqlite3_free() it. */
char *store_usage_columns(const struct store *store, const char *text);

/* Tables that store-convert.c makes, too. */
#define STORE_USAGE_TABLE                                                                                              \
        "CREATE TABLE usage (id INTEGER PRIMARY KEY, interval INTEGER NOT NULL REFERENCES interval, @TYPES@);"
#define STORE_CHARGE_TABLE                                                                                             \
        "CREATE TABLE charge (start_ns INTEGER PRIMARY KEY, state INTEGER NOT NULL, level_npercent INTEGER,"           \
        " charge_full_uah INTEGER, energy_full_uwh INTEGER);"
#define STORE_SUMMARY_TABLE                                                                                            \
        "CREATE TABLE summary (period INTEGER PRIMARY KEY REFERENCES period, usages BLOB NOT NULL);"
int store_execute(struct store *store, const char *text); /* statements without results */
int store_set_version(struct store *store);               /* sets the version of this joulecast */
/* Within a transaction of a reader: a writer may have converted an older database that was open here. */
int store_follow_version(struct store *store);

/* store-convert.c */
#define STORE_CHARGES_SINCE 60000   /* versions below this one have no table charge */
#define STORE_SUMMARIES_SINCE 70000 /* versions below this one have table period_usage, and no table summary */
int store_convert(struct store *store, int64_t version); /* makes an older version this one; for a writer */
void store_is_converted(struct store *store);            /* from here on it is read as this version */

/* store-layout.c */
void store_layout_fill(struct layout *layout); /* with all amounts of this version */
bool store_layout_is_full(const struct layout *layout);
bool store_layout_has_amount(const struct layout *layout, enum amount amount);
bool store_layout_has_keyed(const struct layout *layout, enum keyed keyed);
int store_layout_read(struct store *store, struct layout *ret); /* as the database has it */

/* store-names.c */
int names_load(struct store *store);
void names_clear(struct store *store);
int names_app(struct store *store, const char *app, uid_t uid, int64_t *ret); /* adds it where it is new */
int names_key(struct store *store, enum keyed keyed, uint32_t group, uint32_t key, int64_t *ret); /* likewise */
bool names_find_key(const struct store *store, enum keyed keyed, uint64_t id, struct point *ret);
const struct app_name *names_find_app(const struct store *store, uint64_t id);

/* store-usage.c. Readers return -EBADMSG for anything that no writer wrote. */
struct bytes_reader store_reader_of(sqlite3_stmt *statement, int column);
/* To the end of store->bytes. */
int store_put_points(struct store *store, enum keyed keyed, const struct points *points);
int store_get_points(const struct store *store, enum keyed keyed, struct bytes_reader reader, struct points *ret);

/* A row of table usage, or of the older period_usage, which has the same columns; numbered as bindings are. */
enum {
        USAGE_COLUMN_SPAN = 1, /* end_ns of the interval, or, of the older one, id of the period */
        USAGE_COLUMN_APP,
        USAGE_COLUMN_STATE,
        USAGE_COLUMN_ACTIVE,
        USAGE_COLUMN_HAVE,
        USAGE_COLUMN_AMOUNTS,  /* those of amount_kinds, then a sum and its points for each of keyed_kinds */
        USAGE_COLUMNS_END = USAGE_COLUMN_AMOUNTS + AMOUNT_COUNT + 2 * KEYED_COUNT,
};

struct store_usage {
        int64_t span;
        int64_t app;
        enum app_state state;
        uint64_t active_ns;
        const struct usage *usage;
        bool shaped;           /* its CPU time is the interval's shape, and its sum is enough */
};

/*
 * Most rows of a poll have CPU time and disk bytes and no more. A statement for these alone, several rows at once,
 * takes half the time: SQL_ADD_COMMON_USAGES, of USAGES_AT_ONCE rows. The others are for one row of any kind.
 */
#define USAGES_AT_ONCE 16
bool store_is_common_column(int column);
bool store_is_common(const struct usage *usage);
int store_insert_usages(struct store *store, enum statement which, const struct store_usage *rows, size_t n);
int store_read_usage(const struct store *store, sqlite3_stmt *row, const struct points *shape, struct usage *ret);
int store_read_usage_times(sqlite3_stmt *row, struct usage *ret); /* @row: a row of SQL_USAGE_TIMES */

/* store-totals.c */
void totals_reset(struct totals *totals);
void totals_clear(struct totals *totals);
struct total *totals_of(struct store *store, struct totals *totals, uint64_t app_id, enum app_state state,
                        int *err);
int totals_add_interval(struct store *store, struct totals *totals, sqlite3_stmt *row); /* a row of SQL_INTERVAL */
int totals_add_period(struct store *store, struct totals *totals, int64_t period);
/* Adds the usage of an app in a period. Empties @usage. */
int totals_add_usage(struct store *store, struct totals *totals, uint64_t app, enum app_state state, uint64_t active_ns,
                     struct usage *usage);
int totals_add(struct store *store, struct totals *to, const struct totals *from);

/* store-summary.c */
int store_add_summary(struct store *store, int64_t period, const struct totals *totals);
int store_summary_add(struct store *store, struct totals *totals, int64_t period);
/* The ids of the apps of all periods. */
int store_each_summary_app(struct store *store, void (*each)(void *data, uint64_t app), void *data);

/* As the columns of a period. Of a level there is the time in which it is known, and its product with that time. */
enum time_sum {
        SUM_ELAPSED_NS,
        SUM_KNOWN_NS,
        SUM_PERCENT_KNOWN_NS,
        SUM_DISCHARGE_UJ,
        SUM_DISCHARGE_NPERCENT,
        SUM_COUNTED_NS,
        SUM_SHARED_NS,
        SUM_WIFI_SIGNAL_NS,
        SUM_WIFI_SIGNAL_DBM_NS, /* negative */
        SUM_CELLULAR_SIGNAL_NS,
        SUM_CELLULAR_SIGNAL_PERCENT_NS,
        TIME_SUMS
};

/* An interval's or a period's own numbers. */
struct times {
        int64_t start_ns, end_ns;
        int64_t sums[TIME_SUMS];
        int64_t recorded_ns;
        bool details; /* all that it sums is still there, too */
};

/* Checks of a row of table interval. */
#define DISCHARGE_UNKNOWN INT64_C(-1)
struct recorded {
        int64_t start_ns, end_ns, elapsed_ns, suspend_ns, recorded_ns;
        int64_t discharge_uj, discharge_npercent; /* or DISCHARGE_UNKNOWN */
        enum cpu_split_by split_by;
        struct signal signal;
};

/* store-valid.c */
/* Times that no clock shows would break the arithmetic. */
static inline bool store_is_span(int64_t start_ns, int64_t end_ns)
{
        return start_ns > -INT64_MAX / 2 && start_ns <= end_ns && end_ns < INT64_MAX / 2;
}

/**
 * store_check() - may this be in a database?
 * @recorded: a discharge that no battery gives becomes unknown
 *
 * Return: 0; -ERANGE: no clock shows such times.
 */
int store_check(struct recorded *recorded, struct times *ret);
int store_recorded_of(const struct interval *interval, struct recorded *ret); /* and checks it */
bool store_is_sane(const struct times *times);
void store_drop_impossible_sum(struct times *times); /* before a sum is written */

/* A row of the store's own totals, for readers; valid until the totals change. */
struct store_row totals_row(struct store *store, size_t i, const struct times *times);

struct signal store_read_signal(sqlite3_stmt *row); /* @row: a row of SQL_INTERVAL */
int store_times_of_interval(sqlite3_stmt *row, struct times *ret); /* @row: a row of SQL_INTERVAL */
int store_times_of_period(struct store *store, int64_t period, struct times *ret);
int store_read_times(sqlite3_stmt *row, int column, struct times *ret); /* from @column on, the columns of SQL_PERIOD */

/* store-query.c */
int store_read_version(struct store *store, uint32_t *ret); /* within one; another number once anybody wrote */
int store_load_names(struct store *store); /* within a transaction; of a reader only if anybody wrote */
int store_told(struct store *store, int err); /* logs damage that a reader found, and returns the error */

/* store-battery.c */
void store_read_battery(sqlite3_stmt *row, int column, struct battery *ret); /* BATTERY_COLUMNS from @column on */
/* The newest of polls that ended in (@from_ns, @to_ns]; @ret stays if there is none. Within a transaction. */
int store_read_last_battery(struct store *store, int64_t from_ns, int64_t to_ns, struct battery *ret);

/* store-sleep.c */
/* If it was one. */
int sleep_put(struct store *store, const struct recorded *recorded);
/* A fall that the gauge reported late goes to the sleep, or to @interval if the sleep is not stored any more. */
int sleep_add_late(struct store *store, struct interval *interval);

/* store-charge.c */
int charge_put(struct store *store, const struct interval *interval); /* if the state of the battery changed */

/*
 * store-prune.c. Before an hour or a day is written: what is beyond a user's most used apps becomes its other
 * programs. And apps of which nothing is kept are dropped, once they are many; ids that are kept stay.
 */
int store_cut_apps(struct store *store, struct totals *totals);
int store_prune_apps(struct store *store);
int store_drop_unused_apps(struct store *store); /* however many they are */

/* store-rollup.c */
int store_marks_read(struct store *store, struct marks *ret);
int store_marks_write(struct store *store, const struct marks *marks);
int store_drop_period(struct store *store, int64_t period);
int store_add_times(struct times *to, const struct times *from);
/* A new period; @totals may get fewer apps. */
int store_write_period(struct store *store, enum store_grain grain, int64_t bucket_ns,
                       const struct times *times, struct totals *totals);

/* store-append.c */
int store_find_last(struct store *store);                 /* last_ns and recorded_ns */
int store_find_key(struct store *store, int64_t *end_ns); /* the next ns at which no interval ends */

/* store-clock.c */
/* Before an interval in which the clock was set is written. */
int store_clock_was_set(struct store *store, const struct interval *interval);
/* Until what recorded time nothing will be dated anew. */
int64_t store_certain_ns(const struct store *store);

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
