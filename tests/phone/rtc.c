/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtc.h"

#include <errno.h>
#include <time.h>

#include "util/util.h"

#define PORT_INDEX 0x70
#define PORT_DATA 0x71
#define REGISTER_B 0x0b
#define B_HOLD 0x80   /* the clock is stopped, to be set */
#define B_BINARY 0x04
#define B_24_HOURS 0x02

static const uint8_t places[RTC_REGISTERS] = { 0x00, 0x02, 0x04, 0x07, 0x08, 0x09, 0x32 };

static int from_bcd(uint64_t value)
{
        return value <= 0x99 && (value & 0xf) <= 9 ? (int)(value >> 4) * 10 + (int)(value & 0xf) : -1;
}

static uint8_t to_bcd(int value)
{
        return (uint8_t)(value / 10 % 10 << 4 | value % 10);
}

int rtc_parse(const uint64_t *registers, int64_t *ret)
{
        static const int most[RTC_REGISTERS] = { 59, 59, 23, 31, 12, 99, 99 };
        int n[RTC_REGISTERS];
        struct tm parts;

        for (size_t i = 0; i < RTC_REGISTERS; i++) {
                n[i] = from_bcd(registers[i]);
                if (n[i] < 0 || n[i] > most[i])
                        return -EPROTO;
        }
        parts = (struct tm){ .tm_sec = n[0], .tm_min = n[1], .tm_hour = n[2], .tm_mday = n[3], .tm_mon = n[4] - 1,
                             .tm_year = n[6] * 100 + n[5] - 1900 };
        *ret = timegm(&parts);
        return 0;
}

void rtc_print(int64_t seconds, uint8_t *registers)
{
        time_t time = seconds;
        struct tm parts;

        gmtime_r(&time, &parts);
        registers[0] = to_bcd(parts.tm_sec);
        registers[1] = to_bcd(parts.tm_min);
        registers[2] = to_bcd(parts.tm_hour);
        registers[3] = to_bcd(parts.tm_mday);
        registers[4] = to_bcd(parts.tm_mon + 1);
        registers[5] = to_bcd(parts.tm_year % 100);
        registers[6] = to_bcd(parts.tm_year / 100 + 19);
}

static void put(struct qtest *qtest, uint8_t place, uint8_t value)
{
        qtest_out_byte(qtest, PORT_INDEX, place);
        qtest_out_byte(qtest, PORT_DATA, value);
}

static void get(struct qtest *qtest, uint8_t place, uint64_t *ret)
{
        qtest_out_byte(qtest, PORT_INDEX, place);
        qtest_in_byte(qtest, PORT_DATA, ret);
}

static int hold(struct qtest *qtest, uint64_t *mode)
{
        int err;

        get(qtest, REGISTER_B, mode);
        err = qtest_run(qtest);
        if (!err && (*mode & (B_BINARY | B_24_HOURS)) != B_24_HOURS)
                err = -EPROTO;
        if (!err)
                put(qtest, REGISTER_B, (uint8_t)*mode | B_HOLD);
        return err;
}

int rtc_forward(struct qtest *qtest, int64_t seconds)
{
        uint64_t mode, shown[RTC_REGISTERS];
        uint8_t set[RTC_REGISTERS];
        int64_t now;
        int err = hold(qtest, &mode);

        for (size_t i = 0; !err && i < RTC_REGISTERS; i++)
                get(qtest, places[i], &shown[i]);
        if (!err)
                err = qtest_run(qtest);
        if (!err)
                err = rtc_parse(shown, &now);
        if (err)
                return err;
        rtc_print(now + seconds, set);
        for (size_t i = 0; i < RTC_REGISTERS; i++)
                put(qtest, places[i], set[i]);
        put(qtest, REGISTER_B, (uint8_t)mode & (uint8_t)~B_HOLD);
        return qtest_run(qtest);
}
