/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads everyday observations of observations.db; values that other programs wrote there may be anything. */

#include "everyday-private.h"
#include "observations-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/radio-usage.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define MOST_J 1e9
#define MOST_PERCENT 1000 /* a gauge may show more than it calls full */

static bool is_amount(double value, double most)
{
        return value >= 0 && value <= most;
}

bool everyday_is_sane(const struct everyday *everyday)
{
        return everyday->start_ns > -INT64_MAX / 2 && everyday->start_ns < everyday->end_ns &&
               everyday->end_ns < INT64_MAX / 2 && everyday->elapsed_ns > 0 && everyday->elapsed_ns <= INT64_MAX &&
               (isnan(everyday->energy_j) || is_amount(everyday->energy_j, MOST_J)) &&
               (isnan(everyday->gauge_j) || is_amount(everyday->gauge_j, MOST_J)) && everyday->percent > 0 &&
               everyday->percent <= MOST_PERCENT && is_amount(everyday->level, MOST_PERCENT) &&
               is_amount(everyday->late_s, (double)everyday->elapsed_ns / NS_PER_S + 1) &&
               (isnan(everyday->wifi_signal_dbm) || is_amount(-everyday->wifi_signal_dbm, -INT8_MIN)) &&
               (isnan(everyday->cellular_signal_percent) || is_amount(everyday->cellular_signal_percent, 100));
}

/* Prepares @sql and makes its first step. 1: a row; 0: none, also if the tables do not exist yet. */
static int first_row(struct observations *observations, const char *sql, sqlite3_stmt **ret)
{
        int code, err = observations_prepare(observations, sql, ret);

        if (err)
                return err;
        code = sqlite3_step(*ret);
        return code == SQLITE_ROW ? 1 : observations_complain(observations, code, "be read");
}

static int is_there(struct observations *observations)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;

        return first_row(observations, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'everyday'",
                         &statement);
}

int everyday_newest(struct observations *observations, int64_t *ret)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int more = is_there(observations);

        if (more == 1)
                more = first_row(observations, "SELECT end_ns FROM everyday ORDER BY id DESC LIMIT 1", &statement);
        if (more >= 0)
                *ret = more ? sqlite3_column_int64(statement, 0) : INT64_MIN;
        return MIN(more, 0);
}

static double column_real(sqlite3_stmt *row, int column)
{
        return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN : sqlite3_column_double(row, column);
}

static void read_span(sqlite3_stmt *row, struct everyday *ret)
{
        *ret = (struct everyday){
                .start_ns = sqlite3_column_int64(row, 1),
                .end_ns = sqlite3_column_int64(row, 2),
                .elapsed_ns = (uint64_t)sqlite3_column_int64(row, 3),
                .energy_j = column_real(row, 4),
                .percent = column_real(row, 5),
                .level = column_real(row, 6),
                .late_s = column_real(row, 7),
                .gauge_j = column_real(row, 8),
                .wifi_signal_dbm = column_real(row, 9),
                .cellular_signal_percent = column_real(row, 10),
                .shared = sqlite3_column_int64(row, 11) != 0,
        };
}

static bool read_point(sqlite3_stmt *row, struct point *ret)
{
        int64_t group = sqlite3_column_int64(row, 4), key = sqlite3_column_int64(row, 5),
                value = sqlite3_column_int64(row, 6), any_ns = sqlite3_column_int64(row, 7);

        *ret = (struct point){ .group = (uint32_t)group, .key = (uint32_t)key, .ns = (uint64_t)value,
                               .any_ns = (uint64_t)any_ns };
        return group >= 0 && group <= UINT32_MAX && key >= 0 && key <= UINT32_MAX && value >= 0 && any_ns >= 0;
}

/* A word that no amount has is one of another version. */
static int read_amount(const char *word, const struct point *point, struct everyday_use *use)
{
        if (strcmp(word, EVERYDAY_HAVE) == 0)
                use->usage.have = (uint32_t)point->ns & USAGE_ALL;
        if (strcmp(word, EVERYDAY_ACTIVE) == 0)
                use->active_s = (double)point->ns / NS_PER_S;
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (strcmp(word, amount_kinds[i].word) == 0)
                        use->usage.amount[i] = point->ns;
        for (size_t k = 0; k < KEYED_RADIO; k++)
                if (strcmp(word, keyed_kinds[k].word) == 0)
                        return usage_add_point(&use->usage, k, point);
        return 0;
}

static int read_radio(sqlite3_stmt *row, struct everyday_use *use)
{
        const unsigned char *data = sqlite3_column_blob(row, 6);
        struct bytes_reader reader = { data, data ? data + sqlite3_column_bytes(row, 6) : data };

        if (sqlite3_column_type(row, 6) != SQLITE_BLOB || use->usage.radio.n > 0)
                return -EINVAL;
        return radio_usage_unpack(&reader, &use->usage.radio);
}

/* Uses of one observation, as their rows come: by app and state. */
struct uses {
        struct everyday *everyday;
        size_t capacity;
        int64_t app;
};

static int read_use(sqlite3_stmt *row, struct uses *uses)
{
        struct everyday *everyday = uses->everyday;
        struct everyday_use *use = everyday->n_uses ? &everyday->uses[everyday->n_uses - 1] : NULL;
        const char *app = (const char *)sqlite3_column_text(row, 1), *word = (const char *)sqlite3_column_text(row, 3);
        int64_t id = sqlite3_column_int64(row, 0), state = sqlite3_column_int64(row, 2);
        struct point point;

        if (!app || !word || state < STATE_BACKGROUND || state > STATE_FOREGROUND || !read_point(row, &point))
                return -EINVAL;
        if (!use || id != uses->app || (enum app_state)state != use->state) {
                if (util_grow(&everyday->uses, &uses->capacity, everyday->n_uses + 1, sizeof(*everyday->uses)) < 0)
                        return -ENOMEM;
                use = &everyday->uses[everyday->n_uses++];
                *use = (struct everyday_use){ .state = (enum app_state)state };
                util_printable(app, use->app, sizeof(use->app));
                uses->app = id;
        }
        return strcmp(word, keyed_kinds[KEYED_RADIO].word) == 0 ? read_radio(row, use) : read_amount(word, &point, use);
}

/* 1: they are damaged. */
static int read_uses(struct observations *observations, sqlite3_stmt *rows, int64_t id, struct everyday *everyday)
{
        struct uses uses = { .everyday = everyday };
        int code = SQLITE_DONE, err = 0;

        sqlite3_bind_int64(rows, 1, id);
        while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW)
                err = read_use(rows, &uses);
        sqlite3_reset(rows);
        if (err)
                return err == -ENOMEM ? err : 1;
        return observations_complain(observations, code, "be read");
}

struct everyday_list {
        struct everyday *list;
        size_t n, capacity;
        size_t damaged;
        int64_t first_damaged;
};

static void list_clear(struct everyday_list *list)
{
        everyday_free(list->list, list->n);
}

static int read_one(struct observations *observations, sqlite3_stmt *row, sqlite3_stmt *uses,
                    struct everyday_list *list)
{
        int64_t id = sqlite3_column_int64(row, 0);
        struct everyday *everyday;
        int err;

        if (util_grow(&list->list, &list->capacity, list->n + 1, sizeof(*list->list)) < 0)
                return -ENOMEM;
        everyday = &list->list[list->n++];
        read_span(row, everyday);
        everyday->follows = list->n > 1 && everyday[-1].end_ns == everyday->start_ns;
        err = everyday_is_sane(everyday) ? read_uses(observations, uses, id, everyday) : 1;
        if (err <= 0)
                return err;
        everyday_clear(everyday);
        list->n--;
        list->first_damaged = list->damaged++ ? list->first_damaged : id;
        return 0;
}

static void tell_damaged(const struct observations *observations, const struct everyday_list *list)
{
        if (list->damaged > 0)
                log_warning(observations->log,
                            words_counted("%s: %zu damaged everyday observation is left out, the first with "
                                          "id %lld; delete such rows with sqlite3",
                                          "%s: %zu damaged everyday observations are left out, the first "
                                          "with id %lld; delete such rows with sqlite3", list->damaged),
                            observations->path, list->damaged, (long long)list->first_damaged);
}

static int read_all(struct observations *observations, struct everyday_list *list)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *rows = NULL, *uses = NULL;
        int code = SQLITE_DONE;
        int err = observations_prepare(observations,
                                       "SELECT id, start_ns, end_ns, elapsed_ns, energy_j, percent, level, late_s,"
                                       " gauge_j, wifi_signal_dbm, cellular_signal_percent, shared"
                                       " FROM everyday ORDER BY end_ns", &rows);

        if (!err)
                err = observations_prepare(observations,
                                           "SELECT everyday_use.app, everyday_app.app, state, word, \"group\","
                                           " everyday_key.key, value, any_ns FROM everyday_use"
                                           " LEFT JOIN everyday_app ON everyday_app.id = everyday_use.app"
                                           " LEFT JOIN everyday_key ON everyday_key.id = everyday_use.key"
                                           " WHERE everyday = ?1 ORDER BY everyday_use.app, state, everyday_use.key",
                                           &uses);
        while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW)
                err = read_one(observations, rows, uses, list);
        tell_damaged(observations, list);
        return err ? err : observations_complain(observations, code, "be read");
}

#define AHEAD_NS (30 * INT64_C(86400) * (int64_t)NS_PER_S)

void everyday_drop_ahead(struct everyday *list, size_t *n, int64_t now_ns)
{
        size_t stay = 1;

        while (stay < *n && (list[stay].end_ns <= now_ns || list[stay].start_ns <= list[stay - 1].end_ns + AHEAD_NS))
                stay++;
        while (*n > stay)
                everyday_clear(&list[--*n]);
}

int everyday_read(struct observations *observations, struct everyday **ret, size_t *n)
{
        _cleanup_(list_clear) struct everyday_list list = { 0 };
        int err = is_there(observations);

        if (err == 1)
                err = read_all(observations, &list);
        if (err)
                return err;
        *ret = TAKE_PTR(list.list);
        *n = list.n;
        list.n = 0;
        return 0;
}
