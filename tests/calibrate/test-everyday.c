/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Spans between level steps: polls of a device as a test writes them, through interval.c and a database. */

#include <errno.h>

#include "observation/everyday.h"
#include "store-fixture.h"

#define FULL_UAH 4000000
#define VOLTAGE_UV 4000000
#define PERCENT_J (FULL_UAH / 1e6 / 100 * VOLTAGE_UV / 1e6 * 3600)
#define POLL_S 30
#define POWER_UW 2000000

/* A device with two users and three apps, one of them in front. */
struct device {
        struct store *store;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        int64_t realtime_ns;
        uint64_t boottime_ns, monotonic_ns;
        uint64_t polls;
        bool fine;           /* the gauge counts charge, and has a current sensor */
        bool no_levels;
        int programs;        /* number beside the usual ones; each reads program_bytes once */
        uint64_t program_bytes;
        enum battery_status status;
        double level;        /* percent */
        struct signal signal;
};

static void setup(struct device *device, bool fine)
{
        *device = (struct device){ .store = open_store(STORE_WRITE), .realtime_ns = START,
                                   .boottime_ns = 1000 * NS_PER_S, .monotonic_ns = 900 * NS_PER_S, .fine = fine,
                                   .status = BATTERY_DISCHARGING, .level = 80 };
        check_int(interval_maker_new(&device->maker), 0);
}

static void teardown(struct device *device)
{
        interval_maker_free(device->maker);
        sample_clear(&device->sample);
        interval_clear(&device->interval);
        store_close(device->store);
        remove_database();
}

/* The service restarts. */
static void restart(struct device *device)
{
        interval_maker_free(device->maker);
        check_int(interval_maker_new(&device->maker), 0);
}

static void add_process(struct device *device, pid_t pid, uid_t uid, const char *app, uint64_t cpu_ns,
                        uint64_t read_bytes)
{
        struct process *process = sample_add_process(&device->sample, false);

        process->pid = pid;
        process->start_time = 1;
        process->uid = uid;
        process->have = USAGE_CPU | USAGE_DISK;
        process->cpu_ns = cpu_ns;
        process->read_bytes = read_bytes;
        snprintf(process->app, sizeof(process->app), "%s", app);
}

static struct battery battery_of(const struct device *device)
{
        struct battery battery = { .status = device->status };

        if (device->no_levels)
                return battery;
        battery.have = BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE;
        battery.capacity_percent = (uint32_t)device->level;
        battery.charge_full_uah = FULL_UAH;
        battery.voltage_uv = VOLTAGE_UV;
        if (device->fine) {
                battery.have |= BATTERY_CHARGE_NOW | BATTERY_POWER;
                battery.charge_now_uah = (uint64_t)llround(device->level * FULL_UAH / 100);
                battery.power_uw = POWER_UW;
        }
        return battery;
}

/* One poll after @seconds, of which @asleep were suspended; the level fell by @percent. */
static void step(struct device *device, double percent, int64_t seconds, int64_t asleep)
{
        struct sample *sample = &device->sample;
        int err;

        device->level -= percent;
        device->realtime_ns += seconds * S;
        device->boottime_ns += (uint64_t)(seconds * S);
        device->monotonic_ns += (uint64_t)((seconds - asleep) * S);
        device->polls++;
        sample_reset(sample);
        sample->realtime_ns = device->realtime_ns;
        sample->boottime_ns = device->boottime_ns;
        sample->monotonic_ns = device->monotonic_ns;
        sample->have = SAMPLE_BATTERY | SAMPLE_PROCESSES | SAMPLE_SCREEN | SAMPLE_FOREGROUND | SAMPLE_CORES |
                       SAMPLE_OPPS;
        strcpy(sample->boot_id, "a boot");
        sample->battery = battery_of(device);
        sample->signal = device->signal;
        sample->screen = (struct screen_event){ .foreground_known = true, .app = "front", .screen_known = true,
                                                .screen_on = true, .brightness = 100 };
        for (uint32_t khz = 300000; khz <= 900000; khz += 300000)
                *sample_add_opp(sample) = (struct opp){ .khz = khz, .time_ns = device->polls * khz * 30000 };
        *sample_add_core(sample) = (struct core){ .busy_ns = device->polls * 20 * NS_PER_S };
        add_process(device, 10, 1000, "front", device->polls * 7 * NS_PER_S, device->polls * 7000000);
        add_process(device, 11, 1001, "behind", device->polls * device->polls * NS_PER_S / 1000, 0);
        add_process(device, 12, 1000, "behind", device->polls * NS_PER_S, device->polls * 1000000);
        add_process(device, 13, 1000, "idle", NS_PER_S, 0);
        for (int i = 0; i < device->programs; i++) {
                char app[32];

                snprintf(app, sizeof(app), "program-%d", i);
                add_process(device, 100 + i, 1000, app, NS_PER_S / 1000, device->program_bytes);
        }
        err = interval_make(device->maker, sample, &device->interval);
        check(err == 0 || err == -ENODATA);
        if (!err)
                check_int(store_append(device->store, &device->interval), 0);
}

/* Makes @polls polls; the last one sees the level fall by one percent. */
static void percent_step(struct device *device, int polls)
{
        for (int i = 1; i < polls; i++)
                step(device, 0, POLL_S, 0);
        step(device, 1, POLL_S, 0);
}

static struct everyday *read_after(struct device *device, int64_t after_ns, size_t *n)
{
        struct everyday *list = NULL;

        *n = 0;
        check_int(everyday_read_store(device->store, after_ns, &list, n), 0);
        return list;
}

static struct usage sum_of(const struct everyday *list, size_t n)
{
        struct usage sum = { 0 };

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < list[i].n_uses; k++)
                        check_int(usage_add(&sum, &list[i].uses[k].usage), 0);
        return sum;
}

/* Adds the average usage between the level's step and the end of the poll that saw it, at @end_ns. */
static void add_late(struct device *device, int64_t end_ns, struct usage *to)
{
        uint64_t poll_ns = (uint64_t)(POLL_S * NS_PER_S), late_ns = poll_ns / 2 + 5 * NS_PER_S;
        struct sum poll = total(device->store, end_ns - (int64_t)poll_ns, end_ns, STORE_RAW, NULL);

        usage_cut(&poll.usage, poll_ns - MIN(late_ns, poll_ns), poll_ns, poll_ns);
        check_int(usage_add(to, &poll.usage), 0);
        sum_clear(&poll);
}

/* Each use in a poll is cut separately, so each may be off by one unit of rounding. */
static void check_close(const struct usage *a, const struct usage *b)
{
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                check_near((double)a->amount[i], (double)b->amount[i], 64);
        for (size_t k = 0; k < KEYED_COUNT; k++)
                check_near((double)usage_points_sum_ns(&a->keyed[k]), (double)usage_points_sum_ns(&b->keyed[k]), 64);
}

/* The spans' usages sum to the database's usage from the first step to the last. */
static void check_sums(struct device *device, const struct everyday *list, size_t n)
{
        struct sum all = total(device->store, list[0].start_ns, list[n - 1].end_ns, STORE_RAW, NULL);
        struct usage uses = sum_of(list, n);
        struct store_battery battery;
        double energy_j = 0, percent = 0;

        add_late(device, list[0].start_ns, &all.usage);
        add_late(device, list[n - 1].end_ns, &uses);
        check_close(&all.usage, &uses);
        sum_clear(&all);
        usage_clear(&uses);
        for (size_t i = 0; i < n; i++) {
                energy_j += list[i].energy_j;
                percent += list[i].percent;
        }
        check_int(store_battery(device->store, list[0].start_ns, list[n - 1].end_ns, &battery), 0);
        check_near(energy_j, (double)battery.discharge_uj / 1e6, 1e-6);
        check_near(percent, battery.discharge_percent, 1e-6);
}

static const struct everyday_use *use_of(const struct everyday *everyday, const char *app, enum app_state state)
{
        static const struct everyday_use none;

        for (size_t i = 0; i < everyday->n_uses; i++)
                if (strcmp(everyday->uses[i].app, app) == 0 && everyday->uses[i].state == state)
                        return &everyday->uses[i];
        return &none;
}

static void one_percent_steps(void)
{
        struct everyday *list;
        struct device device;
        size_t n;

        setup(&device, false);
        step(&device, 0, POLL_S, 0);
        for (int i = 0; i < 5; i++)
                percent_step(&device, 10 + i);
        step(&device, 0, POLL_S, 0);
        list = read_after(&device, INT64_MIN, &n);
        check_int(n, 4); /* before the first step the charge left of its percent is unknown */
        for (size_t i = 0; i < n; i++) {
                check_int(list[i].elapsed_ns, (11 + (int64_t)i) * POLL_S * S);
                check_int(list[i].end_ns - list[i].start_ns, (int64_t)list[i].elapsed_ns);
                check_int(list[i].follows, i > 0);
                check_near(list[i].energy_j, PERCENT_J, 1e-3);
                check_near(list[i].percent, 1, 1e-9);
                check_near(list[i].level, 78.5 - (double)i, 1e-9);
                check_near(list[i].late_s, POLL_S, 1e-9);
                check(isnan(list[i].gauge_j));
                check(list[i].shared);
                check_int(list[i].n_uses, 3);
                check_near(use_of(&list[i], "front", STATE_FOREGROUND)->active_s, (double)list[i].elapsed_ns / 1e9,
                           1e-6);
                check_near(use_of(&list[i], "behind", STATE_BACKGROUND)->active_s, (double)list[i].elapsed_ns / 1e9,
                           1e-6); /* two users' processes, active all the time */
                check_near((double)use_of(&list[i], "front", STATE_FOREGROUND)->usage.read_bytes,
                           7e6 * (11 + (double)i), 1);
        }
        if (n > 0)
                check_sums(&device, list, n);
        everyday_free(list, n);
        teardown(&device);
}

/* The signal is a mean over the time in which it is known; each step was 20 s before the poll that saw it. */
static void signal_of_a_span(void)
{
        struct everyday *list;
        struct device device;
        size_t n;

        setup(&device, false);
        step(&device, 0, POLL_S, 0);
        device.signal = (struct signal){ SIGNAL_WIFI, -50, 0 };
        step(&device, 1, POLL_S, 0);
        for (int i = 0; i < 4; i++)
                step(&device, 0, POLL_S, 0);
        device.signal.have = 0;
        for (int i = 0; i < 5; i++)
                step(&device, 0, POLL_S, 0);
        device.signal = (struct signal){ SIGNAL_WIFI, -80, 0 };
        step(&device, 1, POLL_S, 0);
        device.signal = (struct signal){ SIGNAL_CELLULAR, 0, 33 };
        percent_step(&device, 5);
        list = read_after(&device, INT64_MIN, &n);
        check_int(n, 2);
        if (n == 2) {
                check_near(list[0].wifi_signal_dbm, -(50 * (20 + 4 * POLL_S) + 80 * 10) / 150.0, 1e-9);
                check(isnan(list[0].cellular_signal_percent));
                check_near(list[1].wifi_signal_dbm, -80, 1e-9);
                check_near(list[1].cellular_signal_percent, 33, 1e-9);
        }
        everyday_free(list, n);
        teardown(&device);
}

/* A step of 1 % ends a span, however fast steps come. */
static void fast_percent_steps(void)
{
        struct everyday *list;
        struct device device;
        size_t n;

        setup(&device, false);
        step(&device, 0, POLL_S, 0);
        for (int i = 0; i < 6; i++)
                percent_step(&device, 2);
        list = read_after(&device, INT64_MIN, &n);
        check_int(n, 5);
        everyday_free(list, n);
        teardown(&device);
}

/* With a fine gauge, a span takes at least half a percent and three minutes. */
static void fine_ticks(void)
{
        static const struct {
                double percent; /* in a poll */
                int64_t polls;  /* in a span */
        } cases[] = { { 0.02, 25 }, { 0.1, 6 }, { 0.3, 6 } };

        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct everyday *list;
                struct device device;
                size_t n;

                setup(&device, true);
                step(&device, 0, POLL_S, 0);
                for (int i = 0; i < 4 * cases[c].polls + 1; i++)
                        step(&device, cases[c].percent, POLL_S, 0);
                list = read_after(&device, INT64_MIN, &n);
                check_int(n, 4);
                for (size_t i = 0; i < n; i++) {
                        check_int(list[i].elapsed_ns, cases[c].polls * POLL_S * S);
                        check_near(list[i].percent, (double)cases[c].polls * cases[c].percent, 1e-4);
                        check_near(list[i].energy_j, list[i].percent * PERCENT_J, 1e-2);
                        check_near(list[i].gauge_j, POWER_UW / 1e6 * (double)list[i].elapsed_ns / 1e9, 1e-6);
                }
                if (n > 0)
                        check_sums(&device, list, n);
                everyday_free(list, n);
                teardown(&device);
        }
}

static void charge(struct device *device)
{
        device->status = BATTERY_CHARGING;
        step(device, 0, POLL_S, 0);
        device->status = BATTERY_DISCHARGING;
        step(device, 0, POLL_S, 0);
}

static void lose_status(struct device *device)
{
        device->status = BATTERY_UNKNOWN;
        step(device, 0, POLL_S, 0);
        device->status = BATTERY_DISCHARGING;
        step(device, 0, POLL_S, 0);
}

static void lose_levels(struct device *device)
{
        device->no_levels = true;
        step(device, 0, POLL_S, 0);
        device->no_levels = false;
        step(device, 0, POLL_S, 0);
}

static void sleep_long(struct device *device)
{
        step(device, 0, POLL_S, 10);
}

static void sleep_through_a_step(struct device *device)
{
        step(device, 1, POLL_S, 10);
}

static void leave_a_gap(struct device *device)
{
        restart(device);
        step(device, 0, POLL_S, 0);
}

/* No time passes, as where a simulation is appended. */
static void be_another_day(struct device *device)
{
        restart(device);
        step(device, -5, 0, 0);
        step(device, 0, POLL_S, 0);
}

static void be_another_day_lower(struct device *device)
{
        restart(device);
        step(device, 1, 0, 0);
        step(device, 0, POLL_S, 0);
}

/* The intervals recorded so far get new dates, so that the next one follows without a gap. */
static void set_the_clock(struct device *device)
{
        device->realtime_ns += 100 * S;
        step(device, 0, POLL_S, 0);
}

/* After an hour, recorded intervals keep their dates. */
static void set_the_clock_late(struct device *device)
{
        step(device, 0, 4000, 0);
        device->realtime_ns -= 20 * S;
        step(device, 0, POLL_S, 0);
}

static void jump_down(struct device *device)
{
        step(device, 4, POLL_S, 0);
}

static void jump_up(struct device *device)
{
        step(device, -3, POLL_S, 0);
}

static void nod_off(struct device *device)
{
        step(device, 0, POLL_S, 3);
}

/* A span is left out if something happens in it that makes it useless, and the next one starts after that. */
static void breaks(void)
{
        static const struct {
                const char *what;
                void (*happen)(struct device *device);
                size_t spans;   /* left of five: two before, the one in which it happens, and two after */
        } cases[] = {
                { "charging", charge, 4 },
                { "unknown status", lose_status, 4 },
                { "unknown levels", lose_levels, 4 },
                { "suspend", sleep_long, 4 },
                { "step while suspended", sleep_through_a_step, 4 },
                { "gap", leave_a_gap, 4 },
                { "another day", be_another_day, 4 },
                { "another day, lower", be_another_day_lower, 4 },
                { "clock set", set_the_clock, 5 },
                { "clock set back after an hour", set_the_clock_late, 4 },
                { "jump downward", jump_down, 4 },
                { "jump upward", jump_up, 4 },
                { "short suspend", nod_off, 5 },
        };

        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct everyday *list;
                struct device device;
                size_t n;

                setup(&device, false);
                for (int i = 0; i < 3; i++)
                        percent_step(&device, 8);
                step(&device, 0, POLL_S, 0);
                cases[c].happen(&device);
                for (int i = 0; i < 3; i++)
                        percent_step(&device, 8);
                list = read_after(&device, INT64_MIN, &n);
                check_int(n, cases[c].spans);
                if (n == 4) {
                        check(list[1].follows && !list[2].follows && list[3].follows);
                        check(list[2].start_ns > list[1].end_ns);
                        for (size_t i = 0; i < n; i++)
                                check_int(list[i].elapsed_ns, 8 * POLL_S * S);
                }
                if (n != cases[c].spans)
                        fprintf(stderr, "in: %s\n", cases[c].what);
                everyday_free(list, n);
                teardown(&device);
        }
}

static bool is_same(const struct everyday *a, const struct everyday *b)
{
        return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->elapsed_ns == b->elapsed_ns &&
               a->follows == b->follows && a->energy_j == b->energy_j && a->percent == b->percent &&
               a->level == b->level && a->n_uses == b->n_uses;
}

/* Read again after some more polls, spans go on where the last known one ended, and are those of one reading. */
static void goes_on_where_it_ended(void)
{
        for (int fine = 0; fine <= 1; fine++) {
                struct everyday *all, *first, *then, *again;
                size_t n_all, n_first, n_then, n_again;
                struct device device;

                setup(&device, fine);
                step(&device, 0, POLL_S, 0);
                for (int i = 0; i < 33; i++)
                        step(&device, fine ? 0.11 : i % 3 == 0, POLL_S, 0);
                first = read_after(&device, INT64_MIN, &n_first);
                check(n_first > 0);
                for (int i = 0; i < 40; i++)
                        step(&device, fine ? 0.11 : i % 3 == 0, POLL_S, 0);
                all = read_after(&device, INT64_MIN, &n_all);
                then = read_after(&device, first[n_first - 1].end_ns, &n_then);
                check_int(n_first + n_then, n_all);
                for (size_t i = 0; i < n_all && n_first + n_then == n_all; i++)
                        check(is_same(&all[i], i < n_first ? &first[i] : &then[i - n_first]));
                again = read_after(&device, all[n_all - 1].end_ns, &n_again);
                check_int(n_again, 0);
                everyday_free(again, n_again);
                again = read_after(&device, device.realtime_ns + HOUR, &n_again); /* the clock was ahead */
                check_int(n_again, n_all);
                everyday_free(again, n_again);
                everyday_free(then, n_then);
                everyday_free(all, n_all);
                everyday_free(first, n_first);
                teardown(&device);
        }
}

/* Daemons that hardly do anything are merged into one app, and so are too many names. The sum stays complete. */
static void small_ones_are_one(void)
{
        static const struct {
                int programs;
                uint64_t read_bytes; /* by each program; all others together read some 70 MB */
                size_t uses;
                bool others;
        } cases[] = { { 20, 1000, 4, true }, { 2, 50000000, 5, false }, { 100, 50000000, 4, true } };

        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct everyday *list;
                struct device device;
                size_t n;

                setup(&device, false);
                step(&device, 0, POLL_S, 0);
                percent_step(&device, 10);
                device.programs = cases[c].programs;
                device.program_bytes = cases[c].read_bytes;
                percent_step(&device, 10);
                list = read_after(&device, INT64_MIN, &n);
                check_int(n, 1);
                if (n == 1) {
                        check_int(list[0].n_uses, cases[c].uses);
                        check_int(use_of(&list[0], TUNING_OTHER_APPS, STATE_BACKGROUND)->usage.read_bytes,
                                  cases[c].others ? (uint64_t)cases[c].programs * cases[c].read_bytes : 0);
                        check_sums(&device, list, n);
                }
                everyday_free(list, n);
                teardown(&device);
        }
}

static void nothing_recorded(void)
{
        struct device device;
        size_t n;

        setup(&device, false);
        check(read_after(&device, INT64_MIN, &n) == NULL);
        check_int(n, 0);
        teardown(&device);
}

int main(void)
{
        name_database();
        one_percent_steps();
        signal_of_a_span();
        fast_percent_steps();
        fine_ticks();
        breaks();
        goes_on_where_it_ended();
        small_ones_are_one();
        nothing_recorded();
        return check_result();
}
