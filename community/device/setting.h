/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Settings that usage.db does not record. They are read once an hour while the device runs on battery, as
 * they may be different on external power.
 */

#include <stdbool.h>
#include <stdint.h>

#define SETTING_PROFILE_MAX 24

struct setting {
        int64_t time_ns;                    /* realtime */
        char profile[SETTING_PROFILE_MAX];  /* power profile, a word of the kernel's; "": unknown */
        int refresh_hz;                     /* nearest usual rate of the built-in screen; 0: unknown */
        int external;                       /* is an external screen connected? -1: unknown */
};

/* The nearest usual refresh rate. */
int setting_refresh_class(double hz);
void setting_read(int root_fd, int64_t time_ns, struct setting *ret);
/* Is it a word that kernels use for a power profile, an energy preference or a governor? */
bool setting_is_profile(const char *word);
