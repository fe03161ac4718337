/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An access point that goes and comes back: states with WiFi wait for it, and the others go on meanwhile. */

#include "run.h"

#include <math.h>
#include <string.h>

#include "progress.h"
#include "refuse.h"
#include "util/units.h"

/*
 * Each try holds the machine for less than a minute (wifi.c) and loses the level's step, a percent of the
 * battery at most. A router that starts again takes some minutes, one that is switched off at night some
 * hours: twice as long after each try, six tries are over five hours.
 */
#define RETRY_S 600.0
#define TRIES_MAX 6

bool night_is_away(const struct night *night, size_t mode)
{
        const struct night_away *away = &night->away;

        return night->plan.modes[mode].mode.wifi_on && away->tries > 0 &&
               (away->tries >= TRIES_MAX || night->runner.look.at_ns < away->until_ns);
}

/* Until the end of this block or pass. */
static void keep(struct night *night, size_t mode)
{
        if (night->n_postponed < NIGHT_ORDER_MAX(night))
                night->postponed[night->n_postponed++] = mode;
}

void night_went_away(struct night *night, size_t mode)
{
        struct night_away *away = &night->away;
        double retry_s = RETRY_S * (double)(1U << away->tries);

        keep(night, mode);
        away->tries++;
        away->until_ns = night->runner.look.at_ns + (uint64_t)(retry_s * (double)NS_PER_S);
        progress_wifi(night->progress, night, false, away->tries < TRIES_MAX ? retry_s : INFINITY);
}

void night_was_there(struct night *night, const struct observation *observation, size_t mode)
{
        if (!night->plan.modes[mode].mode.wifi_on || refuse_is_pause(observation))
                return;
        if (refuse_is_away(observation)) {
                night_went_away(night, mode);
                return;
        }
        if (night->away.tries > 0 && !observation->rejected[0]) {
                progress_wifi(night->progress, night, true, 0);
                night->away = (struct night_away){ 0 };
        }
}

bool night_postpone(struct night *night, size_t mode)
{
        if (!night_is_away(night, mode))
                return false;
        keep(night, mode);
        return true;
}

bool night_take_postponed(struct night *night)
{
        bool again = night->n_postponed > 0 && night->away.tries < TRIES_MAX;

        if (again) {
                memcpy(night->order, night->postponed, night->n_postponed * sizeof(*night->order));
                night->n_order = night->n_postponed;
                night->at = 0;
                night->away.until_ns = 0;
        }
        night->n_postponed = 0;
        return again;
}

size_t night_last_call(struct night *night)
{
        if (night->away.tries == 0 || night->away.tries >= TRIES_MAX || night->away.called)
                return SIZE_MAX;
        night->away.called = true;
        night->away.until_ns = 0;
        for (size_t i = 0; i < night->plan.n; i++)
                if (night->plan.modes[i].role == ROLE_BLOCK && night->plan.modes[i].mode.wifi_on &&
                    night->times[i] == 0 && !night_leaves_out(night, i))
                        return i;
        return SIZE_MAX;
}
