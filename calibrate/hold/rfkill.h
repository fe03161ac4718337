/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The switch of one radio. Never all of them: another one's connections are none of our business. */

#include <stdbool.h>
#include <stddef.h>

/*
 * The setting ("/sys/class/rfkill/rfkillN/soft")
 * of the radio below a WiFi interface. -ENODEV: it has no switch.
 */
int rfkill_find(int root_fd, const char *interface, char *setting, size_t size);

/* Switched off by a switch or key of the machine, which no program can undo. */
bool rfkill_hard_blocked(int root_fd, const char *setting);
