/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process-table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "process.h"
#include "units.h"
#include "util.h"

/* /proc tells start times in these steps; all collectors do, so that a process is the same to each. */
#define START_TICK_NS (NS_PER_S / 100)

/* A process that the walk no longer sees, and whose end was not reported yet: RCU delays it by some ms. */
#define POLLS_TO_WAIT 3

/* What each poll looks at, of all processes side by side: a poll touches nothing else of those that did nothing. */
struct entry {
        struct known *known;
        uint64_t changed_poll;      /* last poll in which something was told of it */
        pid_t pid;
        uint32_t place;             /* NO_PLACE: in none */
        uint8_t polls_missing;
        bool named;                 /* seen by a walk or told of at its end, not only as somebody's parent */
        bool ended;
};

#define NO_PLACE UINT32_MAX

struct known {
        size_t at;                  /* its entry */
        pid_t pid;
        bool shown_once;            /* has been in a sample */
        uint64_t start_ns;
        uint64_t start_time;        /* identity in the sample; an exec gives it a new one */
        uint64_t shown[AMOUNTS];
        char comm[32];
        pid_t parent;
        pid_t ppid;                 /* when it was named, for its app */
        uid_t uid;
        uint32_t have;
        uint64_t began_ns;          /* boottime; of the program, not of what it was before an exec */
        uint64_t ended_ns;          /* boottime; 0: lives */
        char app[APP_ID_MAX];
        uint64_t base[AMOUNTS];     /* what is another's: before an exec, of reaped children */
        bool has_base;
        uint64_t split_ns;          /* CPU time that has been given to operating points */
        uint64_t *opp_raw_ns;       /* three of n_opps: as seen, as seen before, shown */
        uint64_t *opp_old_ns;
        uint64_t *opp_shown_ns;
};

#define POLLS_REMEMBERED 4

struct process_table {
        struct apps *apps;   /* not owned; NULL: none */
        int proc_fd;         /* -1: no /proc, then the name is the app */
        bool exits;
        size_t n_opps;
        uint64_t *weights;   /* scratch, n_opps */
        uint64_t poll;

        struct entry *list;  /* ascending by pid, start_time, unless `unsorted` */
        size_t n, capacity;
        bool unsorted;
        size_t low[POLLS_REMEMBERED]; /* by poll: entries before this are where they were in the poll before */
        struct known **slots; /* hash of pid */
        size_t n_slots;

        struct known **places;
        size_t n_places, places_capacity;
};

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

static void known_free(struct known *known)
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

static void moved_from(struct process_table *table, size_t index)
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

static int rebuild_slots(struct process_table *table, size_t needed)
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

static int compare(const void *a, const void *b)
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
                err = rebuild_slots(table, table->n + 1);
                if (err)
                        return err;
        }
        entry = &table->list[table->n];
        *entry = (struct entry){ .known = known, .pid = known->pid, .place = NO_PLACE };
        known->at = table->n;
        if (table->n > 0 && compare(entry - 1, entry) > 0)
                table->unsorted = true;
        moved_from(table, table->n);
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

/* True: its app is another than before. A window may have told more of it since the last poll. */
static bool find_app(struct process_table *table, struct known *known)
{
        const struct app_process process = {
                .pid = known->pid,
                .ppid = known->ppid,
                .start_time = known->start_ns / START_TICK_NS,
                .uid = known->uid,
                .comm = known->comm,
        };
        char app[APP_ID_MAX];

        if (!table->apps || apps_find(table->apps, &process, app) < 0 || strcmp(app, known->app) == 0)
                return false;
        memcpy(known->app, app, sizeof(known->app));
        return true;
}

static pid_t read_ppid(const struct process_table *table, const char *pid)
{
        char path[32], text[1024];
        struct process_stat stat;
        ssize_t n;

        snprintf(path, sizeof(path), "%s/stat", pid);
        n = util_read_at(table->proc_fd, path, text, sizeof(text));
        return n > 0 && process_parse_stat(text, (size_t)n, &stat) ? stat.parent : 0;
}

/* Its app, while it lives; asked again when an exec changes its name. */
static void name_alive(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        char pid[16];

        memset(known->comm, 0, sizeof(known->comm));
        snprintf(known->comm, sizeof(known->comm), "%s", seen->comm);
        snprintf(pid, sizeof(pid), "%d", (int)seen->pid);
        if (table->apps) {
                known->ppid = read_ppid(table, pid);
                find_app(table, known);
        } else if (seen->kernel_thread) {
                strcpy(known->app, "sys:kernel");
        } else {
                program_of_process(table->proc_fd, pid, known->comm, known->app, sizeof(known->app));
        }
}

/*
 * One that is only known to have been: its /proc is gone, or another's by now. Programs come back, so the app of a
 * living one of the same name and user is the best guess; else the name is the app.
 */
static void name_ended(struct process_table *table, struct known *known, const struct process_seen *seen)
{
        snprintf(known->comm, sizeof(known->comm), "%s", seen->comm);
        for (size_t i = 0; i < table->n; i++) {
                const struct known *other = table->list[i].known;

                if (other != known && table->list[i].named && !table->list[i].ended && other->uid == seen->uid &&
                    strcmp(other->comm, known->comm) == 0) {
                        memcpy(known->app, other->app, sizeof(known->app));
                        return;
                }
        }
        util_printable(known->comm, known->app, sizeof(known->app));
        if (known->app[0] == '\0')
                snprintf(known->app, sizeof(known->app), "unnamed");
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
                name_alive(table, known, seen);
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
                name_ended(table, known, seen);
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

/*
 * Splits what the process ran since the split before by what its operating
 * points grew. They lag behind the runtime while it is on a CPU, so time that
 * no operating point has yet waits for the next poll.
 */
static void split_cpu(struct process_table *table, struct known *known)
{
        uint64_t *weight = table->weights, ran_ns = known->shown[AMOUNT_CPU_NS] - known->split_ns, sum = 0, given = 0;

        for (size_t i = 0; i < table->n_opps; i++) {
                uint64_t raw = known->opp_raw_ns[i], old = known->opp_old_ns[i];

                weight[i] = raw > old ? raw - old : 0;
                sum += weight[i];
        }
        if (sum == 0 || ran_ns == 0)
                return;
        for (size_t i = 0, last = 0; i < table->n_opps; i++) {
                uint64_t part = (uint64_t)((double)ran_ns * ((double)weight[i] / (double)sum));

                part = MIN(part, ran_ns - given);
                known->opp_shown_ns[i] += part;
                given += part;
                known->opp_old_ns[i] = MAX(known->opp_raw_ns[i], known->opp_old_ns[i]);
                if (weight[i] >= weight[last])
                        last = i;
                if (i + 1 == table->n_opps)
                        known->opp_shown_ns[last] += ran_ns - given; /* what rounding left */
        }
        known->split_ns = known->shown[AMOUNT_CPU_NS];
}

/* Lived before anybody split its time: its past stays out of the operating points. */
static void skip_past(struct process_table *table, struct known *known)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < table->n_opps; i++)
                sum += known->opp_raw_ns[i];
        if (known->shown[AMOUNT_CPU_NS] > sum)
                known->split_ns = known->shown[AMOUNT_CPU_NS] - sum;
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
        name_alive(table, known, seen);
        return 0;
}

static void fill(struct process_table *table, const struct known *known, struct sample *sample, const size_t *opps,
                 struct process *process)
{
        process->pid = known->pid;
        process->parent = known->parent;
        process->start_time = known->start_time;
        process->began_ns = known->began_ns;
        process->ended_ns = known->ended_ns;
        process->uid = known->uid;
        memcpy(process->comm, known->comm, sizeof(process->comm));
        memcpy(process->app, known->app, sizeof(process->app));
        process->have = known->have | (process->cpu_opp_ns ? PROCESS_CPU_OPPS : 0);
        process->cpu_ns = known->shown[AMOUNT_CPU_NS];
        process->read_bytes = known->shown[AMOUNT_READ_BYTES];
        process->write_bytes = known->shown[AMOUNT_WRITE_BYTES];
        process->wifi_rx_bytes = known->shown[AMOUNT_WIFI_RX_BYTES];
        process->wifi_tx_bytes = known->shown[AMOUNT_WIFI_TX_BYTES];
        process->wifi_wakes = known->shown[AMOUNT_WIFI_WAKES];
        process->other_rx_bytes = known->shown[AMOUNT_OTHER_RX_BYTES];
        process->other_tx_bytes = known->shown[AMOUNT_OTHER_TX_BYTES];
        process->gpu_busy_ns = known->shown[AMOUNT_GPU_BUSY_NS];
        for (size_t i = 0; process->cpu_opp_ns && i < table->n_opps; i++)
                if (opps[i] < sample->n_opps)
                        process->cpu_opp_ns[opps[i]] = known->opp_shown_ns[i];
}

/* As many entries as stand in @sample where an earlier poll of ours put them. */
static size_t common_part(const struct process_table *table, const struct sample *sample, bool split)
{
        size_t common = sample->written;

        if (sample->written_by != table || table->poll - sample->written_poll >= POLLS_REMEMBERED || common == 0 ||
            (sample->processes[0].cpu_opp_ns != NULL) != split)
                return 0;
        for (uint64_t poll = sample->written_poll + 1; poll <= table->poll; poll++)
                common = MIN(common, table->low[poll % POLLS_REMEMBERED]);
        return common;
}

static int show(struct process_table *table, const struct entry *entry, struct sample *sample, const size_t *opps,
                bool split)
{
        struct known *known = entry->known;
        struct process *process;

        if (entry->changed_poll == table->poll && known->opp_raw_ns) {
                if (!known->shown_once && known->began_ns == known->start_ns)
                        skip_past(table, known);
                split_cpu(table, known);
        }
        known->shown_once = true;
        process = sample_add_process(sample, split);
        if (!process)
                return -ENOMEM;
        fill(table, known, sample, opps, process);
        return 0;
}

static void sort_list(struct process_table *table)
{
        if (!table->unsorted)
                return;
        qsort(table->list, table->n, sizeof(*table->list), compare);
        for (size_t i = 0; i < table->n; i++) {
                if (table->list[i].known->at == i)
                        continue;
                moved_from(table, i);
                table->list[i].known->at = i;
        }
        table->unsorted = false;
}

static bool is_in_place(const struct process_table *table, const struct entry *entry)
{
        return entry->place < table->n_places && table->places[entry->place] == entry->known;
}

/* Gone for good: ended and shown, or missing for too long, or a parent that nobody ever saw. */
static bool is_over(const struct process_table *table, const struct entry *entry)
{
        return entry->ended || entry->polls_missing > (table->exits ? POLLS_TO_WAIT : 0);
}

/* Those that are over go after this sample; in the next one, what follows them has moved. */
static int forget_over(struct process_table *table, size_t n_over)
{
        size_t kept = 0, *low = &table->low[(table->poll + 1) % POLLS_REMEMBERED];

        if (n_over == 0)
                return 0;
        for (size_t i = 0; i < table->n; i++) {
                struct entry *entry = &table->list[i];

                if (!is_over(table, entry)) {
                        if (kept != i) {
                                entry->known->at = kept;
                                table->list[kept] = *entry;
                        }
                        kept++;
                        continue;
                }
                if (kept == i)
                        *low = MIN(*low, i);
                if (is_in_place(table, entry))
                        table->places[entry->place] = NULL;
                known_free(entry->known);
        }
        table->n = kept;
        return rebuild_slots(table, kept);
}

static bool is_shown(const struct process_table *table, const struct entry *entry)
{
        return entry->named && (entry->ended || !is_over(table, entry));
}

static int write_sample(struct process_table *table, struct sample *sample, const size_t *opps, size_t *n_over,
                        size_t *first_left_out)
{
        bool split = opps && table->n_opps > 0 && sample->n_opps > 0;
        size_t common = common_part(table, sample, split);
        uint64_t written_poll = sample->written_poll;
        int err = 0;

        for (size_t i = 0; !err && i < table->n; i++) {
                struct entry *entry = &table->list[i];

                if (!entry->ended && !is_in_place(table, entry))
                        entry->polls_missing++;
                else if (!entry->ended && entry->named && find_app(table, entry->known))
                        entry->changed_poll = table->poll;
                *n_over += is_over(table, entry);
                if (!is_shown(table, entry))
                        *first_left_out = MIN(*first_left_out, i);
                else if (i < common && sample->n_processes == i && entry->changed_poll <= written_poll)
                        sample->n_processes++;
                else
                        err = show(table, entry, sample, opps, split);
        }
        if (table->apps)
                apps_sweep(table->apps);
        return err;
}

int process_table_finish(struct process_table *table, size_t n_places, struct sample *sample, const size_t *opps)
{
        size_t n_over = 0, first_left_out = SIZE_MAX;
        int err;

        sort_list(table);
        table->n_places = MIN(table->n_places, n_places);
        err = write_sample(table, sample, opps, &n_over, &first_left_out);
        if (err)
                return err;
        moved_from(table, first_left_out); /* samples have one less from here on, */
        table->low[(table->poll + 1) % POLLS_REMEMBERED] = first_left_out; /* or none in the next */
        sample->written_by = table;
        sample->written_poll = table->poll;
        sample->written = sample->n_processes;
        sample->have |= SAMPLE_PROCESSES;
        return forget_over(table, n_over);
}
