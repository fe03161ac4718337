/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* FNV-1a, 64 bits: detects damage and tells names apart, but withstands no attack. */

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/* @sum: FNV_BEGIN, or the hash of the bytes before these */
static inline uint64_t fnv_add(uint64_t sum, const char *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
        return sum;
}
