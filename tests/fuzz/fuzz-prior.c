/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "prior.h"
#include "util/util.h"

/* A pool of others' profiles: whatever it contains, the prior stays within the bounds of the class. */

static const char class_text[] = "[profile]\nversion = 1\ndevice = class\nmethod = class\n[fit]\n"
                                 "degrees_of_freedom = 30\nscale_percent = 5\n[battery]\n"
                                 "energy_full_mwh = 50000\n[base]\npower_mw = 2800 1500\n[cpu 0]\n"
                                 "cpus = 0-3\nactive_mw.800000 = 330 170\nactive_mw.2400000 = 1500 750\n"
                                 "[display]\nmax_brightness = 1000\npower_mw.0 = 800 500\n"
                                 "power_mw.1000 = 4000 1900\n[wifi]\non_mw = 170 110\n";

static void check(const struct profile *prior, const struct profile *class)
{
        fuzz_assert(profile_check_covariance(prior) == 0);
        fuzz_assert(prior->energy_full_mwh == class->energy_full_mwh && !prior->match && prior->n_apps == 0);
        fuzz_assert(prior->scale_percent >= 5 && prior->degrees_of_freedom >= 4 &&
                    prior->degrees_of_freedom <= 30);
        for (size_t i = 0; i < prior->n_coefficients; i++) {
                const struct coefficient *c = &prior->coefficients[i];

                fuzz_assert(c->value >= 0 && c->value <= 4000 + 3 * 1900 && c->policy == 0 && !*c->disk);
                fuzz_assert(c->standard_error > 0 && c->standard_error <= 1900);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct profile *class;
        _cleanup_(profile_freep) struct profile *pool = NULL, *prior = NULL;
        _cleanup_free_ char *text = NULL;
        struct card_names names = { .of = { "" } };

        if (!class)
                fuzz_assert(profile_parse(class_text, strlen(class_text), "class", NULL, &class) == 0);
        if (card_read((const char *)data, size, "pool", NULL, &pool) < 0)
                return 0;
        for (int part = 0; part < CARD_PARTS; part++) {
                const char *name = card_name(pool, (enum card_part)part);

                fuzz_assert(!*name || card_is_name(name));
                snprintf(names.of[part], CARD_NAME_SIZE, "%s", name);
        }
        fuzz_assert(profile_copy(class, &prior) == 0);
        for (int part = 0; part < CARD_PARTS; part++)
                if (prior_take(&prior, class, pool, (enum card_part)part) >= 0)
                        check(prior, class);
        if (card_make(pool, &names, &text) == 0) {
                fuzz_assert(!strstr(text, "[app") && !strstr(text, "[learned]") && !strstr(text, "match ="));
        }
        return 0;
}
