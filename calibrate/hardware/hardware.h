/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The operations of a calibration on a device: changes and readings. Implemented by the virtual device
 * (virtual.c) and by this machine (machine.c). The clock belongs to the hardware: virtual time passes only in
 * wait().
 */

#include <signal.h>

#include "model/profile.h"
#include "observation/mode.h"
#include "source/sample.h"
#include "util/log.h"

/* A frequency policy that is in a group. */
struct hardware_member {
        uint32_t policy;
        uint32_t n_cpus;
        char cpus[32];
};

/* A frequency policy, or a group of policies of one kind (group.h). */
struct hardware_policy {
        uint32_t policy;       /* a group's first */
        char cpus[64];         /* CPUs of all members */
        uint32_t n_cpus;
        uint32_t khz[64];      /* ascending */
        size_t n_khz;
        char governor[32];     /* "" unknown */
        uint32_t kind;
        struct hardware_member members[64];
        size_t n_members;      /* 0 or 1: no group */
        uint32_t sharing;      /* CPUs that share an S; 0: all of them */
};

/* The parts of the device. Missing parts are 0 or empty. */
struct hardware_description {
        char device[64];
        bool battery;               /* there is a battery to measure by */
        struct hardware_policy policies[8];
        size_t n_policies;
        uint32_t max_brightness;    /* 0: no controllable display */
        bool pictures;              /* it can show black and grey, too */
        char disks[8][64];          /* names; "": the only one, without a name */
        size_t n_disks;
        bool wifi;                  /* its radio can be switched */
        bool wifi_rx, wifi_tx;      /* there is a source to receive from, a peer to send to */
        bool wifi_packets;          /* its traffic is counted packet by packet */
        bool cellular;              /* the user asked for its modem, and its packets are counted one by one */
        bool gpu;
        bool counters;              /* cycles and instructions are counted, and ... */
        char miss_event[32];        /* ... this event of a cache; "": none is */
        enum idle_states idle_states;
        bool voltage;               /* the battery shows voltage_now */
        bool current_sensor;        /* it shows power_now or current_now */
        bool fine_level;            /* energy_now or charge_now: perhaps finer than 1 % */
        bool force_discharge;       /* it runs on the battery with the charger plugged in */
        double energy_full_mwh;     /* NaN unknown */
        double rough_mwh;           /* the same, or charge times voltage_now; for estimates; NaN unknown */
};

struct hardware;

struct hardware_ops {
        const char *name;
        int (*describe)(struct hardware *hardware, struct hardware_description *ret);
        uint64_t (*now_ns)(struct hardware *hardware);                       /* boottime */
        int64_t (*realtime_ns)(struct hardware *hardware);
        /*
         * How many bytes a radio may move from now on, both ways together; none before this call. NULL: no real
         * data is moved.
         */
        void (*limit_air)(struct hardware *hardware, enum air air, double bytes);
        /*
         * Takes the device; writes the settings that will change to the journal first. restore() gives it back.
         * NULL: nothing to do.
         */
        int (*begin)(struct hardware *hardware);
        /*
         * May the device be held now, judging by @sample? 0; -EAGAIN: not now (plugged in, in use, too hot):
         * give it back and ask again later; -ECANCELED: the calibration must end; -EIO: yes, but the mode's
         * load does not run as asked, so the measurement is worthless. @reason: a phrase. NULL: always.
         */
        int (*may_go_on)(struct hardware *hardware, const struct sample *sample, char *reason, size_t size);
        /*
         * At the end of a state: was it held all the time? 0; -EIO: somebody else changed settings, which are set
         * again, so the measurement is worthless; -EBUSY, logged: and not for the first time, so the calibration must
         * end. @reason: a phrase. NULL: always.
         */
        int (*look_back)(struct hardware *hardware, char *reason, size_t size);
        /* May end early; -EINTR: a signal; -ENODATA: battery empty. */
        int (*wait)(struct hardware *hardware, uint64_t until_ns);
        int (*read)(struct hardware *hardware, struct sample *sample);       /* through lib's sources */
        /*
         * Only the clocks and the battery, for the frequent looks while waiting for a step; NULL: read() is
         * cheap.
         */
        int (*read_battery)(struct hardware *hardware, struct sample *sample);
        /*
         * Sets pins, settings and load. -EOPNOTSUPP, logged: cannot be done, leave this mode out of the run.
         * -ENOTCONN: not now, no access point can be reached or its network is metered.
         */
        int (*apply)(struct hardware *hardware, const struct mode *mode);
        int (*restore)(struct hardware *hardware); /* undoes all changes; safe to repeat */
        void (*close)(struct hardware *hardware);
};

struct hardware { /* embedded as the first member of each implementation */
        const struct hardware_ops *ops;
};

/* The user's choices for this machine; strings outlive the hardware. */
struct machine_hardware {
        const char *journal;            /* path of restore.ini */
        const char *const *disks;       /* a folder on each storage to be measured */
        size_t n_disks;
        double write_limit_bytes;
        const char *wifi_url;           /* to receive from, or NULL */
        const char *wifi_peer;          /* HOST or HOST:PORT of an `iperf3 -s`, or NULL */
        const char *cellular_peer;      /* the same for the modem; NULL: it is left alone */
        bool allow_disconnect;          /* the radio may be switched off under a remote login */
        bool force_discharge;           /* discharge with the charger plugged in, if the firmware can */
        bool stale_supply;              /* a supply is shown as online, and is not */
        const volatile sig_atomic_t *stop; /* set by a signal: long operations give up; NULL: never */
        const struct log *log;
};

/* This machine. Changes nothing before begin(). Errors are logged. */
int hardware_machine_open(const struct machine_hardware *machine, struct hardware **ret);

struct profile;
int hardware_virtual_open(const struct profile *truth, uint64_t seed, double start_percent,
                          const struct log *log, struct hardware **ret);
/*
 * The same by name or file, as for --device. Its clock starts now, but not before @not_before_ns, the end of
 * a resumed run (virtual time runs ahead). Errors are logged.
 */
int hardware_virtual_load(const char *device, uint64_t seed, double start_percent, int64_t not_before_ns,
                          const struct log *log, struct hardware **ret);
