/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Screen events between two polls, late or not, and the screen time that each app gets from them. */

#include <stdlib.h>

#include "check.h"
#include "focus/screen-log.h"
#include "focus/uevent.h"
#include "interval/interval.h"
#include "util/units.h"
#include "util/util.h"

#define NOW (UINT64_C(1000) * NS_PER_S)

/*
 * A change of focus is reported after its settle time:
 * it is sorted into the events that were noted meanwhile.
 */
static void late_changes(void)
{
        struct screen_log log = { 0 };
        struct sample sample = { .boottime_ns = 1000 };

        screen_log_screen(&log, 0, true, true, 100);
        screen_log_foreground(&log, 0, true, "one");
        screen_log_drain(&log, &sample);
        check_text(sample.screen.app, "one");
        sample_reset(&sample);
        screen_log_screen(&log, 1500, true, true, 50);
        screen_log_foreground(&log, 1400, true, "two");
        screen_log_locked(&log, 1600, true);
        screen_log_foreground(&log, 1600, true, "two");
        screen_log_locked(&log, 1700, false);
        screen_log_screen(&log, 1800, true, false, 0);
        sample.boottime_ns = 2000;
        check_int(screen_log_drain(&log, &sample), 0);
        check_int(sample.n_events, 5);
        check_int(sample.events[0].boottime_ns, 1400);
        check_int(sample.events[0].brightness, 100);
        check_text(sample.events[0].app, "two");
        check_int(sample.events[1].boottime_ns, 1500);
        check_int(sample.events[1].brightness, 50);
        check_text(sample.events[1].app, "two");
        check_text(sample.events[2].app, ""); /* locked */
        check(sample.events[2].foreground_known);
        check_text(sample.events[3].app, "two");
        check_text(sample.events[4].app, ""); /* off */
        check(sample.events[4].foreground_known && !sample.screen.screen_on);
        for (int i = 0; i < 3000; i++)
                screen_log_foreground(&log, 3000 + (uint64_t)i, true, i & 1 ? "a" : "b");
        check(log.n <= SCREEN_CHANGES_MAX);
        check_text(screen_log_now(&log)->app, "a");
        screen_log_clear(&log);
        sample_clear(&sample);
}

/* Panel off, monitor lit: the app keeps the foreground. */
static void a_monitor_keeps_the_foreground(void)
{
        struct screen_log log = { 0 };
        struct sample sample = { .boottime_ns = 1000 };

        screen_log_screen(&log, 0, true, false, 100);
        screen_log_monitor(&log, 0, true);
        screen_log_foreground(&log, 0, true, "one");
        screen_log_drain(&log, &sample);
        check_text(sample.screen.app, "one");
        check(!sample.screen.screen_on && sample.screen.monitor_on);
        sample_reset(&sample);
        screen_log_monitor(&log, 1500, false);
        sample.boottime_ns = 2000;
        screen_log_drain(&log, &sample);
        check_text(sample.screen.app, "");
        check(sample.screen.foreground_known);
        screen_log_clear(&log);
        sample_clear(&sample);
}

/*
 * Random changes of focus, brightness and lock inside a poll: times of apps and of no app sum to the screen-on time
 * exactly.
 */
static void screen_time_is_split_exactly(void)
{
        static const char *const apps[] = { "", "one", "two", "three" };
        struct interval_maker *maker = NULL;
        struct interval interval = { 0 };
        struct sample sample = { 0 };
        struct screen_log log = { 0 };
        uint64_t now = NOW;

        srandom(5);
        check_int(interval_maker_new(&maker), 0);
        for (int poll = 0; poll < 200; poll++) {
                uint64_t began = now, on_ns = 0, at = began, shared_ns = 0;
                bool on = screen_log_now(&log)->screen_known && screen_log_now(&log)->screen_on;

                now += (uint64_t)(1 + random() % 30000) * NS_PER_MS;
                for (long n = random() % 12; n > 0; n--) {
                        uint64_t next = at + (uint64_t)random() % (now - at + 1);

                        if (random() % 3 == 0) {
                                bool was = on;

                                on_ns += was ? next - at : 0;
                                on = random() % 4 != 0;
                                screen_log_screen(&log, next, true, on, (uint32_t)(random() % 200));
                        } else {
                                on_ns += on ? next - at : 0;
                                if (random() % 4 == 0)
                                        screen_log_locked(&log, next, random() % 2);
                                else
                                        screen_log_foreground(&log, next, random() % 8 != 0,
                                                              apps[random() % 4]);
                        }
                        at = next;
                }
                on_ns += on ? now - at : 0;
                sample_reset(&sample);
                sample.boottime_ns = sample.monotonic_ns = now;
                sample.realtime_ns = (int64_t)now;
                strcpy(sample.boot_id, "b");
                screen_log_drain(&log, &sample);
                if (poll == 0)
                        screen_log_screen(&log, now, true, true, 7);
                if (interval_make(maker, &sample, &interval) == 0 && poll > 1) {
                        for (size_t i = 0; i < interval.n_rows; i++)
                                shared_ns += usage_screen_ns(&interval.rows[i].usage);
                        check_int(shared_ns, on_ns);
                }
        }
        interval_maker_free(maker);
        interval_clear(&interval);
        sample_clear(&sample);
        screen_log_clear(&log);
}

static void uevents(void)
{
        static const char kernel[] =
                "change@/devices/x/backlight/panel\0ACTION=change\0SUBSYSTEM=backlight\0SOURCE=hotkey";
        static const char other[] = "change@/devices/x\0ACTION=change\0SUBSYSTEM=power_supply\0X=SUBSYSTEM=drm";
        unsigned char udev[80] = "libudev";
        uint32_t offset = 40;

        check(uevent_is_screen(kernel, sizeof(kernel)));
        check(!uevent_is_screen(other, sizeof(other)));
        check(!uevent_is_screen("", 0));
        memcpy(udev + 16, &offset, 4);
        memcpy(udev + 40, "SUBSYSTEM=drm", 14);
        check(uevent_is_screen((const char *)udev, sizeof(udev)));
        offset = UINT32_MAX;
        memcpy(udev + 16, &offset, 4);
        check(!uevent_is_screen((const char *)udev, sizeof(udev)));
}

int main(void)
{
        late_changes();
        a_monitor_keeps_the_foreground();
        screen_time_is_split_exactly();
        uevents();
        return check_result();
}
