/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timeline.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "model/model.h"
#include "suspend.h"
#include "timeline-private.h"
#include "util/units.h"
#include "util/util.h"

void timeline_free(struct timeline *timeline)
{
        if (!timeline)
                return;
        free(timeline->slots);
        free(timeline->hours);
        free(timeline->levels);
        free(timeline->charges);
        free(timeline->sleeps);
        free(timeline);
}

static uint32_t slot_for(int64_t span_ns)
{
        int64_t days = span_ns / (TIMELINE_DAY_S * (int64_t)NS_PER_S);

        return days < 2   ? TIMELINE_QUARTER_S :
               days < 15  ? TIMELINE_HOUR_S :
               days < 800 ? TIMELINE_DAY_S :
                            TIMELINE_WEEK_S;
}

static uint32_t longer(uint32_t slot_s)
{
        return slot_s == TIMELINE_QUARTER_S ? TIMELINE_HOUR_S :
               slot_s == TIMELINE_HOUR_S    ? TIMELINE_DAY_S :
                                              TIMELINE_WEEK_S;
}

/* The local midnight before @time_ns, and @days later. INT64_MIN: the C library cannot tell. */
static int64_t midnight(int64_t time_ns, int days)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S), then;
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return INT64_MIN;
        tm.tm_mday += days;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        then = mktime(&tm);
        return then == (time_t)-1 ? INT64_MIN : (int64_t)then * (int64_t)NS_PER_S;
}

/* The end of the slot that @time_ns is in. Hours are counted from midnight: 24 of them, 23 or 25. */
static int64_t slot_end(int64_t time_ns, uint32_t slot_s)
{
        int64_t day_ns, length_ns = slot_s * (int64_t)NS_PER_S;

        if (slot_s >= TIMELINE_DAY_S)
                return midnight(time_ns, (int)(slot_s / TIMELINE_DAY_S));
        day_ns = midnight(time_ns, 0);
        return day_ns == INT64_MIN ? day_ns : day_ns + ((time_ns - day_ns) / length_ns + 1) * length_ns;
}

static int make_slots(struct timeline *timeline)
{
        int64_t at_ns = timeline->from_ns;
        size_t capacity = 0;

        while (at_ns < timeline->to_ns) {
                int64_t end_ns = slot_end(at_ns, timeline->slot_s);
                int err;

                if (end_ns <= at_ns || timeline->n_slots == TIMELINE_SLOTS_MAX)
                        return -EOVERFLOW;
                err = util_grow(&timeline->slots, &capacity, timeline->n_slots + 1, sizeof(*timeline->slots));
                if (err)
                        return err;
                end_ns = MIN(end_ns, timeline->to_ns);
                timeline->slots[timeline->n_slots++] = (struct timeline_slot){ .start_ns = at_ns, .end_ns = end_ns };
                at_ns = end_ns;
        }
        return 0;
}

static int make_hours(struct timeline *timeline)
{
        int64_t at_ns = midnight(timeline->to_ns - 1, -13);
        size_t capacity = 0;

        at_ns = MAX(at_ns, timeline->from_ns);
        while (at_ns < timeline->to_ns && timeline->n_hours < TIMELINE_HOURS_MAX) {
                int err = util_grow(&timeline->hours, &capacity, timeline->n_hours + 1, sizeof(*timeline->hours));

                if (err)
                        return err;
                timeline->hours[timeline->n_hours++] = (struct timeline_hour){ .start_ns = at_ns };
                at_ns = slot_end(at_ns, TIMELINE_HOUR_S);
        }
        return 0;
}

/* The stored part of the span, at most ten years of it. */
static int find_span(struct store *store, struct timeline *timeline, double *level_percent)
{
        struct store_battery battery = { 0 };
        int err = store_battery(store, timeline->from_ns, timeline->to_ns, &battery);

        if (err)
                return err;
        if (battery.elapsed_ns == 0)
                return -ENODATA;
        timeline->from_ns = MAX(timeline->from_ns, battery.first_ns);
        timeline->to_ns = MIN(timeline->to_ns, battery.last_ns);
        *level_percent = store_level_percent(&battery.last, battery.last.have);
        if (timeline->from_ns < 0 || timeline->from_ns >= timeline->to_ns)
                return -EOVERFLOW;
        return 0;
}

int timeline_make(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns, int64_t to_ns,
                  struct timeline **ret)
{
        _cleanup_(timeline_freep) struct timeline *timeline = NULL;
        _cleanup_(profile_freep) struct profile *learnt = NULL;
        double level_percent = NAN;
        uint32_t slot_s = 0;
        int err = suspend_learn_past(profile, store, from_ns, to_ns, &learnt); /* as of a cost */

        if (err && err != -ENODATA)
                return err;
        do {
                timeline_free(timeline);
                timeline = calloc(1, sizeof(*timeline));
                if (!timeline)
                        return -ENOMEM;
                timeline->from_ns = from_ns;
                timeline->to_ns = to_ns;
                err = find_span(store, timeline, &level_percent);
                slot_s = slot_s ? longer(slot_s) : slot_for(timeline->to_ns - timeline->from_ns);
                timeline->slot_s = slot_s;
                if (!err)
                        err = make_slots(timeline);
                if (!err)
                        err = make_hours(timeline);
                if (!err)
                        err = timeline_read_energy(learnt ? learnt : profile, store, uid, from_ns, to_ns, timeline);
        } while (err == -EAGAIN && slot_s != TIMELINE_WEEK_S);
        if (!err)
                err = timeline_read_battery(store, level_percent, timeline);
        if (err)
                return err;
        *ret = TAKE_PTR(timeline);
        return 0;
}
