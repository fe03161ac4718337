/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "virtual-truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

const char *const virtual_part_names[VIRTUAL_PART_COUNT] = {
        [VIRTUAL_CPU] = "cpu",   [VIRTUAL_DISPLAY] = "display", [VIRTUAL_DISK] = "disk",
        [VIRTUAL_WIFI] = "wifi", [VIRTUAL_CELLULAR] = "cellular", [VIRTUAL_GPU] = "gpu",
        [VIRTUAL_GPS] = "gps",   [VIRTUAL_AUDIO] = "audio",     [VIRTUAL_CAMERA] = "camera",
        [VIRTUAL_UNSEEN] = "unseen",
};

/* Lists apps with any activity, background before foreground. */
static int list_apps(struct virtual_device *device, size_t *ret)
{
        size_t n = 0;

        free(device->truth_apps);
        device->truth_apps = calloc(2 * device->n_apps + 1, sizeof(*device->truth_apps));
        if (!device->truth_apps)
                return -ENOMEM;
        for (size_t i = 0; i < device->n_apps; i++) {
                for (unsigned foreground = 0; foreground < 2; foreground++) {
                        struct virtual_truth_app *app = &device->truth_apps[n];

                        double wifi_j = air_j(device, AIR_WIFI, i, foreground);
                        double cellular_j = air_j(device, AIR_CELLULAR, i, foreground);

                        if (device->apps[i].energy_j[foreground] + wifi_j + cellular_j == 0)
                                continue;
                        memcpy(app->app, device->apps[i].id, sizeof(app->app));
                        app->foreground = foreground;
                        app->energy_j = device->apps[i].energy_j[foreground] + wifi_j + cellular_j;
                        memcpy(app->part_j, device->apps[i].part_j[foreground], sizeof(app->part_j));
                        app->part_j[VIRTUAL_WIFI] += wifi_j;
                        app->part_j[VIRTUAL_CELLULAR] += cellular_j;
                        n++;
                }
        }
        *ret = n;
        return 0;
}

int virtual_truth_read(struct virtual_device *device, struct virtual_truth *ret)
{
        double base_j;
        size_t n_apps;
        int err;

        virtual_device_settle(device);
        err = list_apps(device, &n_apps);
        if (err)
                return err;
        base_j = device->base_j;
        for (unsigned air = 0; air < AIR_COUNT; air++)
                base_j += wide_to_double(device->airs[air].automaton.base) / 1e15;
        *ret = (struct virtual_truth){
                .total_j = device->total_j,
                .base_j = base_j,
                .percent_start = device->percent_start,
                .percent_end = 100 * device->cell.charge,
                .apps = device->truth_apps,
                .n_apps = n_apps,
        };
        return 0;
}

void virtual_truth_reset(struct virtual_device *device)
{
        virtual_device_settle(device);
        device->total_j = 0;
        device->base_j = 0;
        device->percent_start = 100 * device->cell.charge;
        for (unsigned air = 0; air < AIR_COUNT; air++) {
                automaton_forget(&device->airs[air].automaton);
                device->airs[air].seen = 0;
        }
        for (size_t i = 0; i < device->n_apps; i++) {
                memset(device->apps[i].energy_j, 0, sizeof(device->apps[i].energy_j));
                memset(device->apps[i].part_j, 0, sizeof(device->apps[i].part_j));
        }
}

double virtual_truth_power_w(const struct virtual_device *device)
{
        double fixed_w = device->fixed_w + air_w(device) + noise_mean_w(&device->noise);

        for (unsigned i = 0; i < RATE_COUNT; i++)
                fixed_w += device->rate_w[i];
        for (size_t i = 0; device->wakes && i < device->n_running; i++)
                fixed_w += device->running[i].wakes_per_s * device->model.wake_j;
        return thermal_steady_w(&device->thermal, device->leaky_w, fixed_w, 25);
}

void virtual_truth_watch(struct virtual_device *device, virtual_truth_packet *watcher, void *data)
{
        device->watcher = watcher;
        device->watcher_data = data;
}
