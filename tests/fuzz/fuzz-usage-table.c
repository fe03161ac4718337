/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "forecast/usage-table.h"
#include "fuzz.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;

        if (usage_table_parse((const char *)data, size, "fuzz", NULL, &table) < 0)
                fuzz_assert(!table);
        else
                fuzz_assert(table);
        return 0;
}
