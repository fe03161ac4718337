/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-private.h"

#include <math.h>
#include <string.h>

#include "util/util.h"

/* The part of a mixture that the device can do. */
static void mix_display(const struct hardware_description *description, struct mode *mode, size_t level)
{
        if (!description->max_brightness)
                return;
        mode->screen_on = true;
        mode->brightness = plan_brightness(description, level);
}

static void mix_wifi(const struct hardware_description *description, struct mode *mode, double rx, double tx,
                     double wakes)
{
        if (!description->wifi)
                return;
        mode->wifi_on = true;
        mode->rx_mb_per_s = description->wifi_rx ? rx : 0;
        mode->tx_mb_per_s = description->wifi_tx ? tx : 0;
        mode->wakes_per_s = description->wifi_rx ? wakes : 0;
}

static void mix_cpu(const struct hardware_description *description, struct mode *mode, size_t policy,
                    double at, uint32_t cores)
{
        const struct hardware_policy *p;

        if (policy >= description->n_policies || description->policies[policy].n_khz == 0)
                return;
        p = &description->policies[policy];
        mode->policy_khz[policy] = p->khz[(size_t)lround(at * (double)(p->n_khz - 1))];
        mode->policy_cores[policy] = MIN(cores, MAX(p->n_cpus, 1u));
}

/* One row of the table of mixtures. Levels: -1 none. */
struct mixture {
        const char *name;
        int level;           /* index of the brightness */
        double at;           /* position among the frequencies, 0..1 */
        uint32_t cores;
        bool wifi;
        double rx, tx, read, write; /* share of the rates of their own modes, 0..1 */
        double wakes_per_s;
};

/*
 * Candidates: a small coefficient together with a heavy load, which shortens the step, and mixtures like real
 * apps: measuring such a sum directly is worth more than measuring each part.
 */
static const struct mixture mixtures[] = {
        { .name = "mixed.display-wifi", .level = 1, .wifi = true },
        { .name = "mixed.cpu-wifi", .level = -1, .at = 0, .cores = 1, .wifi = true },
        { .name = "mixed.display-wake", .level = 1, .wifi = true, .wakes_per_s = WAKES_PER_S },
        { .name = "mixed.display-disk", .level = DISPLAY_MIDDLE, .read = 1 },
        { .name = "mixed.reading", .level = DISPLAY_USUAL, .at = 0, .cores = 1, .wifi = true },
        { .name = "mixed.browsing", .level = DISPLAY_USUAL, .at = 0.5, .cores = 1, .wifi = true, .rx = 0.2,
          .tx = 0.1 },
        { .name = "mixed.playing", .level = DISPLAY_USUAL, .at = 1, .cores = 2, .wifi = true },
        { .name = "mixed.storage", .level = -1, .read = 1, .write = 1 },
        { .name = "mixed.radio", .level = -1, .wifi = true, .rx = 1, .tx = 1 },
        { .name = "mixed.streaming", .level = DISPLAY_MIDDLE, .at = 0.3, .cores = 1, .wifi = true, .rx = 1 },
};

static bool can(const struct hardware_description *description, const struct mixture *mixture)
{
        return (mixture->level < 0 || description->max_brightness) &&
               (!mixture->cores || description->n_policies) && (!mixture->wifi || description->wifi) &&
               plan_can_move(description, mixture->rx + mixture->wakes_per_s, 0) &&
               (!(mixture->read > 0) || description->n_disks);
}

static int add_mixture(struct plan *plan, const struct hardware_description *description,
                       const struct mixture *mixture, size_t policy)
{
        struct plan_rates rates = plan_rates(description);
        struct mode mode = { .kind = "mixed", .read_mb_per_s = mixture->read * rates.read_mb_per_s,
                             .write_mb_per_s = mixture->write * rates.write_mb_per_s };

        snprintf(mode.name, sizeof(mode.name), "%s", mixture->name);
        if (policy > 0)
                snprintf(mode.name, sizeof(mode.name), "%s.%u", mixture->name,
                         description->policies[policy].policy);
        if (mixture->level >= 0)
                mix_display(description, &mode, (size_t)mixture->level);
        if (mixture->cores)
                mix_cpu(description, &mode, policy, mixture->at, mixture->cores);
        if (mixture->wifi)
                mix_wifi(description, &mode, mixture->rx * rates.rx_mb_per_s, mixture->tx * rates.tx_mb_per_s,
                         mixture->wakes_per_s);
        return plan_add(plan, ROLE_CANDIDATE, &mode);
}

/* Mixtures with load on each policy. */
int plan_add_mixtures(struct plan *plan, const struct hardware_description *description)
{
        for (size_t i = 0; i < ARRAY_SIZE(mixtures); i++) {
                size_t n = mixtures[i].cores ? description->n_policies : 1;

                for (size_t k = 0; can(description, &mixtures[i]) && k < n; k++) {
                        int err = add_mixture(plan, description, &mixtures[i], k);

                        if (err)
                                return err;
                }
        }
        return 0;
}

/* Two realistic mixtures: a game, and a download beside a background task. */
int plan_add_held_back(struct plan *plan, const struct hardware_description *description)
{
        struct mode game = plan_mode("mixed", "mixed.held-back.1");
        struct mode download = plan_mode("mixed", "mixed.held-back.2");
        size_t last = description->n_policies ? description->n_policies - 1 : 0;
        int err;

        mix_display(description, &game, DISPLAY_USUAL);
        mix_wifi(description, &game, 0.2, 0.05, 0);
        mix_cpu(description, &game, 0, 0.6, 2);
        game.gpu = description->gpu ? 0.4 : 0;
        mix_display(description, &download, 1);
        mix_wifi(description, &download, 0.8, 0.1, 0);
        mix_cpu(description, &download, last, 0.3, 1);
        if (description->n_disks) {
                download.read_mb_per_s = 2;
                download.write_mb_per_s = 4;
        }
        game.held_back = download.held_back = true;
        err = plan_add(plan, ROLE_HELD_BACK, &game);
        return err ? err : plan_add(plan, ROLE_HELD_BACK, &download);
}

/* All cores at their highest frequency, the screen at its brightest. */
int plan_add_burn(struct plan *plan, const struct hardware_description *description)
{
        struct mode burn = plan_mode("burn", "burn");

        for (size_t i = 0; i < description->n_policies; i++)
                mix_cpu(description, &burn, i, 1, description->policies[i].n_cpus);
        mix_display(description, &burn, DISPLAY_LEVELS - 1);
        burn.gpu = description->gpu ? 1 : 0;
        plan->burn = plan->n;
        return plan_add(plan, ROLE_BURN, &burn);
}
