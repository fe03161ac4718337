/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The one place that subtracts.
 *
 * A process is (pid, start time). One that was not there before started at 0,
 * unless its totals are more than fits into the interval: then it was only
 * hidden, and counts from here. One that is gone took its last moments with it;
 * they are in the machine's totals and so in nobody's row.
 *
 * Foreground and background: what a process used goes to each state by the
 * part of its life that its app spent in it, rounded, the rest to the
 * background: nothing is lost. A source that knows when a process began and
 * ended says so, and shows it once more after its end.
 *
 * A gap (a total that went backward or leapt beyond reason) counts 0 and goes
 * on from the new value. Only what a process wrote may go down for a reason
 * (writes that were cancelled): it counts again from its highest value on.
 */

#include "interval.h"

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "tuning.h"
#include "units.h"
#include "util.h"

struct interval_maker {
        bool started;
        struct sample before;
        struct usage **carried; /* of each process of `before`, or NULL; too little for a row so far */

        struct screen_split screen;
        struct cpu_split cpu;
        struct battery_levels levels;
        uint64_t cpu_debt_ns, read_debt_bytes, write_debt_bytes;

        size_t *owner; /* of each row being made: index into the sample's processes */
        size_t owner_capacity;
        size_t *alive_slots; /* hash of (app, uid) -> index into alive, plus one */
        size_t alive_capacity;
};

int interval_maker_new(struct interval_maker **ret)
{
        struct interval_maker *maker = calloc(1, sizeof(*maker));

        if (!maker)
                return -ENOMEM;
        *ret = maker;
        return 0;
}

static void free_carried(struct usage **carried, size_t n)
{
        for (size_t i = 0; carried && i < n; i++) {
                if (carried[i])
                        usage_clear(carried[i]);
                free(carried[i]);
        }
        free(carried);
}

void interval_maker_free(struct interval_maker *maker)
{
        if (!maker)
                return;
        free_carried(maker->carried, maker->before.n_processes);
        sample_clear(&maker->before);
        screen_split_clear(&maker->screen);
        cpu_split_clear(&maker->cpu);
        free(maker->owner);
        free(maker->alive_slots);
        free(maker);
}

static void interval_reset(struct interval *interval)
{
        struct interval kept = {
                .rows = interval->rows,
                .alive = interval->alive,
                .capacity = interval->capacity,
        };

        for (size_t i = 0; i < interval->n_rows; i++)
                usage_clear(&interval->rows[i].usage);
        *interval = kept;
}

void interval_clear(struct interval *interval)
{
        interval_reset(interval);
        free(interval->rows);
        free(interval->alive);
        *interval = (struct interval){ 0 };
}

/* All that is needed to make one interval. */
struct making {
        struct interval_maker *maker;
        const struct sample *before;
        struct sample *now;
        struct interval *interval;
        struct usage **carried; /* of each process of `now` */
        struct reaped *reaped;  /* likewise */
        uint64_t awake_ns;
        uint32_t idle_have;     /* USAGE_* that no process can have used, since the machine used none */
};

static struct interval_row *add_row(struct making *making, const struct process *process, size_t owner,
                                    enum app_state state)
{
        struct interval *interval = making->interval;
        struct interval_maker *maker = making->maker;
        struct interval_row *row;

        if (util_grow(&interval->rows, &interval->capacity.rows, interval->n_rows + 1, sizeof(*row)) < 0 ||
            util_grow(&maker->owner, &maker->owner_capacity, interval->n_rows + 1, sizeof(*maker->owner)) < 0)
                return NULL;
        maker->owner[interval->n_rows] = owner;
        row = &interval->rows[interval->n_rows++];
        memset(row, 0, sizeof(*row));
        row->state = state;
        row->uid = (uid_t)-1;
        if (process) {
                row->pid = process->pid;
                row->start_time = process->start_time;
                row->uid = process->uid;
                memcpy(row->comm, process->comm, sizeof(row->comm));
                memcpy(row->app, process->app, sizeof(row->app));
        }
        return row;
}

#define NO_OWNER SIZE_MAX

/* Two processes' bits, as bits of a usage. */
static uint32_t usage_have_of(const struct process *before, const struct process *now)
{
        uint32_t have = now->have & (before ? before->have : now->have);

        return (have & PROCESS_CPU ? USAGE_CPU : 0) | (have & PROCESS_DISK ? USAGE_DISK : 0) |
               (have & PROCESS_WIFI ? USAGE_WIFI : 0) | (have & PROCESS_GPU ? USAGE_GPU : 0);
}

static uint64_t most_cpu_ns(const struct making *making)
{
        uint64_t n_cpus = making->maker->cpu.n_cpus ? making->maker->cpu.n_cpus : MOST_CPUS;

        return (making->awake_ns + 2 * NS_PER_S) * n_cpus;
}

/* Amounts that are not CPU time. A new process that was only hidden has no "before" that we know of. */
static void subtract_amounts(const struct process *before, struct process *now, const struct reaped *reaped,
                             struct usage *usage)
{
        static const struct process born;
        const struct process *old = before ? before : &born;
        uint32_t have = now->have & (before ? before->have : now->have);

        if (have & PROCESS_DISK) {
                usage->read_bytes = growth(old->read_bytes, now->read_bytes, MOST_BYTES) - reaped->read_bytes;
                usage->write_bytes = growth(old->write_bytes, now->write_bytes, MOST_BYTES) - reaped->write_bytes;
                now->write_bytes = MAX(now->write_bytes, old->write_bytes);
        }
        if (have & PROCESS_WIFI) {
                usage->wifi_rx_bytes = growth(old->wifi_rx_bytes, now->wifi_rx_bytes, MOST_BYTES);
                usage->wifi_tx_bytes = growth(old->wifi_tx_bytes, now->wifi_tx_bytes, MOST_BYTES);
                usage->wifi_wakes = growth(old->wifi_wakes, now->wifi_wakes, MOST_BYTES);
        }
        if (have & PROCESS_OTHER_NET) {
                usage->other_rx_bytes = growth(old->other_rx_bytes, now->other_rx_bytes, MOST_BYTES);
                usage->other_tx_bytes = growth(old->other_tx_bytes, now->other_tx_bytes, MOST_BYTES);
        }
        if (have & PROCESS_GPU)
                usage->gpu_busy_ns = growth(old->gpu_busy_ns, now->gpu_busy_ns, MOST_BYTES);
}

/* Takes @fg_ns / @awake_ns of each amount out of @usage. */
static int take_foreground(struct usage *usage, uint64_t fg_ns, uint64_t awake_ns, struct usage *foreground)
{
        uint64_t *const amounts[][2] = {
                { &usage->read_bytes, &foreground->read_bytes },
                { &usage->write_bytes, &foreground->write_bytes },
                { &usage->wifi_rx_bytes, &foreground->wifi_rx_bytes },
                { &usage->wifi_tx_bytes, &foreground->wifi_tx_bytes },
                { &usage->wifi_wakes, &foreground->wifi_wakes },
                { &usage->other_rx_bytes, &foreground->other_rx_bytes },
                { &usage->other_tx_bytes, &foreground->other_tx_bytes },
                { &usage->gpu_busy_ns, &foreground->gpu_busy_ns },
        };
        int err = usage_copy(foreground, usage);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
                *amounts[i][1] = mul_div(*amounts[i][0], fg_ns, awake_ns);
                *amounts[i][0] -= *amounts[i][1];
        }
        for (size_t i = 0; i < usage->n_cpu; i++) {
                foreground->cpu[i].busy_ns = mul_div(usage->cpu[i].busy_ns, fg_ns, awake_ns);
                usage->cpu[i].busy_ns -= foreground->cpu[i].busy_ns;
        }
        return 0;
}

/* How much of the interval a process lived through, as far as its source knows. */
static uint64_t alive_ns(const struct making *making, const struct process *process)
{
        uint64_t from_ns = MAX(making->before->boottime_ns, process->began_ns);
        uint64_t until_ns = making->now->boottime_ns;

        if (process->ended_ns > 0)
                until_ns = MIN(until_ns, process->ended_ns);
        return until_ns > from_ns ? MIN(until_ns - from_ns, making->awake_ns) : 0;
}

/* Background first, so that the foreground row may move into what is left. */
static int add_process_rows(struct making *making, size_t index, struct usage *usage)
{
        const struct process *process = &making->now->processes[index];
        const struct screen_share *share = screen_split_find(&making->maker->screen, process->app);
        uint64_t fg_ns = share ? share->foreground_ns : 0, life_ns = alive_ns(making, process);
        struct interval_row *row;
        struct usage foreground = { 0 };
        int err;

        if (fg_ns > 0 && fg_ns < life_ns) {
                err = take_foreground(usage, fg_ns, life_ns, &foreground);
                if (err)
                        return err;
                row = add_row(making, process, index, STATE_FOREGROUND);
                if (!row) {
                        usage_clear(&foreground);
                        return -ENOMEM;
                }
                row->usage = foreground;
                fg_ns = 0;
        }
        row = add_row(making, process, index, fg_ns > 0 ? STATE_FOREGROUND : STATE_BACKGROUND);
        if (!row)
                return -ENOMEM;
        row->usage = *usage;
        *usage = (struct usage){ 0 };
        return 0;
}

/* Only the CPU's time tells whether a process that is new to us is new to the machine, too. */
static bool was_hidden(const struct process *process, uint64_t most_ns)
{
        return (process->have & PROCESS_CPU) && process->cpu_ns > most_ns;
}

static int subtract_process(struct making *making, const struct process *before, size_t index)
{
        struct process *now = &making->now->processes[index];
        uint64_t most_ns = most_cpu_ns(making);
        uint32_t screen_have = making->maker->screen.screen_known && making->maker->screen.foreground_known
                                       ? USAGE_DISPLAY : 0;
        struct usage usage = { 0 };
        int err = 0;

        if (!before && was_hidden(now, most_ns))
                return 0;
        usage.have = usage_have_of(before, now) | screen_have | making->idle_have;
        subtract_amounts(before, now, &making->reaped[index], &usage);
        if (usage.have & USAGE_CPU)
                err = cpu_split_process(&making->maker->cpu, before, now, most_ns, &usage);
        if (!err && !usage_is_zero(&usage))
                err = add_process_rows(making, index, &usage);
        usage_clear(&usage);
        return err;
}

/* What a process that is gone was still owed. */
static int settle_carried(struct making *making, size_t old)
{
        struct usage *carried = making->maker->carried ? making->maker->carried[old] : NULL;
        struct interval_row *row;

        if (!carried)
                return 0;
        row = add_row(making, &making->before->processes[old], NO_OWNER, STATE_BACKGROUND);
        if (!row)
                return -ENOMEM;
        row->usage = *carried;
        *carried = (struct usage){ 0 };
        return 0;
}

/* Both lists ascend by pid. */
static int subtract_processes(struct making *making)
{
        const struct sample *before = making->before, *now = making->now;
        size_t old = 0;
        int err = 0;

        reaped_find(before, now, making->reaped);
        for (size_t i = 0; !err && i < now->n_processes; i++) {
                const struct process *process = &now->processes[i], *match = NULL;

                for (; !err && old < before->n_processes && before->processes[old].pid < process->pid; old++)
                        err = settle_carried(making, old);
                if (!err && old < before->n_processes && before->processes[old].pid == process->pid) {
                        if (before->processes[old].start_time == process->start_time) {
                                match = &before->processes[old];
                                if (making->maker->carried)
                                        making->carried[i] = TAKE_PTR(making->maker->carried[old]);
                        } else {
                                err = settle_carried(making, old);
                        }
                        old++;
                }
                if (!err)
                        err = subtract_process(making, match, i);
        }
        for (; !err && old < before->n_processes; old++)
                err = settle_carried(making, old);
        return err;
}

/* Its time alone is too little to write down, and the screen is not its. */
static bool is_too_little(const struct interval_row *row)
{
        struct usage other = row->usage;

        other.n_cpu = 0;
        return row->state == STATE_BACKGROUND && usage_is_zero(&other) &&
               usage_busy_ns(&row->usage) < TUNING_ROW_CPU_NS;
}

/* Puts aside the rows that are too small, and adds what was put aside before to those that are not. */
static int carry_small_rows(struct making *making)
{
        struct interval *interval = making->interval;
        size_t kept = 1;

        for (size_t i = 1; i < interval->n_rows; i++) {
                struct interval_row *row = &interval->rows[i];
                size_t owner = making->maker->owner[i];
                struct usage **carried = owner == NO_OWNER ? NULL : &making->carried[owner];
                int err = 0;

                if (carried && row->state == STATE_BACKGROUND && *carried) {
                        err = usage_add(&row->usage, *carried);
                        usage_clear(*carried);
                        free(TAKE_PTR(*carried));
                }
                if (!err && carried && is_too_little(row)) {
                        *carried = malloc(sizeof(**carried));
                        err = *carried ? 0 : -ENOMEM;
                        if (!err)
                                **carried = row->usage;
                } else if (!err) {
                        struct interval_row copy = *row;

                        interval->rows[i].usage = (struct usage){ 0 };
                        interval->rows[kept] = copy;
                        making->maker->owner[kept++] = owner;
                        continue;
                }
                if (!err)
                        row->usage = (struct usage){ 0 };
                if (err)
                        return err;
        }
        interval->n_rows = kept;
        return 0;
}

/* The machine's bytes less what processes own; what they own in excess is a debt, paid by later intervals. */
static uint64_t rest_bytes(uint64_t machine, uint64_t owned, uint64_t *debt)
{
        uint64_t rest = machine - MIN(machine, owned), paid;

        *debt += owned - MIN(machine, owned);
        paid = MIN(rest, *debt);
        *debt = MIN(*debt - paid, TUNING_WRITE_DEBT_BYTES);
        return rest - paid;
}

static uint32_t nobodys_have(const struct making *making)
{
        uint32_t have = making->interval->have;

        return (have & (SAMPLE_CORES | SAMPLE_PROCESSES) || making->maker->cpu.counted ? USAGE_CPU : 0) |
               (have & SAMPLE_DISK ? USAGE_DISK : 0) | (have & SAMPLE_WIFI ? USAGE_WIFI : 0) |
               (have & SAMPLE_GPU ? USAGE_GPU : 0) | (making->maker->screen.screen_known ? USAGE_DISPLAY : 0);
}

static uint64_t associated_ns(const struct making *making)
{
        /* Without an event in between: at one end only counts half. */
        uint64_t ends = (uint64_t)making->before->wifi_on + (uint64_t)making->now->wifi_on;

        return making->awake_ns * ends / 2;
}

#define MACHINE_GROWTH(field) growth(making->before->field, making->now->field, MOST_BYTES)

/* Nobody's row is there from the start; this fills it when all owners are known. */
static int fill_nobodys(struct making *making)
{
        struct interval_maker *maker = making->maker;
        struct usage owned = { 0 }, *usage = &making->interval->rows[0].usage;
        uint32_t have = making->interval->have;

        for (size_t i = 1; i < making->interval->n_rows; i++) {
                const struct usage *row = &making->interval->rows[i].usage;

                if (maker->owner[i] == NO_OWNER)
                        continue; /* carried from before, when it was taken out already */
                owned.read_bytes += row->read_bytes;
                owned.write_bytes += row->write_bytes;
                owned.wifi_rx_bytes += row->wifi_rx_bytes;
                owned.wifi_tx_bytes += row->wifi_tx_bytes;
                owned.wifi_wakes += row->wifi_wakes;
                owned.other_rx_bytes += row->other_rx_bytes;
                owned.other_tx_bytes += row->other_tx_bytes;
                owned.gpu_busy_ns += row->gpu_busy_ns;
        }
#define REST(bit, field)                                                                                     \
        if (have & (bit))                                                                                    \
        usage->field = MACHINE_GROWTH(field) - MIN(MACHINE_GROWTH(field), owned.field)
        REST(SAMPLE_WIFI, wifi_rx_bytes);
        REST(SAMPLE_WIFI, wifi_tx_bytes);
        REST(SAMPLE_WIFI_WAKES, wifi_wakes);
        REST(SAMPLE_OTHER_NET, other_rx_bytes);
        REST(SAMPLE_OTHER_NET, other_tx_bytes);
        REST(SAMPLE_GPU, gpu_busy_ns);
#undef REST
        if (have & SAMPLE_DISK) {
                usage->read_bytes = rest_bytes(MACHINE_GROWTH(read_bytes), owned.read_bytes, &maker->read_debt_bytes);
                usage->write_bytes = rest_bytes(MACHINE_GROWTH(write_bytes), owned.write_bytes,
                                                &maker->write_debt_bytes);
        }
        if (have & SAMPLE_WIFI)
                usage->wifi_on_ns = associated_ns(making);
        usage->time_ns = making->awake_ns;
        usage->suspend_ns = making->interval->suspend_ns;
        usage->have = nobodys_have(making);
        return cpu_split_rest(&maker->cpu, &maker->cpu_debt_ns,
                              making->awake_ns * (maker->cpu.n_cpus ? maker->cpu.n_cpus : 1), usage);
}

/* What the machine did not do, no process did, even where processes are not counted one by one. */
static uint32_t idle_have(const struct making *making)
{
        uint32_t have = making->interval->have, idle = 0;

        if ((have & SAMPLE_DISK) && MACHINE_GROWTH(read_bytes) == 0 && MACHINE_GROWTH(write_bytes) == 0)
                idle |= USAGE_DISK;
        if ((have & SAMPLE_WIFI) && MACHINE_GROWTH(wifi_rx_bytes) == 0 && MACHINE_GROWTH(wifi_tx_bytes) == 0)
                idle |= USAGE_WIFI;
        if ((have & SAMPLE_GPU) && MACHINE_GROWTH(gpu_busy_ns) == 0)
                idle |= USAGE_GPU;
        return idle;
}

/* A process of the app that had the screen: one of a person's rather than one of the system's. */
static size_t face_of(const struct sample *sample, const char *app)
{
        size_t face = NO_OWNER;

        for (size_t i = 0; i < sample->n_processes; i++) {
                if (strcmp(sample->processes[i].app, app) != 0)
                        continue;
                if (sample->processes[i].uid != 0)
                        return i;
                if (face == NO_OWNER)
                        face = i;
        }
        return face;
}

static struct interval_row *row_for_screen(struct making *making, const struct screen_share *share)
{
        size_t face = face_of(making->now, share->app);
        struct interval_row *row;

        for (size_t i = 1; i < making->interval->n_rows; i++) {
                row = &making->interval->rows[i];
                if (row->state == STATE_FOREGROUND && making->maker->owner[i] == face && face != NO_OWNER)
                        return row;
        }
        row = add_row(making, face == NO_OWNER ? NULL : &making->now->processes[face], face, STATE_FOREGROUND);
        if (row) {
                memcpy(row->app, share->app, sizeof(row->app));
                row->usage.have = making->idle_have | USAGE_DISPLAY | USAGE_CPU |
                                  (face == NO_OWNER ? 0 : usage_have_of(NULL, &making->now->processes[face]));
        }
        return row;
}

/* Screen time goes to the app that had it, nobody's to nobody. */
static int add_screen_time(struct making *making)
{
        const struct screen_split *screen = &making->maker->screen;

        for (size_t i = 0; i < screen->n; i++) {
                const struct usage *from = &screen->shares[i].usage;
                struct interval_row *row = &making->interval->rows[0];
                int err = 0;

                if (from->n_screen == 0)
                        continue;
                if (*screen->shares[i].app)
                        row = row_for_screen(making, &screen->shares[i]);
                if (!row)
                        return -ENOMEM;
                for (size_t j = 0; !err && j < from->n_screen; j++)
                        err = usage_add_screen(&row->usage, from->screen[j].brightness, from->screen[j].on_ns);
                if (err)
                        return err;
        }
        return 0;
}

static size_t alive_hash(const char *app, uid_t uid)
{
        size_t hash = uid * (size_t)2654435761u + 2166136261u;

        for (; *app; app++)
                hash = (hash ^ (unsigned char)*app) * 16777619u;
        return hash ^ hash >> 15;
}

/* The entry of (app, uid), or NULL; then the next one that is added gets its slot. */
static struct interval_alive *find_alive(struct making *making, const char *app, uid_t uid)
{
        struct interval *interval = making->interval;
        size_t mask = making->maker->alive_capacity - 1, *slots = making->maker->alive_slots;
        size_t at = alive_hash(app, uid) & mask;

        for (; slots[at]; at = (at + 1) & mask) {
                struct interval_alive *alive = &interval->alive[slots[at] - 1];

                if (alive->uid == uid && strcmp(alive->app, app) == 0)
                        return alive;
        }
        slots[at] = interval->n_alive + 1;
        return NULL;
}

static int add_alive(struct making *making, const char *app, uid_t uid, enum app_state state, uint64_t active_ns)
{
        struct interval *interval = making->interval;
        struct interval_alive *alive;

        if (util_grow(&interval->alive, &interval->capacity.alive, interval->n_alive + 1, sizeof(*alive)) < 0)
                return -ENOMEM;
        alive = &interval->alive[interval->n_alive++];
        *alive = (struct interval_alive){ .uid = uid, .state = state, .active_ns = active_ns };
        snprintf(alive->app, sizeof(alive->app), "%s", app);
        return 0;
}

/* An app lives as long as the process of it that lived longest; one that begins just now has not lived yet. */
static int note_alive(struct making *making, const struct process *process)
{
        uint64_t life_ns = alive_ns(making, process);
        struct interval_alive *alive;

        if (life_ns == 0 && !screen_split_find(&making->maker->screen, process->app))
                return 0;
        alive = find_alive(making, process->app, process->uid);
        if (!alive)
                return add_alive(making, process->app, process->uid, STATE_BACKGROUND, life_ns);
        alive->active_ns = MAX(alive->active_ns, life_ns);
        return 0;
}

/* It is in the background for as long as it lives and has not the screen. */
static int split_alive(struct making *making, size_t index)
{
        struct interval_alive *alive = &making->interval->alive[index], old = *alive; /* the list may move */
        const struct screen_share *share = screen_split_find(&making->maker->screen, alive->app);
        uint64_t fg_ns = share ? MIN(share->foreground_ns, making->awake_ns) : 0;

        if (fg_ns == 0)
                return 0;
        if (fg_ns >= alive->active_ns) {
                alive->state = STATE_FOREGROUND;
                alive->active_ns = fg_ns;
                return 0;
        }
        alive->active_ns -= fg_ns;
        return add_alive(making, old.app, old.uid, STATE_FOREGROUND, fg_ns);
}

static int make_alive_slots(struct interval_maker *maker, size_t n)
{
        size_t wanted = 64;

        while (wanted < 2 * (n + 1))
                wanted *= 2;
        if (wanted > maker->alive_capacity) {
                free(maker->alive_slots);
                maker->alive_capacity = 0;
                maker->alive_slots = malloc(wanted * sizeof(*maker->alive_slots));
                if (!maker->alive_slots)
                        return -ENOMEM;
                maker->alive_capacity = wanted;
        }
        memset(maker->alive_slots, 0, maker->alive_capacity * sizeof(*maker->alive_slots));
        return 0;
}

/* An app that is there at the end counts for all its life, one that had the screen and is gone for that time. */
static int list_alive(struct making *making)
{
        const struct screen_split *screen = &making->maker->screen;
        const struct sample *now = making->now;
        int err = make_alive_slots(making->maker, now->n_processes);
        size_t n;

        for (size_t i = 0; !err && i < now->n_processes; i++)
                err = note_alive(making, &now->processes[i]);
        n = making->interval->n_alive;
        for (size_t i = 0; !err && i < n; i++)
                err = split_alive(making, i);
        for (size_t i = 1; !err && i < screen->n; i++)
                if (screen->shares[i].foreground_ns > 0 && face_of(now, screen->shares[i].app) == NO_OWNER)
                        err = add_alive(making, screen->shares[i].app, (uid_t)-1, STATE_FOREGROUND,
                                        MIN(screen->shares[i].foreground_ns, making->awake_ns));
        return err;
}

static void measure_time(struct making *making)
{
        struct interval *interval = making->interval;
        uint64_t elapsed_ns = making->now->boottime_ns - making->before->boottime_ns;
        uint64_t running_ns = growth(making->before->monotonic_ns, making->now->monotonic_ns, elapsed_ns);

        interval->elapsed_ns = elapsed_ns;
        if (making->now->monotonic_ns >= making->before->monotonic_ns &&
            elapsed_ns - running_ns >= TUNING_SUSPEND_NS && running_ns > 0)
                interval->suspend_ns = elapsed_ns - running_ns;
        interval->end_realtime_ns = making->now->realtime_ns;
        interval->start_realtime_ns = (int64_t)((uint64_t)making->now->realtime_ns - elapsed_ns);
        interval->have = making->before->have & making->now->have;
        interval->battery = making->now->battery;
        if (!(making->now->have & SAMPLE_BATTERY))
                interval->battery = (struct battery){ 0 };
        making->awake_ns = elapsed_ns - interval->suspend_ns;
}

static int make(struct making *making)
{
        struct interval_maker *maker = making->maker;
        int err;

        measure_time(making);
        err = screen_split_make(making->before, making->now, making->awake_ns, &maker->screen);
        if (!err)
                err = cpu_split_make(making->before, making->now, making->awake_ns, &maker->cpu);
        if (err)
                return err;
        if (!add_row(making, NULL, NO_OWNER, STATE_BACKGROUND))
                return -ENOMEM;
        making->idle_have = idle_have(making);
        if (making->interval->have & SAMPLE_PROCESSES)
                err = subtract_processes(making);
        if (!err)
                err = fill_nobodys(making);
        for (size_t i = 0; !err && i < making->interval->n_rows; i++)
                if (i == 0 || maker->owner[i] != NO_OWNER) /* settled rows have theirs */
                        cpu_split_any(&maker->cpu, &making->interval->rows[i].usage);
        if (!err)
                err = carry_small_rows(making);
        if (!err)
                err = add_screen_time(making);
        if (!err)
                err = list_alive(making);
        if (!err)
                battery_discharge(&maker->levels, making->before, making->now, making->interval);
        return err;
}

/* Another boot, or a clock of the same boot that went backward: nothing can be subtracted. */
static bool is_new_start(const struct interval_maker *maker, const struct sample *sample)
{
        return !maker->started || strcmp(maker->before.boot_id, sample->boot_id) != 0 ||
               sample->boottime_ns < maker->before.boottime_ns;
}

static void forget(struct interval_maker *maker)
{
        maker->levels = (struct battery_levels){ 0 };
        maker->cpu_debt_ns = maker->read_debt_bytes = maker->write_debt_bytes = 0;
}

static void take_over(struct interval_maker *maker, struct sample *sample, struct usage **carried)
{
        struct sample old = maker->before;

        free_carried(maker->carried, old.n_processes);
        maker->carried = carried;
        maker->before = *sample;
        *sample = old;
        maker->started = true;
}

int interval_make(struct interval_maker *maker, struct sample *sample, struct interval *ret)
{
        struct making making = { .maker = maker, .before = &maker->before, .now = sample, .interval = ret };
        int err;

        interval_reset(ret);
        if (is_new_start(maker, sample)) {
                forget(maker);
                take_over(maker, sample, NULL);
                return -ENODATA;
        }
        making.carried = calloc(sample->n_processes + 1, sizeof(*making.carried));
        making.reaped = calloc(sample->n_processes + 1, sizeof(*making.reaped));
        err = making.carried && making.reaped ? make(&making) : -ENOMEM;
        free(making.reaped);
        if (err) {
                free_carried(making.carried, sample->n_processes);
                interval_reset(ret);
                return err;
        }
        take_over(maker, sample, making.carried);
        return 0;
}
