/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "sapp/cost-table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct cost_table table = { 0 };

        if (cost_table_parse((const char *)data, size, "fuzz", NULL, &table) == 0)
                cost_table_clear(&table);
        return 0;
}
