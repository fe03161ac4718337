/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hundreds of drawn intervals: nothing is lost, and nothing counts twice, with and without looks in between. */

#include "interval-fixture.h"

static uint64_t draw(uint64_t below)
{
        static uint64_t state = 88172645463325252u;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

/*
 * 300 intervals of 30 processes on two policies: what they and the machine counted is in the rows, and
 * nothing else.
 */
static void nothing_is_lost_and_nothing_counts_twice(void)
{
        uint64_t time_ns[4] = { 0 }, busy_ns[3] = { 0 }, cpu_ns[30] = { 0 }, written[30] = { 0 }, disk = 0;
        uint64_t machine_ns = 0, rows_ns = 0, own_ns = 0, rows_own_ns = 0, rows_written = 0, own_written = 0;
        struct fixture f;

        setup(&f);
        for (int round = 0; round <= 300; round++) {
                struct sample *sample = after(&f, 10);
                bool last = round == 300;

                sample->have |= USAGE_DISK;
                for (uint32_t i = 0; i < 4; i++)
                        opp(sample, i / 2 * 4, 1000000 + i, time_ns[i] += draw(5 * S));
                for (int i = 0; i < 30; i++) {
                        uint64_t ran_ns = last    ? 0 :
                                          draw(3) ? 0 :
                                                    draw(i % 2 ? 300000 : S / 10),
                                 bytes = last ? 0 : draw(3000);
                        char app[8];

                        snprintf(app, sizeof(app), "a%d", i % 7);
                        cpu_ns[i] += ran_ns;
                        written[i] += bytes;
                        own_ns += round ? ran_ns : 0;
                        own_written += round ? bytes : 0;
                        busy_ns[i % 3] += ran_ns + (i < 3 ? draw(1000) : 0);
                        disk += bytes;
                        process(sample, 10 + i, 1, app, cpu_ns[i])->write_bytes = written[i];
                }
                sample->write_bytes = disk;
                for (uint32_t i = 0; i < 3; i++)
                        core(sample, i, i / 2 * 4, busy_ns[i]);
                machine_ns = round ? machine_ns : busy_ns[0] + busy_ns[1] + busy_ns[2];
                screen(sample, draw(2) ? "a3" : "", true, 1);
                event(sample, f.boottime_ns - draw(10 * S), "a1", true, 2);
                if (poll(&f) < 0)
                        continue;
                for (size_t i = 0; i < f.interval.n_rows; i++) {
                        rows_ns += usage_busy_ns(&f.interval.rows[i].usage);
                        rows_own_ns += i ? usage_busy_ns(&f.interval.rows[i].usage) : 0;
                        rows_written += i ? f.interval.rows[i].usage.write_bytes : 0;
                }
                check_int(f.interval.rows[0].usage.write_bytes, 0);
        }
        after(&f, 10); /* all processes have ended, and carried time is settled */
        check_int(poll(&f), 0);
        for (size_t i = 1; i < f.interval.n_rows; i++)
                rows_own_ns += usage_busy_ns(&f.interval.rows[i].usage);
        check_int(rows_own_ns, own_ns);
        check_int(rows_written, own_written);
        /*
         * Carried time was subtracted from the time of no app when it was counted; the machine's total is that time
         * plus the apps'.
         */
        for (size_t i = 1; i < f.interval.n_rows; i++)
                rows_ns += usage_busy_ns(&f.interval.rows[i].usage);
        check_int(rows_ns, busy_ns[0] + busy_ns[1] + busy_ns[2] - machine_ns);
        teardown(&f);
}

static void screen_time_sums_to_the_time_it_was_on(void)
{
        static const char *const apps[] = { "a", "b", "", NULL };
        struct fixture f;
        bool on = true;

        setup(&f);
        screen(after(&f, 0), "a", true, 3);
        poll(&f);
        for (int round = 0; round < 300; round++) {
                uint64_t on_ns = 0, rows_ns = 0, at;
                size_t n = draw(6);

                after(&f, 30);
                at = f.boottime_ns - 30 * S;
                for (size_t i = 0; i < n; i++) {
                        uint64_t until = at + draw((f.boottime_ns - at) / 2 + 1);

                        on_ns += on ? until - at : 0;
                        on = draw(2);
                        at = until;
                        event(&f.sample, at, apps[draw(4)], on, (uint32_t)draw(3));
                }
                on_ns += on ? f.boottime_ns - at : 0;
                screen(&f.sample, "a", on, 3);
                check_int(poll(&f), 0);
                for (size_t i = 0; i < f.interval.n_rows; i++)
                        rows_ns += usage_screen_ns(&f.interval.rows[i].usage);
                check_int(rows_ns, on_ns);
        }
        teardown(&f);
}

/* Usage of one app in both states, or of all rows if the app is NULL. */
struct total {
        uint64_t busy_ns, screen_ns, bytes, active_ns;
};

static struct total total_of(const struct interval *interval, const char *app)
{
        struct total total = { 0 };

        for (size_t i = 0; i < interval->n_rows; i++) {
                const struct interval_row *row = &interval->rows[i];

                if (app && strcmp(row->app, app) != 0)
                        continue;
                total.busy_ns += usage_busy_ns(&row->usage);
                total.screen_ns += usage_screen_ns(&row->usage);
                total.bytes += row->usage.write_bytes;
                total.active_ns += row->active_ns;
        }
        return total;
}

struct drawn {
        uint64_t cpu_ns[10], bytes[10], busy_ns[2];
};

static void draw_next(struct drawn *drawn)
{
        for (int i = 0; i < 10; i++) {
                uint64_t ran_ns = draw(2) ? draw(S / 2) : 0;

                drawn->cpu_ns[i] += ran_ns;
                drawn->busy_ns[i % 2] += ran_ns;
                drawn->bytes[i] += draw(5000);
        }
}

static void write_sample(struct fixture *f, const struct drawn *drawn, uint64_t boottime_ns)
{
        struct sample *sample = after(f, (double)(boottime_ns - f->boottime_ns) / 1e9);

        sample->have |= USAGE_DISK;
        for (uint32_t i = 0; i < 2; i++) {
                opp(sample, 0, 1000000 + i, boottime_ns / 2);
                core(sample, i, 0, drawn->busy_ns[i]);
        }
        for (int i = 0; i < 10; i++) {
                char app[8];

                snprintf(app, sizeof(app), "a%d", i % 4);
                process(sample, 10 + i, 1, app, drawn->cpu_ns[i])->write_bytes = drawn->bytes[i];
                sample->write_bytes += drawn->bytes[i];
        }
        screen(sample, "a1", true, 7);
}

static void check_joined(const struct interval *joined, const struct interval *whole)
{
        static const char *const apps[] = { NULL, "", "a0", "a1", "a2", "a3" };

        check_int(joined->elapsed_ns, whole->elapsed_ns);
        check_int(joined->start_realtime_ns, whole->start_realtime_ns);
        check_int(joined->end_realtime_ns, whole->end_realtime_ns);
        check_int(joined->have, whole->have);
        check_int(joined->n_rows, whole->n_rows);
        check_text(joined->rows[0].app, "");
        for (size_t i = 0; i < sizeof(apps) / sizeof(*apps); i++) {
                struct total a = total_of(joined, apps[i]), b = total_of(whole, apps[i]);

                check_int(a.busy_ns, b.busy_ns);
                check_int(a.screen_ns, b.screen_ns);
                check_int(a.bytes, b.bytes);
                check_int(a.active_ns, b.active_ns);
        }
}

/* The same for two makers: one looks every two seconds, and joins; the other every ten. */
static void looks_in_between_change_no_sum(void)
{
        struct interval joined = { 0 };
        struct drawn drawn = { 0 };
        struct fixture looks, rests;

        setup(&looks);
        setup(&rests);
        for (int round = 0; round <= 100; round++) {
                draw_next(&drawn);
                write_sample(&looks, &drawn, looks.boottime_ns + 2 * S);
                if (poll(&looks) == 0)
                        check_int(interval_join(&joined, &looks.interval), 0);
                if (round % 5 != 0)
                        continue;
                write_sample(&rests, &drawn, looks.boottime_ns);
                if (poll(&rests) < 0)
                        continue;
                check_joined(&joined, &rests.interval);
                interval_clear(&joined);
        }
        interval_clear(&joined);
        teardown(&looks);
        teardown(&rests);
}

int main(void)
{
        nothing_is_lost_and_nothing_counts_twice();
        screen_time_sums_to_the_time_it_was_on();
        looks_in_between_change_no_sum();
        return check_result();
}
