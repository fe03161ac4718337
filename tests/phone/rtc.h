/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * QEMU's MC146818, the clock that runs while the phone is suspended. Linux computes the length of a suspend from
 * it, so setting it forward makes a night pass at once.
 */

#include <stdint.h>

#include "qtest.h"

/* The clock's registers from seconds to century, in its order: RTC_REGISTERS of them, BCD, of 24 hours. */
#define RTC_REGISTERS 7
int rtc_parse(const uint64_t *registers, int64_t *ret); /* seconds since 1970; -EPROTO */
void rtc_print(int64_t seconds, uint8_t *registers);

/* 0; -errno: of qtest, or -EPROTO: it shows no time that we understand. */
int rtc_forward(struct qtest *qtest, int64_t seconds);
