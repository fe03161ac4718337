/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "focus/screen-log.h"
#include "fuzz.h"

/* One event: three bytes and the app, which ends with a NUL. */
struct told {
        uint8_t what, time, value;
};

static void check_now(const struct screen_log *log, const struct screen_inputs *want)
{
        const struct screen_inputs *now = screen_log_now(log);

        fuzz_assert(log->n <= SCREEN_CHANGES_MAX && now->foreground_known == want->foreground_known);
        fuzz_assert(!want->foreground_known || strcmp(now->app, want->app) == 0);
        fuzz_assert(now->screen_known == want->screen_known && now->locked == want->locked);
        fuzz_assert(!want->screen_known ||
                    (now->screen_on == want->screen_on && now->brightness == want->brightness));
}

static void drain(struct screen_log *log, struct sample *sample)
{
        sample_reset(sample);
        fuzz_assert(screen_log_drain(log, sample) == 0 && log->n == 0);
        for (size_t i = 0; i < sample->n_events; i++) {
                const struct screen_event *event = &sample->events[i];

                fuzz_assert(i == 0 || sample->events[i - 1].boottime_ns <= event->boottime_ns);
                fuzz_assert(!*event->app ||
                            (event->foreground_known && (!event->screen_known || event->screen_on)));
        }
}

static void tell(struct screen_log *log, const struct told *told, const char *app, struct screen_inputs *want)
{
        uint64_t at_ns = told->time == 255 ? UINT64_MAX : told->time;

        switch (told->what % 3) {
        case 0:
                want->foreground_known = told->value & 1;
                snprintf(want->app, sizeof(want->app), "%.*s", (int)sizeof(want->app) - 1, app);
                fuzz_assert(screen_log_foreground(log, at_ns, want->foreground_known, app) == 0);
                break;
        case 1:
                want->screen_known = told->value & 1;
                want->screen_on = told->value & 2;
                want->brightness = told->value;
                fuzz_assert(screen_log_screen(log, at_ns, want->screen_known, want->screen_on,
                                              want->brightness) == 0);
                break;
        default:
                want->locked = told->value & 1;
                fuzz_assert(screen_log_locked(log, at_ns, want->locked) == 0);
                break;
        }
}

#define TOLD_MAX 128 /* each change may move all before it; more of them tell nothing new, as a full list does */

/* Fills the list with changes of one time; later ones overwrite the last. */
static void fill(struct screen_log *log, struct screen_inputs *want)
{
        for (unsigned i = 0; log->n < SCREEN_CHANGES_MAX; i++) {
                want->screen_known = true;
                want->screen_on = true;
                want->brightness = i;
                fuzz_assert(screen_log_screen(log, 255, true, true, i) == 0);
        }
}

/*
 * Changes of the screen in any order and of any time: the last change of each kind holds. A first byte of 254 makes the
 * list full from the beginning.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct screen_log log = { 0 };
        struct sample sample = { 0 };
        struct screen_inputs want = { 0 };

        if (size > 0 && data[0] == 254)
                fill(&log, &want);
        for (unsigned n = 0; n < TOLD_MAX && size > sizeof(struct told); n++) {
                struct told told;
                char app[256];
                size_t length;

                memcpy(&told, data, sizeof(told));
                data += sizeof(told);
                size -= sizeof(told);
                length = strnlen((const char *)data, size < sizeof(app) ? size : sizeof(app) - 1);
                memcpy(app, data, length);
                app[length] = '\0';
                data += length;
                size -= length;
                if (told.what == 255)
                        drain(&log, &sample);
                else
                        tell(&log, &told, app, &want);
                check_now(&log, &want);
        }
        drain(&log, &sample);
        check_now(&log, &want);
        screen_log_clear(&log);
        sample_clear(&sample);
        return 0;
}
