/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A part is one component of this machine that calibration drives: it brings it into the state of a
 * mode and keeps its load running. One a file: charger.c cpu.c display.c gpu.c disk.c wifi.c. machine.c
 * calls them in that order.
 */

#include "hardware.h"
#include "hold/settings.h"

struct part;

struct part_ops {
        const char *name;
        /*
         * Adds what this component offers to a calibration;
         * nothing of it stands there yet. Changes nothing.
         */
        int (*describe)(struct part *part, struct hardware_description *description);
        /* As in struct hardware_ops. NULL: it moves nothing. */
        void (*limit_wifi)(struct part *part, double bytes);
        /* Declares all settings that it may change. Changes nothing. */
        int (*prepare)(struct part *part, struct settings *settings);
        /*
         * Into the state of @mode, with its load, in place of the mode before. A mode without any load of it
         * ends the load. -EOPNOTSUPP: not this mode, and the log was told why; the night goes on without it.
         * -ENOTCONN: not now, as in struct hardware_ops.
         */
        int (*apply)(struct part *part, const struct mode *mode);
        /* At each look: whether the load still runs as asked. 0; -errno, said to the log. May be NULL. */
        int (*check)(struct part *part);
        /* Ends the load and nothing else; the settings are put back by settings_restore(). Safe to repeat. */
        void (*stop)(struct part *part);
        void (*close)(struct part *part); /* stops, frees */
};

struct part { /* embedded as the first member of each part */
        const struct part_ops *ops;
};

/*
 * Constructors. -ENODEV: this machine has none, or this build cannot drive it; then the calibration goes on
 * without, and what it lacks stays out of the profile.
 */
int part_charger_open(const struct machine_hardware *machine, struct part **ret);
int part_cpu_open(const struct machine_hardware *machine, struct part **ret);
int part_display_open(const struct machine_hardware *machine, struct part **ret);
int part_gpu_open(const struct machine_hardware *machine, struct part **ret);
int part_disk_open(const struct machine_hardware *machine, struct part **ret);
int part_wifi_open(const struct machine_hardware *machine, struct part **ret);
