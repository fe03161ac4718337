/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "world.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"
#include "virtual/virtual-truth.h"

#define WORKS_MAX 64

static int read_source(struct world *world)
{
        sample_reset(&world->sample);
        return world->source->ops->read(world->source, &world->sample);
}

/* The CPUs of the device are those of QEMU, in the order of their policies. */
static int check_cpus(const struct world *world, const char *file, const struct log *log)
{
        const struct sample *sample = &world->sample;

        for (size_t i = 0; i < sample->n_cores; i++) {
                bool ascends = i == 0 || sample->cores[i - 1].policy <= sample->cores[i].policy;

                if (sample->cores[i].cpu == i && i < VCPU_MAX && ascends)
                        continue;
                log_error(log,
                          "%s: a virtual phone has the CPUs 0 to %d at most, in the order of their policies",
                          file, VCPU_MAX - 1);
                return -EINVAL;
        }
        return 0;
}

static int read_factor(struct world *world, double factor, const char *file, const struct log *log)
{
        const char *text = profile_extra(world->truth, "virtual", "x-factor");

        world->factor = factor > 0 ? factor : 1;
        if (factor > 0 || !text)
                return 0;
        if (util_parse_double(text, &world->factor) == 0 && world->factor >= 1 && world->factor <= 1000)
                return 0;
        log_error(log, "%s: x-factor is a number from 1 to 1000", file);
        return -EINVAL;
}

int world_open(struct world *world, const char *file, double factor, uint64_t seed, double percent,
               const struct log *log)
{
        int err;

        *world = (struct world){ 0 };
        err = virtual_load(file, log, &world->truth);
        if (!err)
                err = read_factor(world, factor, file, log);
        if (err)
                return err;
        for (size_t i = 0; i < world->truth->n_coefficients; i++)
                world->has_wifi |= model_term_component(world->truth->coefficients[i].term) == COMPONENT_WIFI;
        world->truth->virtual_device.rate_variation_percent = 0; /* the phone's bytes are real ones */
        err = virtual_open(world->truth, VIRTUAL_SIMULATE, seed, percent, log, &world->device);
        if (!err)
                err = virtual_source_open(world->device, &world->source);
        if (!err)
                err = read_source(world);
        if (!err)
                err = check_cpus(world, file, log);
        return err ? err : world_mark(world);
}

void world_close(struct world *world)
{
        if (world->source)
                world->source->ops->close(world->source);
        sample_clear(&world->sample);
        free(world->marked);
        virtual_free(world->device);
        profile_free(world->truth);
        *world = (struct world){ 0 };
}

uint32_t world_max_khz(const struct world *world, size_t cpu)
{
        uint32_t khz = 0;

        for (size_t i = 0; i < world->sample.n_opps; i++)
                if (cpu >= world->sample.n_cores ||
                    world->sample.opps[i].policy == world->sample.cores[cpu].policy)
                        khz = MAX(khz, world->sample.opps[i].khz);
        return khz;
}

/*
 * A policy runs as fast as the fastest of its CPUs;
 * what the device has not is the next higher that it has.
 */
static uint32_t policy_khz(const struct world *world, uint32_t policy, const struct world_load *load)
{
        uint32_t asked = 0, khz = 0;

        for (size_t i = 0; i < world->sample.n_cores; i++)
                if (world->sample.cores[i].policy == policy)
                        asked = MAX(asked, load->khz[i] ? load->khz[i] : UINT32_MAX);
        for (size_t i = 0; i < world->sample.n_opps; i++) { /* ascending */
                if (world->sample.opps[i].policy != policy)
                        continue;
                khz = world->sample.opps[i].khz;
                if (khz >= asked)
                        break;
        }
        return khz;
}

struct works {
        struct virtual_work list[WORKS_MAX];
        size_t n;
};

static struct virtual_work *add(struct works *works, const char *component)
{
        struct virtual_work *work = &works->list[works->n];

        works->n += works->n < WORKS_MAX - 1;
        *work = (struct virtual_work){ 0 };
        snprintf(work->app, sizeof(work->app), "%s", component);
        return work;
}

/*
 * The virtual device gives energies per app, so each component is an app:
 * "cpu.0.800000" does all work of policy 0 at that frequency.
 */
static void add_cpu(const struct world *world, const struct world_load *load, struct works *works)
{
        const struct sample *sample = &world->sample;
        size_t index = 0;

        for (size_t i = 0; i < sample->n_opps; i++) {
                struct virtual_work *work;
                char name[32];

                index += i > 0 && sample->opps[i].policy != sample->opps[i - 1].policy;
                if (sample->opps[i].khz != policy_khz(world, sample->opps[i].policy, load))
                        continue;
                snprintf(name, sizeof(name), "cpu.%u.%u", sample->opps[i].policy, sample->opps[i].khz);
                work = add(works, name);
                work->policy_khz[index] = sample->opps[i].khz;
                for (size_t cpu = 0; cpu < sample->n_cores; cpu++)
                        if (sample->cores[cpu].policy == sample->opps[i].policy)
                                work->utilisation[cpu] = fmin(1, fmax(0, load->busy[cpu]));
        }
}

static void add_bytes(const struct world_load *load, double dt_s, struct works *works)
{
        if (load->read_bytes > 0)
                add(works, "disk.read")->read_mb_per_s = (double)load->read_bytes / BYTES_PER_MB / dt_s;
        if (load->write_bytes > 0)
                add(works, "disk.write")->write_mb_per_s = (double)load->write_bytes / BYTES_PER_MB / dt_s;
        if (load->rx_bytes > 0)
                add(works, "wifi.rx")->rx_mb_per_s = (double)load->rx_bytes / BYTES_PER_MB / dt_s;
        if (load->tx_bytes > 0)
                add(works, "wifi.tx")->tx_mb_per_s = (double)load->tx_bytes / BYTES_PER_MB / dt_s;
        if (load->wakes > 0)
                add(works, "wifi.wake")->wakes_per_s = (double)load->wakes / dt_s;
        if (load->screen_on)
                add(works, "display")->foreground = true;
}

/* Bytes that were moved just before WiFi was turned off still count. */
static int set_wifi(struct world *world, const struct world_load *load)
{
        bool on = load->wifi_on || load->rx_bytes > 0 || load->tx_bytes > 0;

        return virtual_set_wifi(world->device, on && world->has_wifi);
}

static int set_screen(struct world *world, const struct world_load *load)
{
        double level = fmin(100, fmax(0, load->level_percent)) / 100 * world->truth->max_brightness;

        return virtual_set_screen(world->device, load->screen_on, (uint32_t)lround(level));
}

static void count(struct world *world, double dt_s, const struct world_load *load)
{
        world->phone_s += dt_s;
        for (size_t i = 0; i < VCPU_MAX; i++)
                world->busy_s[i] += load->busy[i] * dt_s;
        world->total.read_bytes += load->read_bytes;
        world->total.write_bytes += load->write_bytes;
        world->total.rx_bytes += load->rx_bytes;
        world->total.tx_bytes += load->tx_bytes;
        world->total.wakes += load->wakes;
}

int world_step(struct world *world, double dt_s, const struct world_load *load)
{
        struct works works = { .n = 0 };
        int err;

        if (dt_s <= 0)
                return 0;
        add_cpu(world, load, &works);
        add_bytes(load, dt_s, &works);
        err = set_screen(world, load);
        if (!err)
                err = set_wifi(world, load);
        virtual_set_suspended(world->device, load->asleep);
        if (!err)
                err = virtual_set_work(world->device, works.list, works.n);
        if (!err)
                err = virtual_advance(world->device, (uint64_t)llround(dt_s * world->factor * 1e9));
        if (err && err != -ENODATA)
                return err;
        count(world, dt_s, load);
        return read_source(world); /* also if the battery is empty */
}

int world_plug(struct world *world, double charger_w)
{
        int err = virtual_set_charger(world->device, charger_w);

        if (!err)
                world->charger_w = charger_w;
        return err;
}

int world_mark(struct world *world)
{
        size_t n = world->sample.n_opps;
        struct opp *marked = reallocarray(world->marked, n + 1, sizeof(*marked));

        if (!marked)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                marked[i] = world->sample.opps[i];
        world->marked = marked;
        virtual_truth_reset(world->device);
        world->phone_s = 0;
        memset(world->busy_s, 0, sizeof(world->busy_s));
        world->total = (struct world_load){ 0 };
        return 0;
}

double world_percent(struct world *world)
{
        struct virtual_truth truth;

        virtual_truth_read(world->device, &truth);
        return truth.percent_end;
}
