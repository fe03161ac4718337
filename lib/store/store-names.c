/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Apps and keys of points have a row of their own once, and a number from then on. */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/subordinate.h"
#include "util/tuning.h"
#include "util/util.h"

void names_clear(struct store *store)
{
        for (size_t i = 0; i < store->n_apps; i++) {
                free(store->apps[i].app);
                free(store->apps[i].name);
        }
        store->n_apps = store->n_keys = store->n_users = 0;
        if (store->app_slots)
                memset(store->app_slots, 0, store->app_slots_capacity * sizeof(*store->app_slots));
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

/* How many apps a user has, those of subordinate ids too; asked for one user after another, mostly the same. */
static struct app_count *count_of(struct store *store, uid_t any)
{
        uid_t uid = subordinate_owner(any);

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

static int remember_key(struct store *store, const struct key_name *key)
{
        if (util_grow(&store->keys, &store->keys_capacity, store->n_keys + 1, sizeof(*store->keys)) < 0)
                return -ENOMEM;
        store->keys[store->n_keys++] = *key;
        return 0;
}

static int load_keys(struct store *store)
{
        sqlite3_stmt *keys = store_statement(store, SQL_KEYS);
        int more, err = 0;

        if (!keys)
                return -EBADMSG;
        while (!err && (more = store_step(store, keys)) == 1)
                err = remember_key(store, &(struct key_name){ sqlite3_column_int64(keys, 0),
                                                              (enum keyed)sqlite3_column_int64(keys, 1),
                                                              (uint32_t)sqlite3_column_int64(keys, 2),
                                                              (uint32_t)sqlite3_column_int64(keys, 3) });
        sqlite3_reset(keys);
        return err ? err : more;
}

int names_load(struct store *store)
{
        int err;

        names_clear(store);
        err = load_apps(store);
        return err ? err : load_keys(store);
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

static int compare_key(const void *id, const void *element)
{
        uint64_t one = *(const uint64_t *)id, other = (uint64_t)((const struct key_name *)element)->id;

        return one < other ? -1 : one > other;
}

bool names_find_key(const struct store *store, enum keyed keyed, uint64_t id, struct point *ret)
{
        const struct key_name *key = NULL;

        if (id - 1 < store->n_keys && (uint64_t)store->keys[id - 1].id == id) /* ids start at 1 */
                key = &store->keys[id - 1];
        else if (store->n_keys > 0)
                key = bsearch(&id, store->keys, store->n_keys, sizeof(*store->keys), compare_key);
        if (!key)
                return false;
        ret->group = key->group;
        ret->key = key->key;
        return key->keyed == keyed;
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
        *uid = subordinate_owner(*uid);
        if (*app_slot(store, TUNING_OTHER_APPS, *uid) == 0 &&
            store->n_apps >= TUNING_STORE_APPS + TUNING_STORE_OTHERS)
                *uid = (uid_t)-1;
        return *app_slot(store, TUNING_OTHER_APPS, *uid);
}

/* No user has more apps than are left for all others: a new user's always have room. */
static bool is_full(struct store *store, uid_t uid)
{
        const struct app_count *count = count_of(store, uid);
        size_t left = TUNING_STORE_APPS - MIN(store->n_apps, (size_t)TUNING_STORE_APPS);

        return left == 0 || (count && count->n >= MIN(left, (size_t)TUNING_STORE_APPS_OF_USER));
}

int names_app(struct store *store, const char *app, uid_t uid, int64_t *ret)
{
        char printable[APP_ID_MAX];
        size_t known;
        int err = make_app_slots(store);

        if (err)
                return err;
        known = *app_slot(store, app, uid);
        if (!known)
                known = *app_slot(store, util_printable(app, printable, sizeof(printable)), uid);
        if (!known && is_full(store, uid)) {
                snprintf(printable, sizeof(printable), TUNING_OTHER_APPS);
                known = find_others(store, &uid);
        }
        if (!known)
                return add_app(store, printable, uid, ret);
        *ret = store->apps[known - 1].id;
        return 0;
}

int names_key(struct store *store, enum keyed keyed, uint32_t group, uint32_t key, int64_t *ret)
{
        struct key_name name = { 0, keyed, group, key };
        sqlite3_stmt *add;
        int err;

        for (size_t i = 0; i < store->n_keys; i++) {
                size_t at = (store->next_key + i) % store->n_keys; /* they are asked for in their order */

                if (store->keys[at].keyed == keyed && store->keys[at].group == group && store->keys[at].key == key) {
                        *ret = store->keys[at].id;
                        store->next_key = at + 1;
                        return 0;
                }
        }
        add = store_statement(store, SQL_ADD_KEY);
        if (!add)
                return -EBADMSG;
        sqlite3_bind_int64(add, 1, keyed);
        sqlite3_bind_int64(add, 2, group);
        sqlite3_bind_int64(add, 3, key);
        err = insert(store, add, &name.id);
        if (!err)
                err = remember_key(store, &name);
        if (!err)
                *ret = name.id;
        return err;
}
