/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Plain executables as tests: a check that fails prints what it got and what
 * it wanted, and the program goes on, so that one run shows all that is wrong.
 * main() ends with `return check_result();`.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_failures;
static int check_count;

#define check(condition)                                                                                     \
        do {                                                                                                 \
                check_count++;                                                                               \
                if (!(condition)) {                                                                          \
                        check_failures++;                                                                    \
                        fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);              \
                }                                                                                            \
        } while (0)

#define check_int(got, want)                                                                                 \
        do {                                                                                                 \
                long long got_ = (long long)(got), want_ = (long long)(want);                                \
                check_count++;                                                                               \
                if (got_ != want_) {                                                                         \
                        check_failures++;                                                                    \
                        fprintf(stderr, "%s:%d: %s: got %lld, want %lld\n", __FILE__, __LINE__, #got, got_,  \
                                want_);                                                                      \
                }                                                                                            \
        } while (0)

#define check_near(got, want, tolerance)                                                                     \
        do {                                                                                                 \
                double got_ = (got), want_ = (want);                                                         \
                check_count++;                                                                               \
                if (!(fabs(got_ - want_) <= (tolerance))) {                                                  \
                        check_failures++;                                                                    \
                        fprintf(stderr, "%s:%d: %s: got %.9g, want %.9g within %g\n", __FILE__, __LINE__,    \
                                #got, got_, want_, (double)(tolerance));                                     \
                }                                                                                            \
        } while (0)

#define check_text(got, want)                                                                                \
        do {                                                                                                 \
                const char *got_ = (got), *want_ = (want);                                                   \
                check_count++;                                                                               \
                if (!got_ || strcmp(got_, want_) != 0) {                                                     \
                        check_failures++;                                                                    \
                        fprintf(stderr, "%s:%d: %s: got \"%s\", want \"%s\"\n", __FILE__, __LINE__, #got,    \
                                got_ ? got_ : "(null)", want_);                                              \
                }                                                                                            \
        } while (0)

static inline int check_result(void)
{
        if (check_failures)
                fprintf(stderr, "%d of %d checks failed\n", check_failures, check_count);
        return check_failures || !check_count;
}
