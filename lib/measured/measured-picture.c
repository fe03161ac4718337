/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pictures on a trace's screen: screen time is scaled to that of the mean picture, for which the prices are. */

#include <math.h>
#include <string.h>

#include "forecast/usage-column.h"
#include "measured.h"
#include "util/util.h"

/* Bounds of a picture's power, as a multiple of the mean picture's. A black one takes power, too. */
#define LEAST 0.02
#define MOST 50

static const char *const keys[MEASURED_CHANNELS][2] = {
        { "x-red", "x-red_mean" }, { "x-green", "x-green_mean" }, { "x-blue", "x-blue_mean" },
};

static bool read_key(const struct profile *profile, const char *key, double *ret)
{
        const char *text = profile_extra(profile, "display", key);

        return text && util_parse_double(text, ret) == 0 && *ret >= 0 && *ret <= 100;
}

bool measured_colours_of(const struct profile *profile, struct measured_colours *ret)
{
        for (size_t c = 0; c < MEASURED_CHANNELS; c++)
                if (!read_key(profile, keys[c][0], &ret->part[c]) || !read_key(profile, keys[c][1], &ret->mean[c]))
                        return false;
        return true;
}

int measured_set_colours(const struct measured_colours *colours, struct profile *profile)
{
        char text[32];
        int err = 0;

        for (size_t c = 0; !err && c < MEASURED_CHANNELS; c++)
                for (size_t k = 0; !err && k < 2; k++) {
                        snprintf(text, sizeof(text), "%.4g", k ? colours->mean[c] : colours->part[c]);
                        err = profile_set_extra(profile, "display", keys[c][k], text);
                }
        return err;
}

/* 1 if the picture is unknown. */
static double measured_picture(const struct measured_colours *colours, const double light[MEASURED_CHANNELS])
{
        double sum = 1;

        for (size_t c = 0; c < MEASURED_CHANNELS; c++)
                if (isnan(light[c]))
                        return 1;
                else
                        sum += colours->part[c] * (light[c] - colours->mean[c]);
        return fmin(fmax(sum, LEAST), MOST);
}

void measured_show(struct measured_trace *trace, const struct measured_colours *colours)
{
        for (size_t i = 0; i < trace->n; i++) {
                struct measured_span *span = &trace->spans[i];
                double picture = measured_picture(colours, span->light), factor = picture / span->picture;

                span->picture = picture;
                for (size_t k = 0; k < span->n_owners; k++) {
                        struct points *screen = &span->owners[k].usage.screen;

                        for (size_t s = 0; s < screen->n; s++)
                                screen->list[s].on_ns = (uint64_t)llround(
                                        fmin((double)screen->list[s].on_ns * factor, USAGE_COLUMN_MOST));
                }
        }
}
