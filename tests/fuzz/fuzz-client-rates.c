/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "shared/client-rates.h"
#include "fuzz.h"

/* Packed rates of a client: accepted ones have only existing apps and contexts, and finite sums. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct client_rates rates = { .n = 0 };
        int err = client_rates_read(data, size, &rates);

        fuzz_assert(err == 0 || err == -EBADMSG);
        for (size_t i = 0; !err && i < rates.n; i++) {
                const struct client_rate *rate = &rates.list[i];

                fuzz_assert(rate->rate >= 0 && rate->low >= 0 && rate->high >= 0 && rate->context < rates.n_contexts);
                fuzz_assert(rates.n_apps == 0 ||
                            (rate->apps >= data && rate->apps + (rates.n_apps + 7) / 8 <= data + size));
        }
        for (size_t i = 0; !err && i < rates.n_apps; i++)
                fuzz_assert(rates.apps[i].own_ms >= 0 && rates.apps[i].own_mj >= 0 &&
                            (rates.apps[i].own_n > 0 || !rates.apps[i].own_mj));
        if (!err) {
                int64_t s1, s2;

                fuzz_assert(client_rates_sum(&rates, &s1, &s2) == 0);
                for (size_t i = 0; i < rates.n_apps; i++)
                        fuzz_assert(rates.uses[i].weight >= 0 && rates.uses[i].with >= 0 && rates.uses[i].without >= 0);
        }
        client_rates_clear(&rates);
        return 0;
}
