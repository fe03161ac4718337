/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "community/client-rates.h"
#include "fuzz.h"

/* Packed rates of a client: what is not refused has only apps and contexts that are there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct client_rates rates = { .n = 0 };
        int err = client_rates_read(data, size, &rates);

        fuzz_assert(err == 0 || err == -EBADMSG);
        for (size_t i = 0; !err && i < rates.n; i++) {
                const struct client_rate *rate = &rates.list[i];

                fuzz_assert(rate->rate >= 0 && rate->low >= 0 && rate->high >= 0 && rate->context < rates.n_contexts);
                fuzz_assert(rates.n_apps == 0 || (rate->apps >= data && rate->apps + (rates.n_apps + 7) / 8 <= data + size));
        }
        for (size_t i = 0; !err && i < rates.n_apps; i++)
                fuzz_assert(rates.apps[i].own_ms >= 0 && rates.apps[i].own_mj >= 0 && (rates.apps[i].own_n > 0 || !rates.apps[i].own_mj));
        client_rates_clear(&rates);
        return 0;
}
