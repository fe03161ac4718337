/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The phone's firmware (phone.asl) reads battery, charger and temperature from words in the memory of QEMU's
 * pc-testdev, and writes the backlight there.
 * P-states are bytes at I/O ports.
 */

#include <stdbool.h>

#include "qtest.h"
#include "vcpu.h"
#include "world.h"

enum reg {
        REG_MAGIC,      /* MAGC: the rest is set */
        REG_ONLINE,     /* ACON: the charger */
        REG_STATE,      /* BSTA: 1 discharging, 2 charging, 0 neither */
        REG_RATE,       /* BRAT: mW or mA */
        REG_REMAINING,  /* BREM: mWh or mAh */
        REG_VOLTAGE,    /* BVOL: mV */
        REG_DESIGN,     /* BDES: mWh or mAh */
        REG_FULL,       /* BFUL: mWh or mAh */
        REG_BACKLIGHT,  /* BLVL: percent; written by the phone */
        REG_LIMIT,      /* PPCL: index of the fastest P-state allowed */
        REG_EVENTS,     /* EVNT: REGISTER_EVENT_*, taken by the firmware at the next interrupt */
        REG_PRESENT,    /* BPRS: a battery is in */
        REG_READS,      /* NBST: number of reads of the battery */
        REG_LEVELS,     /* NBCM */
        REG_INTERRUPTS, /* NEVT */
        REG_TEMPERATURE,/* TEMP: tenths of a kelvin */
        REG_UNIT,       /* BUNT: 0 mWh, 1 mAh */
        REG_SLEEP,      /* SLEP: the ACPI S state that the phone enters, 0 when it is back; written by the phone */
        REG_COUNT
};

#define EVENT_BATTERY 0x1
#define EVENT_BATTERY_INFO 0x2
#define EVENT_CHARGER 0x4
#define EVENT_LIMIT 0x8
#define EVENT_BRIGHTER 0x10
#define EVENT_DARKER 0x20

#define REG_UNKNOWN 0xffffffff /* ACPI's value for unknown; Linux shows ENODEV */

/* Simulated fault of the gauge. */
enum gauge_fault { GAUGE_WORKS, GAUGE_STUCK, GAUGE_MISSING, GAUGE_ZERO };

struct registers {
        struct qtest *qtest;
        uint32_t written[REG_COUNT];
        uint32_t known;                 /* bit mask of the registers in `written` that are valid */
        uint32_t forced[REG_COUNT];     /* set by the harness, in place of the world's values */
        uint32_t is_forced;
        bool charge;                    /* the gauge counts mAh */
        enum gauge_fault fault;
        uint32_t percent;               /* at the last event */
        uint32_t events;                /* to be reported at the next write */
        uint64_t pending;               /* events that the firmware has not taken */
        uint64_t rate_uw; /* power from which `rate` was made */
        uint32_t rate;
};

/* Requests of the phone, read at one moment. */
struct phone_look {
        uint64_t p_state[VCPU_MAX];     /* 100 MHz; 0: not yet set */
        uint64_t backlight;
        uint64_t sleep;                 /* S state */
        uint64_t vga;                   /* index of the attribute controller: bit 5 lets the picture through */
};

/* The name of a register in phone.asl, or -EINVAL. */
int register_find(const char *name);

/*
 * Powered on: unless the phone is running already, everything is set as a phone finds it. @charge: the gauge
 * counts mAh, which needs a device with a voltage curve. 0; -errno.
 */
int registers_open(struct registers *registers, struct qtest *qtest, const struct world *world, bool charge);
int registers_look(struct registers *registers, size_t n_cpus, struct phone_look *ret);
/* Writes registers that changed, and raises the interrupt if there are events. */
int registers_show(struct registers *registers, const struct world *world);
