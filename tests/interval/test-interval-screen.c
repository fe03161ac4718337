/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The app that has the screen, and for how long: events between two samples, and processes that lived only then. */

#include "interval-fixture.h"

static void screen_time_is_split_at_its_events(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 0);
        screen(sample, "a", true, 100);
        process(sample, 10, 1, "a", 0);
        process(sample, 11, 1, "b", 0);
        poll(&f);
        sample = after(&f, 30);
        event(sample, f.boottime_ns - 20 * S, "b", true, 100);
        event(sample, f.boottime_ns - 15 * S, "b", true, 200);
        event(sample, f.boottime_ns - 12 * S, "", true, 200);
        event(sample, f.boottime_ns - 10 * S, "b", false, 0);
        screen(sample, "b", false, 0);
        process(sample, 10, 1, "a", 3 * S);
        process(sample, 11, 1, "b", 3 * S);
        check_int(poll(&f), 0);
        check_int(row(&f, "a", STATE_FOREGROUND)->usage.screen.n, 1);
        check_int(row(&f, "a", STATE_FOREGROUND)->usage.screen.list[0].on_ns, 10 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen.list[0].on_ns, 5 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen.list[1].on_ns, 3 * S);
        check_int(row(&f, "b", STATE_FOREGROUND)->usage.screen.list[1].brightness, 200);
        check_int(usage_screen_ns(&f.interval.rows[0].usage), 2 * S);
        check_int(usage_busy_ns(&row(&f, "a", STATE_FOREGROUND)->usage), 1 * S); /* a third of the time */
        check_int(usage_busy_ns(&row(&f, "a", STATE_BACKGROUND)->usage), 2 * S);
        check_int(active(&f, "a", STATE_FOREGROUND), 10 * S);
        check_int(active(&f, "a", STATE_BACKGROUND), 20 * S);
        check_int(active(&f, "b", STATE_FOREGROUND), 8 * S);
        teardown(&f);
}

/* The panel is off and a monitor lit: foreground without time of the screen. */
static void a_monitor_is_no_screen_time(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 0);
        screen(sample, "game", false, 1);
        sample->screen.monitor_on = true;
        poll(&f);
        sample = after(&f, 30);
        screen(sample, "game", false, 1);
        sample->screen.monitor_on = true;
        check_int(poll(&f), 0);
        check_int(active(&f, "game", STATE_FOREGROUND), 30 * S);
        check_int(usage_screen_ns(&row(&f, "game", STATE_FOREGROUND)->usage), 0);
        teardown(&f);
}

static void app_without_a_process_still_has_the_screen(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), "ghost", true, 1);
        poll(&f);
        screen(after(&f, 30), "ghost", true, 1);
        check_int(poll(&f), 0);
        check_int(usage_screen_ns(&row(&f, "ghost", STATE_FOREGROUND)->usage), 30 * S);
        check_int(active(&f, "ghost", STATE_FOREGROUND), 30 * S);
        check_int(active(&f, "ghost", STATE_BACKGROUND), 0);
        teardown(&f);
}

/*
 * A source that knows when processes begin and end: all that a player used while it lived is the
 * foreground's.
 */
static void a_short_life_is_not_stretched(void)
{
        struct fixture f;
        struct sample *sample;

        setup(&f);
        sample = after(&f, 30);
        screen(sample, "", false, 0);
        check_int(poll(&f), -ENODATA);
        sample = after(&f, 30);
        process(sample, 7, 1, "player", 6 * S)->began_ns = f.boottime_ns - 25 * S;
        sample->processes[0].ended_ns = f.boottime_ns - 15 * S;
        process(sample, 8, 1, "music", 2 * S)->began_ns = f.boottime_ns - 20 * S;
        process(sample, 9, 1, "newborn", 0)->began_ns = f.boottime_ns;
        screen(sample, "", false, 0);
        event(sample, f.boottime_ns - 25 * S, "player", true, 100);
        event(sample, f.boottime_ns - 15 * S, "", false, 100);
        check_int(poll(&f), 0);
        check_int(usage_busy_ns(&row(&f, "player", STATE_FOREGROUND)->usage), 6 * S);
        check(absent(&f, "player", STATE_BACKGROUND));
        check_int(active(&f, "player", STATE_FOREGROUND), 10 * S);
        check_int(active(&f, "player", STATE_BACKGROUND), 0);
        check_int(active(&f, "music", STATE_BACKGROUND), 20 * S);
        check_int(f.interval.n_rows, 3); /* a process that starts at the end of an interval has not lived in it */
        teardown(&f);
}

static void unknown_foreground_is_not_nobody(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), NULL, true, 1);
        process(&f.sample, 10, 1, "a", 0);
        poll(&f);
        screen(after(&f, 30), NULL, true, 1);
        process(&f.sample, 10, 1, "a", S);
        check_int(poll(&f), 0);
        check_int(usage_screen_ns(&f.interval.rows[0].usage), 30 * S);
        check_int(f.interval.rows[0].usage.have & USAGE_DISPLAY, USAGE_DISPLAY);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_DISPLAY, 0);
        teardown(&f);
}

int main(void)
{
        screen_time_is_split_at_its_events();
        app_without_a_process_still_has_the_screen();
        a_monitor_is_no_screen_time();
        a_short_life_is_not_stretched();
        unknown_foreground_is_not_nobody();
        return check_result();
}
