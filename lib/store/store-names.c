/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Apps, operating points and processes have a row of their own once, and a number from then on. */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/tuning.h"
#include "util/util.h"

/* A process that is still there gets a new row after a day, so that old rows can go with the intervals. */
#define PROCESS_ROW_NS DAY_NS

void names_clear(struct store *store)
{
        for (size_t i = 0; i < store->n_apps; i++) {
                free(store->apps[i].app);
                free(store->apps[i].name);
        }
        store->n_apps = store->n_opps = store->n_users = 0;
        if (store->app_slots)
                memset(store->app_slots, 0, store->app_slots_capacity * sizeof(*store->app_slots));
        names_forget_processes(store);
}

void names_forget_processes(struct store *store)
{
        store->n_seen = 0;
        if (store->seen)
                memset(store->seen, 0, store->seen_capacity * sizeof(*store->seen));
}

/* Where (app, uid) is, or would be. */
static size_t *app_slot(const struct store *store, const char *app, uid_t uid)
{
        size_t mask = store->app_slots_capacity - 1, hash = uid * (size_t)2654435761u + 2166136261u;
        size_t at;

        for (const char *in = app; *in; in++)
                hash = (hash ^ (unsigned char)*in) * 16777619u;
        for (at = (hash ^ hash >> 15) & mask; store->app_slots[at]; at = (at + 1) & mask) {
                const struct app_name *other = &store->apps[store->app_slots[at] - 1];

                if (other->uid == uid && strcmp(other->app, app) == 0)
                        break;
        }
        return &store->app_slots[at];
}

/* Twice as many slots as apps, so that a search ends soon. */
static int make_app_slots(struct store *store)
{
        size_t wanted = MAX(store->app_slots_capacity, (size_t)256);
        size_t *slots;

        while (wanted < 2 * (store->n_apps + 1))
                wanted *= 2;
        if (wanted == store->app_slots_capacity)
                return 0;
        slots = calloc(wanted, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(store->app_slots);
        store->app_slots = slots;
        store->app_slots_capacity = wanted;
        for (size_t i = 0; i < store->n_apps; i++)
                *app_slot(store, store->apps[i].app, store->apps[i].uid) = i + 1;
        return 0;
}

static char *printable_copy(const unsigned char *text, size_t size)
{
        char *copy = malloc(size);

        return copy ? util_printable((const char *)text, copy, size) : NULL;
}

/* How many apps a user has; asked for one user after another, mostly the same. */
static struct app_count *count_of(struct store *store, uid_t uid)
{
        for (size_t i = 0; i < store->n_users; i++) {
                size_t at = (store->last_user + i) % store->n_users;

                if (store->users[at].uid == uid) {
                        store->last_user = at;
                        return &store->users[at];
                }
        }
        if (util_grow(&store->users, &store->users_capacity, store->n_users + 1, sizeof(*store->users)) < 0)
                return NULL;
        store->users[store->n_users] = (struct app_count){ uid, 0 };
        return &store->users[store->n_users++];
}

static int remember_app(struct store *store, int64_t id, const char *text, uid_t uid, const char *name)
{
        struct app_count *count = count_of(store, uid);
        struct app_name *app;

        if (!count || util_grow(&store->apps, &store->apps_capacity, store->n_apps + 1, sizeof(*app)) < 0 ||
            make_app_slots(store) < 0)
                return -ENOMEM;
        app = &store->apps[store->n_apps];
        *app = (struct app_name){ .id = id, .uid = uid };
        app->app = printable_copy((const unsigned char *)text, APP_ID_MAX);
        app->name = name ? printable_copy((const unsigned char *)name, APP_ID_MAX) : NULL;
        if (!app->app || (name && !app->name)) {
                free(app->app);
                free(app->name);
                return -ENOMEM;
        }
        *app_slot(store, app->app, uid) = ++store->n_apps;
        count->n++;
        return 0;
}

static int load_apps(struct store *store)
{
        sqlite3_stmt *apps = store_statement(store, SQL_APPS);
        int more;

        if (!apps)
                return -EBADMSG;
        while ((more = store_step(store, apps)) == 1) {
                const char *app = (const char *)sqlite3_column_text(apps, 1);
                const char *name = (const char *)sqlite3_column_text(apps, 3);
                int err = remember_app(store, sqlite3_column_int64(apps, 0), app ? app : "",
                                       (uid_t)sqlite3_column_int64(apps, 2), name);

                if (err) {
                        sqlite3_reset(apps);
                        return err;
                }
        }
        return more;
}

static int remember_opp(struct store *store, int64_t id, uint32_t policy, uint32_t khz)
{
        if (util_grow(&store->opps, &store->opps_capacity, store->n_opps + 1, sizeof(*store->opps)) < 0)
                return -ENOMEM;
        store->opps[store->n_opps++] = (struct opp_name){ id, policy, khz };
        return 0;
}

static int load_opps(struct store *store)
{
        sqlite3_stmt *opps = store_statement(store, SQL_OPPS);
        int more;

        if (!opps)
                return -EBADMSG;
        while ((more = store_step(store, opps)) == 1) {
                int err = remember_opp(store, sqlite3_column_int64(opps, 0),
                                       (uint32_t)sqlite3_column_int64(opps, 1),
                                       (uint32_t)sqlite3_column_int64(opps, 2));

                if (err) {
                        sqlite3_reset(opps);
                        return err;
                }
        }
        return more;
}

int names_load(struct store *store)
{
        int err;

        names_clear(store);
        err = load_apps(store);
        return err ? err : load_opps(store);
}

static int compare_app(const void *id, const void *element)
{
        uint64_t one = *(const uint64_t *)id, other = (uint64_t)((const struct app_name *)element)->id;

        return one < other ? -1 : one > other;
}

const struct app_name *names_find_app(const struct store *store, uint64_t id)
{
        if (id - 1 < store->n_apps && (uint64_t)store->apps[id - 1].id == id)
                return &store->apps[id - 1];
        if (store->n_apps == 0)
                return NULL;
        return bsearch(&id, store->apps, store->n_apps, sizeof(*store->apps), compare_app);
}

const struct opp_name *names_find_opp(const struct store *store, uint64_t id)
{
        for (size_t i = 0; i < store->n_opps; i++) {
                size_t at = (i + (size_t)id + store->n_opps - 1) % store->n_opps; /* ids start at 1 */

                if ((uint64_t)store->opps[at].id == id)
                        return &store->opps[at];
        }
        return NULL;
}

/* Adds one row; its id is larger than all before. */
static int insert(struct store *store, sqlite3_stmt *statement, int64_t *ret)
{
        int err = store_begin(store);

        if (!err)
                err = store_step(store, statement);

        if (err)
                return err < 0 ? err : -EBADMSG;
        *ret = sqlite3_last_insert_rowid(store->db);
        return 0;
}

static int add_app(struct store *store, const char *app, uid_t uid, int64_t *ret)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_APP);
        int err;

        if (!add)
                return -EBADMSG;
        sqlite3_bind_text(add, 1, app, -1, SQLITE_STATIC);
        sqlite3_bind_int64(add, 2, (int64_t)uid);
        err = insert(store, add, ret);
        return err ? err : remember_app(store, *ret, app, uid, NULL);
}

/* The row that a new name of @uid shares with others', where there are too many: its index plus one, or 0. */
static size_t find_others(struct store *store, uid_t *uid)
{
        if (*app_slot(store, TUNING_OTHER_APPS, *uid) == 0 &&
            store->n_apps >= TUNING_STORE_APPS + TUNING_STORE_OTHERS)
                *uid = (uid_t)-1;
        return *app_slot(store, TUNING_OTHER_APPS, *uid);
}

static bool is_full(struct store *store, uid_t uid)
{
        const struct app_count *count = count_of(store, uid);

        return store->n_apps >= TUNING_STORE_APPS || (count && count->n >= TUNING_STORE_APPS_OF_USER);
}

int names_app(struct store *store, const char *app, uid_t uid, int64_t *ret)
{
        char printable[APP_ID_MAX];
        size_t known;
        int err = make_app_slots(store);

        if (err)
                return err;
        util_printable(app, printable, sizeof(printable));
        known = *app_slot(store, printable, uid);
        if (!known && is_full(store, uid)) {
                snprintf(printable, sizeof(printable), TUNING_OTHER_APPS);
                known = find_others(store, &uid);
        }
        if (!known)
                return add_app(store, printable, uid, ret);
        *ret = store->apps[known - 1].id;
        return 0;
}

int names_opp(struct store *store, uint32_t policy, uint32_t khz, int64_t *ret)
{
        sqlite3_stmt *add;
        int64_t id;
        int err;

        for (size_t i = 0; i < store->n_opps; i++) {
                size_t at = (store->next_opp + i) % store->n_opps; /* they are asked for in their order */

                if (store->opps[at].policy == policy && store->opps[at].khz == khz) {
                        *ret = store->opps[at].id;
                        store->next_opp = at + 1;
                        return 0;
                }
        }
        add = store_statement(store, SQL_ADD_OPP);
        if (!add)
                return -EBADMSG;
        sqlite3_bind_int64(add, 1, policy);
        sqlite3_bind_int64(add, 2, khz);
        err = insert(store, add, &id);
        if (!err)
                err = remember_opp(store, id, policy, khz);
        if (!err)
                *ret = id;
        return err;
}

static size_t seen_hash(const struct store *store, pid_t pid, uint64_t start_time)
{
        return ((size_t)pid * 2654435761u ^ (size_t)start_time * 40503u) & (store->seen_capacity - 1);
}

/* Where (pid, start_time, app) is, or would be; @app -1: where the first of (pid, start_time) is. */
static struct seen_process *seen_slot(struct store *store, pid_t pid, uint64_t start_time, int64_t app)
{
        size_t mask = store->seen_capacity - 1, at = seen_hash(store, pid, start_time);

        for (; store->seen[at].id; at = (at + 1) & mask)
                if (store->seen[at].pid == pid && store->seen[at].start_time == start_time &&
                    (store->seen[at].app == app || app < 0))
                        break;
        return &store->seen[at];
}

/* What recall_row() will look at. */
void names_fetch(const struct store *store, const struct interval *interval)
{
        for (size_t i = 0; store->seen && i < interval->n_rows; i++)
                util_fetch(&store->seen[seen_hash(store, interval->rows[i].pid, interval->rows[i].start_time)],
                           sizeof(*store->seen));
}

static int make_seen_room(struct store *store)
{
        if (!store->seen) {
                store->seen = calloc(4096, sizeof(*store->seen));
                if (!store->seen)
                        return -ENOMEM;
                store->seen_capacity = 4096;
        }
        if (store->n_seen * 2 >= store->seen_capacity)
                names_forget_processes(store); /* they will get new rows, which harms nobody */
        return 0;
}

static bool is_current(const struct seen_process *seen, int64_t end_ns)
{
        return seen->id && end_ns >= seen->seen_ns && end_ns - seen->seen_ns < PROCESS_ROW_NS;
}

static int names_process(struct store *store, const struct interval_row *row, int64_t app, int64_t end_ns,
                         size_t *room, int64_t *ret)
{
        struct seen_process *seen;
        sqlite3_stmt *add;
        char comm[sizeof(row->comm)];
        int err = make_seen_room(store);

        if (err)
                return err;
        seen = seen_slot(store, row->pid, row->start_time, app);
        if (is_current(seen, end_ns) || *room == 0) {
                *ret = is_current(seen, end_ns) ? seen->id : 0;
                return 0;
        }
        add = store_statement(store, SQL_ADD_PROCESS);
        if (!add)
                return -EBADMSG;
        sqlite3_bind_int64(add, 1, row->pid);
        sqlite3_bind_int64(add, 2, (int64_t)row->start_time);
        sqlite3_bind_text(add, 3, util_printable(row->comm, comm, sizeof(comm)), -1, SQLITE_STATIC);
        sqlite3_bind_int64(add, 4, app);
        sqlite3_bind_int64(add, 5, end_ns);
        if (!seen->id)
                store->n_seen++;
        (*room)--;
        err = insert(store, add, ret);
        *seen = (struct seen_process){ row->pid, row->start_time, app, *ret, end_ns };
        return err;
}

/* A process that was seen before is mostly still its app's: then nothing is hashed but two numbers. */
static bool recall_row(struct store *store, const struct interval_row *row, int64_t end_ns, int64_t *app,
                       int64_t *process)
{
        const struct seen_process *seen = store->seen ? seen_slot(store, row->pid, row->start_time, -1) : NULL;
        const struct app_name *name = seen && is_current(seen, end_ns) ? names_find_app(store, (uint64_t)seen->app) : NULL;

        if (!name || name->uid != row->uid || strcmp(name->app, row->app) != 0)
                return false;
        *app = seen->app;
        *process = seen->id;
        return true;
}

int names_row(struct store *store, const struct interval_row *row, int64_t end_ns, size_t *room, int64_t *app,
              int64_t *process)
{
        int err;

        if (row->pid != 0 && recall_row(store, row, end_ns, app, process))
                return 0;
        *process = 0;
        err = names_app(store, row->app, row->uid, app);
        return err || row->pid == 0 ? err : names_process(store, row, *app, end_ns, room, process);
}

int names_drop_processes(struct store *store, int64_t raw_gone_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_PROCESSES);

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, MAX(raw_gone_ns, INT64_MIN + PROCESS_ROW_NS) - PROCESS_ROW_NS);
        return store_step(store, drop);
}
