/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What logind does for a user at the seat who may not write to sysfs. */

#include <stdint.h>

/* -ENOSYS: built without libsystemd; -EACCES: the caller is not at the seat. */
int logind_set_brightness(const char *backlight, uint32_t brightness);

/*
 * Keeps the machine from sleeping, idling and reacting to the lid while the descriptor is open. @why is shown
 * by `systemd-inhibit`. A caller who is not at the seat gets what logind grants.
 */
int logind_inhibit(const char *why);
