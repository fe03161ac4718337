/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The battery in a timeline: its level, when it was charged, and the sleeps. */

#include <errno.h>
#include <math.h>

#include "timeline-private.h"
#include "util/units.h"
#include "util/util.h"

#define LEVEL_STEP_PERCENT 0.25 /* smaller steps are not seen in a picture */

struct reader {
        struct timeline *timeline;
        size_t charges, levels, sleeps; /* capacities */
        struct store_poll before;
        bool begun, gap;
};

static int add_charge(void *data, const struct store_charge *charge)
{
        struct reader *reader = data;
        struct timeline *timeline = reader->timeline;
        int err = util_grow(&timeline->charges, &reader->charges, timeline->n_charges + 1, sizeof(*charge));

        if (!err)
                timeline->charges[timeline->n_charges++] = *charge;
        return err;
}

static int add_sleep(void *data, const struct store_sleep *sleep)
{
        struct reader *reader = data;
        struct timeline *timeline = reader->timeline;
        int err = util_grow(&timeline->sleeps, &reader->sleeps, timeline->n_sleeps + 1, sizeof(*sleep));

        if (!err)
                timeline->sleeps[timeline->n_sleeps++] = *sleep;
        return err;
}

static int add_level(struct reader *reader, int64_t time_ns, double percent, bool follows)
{
        struct timeline *timeline = reader->timeline;
        const struct timeline_level *last = timeline->n_levels ? &timeline->levels[timeline->n_levels - 1] : NULL;
        int err;

        if (isnan(percent) || (last && last->time_ns >= time_ns))
                return 0;
        err = util_grow(&timeline->levels, &reader->levels, timeline->n_levels + 1, sizeof(*timeline->levels));
        if (!err)
                timeline->levels[timeline->n_levels++] =
                        (struct timeline_level){ time_ns, fmin(percent, 100), follows && last };
        return err;
}

/* Both ends of a plateau, so that a line between points is not a slope where there was a step. */
static int add_poll(void *data, const struct store_poll *poll)
{
        struct reader *reader = data;
        struct timeline *timeline = reader->timeline;
        double percent = store_level_percent(&poll->battery, poll->battery.have);
        double before = store_level_percent(&reader->before.battery, reader->before.battery.have);
        bool follows = reader->begun && store_goes_on(&reader->before, poll) && !isnan(before),
             known = timeline->n_levels > 0;
        double last = known ? timeline->levels[timeline->n_levels - 1].percent : NAN;
        int err = 0;

        reader->gap = reader->gap || !follows;
        if (known && !reader->gap && fabs(percent - last) < LEVEL_STEP_PERCENT) {
                reader->before = *poll;
                return 0;
        }
        if (reader->begun)
                err = add_level(reader, reader->before.end_ns, before, known);
        if (!err)
                err = add_level(reader, poll->end_ns, percent, follows);
        reader->before = *poll;
        reader->begun = true;
        reader->gap = false;
        return err;
}

/* Between two changes of power the level is a straight line; polls say more, as long as they are kept. */
static int add_changes(struct reader *reader, int64_t until_ns)
{
        const struct timeline *timeline = reader->timeline;
        int err = 0;

        for (size_t i = 0; !err && i < timeline->n_charges; i++) {
                const struct store_charge *charge = &timeline->charges[i];

                if (charge->start_ns >= timeline->from_ns && charge->start_ns <= until_ns)
                        err = add_level(reader, charge->start_ns, charge->level_percent, true);
        }
        return err;
}

static int first_poll(void *data, const struct store_poll *poll)
{
        *(int64_t *)data = poll->start_ns;
        return 1;
}

int timeline_read_battery(struct store *store, double level_percent, struct timeline *timeline)
{
        struct reader reader = { .timeline = timeline };
        int64_t polls_ns = timeline->to_ns;
        int err = store_charges(store, INT64_MIN, timeline->to_ns, add_charge, &reader);

        if (!err)
                err = store_sleeps(store, timeline->from_ns, timeline->to_ns, add_sleep, &reader);
        if (!err && timeline->slot_s <= TIMELINE_HOUR_S)
                err = MIN(store_levels(store, timeline->from_ns, timeline->to_ns, first_poll, &polls_ns), 0);
        if (!err)
                err = add_changes(&reader, polls_ns);
        if (!err && timeline->slot_s <= TIMELINE_HOUR_S)
                err = store_levels(store, timeline->from_ns, timeline->to_ns, add_poll, &reader);
        if (!err && reader.begun)
                level_percent = store_level_percent(&reader.before.battery, reader.before.battery.have);
        return err ? err : add_level(&reader, timeline->to_ns, level_percent, true);
}
