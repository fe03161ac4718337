/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Some ports say that they supply the device after they were unplugged. Then the level falls as fast as the
 * model expects without a charger; beside a weak charger it falls clearly slower.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "charging.h"
#include "source/battery.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* The last polls on external power without a gap. */
struct stretch {
        struct level {
                int64_t end_ns;
                double percent;
        } *levels;
        size_t n, capacity;
        double full_mwh; /* NaN: not shown */
};

static int add_level(void *data, const struct store_poll *poll)
{
        struct stretch *stretch = data;
        double percent = battery_fine_percent(&poll->battery);
        bool fed = poll->battery.status == BATTERY_NOT_CHARGING || poll->battery.status == BATTERY_FULL;

        if (stretch->n > 0 && poll->start_ns > stretch->levels[stretch->n - 1].end_ns + (int64_t)NS_PER_S)
                stretch->n = 0;
        if (!fed || poll->suspend_ns > 0 || isnan(percent)) {
                stretch->n = 0;
                return 0;
        }
        if (util_grow(&stretch->levels, &stretch->capacity, stretch->n + 1, sizeof(*stretch->levels)) < 0)
                return -ENOMEM;
        stretch->levels[stretch->n++] = (struct level){ poll->end_ns, percent };
        stretch->full_mwh = battery_full_mwh(&poll->battery);
        return 0;
}

/* The latest level since which enough time has passed, and enough of the charge is gone; NULL: none. */
static const struct level *find_first(const struct stretch *stretch)
{
        const struct level *last = &stretch->levels[stretch->n - 1];

        for (size_t i = stretch->n; i-- > 0;)
                if (last->end_ns - stretch->levels[i].end_ns >= (int64_t)(TUNING_STALE_S * 1e9) &&
                    stretch->levels[i].percent - last->percent >= TUNING_STALE_PERCENT)
                        return &stretch->levels[i];
        return NULL;
}

static int judge(struct store *store, const struct profile *profile, const struct stretch *stretch)
{
        const struct level *first = find_first(stretch), *last = &stretch->levels[stretch->n - 1];
        double full_mwh = isnan(stretch->full_mwh) ? profile->energy_full_mwh : stretch->full_mwh, ratio;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err;

        if (!first)
                return 0;
        err = cost_make(profile, store, first->end_ns, last->end_ns, &cost);
        if (err)
                return err == -ENODATA ? 0 : err;
        ratio = (first->percent - last->percent) * J_PER_PERCENT(full_mwh) / cost->total_j.value;
        return ratio >= 1 / TUNING_STALE_RATIO && ratio <= TUNING_STALE_RATIO;
}

static int is_stale(struct store *store, const struct profile *profile, int64_t now_ns)
{
        struct stretch stretch = { .n = 0 };
        int err = store_levels(store, now_ns - (int64_t)(TUNING_STALE_MOST_S * 1e9), now_ns, add_level, &stretch);

        if (!err && stretch.n > 0 &&
            stretch.levels[stretch.n - 1].end_ns >= now_ns - (int64_t)(TUNING_STALE_GAP_S * 1e9))
                err = judge(store, profile, &stretch);
        free(stretch.levels);
        return err;
}

int charging_correct(struct store *store, const struct profile *profile, int64_t now_ns, struct battery *battery)
{
        int stale = charging_is_doubtful(battery) ? is_stale(store, profile, now_ns) : 0;

        if (stale > 0)
                battery->status = BATTERY_DISCHARGING;
        return stale;
}
