/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "util/units.h"
#include "util/util.h"

/* Records a change of the screen as an event. Returns 0 or -ENOMEM. */
static int virtual_device_note_screen(struct virtual_device *device)
{
        struct screen_event event = {
                .boottime_ns = device->now_ns,
                .foreground_known = true,
                .screen_known = true,
                .screen_on = device->screen_on,
                .brightness = device->brightness,
        };

        for (size_t i = 0; device->screen_on && i < device->n_running; i++)
                if (device->running[i].foreground)
                        memcpy(event.app, device->apps[device->running[i].app].id, sizeof(event.app));
        if (event.screen_on == device->screen.screen_on && event.brightness == device->screen.brightness &&
            strcmp(event.app, device->screen.app) == 0)
                return 0;
        if (device->n_events > 0 && device->events[device->n_events - 1].boottime_ns == device->now_ns)
                device->n_events--; /* two changes at the same time count as one */
        if (util_grow(&device->events, &device->events_capacity, device->n_events + 1, sizeof(event)) < 0)
                return -ENOMEM;
        device->events[device->n_events++] = device->screen = event;
        return 0;
}

int virtual_set_khz(struct virtual_device *device, uint32_t policy, uint32_t khz)
{
        int p = power_find_policy(&device->model, policy), opp;

        if (p < 0)
                return p;
        opp = power_find_opp(&device->model.policies[p], khz);
        if (opp < 0)
                return opp;
        virtual_device_settle(device);
        device->set_opp[p] = (size_t)opp;
        virtual_device_recompute(device);
        return 0;
}

int virtual_set_screen(struct virtual_device *device, bool on, uint32_t brightness)
{
        if (brightness > device->model.max_brightness)
                return -EINVAL;
        virtual_device_settle(device);
        device->screen_on = on;
        device->brightness = brightness;
        virtual_device_recompute(device);
        return virtual_device_note_screen(device);
}

int virtual_set_wifi(struct virtual_device *device, bool on)
{
        if (on && !device->model.wifi)
                return -EINVAL;
        virtual_device_settle(device);
        device->wifi_on = on;
        air_set_wifi(device, on);
        virtual_device_recompute(device);
        return 0;
}

int virtual_set_content(struct virtual_device *device, double content)
{
        if (!(content >= 0 && content <= 1))
                return -EINVAL;
        virtual_device_settle(device);
        device->content = content;
        virtual_device_recompute(device);
        return 0;
}

static bool is_rate(double rate)
{
        return rate >= 0 && rate <= 1e5; /* MB/s; a counter of 64 bits can hold more than a year of that */
}

static bool is_share(double share)
{
        return share >= 0 && share <= 1;
}

static bool packets_fit(const struct virtual_work *work)
{
        if (work->radio >= AIR_COUNT || work->pattern >= VIRTUAL_PATTERNS ||
            !(work->packets_per_s >= 0 && work->packets_per_s <= VIRTUAL_PACKETS_MAX_PER_S))
                return false;
        return work->packets_per_s == 0 ||
               (work->packet_bytes > 0 && work->packet_bytes <= VIRTUAL_PACKET_BYTES_MAX &&
                (work->pattern != VIRTUAL_BURSTS ||
                 (work->burst_packets > 0 && work->burst_packets <= VIRTUAL_BURST_MAX)));
}

static bool work_fits(const struct virtual_device *device, const struct virtual_work *work)
{
        const struct power_model *model = &device->model;

        if (work->app[0] == '\0' || !memchr(work->app, '\0', sizeof(work->app)))
                return false;
        if (!is_rate(work->read_mb_per_s) || !is_rate(work->write_mb_per_s) || !is_rate(work->rx_mb_per_s) ||
            !is_rate(work->tx_mb_per_s) || !is_rate(work->wakes_per_s) || !is_share(work->gpu))
                return false;
        if (!(work->cpu_factor >= 0 && work->cpu_factor <= VIRTUAL_CPU_FACTOR_MAX) ||
            !(work->unseen_mw >= 0 && work->unseen_mw <= VIRTUAL_UNSEEN_MAX_MW))
                return false;
        if (!(work->instructions_per_cycle >= 0 && work->instructions_per_cycle <= VIRTUAL_IPC_MAX) ||
            !(work->instructions_per_spin >= 0 && work->instructions_per_spin <= VIRTUAL_IPC_MAX) ||
            !(work->misses_per_kinstruction >= 0 && work->misses_per_kinstruction <= VIRTUAL_MPK_MAX))
                return false;
        if (!packets_fit(work))
                return false;
        for (size_t p = 0; p < POWER_MAX_POLICIES; p++)
                if (work->policy_khz[p] > 0 &&
                    (p >= model->n_policies || power_find_opp(&model->policies[p], work->policy_khz[p]) < 0))
                        return false;
        for (unsigned cpu = 0; cpu < POWER_MAX_CPUS; cpu++)
                if (cpu < model->n_cpus ? !is_share(work->utilisation[cpu]) : work->utilisation[cpu] != 0)
                        return false;
        return true;
}

static bool works_fit(const struct virtual_device *device, const struct virtual_work *work, size_t n)
{
        const char *foreground = NULL;

        for (size_t i = 0; i < n; i++) {
                if (!work_fits(device, &work[i]))
                        return false;
                if (!work[i].foreground)
                        continue;
                if (foreground && strcmp(foreground, work[i].app) != 0)
                        return false;
                foreground = work[i].app;
        }
        return true;
}

/* Finds the app with this id, or adds it. Returns its index or -ENOMEM. */
static ssize_t find_app(struct virtual_device *device, const char *id)
{
        struct app *app;

        for (size_t i = 0; i < device->n_apps; i++)
                if (strcmp(device->apps[i].id, id) == 0)
                        return (ssize_t)i;
        if (util_grow(&device->apps, &device->apps_capacity, device->n_apps + 1, sizeof(*device->apps)) < 0)
                return -ENOMEM;
        app = &device->apps[device->n_apps];
        *app = (struct app){ .pid = (pid_t)(1000 + device->n_apps) };
        app->cpu_ns = calloc(device->model.n_opps + 1, sizeof(*app->cpu_ns));
        if (!app->cpu_ns || by_cycles_alloc(&app->cpu, device->model.n_opps) < 0 ||
            kinds_add_app(&device->kinds, id, device->model.n_policies, &app->kind) < 0) {
                free(app->cpu_ns);
                by_cycles_clear(&app->cpu);
                kinds_clear_app(&app->kind);
                return -ENOMEM;
        }
        memcpy(app->id, id, strlen(id) + 1);
        return (ssize_t)device->n_apps++;
}

/* Begins a new process, with counters at 0, if the old one ended and was seen as ended. */
static void begin_process(struct virtual_device *device, struct app *app)
{
        app->alive = true;
        if (app->listed)
                return;
        app->listed = true;
        app->began_ns = device->now_ns;
        app->cpu_total_ns = app->gpu_ns = app->wakes = 0;
        app->gps_on_ns = app->audio_on_ns = app->camera_on_ns = 0;
        memset(app->cpu_ns, 0, device->model.n_opps * sizeof(*app->cpu_ns));
        by_cycles_reset(&app->cpu, device->model.n_opps);
        memset(app->bytes, 0, sizeof(app->bytes));
        memset(app->shown, 0, sizeof(app->shown));
        memset(app->packets, 0, sizeof(app->packets));
        memset(app->other_bytes, 0, sizeof(app->other_bytes));
        app->silent_ns = 0;
}

static double averaged(double before, double weight, double added, double added_weight)
{
        return (before * weight + added * added_weight) / (weight + added_weight);
}

/* Work that overlaps on a core: its kinds are averaged by CPU time. */
static void add_kind(const struct power_policy *policy, struct running *running, const struct virtual_work *work)
{
        double instructions = work->instructions_per_cycle > 0 ? work->instructions_per_cycle : policy->spin_ipc;
        double misses;

        if (work->instructions_per_spin > 0)
                instructions = work->instructions_per_spin * policy->spin_ipc;
        misses = work->misses_per_kinstruction / 1000 * instructions;

        for (unsigned cpu = policy->first_cpu; cpu < policy->first_cpu + policy->n_cpus; cpu++) {
                double before = running->utilisation[cpu], added = work->utilisation[cpu];

                if (!(added > 0))
                        continue;
                running->instructions[cpu] =
                        before > 0 ? averaged(running->instructions[cpu], before, instructions, added) : instructions;
                running->misses[cpu] = averaged(running->misses[cpu], before, misses, added);
        }
}

static void add_work(struct virtual_device *device, struct running *running, const struct virtual_work *work)
{
        double factor = work->cpu_factor > 0 ? work->cpu_factor : 1;

        running->foreground |= work->foreground;
        running->bytes_per_s[RATE_READ] += work->read_mb_per_s * BYTES_PER_MB;
        running->bytes_per_s[RATE_WRITE] += work->write_mb_per_s * BYTES_PER_MB;
        if (work->radio == AIR_WIFI && !device->airs[AIR_WIFI].present) { /* otherwise they are packets */
                running->bytes_per_s[RATE_RX] += work->rx_mb_per_s * BYTES_PER_MB;
                running->bytes_per_s[RATE_TX] += work->tx_mb_per_s * BYTES_PER_MB;
                running->wakes_per_s += work->wakes_per_s;
        }
        running->gps |= work->gps;
        running->audio |= work->audio;
        running->camera |= work->camera;
        running->gpu += work->gpu;
        running->unseen_w += work->unseen_mw / 1e3;
        for (size_t p = 0; p < device->model.n_policies; p++)
                add_kind(&device->model.policies[p], running, work);
        for (unsigned cpu = 0; cpu < device->model.n_cpus; cpu++) {
                double before = running->utilisation[cpu], added = work->utilisation[cpu];

                running->utilisation[cpu] += added;
                if (added > 0)
                        running->cpu_factor[cpu] = (running->cpu_factor[cpu] * before + factor * added) /
                                                   (before + added);
        }
}

/* Combines several pieces of work of one app. */
static int combine(struct virtual_device *device, const struct virtual_work *work, size_t n,
                   struct running *running, size_t *n_running)
{
        *n_running = 0;
        for (size_t i = 0; i < n; i++) {
                ssize_t app = find_app(device, work[i].app);
                size_t at = 0;

                if (app < 0)
                        return (int)app;
                while (at < *n_running && running[at].app != (size_t)app)
                        at++;
                if (at == *n_running)
                        running[(*n_running)++] = (struct running){ .app = (size_t)app, .reference = true };
                running[at].reference &= work[i].reference;
                add_work(device, &running[at], &work[i]);
        }
        return 0;
}

/* A core, or the GPU, has one second per second; if more is wanted, all parts are reduced in proportion. */
static void cut(double *share[], size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += *share[i];
        for (size_t i = 0; sum > 1 && i < n; i++)
                *share[i] /= sum;
}

static int cut_all(struct virtual_device *device)
{
        _cleanup_free_ double **share = calloc(device->n_running + 1, sizeof(*share));

        if (!share)
                return -ENOMEM;
        for (unsigned cpu = 0; cpu <= device->model.n_cpus; cpu++) {
                for (size_t i = 0; i < device->n_running; i++)
                        share[i] = cpu < device->model.n_cpus ? &device->running[i].utilisation[cpu]
                                                              : &device->running[i].gpu;
                cut(share, device->n_running);
        }
        return 0;
}

static void replace_processes(struct virtual_device *device)
{
        for (size_t i = 0; i < device->n_apps; i++) {
                struct app *app = &device->apps[i];
                bool has_work = false;

                for (size_t j = 0; j < device->n_running; j++)
                        has_work |= device->running[j].app == i;
                if (has_work && !app->alive)
                        begin_process(device, app);
                if (!has_work && app->alive)
                        app->ended_ns = device->now_ns;
                app->alive = has_work;
        }
}

static int set_work(struct virtual_device *device, const struct virtual_work *work, size_t n)
{
        struct running *running;
        size_t n_running;
        int err;

        running = calloc(n + 1, sizeof(*running));
        if (!running)
                return -ENOMEM;
        err = combine(device, work, n, running, &n_running);
        if (err < 0) {
                free(running);
                return err;
        }
        virtual_device_settle(device);
        free(device->running);
        device->running = running;
        device->n_running = n_running;
        memset(device->asked_khz, 0, sizeof(device->asked_khz));
        for (size_t i = 0; i < n; i++)
                for (size_t p = 0; p < device->model.n_policies; p++)
                        device->asked_khz[p] = MAX(device->asked_khz[p], work[i].policy_khz[p]);
        err = cut_all(device);
        if (!err)
                err = air_set_work(device, work, n);
        if (err < 0)
                return err;
        replace_processes(device);
        virtual_device_recompute(device);
        return virtual_device_note_screen(device);
}

int virtual_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n)
{
        int err;

        if (!works_fit(device, work, n))
                return -EINVAL;
        err = set_work(device, work, n);
        if (err < 0)
                device->broken = err;
        return err;
}
