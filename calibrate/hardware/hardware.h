/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What calibration may do to a device and see of it. The virtual device
 * implements it (hardware/virtual.c), and so does this machine (hardware/machine.c):
 * sysfs, libcpupower, DRM, block and network behind the same table. Time is
 * the hardware's: the virtual clock passes only in wait().
 */

#include <signal.h>

#include "observation/mode.h"
#include "source/sample.h"
#include "util/log.h"

/* A frequency policy of its own, in a group. */
struct hardware_member {
        uint32_t policy;
        uint32_t n_cpus;
        char cpus[32];
};

/* A frequency policy, or a group of a like kind that is measured as one (group.h). */
struct hardware_policy {
        uint32_t policy;       /* of a group: the first */
        char cpus[64];         /* of all */
        uint32_t n_cpus;
        uint32_t khz[64];      /* ascending */
        size_t n_khz;
        char governor[32];     /* "" unknown */
        uint32_t kind;
        struct hardware_member members[64];
        size_t n_members;      /* 1: no group; 0: likewise, and it is not listed */
        uint32_t sharing;      /* so many CPUs keep awake what S is the price of; 0: all */
};

/* What the device offers. What it lacks is 0 or empty. */
struct hardware_description {
        char device[64];
        bool battery;               /* one of its own, to calibrate by */
        struct hardware_policy policies[8];
        size_t n_policies;
        uint32_t max_brightness;    /* 0: no controllable display */
        char disks[8][64];          /* names; "" is the only, unnamed one */
        size_t n_disks;
        bool wifi;                  /* its radio can be on and off */
        bool wifi_rx, wifi_tx;      /* there is something to receive from, and somebody to send to */
        bool gpu;
        bool voltage;               /* the battery shows voltage_now */
        bool current_sensor;        /* it shows power_now or current_now */
        bool fine_level;            /* energy_now or charge_now: worth a look for steps finer than 1 % */
        bool force_discharge;       /* it runs on the battery although the charger is plugged in */
        double energy_full_mwh;     /* NaN unknown */
        double rough_mwh;           /* the same, or charge times voltage_now; for guesses; NaN unknown */
};

struct hardware;

struct hardware_ops {
        const char *name;
        int (*describe)(struct hardware *hardware, struct hardware_description *ret);
        uint64_t (*now_ns)(struct hardware *hardware);                       /* boottime */
        int64_t (*realtime_ns)(struct hardware *hardware);
        /*
         * Over WiFi it may move so much from now on, both ways:
         * nothing before. NULL: it moves nothing real.
         */
        void (*limit_wifi)(struct hardware *hardware, double bytes);
        /*
         * Takes the device: all that will change is journalled first.
         * restore() gives it back. NULL: nothing to take.
         */
        int (*begin)(struct hardware *hardware);
        /*
         * Whether it may be held now, as @sample shows it. 0; -EAGAIN: not now (plugged in, somebody is
         * using it, too hot): give it back and ask again later; -ECANCELED: the calibration must end; -EIO:
         * it may, but the mode's load does not run as asked, and what is measured is worth nothing.
         * @reason: a phrase. NULL: always.
         */
        int (*may_go_on)(struct hardware *hardware, const struct sample *sample, char *reason, size_t size);
        /* May end early: there is news. -EINTR: a signal came; -ENODATA: battery empty */
        int (*wait)(struct hardware *hardware, uint64_t until_ns);
        int (*read)(struct hardware *hardware, struct sample *sample);       /* through lib's sources */
        /*
         * The clocks and the battery alone, for the many looks that wait for a step;
         * NULL: read() costs nothing.
         */
        int (*read_battery)(struct hardware *hardware, struct sample *sample);
        /*
         * Pins, settings and load, all of it. -EOPNOTSUPP: not this mode, said to the log; leave it out of
         * the night. -ENOTCONN: not now, no access point can be reached, or it is of a metered network.
         */
        int (*apply)(struct hardware *hardware, const struct mode *mode);
        int (*restore)(struct hardware *hardware); /* everything as it was; safe to repeat */
        void (*close)(struct hardware *hardware);
};

struct hardware { /* embedded as the first member of each implementation */
        const struct hardware_ops *ops;
};

/* What the user said about this machine; all strings outlive the hardware. */
struct machine_hardware {
        const char *journal;            /* path of restore.ini */
        const char *const *disks;       /* a folder on each storage to be measured */
        size_t n_disks;
        double write_limit_bytes;
        const char *wifi_url;           /* to receive from, or NULL */
        const char *wifi_peer;          /* HOST or HOST:PORT of an `iperf3 -s`, or NULL */
        bool allow_disconnect;          /* the radio may go off under a remote login */
        bool force_discharge;           /* on its charger, where the firmware can */
        const volatile sig_atomic_t *stop; /* set by a signal: what takes long gives up. NULL: never */
        const struct log *log;
};

/* This machine. Opens and describes, and changes nothing before begin(). Errors have said their sentence. */
int hardware_machine_open(const struct machine_hardware *machine, struct hardware **ret);

struct profile;
int hardware_virtual_open(const struct profile *truth, uint64_t seed, double start_percent,
                          const struct log *log, struct hardware **ret);
/*
 * The same by name or file, as --device says it. Its clock starts now, but not before @not_before_ns, where a
 * resumed night ended (virtual time runs ahead). Errors have said their sentence.
 */
int hardware_virtual_load(const char *device, uint64_t seed, double start_percent, int64_t not_before_ns,
                          const struct log *log, struct hardware **ret);
