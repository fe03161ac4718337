/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The only place that subtracts samples.
 *
 * A gap (a total that went backward or grew implausibly) counts 0 and continues from the new value.
 * Processes, owners, the base, screen, CPU and battery have a file each.
 */

#include "interval.h"

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

int interval_maker_new(struct interval_maker **ret)
{
        struct interval_maker *maker = calloc(1, sizeof(*maker));

        if (!maker)
                return -ENOMEM;
        *ret = maker;
        return 0;
}

void interval_maker_free(struct interval_maker *maker)
{
        if (!maker)
                return;
        held_clear(&maker->held);
        sample_clear(&maker->before);
        screen_split_clear(&maker->screen);
        cpu_split_clear(&maker->cpu);
        radio_owners_free(maker->radio);
        free(maker->skipped);
        free(maker->skipped_bursts);
        free(maker);
}

static void interval_reset(struct interval *interval)
{
        struct interval_row *rows;
        size_t capacity;

        for (size_t i = 0; i < interval->n_rows; i++)
                usage_clear(&interval->rows[i].usage);
        util_shrink(&interval->rows, &interval->capacity, interval->n_rows);
        free(interval->shape.list);
        rows = interval->rows;
        capacity = interval->capacity;
        *interval = (struct interval){ .rows = rows, .capacity = capacity };
}

void interval_clear(struct interval *interval)
{
        interval_reset(interval);
        free(interval->rows);
        *interval = (struct interval){ 0 };
}

/* Two clocks are not read at the same instant: only a larger difference means that the clock was set. */
static void measure_clock(struct making *making, uint64_t elapsed_ns)
{
        struct interval *interval = making->interval;
        int64_t before_ns = making->before->realtime_ns, end_ns = making->now->realtime_ns, step_ns;

        interval->end_realtime_ns = end_ns;
        interval->start_realtime_ns = (int64_t)((uint64_t)end_ns - elapsed_ns);
        if (__builtin_sub_overflow(interval->start_realtime_ns, before_ns, &step_ns))
                step_ns = 0;
        else if (step_ns <= -TUNING_CLOCK_SET_NS || step_ns >= TUNING_CLOCK_SET_NS)
                interval->clock_step_ns = step_ns;
        else if (before_ns <= end_ns)
                interval->start_realtime_ns = before_ns;
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
        measure_clock(making, elapsed_ns);
        interval->have = making->before->have & making->now->have;
        interval->signal = making->now->signal;
        interval->battery = making->now->battery;
        if (!(making->now->have & SAMPLE_BATTERY))
                interval->battery = (struct battery){ 0 };
        making->awake_ns = elapsed_ns - interval->suspend_ns;
}

/* Counts bytes over WiFi at the present signal: the mean of both ends, if both are known. */
static int count_signal(const struct making *making, struct usage *usage)
{
        uint64_t bytes = usage->wifi_rx_bytes + usage->wifi_tx_bytes;
        const struct signal *before = &making->before->signal, *now = &making->now->signal;
        int32_t minus_dbm = -now->wifi_signal_dbm, step = SIGNAL_STEP_DB;

        if (bytes == 0 || !(now->have & SIGNAL_WIFI))
                return 0;
        if (before->have & SIGNAL_WIFI)
                minus_dbm = -(before->wifi_signal_dbm + now->wifi_signal_dbm) / 2;
        return usage_add_point(usage, KEYED_SIGNAL, &(struct point){
                .minus_dbm = (uint32_t)((minus_dbm + step / 2) / step * step), .bytes = bytes });
}

static int make(struct making *making)
{
        struct interval_maker *maker = making->maker;
        struct interval *interval = making->interval;
        int err;

        measure_time(making);
        err = screen_split_make(making->before, making->now, making->awake_ns, &maker->screen);
        if (!err)
                err = cpu_split_make(making->before, making->now, making->awake_ns, &maker->cpu);
        if (err)
                return err;
        interval->split_by = maker->cpu.by;
        if (!interval_add_row(making, "", (uid_t)-1, STATE_BACKGROUND))
                return -ENOMEM;
        making->idle_have = interval_idle_have(making);
        if (interval->have & SAMPLE_PROCESSES)
                err = interval_subtract_processes(making);
        if (!err)
                err = interval_share_counted(making);
        if (!err)
                err = interval_add_owners(making);
        if (!err)
                err = interval_fill_base(making);
        if (!err)
                err = interval_count_radio(making);
        if (!err)
                err = cpu_split_finish(&maker->cpu, &interval->shape);
        for (size_t i = 0; !err && i < interval->n_rows; i++) {
                interval->rows[i].shaped = interval->rows[i].shaped && interval->shape.n > 0;
                cpu_split_any(&maker->cpu, &interval->rows[i].usage.cpu);
                err = count_signal(making, &interval->rows[i].usage);
        }
        if (!err)
                battery_discharge(&maker->levels, &maker->watch, making->before, making->now, interval);
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
        maker->watch = (struct battery_watch){ 0 };
        maker->levels = (struct battery_levels){ 0 };
        maker->cpu_debt_ns = 0;
        memset(maker->debt, 0, sizeof(maker->debt));
        maker->n_skipped = maker->n_skipped_bursts = 0;
        maker->missed_bursts = false;
        radio_owners_free(TAKE_PTR(maker->radio));
}

/* Keeps the sample. The next one may leave out unchanged processes, if it comes from the same table. */
static void take_over(struct interval_maker *maker, struct sample *sample)
{
        struct sample old = maker->before;

        if (sample->have & SAMPLE_PROCESSES)
                held_take_over(&maker->held, sample);
        maker->before = *sample;
        *sample = old;
        sample->shown_by = maker->before.shown_by;
        sample->shown_poll = maker->before.shown_poll;
        sample->taken = true;
        maker->started = true;
}

static int start_anew(struct interval_maker *maker, struct sample *sample)
{
        int err;

        forget(maker);
        level_watch_battery(&maker->watch, sample);
        if (!sample->partial) /* else it is the same boot, by a clock that went back */
                held_clear(&maker->held);
        err = sample->have & SAMPLE_PROCESSES ? held_match(&maker->held, sample) : 0;
        if (err)
                return err;
        take_over(maker, sample);
        return -ENODATA;
}

/* Beyond the most events of one sample, the newest one replaces the last. */
static int skip_event(struct interval_maker *maker, const struct screen_event *event)
{
        size_t at = MIN(maker->n_skipped, (size_t)SCREEN_CHANGES_MAX - 1);

        if (util_grow(&maker->skipped, &maker->skipped_capacity, at + 1, sizeof(*maker->skipped)) < 0)
                return -ENOMEM;
        maker->skipped[at] = *event;
        maker->n_skipped = at + 1;
        return 0;
}

#define SKIPPED_BURSTS_MAX 65536 /* beyond, it is unknown which packets there were */

static int skip_bursts(struct interval_maker *maker, const struct sample *sample)
{
        size_t n = maker->n_skipped_bursts;

        if (!(sample->have & SAMPLE_BURSTS) || n + sample->n_bursts > SKIPPED_BURSTS_MAX)
                maker->missed_bursts = true;
        if (maker->missed_bursts || sample->n_bursts == 0)
                return 0;
        if (util_grow(&maker->skipped_bursts, &maker->skipped_bursts_capacity, n + sample->n_bursts,
                      sizeof(*maker->skipped_bursts)) < 0)
                return -ENOMEM;
        memcpy(maker->skipped_bursts + n, sample->bursts, sample->n_bursts * sizeof(*sample->bursts));
        maker->n_skipped_bursts += sample->n_bursts;
        return 0;
}

int interval_skip(struct interval_maker *maker, struct sample *sample)
{
        int err = 0;

        if (is_new_start(maker, sample))
                return 0;
        level_watch_battery(&maker->watch, sample);
        /* If the battery was charged in between, the discharge before and after is unknown. */
        if ((sample->have & SAMPLE_BATTERY) && sample->battery.status != BATTERY_DISCHARGING)
                maker->before.battery.status = sample->battery.status;
        for (size_t i = 0; !err && i < sample->n_events; i++)
                err = skip_event(maker, &sample->events[i]);
        return err ? err : skip_bursts(maker, sample);
}

static int recall_bursts(struct interval_maker *maker, struct sample *sample)
{
        for (size_t i = 0; i < maker->n_skipped_bursts; i++) {
                struct process_burst *burst = sample_add_burst(sample);

                if (!burst)
                        return -ENOMEM;
                *burst = maker->skipped_bursts[i];
        }
        maker->n_skipped_bursts = 0;
        return 0;
}

static int recall_events(struct interval_maker *maker, struct sample *sample)
{
        size_t n = maker->n_skipped;

        if (n == 0)
                return 0;
        if (util_grow(&sample->events, &sample->capacity.events, sample->n_events + n,
                      sizeof(*sample->events)) < 0)
                return -ENOMEM;
        memmove(sample->events + n, sample->events, sample->n_events * sizeof(*sample->events));
        memcpy(sample->events, maker->skipped, n * sizeof(*sample->events));
        sample->n_events += n;
        maker->n_skipped = 0;
        return 0;
}

int interval_make(struct interval_maker *maker, struct sample *sample, struct interval *ret)
{
        struct making making = { .maker = maker, .before = &maker->before, .now = sample, .interval = ret };
        int err;

        interval_reset(ret);
        if (is_new_start(maker, sample))
                return start_anew(maker, sample);
        level_watch_battery(&maker->watch, sample);
        err = recall_events(maker, sample);
        if (!err)
                err = recall_bursts(maker, sample);
        if (!err && (sample->have & SAMPLE_PROCESSES))
                err = held_match(&maker->held, sample);
        if (!err)
                err = make(&making);
        if (!err)
                take_over(maker, sample);
        if (err) {
                held_clear(&maker->held); /* half of it may be taken over: the next is the first of a new start */
                maker->started = false;
                interval_reset(ret);
        }
        return err;
}
