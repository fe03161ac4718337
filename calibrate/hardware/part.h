/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A part is one component of this machine that calibration drives: it sets the state of a mode and keeps its
 * load running. One file each: charger.c cpu.c display.c gpu.c disk.c wifi.c cellular.c; machine.c calls them in
 * that order.
 */

#include "hardware.h"
#include "hold/settings.h"

struct part;

struct part_ops {
        const char *name;
        /* Adds the hardware of this component to the description. Changes no settings. */
        int (*describe)(struct part *part, struct hardware_description *description);
        /* As in struct hardware_ops. NULL: moves no data. */
        void (*limit_air)(struct part *part, enum air air, double bytes);
        /* Adds all settings that it may change. Changes nothing. */
        int (*prepare)(struct part *part, struct settings *settings);
        /*
         * Sets the state and load of @mode in place of the mode before; without a load in @mode the load
         * ends. -EOPNOTSUPP, logged: cannot be done, leave this mode out of the run. -ENOTCONN: not now, as
         * in struct hardware_ops.
         */
        int (*apply)(struct part *part, const struct mode *mode);
        /* At each look: does the load run as asked? 0; -errno, logged. May be NULL. */
        int (*check)(struct part *part);
        /* Ends the load only; settings_restore() restores the settings. Safe to repeat. */
        void (*stop)(struct part *part);
        void (*close)(struct part *part); /* stops, frees */
};

struct part { /* embedded as the first member of each part */
        const struct part_ops *ops;
};

/*
 * Constructors. -ENODEV: this machine has none, or this build cannot drive it; its coefficients are then
 * missing in the profile.
 */
int hardware_charger_open(const struct machine_hardware *machine, struct part **ret);
int hardware_cpu_open(const struct machine_hardware *machine, struct part **ret);
int hardware_display_open(const struct machine_hardware *machine, struct part **ret);
int hardware_gpu_open(const struct machine_hardware *machine, struct part **ret);
int hardware_disk_open(const struct machine_hardware *machine, struct part **ret);
int hardware_wifi_open(const struct machine_hardware *machine, struct part **ret);
int hardware_cellular_open(const struct machine_hardware *machine, struct part **ret);
