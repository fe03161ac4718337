/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fuzz.h"
#include "model/profile.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/virtual-truth.h"
#include "virtual/virtual.h"

/* Any file that parses as a virtual device can be run: its power and its battery stay finite. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        struct virtual_truth seen;
        struct sample sample = { 0 };
        struct source *source;

        if (profile_parse((const char *)data, size, "fuzz", NULL, &truth) < 0)
                return 0;
        if (virtual_open(truth, VIRTUAL_CALIBRATE, 1, 90, NULL, &device) < 0)
                return 0;
        for (unsigned i = 0; i < 4; i++)
                if (virtual_advance(device, 15 * NS_PER_S) < 0)
                        break;
        if (virtual_source_open(device, &source) < 0)
                return 0;
        fuzz_assert(source->ops->read(source, &sample) == 0);
        fuzz_assert(sample.battery.capacity_percent <= 100);
        source->ops->close(source);
        sample_clear(&sample);
        virtual_truth_read(device, &seen);
        fuzz_assert(isfinite(seen.total_j) && isfinite(seen.base_j));
        fuzz_assert(seen.percent_end >= 0 && seen.percent_end <= 100);
        return 0;
}
