/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "radio/radio-pack.h"

/* Packed amounts: accepted ones are the same bytes when packed again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct radio_amounts amounts = { 0 };
        struct radio_shape shape;
        unsigned char *packed;
        size_t n;
        int err;

        radio_shape_stored(&shape);
        err = radio_unpack(&shape, data, size, &amounts);
        if (err) {
                fuzz_assert(err == -EBADMSG && !amounts.cells);
                return 0;
        }
        for (size_t i = 0; i < radio_shape_cells(&shape); i++)
                fuzz_assert(amounts.cells[i] >= 0 && amounts.cells[i] <= RADIO_CELL_MAX);
        fuzz_assert(radio_pack(&shape, &amounts, &packed, &n) == 0);
        fuzz_assert(n == size && memcmp(packed, data, n) == 0);
        free(packed);
        free(amounts.cells);
        return 0;
}
