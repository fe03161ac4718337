/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "device.h"
#include "util/units.h"
#include "util/util.h"

static size_t running_opp(const struct virtual_device *device, size_t policy)
{
        int asked = -EINVAL;

        if (device->asked_khz[policy] > 0)
                asked = power_find_opp(&device->model.policies[policy], device->asked_khz[policy]);
        return asked >= 0 ? (size_t)asked : device->set_opp[policy];
}

static void recompute_cpu(struct virtual_device *device)
{
        double utilisation[POWER_MAX_CPUS] = { 0 };

        for (size_t i = 0; i < device->n_running; i++)
                for (unsigned cpu = 0; cpu < device->model.n_cpus; cpu++)
                        utilisation[cpu] += device->running[i].utilisation[cpu];
        for (unsigned cpu = 0; cpu < device->model.n_cpus; cpu++)
                utilisation[cpu] = fmin(1, utilisation[cpu]); /* removes a rounding error left by the cut */

        device->leaky_nobody_w = device->model.base_w;
        for (unsigned p = 0; p < device->model.n_policies; p++) {
                device->opp[p] = running_opp(device, p);
                device->idle_opp[p] = device->idle_lowers && device->asked_khz[p] > 0 ? 0 : device->opp[p];
                power_cpu(&device->model, p, device->opp[p], device->idle_opp[p], utilisation, &device->cpu[p]);
                device->leaky_nobody_w += device->cpu[p].nobody_w;
        }
}

static double cpu_w(const struct virtual_device *device, const struct running *running)
{
        const struct app_kind *kind_of = &device->apps[running->app].kind;
        double power_w = 0, own = running->reference ? 1 : kinds_factor(&device->kinds, kind_of);

        for (size_t p = 0; p < device->model.n_policies; p++) {
                const struct power_policy *policy = &device->model.policies[p];
                double busy = 0, kind = 0;

                for (unsigned cpu = policy->first_cpu; cpu < policy->first_cpu + policy->n_cpus; cpu++) {
                        double weight = running->utilisation[cpu] * running->cpu_factor[cpu];

                        busy += weight;
                        kind += weight * (power_kind(policy, running->instructions[cpu], running->misses[cpu]) *
                                          own - 1);
                }
                power_w += busy * device->cpu[p].per_busy_w + kind * device->cpu[p].kind_w;
        }
        return power_w;
}

static double screen_w(const struct virtual_device *device)
{
        return device->screen_on ? power_display_w(&device->model, device->brightness) +
                                           panel_emission_w(&device->panel, device->brightness, device->content)
                                 : 0;
}

/* Apps that use a part at the same time share it equally. */
static void count_holders(const struct virtual_device *device, struct running *running)
{
        running->gps_holders = running->audio_holders = running->camera_holders = 0;
        for (size_t i = 0; i < device->n_running; i++) {
                running->gps_holders += running->gps && device->running[i].gps;
                running->audio_holders += running->audio && device->running[i].audio;
                running->camera_holders += running->camera && device->running[i].camera;
        }
}

/* Power that belongs to no app, except the screen's. */
static double nobody_w(const struct virtual_device *device)
{
        bool gps = false;

        for (size_t i = 0; i < device->n_running; i++)
                gps |= device->running[i].gps;
        return (device->wifi_on ? device->model.wifi_on_w : 0) + (gps ? 0 : device->model.gps_sleep_w);
}

static void recompute_app(struct virtual_device *device, struct running *running)
{
        const struct power_model *model = &device->model;

        running->leaky_w = cpu_w(device, running);
        running->gpu_w = running->gpu * model->gpu_w;
        running->display_w = 0;
        if (running->foreground && device->screen_on) {
                running->display_w = screen_w(device);
                device->fixed_nobody_w = nobody_w(device);
        }
        count_holders(device, running);
        running->gps_w = running->gps ? model->gps_on_w / running->gps_holders : 0;
        running->audio_w = running->audio ? model->audio_on_w / running->audio_holders : 0;
        running->camera_w = running->camera ? model->camera_on_w / running->camera_holders : 0;
        running->fixed_w = running->gpu_w + running->unseen_w + running->gps_w + running->audio_w + running->camera_w;
        device->leaky_w += running->leaky_w;
        device->fixed_w += running->fixed_w;
        running->fixed_w += running->display_w;
        for (unsigned i = 0; i < RATE_COUNT; i++)
                device->rate_w[i] += device->rate_flows[i] * running->bytes_per_s[i] * model->j_per_byte[i];
        if (running->wakes_per_s > 0 && device->wifi_on)
                device->wakes = true;
}

void virtual_device_recompute(struct virtual_device *device)
{
        recompute_cpu(device);
        for (unsigned i = 0; i < RATE_COUNT; i++) {
                device->rate_flows[i] = i < RATE_RX || device->wifi_on;
                device->rate_w[i] = 0;
        }
        device->wakes = false;
        device->leaky_w = device->leaky_nobody_w;
        device->fixed_w = device->fixed_nobody_w = nobody_w(device) + screen_w(device);
        for (size_t i = 0; i < device->n_running; i++)
                recompute_app(device, &device->running[i]);
}

static void settle_cpu(struct virtual_device *device, const struct running *running, struct app *app)
{
        for (size_t p = 0; p < device->model.n_policies; p++) {
                const struct power_policy *policy = &device->model.policies[p];
                size_t opp = policy->first_opp + device->opp[p];

                for (unsigned i = 0; i < policy->n_cpus; i++) {
                        unsigned cpu = policy->first_cpu + i;
                        uint64_t ns = (uint64_t)llround(running->utilisation[cpu] * (double)device->span_ns);

                        kinds_count(&device->kinds, &app->kind, p, (double)ns * policy->opps[device->opp[p]].khz / 1e6,
                                    running->instructions[cpu], running->misses[cpu]);
                        app->cpu_ns[opp] += ns;
                        app->cpu_total_ns += ns;
                        device->opp_busy_ns[opp] += ns;
                        device->cpu_busy_ns[cpu] += ns;
                }
        }
}

/* Whole bytes are added to the process and to the machine's total together, so that the sums are equal. */
static void settle_bytes(struct virtual_device *device, const struct running *running, struct app *app)
{
        for (unsigned i = 0; i < RATE_COUNT; i++) {
                uint64_t shown;

                app->bytes[i] += device->rate_flows[i] * running->bytes_per_s[i] * device->rate_s[i];
                shown = (uint64_t)(app->bytes[i] + 1e-3);
                if (shown <= app->shown[i])
                        continue;
                device->bytes[i] += shown - app->shown[i];
                app->shown[i] = shown;
        }
}

static double bytes_j(const struct virtual_device *device, const struct running *running, unsigned rate)
{
        return device->rate_flows[rate] * running->bytes_per_s[rate] * device->price_s[rate] *
               device->model.j_per_byte[rate];
}

static void settle_parts(const struct virtual_device *device, const struct running *running, double *part_j)
{
        double span_s = (double)device->span_ns / 1e9;

        part_j[VIRTUAL_CPU] += running->leaky_w * device->leakage_s;
        part_j[VIRTUAL_DISPLAY] += running->display_w * span_s;
        part_j[VIRTUAL_GPU] += running->gpu_w * span_s;
        part_j[VIRTUAL_GPS] += running->gps_w * span_s;
        part_j[VIRTUAL_AUDIO] += running->audio_w * span_s;
        part_j[VIRTUAL_CAMERA] += running->camera_w * span_s;
        part_j[VIRTUAL_UNSEEN] += running->unseen_w * span_s;
        for (unsigned i = 0; i < RATE_COUNT; i++)
                part_j[i < RATE_RX ? VIRTUAL_DISK : VIRTUAL_WIFI] += bytes_j(device, running, i);
}

static void settle_held(struct virtual_device *device, const struct running *running, struct app *app)
{
        uint64_t gps_ns = running->gps ? device->span_ns / running->gps_holders : 0;
        uint64_t audio_ns = running->audio ? device->span_ns / running->audio_holders : 0;
        uint64_t camera_ns = running->camera ? device->span_ns / running->camera_holders : 0;

        app->gps_on_ns += gps_ns;
        device->gps_on_ns += gps_ns;
        app->audio_on_ns += audio_ns;
        device->audio_on_ns += audio_ns;
        app->camera_on_ns += camera_ns;
        device->camera_on_ns += camera_ns;
}

static void settle_app(struct virtual_device *device, const struct running *running)
{
        struct app *app = &device->apps[running->app];
        uint64_t gpu_ns = (uint64_t)llround(running->gpu * (double)device->span_ns);
        double energy_j = running->leaky_w * device->leakage_s +
                          running->fixed_w * (double)device->span_ns / 1e9;

        settle_cpu(device, running, app);
        settle_bytes(device, running, app);
        settle_held(device, running, app);
        app->gpu_ns += gpu_ns;
        device->gpu_ns += gpu_ns;
        for (unsigned i = 0; i < RATE_COUNT; i++)
                energy_j += bytes_j(device, running, i);
        app->energy_j[running->foreground && device->screen_on] += energy_j;
        settle_parts(device, running, app->part_j[running->foreground && device->screen_on]);
}

void virtual_device_settle(struct virtual_device *device)
{
        if (device->span_ns == 0)
                return;
        for (size_t p = 0; p < device->model.n_policies; p++) {
                size_t first = device->model.policies[p].first_opp, opp = first + device->opp[p];
                uint64_t any_ns = (uint64_t)llround(device->cpu[p].any * (double)device->span_ns);

                any_ns = MIN(any_ns, device->span_ns);
                device->opp_time_ns[opp] += any_ns;
                device->opp_time_ns[first + device->idle_opp[p]] += device->span_ns - any_ns;
                device->opp_any_ns[opp] += any_ns;
        }
        for (size_t i = 0; i < device->n_running; i++)
                settle_app(device, &device->running[i]);
        device->base_j += device->leaky_nobody_w * device->leakage_s +
                          device->fixed_nobody_w * (double)device->span_ns / 1e9 + device->unseen_j;
        device->span_ns = 0;
        device->leakage_s = 0;
        device->unseen_j = 0;
        memset(device->rate_s, 0, sizeof(device->rate_s));
        memset(device->price_s, 0, sizeof(device->price_s));
}
