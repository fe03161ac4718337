/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "whatif-private.h"

#define FOR_EVER_S 1e9 /* use stays as it is */

static int set_rate(const struct future *future, struct rate *rate)
{
        const struct actor *actor = &future->actors[0];
        const struct rate *parts[] = { &actor->own, &actor->background, &future->base };
        int err = 0;

        model_vector_clear(&rate->vector);
        rate->power_w = rate->session_sd_w = 0;
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && err == 0; i++) {
                rate->power_w += parts[i]->power_w;
                err = model_vector_add_scaled(&rate->vector, &parts[i]->vector, 1);
        }
        return err;
}

/*
 * The shares of closed apps are those of mixed use, as the background goes on. The variance is that of the app's
 * own rate and of its background over @seconds; as an error of the mean power, it is the same for all the time.
 */
int whatif_make_app(const struct history *history, struct future *future, double seconds)
{
        const struct actor *actor = &future->actors[0];
        struct mixed *mixed = &future->mixed;
        double over_s = seconds > 0 && seconds < FOR_EVER_S ? seconds : 3600;
        int err = mixed_make(history, mixed);

        if (err == 0)
                err = set_rate(future, &mixed->now);
        if (err == 0)
                err = set_rate(future, &mixed->usual);
        for (size_t hour = 0; hour < 24; hour++)
                mixed->hours[hour] = 1;
        mixed->stays_s = FOR_EVER_S;
        mixed->use_s = INFINITY;
        mixed->spread_w = hypot(rate_sd_j(&actor->own, over_s), rate_sd_j(&actor->background, over_s)) / over_s;
        return err;
}
