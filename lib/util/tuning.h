/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Parameters that neither a kernel document nor the user decides. Each has its unit, its reason and its origin. */

/*
 * Power of background daemons that no counter shows, if the profile has no x-background_* keys in [base]: standard
 * deviation in mW and correlation time in s. These are the values of a log-normal power with a mean of 12 mW and rare
 * spikes, as in data/virtual/nexus-7.ini.
 */
#define TUNING_BACKGROUND_SD_MW 14.0
#define TUNING_BACKGROUND_TAU_S 300.0

/* Correlation time of differences between sessions, s: places and temperatures change after some hours. */
#define TUNING_SESSION_TAU_S 14400.0

/*
 * Misfit of an app's power against the model's, until it is learnt (`joulecast learn`): standard deviations that hold
 * in those worlds of docs/accuracy.md that do not share the model's form. Kinds of work cost 0.7 to 1.4 times the
 * calibration's; a picture emits 0.4 to 1 of white; a modem, a camera, GPS draw 400 mW in half of the apps, and in the
 * background a fifth of that; a byte over the air costs 0.5 to 3 times as much, depending on the hour. Half of the
 * variance is common to all apps of a device.
 */
#define TUNING_MISFIT_CPU_PERCENT 20.0
/* Misfit of programs of real devices if the profile prices instructions; and if it prices cache events, too. */
#define TUNING_MISFIT_INSTRUCTIONS_PERCENT 10.0
#define TUNING_MISFIT_KIND_PERCENT 7.0
#define TUNING_MISFIT_DISPLAY_PERCENT 25.0
/* If the calibration also showed a black picture: misfit of an LCD, and per part of the power that a picture causes. */
#define TUNING_MISFIT_LCD_PERCENT 4.0
#define TUNING_MISFIT_CONTENT 0.35
#define TUNING_MISFIT_RADIO_PERCENT 50.0
#define TUNING_MISFIT_AUTOMATON_PERCENT 4.0
/* Relative error of a radio's powers if the profile gives none: they are another device's numbers. A guess. */
#define TUNING_RADIO_ERROR 0.2
#define TUNING_MISFIT_FRONT_MW 210.0
#define TUNING_MISFIT_BEHIND_MW 45.0
#define TUNING_MISFIT_COMMON 0.5
/*
 * Relative standard deviation of an app's CPU energy on twice, or half, as many busy cores as it was learnt on. Nine
 * programs on one and on two cores of an Odroid XU3 (docs/reality.md) differ by -13 to +6 %.
 */
#define TUNING_DOUBLING 0.05

/* CLOCK_BOOTTIME and CLOCK_MONOTONIC are read one after the other; a smaller difference is no suspend, ns. */
#define TUNING_SUSPEND_NS UINT64_C(10000000)

/*
 * CLOCK_REALTIME against CLOCK_BOOTTIME, ns: the least difference that means that the clock was set (both are slewed
 * alike, and corrections by a time daemon are smaller), the least difference that is logged, and the time for which a
 * clock must stay as it was set until no more polls are dated anew (lib/store/store-clock.c).
 */
#define TUNING_CLOCK_SET_NS INT64_C(1000000000)
#define TUNING_CLOCK_TOLD_NS INT64_C(60000000000)
#define TUNING_CLOCK_DOUBT_NS UINT64_C(3600000000000)

/* Most time of recording that a power cut may lose if joulecast.conf does not set it, ns. */
#define TUNING_SYNC_NS UINT64_C(300000000000)

/*
 * Least length of suspends that are kept, ns: in shorter ones the seconds awake around them and the gauge's step matter
 * too much. They are kept for this number of days, since a battery, and the causes of wake-ups, change.
 */
#define TUNING_SLEEP_NS UINT64_C(1800000000000)
#define TUNING_SLEEP_DAYS 180
/* Least number of suspends whose spread is known. */
#define TUNING_SLEEPS 3

/*
 * Bytes that processes wrote wait in the page cache before they reach storage. At most this number is remembered, so
 * that they are not attributed again when they are written. It is about the dirty limit of a phone.
 */
#define TUNING_WRITE_DEBT_BYTES (UINT64_C(256) << 20)

/*
 * Forecasts (lib/forecast/history.c, lib/forecast/forecast.c). Blocks are long against the correlation time of noise in
 * byte rates (2 min) and short against a session. Polls older than some hours add little to the sums of these hours,
 * and take a hundred times as long to read: with these three, 300 busy processes are read in a tenth of a second.
 */
#define TUNING_BLOCK_S 300.0
#define TUNING_RAW_HOURS 4
#define TUNING_HOUR_DAYS 7

/* Days before these. An app that they do not have is searched for in all days. A year takes five times as long. */
#define TUNING_DAY_DAYS 60
#define TUNING_SESSION_GAP_S 600.0

/*
 * Until an hour of use is recorded, no time is promised that is longer than the charge lasts at the power that the
 * battery's sensor shows: a class of devices says little about this one, while an hour shows usual use and its spread.
 * Texts have no bounds before ten minutes are recorded.
 */
#define TUNING_HISTORY_RULES_S 3600.0
#define TUNING_TOO_EARLY_S 600.0

/*
 * Recent sessions of an app weigh more: a session that is this number of sessions old counts half. A session is five
 * minutes of use (a shorter one counts by its part).
 */
#define TUNING_SESSION_HALF 1.5
#define TUNING_SESSION_S 300.0

/*
 * Least length in percent of spans, from step to step of the level, over which the battery's energy is compared with
 * the model's.
 */
#define TUNING_SPAN_PERCENT 0.8
/*
 * Errors of such a span: the delay with which a step of the level is seen (a poll, and the gauge's refresh), s; the
 * relative standard deviation of the charge in a gauge's percents, and the part of the charge over which it is
 * correlated (docs/physics.md, "What the gauge shows").
 */
#define TUNING_STEP_S 15.0
#define TUNING_GAUGE_CURVE_SD 0.012
#define TUNING_GAUGE_CURVE_LENGTH 0.1
/* Number of an app's sessions over which its factor forgets its former value. */
#define TUNING_DRAIN_SESSIONS 2.0

/*
 * Priors of the variation of an app's power from block to block (TUNING_BLOCK_SD) and from session to session, relative
 * to its mean. Until the history shows the variance among sessions, it is TUNING_SESSION_SHARE of the variance of the
 * blocks within them, but at least that of TUNING_SESSION_SD. Each prior has the weight of TUNING_PRIOR_DOF degrees of
 * freedom. Found on development seeds of tests/budget (docs/budget.md): between owners whose sessions are all alike and
 * owners whose sessions vary.
 */
#define TUNING_SESSION_SHARE 0.75
#define TUNING_BLOCK_SD 0.03
#define TUNING_SESSION_SD 0.01
#define TUNING_PRIOR_DOF 2.0
/* Probability that the brightness goes back up to that of the history; otherwise it stays as it is now. */
#define TUNING_BRIGHTNESS_BACK 0.10

/* Seconds of the overall mean that are added to the background of a state of the device, for states hardly seen. */
#define TUNING_BACKGROUND_PRIOR_S 600.0

/*
 * Standard deviation of the charge that is left, given the shown percentage, in percent of a full battery: gauges are
 * nonlinear by a percent or two (the nonlinearity of a virtual device, integrated). And relative standard deviation of
 * the energy in that charge, if the battery shows its voltage, and if it does not.
 */
#define TUNING_CHARGE_SD_PERCENT 0.3
#define TUNING_VOLTAGE_SD 0.015
#define TUNING_NO_VOLTAGE_SD 0.04

/*
 * Relative fall of a pack's voltage under load, at a drain that would empty it in an hour: 0.12 ohm at 4 Ah and 3.7 V.
 * A phone in use is at a tenth of that.
 */
#define TUNING_SAG_PER_C 0.13
/*
 * Standard deviation of that fall among packs (0.06 to 0.3 ohm), and the relative error of a voltage after a change of
 * the load, by which the polls are weighted: a step of the level is a third of a percent of voltage.
 */
#define TUNING_SAG_SD 0.06
#define TUNING_SAG_STEP 0.003
/* Smaller relative changes of the load are the sensor's noise, which would make the sag too small. */
#define TUNING_SAG_CHANGE 0.25
/*
 * The voltage at rest is the median of at most TUNING_REST_POLLS readings, from polls with the same charge within
 * TUNING_REST_PERCENT.
 */
#define TUNING_REST_POLLS 21
#define TUNING_REST_PERCENT 5.0

/*
 * Leakage: relative increase of base and CPU power at the steady temperature of a drain that would empty the battery
 * in an hour, and the time constant of warming, s. It is 0.15 % per degree at 8 degrees per W of a phone of 15 Wh, as
 * the virtual devices assume. The fit of a calibration gives the first a standard error as large as its value.
 */
#define TUNING_WARMING_PER_C 0.18
#define TUNING_WARMING_TAU_S 400.0

/*
 * Mixed use (lib/forecast/mixed.c): time constant with which the weight of the past in "now" decays, s; and the time
 * constant with which present use returns to the usual, s, until the history shows it. Hours of the day differ only
 * once the history has TUNING_MIXED_DAYS; TUNING_MIXED_PRIOR_S seconds of the mean are added to each.
 */
#define TUNING_MIXED_NOW_S 300.0
#define TUNING_MIXED_STAYS_S 1800.0
#define TUNING_MIXED_DAYS 2.0
#define TUNING_MIXED_PRIOR_S 7200.0

/*
 * On the charger: the last hour counts. The relative error of the time to full by the level; by the current sensor it
 * is twice that. And the fall of the level from which a charger is called too weak: some batteries rest at a percent
 * below full.
 */
#define TUNING_CHARGING_S 3600.0
#define TUNING_CHARGING_SD 0.15
#define TUNING_WEAK_PERCENT 2.0

/*
 * A supply that is shown as online counts as unplugged if in TUNING_STALE_S or more the level fell by at least
 * TUNING_STALE_PERCENT, and by the model's energy, within this ratio either way: with a charger that gives a third of
 * the power used it is outside. A profile of a class is wrong by about as much.
 */
#define TUNING_STALE_S 3600.0
#define TUNING_STALE_MOST_S (12 * 3600.0) /* most time looked at: an idle machine may need it for that fall */
#define TUNING_STALE_GAP_S 300.0        /* most age of the last poll */
#define TUNING_STALE_PERCENT 3.0
#define TUNING_STALE_RATIO 1.4

/*
 * A charge limit: the fall of the level after which charging begins again, if the firmware does not show it; and the
 * excess over the limit from which a charger does not keep it. Both are choices, not measurements.
 */
#define TUNING_LIMIT_FALL_PERCENT 5.0
#define TUNING_LIMIT_OVER_PERCENT 2.0

/*
 * Time for which an app that the user shall close may be used beyond the history (lib/forecast/saved.c): an ordinary
 * session, s.
 */
#define TUNING_SAVED_SESSION_S 900.0

/*
 * A device that runs until its battery is empty gets warmer than in the recorded sessions, and leaks more: this part of
 * its energy. Found on virtual devices (0.15 % per degree at 8 degrees per W), as the median of tests/budget.
 */
#define TUNING_WARM 0.008

/*
 * Most apps in usage.db, of all users together and of one user: a desktop has a hundred in a year, and a user who
 * starts a program of a new name every second must neither fill the disk nor take the places of other users' apps.
 * Further names share one row for each user; beyond TUNING_STORE_OTHERS such rows, one for all. Of one user an hour or
 * a day keeps as many apps as a desktop has in a year, and puts the others into that row.
 */
#define TUNING_STORE_APPS 10000
#define TUNING_STORE_APPS_OF_USER 2500
#define TUNING_STORE_APPS_OF_PERIOD 250
#define TUNING_STORE_OTHERS 1000
#define TUNING_OTHER_APPS "other programs"
