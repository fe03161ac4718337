/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Calls of logind for a user at the seat who may not write to sysfs. */

#include <stdint.h>

/* -ENOSYS: built without libsystemd; -EACCES: the caller is not at the seat. */
int logind_set_brightness(const char *backlight, uint32_t brightness);

/*
 * Keeps the machine from sleeping, idling and reacting to the lid while the descriptor is open. `systemd-inhibit` shows
 * @why. For a caller who is not at the seat logind may grant only some of these.
 */
int logind_inhibit(const char *why);
