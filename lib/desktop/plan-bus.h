/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Settings of the machine that a user's session may change, over the system bus. Each call waits at most two
 * seconds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_bus;

/* Returns 0; -EOPNOTSUPP: this build has no D-Bus; another negative errno: there is no bus. */
int plan_bus_open(struct plan_bus **ret);
void plan_bus_close(struct plan_bus *bus);

/* Sets the backlight @name through logind. Returns 0 or a negative errno. */
int plan_bus_set_brightness(struct plan_bus *bus, const char *name, uint32_t brightness);

/* A property of NetworkManager: WirelessEnabled or WwanEnabled. Returns 0 or a negative errno. */
int plan_bus_read_radio(struct plan_bus *bus, const char *property, bool *ret);
int plan_bus_set_radio(struct plan_bus *bus, const char *property, bool on);

/*
 * The profile of power-profiles-daemon (tuned-ppd uses the same names), or else of tuned. Returns 0 or a
 * negative errno.
 */
int plan_bus_read_power_profile(struct plan_bus *bus, char *buf, size_t size);
int plan_bus_set_power_profile(struct plan_bus *bus, const char *profile);
/* Name of the profile that saves most: power-saver, or tuned's powersave. NULL: there is no such service. */
const char *plan_bus_thrifty(struct plan_bus *bus);
