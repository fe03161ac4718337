/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What calibration may do to a device and see of it. The virtual device
 * implements it now (hardware-virtual.c); sysfs, libcpupower, DRM, block and
 * network do later, behind the same table. Time is the hardware's: the virtual
 * clock passes only in wait().
 */

#include "log.h"
#include "mode.h"
#include "sample.h"

struct hardware_policy {
        uint32_t policy;
        char cpus[64];
        uint32_t n_cpus;
        uint32_t khz[64];      /* ascending */
        size_t n_khz;
        char governor[32];     /* "" unknown */
};

/* What the device offers. What it lacks is 0 or empty. */
struct hardware_description {
        char device[64];
        struct hardware_policy policies[8];
        size_t n_policies;
        uint32_t max_brightness;    /* 0: no controllable display */
        char disks[8][64];          /* names; "" is the only, unnamed one */
        size_t n_disks;
        bool wifi;
        bool gpu;
        bool voltage;               /* the battery shows voltage_now */
        bool current_sensor;        /* it shows power_now or current_now */
        bool fine_level;            /* energy_now or charge_now: worth a look for steps finer than 1 % */
        double energy_full_mwh;     /* NaN unknown */
        double rough_mwh;           /* the same, or charge times the voltage of now; for guesses only; NaN unknown */
};

struct hardware;

struct hardware_ops {
        const char *name;
        int (*describe)(struct hardware *hardware, struct hardware_description *ret);
        uint64_t (*now_ns)(struct hardware *hardware);                       /* boottime */
        int64_t (*realtime_ns)(struct hardware *hardware);
        int (*wait)(struct hardware *hardware, uint64_t until_ns);           /* -EINTR: asked to stop; -ENODATA: battery empty */
        int (*read)(struct hardware *hardware, struct sample *sample);       /* through lib's sources */
        int (*apply)(struct hardware *hardware, const struct mode *mode);    /* pins, settings and load, all of it */
        int (*restore)(struct hardware *hardware);                           /* everything as it was; safe to repeat */
        void (*close)(struct hardware *hardware);
};

struct hardware { /* embedded as the first member of each implementation */
        const struct hardware_ops *ops;
};

struct profile;
int hardware_virtual_open(const struct profile *truth, uint64_t seed, double start_percent, const struct log *log,
                          struct hardware **ret);
/*
 * The same by name or file, as --device says it. Its clock starts now, but not before @not_before_ns, where a resumed
 * night ended (virtual time runs ahead). Errors have said their sentence.
 */
int hardware_virtual_load(const char *device, uint64_t seed, double start_percent, int64_t not_before_ns,
                          const struct log *log, struct hardware **ret);
