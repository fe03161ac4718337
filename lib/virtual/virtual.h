/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A virtual device: a truth (profile with [virtual]) plus the physics that a
 * calibration has to see through. Time is virtual: it passes only in
 * virtual_advance(). This header is what a real device offers: sources to read,
 * settings to change, work to run. The truth is behind virtual-truth.h, which
 * only `joulecast simulate` may include; a test holds that wall.
 */

#include "model/profile-class.h"
#include "model/profile.h"
#include "source/source.h"
#include "util/log.h"

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
#define VIRTUAL_UNSEEN_MAX_MW 1e6
#define VIRTUAL_PACKETS_MAX_PER_S 1e4
#define VIRTUAL_PACKET_BYTES_MAX 65535 /* of an IP packet */
#define VIRTUAL_BURST_MAX 10000

/* How packets follow one another. */
enum virtual_pattern {
        VIRTUAL_STEADY,
        VIRTUAL_POISSON,
        VIRTUAL_BURSTS, /* burst_packets at a time */
        VIRTUAL_PATTERNS
};

/* What runs on the device from now on. Rates are nominal: the device lets byte rates wander. */
struct virtual_work {
        char app[APP_ID_MAX];
        uint32_t policy_khz[VIRTUAL_POLICIES_MAX]; /* by index of the policy in the profile; 0: it asks for none */
        double utilisation[VIRTUAL_CPUS_MAX]; /* by CPU, counted through the policies in order; CPU time per second, 0..1 */
        double read_mb_per_s;
        double write_mb_per_s;
        double rx_mb_per_s;
        double tx_mb_per_s;
        double wakes_per_s;
        double gpu;               /* 0..1 */
        double cpu_factor;        /* power of its CPU time against a calibration's load; 0: as 1 */
        double unseen_mw;         /* what it draws besides, and no counter shows */
        double packets_per_s;     /* sent and received in turn, the first at once */
        uint32_t packet_bytes;    /* of each */
        uint32_t burst_packets;
        enum virtual_pattern pattern;
        enum air radio;   /* of all bytes, bursts and packets */
        bool gps, audio, camera;  /* it holds them */
        bool foreground;
        uint32_t number;          /* tells several pieces of work of one app apart, whose packets go on after a change */
};

/* @truth is copied. @start_percent 0..100 true charge; the OS shows it floored. -EINVAL without [virtual]. */
int virtual_open(const struct profile *truth, enum virtual_stream stream, uint64_t seed, double start_percent,
                 const struct log *log, struct virtual_device **ret);
void virtual_free(struct virtual_device *device);
void virtual_freep(struct virtual_device **device);

/* Finds NAME among the shipped virtual devices, or FILE; "virtual:" in front is allowed. */
int virtual_load(const char *name_or_file, const struct log *log, struct profile **ret);

/* What it shows of itself, as a machine does: from one sample, and the range of its backlight. 0; -ENOMEM; as virtual_open(). */
int virtual_facts(const struct profile *truth, const struct log *log, struct class_facts *ret);

uint64_t virtual_now_ns(const struct virtual_device *device);   /* boottime since it was opened */
void virtual_set_realtime(struct virtual_device *device, int64_t epoch_ns); /* realtime at boottime 0 */
/*
 * 0; -ENODATA: the battery is empty. -ENOBUFS, as it says: more packets wait for a pulse of a radio than fit; -ENOMEM, also
 * of virtual_set_work(): from then on, as what it would show is wrong.
 */
int virtual_advance(struct virtual_device *device, uint64_t ns);

/* The one source that fills all of a sample. The device must outlive it. */
int virtual_source_open(struct virtual_device *device, struct source **ret);

/* Settings, as cpufreq, backlight and rfkill offer them. -EINVAL for what the device lacks. */
int virtual_set_khz(struct virtual_device *device, uint32_t policy, uint32_t khz);
int virtual_set_screen(struct virtual_device *device, bool on, uint32_t brightness);
int virtual_set_wifi(struct virtual_device *device, bool on);
/* Share of white that the picture emits: 0 black .. 1 white, as at the start. Only a panel with emission_mw cares. */
int virtual_set_content(struct virtual_device *device, double content);

/*
 * A charger feeds so much into the device,
 * and what this does not use into the battery, until that is full. 0: none.
 */
int virtual_set_charger(struct virtual_device *device, double power_w);
/* As if in RAM: its work stands still, CLOCK_MONOTONIC with it, and all of it draws [suspend] power_mw. */
void virtual_set_suspended(struct virtual_device *device, bool suspended);
/* The true charge, as if the battery had been changed. */
int virtual_set_percent(struct virtual_device *device, double percent);
double virtual_temperature_c(const struct virtual_device *device);

/*
 * Replaces all that runs. Overlapping work adds up: per core the sum is capped at 1 and cut in
 * proportion; a policy runs at the highest frequency asked, else at what virtual_set_khz() said. The
 * foreground app has the screen.
 */
int virtual_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n);
