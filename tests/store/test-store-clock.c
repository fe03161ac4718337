/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Clocks that jump: nothing is lost, folded early or deleted, no write becomes dearer, and dates come right. */

#include <fcntl.h>

#include "store-fixture.h"

#define STEP_S 300
#define YEAR (365 * DAY)

/* A machine whose clock is set now and then, with a poller. */
struct machine {
        struct store *store;
        struct store_retention retention;
        struct interval interval;
        int64_t boottime_ns;
        int64_t ahead_ns;
        int64_t set_ns;  /* since the last poll */
        int sentences;
        char said[512];  /* the last of them */
        struct log log;
};

static void keep(void *data, enum log_level level, const char *sentence)
{
        struct machine *machine = data;

        machine->sentences++;
        snprintf(machine->said, sizeof(machine->said), "%s", sentence);
}

static void open_machine(struct machine *machine)
{
        machine->log = (struct log){ keep, machine };
        check_int(store_open(path, STORE_WRITE, &machine->log, &machine->store), 0);
}

static void close_machine(struct machine *machine)
{
        interval_clear(&machine->interval);
        store_close(machine->store);
        remove_database();
}

static int64_t now_of(const struct machine *machine)
{
        return START + machine->boottime_ns + machine->ahead_ns;
}

static void set_clock(struct machine *machine, int64_t ns)
{
        machine->ahead_ns += ns;
        machine->set_ns += ns;
}

static void poll_once(struct machine *machine, int64_t elapsed_ns)
{
        machine->boottime_ns += elapsed_ns;
        make_interval(&machine->interval, now_of(machine), (uint64_t)elapsed_ns, 5);
        machine->interval.clock_step_ns = machine->set_ns;
        machine->set_ns = 0;
        check_int(store_append(machine->store, &machine->interval), 0);
        check_int(store_roll_up(machine->store, now_of(machine), &machine->retention), 0);
}

static void poll_for(struct machine *machine, int64_t ns)
{
        for (int64_t end_ns = machine->boottime_ns + ns; machine->boottime_ns < end_ns;)
                poll_once(machine, STEP_S * S);
}

static uint64_t time_of(struct store *store, int64_t from_ns, enum store_grain grain)
{
        struct sum sum = total(store, from_ns, INT64_MAX, grain, NULL);
        uint64_t time_ns = sum.usage.time_ns;

        sum_clear(&sum);
        return time_ns;
}

static void check_all_there(struct machine *machine)
{
        const enum store_grain grains[] = { STORE_RAW, STORE_HOUR, STORE_DAY, STORE_BEST };

        for (size_t i = 0; i < ARRAY_SIZE(grains); i++)
                check_int(time_of(machine->store, INT64_MIN, grains[i]), (uint64_t)machine->boottime_ns);
        check_int(battery_of_all(machine->store).elapsed_ns, machine->boottime_ns);
}

static uint64_t written_by(struct machine *machine, int polls)
{
        static const char key[] = "\nwchar: ";
        uint64_t bytes[2] = { 0 };

        for (int i = 0; i < 2; i++) {
                char text[512] = "";

                check(util_read_at(AT_FDCWD, "/proc/self/io", text, sizeof(text)) > 0);
                bytes[i] = strtoull(strstr(text, key) + strlen(key), NULL, 10);
                for (int poll = 0; i == 0 && poll < polls; poll++)
                        poll_once(machine, STEP_S * S);
        }
        return bytes[1] - bytes[0];
}

struct jump {
        const char *name;
        int64_t ns;
        int64_t wrong_ns; /* duration of the wrong time, in one poll */
        uint32_t day_days;
};

struct after {
        int64_t intervals, hours, days;
        uint64_t written;
};

/* Three days, a jump that is taken back (or none), and 200 polls more. */
static struct after live_through(const struct jump *jump)
{
        struct machine machine = { .retention = { 48, 14, jump->day_days } };
        char where[120];
        struct after after;

        open_machine(&machine);
        poll_for(&machine, 3 * DAY);
        set_clock(&machine, jump->ns);
        poll_once(&machine, jump->wrong_ns);
        if (jump->ns) {
                check_int(machine.sentences, 1);
                check(strstr(machine.said, jump->ns > 0 ? " ahead;" : " back;"));
        }
        set_clock(&machine, -jump->ns);
        poll_once(&machine, STEP_S * S);
        check_int(machine.sentences, jump->ns ? 2 : 0);
        after.written = written_by(&machine, 200); /* the log is folded in at some of them */
        check_int(machine.sentences, jump->ns ? 2 : 0);
        check_all_there(&machine);
        check_int(time_of(machine.store, now_of(&machine) - STEP_S * S, STORE_BEST), STEP_S * NS_PER_S);
        check_int(battery_of_all(machine.store).last_ns, now_of(&machine));
        check_int(battery_of_all(machine.store).first_ns, START);
        snprintf(where, sizeof(where), "interval WHERE start_ns NOT IN (SELECT end_ns FROM interval)");
        check_int(count_in_file(where), 1);
        after.intervals = count_in_file("interval");
        after.hours = count_in_file("period WHERE grain = 1");
        after.days = count_in_file("period WHERE grain = 2");
        close_machine(&machine);
        return after;
}

static void a_jump_that_is_taken_back_leaves_nothing(void)
{
        const struct jump jumps[] = {
                { "ten years ahead for a poll", 3652 * DAY, 350 * 1000000, 0 },
                { "two days ahead", 2 * DAY, 700 * 1000000, 0 },
                { "three years ahead, where days are deleted", 3 * YEAR, 700 * 1000000, 400 },
                { "ten years back", -3652 * DAY, 350 * 1000000, 0 },
                { "half an hour back for ten minutes", -1801 * S, 600 * S, 0 },
                { "years ahead for 50 minutes", 3 * YEAR, 3000 * S, 400 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
                const struct jump none = { "", 0, jumps[i].wrong_ns, jumps[i].day_days };
                const struct after want = live_through(&none), got = live_through(&jumps[i]);

                check_int(got.intervals, want.intervals);
                check_int(got.hours, want.hours);
                check_int(got.days, want.days);
                if (got.intervals != want.intervals || got.written > want.written + want.written / 5)
                        fprintf(stderr, "in: %s (%llu bytes written, else %llu)\n", jumps[i].name,
                                (unsigned long long)got.written, (unsigned long long)want.written);
                check(got.written < want.written + want.written / 5);
        }
}

/*
 * The clock was wrong for too long to be corrected: recorded intervals keep their dates, and recording goes on as
 * usual.
 */
static void a_clock_that_was_wrong_for_hours(int64_t ns)
{
        struct machine machine = { .retention = { 24, 3, 400 } };
        uint64_t before, after;

        open_machine(&machine);
        poll_for(&machine, 5 * DAY);
        before = written_by(&machine, 240);
        set_clock(&machine, ns);
        poll_for(&machine, 5 * HOUR);
        check_all_there(&machine);
        set_clock(&machine, -ns);
        poll_for(&machine, 2 * HOUR);
        after = written_by(&machine, 240);
        check(after < before + before / 2); /* it was 3.3 times as much */
        check_all_there(&machine);
        check_int(time_of(machine.store, now_of(&machine) - 300 * S, STORE_RAW), ns > 0 ? 5 * HOUR + 300 * S : 300 * S);
        check(count_in_file("interval") >= 24 * 12 && count_in_file("interval") <= 26 * 12);
        check(count_in_file("period WHERE grain = 1") >= 72 && count_in_file("period WHERE grain = 1") <= 76);
        close_machine(&machine);
}

/* A machine without a battery for its clock, until a time server is asked; then the same once more. */
static void a_start_at_the_wrong_time(void)
{
        for (int64_t wrong_ns = -10000 * DAY; wrong_ns <= 10000 * DAY; wrong_ns += 20000 * DAY) {
                struct machine machine = { .retention = { 48, 14, 0 } };

                for (int boot = 0; boot < 2; boot++) {
                        open_machine(&machine);
                        machine.ahead_ns += wrong_ns;
                        for (int i = 0; i < 3; i++)
                                poll_once(&machine, 30 * S);
                        set_clock(&machine, -wrong_ns);
                        poll_once(&machine, 30 * S);
                        check(strstr(machine.said, "the 3 intervals recorded since"));
                        check_int(battery_of_all(machine.store).first_ns, START);
                        check_int(battery_of_all(machine.store).last_ns, now_of(&machine));
                        if (boot == 0)
                                store_close(machine.store);
                }
                check_all_there(&machine);
                check_int(count_in_file("interval WHERE start_ns NOT IN (SELECT end_ns FROM interval)"), 1);
                close_machine(&machine);
        }
}

/* Each step, and the last one for all of before, as the clock stayed for less than an hour each time. */
static void a_clock_that_comes_right_in_steps(void)
{
        static const struct {
                const char *what;
                int64_t days_before, ahead[4], step_s;
        } cases[] = {
                { "of a new database", 0, { -11 * DAY, -5 * DAY, 0, 0 }, 30 },
                { "there and back", 0, { 0, DAY, 0, 0 }, 30 },
                { "beyond, and back", 0, { -11 * DAY, 2 * HOUR, 0, 0 }, 30 },
                { "50 minutes each", 0, { -11 * DAY, -5 * DAY, 3 * DAY, 0 }, 300 },
                { "after days that were right", 2, { -11 * DAY, -5 * DAY, 2 * HOUR, 0 }, 300 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct machine machine = { .retention = { 48, 14, 0 } };
                int failures = check_failures;

                open_machine(&machine);
                poll_for(&machine, cases[i].days_before * DAY);
                if (cases[i].days_before == 0)
                        machine.ahead_ns = cases[i].ahead[0];
                for (int k = 0; k < 4; k++) {
                        if (machine.ahead_ns != cases[i].ahead[k])
                                set_clock(&machine, cases[i].ahead[k] - machine.ahead_ns);
                        for (int poll = 0; poll < 10; poll++)
                                poll_once(&machine, cases[i].step_s * S);
                }
                check_int(battery_of_all(machine.store).first_ns, START);
                check_int(battery_of_all(machine.store).last_ns, now_of(&machine));
                check_all_there(&machine);
                check_int(count_in_file("interval WHERE start_ns NOT IN (SELECT end_ns FROM interval)"), 1);
                if (check_failures > failures)
                        fprintf(stderr, "in: %s\n", cases[i].what);
                close_machine(&machine);
        }
}

/* A correction of a few seconds, as by a time server, is no news. */
static void small_steps_are_not_told(void)
{
        struct machine machine = { .retention = { 48, 14, 0 } };

        open_machine(&machine);
        for (int i = 0; i < 50; i++) {
                set_clock(&machine, i % 2 ? 3 * S : -2 * S);
                poll_once(&machine, 30 * S);
        }
        check_int(machine.sentences, 0);
        check_all_there(&machine);
        close_machine(&machine);
}

int main(void)
{
        name_database();
        a_jump_that_is_taken_back_leaves_nothing();
        a_clock_that_was_wrong_for_hours(3652 * DAY);
        a_clock_that_was_wrong_for_hours(-3652 * DAY);
        a_start_at_the_wrong_time();
        a_clock_that_comes_right_in_steps();
        small_steps_are_not_told();
        remove_database();
        return check_result();
}
