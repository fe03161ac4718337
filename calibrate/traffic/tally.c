/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Shared by all kinds of traffic: a clock and an error message. */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "traffic.h"
#include "util/units.h"
#include "util/util.h"

uint64_t traffic_now_ns(void)
{
        return util_clock_ns(CLOCK_MONOTONIC);
}

void traffic_sleep_s(double seconds)
{
        struct timespec left = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };

        while (nanosleep(&left, &left) < 0 && errno == EINTR)
                ;
}

int traffic_fail(struct tally *tally, int err, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(tally->error, sizeof(tally->error), format, arguments);
        va_end(arguments);
        return err;
}
