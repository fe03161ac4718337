/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "price.h"
#include "source/cpu.h"
#include "util/units.h"
#include "util/util.h"

#define BUSY_MAX 64u

struct look {
        uint64_t time_ns;
        uint32_t policy, khz;
};

struct cpu_price { /* the price of CPU time in one situation */
        uint32_t policy, khz;
        unsigned busy;
        double nj_per_ns;
};

struct prices {
        const struct profile *profile;
        struct cpu_policy *policies;
        size_t n_policies;
        struct look *looks; /* ascending in time */
        size_t n_looks, looks_capacity;
        struct cpu_price *cpu;
        size_t n_cpu, cpu_capacity;
        double amount_nj[OWNER_AMOUNT_COUNT];
        int root_fd;
};

/* Energy of a usage by the profile; NaN: nothing in it has a price. */
static double energy_mj(const struct profile *profile, struct usage *usage)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };

        if (model_vector_make(profile, usage, &vector) < 0 || !model_knows(&vector))
                return NAN;
        return model_energy_mj(profile, &vector);
}

static double amount_price(const struct profile *profile, enum amount amount)
{
        struct usage usage = { .have = amount_kinds[amount].have };

        if (!profile)
                return 0;
        usage.amount[amount] = (uint64_t)amount_kinds[amount].per_unit;
        return energy_mj(profile, &usage) * 1e6 / amount_kinds[amount].per_unit;
}

int price_new(const struct profile *profile, struct prices **ret)
{
        _cleanup_(price_freep) struct prices *prices = calloc(1, sizeof(*prices));

        if (!prices)
                return -ENOMEM;
        prices->profile = profile;
        prices->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (prices->root_fd < 0)
                return -errno;
        if (cpu_list(prices->root_fd, &prices->policies, &prices->n_policies) < 0)
                prices->n_policies = 0;
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                prices->amount_nj[i] = amount_price(profile, (enum amount)i);
        *ret = TAKE_PTR(prices);
        return 0;
}

void price_free(struct prices *prices)
{
        if (!prices)
                return;
        closep(&prices->root_fd);
        free(prices->policies);
        free(prices->looks);
        free(prices->cpu);
        free(prices);
}

void price_look(struct prices *prices, uint64_t time_ns)
{
        for (size_t i = 0; i < prices->n_policies; i++) {
                char path[96], text[32];
                uint64_t khz;

                snprintf(path, sizeof(path), "%.64s/scaling_cur_freq", prices->policies[i].path);
                if (util_read_at(prices->root_fd, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &khz) < 0)
                        continue;
                if (util_grow(&prices->looks, &prices->looks_capacity, prices->n_looks + 1, sizeof(*prices->looks)) < 0)
                        return;
                prices->looks[prices->n_looks++] = (struct look){ time_ns, prices->policies[i].policy, (uint32_t)khz };
        }
}

const struct profile *price_profile(const struct prices *prices)
{
        return prices->profile;
}

bool price_knows_clock(const struct prices *prices)
{
        return prices->n_looks > 0;
}

uint32_t price_policy(const struct prices *prices, uint32_t cpu)
{
        for (size_t i = 0; i < prices->n_policies; i++)
                for (size_t j = 0; j < prices->policies[i].n_cpus; j++)
                        if (prices->policies[i].cpus[j] == cpu)
                                return prices->policies[i].policy;
        return 0;
}

/* As it was at the last look before, or at the first one. */
static uint32_t khz_at(const struct prices *prices, uint32_t policy, uint64_t time_ns)
{
        size_t low = 0, high = prices->n_looks;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (prices->looks[middle].time_ns <= time_ns)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (size_t i = low; i > 0; i--)
                if (prices->looks[i - 1].policy == policy)
                        return prices->looks[i - 1].khz;
        for (size_t i = low; i < prices->n_looks; i++)
                if (prices->looks[i].policy == policy)
                        return prices->looks[i].khz;
        return KHZ_UNKNOWN;
}

static double make_price(const struct profile *profile, const struct cpu_price *price)
{
        struct usage usage = { .have = USAGE_CPU };
        double mj;

        if (usage_add_cpu(&usage, price->policy, price->khz, NS_PER_S, NS_PER_S / price->busy) < 0)
                return NAN;
        mj = energy_mj(profile, &usage);
        usage_clear(&usage);
        return mj * 1e6 / NS_PER_S;
}

double price_cpu_nj(struct prices *prices, uint32_t cpu, uint64_t time_ns, unsigned busy)
{
        struct cpu_price price = { .busy = MIN(MAX(busy, 1u), BUSY_MAX) };

        if (!prices->profile)
                return 1;
        price.policy = price_policy(prices, cpu);
        price.khz = khz_at(prices, price.policy, time_ns);
        for (size_t i = 0; i < prices->n_cpu; i++)
                if (prices->cpu[i].policy == price.policy && prices->cpu[i].khz == price.khz &&
                    prices->cpu[i].busy == price.busy)
                        return prices->cpu[i].nj_per_ns;
        price.nj_per_ns = make_price(prices->profile, &price);
        if (util_grow(&prices->cpu, &prices->cpu_capacity, prices->n_cpu + 1, sizeof(price)) == 0)
                prices->cpu[prices->n_cpu++] = price;
        return price.nj_per_ns;
}

double price_nj(const struct prices *prices, enum amount amount)
{
        return prices->amount_nj[amount];
}
