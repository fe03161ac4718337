/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Settings that usage.db does not record, read once an hour while the device runs on its battery: what they are when it is
 * plugged in may be something else.
 */

#include <stdbool.h>
#include <stdint.h>

#define SETTING_PROFILE_MAX 24

struct setting {
        int64_t time_ns;                    /* realtime */
        char profile[SETTING_PROFILE_MAX];  /* of power: a word of the kernel's; "" unknown */
        int refresh_hz;                     /* of the built-in screen, the nearest usual one; 0: unknown */
        int external;                       /* is another screen than the built-in one connected? -1: unknown */
};

/* The usual refresh rate that is nearest. */
int setting_refresh_class(double hz);
void setting_read(int root_fd, int64_t time_ns, struct setting *ret);
/* Is it a word that kernels use for a power profile, an energy preference or a governor? */
bool setting_is_profile(const char *word);
