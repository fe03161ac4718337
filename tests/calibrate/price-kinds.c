/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Runs programs of several kinds of work on a virtual device, and prices what its counters show by a profile.
 *
 * price-kinds DEVICE PROFILE: a line for each program: its CPU's energy and the price's, J.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interval/interval.h"
#include "model/model.h"
#include "util/util.h"
#include "virtual/virtual-truth.h"

static const struct program {
        const char *name;
        double ipc, mpk;
        unsigned cores;
} programs[] = {
        { "spin", 0, 0, 1 },      { "codec", 2.2, 1, 1 },  { "search", 0.7, 25, 1 },
        { "browser", 1.6, 6, 2 }, { "sort", 0.5, 40, 2 },  { "crypto", 2.8, 0.1, 4 },
};

static int read_interval(struct source *source, struct interval_maker *maker, struct interval *interval)
{
        struct sample sample = { 0 };
        int err = source->ops->read(source, &sample);

        if (!err)
                err = interval_make(maker, &sample, interval);
        sample_clear(&sample);
        return err == -ENODATA ? 0 : err;
}

static int price(const struct profile *profile, const struct interval *interval, double *ret)
{
        int err = 0;

        *ret = 0;
        for (size_t i = 1; !err && i < interval->n_rows; i++) {
                _cleanup_(model_vector_clear) struct model_vector vector = { 0 };

                err = model_vector_make(profile, &interval->rows[i].usage, &vector);
                if (!err)
                        *ret += model_energy_mj(profile, &vector) / 1e3;
        }
        return err;
}

static int run(struct virtual_device *device, const struct virtual_work *work, const struct profile *profile,
               const char *name)
{
        struct interval_maker *maker;
        struct interval interval = { 0 };
        struct virtual_truth truth;
        struct source *source;
        double priced_j = 0;
        int err = virtual_source_open(device, &source);

        if (!err)
                err = interval_maker_new(&maker);
        if (err)
                return err;
        virtual_truth_reset(device);
        err = virtual_set_work(device, work, 1);
        if (!err)
                err = read_interval(source, maker, &interval);
        if (!err)
                err = virtual_advance(device, UINT64_C(600000000000));
        if (!err)
                err = read_interval(source, maker, &interval);
        if (!err)
                err = price(profile, &interval, &priced_j);
        if (!err)
                err = virtual_truth_read(device, &truth);
        if (!err)
                printf("%s %.3f %.3f\n", name, truth.apps[0].part_j[VIRTUAL_CPU], priced_j);
        interval_clear(&interval);
        interval_maker_free(maker);
        source->ops->close(source);
        return err;
}

int main(int argc, char **argv)
{
        _cleanup_(profile_freep) struct profile *truth = NULL, *profile = NULL;
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        int err = argc == 3 ? 0 : -EINVAL;

        if (!err)
                err = virtual_load(argv[1], NULL, &truth);
        if (!err)
                err = profile_load(argv[2], NULL, &profile);
        if (!err)
                err = virtual_open(truth, VIRTUAL_SIMULATE, 1, 95, NULL, &device);
        for (size_t i = 0; !err && i < ARRAY_SIZE(programs); i++) {
                struct virtual_work work = { .instructions_per_cycle = programs[i].ipc,
                                             .misses_per_kinstruction = programs[i].mpk };

                snprintf(work.app, sizeof(work.app), "%s", programs[i].name);
                for (size_t p = 0; p < truth->n_policies; p++)
                        for (size_t k = 0; k < truth->n_coefficients; k++)
                                if (truth->coefficients[k].term == TERM_CPU_ACTIVE &&
                                    truth->coefficients[k].policy == truth->policies[p].policy)
                                        work.policy_khz[p] = truth->coefficients[k].point;
                for (unsigned cpu = 0; cpu < programs[i].cores; cpu++)
                        work.utilisation[cpu] = 1;
                err = run(device, &work, profile, programs[i].name);
        }
        if (err)
                fprintf(stderr, "price-kinds: %s\n", strerror(-err));
        return err ? 1 : 0;
}
