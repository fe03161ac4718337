/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int panel_init(struct panel *panel, const struct profile_virtual *device)
{
        if (device->n_emission == 0)
                return 0;
        panel->emission = calloc(device->n_emission, sizeof(*panel->emission));
        if (!panel->emission)
                return -ENOMEM;
        memcpy(panel->emission, device->emission, device->n_emission * sizeof(*panel->emission));
        panel->n_emission = device->n_emission;
        return 0;
}

void panel_clear(struct panel *panel)
{
        free(panel->emission);
        *panel = (struct panel){ 0 };
}

/* Linear between the levels and constant outside, like the power of the display itself. */
static double white_mw(const struct panel *panel, uint32_t brightness)
{
        const struct emission_point *point = panel->emission;
        const struct emission_point *last = point + panel->n_emission - 1;

        if (brightness <= point->brightness)
                return point->power_mw;
        while (point < last && point[1].brightness < brightness)
                point++;
        if (point == last)
                return point->power_mw;
        return point->power_mw + (point[1].power_mw - point->power_mw) * (brightness - point->brightness) /
                                         (point[1].brightness - point->brightness);
}

double panel_emission_w(const struct panel *panel, uint32_t brightness, double content)
{
        return panel->n_emission > 0 ? content * white_mw(panel, brightness) / 1e3 : 0;
}
