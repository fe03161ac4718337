/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SApp's own procedure (Bramble, Swift: Predicting Power Usage of Android Applications, section 3.1 and
 * figure 1): the display at 70 % in white; every frequency in random order; reads and writes of 32,000 bytes,
 * 1,200 in a pass; WiFi receiving. Besides the CPU's own modes, one thread spins on each core at the median
 * frequency. Three iterations of one percent each; the fit takes the one of median length.
 */

#include "sapp-plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define SAPP_BRIGHTNESS 0.7
#define SAPP_OPERATION_BYTES 32000
#define SAPP_OPERATIONS 1200

/* The paper gives no rates: typical for flash and WiFi of its time. */
#define SAPP_READ_MB_PER_S 20
#define SAPP_WRITE_MB_PER_S 10
#define SAPP_RX_MB_PER_S 1.5

/* Every core of every policy spins at its median frequency. */
static struct mode spinning(const struct hardware_description *description, const char *kind,
                            const char *name)
{
        struct mode mode = plan_mode(kind, "%s", name);

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];

                mode.policy_khz[i] = policy->n_khz ? policy->khz[policy->n_khz / 2] : 0;
                mode.policy_cores[i] = MAX(policy->n_cpus, 1u);
        }
        return mode;
}

/*
 * With several policies (the paper's device had one) the others idle, so that each frequency is measured
 * alone.
 */
static int add_frequencies(struct plan *plan, const struct hardware_description *description)
{
        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];

                for (size_t k = 0; k < policy->n_khz; k++) {
                        struct mode mode = plan_mode("cpu", "sapp.cpu.%u.%u", policy->policy, policy->khz[k]);
                        int err;

                        mode.policy_khz[i] = policy->khz[k];
                        mode.policy_cores[i] = MAX(policy->n_cpus, 1u);
                        err = plan_add(plan, ROLE_BLOCK, &mode);
                        if (err)
                                return err;
                }
        }
        return 0;
}

static int add_disk(struct plan *plan, const struct hardware_description *description)
{
        struct mode read = spinning(description, "disk", "sapp.disk.read");
        struct mode write = spinning(description, "disk", "sapp.disk.write");
        int err;

        read.operation_bytes = write.operation_bytes = SAPP_OPERATION_BYTES;
        read.operations = write.operations = SAPP_OPERATIONS;
        read.read_mb_per_s = SAPP_READ_MB_PER_S;
        write.write_mb_per_s = SAPP_WRITE_MB_PER_S;
        err = plan_add(plan, ROLE_BLOCK, &read);
        return err ? err : plan_add(plan, ROLE_BLOCK, &write);
}

static int add_components(struct plan *plan, const struct hardware_description *description)
{
        struct mode wifi = spinning(description, "wifi", "sapp.wifi.rx");
        int err = description->n_disks ? add_disk(plan, description) : 0;

        wifi.wifi_on = true;
        wifi.rx_mb_per_s = SAPP_RX_MB_PER_S;
        return !err && description->wifi && description->wifi_rx ? plan_add(plan, ROLE_BLOCK, &wifi) : err;
}

static int add_burn(struct plan *plan, const struct hardware_description *description)
{
        struct mode burn = spinning(description, "burn", "burn");

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];

                burn.policy_khz[i] = policy->n_khz ? policy->khz[policy->n_khz - 1] : 0;
        }
        plan->burn = plan->n;
        return plan_add(plan, ROLE_BURN, &burn);
}

int sapp_plan_make(const struct hardware_description *description, struct plan *ret)
{
        struct mode display = spinning(description, "display", "sapp.display");
        struct plan plan = { .sapp = true };
        int err = 0;

        if (description->n_policies == 0)
                return -ENODATA;
        display.screen_on = true;
        display.brightness = (uint32_t)lround(SAPP_BRIGHTNESS * description->max_brightness);
        if (description->max_brightness)
                err = plan_add(&plan, ROLE_BLOCK, &display);
        if (!err)
                err = add_frequencies(&plan, description);
        if (!err)
                err = add_components(&plan, description);
        if (!err)
                err = add_burn(&plan, description);
        if (!err)
                err = plan_guess(description, &plan);
        if (err) {
                plan_clear(&plan);
                return err;
        }
        *ret = plan;
        return 0;
}
