/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fuzz.h"
#include "model/profile.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/virtual-truth.h"
#include "virtual/virtual.h"

/* Uses what the device has, so that each effect of its file counts. */
static void work(struct virtual_device *device)
{
        const struct virtual_work work = { .app = "fuzz",
                                           .utilisation = { 0.5 },
                                           .rx_mb_per_s = 1,
                                           .read_mb_per_s = 1,
                                           .wakes_per_s = 1,
                                           .gpu = 0.5,
                                           .cpu_factor = 2,
                                           .unseen_mw = 400,
                                           .packets_per_s = 20,
                                           .packet_bytes = 900,
                                           .burst_packets = 3,
                                           .pattern = VIRTUAL_BURSTS,
                                           .gps = true,
                                           .audio = true,
                                           .foreground = true };
        struct virtual_work list[2] = { work, work };

        virtual_set_wifi(device, true);
        virtual_set_screen(device, true, 1);
        fuzz_assert(virtual_set_content(device, 0.5) == 0);
        list[1].radio = AIR_CELLULAR;
        list[1].pattern = VIRTUAL_POISSON;
        virtual_set_work(device, list, 2); /* a device without CPUs has no use for it */
}

/*
 * Any file that parses as a virtual device can be run: power and battery stay finite, and all energy is accounted for.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        struct virtual_truth seen;
        double whose_j;
        struct sample sample = { 0 };
        struct source *source;

        if (profile_parse((const char *)data, size, "fuzz", NULL, &truth) < 0)
                return 0;
        if (virtual_open(truth, VIRTUAL_CALIBRATE, 1, 90, NULL, &device) < 0)
                return 0;
        work(device);
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
        whose_j = seen.base_j;
        for (size_t i = 0; i < seen.n_apps; i++) {
                whose_j += seen.apps[i].energy_j;
                for (size_t part = 0; part < VIRTUAL_PART_COUNT; part++)
                        fuzz_assert(isfinite(seen.apps[i].part_j[part]));
        }
        fuzz_assert(fabs(seen.total_j - whose_j) <= 1e-9 * (1 + seen.total_j));
        fuzz_assert(seen.percent_end >= 0 && seen.percent_end <= 100);
        return 0;
}
