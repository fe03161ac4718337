/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Processes that must not be frozen: they play or record sound, use a camera, or keep the device awake. */

#include <stdbool.h>

#include "app/app-units.h"
#include "pipewire.h"

struct limit_busy {
        bool somebody; /* an unknown process plays */
        pid_t *pids;
        size_t n, capacity;
};

/* @sound: players reported by PipeWire. Returns 0 or -ENOMEM. */
int limit_busy_read(int root_fd, const struct pipewire_sound *sound, struct limit_busy *ret);
void limit_busy_clear(struct limit_busy *busy);
/* Is one of these processes in the unit, or has a process of the unit a camera open? */
bool limit_busy_unit(int root_fd, const struct limit_busy *busy, const struct app_units *units, const char *unit);
