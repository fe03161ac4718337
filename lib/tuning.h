/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Our choices: numbers that no kernel document and no user decides. Each with
 * unit, reason and how it was found.
 */

/*
 * Daemons that no counter shows, as a fallback where the profile does not say what its device's are (x-background_*
 * of [base]): mW of standard deviation and s of correlation. From the simulation study behind the design: a
 * log-normal of mean 12 mW, and rare spikes.
 */
#define TUNING_BACKGROUND_SD_MW 14.0
#define TUNING_BACKGROUND_TAU_S 300.0

/*
 * A process that only ran, and for less than this since its last row, gets none yet: its time is carried until it is
 * worth one. At 1 W a core this is 1 mJ, a ten-millionth of a phone's battery; collectors that count ns
 * would otherwise write a row for each daemon that woke up (research: 46-62 rows a poll against 7-45 by ticks).
 */
#define TUNING_ROW_CPU_NS UINT64_C(1000000)

/* CLOCK_BOOTTIME and CLOCK_MONOTONIC are read one after the other; less of a difference than this is no suspend, ns. */
#define TUNING_SUSPEND_NS UINT64_C(10000000)

/*
 * Bytes that processes wrote and no storage did yet wait in the page cache; so many are remembered as a debt of nobody's
 * row, so that they do not count again when they reach the storage. About the dirty limit of a phone.
 */
#define TUNING_WRITE_DEBT_BYTES (UINT64_C(256) << 20)
