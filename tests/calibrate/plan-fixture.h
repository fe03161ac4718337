/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "run/plan.h"

/* A phone with a 15 Wh battery whose policies have four CPUs and @n_khz frequencies each. */
static inline void phone(struct hardware_description *description, size_t n_policies, size_t n_khz)
{
        *description = (struct hardware_description){ .device = "phone",
                                                      .max_brightness = 255,
                                                      .n_disks = 1,
                                                      .wifi = true,
                                                      .wifi_rx = true,
                                                      .wifi_tx = true,
                                                      .voltage = true,
                                                      .energy_full_mwh = NAN,
                                                      .rough_mwh = 15000 };
        description->n_policies = n_policies;
        for (size_t i = 0; i < n_policies; i++) {
                description->policies[i] = (struct hardware_policy){ .policy = (uint32_t)(4 * i),
                                                                     .n_cpus = 4,
                                                                     .n_khz = n_khz };
                for (size_t k = 0; k < n_khz; k++)
                        description->policies[i].khz[k] = (uint32_t)(300000 + 100000 * k);
        }
}
