/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process-table-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "units.h"
#include "util.h"

int process_table_new(int root_fd, struct apps *apps, bool exits, size_t n_opps, struct process_table **ret)
{
        struct process_table *table = calloc(1, sizeof(*table));

        if (!table)
                return -ENOMEM;
        table->proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        table->apps = apps;
        table->exits = exits;
        table->n_opps = n_opps;
        if (n_opps > 0) {
                table->weights = calloc(n_opps, sizeof(*table->weights));
                if (!table->weights) {
                        process_table_free(table);
                        return -ENOMEM;
                }
        }
        *ret = table;
        return 0;
}

void known_free(struct known *known)
{
        if (known)
                free(known->opp_raw_ns);
        free(known);
}

void process_table_free(struct process_table *table)
{
        if (!table)
                return;
        for (size_t i = 0; i < table->n; i++)
                known_free(table->list[i].known);
        free(table->list);
        free(table->places);
        free(table->slots);
        free(table->weights);
        closep(&table->proc_fd);
        free(table);
}

size_t process_table_size(const struct process_table *table)
{
        return table->n;
}

void table_moved_from(struct process_table *table, size_t index)
{
        size_t *low = &table->low[table->poll % POLLS_REMEMBERED];

        *low = MIN(*low, index);
}

static void put_slot(struct process_table *table, const struct entry *entry)
{
        size_t slot = ((uint32_t)entry->pid * UINT32_C(2654435761)) & (table->n_slots - 1);

        while (table->slots[slot])
                slot = (slot + 1) & (table->n_slots - 1);
        table->slots[slot] = entry->known;
}

int table_rebuild_slots(struct process_table *table, size_t needed)
{
        size_t n_slots = MAX(table->n_slots, (size_t)256);

        while (n_slots < 2 * needed)
                n_slots *= 2;
        if (n_slots != table->n_slots) {
                struct known **slots = reallocarray(table->slots, n_slots, sizeof(struct known *));

                if (!slots)
                        return -ENOMEM;
                table->slots = slots;
                table->n_slots = n_slots;
        }
        memset(table->slots, 0, n_slots * sizeof(struct known *));
        for (size_t i = 0; i < table->n; i++)
                put_slot(table, &table->list[i]);
        return 0;
}

static struct known *find(struct process_table *table, pid_t pid, uint64_t start_ns)
{
        size_t mask = table->n_slots - 1, slot = ((uint32_t)pid * UINT32_C(2654435761)) & mask;

        for (; table->n_slots && table->slots[slot]; slot = (slot + 1) & mask) {
                struct known *known = table->slots[slot];

                if (known->pid == pid && known->start_ns == start_ns && known->ended_ns == 0)
                        return known;
        }
        return NULL;
}

int entry_compare(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;

        if (x->pid != y->pid)
                return x->pid < y->pid ? -1 : 1;
        return x->known->start_time < y->known->start_time ? -1 : x->known->start_time > y->known->start_time;
}

static int add(struct process_table *table, struct known *known)
{
        struct entry *entry;
        int err = util_grow(&table->list, &table->capacity, table->n + 1, sizeof(*entry));

        if (err)
                return err;
        if (2 * (table->n + 1) > table->n_slots) {
                err = table_rebuild_slots(table, table->n + 1);
                if (err)
                        return err;
        }
        entry = &table->list[table->n];
        *entry = (struct entry){ .known = known, .pid = known->pid, .place = NO_PLACE };
        known->at = table->n;
        if (table->n > 0 && entry_compare(entry - 1, entry) > 0)
                table->unsorted = true;
        table_moved_from(table, table->n);
        table->n++;
        put_slot(table, entry);
        return 0;
}

static int known_new(struct process_table *table, pid_t pid, uint64_t start_ns, struct known **ret)
{
        struct known *known = calloc(1, sizeof(*known));
        int err;

        if (!known)
                return -ENOMEM;
        known->pid = pid;
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
        err = add(table, known);
        if (err) {
                known_free(known);
                return err;
        }
        *ret = known;
        return 0;
}

/* Totals as they are shown: without what is another's, and never less than before. */
static void take(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        struct entry *entry = &table->list[known->at];

        entry->changed_poll = table->poll;
        entry->polls_missing = 0;
        known->parent = seen->parent;
        known->uid = seen->uid;
        known->have = seen->have;
        for (size_t i = 0; i < AMOUNTS; i++) {
                uint64_t base = known->has_base ? known->base[i] : 0;

                if (seen->amount[i] > base)
                        known->shown[i] = MAX(known->shown[i], seen->amount[i] - base);
        }
        if (seen->cpu_opp_ns && known->opp_raw_ns)
                memcpy(known->opp_raw_ns, seen->cpu_opp_ns, table->n_opps * sizeof(uint64_t));
}

static int find_or_add(struct process_table *table, const struct process_seen *seen, struct known **ret)
{
        struct known *known = find(table, seen->pid, seen->start_ns);
        int err;

        if (!known) {
                err = known_new(table, seen->pid, seen->start_ns, &known);
                if (err)
                        return err;
        }
        *ret = known;
        return 0;
}

void process_table_begin(struct process_table *table)
{
        table->poll++;
}

static int put_place(struct process_table *table, size_t place, struct known *known)
{
        int err = util_grow(&table->places, &table->places_capacity, place + 1, sizeof(struct known *));

        if (err)
                return err;
        while (table->n_places <= place)
                table->places[table->n_places++] = NULL;
        table->places[place] = known;
        table->list[known->at].place = (uint32_t)place;
        return 0;
}

static bool is_called(const struct known *known, const char *comm)
{
        return strncmp(known->comm, comm, sizeof(known->comm) - 1) == 0;
}

int process_table_alive(struct process_table *table, size_t place, const struct process_seen *seen)
{
        struct known *known = place < table->n_places ? table->places[place] : NULL;
        bool *named;
        int err = 0;

        if (!known || known->pid != seen->pid || known->start_ns != seen->start_ns || known->ended_ns > 0) {
                err = find_or_add(table, seen, &known);
                if (!err)
                        err = put_place(table, place, known);
        }
        if (err)
                return err;
        take(table, known, seen);
        named = &table->list[known->at].named;
        if (!*named || !is_called(known, seen->comm))
                known_name_alive(table, known, seen);
        *named = true;
        return 0;
}

bool process_table_is_seen(struct process_table *table, pid_t pid, uint64_t start_ns)
{
        const struct known *known = find(table, pid, start_ns);

        return known && table->list[known->at].changed_poll == table->poll;
}

int process_table_recall(struct process_table *table, pid_t pid, uint64_t *start_ns, uint64_t *read_bytes,
                         uint64_t *write_bytes)
{
        size_t mask = table->n_slots - 1, slot = ((uint32_t)pid * UINT32_C(2654435761)) & mask;

        for (; table->n_slots && table->slots[slot]; slot = (slot + 1) & mask) {
                const struct known *known = table->slots[slot];

                if (known->pid != pid || known->ended_ns > 0)
                        continue;
                *start_ns = known->start_ns;
                *read_bytes = known->base[AMOUNT_READ_BYTES];
                *write_bytes = known->base[AMOUNT_WRITE_BYTES];
                return 0;
        }
        return -ESRCH;
}

static void end(struct process_table *table, struct known *known, uint64_t ended_ns)
{
        table->list[known->at].ended = true;
        known->ended_ns = MAX(ended_ns, UINT64_C(1));
}

/* The name of one that ends is what it was called last: it may never have been seen alive. */
int process_table_ended(struct process_table *table, const struct process_seen *seen, uint64_t ended_ns)
{
        struct known *known;
        int err = find_or_add(table, seen, &known);

        if (err)
                return err;
        take(table, known, seen);
        if (!table->list[known->at].named)
                known_name_ended(table, known, seen);
        table->list[known->at].named = true;
        end(table, known, ended_ns);
        return 0;
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
        known->base[AMOUNT_READ_BYTES] += read_bytes;
        known->base[AMOUNT_WRITE_BYTES] += write_bytes;
        return 0;
}

/* What it was before the exec, as an entry of its own that ends. */
static int add_old_program(struct process_table *table, const struct known *known, const struct process_seen *seen,
                           uint64_t exec_ns)
{
        struct known *old;
        uint64_t *opps;
        size_t at;
        int err = known_new(table, known->pid, known->start_ns, &old);

        if (err)
                return err;
        opps = old->opp_raw_ns;
        at = old->at;
        *old = *known;
        old->at = at;
        old->opp_raw_ns = opps;
        if (opps) {
                old->opp_old_ns = opps + table->n_opps;
                old->opp_shown_ns = opps + 2 * table->n_opps;
                memcpy(opps, known->opp_raw_ns, 3 * table->n_opps * sizeof(uint64_t));
        }
        take(table, old, seen);
        table->list[at].named = true;
        end(table, old, exec_ns);
        return 0;
}

/* The entry stays with the new program, which begins at 0. */
int process_table_execed(struct process_table *table, const struct process_seen *seen, uint64_t exec_ns)
{
        struct known *known = find(table, seen->pid, seen->start_ns);
        int err;

        if (!known || !known->shown_once)
                return 0; /* nobody saw it as what it was before */
        err = add_old_program(table, known, seen, exec_ns);
        if (err)
                return err;
        take(table, known, seen);
        known->began_ns = exec_ns;
        known->start_time = exec_ns / START_TICK_NS;
        known->shown_once = false;
        table->unsorted = true;
        known->has_base = true;
        memcpy(known->base, seen->amount, sizeof(known->base));
        memset(known->shown, 0, sizeof(known->shown));
        known->split_ns = 0;
        if (known->opp_raw_ns) {
                memcpy(known->opp_old_ns, known->opp_raw_ns, table->n_opps * sizeof(uint64_t));
                memset(known->opp_shown_ns, 0, table->n_opps * sizeof(uint64_t));
        }
        known_name_alive(table, known, seen);
        return 0;
}
