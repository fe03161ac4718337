/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "model/profile.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/scenario.h"
#include "virtual/virtual.h"

/* Two policies, so that "khz.4" has something to mean. */
static const char truth_text[] =
        "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n[base]\npower_mw = 150\n"
        "[cpu 0]\ncpus = 0-3\nactive_mw.384000 = 160\nactive_mw.1026000 = 300\nshared_mw.384000 = 40\n"
        "[cpu 4]\ncpus = 4-5\nactive_mw.600000 = 300\nactive_mw.2000000 = 900\n"
        "[display]\nmax_brightness = 255\npower_mw.5 = 360\npower_mw.255 = 850\n"
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\n"
        "wake_mj = 120\n[gpu]\nactive_mw = 900\n[gps]\non_mw = 350\n"
        "[radio cellular]\ninitial = a\n[radio cellular a]\npower_mw = 9\non_tx = b\n[radio cellular b]\n"
        "power_mw = 900\n"
        "after = 2000 a\n[virtual]\nseed = 7\nlevel_step_percent = 1\nlevel_refresh_s = 10\n";

static void one_sentence(void *data, enum log_level level, const char *sentence)
{
        unsigned *n = data;

        fuzz_assert(*sentence && !strchr(sentence, '\n') && !strchr(sentence, '\033'));
        ++*n;
}

/* A scenario that parses can be played: each change is later than the previous one, and the device accepts it. */
static void play(const struct scenario *scenario, const struct profile *truth)
{
        struct virtual_device *device = NULL;
        uint64_t now_ns = 0;

        fuzz_assert(virtual_open(truth, VIRTUAL_SIMULATE, 1, 90, NULL, &device) == 0);
        for (unsigned i = 0; i < 50 && now_ns != UINT64_MAX; i++) {
                uint64_t next_ns = scenario_next_ns(scenario, now_ns);
                int err;

                fuzz_assert(next_ns > now_ns);
                fuzz_assert(scenario_apply(scenario, now_ns, device) == 0);
                err = virtual_advance(device, MIN(next_ns - now_ns, 10 * NS_PER_MS));
                fuzz_assert(err == 0 || err == -ENODATA);
                now_ns = next_ns;
        }
        virtual_free(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct profile *truth;
        _cleanup_(scenario_freep) struct scenario *scenario = NULL;
        unsigned n_errors = 0;
        struct log log = { one_sentence, &n_errors };

        if (!truth)
                fuzz_assert(profile_parse(truth_text, strlen(truth_text), "truth", NULL, &truth) == 0);
        if (scenario_parse((const char *)data, size, "fuzz", truth, &log, &scenario) < 0) {
                fuzz_assert(!scenario && n_errors == 1);
                return 0;
        }
        fuzz_assert(n_errors == 0 && scenario->n_segments > 0);
        play(scenario, truth);
        return 0;
}
