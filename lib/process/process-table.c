/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process-table-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

int process_table_new(int root_fd, struct apps *apps, bool exits, size_t n_opps, struct process_table **ret)
{
        struct process_table *table = calloc(1, sizeof(*table));

        if (!table)
                return -ENOMEM;
        table->proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        table->apps = apps;
        table->exits = exits;
        table->n_opps = n_opps;
        table->weights = calloc(n_opps + 1, sizeof(*table->weights));
        table->names = calloc(NAMES, sizeof(*table->names));
        if (!table->weights || !table->names) {
                process_table_free(table);
                return -ENOMEM;
        }
        *ret = table;
        return 0;
}

static void known_free(struct known *known)
{
        free(known->opp_raw_ns);
        free(known);
}

void process_table_free(struct process_table *table)
{
        if (!table)
                return;
        HASH_CLEAR(hh, table->living);
        for (size_t i = 0; i < table->all.n; i++)
                known_free(table->all.list[i]);
        free(table->all.list);
        free(table->touched.list);
        free(table->waiting.list);
        free(table->young.list);
        free(table->places);
        free(table->left);
        free(table->weights);
        free(table->names);
        closep(&table->proc_fd);
        free(table);
}

int table_list_add(struct known_list *list, struct known *known)
{
        int err = util_grow(&list->list, &list->capacity, list->n + 1, sizeof(struct known *));

        if (!err)
                list->list[list->n++] = known;
        return err;
}

int table_touch(struct process_table *table, struct known *known)
{
        int err = known->touched ? 0 : table_list_add(&table->touched, known);

        known->touched = known->touched || !err;
        return err;
}

int table_wait(struct process_table *table, struct known *known)
{
        int err = known->waiting || known->ended_ns ? 0 : table_list_add(&table->waiting, known);

        if (err || known->waiting || known->ended_ns)
                return err;
        known->waiting = true;
        known->polls_missing = 0;
        known->missing_since_ns = 0;
        return 0;
}

struct key {
        uint64_t start_ns;
        int64_t pid;
};

static struct known *find(const struct process_table *table, pid_t pid, uint64_t start_ns)
{
        const struct key key = { start_ns, pid };
        struct known *known;

        HASH_FIND(hh, table->living, &key, sizeof(key), known);
        return known;
}

static int known_new(struct process_table *table, pid_t pid, uint64_t start_ns, struct known **ret)
{
        struct known *known = calloc(1, sizeof(*known));

        if (!known)
                return -ENOMEM;
        known->pid = pid;
        known->place = NO_PLACE;
        known->start_ns = start_ns;
        known->began_ns = start_ns;
        known->start_time = start_ns / START_TICK_NS;
        if (table->n_opps > 0) {
                known->opp_raw_ns = calloc(3 * table->n_opps, sizeof(uint64_t));
                if (!known->opp_raw_ns) {
                        free(known);
                        return -ENOMEM;
                }
                known->opp_old_ns = known->opp_raw_ns + table->n_opps;
                known->opp_shown_ns = known->opp_old_ns + table->n_opps;
        }
        if (table_list_add(&table->all, known) < 0) {
                known_free(known);
                return -ENOMEM;
        }
        known->at = table->all.n - 1;
        *ret = known;
        return 0;
}

static int add_living(struct process_table *table, const struct process_seen *seen, struct known **ret)
{
        struct known *known;
        int err = known_new(table, seen->pid, seen->start_ns, &known);

        if (err)
                return err;
        HASH_ADD(hh, table->living, start_ns, sizeof(struct key), known);
        *ret = known;
        return HASH_HAS(known) ? table_wait(table, known) : -ENOMEM; /* waits until a walk sees it */
}

static void filter(struct known_list *list)
{
        size_t kept = 0;

        for (size_t i = 0; i < list->n; i++)
                if (!list->list[i]->over)
                        list->list[kept++] = list->list[i];
        list->n = kept;
}

static void drop(struct process_table *table, struct known *known)
{
        struct known *last = table->all.list[--table->all.n];

        if (HASH_HAS(known))
                HASH_DEL(table->living, known);
        table->all.list[known->at] = last;
        last->at = known->at;
        if (known->place < table->n_places && table->places[known->place] == known)
                table->places[known->place] = NULL;
        table->n_shown -= known->shown_once;
        if (table->apps && !known->replaced)
                apps_forget(table->apps, known->pid, known->start_ns / START_TICK_NS);
        known_free(known);
}

/* All processes that are over are in `touched`. */
void table_drop_over(struct process_table *table)
{
        filter(&table->young);
        filter(&table->waiting);
        for (size_t i = 0; i < table->touched.n; i++) {
                table->touched.list[i]->touched = false;
                if (table->touched.list[i]->over)
                        drop(table, table->touched.list[i]);
        }
        table->touched.n = 0;
}

static bool is_same(const struct known *known, const struct process_seen *seen,
                    const struct process_amounts *shown)
{
        return known->shown_once && known->parent == seen->parent && known->uid == seen->uid &&
               known->have == seen->have && memcmp(&known->shown, shown, sizeof(known->shown)) == 0;
}

/* Amount without the parts that are not its own, and never less than before. */
static uint64_t own(uint64_t seen, uint64_t base, uint64_t before)
{
        return seen > base ? MAX(before, seen - base) : before;
}

/* Updates the shown totals. */
static int take(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        static const struct process_amounts none;
        const struct process_amounts *base = known->has_base ? &known->base : &none;
        struct process_amounts shown = { .cpu_ns = own(seen->total.cpu_ns, base->cpu_ns, known->shown.cpu_ns) };

        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                shown.amount[i] = own(seen->total.amount[i], base->amount[i], known->shown.amount[i]);
        if (seen->cpu_opp_ns && known->opp_raw_ns)
                memcpy(known->opp_raw_ns, seen->cpu_opp_ns, table->n_opps * sizeof(uint64_t));
        if (is_same(known, seen, &shown))
                return 0;
        known->parent = seen->parent;
        known->uid = seen->uid;
        known->have = seen->have;
        known->shown = shown;
        return table_touch(table, known);
}

static int find_or_add(struct process_table *table, const struct process_seen *seen, struct known **ret)
{
        *ret = find(table, seen->pid, seen->start_ns);
        return *ret ? 0 : add_living(table, seen, ret);
}

void process_table_begin(struct process_table *table)
{
        table->poll++;
}

/* Each index has at most one process, and each process at most one index. */
static int put_place(struct process_table *table, size_t place, struct known *known)
{
        int err = util_grow(&table->places, &table->places_capacity, place + 1, sizeof(struct known *));

        if (err)
                return err;
        while (table->n_places <= place)
                table->places[table->n_places++] = NULL;
        if (known->place < table->n_places && table->places[known->place] == known)
                table->places[known->place] = NULL;
        table->places[place] = known;
        known->place = (uint32_t)place;
        return 0;
}

int process_table_gone(struct process_table *table, size_t place)
{
        struct known *known = place < table->n_places ? table->places[place] : NULL;

        if (!known)
                return 0;
        table->places[place] = NULL;
        known->place = NO_PLACE;
        known->there = false;
        return table_wait(table, known);
}

static bool is_called(const struct known *known, const char *comm)
{
        return strncmp(known->comm, comm, sizeof(known->comm) - 1) == 0;
}

int process_table_alive(struct process_table *table, size_t place, const struct process_seen *seen)
{
        struct known *known = place < table->n_places ? table->places[place] : NULL;
        int err = 0;

        if (!known || known->pid != seen->pid || known->start_ns != seen->start_ns || known->ended_ns > 0) {
                err = find_or_add(table, seen, &known);
                if (!err)
                        err = put_place(table, place, known);
        }
        if (!err)
                err = take(table, known, seen);
        if (err)
                return err;
        known->told_poll = table->poll;
        known->there = true;
        if (!known->named || !is_called(known, seen->comm)) {
                known->named = true;
                err = table_name_alive(table, known, seen);
        }
        return err;
}

bool process_table_is_seen(struct process_table *table, pid_t pid, uint64_t start_ns)
{
        const struct known *known = find(table, pid, start_ns);

        return known && known->told_poll == table->poll;
}

uint64_t process_table_start_time(const struct process_table *table, pid_t pid, uint64_t start_ns)
{
        const struct known *known = find(table, pid, start_ns);

        return known ? known->start_time : start_ns / START_TICK_NS;
}

void process_table_base(const struct process_table *table, pid_t pid, uint64_t start_ns, uint64_t *read_bytes,
                        uint64_t *write_bytes)
{
        const struct known *known = find(table, pid, start_ns);

        *read_bytes = known ? known->base.read_bytes : 0;
        *write_bytes = known ? known->base.write_bytes : 0;
}

static int end(struct process_table *table, struct known *known, uint64_t ended_ns)
{
        known->named = true;
        known->there = false;
        known->ended_ns = MAX(ended_ns, UINT64_C(1));
        if (HASH_HAS(known))
                HASH_DELETE(hh, table->living, known);
        known->hh.tbl = NULL;
        return table_touch(table, known);
}

/* A process that ends may never have been seen alive; its last name is used. */
int process_table_ended(struct process_table *table, const struct process_seen *seen, uint64_t ended_ns,
                        struct known **ret)
{
        struct known *known;
        int err = find_or_add(table, seen, &known);

        if (!err)
                err = take(table, known, seen);
        if (err)
                return err;
        if (!known->named || known->told_poll < known->execed_poll) /* its new name was not yet read from /proc */
                table_name_ended(table, known, seen);
        if (ret)
                *ret = known;
        return end(table, known, ended_ns);
}

const char *process_table_app(const struct known *ended)
{
        return ended->app;
}

void process_table_ended_more(struct known *ended, uint64_t cpu_ns)
{
        ended->shown.cpu_ns += cpu_ns;
}

void process_table_lived(struct known *ended, uint64_t began_ns, uint64_t ended_ns)
{
        ended->began_ns = began_ns;
        ended->ended_ns = MAX(ended_ns, UINT64_C(1));
}

int process_table_reaped(struct process_table *table, pid_t pid, uint64_t start_ns, uint64_t read_bytes,
                         uint64_t write_bytes)
{
        struct process_seen parent = { .pid = pid, .start_ns = start_ns };
        struct known *known;
        int err;

        if (read_bytes == 0 && write_bytes == 0)
                return 0;
        err = find_or_add(table, &parent, &known);
        if (err)
                return err;
        known->has_base = true;
        known->base.read_bytes += read_bytes;
        known->base.write_bytes += write_bytes;
        return 0;
}

/* Adds the program before the exec as an entry of its own, which ends. */
static int add_old_program(struct process_table *table, const struct known *known,
                           const struct process_seen *seen, uint64_t exec_ns)
{
        struct known *old;
        int err = known_new(table, known->pid, known->start_ns, &old);

        if (err)
                return err;
        old->uid = known->uid;
        old->parent = known->parent;
        old->have = known->have;
        old->start_time = known->start_time;
        old->began_ns = known->began_ns;
        old->shown_once = known->shown_once;
        old->replaced = true;
        old->has_base = known->has_base;
        old->split_ns = known->split_ns;
        old->shown = known->shown;
        old->base = known->base;
        memcpy(old->comm, known->comm, sizeof(old->comm));
        memcpy(old->app, known->app, sizeof(old->app));
        if (old->opp_raw_ns)
                memcpy(old->opp_raw_ns, known->opp_raw_ns, 3 * table->n_opps * sizeof(uint64_t));
        err = take(table, old, seen);
        return err ? err : end(table, old, exec_ns);
}

/* The existing entry continues as the new program, with totals from 0. */
int process_table_execed(struct process_table *table, const struct process_seen *seen, uint64_t exec_ns)
{
        struct known *known = find(table, seen->pid, seen->start_ns);
        int err;

        if (!known || !known->shown_once)
                return 0; /* the old program was never in a sample */
        err = add_old_program(table, known, seen, exec_ns);
        if (!err)
                err = take(table, known, seen);
        if (!err)
                err = table_touch(table, known);
        if (err)
                return err;
        known->execed_poll = table->poll;
        known->began_ns = exec_ns;
        known->start_time = exec_ns / START_TICK_NS;
        known->shown_once = false; /* the old program's entry is the one that was shown */
        known->has_base = true;
        known->base = seen->total;
        known->shown = (struct process_amounts){ 0 };
        known->split_ns = 0;
        if (known->opp_raw_ns) {
                memcpy(known->opp_old_ns, known->opp_raw_ns, table->n_opps * sizeof(uint64_t));
                memset(known->opp_shown_ns, 0, table->n_opps * sizeof(uint64_t));
        }
        return table_name_alive(table, known, seen);
}
