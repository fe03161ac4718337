/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A fuzzer is one function that takes any bytes. libFuzzer feeds it what it
 * invents (meson -Dfuzz=true, clang); replay.c feeds it the files of its corpus,
 * as an ordinary test with any compiler.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A place in memory for a fuzzer's files, where there is one: some are written thousands of times a second. */
static inline const char *fuzz_place(char path[64], const char *name)
{
        snprintf(path, 64, "%s/joulecast-fuzz-%s-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name);
        return path;
}

/* An assertion that stays in release builds. */
#define fuzz_assert(condition)                                                                               \
        do {                                                                                                 \
                if (!(condition)) {                                                                          \
                        fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);              \
                        abort();                                                                             \
                }                                                                                            \
        } while (0)
