/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A virtual device: a truth (profile with [virtual]) plus the physical effects that a calibration has to cope
 * with. Time is virtual and passes only in virtual_advance().
 *
 * This header offers the same as a real device: sources to read, settings to change, work to run. The truth
 * is in virtual-truth.h, which only `joulecast simulate` may include; a test enforces that.
 */

#include "model/profile-class.h"
#include "model/profile.h"
#include "source/source.h"
#include "util/log.h"
#include "util/util.h"

struct virtual_device;

/*
 * Noise is drawn from a different stream for each purpose;
 * the device's hidden constants from its seed alone.
 */
enum virtual_stream {
        VIRTUAL_CALIBRATE,
        VIRTUAL_SIMULATE,
};

#define VIRTUAL_POLICIES_MAX 64
#define VIRTUAL_CPUS_MAX 64
#define VIRTUAL_CPU_FACTOR_MAX 100.0
#define VIRTUAL_IPC_MAX 100.0
#define VIRTUAL_MPK_MAX 1000.0
#define VIRTUAL_UNSEEN_MAX_MW 1e6
#define VIRTUAL_PACKETS_MAX_PER_S 1e4
#define VIRTUAL_PACKET_BYTES_MAX 65535 /* largest IP packet */
#define VIRTUAL_BURST_MAX 10000

/* Pattern of packets in time. */
enum virtual_pattern {
        VIRTUAL_STEADY,
        VIRTUAL_POISSON,
        VIRTUAL_BURSTS, /* burst_packets at once */
        VIRTUAL_PATTERNS
};

/* Work on the device from now on. Rates are nominal; byte rates vary on the device. */
struct virtual_work {
        char app[APP_ID_MAX];
        uint32_t policy_khz[VIRTUAL_POLICIES_MAX]; /* by index of the policy in the profile; 0: no request */
        /* by CPU, counted through the policies in order; CPU time per second, 0..1 */
        double utilisation[VIRTUAL_CPUS_MAX];
        double read_mb_per_s;
        double write_mb_per_s;
        double rx_mb_per_s;
        double tx_mb_per_s;
        double wakes_per_s;
        double gpu;               /* 0..1 */
        double cpu_factor; /* power of its CPU time relative to a calibration's load; 0: the same as 1 */
        double instructions_per_cycle;   /* while it is busy; 0: those of a calibration's load */
        double instructions_per_spin;    /* likewise, as a multiple of those; 0: not so */
        double misses_per_kinstruction;  /* cache events per 1,000 of these */
        bool reference;           /* a calibration's load, which the coefficients are of: no app's deviation */
        double unseen_mw;         /* additional power that no counter shows */
        double packets_per_s;     /* sent and received in turn, beginning now */
        uint32_t packet_bytes;    /* size of each */
        uint32_t burst_packets;
        enum virtual_pattern pattern;
        enum air radio;   /* radio for all bytes, bursts and packets */
        bool gps, audio, camera;  /* parts that it uses */
        bool foreground;
        /* identifies one of an app's pieces of work, so that its packets continue after a change */
        uint32_t number;
};

/*
 * @truth is copied. @start_percent: true charge, 0..100; the OS shows it rounded down. Returns -EINVAL without
 * [virtual].
 */
int virtual_open(const struct profile *truth, enum virtual_stream stream, uint64_t seed, double start_percent,
                 const struct log *log, struct virtual_device **ret);
void virtual_free(struct virtual_device *device);
DEFINE_CLEANUP(struct virtual_device, virtual_free)

/* Finds NAME among the shipped virtual devices, or reads FILE; "virtual:" in front is allowed. */
int virtual_load(const char *name_or_file, const struct log *log, struct profile **ret);

/*
 * Facts about the device as a machine shows them, from one sample and the range of its backlight. Returns 0;
 * -ENOMEM; or as virtual_open().
 */
int virtual_facts(const struct profile *truth, const struct log *log, struct class_facts *ret);

uint64_t virtual_now_ns(const struct virtual_device *device);   /* boottime since the device was opened */
void virtual_set_realtime(struct virtual_device *device, int64_t epoch_ns); /* realtime at boottime 0 */
/*
 * Returns 0; -ENODATA: the battery is empty; -ENOBUFS after a sentence: more packets wait for a radio's pulse
 * than there is room for; -ENOMEM, also at each call after a failed virtual_set_work(), as the device would
 * show wrong values.
 */
int virtual_advance(struct virtual_device *device, uint64_t ns);

/* The only source, which fills all of a sample. The device must outlive it. */
int virtual_source_open(struct virtual_device *device, struct source **ret);

/*
 * Settings like those of cpufreq, backlight and rfkill. They return -EINVAL for parts that the device lacks.
 */
int virtual_set_khz(struct virtual_device *device, uint32_t policy, uint32_t khz);
int virtual_set_screen(struct virtual_device *device, bool on, uint32_t brightness);
int virtual_set_wifi(struct virtual_device *device, bool on);
/*
 * Share of white in the picture, from 0 (black) to 1 (white, the initial value). Only a panel with
 * emission_mw depends on it.
 */
int virtual_set_content(struct virtual_device *device, double content);

/*
 * A charger supplies this power to the device, and the unused part charges the battery until it is full. 0:
 * no charger.
 */
int virtual_set_charger(struct virtual_device *device, double power_w);
/* Suspends to RAM: work and CLOCK_MONOTONIC stand still, and the device draws [suspend] power_mw. */
void virtual_set_suspended(struct virtual_device *device, bool suspended);
/* Sets the true charge, as if the battery had been replaced. */
int virtual_set_percent(struct virtual_device *device, double percent);
double virtual_temperature_c(const struct virtual_device *device);

/*
 * Replaces all work. Overlapping work is added up: if the sum on a core exceeds 1, all parts are reduced in
 * proportion. A policy runs at the highest requested frequency, or else at the one of virtual_set_khz(). The
 * foreground app has the screen.
 */
int virtual_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n);
