/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* One stream of random numbers per purpose. The device's own constants depend on its seed only. */
#define STREAM_HIDDEN UINT64_C(0x68696464656e)
#define STREAM_RADIO UINT64_C(0x726164696f)
#define STREAM_PACKETS UINT64_C(0x7061636b657473)

static int copy_voltage(struct virtual_device *device, const struct profile_virtual *truth)
{
        if (truth->n_voltage == 0)
                return 0;
        device->voltage = calloc(truth->n_voltage, sizeof(*device->voltage));
        if (!device->voltage)
                return -ENOMEM;
        memcpy(device->voltage, truth->voltage, truth->n_voltage * sizeof(*device->voltage));
        return 0;
}

static int alloc_totals(struct virtual_device *device)
{
        size_t n = device->model.n_opps + 1;

        device->opp_time_ns = calloc(n, sizeof(uint64_t));
        device->opp_busy_ns = calloc(n, sizeof(uint64_t));
        device->opp_any_ns = calloc(n, sizeof(uint64_t));
        if (!device->opp_time_ns || !device->opp_busy_ns || !device->opp_any_ns ||
            by_cycles_alloc(&device->busy, n) < 0)
                return -ENOMEM;
        return by_cycles_alloc(&device->any, n);
}

/*
 * Chooses the counter that shows the frequency of work. A calibration pins each clock and reads it, so it has
 * the time at each frequency even if a service cannot know it.
 */
static void choose_counters(struct virtual_device *device, const struct profile_virtual *physics,
                            enum virtual_stream stream)
{
        device->counts_cycles = physics->hidden_khz && !physics->no_cycles && !physics->proc;
        device->counts_opps = physics->hidden_khz ? device->counts_cycles : !physics->proc;
        device->hides_opps = physics->hidden_khz && !device->counts_cycles && stream != VIRTUAL_CALIBRATE;
}

static void make_boot_id(struct virtual_device *device, struct rng *run)
{
        uint64_t high = rng_next(run), low = rng_next(run);

        snprintf(device->boot_id, sizeof(device->boot_id), "%08x-%04x-%04x-%04x-%012llx",
                 (unsigned)(high >> 32), (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xffff,
                 (unsigned)(low >> 48), (unsigned long long)low & 0xffffffffffff);
}

static int start_physics(struct virtual_device *device, const struct profile *truth,
                          enum virtual_stream stream, uint64_t seed, double start_percent)
{
        const struct profile_virtual *physics = &truth->virtual_device;
        struct rng hidden, run, air, packets;
        double idle_w;
        int err;

        rng_seed(&hidden, physics->seed, STREAM_HIDDEN);
        rng_seed(&run, physics->seed, 1 + (uint64_t)stream);
        rng_seed(&run, rng_next(&run) ^ seed, 1 + (uint64_t)stream);
        cell_init(&device->cell, truth, device->voltage, start_percent / 100);
        err = gauge_init(&device->gauge, physics, &hidden, &run);
        if (err)
                return err;
        noise_init(&device->noise, physics, &run);
        rng_seed(&air, physics->seed, STREAM_RADIO + (uint64_t)stream);
        rng_seed(&air, rng_next(&air) ^ seed, STREAM_RADIO + (uint64_t)stream);
        reception_init(&device->reception, physics, &air);
        rng_seed(&packets, physics->seed, STREAM_PACKETS + (uint64_t)stream);
        device->traffic_seed = rng_next(&packets) ^ seed;
        kinds_init(&device->kinds, physics, (uint64_t)stream, seed);
        thermal_init(&device->thermal, physics);
        make_boot_id(device, &run);
        virtual_device_recompute(device);
        idle_w = thermal_steady_w(&device->thermal, device->leaky_w, device->fixed_w + air_w(device),
                                  device->noise.ambient_c);
        device->thermal.celsius = device->noise.ambient_c + device->thermal.c_per_w * idle_w;
        gauge_start(&device->gauge, &device->cell, device_power_w(device));
        return 0;
}

int virtual_open(const struct profile *truth, enum virtual_stream stream, uint64_t seed, double start_percent,
                 const struct log *log, struct virtual_device **ret)
{
        _cleanup_(virtual_freep) struct virtual_device *device = NULL;
        int err;

        if (!truth->virtual_device.present || !(start_percent >= 0 && start_percent <= 100))
                return -EINVAL;
        device = calloc(1, sizeof(*device));
        if (!device)
                return -ENOMEM;
        err = power_model_init(&device->model, truth, log);
        if (!err)
                err = copy_voltage(device, &truth->virtual_device);
        if (!err)
                err = alloc_totals(device);
        if (!err)
                err = panel_init(&device->panel, &truth->virtual_device);
        if (!err)
                err = air_open(device, truth);
        if (err)
                return err;
        device->log = log;
        device->content = 1;
        device->full_factor = 1 + truth->virtual_device.charge_full_error_percent / 100;
        device->idle_lowers = truth->virtual_device.idle_lowers;
        choose_counters(device, &truth->virtual_device, stream);
        device->next_second_ns = NS_PER_S;
        device->percent_start = start_percent;
        device->screen.foreground_known = device->screen.screen_known = true;
        err = start_physics(device, truth, stream, seed, start_percent);
        if (err)
                return err;
        device->empty = device->cell.charge <= 0;
        *ret = TAKE_PTR(device);
        return 0;
}

void virtual_free(struct virtual_device *device)
{
        if (!device)
                return;
        for (size_t i = 0; i < device->n_apps; i++) {
                free(device->apps[i].cpu_ns);
                by_cycles_clear(&device->apps[i].cpu);
                kinds_clear_app(&device->apps[i].kind);
        }
        free(device->apps);
        free(device->running);
        free(device->events);
        free(device->voltage);
        free(device->truth_apps);
        free(device->opp_time_ns);
        free(device->opp_busy_ns);
        free(device->opp_any_ns);
        air_close(device);
        by_cycles_clear(&device->busy);
        by_cycles_clear(&device->any);
        panel_clear(&device->panel);
        gauge_clear(&device->gauge);
        power_model_clear(&device->model);
        free(device);
}

uint64_t virtual_now_ns(const struct virtual_device *device)
{
        return device->now_ns;
}

void virtual_set_realtime(struct virtual_device *device, int64_t epoch_ns)
{
        device->realtime_at_boot_ns = epoch_ns;
}

/* Present cost of bytes, relative to the nominal rate at the nominal price. */
static double price_now(const struct virtual_device *device, unsigned rate)
{
        return device->noise.rate_factor[rate] * (rate >= RATE_RX ? device->reception.factor : 1);
}

/* Power without radios that are automata. */
static double steady_w(const struct virtual_device *device)
{
        double power_w = device->leaky_w * thermal_leakage(&device->thermal) + device->fixed_w +
                         device->noise.unseen_w;

        if (device->suspended)
                return device->model.suspend_w;
        for (unsigned i = 0; i < RATE_COUNT; i++)
                power_w += device->rate_w[i] * price_now(device, i);
        return power_w;
}

double device_power_w(const struct virtual_device *device)
{
        return steady_w(device) + (device->suspended ? 0 : air_w(device));
}

double device_battery_w(const struct virtual_device *device, double power_w)
{
        double battery_w = power_w - device->charger_w;

        return battery_w < 0 && device->cell.charge >= 1 ? 0 : battery_w;
}

/*
 * Takes the energy of the bursts in this step from the charge and returns it; a burst has an energy but no
 * duration. The phase has a tolerance for rounding, so that 0.1 per second are ten in 100 s.
 */
static double step_bursts(struct virtual_device *device, double dt_s)
{
        double energy_j = 0;

        for (size_t i = 0; i < device->n_running; i++) {
                const struct running *running = &device->running[i];
                struct app *app = &device->apps[running->app];
                double bursts;

                app->wake_phase += running->wakes_per_s * dt_s;
                bursts = floor(app->wake_phase + 1e-9);
                if (bursts <= 0)
                        continue;
                app->wake_phase -= bursts;
                app->wakes += (uint64_t)bursts;
                device->wakes_total += (uint64_t)bursts;
                app->energy_j[running->foreground && device->screen_on] += bursts * device->model.wake_j;
                app->part_j[running->foreground && device->screen_on][VIRTUAL_WIFI] += bursts * device->model.wake_j;
                energy_j += bursts * device->model.wake_j;
        }
        return energy_j;
}

static void count_awake(struct virtual_device *device, uint64_t dt_ns, double dt_s)
{
        device->span_ns += dt_ns;
        device->leakage_s += thermal_leakage(&device->thermal) * dt_s;
        for (unsigned i = 0; i < RATE_COUNT; i++) {
                device->rate_s[i] += device->noise.rate_factor[i] * dt_s;
                device->price_s[i] += price_now(device, i) * dt_s;
        }
        device->unseen_j += device->noise.unseen_w * dt_s;
}

/* Counters of CPUs and apps stand still during a suspend. */
static void count_suspended(struct virtual_device *device, uint64_t dt_ns, double energy_j)
{
        device->suspended_ns += dt_ns;
        device->base_j += energy_j;
}

/* Advances by one step, in which everything but radios, the charge and the temperature is constant. */
static int step(struct virtual_device *device, uint64_t dt_ns)
{
        double dt_s = (double)dt_ns / 1e9;
        double power_w = steady_w(device), air_j = 0;
        int err = device->suspended ? 0 : air_step(device, dt_ns, &air_j);
        double burst_j = device->wakes && !device->suspended ? step_bursts(device, dt_s) : 0;
        double energy_j = power_w * dt_s + air_j + burst_j;
        double battery_j;

        power_w += air_j / dt_s;
        battery_j = device_battery_w(device, power_w) * dt_s + burst_j;
        if (device->suspended)
                count_suspended(device, dt_ns, energy_j);
        else
                count_awake(device, dt_ns, dt_s);
        device->total_j += energy_j;
        device->gauge.energy_j += fabs(battery_j);

        if (!cell_drain(&device->cell, cell_voltage(&device->cell, device_battery_w(device, power_w)),
                        battery_j))
                device->empty = true;
        thermal_advance(&device->thermal, device->noise.ambient_c, energy_j / dt_s, dt_s);
        device->now_ns += dt_ns;
        return err;
}

/* Counters and powers up to now are of the kinds before. */
static void next_kinds(struct virtual_device *device)
{
        if (!kinds_change(&device->kinds))
                return;
        virtual_device_settle(device);
        for (size_t i = 0; i < device->n_apps; i++)
                kinds_next_second(&device->kinds, &device->apps[i].kind);
        virtual_device_recompute(device);
}

static uint64_t next_stop(const struct virtual_device *device, uint64_t target_ns)
{
        uint64_t stop_ns = MIN(target_ns, device->next_second_ns);

        return MIN(stop_ns, gauge_next_ns(&device->gauge));
}

int virtual_advance(struct virtual_device *device, uint64_t ns)
{
        uint64_t target_ns = device->now_ns + ns;

        if (target_ns < device->now_ns)
                return -EOVERFLOW;
        if (device->broken)
                return device->broken;
        while (device->now_ns < target_ns && !device->empty) {
                int err = step(device, next_stop(device, target_ns) - device->now_ns);

                if (err < 0)
                        return device->broken = err;
                gauge_refresh_level(&device->gauge, &device->cell, device->now_ns);
                gauge_refresh_power(&device->gauge, device->now_ns);
                if (device->now_ns < device->next_second_ns)
                        continue;
                noise_next_second(&device->noise);
                reception_next_second(&device->reception);
                air_next_second(device);
                next_kinds(device);
                device->next_second_ns += NS_PER_S;
        }
        return device->empty ? -ENODATA : 0;
}

int virtual_set_charger(struct virtual_device *device, double power_w)
{
        if (!(power_w >= 0 && isfinite(power_w)))
                return -EINVAL;
        device->charger_w = power_w;
        if (power_w > 0)
                device->empty = false;
        return 0;
}

void virtual_set_suspended(struct virtual_device *device, bool suspended)
{
        device->suspended = suspended;
}

int virtual_set_percent(struct virtual_device *device, double percent)
{
        if (!(percent >= 0 && percent <= 100))
                return -EINVAL;
        device->cell.charge = percent / 100;
        device->empty = percent <= 0;
        return 0;
}

double virtual_temperature_c(const struct virtual_device *device)
{
        return device->thermal.celsius;
}
