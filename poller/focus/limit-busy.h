/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Who must not be frozen: who plays or records, films, or keeps the device awake. */

#include <stdbool.h>

#include "app/app-units.h"
#include "pipewire.h"

struct limit_busy {
        bool somebody; /* plays, and nobody knows who */
        pid_t *pids;
        size_t n, capacity;
};

/* @sound: as PipeWire tells. 0; -ENOMEM. */
int limit_busy_read(int root_fd, const struct pipewire_sound *sound, struct limit_busy *ret);
void limit_busy_clear(struct limit_busy *busy);
/* Is a process of the unit @at one of them, or has it a camera open? */
bool limit_busy_unit(int root_fd, const struct limit_busy *busy, const struct app_units *units, const char *unit);
