/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Parameters that neither a kernel document nor the user decides. Each with unit, reason and how it was found. */

/*
 * Power of background daemons that no counter shows, where the profile has no x-background_* keys in [base]: mW of
 * standard deviation and s of correlation time. Of a log-normal power of mean 12 mW and rare spikes, as in
 * data/virtual/nexus-7.ini.
 */
#define TUNING_BACKGROUND_SD_MW 14.0
#define TUNING_BACKGROUND_TAU_S 300.0

/*
 * What apps draw against what is counted of them, where nothing was learnt yet (`joulecast learn`): standard deviations
 * that hold in the worlds of docs/accuracy.md that do not share the model's form. Kinds of work cost 0.7 to 1.4 times the
 * calibration's; a picture emits 0.4 to 1 of white; a modem, a camera, GPS draw 400 mW in half of the apps and are
 * behind others a fifth of that; a byte over the air costs 0.5 to 3 times as much by the hour. Half of the variance is
 * common to all apps of a device.
 */
#define TUNING_MISFIT_CPU_PERCENT 20.0
#define TUNING_MISFIT_DISPLAY_PERCENT 25.0
/* Where the calibration showed a black picture, too: of an LCD, and for each part of its power that a picture makes. */
#define TUNING_MISFIT_LCD_PERCENT 4.0
#define TUNING_MISFIT_CONTENT 0.35
#define TUNING_MISFIT_RADIO_PERCENT 50.0
#define TUNING_MISFIT_AUTOMATON_PERCENT 4.0
/* Of a radio's powers whose errors nobody gave: numbers of another device. A guess. */
#define TUNING_RADIO_ERROR 0.2
#define TUNING_MISFIT_FRONT_MW 210.0
#define TUNING_MISFIT_BEHIND_MW 45.0
#define TUNING_MISFIT_COMMON 0.5

/* CLOCK_BOOTTIME and CLOCK_MONOTONIC are read one after the other; a smaller difference is no suspend, ns. */
#define TUNING_SUSPEND_NS UINT64_C(10000000)

/*
 * CLOCK_REALTIME against CLOCK_BOOTTIME, ns: from which difference on the clock was set (both are slewed alike, and a
 * time server that is asked all the time corrects less), from which one on the log says so, and for how long a clock
 * has to stay as it was set until nothing is dated anew any more (lib/store/store-clock.c).
 */
#define TUNING_CLOCK_SET_NS INT64_C(1000000000)
#define TUNING_CLOCK_TOLD_NS INT64_C(60000000000)
#define TUNING_CLOCK_DOUBT_NS UINT64_C(3600000000000)

/* What a power cut may take where joulecast.conf does not say it, ns. */
#define TUNING_SYNC_NS UINT64_C(300000000000)

/*
 * Suspends from this length on are kept: below it the seconds awake around them and the gauge's step matter too
 * much. They are kept for a few months, since a battery and what wakes a device change.
 */
#define TUNING_SLEEP_NS UINT64_C(1800000000000)
#define TUNING_SLEEP_DAYS 180
/* Number of suspends from which their spread is known. */
#define TUNING_SLEEPS 3

/*
 * Bytes that processes wrote and that did not reach storage yet wait in the page cache. So many are remembered, so
 * that they are not attributed again when they are written. About the dirty limit of a phone.
 */
#define TUNING_WRITE_DEBT_BYTES (UINT64_C(256) << 20)

/*
 * Forecasts (lib/forecast/history.c, lib/forecast/forecast.c). Blocks are long against the memory of noise in byte
 * rates (2 min) and short against a session. Polls older than some hours tell little that their hours do not, and
 * cost a hundred times as much to read: with these three, 300 busy processes are read in a tenth of a second.
 */
#define TUNING_BLOCK_S 300.0
#define TUNING_RAW_HOURS 4
#define TUNING_HOUR_DAYS 7

/* Days before that. An app that was not seen in them is looked for in all. A year takes five times as long to read. */
#define TUNING_DAY_DAYS 60
#define TUNING_SESSION_GAP_S 600.0

/*
 * Recent sessions of an app weigh more: so many sessions ago counts half, a session being five minutes of use (or all
 * of a shorter one, by its part).
 */
#define TUNING_SESSION_HALF 1.5
#define TUNING_SESSION_S 300.0

/*
 * What the battery gave is compared with the model over spans of so many percent or more, from step to step of its
 * level.
 */
#define TUNING_SPAN_PERCENT 0.8
/*
 * Of such a span: how late a step of the level is seen (a poll, and the gauge's refresh), s; and how much larger some
 * percents of a gauge are than others, in parts, alike over so much of the charge (docs/physics.md, "What the gauge
 * shows").
 */
#define TUNING_STEP_S 15.0
#define TUNING_GAUGE_CURVE_SD 0.012
#define TUNING_GAUGE_CURVE_LENGTH 0.1
/* Over so many of its sessions an app's factor forgets what it was. */
#define TUNING_DRAIN_SESSIONS 2.0

/*
 * How much an app's power differs from block to block, in parts of its mean, before anything is known of it.
 * Until sessions have shown how they differ, their variance is taken to be this share of that of the blocks
 * within them, but at least the square of the session's part. Each is worth so many degrees of freedom beside
 * what the history says. Found on development seeds of tests/budget (docs/budget.md): between owners whose
 * sessions are all alike and owners who play now this, now that.
 */
#define TUNING_SESSION_SHARE 0.75
#define TUNING_BLOCK_SD 0.03
#define TUNING_SESSION_SD 0.01
#define TUNING_PRIOR_DOF 2.0
/* The brightness stays as it is now; the probability that it goes back up to that of the history instead. */
#define TUNING_BRIGHTNESS_BACK 0.10

/* Seconds of the overall mean that are added to the background of a state of the device that was hardly seen. */
#define TUNING_BACKGROUND_PRIOR_S 600.0

/*
 * What a shown percent says of the charge that is left, in percent of a full battery: gauges bend by a
 * percent or two (the nonlinearity of a virtual device, integrated); and of the energy in it, in parts, where
 * the battery shows its voltage, and where it does not.
 */
#define TUNING_CHARGE_SD_PERCENT 0.3
#define TUNING_VOLTAGE_SD 0.015
#define TUNING_NO_VOLTAGE_SD 0.04

/*
 * How far a pack's voltage falls under load, in parts, at a drain that would empty it in an hour: 0.12 ohm at
 * 4 Ah and 3.7 V. A phone in use is at a tenth of that.
 */
#define TUNING_SAG_PER_C 0.13
/*
 * Its standard deviation among packs (0.06 to 0.3 ohm), and the relative error of a voltage after a change of the load, by
 * which the polls are weighed: a step of the level is a third of a percent of voltage.
 */
#define TUNING_SAG_SD 0.06
#define TUNING_SAG_STEP 0.003
/* Smaller relative changes of the load are the sensor's noise, which would make the sag too small. */
#define TUNING_SAG_CHANGE 0.25
/* The voltage at rest is the median of at most so many readings, from polls with the same charge within so many percent. */
#define TUNING_REST_POLLS 21
#define TUNING_REST_PERCENT 5.0

/*
 * Leakage: how much more base and CPU take (relative) at the steady temperature of a drain that would empty the battery
 * in an hour, and the time constant of warming, s. 0.15 % per degree at 8 degrees per W of a phone of 15 Wh, as the
 * virtual devices assume. The fit of a calibration gives the first a standard error as large as its value.
 */
#define TUNING_WARMING_PER_C 0.18
#define TUNING_WARMING_TAU_S 400.0

/*
 * Mixed use (lib/forecast/mixed.c): seconds that "now" is, by which the past fades; and for how long it stays as it
 * is before it is the usual again, until the history shows that. By hour of the day from so many days of history on;
 * an hour of the day counts as the mean until it was seen for as long as the prior.
 */
#define TUNING_MIXED_NOW_S 300.0
#define TUNING_MIXED_STAYS_S 1800.0
#define TUNING_MIXED_DAYS 2.0
#define TUNING_MIXED_PRIOR_S 7200.0

/*
 * On the charger: the last hour counts. The error of the time to full, in parts, by the level; twice that by the
 * current sensor. And by how much the level has to fall for the charger to be called too weak: some batteries rest at
 * a percent below full.
 */
#define TUNING_CHARGING_S 3600.0
#define TUNING_CHARGING_SD 0.15
#define TUNING_WEAK_PERCENT 2.0

/*
 * A charge limit: firmware that does not show below which level it charges again is taken to let the level fall by so
 * much; and a charger that goes beyond the limit by so much does not keep it. Both are choices, not measurements.
 */
#define TUNING_LIMIT_FALL_PERCENT 5.0
#define TUNING_LIMIT_OVER_PERCENT 2.0

/* How long an app that is to be closed may be used beyond what the history shows (lib/forecast/saved.c); an ordinary session, s. */
#define TUNING_SAVED_SESSION_S 900.0

/*
 * A device that runs until its battery is empty gets warmer than in the sessions that are recorded, and leaks more:
 * part of its energy. Found on virtual devices (0.15 % per degree at 8 degrees per W), as the median of tests/budget.
 */
#define TUNING_WARM 0.008

/*
 * Apps that usage.db tells apart, of all users together and of one: a desktop has a hundred in a year, and
 * who starts a program of a new name every second shall neither fill the disk nor take the places of other
 * users' apps. From there on new names share one row for each user; beyond so many such rows, one for all.
 * Of one user an hour or a day keeps as many as a desktop has in a year, and the others as that row.
 */
#define TUNING_STORE_APPS 10000
#define TUNING_STORE_APPS_OF_USER 2500
#define TUNING_STORE_APPS_OF_PERIOD 250
#define TUNING_STORE_OTHERS 1000
#define TUNING_OTHER_APPS "other programs"
