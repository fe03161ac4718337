/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Only 32-bit machines compile this file. Its functions are seldom used and kept simple: a quotient takes 128 steps. */

#include "wide.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

uint_wide wide_divide_unsigned(uint_wide dividend, uint_wide divisor)
{
        uint_wide quotient = 0, rest = 0;

        if (dividend >> 64 == 0 && divisor >> 64 == 0)
                return (uint64_t)dividend / (uint64_t)divisor;
        for (int i = 127; i >= 0; i--) {
                bool carry = rest >> 127 & 1;

                rest = rest << 1 | (dividend >> i & 1);
                quotient <<= 1;
                if (carry || rest >= divisor) {
                        rest -= divisor;
                        quotient |= 1;
                }
        }
        return quotient;
}

int_wide wide_divide(int_wide dividend, int_wide divisor)
{
        uint_wide quotient = wide_divide_unsigned(dividend < 0 ? -(uint_wide)dividend : (uint_wide)dividend,
                                                  divisor < 0 ? -(uint_wide)divisor : (uint_wide)divisor);

        return (int_wide)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

/* The bits below the upper 64 only affect rounding: one bit is set if any of them is set. */
double wide_to_double_unsigned(uint_wide value)
{
        int shift = 0;

        while (shift < 64 && value >> (64 + shift))
                shift++;
        if (shift > 0 && value << (128 - shift))
                return ldexp((double)((uint64_t)(value >> shift) | 1), shift);
        return ldexp((double)(uint64_t)(value >> shift), shift);
}

double wide_to_double(int_wide value)
{
        return value < 0 ? -wide_to_double_unsigned(-(uint_wide)value) : wide_to_double_unsigned((uint_wide)value);
}

uint_wide wide_from_double(double value)
{
        int exponent;

        if (value < 0x1p64)
                return (uint64_t)value;
        value = frexp(value, &exponent); /* 53 bits */
        return (uint_wide)(uint64_t)ldexp(value, 53) << (exponent - 53);
}
