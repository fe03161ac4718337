/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hundreds of drawn intervals: nothing is lost, and nothing counts twice. */

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
                        uint64_t ran_ns = last ? 0 : draw(3) ? 0 : draw(i % 2 ? 300000 : S / 10), bytes = last ? 0 : draw(3000);
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
        after(&f, 10); /* all are gone, and what was carried is settled */
        check_int(poll(&f), 0);
        for (size_t i = 1; i < f.interval.n_rows; i++)
                rows_own_ns += usage_busy_ns(&f.interval.rows[i].usage);
        check_int(rows_own_ns, own_ns);
        check_int(rows_written, own_written);
        /*
         * Carried time was taken out of nobody's when it was counted; the machine's total is its and theirs.
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

int main(void)
{
        nothing_is_lost_and_nothing_counts_twice();
        screen_time_sums_to_the_time_it_was_on();
        return check_result();
}
