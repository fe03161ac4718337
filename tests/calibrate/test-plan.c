/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "plan-fixture.h"
#include "run/run.h"
#include "sapp/sapp-plan.h"
#include "util/units.h"
#include "util/util.h"

static size_t count(const struct plan *plan, enum plan_role role, const char *kind)
{
        size_t n = 0;

        for (size_t i = 0; i < plan->n; i++)
                n += plan->modes[i].role == role && (!kind || !strcmp(plan->modes[i].mode.kind, kind));
        return n;
}

/* The block has one and all cores at three frequencies at least; every frequency occurs somewhere. */
static void check_policy(const struct plan *plan, const struct hardware_policy *policy)
{
        size_t one = 0, all = 0;

        for (size_t k = 0; k < policy->n_khz; k++) {
                static const char *const ends[] = { "one", "all" };

                for (size_t e = 0; e < 2; e++) {
                        const struct planned_mode *mode;
                        char name[MODE_NAME_MAX];

                        snprintf(name, sizeof(name), "cpu.%u.%u.%s", policy->policy, policy->khz[k], ends[e]);
                        mode = plan_find(plan, name);
                        check(mode != NULL);
                        if (mode && mode->role == ROLE_BLOCK)
                                *(e ? &all : &one) += 1;
                }
        }
        check(one >= 3 && all >= 3);
}

static void has_everything(void)
{
        for (size_t policies = 1; policies <= 3; policies++) {
                struct hardware_description description;
                struct plan plan = { 0 };

                phone(&description, policies, 12);
                check_int(plan_make(&description, &plan), 0);
                for (size_t i = 0; i < policies; i++)
                        check_policy(&plan, &description.policies[i]);
                check_int(count(&plan, ROLE_BLOCK, "idle"), 1);
                check_int(count(&plan, ROLE_BLOCK, "display"), 5);
                check_int(count(&plan, ROLE_BLOCK, "disk"), 2);
                check_int(count(&plan, ROLE_BLOCK, "wifi"), 4);
                check_int(count(&plan, ROLE_BLOCK, "gpu"), 0);
                check_int(count(&plan, ROLE_HELD_BACK, "mixed"), 2);
                check_int(count(&plan, ROLE_BURN, NULL), 1);
                check_text(plan.modes[plan.burn].mode.name, "burn");
                check(plan_find(&plan, "display.178") && plan_find(&plan, "display.5") &&
                      plan_find(&plan, "display.255"));
                /* Loads without a frequency run with the CPU idle. */
                for (size_t i = 0; i < plan.n; i++) {
                        const struct mode *mode = &plan.modes[i].mode;

                        check(plan.modes[i].guess_w > 0);
                        check(mode->held_back == (plan.modes[i].role == ROLE_HELD_BACK));
                        if (!strcmp(mode->kind, "display") || !strcmp(mode->kind, "disk") ||
                            !strcmp(mode->kind, "wifi"))
                                check(!mode->policy_cores[0] && !mode->policy_cores[1] &&
                                      !mode->policy_cores[2]);
                }
                plan_clear(&plan);
        }
}

/* A shortened block still loads every component. */
static void touches_everything(const struct plan *plan, const struct hardware_description *description)
{
        bool display = false, read = false, write = false, wifi = false, moves = false, idle = false;

        for (size_t p = 0; p < description->n_policies; p++) {
                bool busy = false;

                for (size_t i = 0; i < plan->n; i++)
                        busy |= plan->modes[i].role == ROLE_BLOCK && plan->modes[i].mode.policy_cores[p];
                check(busy);
        }
        for (size_t i = 0; i < plan->n; i++) {
                const struct mode *mode = &plan->modes[i].mode;

                if (plan->modes[i].role != ROLE_BLOCK)
                        continue;
                idle |= !strcmp(mode->kind, "idle");
                display |= mode->screen_on;
                read |= mode->read_mb_per_s > 0;
                write |= mode->write_mb_per_s > 0;
                wifi |= mode->wifi_on;
                moves |= mode->rx_mb_per_s > 0 && mode->tx_mb_per_s > 0;
        }
        check(idle && display && read && write && wifi && moves);
}

/* A limit shortens the block in all components; the states left out stay in the plan. */
static void shortened(void)
{
        for (size_t policies = 1; policies <= 4; policies++) {
                for (double most = 4; most <= 24; most++) {
                        struct hardware_description description;
                        size_t order[256], n, modes;
                        struct plan plan = { 0 };
                        bool fits;

                        phone(&description, policies, 12);
                        check_int(plan_make(&description, &plan), 0);
                        modes = plan.n;
                        fits = plan_shorten(&plan, most);
                        check(fits == (most >= (double)(5 + policies)));
                        check(!fits || (double)plan_block(&plan) <= most);
                        touches_everything(&plan, &description);
                        check_int(plan.n, modes);
                        n = plan_order(&plan, 3, 0, SIZE_MAX, false, order);
                        check_int(n, plan_block(&plan));
                        check_text(plan.modes[order[1]].mode.name, "idle");
                        for (size_t i = 2; i < n; i++) /* one state of each component before a second */
                                check(plan.modes[order[i]].core == 0 ||
                                      plan.modes[order[i]].core >= plan.modes[order[i - 1]].core);
                        plan_clear(&plan);
                }
        }
}

/* Where there is room, a sum of two coefficients and one of the two are measured, also with four policies. */
static void parts_of_sums(void)
{
        static const char *const modes[] = { "mixed.storage", "disk.write", "mixed.radio", "wifi.rx" };
        struct hardware_description description;
        struct plan plan = { 0 };

        phone(&description, 4, 12);
        check_int(plan_make(&description, &plan), 0);
        check(plan_shorten(&plan, 24));
        for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
                const struct planned_mode *mode = plan_find(&plan, modes[i]);

                check(mode && mode->role == ROLE_BLOCK);
        }
        plan_clear(&plan);
}

/* Small and odd devices get a plan without duplicates. */
static void small_devices(void)
{
        struct hardware_description description;
        struct plan plan = { 0 };

        phone(&description, 1, 1);
        description.policies[0].n_cpus = 1;
        description.max_brightness = 3;
        check_int(plan_make(&description, &plan), 0);
        check_int(count(&plan, ROLE_BLOCK, "cpu"), 1);
        check_int(count(&plan, ROLE_EXTRA, NULL), 0);
        check_int(count(&plan, ROLE_BLOCK, "display"), 3); /* 1, 2 and 3 */
        plan_clear(&plan);

        description = (struct hardware_description){ .energy_full_mwh = NAN, .rough_mwh = NAN };
        check_int(plan_make(&description, &plan), 0);
        check_int(count(&plan, ROLE_BLOCK, NULL), 1); /* idle is always there */
        plan_clear(&plan);
        check_int(sapp_plan_make(&description, &plan), -ENODATA);
}

/* No mode follows itself, the same seed gives the same order, and three passes visit every frequency. */
static void orders(void)
{
        struct hardware_description description;
        struct plan plan = { 0 };
        size_t order[256], again[256], last = SIZE_MAX;
        bool visited[64] = { false };
        size_t held_back = 0, idles = 0;

        phone(&description, 1, 12);
        check_int(plan_make(&description, &plan), 0);
        for (uint32_t pass = 0; pass < 3; pass++) {
                size_t n = plan_order(&plan, 7, pass, last, true, order);

                check_int(plan_order(&plan, 7, pass, last, true, again), n);
                check(!memcmp(order, again, n * sizeof(order[0])));
                for (size_t i = 0; i < n; i++) {
                        const struct mode *mode = &plan.modes[order[i]].mode;

                        check(order[i] != last);
                        last = order[i];
                        held_back += mode->held_back;
                        idles += !strcmp(mode->name, "idle");
                        for (size_t k = 0; k < 12; k++)
                                visited[k] |= !strcmp(mode->kind, "cpu") &&
                                              mode->policy_khz[0] == description.policies[0].khz[k];
                }
        }
        for (size_t k = 0; k < 12; k++)
                check(visited[k]);
        check_int(held_back, 2);
        check_int(idles, 18); /* every four dwells or so */
        plan_order(&plan, 7, 0, SIZE_MAX, false, order);
        plan_order(&plan, 8, 0, SIZE_MAX, false, again);
        check(memcmp(order, again, 20 * sizeof(order[0])) != 0);
        plan_clear(&plan);
}

static void sapp(void)
{
        struct hardware_description description;
        struct plan plan = { 0 };
        size_t order[256], n;

        phone(&description, 1, 12);
        check_int(sapp_plan_make(&description, &plan), 0);
        n = plan_order_repeated(&plan, 1, order);
        check_int(n, 3 * (1 + 12 + 2 + 1));
        check_text(plan.modes[order[0]].mode.name, "sapp.display");
        check_int(plan.modes[order[0]].mode.brightness, 179);
        check_text(plan.modes[order[n - 1]].mode.name, "sapp.wifi.rx");
        check_int(plan_find(&plan, "sapp.disk.read")->mode.operation_bytes, 32000);
        check_int(plan_find(&plan, "sapp.disk.write")->mode.operations, 1200);
        for (size_t i = 0; i < n; i++) {
                const struct mode *mode = &plan.modes[order[i]].mode;

                check_int(order[i], order[i - i % 3]);
                check_int(mode->policy_cores[0], 4);
                if (strcmp(mode->kind, "cpu"))
                        check_int(mode->policy_khz[0], 900000); /* the median of 300 to 1400 MHz */
                check(!mode->wifi_on || !strcmp(mode->kind, "wifi"));
        }
        plan_clear(&plan);
}

/* --only leaves idle, the burn, and what loads nothing else. */
static void only(void)
{
        struct hardware_description description;
        enum component missing = COMPONENT_COUNT;
        char name[PLAN_NAME_MAX];
        struct plan plan = { 0 };
        struct profile *before;

        check_int(profile_new("phone", 15000, &before), 0);
        phone(&description, 1, 12);
        check_int(plan_make(&description, &plan), 0);
        check_int(plan_only(&plan, 1u << COMPONENT_DISPLAY | 1u << COMPONENT_WIFI, before, &missing), 0);
        check_text(plan_name(&plan, name), "only display,wifi");
        check_text(plan.modes[PLAN_IDLE].mode.name, "idle");
        check_text(plan.modes[plan.burn].mode.name, "burn");
        check(plan_find(&plan, "display.255") && plan_find(&plan, "wifi.tx") && plan_find(&plan, "mixed.display-wifi"));
        check(!plan_find(&plan, "disk.read") && !plan_find(&plan, "mixed.display-disk"));
        for (size_t i = 0; i < plan.n; i++)
                check(i == plan.burn || (plan.modes[i].mode.policy_cores[0] == 0 && !plan.modes[i].mode.held_back));
        plan_clear(&plan);

        check_int(plan_make(&description, &plan), 0);
        check_int(plan_only(&plan, 1u << COMPONENT_BASE, before, &missing), 0);
        check_int((int)plan.n, 2);
        plan_clear(&plan);

        description.wifi = false;
        check_int(plan_make(&description, &plan), 0);
        check_int(plan_only(&plan, 1u << COMPONENT_DISPLAY | 1u << COMPONENT_WIFI, before, &missing), -ENODEV);
        check_int(missing, COMPONENT_WIFI);
        plan_clear(&plan);
        profile_free(before);
}

static void check_passes(const struct plan *plan)
{
        size_t order[256], last = SIZE_MAX;

        for (uint32_t pass = 0; pass < 3; pass++) {
                size_t n = plan_order(plan, 7, pass, last, true, order);

                check(n > 0 && n <= plan->n + PLAN_IDLES);
                for (size_t i = 0; i < n; i++) {
                        check(order[i] != last || plan->n == 2); /* idle and the burn alone */
                        last = order[i];
                }
        }
}

/* plan_order() keeps its promises for every choice of --only, too. */
static void orders_of_only(void)
{
        struct hardware_description description;
        enum component missing;
        struct profile *before;

        check_int(profile_new("phone", 15000, &before), 0);
        for (size_t khz = 1; khz <= 12; khz++) {
                phone(&description, 1 + khz % 4, khz);
                for (unsigned only = 1; only < 1u << COMPONENT_COUNT; only++) {
                        struct plan plan = { 0 };

                        check_int(plan_make(&description, &plan), 0);
                        if (plan_only(&plan, only, before, &missing) == 0)
                                check_passes(&plan);
                        plan_clear(&plan);
                }
        }
        profile_free(before);
}

/* A device that counts gets two states a policy for a gauge and one for a level, and no other device does. */
static void kinds_where_they_are_counted(void)
{
        struct hardware_description description;
        size_t order[256], n;

        phone(&description, 2, 12);
        for (size_t i = 0; i < 3; i++) {
                struct plan plan = { 0 };
                size_t kinds[2] = { 0 };

                description.counters = i > 0;
                snprintf(description.miss_event, sizeof(description.miss_event), "%s", i > 1 ? "l2d_cache" : "");
                description.idle_states = i > 1 ? IDLE_STATES_SHALLOW : IDLE_STATES_UNKNOWN;
                check_int(plan_make(&description, &plan), 0);
                check(plan.n + PLAN_IDLES < ARRAY_SIZE(order));
                for (size_t gauge = 0; gauge < 2; gauge++) {
                        n = plan_order(&plan, 1, 0, SIZE_MAX, gauge, order);
                        for (size_t k = 0; k < n; k++)
                                kinds[gauge] += !strcmp(plan.modes[order[k]].mode.kind, "kind");
                }
                check_int(kinds[0], i > 0);
                check_int(kinds[1], 2 * i);
                check_int(plan_find(&plan, "cpu.idle") != NULL, i > 1);
                check_int(plan_find(&plan, "kind.4.stream") != NULL, i > 1);
                check(plan_shorten(&plan, 12));
                n = plan_order(&plan, 1, 0, SIZE_MAX, false, order);
                for (size_t k = 0; k < n; k++)
                        check(strcmp(plan.modes[order[k]].mode.kind, "kind") != 0);
                plan_clear(&plan);
        }
}

int main(void)
{
        kinds_where_they_are_counted();
        has_everything();
        shortened();
        parts_of_sums();
        small_devices();
        orders();
        sapp();
        only();
        orders_of_only();
        return check_result();
}
