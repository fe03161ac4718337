/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the session manager does for the user at the seat, who may not write to sysfs. */

#include <stdint.h>

/*
 * Of a backlight by its name. -ENOSYS: built without libsystemd;
 * else what the manager says: -EACCES to strangers.
 */
int logind_set_brightness(const char *backlight, uint32_t brightness);

/*
 * Keeps the machine awake, from idling away and from what closing the lid does, while the
 * descriptor is open; @why is for people who ask `systemd-inhibit`. A stranger to the seat gets as
 * much of it as the manager grants.
 */
int logind_inhibit(const char *why);
