/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>
#include <stddef.h>

#include "hardware/hardware.h"
#include "options.h"
#include "run/run.h"
#include "util/log.h"

/* One command of joulecast-calibrate. main() fills it step by step; each step logs its errors. */

/*
 * Keeps warnings back until the calibration is sure to start: if it is refused, the user gets one sentence,
 * the refusal.
 */

struct kept_log {
        struct log behind;  /* the log behind */
        struct kept_sentence {
                enum log_level level;
                char *text;
        } *list;
        size_t n;
};

struct calibration {
        struct options options;
        struct log log;
        struct kept_log kept;
        char *profile, *observations, *usage;
        struct run run;
        char *journal;
        struct machine_hardware machine;
        const volatile sig_atomic_t *stop; /* the user asked to stop */
        bool runner;               /* is open */
        char **arguments;          /* as given, without --schedule */
        bool wrong_usage;          /* exit with 2 */
        bool watched;              /* this is the watchdog, and the calibration has ended: */
        int status;                /* its exit status */
};

/* calibration-device.c */
int calibration_find_files(struct calibration *calibration);
int calibration_open_device(struct calibration *calibration);
int calibration_make_plan(struct calibration *calibration);
/* Replaces the open one: its clock and charge go on where the run ended. */
int calibration_open_virtual(struct calibration *calibration, double start_percent, uint64_t seed,
                             int64_t not_before_ns);

/* calibration-know.c: fills the model that predicts the plan's power before it is measured. -ENOMEM. */
int calibration_know(struct calibration *calibration);

/* calibration-refuse.c */
bool calibration_changes_machine(const struct calibration *calibration);
/* Is a supply shown as online although the recordings of the last hours contradict it? */
bool calibration_supply_is_stale(const struct calibration *calibration);
int calibration_refuse_limit(const struct calibration *calibration);
/* -ENOENT: joulecast.conf names a backlight that does not exist. */
int calibration_refuse_backlight(const struct calibration *calibration);
/* -EINVAL: the battery never shows what the method measures with. */
int calibration_refuse_method(const struct calibration *calibration);
int calibration_refuse_machine(const struct calibration *calibration);
int calibration_refuse_battery(const struct calibration *calibration);
int calibration_refuse_profile(const struct calibration *calibration);
int calibration_refuse_rivals(const struct calibration *calibration);

/* calibration-run.c */
int calibration_open_run(struct calibration *calibration);
int calibration_run(struct calibration *calibration);
