/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"
#include "fuzz.h"
#include "model/profile.h"
#include "util/util.h"

/* A power profile of Android: its conversion is a valid profile, whatever it contains. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(power_profile_clear) struct power_profile from = { 0 };
        _cleanup_(profile_freep) struct profile *profile = NULL;
        _cleanup_free_ char *text = NULL;
        const struct convert_plan plan = { "fuzz", "fuzz", 1000, NULL };

        if (power_profile_parse((const char *)data, size, "fuzz", NULL, &from) < 0)
                return 0;
        if (convert_power_profile(&from, &plan, &text) == 0)
                fuzz_assert(profile_parse(text, strlen(text), "fuzz", NULL, &profile) == 0);
        return 0;
}
