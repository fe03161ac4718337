/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A plan that has less than all of its modes: a short block, and a calibration of some components only. */

#include <errno.h>
#include <string.h>

#include "plan-private.h"
#include "util/util.h"

#define CORES 3 /* stages of a short block */

static void mark(struct plan *plan, const char *name, unsigned core)
{
        for (size_t i = 0; i < plan->n; i++)
                if (!strcmp(plan->modes[i].mode.name, name) && plan->modes[i].core == 0)
                        plan->modes[i].core = core;
}

static void mark_cpu(const struct hardware_description *description, struct plan *plan, size_t policy, size_t khz,
                     bool all, unsigned core)
{
        const struct hardware_policy *p = &description->policies[policy];
        struct mode mode = plan_cpu_mode(description, policy, p->khz[khz], all && p->n_cpus > 1);

        mark(plan, mode.name, core);
}

/*
 * The short block: first one state of each component, then states that separate its coefficients. The smoothness and
 * the likeness of the curves cover the rest (calibrate/fit/regression-shape.c).
 */
void plan_mark_core(const struct hardware_description *description, struct plan *plan)
{
        static const struct {
                size_t level;
                unsigned core;
        } levels[] = { { DISPLAY_USUAL, 1 }, { 0, 2 }, { DISPLAY_LEVELS - 1, 3 } };

        mark(plan, "idle", 1);
        for (size_t i = 0; i < description->n_policies; i++) {
                size_t n = description->policies[i].n_khz;

                if (n == 0)
                        continue;
                mark_cpu(description, plan, i, n - 1, true, 1);
                mark_cpu(description, plan, i, 0, false, 2);
        }
        for (size_t i = 0; description->max_brightness && i < ARRAY_SIZE(levels); i++) {
                char name[MODE_NAME_MAX];

                snprintf(name, sizeof(name), "display.%u", plan_brightness(description, levels[i].level));
                mark(plan, name, levels[i].core);
        }
        mark(plan, plan_find(plan, "mixed.storage") ? "mixed.storage" : "disk.read", 1);
        mark(plan, plan_find(plan, "mixed.radio") ? "mixed.radio" : "wifi.on", 1);
        mark(plan, "wifi.wake", 1);
        mark(plan, "gpu.full", 1);
        mark(plan, "disk.write", CORES);
        mark(plan, "wifi.rx", CORES);
        mark(plan, "wifi.tx", CORES);
        for (size_t i = 0; i < plan->n; i++)
                if ((plan->modes[i].mode.dark > 0 || plan->modes[i].mode.air == AIR_CELLULAR) &&
                    plan->modes[i].role == ROLE_BLOCK)
                        plan->modes[i].core = CORES;
}

bool plan_shorten(struct plan *plan, double most)
{
        size_t wanted[CORES + 1] = { 0 }, n = 0, held_back = 0;
        unsigned core = 1;

        for (size_t i = 0; i < plan->n; i++)
                if (plan->modes[i].core)
                        wanted[plan->modes[i].core]++;
        for (n = wanted[1]; core < CORES && (double)(n + wanted[core + 1]) <= most - 1; core++)
                n += wanted[core + 1];
        for (size_t i = 0; i < plan->n; i++) {
                struct planned_mode *mode = &plan->modes[i];

                if (mode->core > 0 && mode->core <= core)
                        mode->role = ROLE_BLOCK;
                else if (mode->role == ROLE_BLOCK)
                        mode->role = ROLE_EXTRA;
                else if (mode->role == ROLE_LEVEL)
                        mode->visits_max = 0;
                else if (mode->role == ROLE_HELD_BACK && (double)(n + ++held_back) > most)
                        mode->visits_max = 0;
        }
        plan->brief = true;
        return (double)n <= most;
}

size_t plan_block(const struct plan *plan)
{
        size_t n = 0;

        for (size_t i = 0; i < plan->n; i++)
                n += plan->modes[i].visits_max > 0 &&
                     (plan->modes[i].role == ROLE_BLOCK || plan->modes[i].role == ROLE_HELD_BACK);
        return n;
}

static unsigned loads(const struct mode *mode)
{
        unsigned components = 0;

        for (size_t i = 0; i < ARRAY_SIZE(mode->policy_cores); i++)
                components |= mode->policy_cores[i] || mode->policy_khz[i] ? 1u << COMPONENT_CPU : 0;
        components |= mode->screen_on ? 1u << COMPONENT_DISPLAY : 0;
        components |= mode->read_mb_per_s + mode->write_mb_per_s > 0 ? 1u << COMPONENT_DISK : 0;
        components |= mode->wifi_on ? 1u << COMPONENT_WIFI : 0;
        components |= mode->air == AIR_CELLULAR ? 1u << COMPONENT_CELLULAR : 0;
        components |= mode->gpu > 0 ? 1u << COMPONENT_GPU : 0;
        return components;
}

int plan_only(struct plan *plan, unsigned only, const struct profile *before, enum component *missing)
{
        unsigned offered = 1u << COMPONENT_BASE;
        size_t n = 0;
        int err = profile_print(before, &plan->before);

        for (size_t i = 0; i < plan->n; i++) {
                unsigned components = loads(&plan->modes[i].mode);
                bool burn = i == plan->burn;

                if (!burn && components & ~only)
                        continue;
                offered |= burn ? 0 : components;
                plan->burn = burn ? n : plan->burn;
                plan->modes[n++] = plan->modes[i];
        }
        plan->n = n;
        plan->only = only;
        for (unsigned c = 0; !err && c < COMPONENT_COUNT; c++)
                if (only & ~offered & 1u << c) {
                        *missing = c;
                        return -ENODEV;
                }
        return err;
}

char *plan_name(const struct plan *plan, char *buf)
{
        size_t length = 0;

        snprintf(buf, PLAN_NAME_MAX, "%s", plan->sapp ? "sapp" : "");
        for (unsigned c = 0; c < COMPONENT_COUNT; c++)
                if (plan->only & 1u << c)
                        length += (size_t)snprintf(buf + length, PLAN_NAME_MAX - length, "%s%s", length ? "," : "only ",
                                                   component_names[c]);
        return buf;
}
