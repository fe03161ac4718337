/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The clock that runs while the phone sleeps: QEMU's MC146818. Linux takes from it how long that was. Set
 * forward while it sleeps, a night passes at once.
 */

#include <stdint.h>

#include "qtest.h"

/* The clock's registers from seconds to century, in its order: RTC_REGISTERS of them, BCD, of 24 hours. */
#define RTC_REGISTERS 7
int rtc_parse(const uint64_t *registers, int64_t *ret); /* seconds since 1970; -EPROTO */
void rtc_print(int64_t seconds, uint8_t *registers);

/* 0; -errno: of qtest, or -EPROTO: it shows no time that we understand. */
int rtc_forward(struct qtest *qtest, int64_t seconds);
