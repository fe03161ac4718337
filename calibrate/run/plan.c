/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "plan-private.h"
#include "util/util.h"

const char *const plan_role_names[] = { "block", "level", "extra", "fine", "later", "candidate", "held back", "burn" };

/*
 * Five levels of brightness as shares of the maximum, dense where the curve bends (table 3 of AppScope has 5,
 * 55, 105, 178 and 255 of 255). Never 0: many panels take that for off.
 */
static const double display_levels[DISPLAY_LEVELS] = { 0.0196, 0.2157, 0.4118, 0.698, 1 };

/* A phone's battery; see plan_rates(). */
#define PHONE_MWH 15000
#define READ_MB_PER_S 40
#define WRITE_MB_PER_S 15
#define RX_MB_PER_S 1.5
#define TX_MB_PER_S 1.2
#define RATES_SCALE_MAX 4

struct plan_rates plan_rates(const struct hardware_description *description)
{
        double size = isnan(description->rough_mwh) ? 1 : description->rough_mwh / PHONE_MWH;
        double scale = fmin(fmax(size, 1), RATES_SCALE_MAX);

        return (struct plan_rates){
                .read_mb_per_s = round(READ_MB_PER_S * scale),
                .write_mb_per_s = round(WRITE_MB_PER_S * scale),
                .rx_mb_per_s = round(10 * RX_MB_PER_S * scale) / 10,
                .tx_mb_per_s = round(10 * TX_MB_PER_S * scale) / 10,
        };
}

void plan_clear(struct plan *plan)
{
        free(plan->modes);
        free(plan->before);
        profile_free(plan->model);
        *plan = (struct plan){ 0 };
}

const struct planned_mode *plan_find(const struct plan *plan, const char *name)
{
        for (size_t i = 0; i < plan->n; i++)
                if (!strcmp(plan->modes[i].mode.name, name))
                        return &plan->modes[i];
        return NULL;
}

int plan_add(struct plan *plan, enum plan_role role, const struct mode *mode)
{
        struct planned_mode *grown;

        if (plan_find(plan, mode->name))
                return 0; /* with two frequencies there is no middle one */
        grown = reallocarray(plan->modes, plan->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        plan->modes = grown;
        plan->modes[plan->n++] = (struct planned_mode){ .mode = *mode, .role = role, .visits_max = UINT32_MAX,
                                                        .guess_w = NAN };
        return 0;
}

struct mode plan_mode(const char *kind, const char *name, ...)
{
        struct mode mode = { 0 };
        va_list arguments;

        va_start(arguments, name);
        vsnprintf(mode.name, sizeof(mode.name), name, arguments);
        va_end(arguments);
        snprintf(mode.kind, sizeof(mode.kind), "%s", kind);
        return mode;
}

/* One policy busy at one frequency, the others idle at their lowest. */
struct mode plan_cpu_mode(const struct hardware_description *description, size_t policy, uint32_t khz,
                            bool all)
{
        const struct hardware_policy *p = &description->policies[policy];
        struct mode mode = plan_mode("cpu", "cpu.%u.%u.%s", p->policy, khz, all ? "all" : "one");

        mode.policy_khz[policy] = khz;
        mode.policy_cores[policy] = all ? MAX(p->n_cpus, 1u) : 1;
        return mode;
}

/* A policy of one core has no "all" besides "one". */
static int add_cpu(struct plan *plan, const struct hardware_description *description, enum plan_role role,
                   size_t policy, size_t khz, bool all)
{
        const struct hardware_policy *p = &description->policies[policy];
        struct mode mode = plan_cpu_mode(description, policy, p->khz[khz], all && p->n_cpus > 1);

        return plan_add(plan, role, &mode);
}

/*
 * The block has the lowest, middle and highest frequency, each with one core and with all: without both, A
 * and S cannot be separated. One core also gets the point above the middle; the smoothness of the curves
 * covers the rest.
 */
static int add_policy(struct plan *plan, const struct hardware_description *description, size_t policy)
{
        size_t n = description->policies[policy].n_khz, last = n - 1, middle = last / 2;
        const struct {
                size_t khz;
                bool all;
        } block[] = { { 0, false }, { MIN(middle + 1, last), false }, { last, false },
                      { 0, true }, { middle, true }, { last, true } };
        int err;

        if (n == 0)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(block); i++) {
                err = add_cpu(plan, description, ROLE_BLOCK, policy, block[i].khz, block[i].all);
                if (err)
                        return err;
        }
        for (size_t i = 0; i < n; i++) {
                err = add_cpu(plan, description, ROLE_EXTRA, policy, i, false);
                if (!err)
                        err = add_cpu(plan, description, ROLE_EXTRA, policy, i, true);
                if (err)
                        return err;
        }
        return 0;
}

/*
 * Idle power at an operating point is a few mW. One dwell in each pass of a gauge measures it; by level a state would
 * take a percent of charge and not measure it.
 */
static int add_idle(struct plan *plan, const struct hardware_description *description, size_t policy)
{
        const struct hardware_policy *p = &description->policies[policy];
        const size_t at[] = { p->n_khz - 1, (p->n_khz - 1) / 2 };
        int err = 0;

        for (size_t i = 0; !err && p->n_khz > 1 && i < ARRAY_SIZE(at) && at[i] > 0; i++) {
                struct mode mode = plan_mode("cpu", "cpu.%u.%u.idle", p->policy, p->khz[at[i]]);

                mode.policy_khz[policy] = p->khz[at[i]];
                err = plan_add(plan, ROLE_FINE, &mode);
        }
        return err;
}

uint32_t plan_brightness(const struct hardware_description *description, size_t level)
{
        double raw = round(display_levels[level] * description->max_brightness);

        return raw < 1 ? 1 : (uint32_t)raw;
}

/*
 * Without deep idle states a core that idles at a high clock takes a large part of a busy core's power. By level one
 * state measures that part, which is about the same for all policies.
 */
static int add_idle_top(struct plan *plan, const struct hardware_description *description)
{
        struct mode mode = plan_mode("cpu", "cpu.idle");
        bool any = false;

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *p = &description->policies[i];

                any = any || p->n_khz > 1;
                mode.policy_khz[i] = p->n_khz > 1 ? p->khz[p->n_khz - 1] : 0;
        }
        return any && description->idle_states == IDLE_STATES_SHALLOW ? plan_add(plan, ROLE_LEVEL, &mode) : 0;
}

static int add_kernel(struct plan *plan, const struct hardware_description *description, size_t policy,
                      const char *word, enum kernel kernel)
{
        const struct hardware_policy *p = &description->policies[policy];
        struct mode mode = plan_mode("kind", "kind.%u.%s", p->policy, word);

        mode.policy_khz[policy] = p->khz[p->n_khz - 1];
        mode.policy_cores[policy] = 1;
        mode.kernel = kernel;
        return plan_add(plan, ROLE_FINE, &mode);
}

/*
 * Programs execute more instructions in a cycle than the spin, and miss caches. By a gauge one core of each policy
 * measures the energy of both; by level all cores together measure the first, and the second has the usual value.
 */
static int add_kinds(struct plan *plan, const struct hardware_description *description)
{
        struct mode all = plan_mode("kind", "kind.ilp");
        int err = 0;

        all.kernel = KERNEL_ILP;
        for (size_t i = 0; !err && description->counters && i < description->n_policies; i++) {
                const struct hardware_policy *p = &description->policies[i];

                if (p->n_khz == 0)
                        continue;
                all.policy_khz[i] = p->khz[p->n_khz - 1];
                all.policy_cores[i] = MAX(p->n_cpus, 1u);
                err = add_kernel(plan, description, i, "ilp", KERNEL_ILP);
                if (!err && *description->miss_event)
                        err = add_kernel(plan, description, i, "stream", KERNEL_STREAM);
        }
        return err || !description->counters ? err : plan_add(plan, ROLE_LEVEL, &all);
}

static int add_display(struct plan *plan, const struct hardware_description *description)
{
        for (size_t i = 0; description->max_brightness && i < ARRAY_SIZE(display_levels); i++) {
                struct mode mode = { .kind = "display", .screen_on = true,
                                     .brightness = plan_brightness(description, i) };
                int err;

                snprintf(mode.name, sizeof(mode.name), "display.%u", mode.brightness);
                err = plan_add(plan, ROLE_BLOCK, &mode);
                if (err)
                        return err;
        }
        return 0;
}

/*
 * An OLED's power depends on its picture, which everything else is measured with in white. By percent only black, as
 * each state costs a percent.
 */
static int add_pictures(struct plan *plan, const struct hardware_description *description)
{
        static const struct {
                const char *name;
                double dark;
                size_t level;
                enum plan_role role;
        } pictures[] = {
                { "black", 1, DISPLAY_USUAL, ROLE_BLOCK },
                { "grey", 0.5, DISPLAY_USUAL, ROLE_FINE },
                { "black", 1, DISPLAY_MIDDLE, ROLE_FINE },
        };

        for (size_t i = 0; description->pictures && i < ARRAY_SIZE(pictures); i++) {
                uint32_t level = plan_brightness(description, pictures[i].level);
                struct mode mode = plan_mode("picture", "picture.%u.%s", level, pictures[i].name);
                int err;

                mode.screen_on = true;
                mode.brightness = level;
                mode.dark = pictures[i].dark;
                err = plan_add(plan, pictures[i].role, &mode);
                if (err)
                        return err;
        }
        return 0;
}

static int add_disk(struct plan *plan, const struct hardware_description *description)
{
        struct mode read = plan_mode("disk", "disk.read"), write = plan_mode("disk", "disk.write");
        int err;

        if (description->n_disks == 0)
                return 0;
        read.read_mb_per_s = plan_rates(description).read_mb_per_s;
        write.write_mb_per_s = plan_rates(description).write_mb_per_s;
        err = plan_add(plan, ROLE_BLOCK, &read);
        return err ? err : plan_add(plan, ROLE_BLOCK, &write);
}

/* Does a mode's load have another side? The source to receive from also serves to wake the radio. */
bool plan_can_move(const struct hardware_description *description, double receives, double sends)
{
        return (!(receives > 0) || description->wifi_rx) && (!(sends > 0) || description->wifi_tx);
}

static int add_wifi(struct plan *plan, const struct hardware_description *description)
{
        struct mode modes[] = { plan_mode("wifi", "wifi.on"), plan_mode("wifi", "wifi.rx"),
                                plan_mode("wifi", "wifi.tx"), plan_mode("wifi", "wifi.wake") };
        int err;

        if (!description->wifi)
                return 0;
        modes[1].rx_mb_per_s = plan_rates(description).rx_mb_per_s;
        modes[2].tx_mb_per_s = plan_rates(description).tx_mb_per_s;
        modes[3].wakes_per_s = WAKES_PER_S;
        for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
                modes[i].wifi_on = true;
                if (!plan_can_move(description, modes[i].rx_mb_per_s + modes[i].wakes_per_s, modes[i].tx_mb_per_s))
                        continue;
                err = plan_add(plan, ROLE_BLOCK, &modes[i]);
                if (err)
                        return err;
        }
        return 0;
}

/*
 * A radio stays awake between packets, and for a while after the last. The intervals between packets go from less than
 * any timer of a radio to some seconds, in half octaves, so that each timer and each threshold lies between two rates.
 * By level only some of them are measured.
 */
static const struct {
        double times_per_s;
        uint32_t burst; /* packets per burst */
        enum plan_role role;
} ramp[] = {
        { 108, 1, ROLE_LATER },  { 76, 1, ROLE_LATER },    { 54, 1, ROLE_BLOCK },     { 38, 1, ROLE_LATER },
        { 27, 1, ROLE_LATER },   { 19, 1, ROLE_BLOCK },    { 13.5, 1, ROLE_LATER },   { 9.5, 1, ROLE_LATER },
        { 6.7, 1, ROLE_BLOCK },  { 4.8, 1, ROLE_LATER },   { 3.4, 1, ROLE_LATER },    { 2.4, 1, ROLE_BLOCK },
        { 1.7, 1, ROLE_LATER },  { 1.2, 1, ROLE_LATER },   { 0.84, 1, ROLE_LATER },   { 0.6, 1, ROLE_LATER },
        { 0.42, 1, ROLE_LATER }, { 0.3, 1, ROLE_BLOCK },   { 0.21, 1, ROLE_LATER },   { 0.15, 1, ROLE_LATER },
        { 1, 100, ROLE_LATER },  { 0.5, 100, ROLE_BLOCK }, { 0.25, 100, ROLE_LATER },
};

static int add_packets(struct plan *plan, enum plan_role role, double times_per_s, uint32_t burst, struct mode *mode)
{
        mode->packets_per_s = times_per_s * burst;
        mode->burst_packets = burst > 1 ? burst : 0;
        return plan_add(plan, role, mode);
}

static int add_ramp(struct plan *plan, const struct hardware_description *description)
{
        if (!description->wifi_packets || !description->wifi_tx)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(ramp); i++) {
                bool burst = ramp[i].burst > 1;
                struct mode mode = plan_mode("radio", "radio.%s%g", burst ? "bursts." : "", ramp[i].times_per_s);
                int err;

                mode.wifi_on = true;
                err = add_packets(plan, ramp[i].role, ramp[i].times_per_s, ramp[i].burst, &mode);
                if (err)
                        return err;
        }
        return 0;
}

/*
 * A modem has tails of some seconds to 20, promotions of up to some seconds, and perhaps a better channel
 * for large packets. Its network is paid for by the byte, so high rates are few.
 */
static const struct {
        double times_per_s;
        uint32_t burst;
        bool large;
        enum plan_role role;
} modem_ramp[] = {
        { 54, 1, false, ROLE_LATER },    { 19, 1, false, ROLE_BLOCK },    { 6.7, 1, false, ROLE_LATER },
        { 2.4, 1, false, ROLE_BLOCK },   { 1.2, 1, false, ROLE_LATER },   { 0.6, 1, false, ROLE_BLOCK },
        { 0.42, 1, false, ROLE_LATER },  { 0.3, 1, false, ROLE_LATER },   { 0.21, 1, false, ROLE_BLOCK },
        { 0.15, 1, false, ROLE_LATER },  { 0.105, 1, false, ROLE_LATER }, { 0.074, 1, false, ROLE_BLOCK },
        { 0.053, 1, false, ROLE_LATER }, { 0.037, 1, false, ROLE_BLOCK }, { 0.4, 50, false, ROLE_LATER },
        { 0.1, 50, false, ROLE_LATER },  { 2.4, 1, true, ROLE_BLOCK },    { 0.6, 1, true, ROLE_LATER },
        { 0.21, 1, true, ROLE_LATER },   { 0.105, 1, true, ROLE_LATER },  { 0.053, 1, true, ROLE_BLOCK },
};

#define MODEM_RX_MB_PER_S 0.3
#define MODEM_TX_MB_PER_S 0.1

static int add_modem(struct plan *plan, const struct hardware_description *description)
{
        struct mode rx = plan_mode("cellular", "cellular.rx"), tx = plan_mode("cellular", "cellular.tx");
        int err;

        if (!description->cellular)
                return 0;
        rx.air = tx.air = AIR_CELLULAR;
        rx.rx_mb_per_s = MODEM_RX_MB_PER_S;
        tx.tx_mb_per_s = MODEM_TX_MB_PER_S;
        err = plan_add(plan, ROLE_BLOCK, &rx);
        if (!err)
                err = plan_add(plan, ROLE_BLOCK, &tx);
        for (size_t i = 0; !err && i < ARRAY_SIZE(modem_ramp); i++) {
                struct mode mode = plan_mode("cellular", "cellular.%s%g", modem_ramp[i].large ? "large." :
                                             modem_ramp[i].burst > 1 ? "bursts." : "", modem_ramp[i].times_per_s);

                mode.air = AIR_CELLULAR;
                mode.large_packets = modem_ramp[i].large;
                err = add_packets(plan, modem_ramp[i].role, modem_ramp[i].times_per_s, modem_ramp[i].burst, &mode);
        }
        return err;
}

static int add_gpu(struct plan *plan, const struct hardware_description *description)
{
        struct mode mode = plan_mode("gpu", "gpu.full");

        mode.gpu = 1;
        return description->gpu ? plan_add(plan, ROLE_BLOCK, &mode) : 0;
}

int plan_make(const struct hardware_description *description, struct plan *ret)
{
        struct plan plan = { 0 };
        struct mode idle = plan_mode("idle", "idle");
        int err = plan_add(&plan, ROLE_BLOCK, &idle);

        for (size_t i = 0; !err && i < description->n_policies; i++)
                err = add_policy(&plan, description, i);
        for (size_t i = 0; !err && i < description->n_policies; i++)
                err = add_idle(&plan, description, i);
        if (!err)
                err = add_idle_top(&plan, description);
        if (!err)
                err = add_kinds(&plan, description);
        if (!err)
                err = add_display(&plan, description);
        if (!err)
                err = add_pictures(&plan, description);
        if (!err)
                err = add_disk(&plan, description);
        if (!err)
                err = add_wifi(&plan, description);
        if (!err)
                err = add_ramp(&plan, description);
        if (!err)
                err = add_modem(&plan, description);
        if (!err)
                err = add_gpu(&plan, description);
        if (!err)
                err = plan_add_mixtures(&plan, description);
        if (!err)
                err = plan_add_held_back(&plan, description);
        if (!err)
                err = plan_add_burn(&plan, description);
        if (!err)
                err = plan_guess(description, &plan);
        if (err) {
                plan_clear(&plan);
                return err;
        }
        plan_mark_core(description, &plan);
        *ret = plan;
        return 0;
}
