/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A panel that emits light takes more power for a whiter picture; one with a backlight does not. */

#include "model/profile.h"

struct panel {
        struct emission_point *emission; /* ascending */
        size_t n_emission;               /* 0: it has a backlight */
};

int panel_init(struct panel *panel, const struct profile_virtual *device); /* 0; -ENOMEM */
void panel_clear(struct panel *panel);
/* Additional power of the picture compared with a black one. @content: share of white, 0..1. */
double panel_emission_w(const struct panel *panel, uint32_t brightness, double content);
