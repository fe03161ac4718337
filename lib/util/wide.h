/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Integers of 128 bits, for exact products of two 64-bit integers. Compilers for 64-bit machines have __int128. On
 * 32 bits we use C23's _BitInt, which clang has from version 14 and gcc from 14 for x86. Sums, products and comparisons
 * are the language's. Quotients and conversions need a library that 32-bit machines lack, so they are functions here.
 */

#ifdef __SIZEOF_INT128__

__extension__ typedef __int128 int_wide;
__extension__ typedef unsigned __int128 uint_wide;

static inline int_wide wide_divide(int_wide dividend, int_wide divisor)
{
        return dividend / divisor;
}

static inline uint_wide wide_divide_unsigned(uint_wide dividend, uint_wide divisor)
{
        return dividend / divisor;
}

static inline double wide_to_double(int_wide value)
{
        return (double)value;
}

static inline double wide_to_double_unsigned(uint_wide value)
{
        return (double)value;
}

static inline uint_wide wide_from_double(double value)
{
        return (uint_wide)value;
}

#else

#if !defined(__clang__) && !(defined(__BITINT_MAXWIDTH__) && __BITINT_MAXWIDTH__ >= 128)
#error "For a 32-bit machine this needs clang 14 (CC=clang), or for x86 gcc 14, which have _BitInt(128)"
#endif
__extension__ typedef _BitInt(128) int_wide;
__extension__ typedef unsigned _BitInt(128) uint_wide;

int_wide wide_divide(int_wide dividend, int_wide divisor);
uint_wide wide_divide_unsigned(uint_wide dividend, uint_wide divisor);
double wide_to_double(int_wide value);
double wide_to_double_unsigned(uint_wide value);
uint_wide wide_from_double(double value); /* from 0 to below 2^128 */

#endif
