/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The truth, for the harness. Nothing of it ever enters the phone. */

#include <math.h>
#include <string.h>

#include "util/util.h"
#include "virtual/virtual-truth.h"
#include "world.h"

static void add(cJSON *json, const char *name, double value)
{
        cJSON_AddNumberToObject(json, name, isfinite(value) ? value : NAN); /* NaN prints as null */
}

/* "cpu.0.800000": J -> {"cpu": {"0": {"800000": J}}}, and "disk.read": J -> {"disk": {"read": J}}. */
static void add_component(cJSON *json, const char *name, double energy_j)
{
        const char *dot = strchr(name, '.');
        char head[APP_ID_MAX];
        cJSON *inner;

        if (!dot) {
                add(json, name, energy_j);
                return;
        }
        snprintf(head, sizeof(head), "%.*s", (int)(dot - name), name);
        inner = cJSON_GetObjectItemCaseSensitive(json, head);
        if (!inner)
                inner = cJSON_AddObjectToObject(json, head);
        if (inner)
                add_component(inner, dot + 1, energy_j);
}

static void add_busy(const struct world *world, cJSON *json)
{
        cJSON *busy = cJSON_AddArrayToObject(json, "busy_s");

        for (size_t i = 0; busy && i < world->sample.n_cores; i++)
                cJSON_AddItemToArray(busy, cJSON_CreateNumber(world->busy_s[i]));
}

/* Seconds of the phone's: of the policy at that frequency, and of its CPUs at work there. */
static void add_opps(const struct world *world, cJSON *json)
{
        cJSON *opps = cJSON_AddArrayToObject(json, "opps");

        for (size_t i = 0; opps && i < world->sample.n_opps; i++) {
                const struct opp *now = &world->sample.opps[i], *then = &world->marked[i];
                cJSON *opp = cJSON_CreateObject();

                add(opp, "policy", now->policy);
                add(opp, "khz", now->khz);
                add(opp, "time_s", (double)(now->time_ns - then->time_ns) / 1e9 / world->factor);
                add(opp, "busy_s", (double)(now->busy_ns - then->busy_ns) / 1e9 / world->factor);
                cJSON_AddItemToArray(opps, opp);
        }
}

cJSON *world_truth(struct world *world)
{
        cJSON *json = cJSON_CreateObject(), *components;
        struct virtual_truth truth;

        if (!json)
                return NULL;
        virtual_truth_read(world->device, &truth);
        add(json, "factor", world->factor);
        add(json, "elapsed_s", world->phone_s);
        add(json, "total_j", truth.total_j);
        add(json, "base_j", truth.base_j);
        components = cJSON_AddObjectToObject(json, "components_j");
        for (size_t i = 0; components && i < truth.n_apps; i++)
                add_component(components, truth.apps[i].app, truth.apps[i].energy_j);
        add(json, "percent_start", truth.percent_start);
        add(json, "percent", truth.percent_end);
        add(json, "temperature_c", virtual_temperature_c(world->device));
        add_busy(world, json);
        add_opps(world, json);
        add(json, "read_bytes", (double)world->total.read_bytes);
        add(json, "write_bytes", (double)world->total.write_bytes);
        add(json, "rx_bytes", (double)world->total.rx_bytes);
        add(json, "tx_bytes", (double)world->total.tx_bytes);
        add(json, "wakes", (double)world->total.wakes);
        return json;
}

/*
 * Mean power with @n of the policy's CPUs busy at @opp,
 * everything else at rest at its lowest frequency; W.
 */
static double power_w(const struct world *world, struct virtual_device *device, const struct opp *opp,
                      size_t n)
{
        struct virtual_work work = { .app = "spin" };
        const struct sample *sample = &world->sample;
        size_t index = 0;

        for (size_t i = 1; opp && i < sample->n_opps && &sample->opps[i] <= opp; i++)
                index += sample->opps[i].policy != sample->opps[i - 1].policy;
        if (opp)
                work.policy_khz[index] = opp->khz;
        for (size_t cpu = 0; opp && cpu < sample->n_cores; cpu++) {
                if (n == 0 || sample->cores[cpu].policy != opp->policy)
                        continue;
                work.utilisation[cpu] = 1;
                n--;
        }
        virtual_set_work(device, &work, 1);
        return virtual_truth_power_w(device);
}

static void add_cpu(const struct world *world, struct virtual_device *device, cJSON *json)
{
        double base_w = power_w(world, device, NULL, 0), mw = 1000 * world->factor;

        add(json, "base.power_mw", base_w * mw);
        for (size_t i = 0; i < world->sample.n_opps; i++) {
                const struct opp *opp = &world->sample.opps[i];
                char key[64];

                snprintf(key, sizeof(key), "cpu.%u.one_mw.%u", opp->policy, opp->khz);
                add(json, key, (power_w(world, device, opp, 1) - base_w) * mw);
                snprintf(key, sizeof(key), "cpu.%u.all_mw.%u", opp->policy, opp->khz);
                add(json, key, (power_w(world, device, opp, VCPU_MAX) - base_w) * mw);
        }
}

cJSON *world_coefficients(const struct world *world)
{
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        cJSON *json = cJSON_CreateObject();

        if (!json || virtual_open(world->truth, VIRTUAL_SIMULATE, 0, 50, NULL, &device) < 0) {
                cJSON_Delete(json);
                return NULL;
        }
        add(json, "factor", world->factor);
        add(json, "energy_full_mwh", world->truth->energy_full_mwh);
        add_cpu(world, device, json);
        for (size_t i = 0; i < world->truth->n_coefficients; i++) {
                const struct coefficient *coefficient = &world->truth->coefficients[i];
                char key[PROFILE_KEY_MAX];

                if (coefficient->term >= TERM_DISPLAY)
                        add(json, profile_coefficient_key(coefficient, key), coefficient->value * world->factor);
        }
        return json;
}
