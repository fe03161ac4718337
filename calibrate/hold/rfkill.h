/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The rfkill switch of one radio; others are not touched. */

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the setting ("/sys/class/rfkill/rfkillN/soft") of a WiFi interface's radio. -ENODEV: it has no
 * switch.
 */
int rfkill_find(int root_fd, const char *interface, char *setting, size_t size);

/* Blocked by a hardware switch, which no program can undo. */
bool rfkill_hard_blocked(int root_fd, const char *setting);
