/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reading: first a plan of pieces (days, hours, intervals) that tile the span,
 * then their rows. An interval belongs to the span in which it ended, so two
 * spans side by side share nothing and miss nothing. Where details are gone an
 * hour or a day belongs to the span that holds its middle.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

struct piece {
        enum store_grain grain;
        int64_t id;         /* id of a period, or end of an interval */
        struct times times; /* an interval has start_ns only */
};

/* Begins of hours or of days, ascending. */
struct buckets {
        int64_t *list;
        size_t n, capacity;
};

struct plan {
        struct piece *pieces;
        size_t n;
        size_t capacity;
        struct buckets days, hours; /* that speak for what they hold, so that nothing finer of it is read */
        const struct store_query *query;
        struct marks marks;
};

static void plan_clear(struct plan *plan)
{
        free(plan->pieces);
        free(plan->days.list);
        free(plan->hours.list);
}

static int add_bucket(struct buckets *buckets, int64_t bucket_ns)
{
        if (util_grow(&buckets->list, &buckets->capacity, buckets->n + 1, sizeof(*buckets->list)) < 0)
                return -ENOMEM;
        buckets->list[buckets->n++] = bucket_ns;
        return 0;
}

static int compare_buckets(const void *a, const void *b)
{
        const int64_t *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

static bool has_bucket(const struct buckets *buckets, int64_t bucket_ns)
{
        return buckets->n > 0 &&
               bsearch(&bucket_ns, buckets->list, buckets->n, sizeof(*buckets->list), compare_buckets);
}

static bool holds(const struct store_query *query, int64_t bucket_ns, int64_t length_ns)
{
        return bucket_ns >= query->from_ns && bucket_ns + length_ns <= query->to_ns;
}

static bool holds_middle(const struct store_query *query, int64_t bucket_ns, int64_t length_ns)
{
        int64_t middle = bucket_ns + length_ns / 2;

        return middle > query->from_ns && middle <= query->to_ns;
}

static bool day_covers(const struct plan *plan, int64_t end_ns)
{
        return has_bucket(&plan->days, bucket_of(end_ns, DAY_NS));
}

/* Whether a period speaks for what it holds: where finer rows of it are gone, or enough is known without them. */
static bool speaks(const struct plan *plan, enum store_grain grain, int64_t bucket_ns, bool details)
{
        const struct store_query *query = plan->query;

        return !details || query->grain == STORE_DAY || query->grain == grain ||
               (query->grain == STORE_BEST && holds(query, bucket_ns, grain == STORE_DAY ? DAY_NS : HOUR_NS));
}

static int add_piece(struct plan *plan, enum store_grain grain, int64_t id, const struct times *times)
{
        if (util_grow(&plan->pieces, &plan->capacity, plan->n + 1, sizeof(*plan->pieces)) < 0)
                return -ENOMEM;
        plan->pieces[plan->n++] = (struct piece){ grain, id, *times };
        return 0;
}

static int plan_period(struct plan *plan, enum store_grain grain, sqlite3_stmt *row)
{
        int64_t length_ns = grain == STORE_DAY ? DAY_NS : HOUR_NS, bucket_ns = sqlite3_column_int64(row, 1);
        struct times times;
        int err;

        if (!store_is_span(bucket_ns, bucket_ns))
                return -EBADMSG;
        if ((grain == STORE_HOUR && day_covers(plan, bucket_ns + HOUR_NS)) ||
            !speaks(plan, grain, bucket_ns, sqlite3_column_int64(row, 2)))
                return 0;
        err = add_bucket(grain == STORE_DAY ? &plan->days : &plan->hours, bucket_ns);
        if (err || !holds_middle(plan->query, bucket_ns, length_ns))
                return err;
        err = store_read_times(row, 3, &times);
        return err ? err : add_piece(plan, grain, sqlite3_column_int64(row, 0), &times);
}

/* Those that begin after @after_ns and before @before_ns. */
static int plan_periods(struct store *store, struct plan *plan, enum store_grain grain, int64_t after_ns,
                        int64_t before_ns)
{
        sqlite3_stmt *periods = store_statement(store, SQL_PERIOD_PIECES);
        int more = 0, err = 0;

        if (!periods)
                return -EBADMSG;
        sqlite3_bind_int64(periods, 1, grain);
        sqlite3_bind_int64(periods, 2, after_ns);
        sqlite3_bind_int64(periods, 3, before_ns);
        while (!err && (more = store_step(store, periods)) == 1)
                err = plan_period(plan, grain, periods);
        sqlite3_reset(periods);
        return err ? err : more;
}

/* The last begin of a period that cannot reach into the span. */
static int64_t before_span(const struct plan *plan, int64_t length_ns)
{
        int64_t from_ns = plan->query->from_ns;

        return from_ns < INT64_MIN + length_ns ? INT64_MIN : from_ns - length_ns;
}

/* Those between the days that speak for theirs. */
static int plan_hours(struct store *store, struct plan *plan)
{
        int64_t after_ns = before_span(plan, HOUR_NS);
        int err = 0;

        for (size_t i = 0; !err && i < plan->days.n; i++) {
                int64_t day_ns = plan->days.list[i];

                if (after_ns < day_ns - 1)
                        err = plan_periods(store, plan, STORE_HOUR, after_ns, day_ns);
                after_ns = MAX(after_ns, day_ns + DAY_NS - 1);
        }
        return err ? err : plan_periods(store, plan, STORE_HOUR, after_ns, plan->query->to_ns);
}

/* Whether a period that is read holds the interval. */
static bool is_covered(const struct plan *plan, int64_t end_ns, int64_t recorded_ns)
{
        return recorded_ns <= plan->marks.folded_ns &&
               (day_covers(plan, end_ns) || has_bucket(&plan->hours, bucket_of(end_ns, HOUR_NS)));
}

/* Intervals of one stretch, unless a period speaks for them. */
static int plan_stretch(struct store *store, struct plan *plan, int64_t from_ns, int64_t to_ns)
{
        sqlite3_stmt *intervals = store_statement(store, SQL_RAW_PIECES);
        int more = 0, err = 0;

        if (!intervals)
                return -EBADMSG;
        sqlite3_bind_int64(intervals, 1, from_ns);
        sqlite3_bind_int64(intervals, 2, to_ns);
        while (!err && (more = store_step(store, intervals)) == 1) {
                struct times times = { .start_ns = sqlite3_column_int64(intervals, 1) };
                int64_t end_ns = sqlite3_column_int64(intervals, 0);

                if (!store_is_span(times.start_ns, end_ns))
                        err = -EBADMSG;
                else if (!is_covered(plan, end_ns, sqlite3_column_int64(intervals, 2)))
                        err = add_piece(plan, STORE_RAW, end_ns, &times);
        }
        sqlite3_reset(intervals);
        return err ? err : more;
}

/* No interval lies further out, and an hour more or less is still a number. */
static int64_t within_times(int64_t time_ns)
{
        const int64_t most = INT64_MAX / 2;

        return MAX(MIN(time_ns, most), -most);
}

/*
 * All intervals of the span; or, where hours speak for most of them, those of the hours at its two edges and those
 * that are in no hour yet.
 */
static int plan_intervals(struct store *store, struct plan *plan)
{
        int64_t from_ns = within_times(plan->query->from_ns), to_ns = within_times(plan->query->to_ns);
        int64_t left_ns = MIN(to_ns, floor_to(from_ns, HOUR_NS) + HOUR_NS);
        int64_t right_ns = MAX(left_ns, MIN(floor_to(to_ns, HOUR_NS), plan->marks.open_ns));
        int err;

        if (from_ns >= to_ns)
                return 0;
        if (plan->query->grain == STORE_RAW)
                return plan_stretch(store, plan, from_ns, to_ns);
        err = plan_stretch(store, plan, from_ns, left_ns);
        return err ? err : plan_stretch(store, plan, right_ns, to_ns);
}

static int by_start(const void *a, const void *b)
{
        const struct piece *one = a, *other = b;

        if (one->times.start_ns != other->times.start_ns)
                return one->times.start_ns < other->times.start_ns ? -1 : 1;
        return one->id < other->id ? -1 : one->id > other->id;
}

static int make_plan(struct store *store, const struct store_query *query, struct plan *plan)
{
        int err = store_marks_read(store, &plan->marks);

        plan->query = query;
        if (!err)
                err = plan_periods(store, plan, STORE_DAY, before_span(plan, DAY_NS), query->to_ns);
        if (!err)
                err = plan_hours(store, plan);
        if (!err)
                err = plan_intervals(store, plan);
        if (!err && plan->n > 0)
                qsort(plan->pieces, plan->n, sizeof(*plan->pieces), by_start);
        return err;
}

int store_told(struct store *store, int err)
{
        if (!err)
                return 0;
        if (store->told == SQLITE_NOMEM)
                return -ENOMEM; /* a statement that could not be prepared */
        return err == -EBADMSG || err == -EOVERFLOW ? store_damaged(store) : err;
}

struct emission {
        const struct store_query *query;
        int (*row)(void *data, const struct store_row *row);
        void *data;
};

bool store_row_for(int64_t uid, struct store_row *row)
{
        bool own = uid < 0 || uid == (int64_t)row->uid;

        if (own && uid >= 0 && strcmp(row->app, STORE_OTHERS) == 0)
                row->app = row->name = STORE_CALLED_OTHERS;
        if (!own && row->app[0]) {
                row->app = STORE_OTHERS;
                row->name = STORE_OTHERS_NAME;
        }
        return own;
}

/* Whether the query has the row: as it is, or under the name of all others'. */
static bool may_see(const struct store_query *query, struct store_row *row)
{
        return store_row_for(query->uid, row) || query->others;
}

static int emit(struct store *store, const struct emission *emission, const struct times *times)
{
        const struct store_query *query = emission->query;
        uint64_t awake_ns = (uint64_t)MAX(times->end_ns - times->start_ns, INT64_C(0));
        int stop = 0;

        for (size_t i = 0; !stop && i < store->totals.n; i++) {
                struct store_row row = totals_row(store, i, times);

                if (!*row.app) /* the base, which is the first */
                        awake_ns = row.usage->time_ns;
                row.awake_ns = awake_ns;
                /* By the name that is shown: a question for another user's app must not find it among the others. */
                if (may_see(query, &row) && (!query->app || strcmp(query->app, row.app) == 0))
                        stop = emission->row(emission->data, &row);
        }
        return stop;
}

/* Its times, and, if asked for, its usages into store->totals. */
static int read_piece(struct store *store, const struct piece *piece, bool usages, struct times *times)
{
        sqlite3_stmt *row;
        int more, err = 0;

        totals_reset(&store->totals);
        *times = piece->times;
        if (piece->grain != STORE_RAW)
                return usages ? totals_add_period(store, &store->totals, piece->id) : 0;
        row = store_statement(store, SQL_INTERVAL);
        if (!row)
                return -EBADMSG;
        sqlite3_bind_int64(row, 1, piece->id);
        more = store_step(store, row);
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        err = store_times_of_interval(row, times);
        if (!err && usages)
                err = totals_add_interval(store, &store->totals, row);
        sqlite3_reset(row);
        return err;
}

int store_read_version(struct store *store, uint32_t *ret)
{
        int err = store_run(store, SQL_LOOK); /* only what is read shows what others wrote */

        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_DATA_VERSION, ret);
        return err;
}

/* A reader's are as good as they were while nobody wrote; a writer's own may have been rolled back. */
int store_load_names(struct store *store)
{
        uint32_t version = 0;
        int err = store_read_version(store, &version);

        if (err || (store->mode == STORE_READ && store->names_known && store->names_version == version))
                return err;
        err = names_load(store);
        store->names_known = !err;
        store->names_version = version;
        return err;
}

int store_rows(struct store *store, const struct store_query *query,
               int (*row)(void *data, const struct store_row *row), void *data)
{
        const struct emission emission = { query, row, data };
        _cleanup_(plan_clear) struct plan plan = { 0 };
        int stop = 0, err = store_run(store, SQL_BEGIN_READ);

        if (err)
                return err;
        store->totals.times = query->times;
        err = store_load_names(store);
        if (!err)
                err = store_follow_version(store);
        if (!err)
                err = make_plan(store, query, &plan);
        for (size_t i = 0; !err && !stop && i < plan.n; i++) {
                struct times times;

                err = read_piece(store, &plan.pieces[i], true, &times);
                if (!err)
                        stop = emit(store, &emission, &times);
        }
        totals_reset(&store->totals);
        store->totals.times = false;
        err = store_finish(store, store_told(store, err));
        return err ? err : stop;
}

int store_apps(struct store *store, int64_t uid, int (*row)(void *data, const struct store_row *row), void *data)
{
        int stop = 0, err = store_run(store, SQL_BEGIN_READ);

        if (err)
                return err;
        err = store_load_names(store);
        for (size_t i = 0; !err && !stop && i < store->n_apps; i++) {
                const struct app_name *app = &store->apps[i];
                struct store_row named = { .app = app->app, .name = app->name ? app->name : app->app, .uid = app->uid };

                store_row_for(uid, &named);
                stop = row(data, &named);
        }
        err = store_finish(store, store_told(store, err));
        return err ? err : stop;
}

/* A gap of a second ends a stretch: what the level lost meanwhile belongs to none. */
#define GAP_NS INT64_C(1000000000)

static bool is_known_throughout(const struct times *times)
{
        return (double)times->sums[SUM_KNOWN_NS] >= 0.99 * (double)times->sums[SUM_ELAPSED_NS];
}

/* On battery without a gap, as pieces come. */
struct stretches {
        unsigned n;
        bool known;
};

/* All of @sums: none is negative, and nor are they together. */
static int add_battery(struct times *sums, struct stretches *stretches, const struct times *times)
{
        stretches->n += times->sums[SUM_KNOWN_NS] > 0 && (!stretches->known || times->start_ns > sums->end_ns + GAP_NS);
        stretches->known = is_known_throughout(times);
        sums->start_ns = MIN(sums->start_ns, times->start_ns);
        sums->end_ns = MAX(sums->end_ns, times->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(times->sums); i++)
                if (__builtin_add_overflow(sums->sums[i], times->sums[i], &sums->sums[i]))
                        return -EBADMSG;
        return 0;
}

/* Mean of a level, from a time and the level's product with it; NaN: the time is 0. */
static double mean_of(const int64_t *sums)
{
        return sums[0] > 0 ? (double)sums[1] / (double)sums[0] : NAN;
}

static int sum_battery(struct store *store, int64_t from_ns, int64_t to_ns, struct store_battery *ret)
{
        const struct store_query query = { .from_ns = from_ns, .to_ns = to_ns, .grain = STORE_BEST, .uid = -1 };
        struct times all = { .start_ns = INT64_MAX, .end_ns = INT64_MIN };
        struct battery last = { 0 };
        _cleanup_(plan_clear) struct plan plan = { 0 };
        struct stretches stretches = { 0 };
        int err = make_plan(store, &query, &plan);

        for (size_t i = 0; !err && i < plan.n; i++) {
                struct times times;

                err = read_piece(store, &plan.pieces[i], false, &times);
                if (!err)
                        err = add_battery(&all, &stretches, &times);
        }
        if (!err)
                err = store_read_last_battery(store, from_ns, to_ns, &last);
        if (err || plan.n == 0)
                return err ? err : -ENODATA;
        *ret = (struct store_battery){
                .elapsed_ns = (uint64_t)all.sums[SUM_ELAPSED_NS],
                .known_ns = (uint64_t)all.sums[SUM_KNOWN_NS],
                .percent_known_ns = (uint64_t)all.sums[SUM_PERCENT_KNOWN_NS],
                .discharge_uj = (uint64_t)all.sums[SUM_DISCHARGE_UJ],
                .discharge_percent = (double)all.sums[SUM_DISCHARGE_NPERCENT] / 1e9,
                .counted_ns = (uint64_t)all.sums[SUM_COUNTED_NS],
                .shared_ns = (uint64_t)all.sums[SUM_SHARED_NS],
                .wifi_signal_dbm = mean_of(&all.sums[SUM_WIFI_SIGNAL_NS]),
                .cellular_signal_percent = mean_of(&all.sums[SUM_CELLULAR_SIGNAL_NS]),
                .first_ns = all.start_ns,
                .last_ns = all.end_ns,
                .last = last,
                .stretches = stretches.n,
        };
        return 0;
}

int store_battery(struct store *store, int64_t from_ns, int64_t to_ns, struct store_battery *ret)
{
        struct store_battery battery;
        int err = store_run(store, SQL_BEGIN_READ);

        if (err)
                return err;
        err = sum_battery(store, from_ns, to_ns, &battery);
        err = store_finish(store, store_told(store, err));
        if (!err)
                *ret = battery;
        return err;
}
