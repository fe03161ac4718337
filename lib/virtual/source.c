/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "device.h"
#include "util/util.h"

/* Amount of each varying byte rate. */
static const enum amount rate_amounts[RATE_COUNT] = {
        [RATE_READ] = AMOUNT_read_bytes,   [RATE_WRITE] = AMOUNT_write_bytes,
        [RATE_RX] = AMOUNT_wifi_rx_bytes,  [RATE_TX] = AMOUNT_wifi_tx_bytes,
};

struct virtual_source {
        struct source source; /* first */
        struct virtual_device *device;
};

/*
 * An old learnt full charge scales the shown charge, but not the percentage, which is their ratio. The gauge
 * shows charge if the device has a voltage curve, and energy if not: then percent is energy, and a charge
 * without a voltage would have no meaning. The level finer than a percent is only shown if the gauge has
 * finer steps, or if its driver computes the charge from the percentage.
 */
static void read_battery(struct virtual_device *device, struct battery *battery)
{
        const struct gauge *gauge = &device->gauge;
        const struct cell *cell = &device->cell;
        double battery_w = device_battery_w(device, device_power_w(device));
        bool charge = cell->n_voltage > 0;
        double full = (charge ? cell->full_c : cell->full_j) / 3600 * 1e6 * device->full_factor;
        double level = gauge->sensor.derived ? floor(100 * gauge->level + 1e-6) / 100 : gauge->level;
        uint64_t full_shown = (uint64_t)llround(full), now_shown = (uint64_t)llround(level * full);

        battery->have = BATTERY_CAPACITY |
                        (charge ? BATTERY_CHARGE_FULL | BATTERY_VOLTAGE : BATTERY_ENERGY_FULL);
        battery->status = device->charger_w <= 0 ? BATTERY_DISCHARGING
                          : cell->charge >= 1    ? BATTERY_FULL
                                                 : BATTERY_CHARGING;
        battery->capacity_percent = (uint32_t)floor(100 * gauge->level + 1e-6);
        if (gauge->step < 0.01 || gauge->sensor.derived)
                battery->have |= charge ? BATTERY_CHARGE_NOW : BATTERY_ENERGY_NOW;
        if (charge) {
                battery->charge_full_uah = full_shown;
                battery->charge_now_uah = now_shown;
                battery->voltage_uv = (uint64_t)llround(1e6 * cell_voltage(&device->cell, battery_w));
        } else {
                battery->energy_full_uwh = full_shown;
                battery->energy_now_uwh = now_shown;
        }
        if (gauge->power_period_ns > 0) {
                battery->have |= BATTERY_POWER;
                battery->power_uw = (uint64_t)llround(1e6 * gauge->power_w);
        }
}

static int add_opp(struct sample *sample, const struct opp *opp)
{
        struct opp *added = sample_add_opp(sample);

        if (!added)
                return -ENOMEM;
        *added = *opp;
        return 0;
}

static int read_policy(const struct virtual_device *device, const struct power_policy *policy, struct sample *sample)
{
        const uint64_t *busy_ns = device->counts_cycles ? device->busy.shown_ns : device->opp_busy_ns,
                       *any_ns = device->counts_cycles ? device->any.shown_ns : device->opp_any_ns;
        int err = 0;

        if (device->hides_opps)
                return add_opp(sample, &(struct opp){ policy->policy, KHZ_UNKNOWN, sample->monotonic_ns });
        for (size_t i = 0; !err && i < policy->n_opps; i++) {
                size_t at = policy->first_opp + i;
                struct opp opp = { .policy = policy->policy, .khz = policy->opps[i].khz };

                if (!device->counts_cycles)
                        opp.time_ns = device->opp_time_ns[at];
                if (device->counts_opps) {
                        opp.busy_ns = busy_ns[at];
                        opp.any_ns = any_ns[at];
                }
                err = add_opp(sample, &opp);
        }
        return err;
}

/* All work belongs to some app. */
static void look_at_cycles(struct virtual_device *device)
{
        uint64_t *grown_ns = device->busy.seen_ns;

        memset(grown_ns, 0, device->model.n_opps * sizeof(*grown_ns));
        for (size_t i = 0; i < device->n_apps; i++)
                by_cycles_look(&device->model, device->apps[i].cpu_ns, &device->apps[i].cpu, grown_ns);
        for (size_t i = 0; i < device->model.n_opps; i++)
                device->busy.shown_ns[i] += grown_ns[i];
        by_cycles_share(&device->model, device->opp_any_ns, &device->any, grown_ns);
}

static int read_opps(struct virtual_device *device, struct sample *sample)
{
        int err = 0;

        if (device->counts_cycles)
                look_at_cycles(device);
        for (size_t p = 0; !err && p < device->model.n_policies; p++)
                err = read_policy(device, &device->model.policies[p], sample);
        sample->opps_counted = device->counts_opps;
        return err;
}

static int by_cpu(const void *a, const void *b)
{
        const struct core *left = a, *right = b;

        return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

static int read_cores(struct virtual_device *device, struct sample *sample)
{
        for (size_t p = 0; p < device->model.n_policies; p++) {
                const struct power_policy *policy = &device->model.policies[p];

                for (unsigned i = 0; i < policy->n_cpus; i++) {
                        struct core *core = sample_add_core(sample);

                        if (!core)
                                return -ENOMEM;
                        *core = (struct core){
                                .cpu = policy->cpu[i],
                                .policy = policy->policy,
                                .package = policy->package,
                                .busy_ns = device->cpu_busy_ns[policy->first_cpu + i],
                        };
                }
        }
        if (sample->n_cores > 1)
                qsort(sample->cores, sample->n_cores, sizeof(*sample->cores), by_cpu);
        return 0;
}

/* A radio without an automaton has byte rates, whose packets are not counted. */
static void read_packets(const struct virtual_device *device, const struct app *app, struct process *process)
{
        const struct virtual_air *airs = device->airs;

        if (airs[AIR_WIFI].present || (airs[AIR_CELLULAR].present && !device->model.wifi))
                process->have |= USAGE_PACKETS;
        if (airs[AIR_CELLULAR].present)
                process->have |= USAGE_OTHER_NET;
        process->wifi_rx_packets = app->packets[AIR_WIFI][RADIO_RX];
        process->wifi_tx_packets = app->packets[AIR_WIFI][RADIO_TX];
        process->other_rx_packets = app->packets[AIR_CELLULAR][RADIO_RX];
        process->other_tx_packets = app->packets[AIR_CELLULAR][RADIO_TX];
        process->other_rx_bytes = app->other_bytes[RADIO_RX];
        process->other_tx_bytes = app->other_bytes[RADIO_TX];
}

static int read_process(struct virtual_device *device, const struct app *app, struct sample *sample)
{
        struct process *process = sample_add_process(sample, device->counts_opps);

        if (!process)
                return -ENOMEM;
        process->pid = app->pid;
        process->start_time = app->began_ns;
        process->began_ns = app->began_ns;
        process->ended_ns = app->alive ? 0 : app->ended_ns;
        process->uid = 1000;
        snprintf(process->comm, sizeof(process->comm), "%.15s", app->id);
        memcpy(process->app, app->id, sizeof(process->app));
        process->have = USAGE_CPU | USAGE_DISK | USAGE_WIFI | USAGE_GPU | USAGE_HELD;
        process->cpu_ns = app->cpu_total_ns;
        if (process->cpu_opp_ns) {
                process->have |= PROCESS_CPU_OPPS;
                memcpy(process->cpu_opp_ns, device->counts_cycles ? app->cpu.shown_ns : app->cpu_ns,
                       sample->n_opps * sizeof(*app->cpu_ns));
        }
        for (size_t i = 0; i < RATE_COUNT; i++)
                process->amount[rate_amounts[i]] = app->shown[i];
        process->wifi_wakes = app->wakes;
        read_packets(device, app, process);
        process->gpu_busy_ns = app->gpu_ns;
        process->gps_on_ns = app->gps_on_ns;
        process->audio_on_ns = app->audio_on_ns;
        process->camera_on_ns = app->camera_on_ns;
        return 0;
}

/*
 * Writes living processes, and once more with their final totals those that ended since the last reading, so
 * that nothing is lost.
 */
static int read_processes(struct virtual_device *device, struct sample *sample)
{
        for (size_t i = 0; i < device->n_apps; i++) {
                struct app *app = &device->apps[i];

                if (!app->listed)
                        continue;
                if (read_process(device, app, sample) < 0)
                        return -ENOMEM;
                app->listed = app->alive;
        }
        return 0;
}

static int read_counted(struct virtual_device *device, struct sample *sample)
{
        for (size_t i = 0; i < device->n_apps; i++) {
                struct app *app = &device->apps[i];

                for (size_t p = 0; p < device->model.n_policies; p++) {
                        struct process_counted counted = { .process = { app->pid, app->began_ns },
                                                           .policy = device->model.policies[p].policy }, *added;

                        if (!kinds_take(&device->kinds, &app->kind, p, &counted))
                                continue;
                        added = sample_add_counted(sample);
                        if (!added)
                                return -ENOMEM;
                        *added = counted;
                }
        }
        return 0;
}

static int read_events(struct virtual_device *device, struct sample *sample)
{
        for (size_t i = 0; i < device->n_events; i++) {
                struct screen_event *event = sample_add_event(sample);

                if (!event)
                        return -ENOMEM;
                *event = device->events[i];
        }
        device->n_events = 0;
        sample->screen = device->screen;
        return 0;
}

static void read_totals(struct virtual_device *device, struct sample *sample)
{
        sample->boottime_ns = device->now_ns;
        sample->monotonic_ns = device->now_ns - device->suspended_ns;
        sample->realtime_ns = device->realtime_at_boot_ns + (int64_t)device->now_ns;
        memcpy(sample->boot_id, device->boot_id, sizeof(sample->boot_id));
        for (size_t i = 0; i < RATE_COUNT; i++)
                sample->amount[rate_amounts[i]] = device->bytes[i];
        sample->wifi_on = device->wifi_on;
        if (device->wifi_on && reception_dbm(&device->reception, &sample->signal.wifi_signal_dbm))
                sample->signal.have |= SIGNAL_WIFI;
        sample->wifi_wakes = device->wakes_total;
        sample->other_rx_bytes = device->other_bytes[RADIO_RX];
        sample->other_tx_bytes = device->other_bytes[RADIO_TX];
        sample->gpu_busy_ns = device->gpu_ns;
        sample->gps_on_ns = device->gps_on_ns;
        sample->audio_on_ns = device->audio_on_ns;
        sample->camera_on_ns = device->camera_on_ns;
}

static int virtual_read(struct source *source, struct sample *sample)
{
        struct virtual_device *device = ((struct virtual_source *)source)->device;

        virtual_device_settle(device);
        gauge_refresh_level(&device->gauge, &device->cell, device->now_ns);
        read_totals(device, sample);
        read_battery(device, &sample->battery);
        if (read_opps(device, sample) < 0 || read_cores(device, sample) < 0 ||
            read_events(device, sample) < 0 || read_processes(device, sample) < 0 || read_counted(device, sample) < 0 ||
            air_take_bursts(device, sample) < 0)
                return -ENOMEM;
        sample->have |= SAMPLE_BATTERY | USAGE_DISK | USAGE_WIFI | USAGE_WIFI_WAKES | USAGE_GPU | USAGE_HELD |
                        SAMPLE_SCREEN | SAMPLE_FOREGROUND | SAMPLE_PROCESSES;
        if (device->airs[AIR_CELLULAR].present)
                sample->have |= USAGE_OTHER_NET;
        if (device->kinds.counters != VIRTUAL_COUNTERS_NONE)
                sample->have |= SAMPLE_COUNTED;
        if (device->model.n_policies > 0)
                sample->have |= SAMPLE_OPPS | SAMPLE_CORES;
        return 0;
}

static void virtual_close(struct source *source)
{
        free(source);
}

static const struct source_ops virtual_ops = {
        .name = "virtual",
        .read = virtual_read,
        .close = virtual_close,
};

int virtual_source_open(struct virtual_device *device, struct source **ret)
{
        struct virtual_source *source = calloc(1, sizeof(*source));

        if (!source)
                return -ENOMEM;
        source->source.ops = &virtual_ops;
        source->device = device;
        *ret = &source->source;
        return 0;
}
