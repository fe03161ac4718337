/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A virtual device as hardware, through virtual.h, which shows the readings of a real device. Only values of the truth
 * that a real device shows openly are read: its name and its backlight's range.
 */

#include "hardware.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "source/cpu.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/virtual.h"

#define SMALL_PACKET_BYTES 100
#define LARGE_PACKET_BYTES 1400
/* Kernels against the spin: instructions per cycle, relative to its own; cache events per 1,000 instructions. */
static const struct {
        const char *app;
        double instructions, misses;
} kernels[] = {
        [KERNEL_SPIN] = { "joulecast-calibrate", 0, 0 },
        [KERNEL_ILP] = { "joulecast-calibrate ilp", 2.5, 0.01 },
        [KERNEL_STREAM] = { "joulecast-calibrate stream", 0.4, 60 },
};

#define NETWORK_PACKET_BYTES 90 /* mostly questions for names and addresses */

/* A policy of the device and its place in the description. */
struct place {
        uint32_t policy, n_cpus, lowest_khz;
        size_t group;  /* SIZE_MAX: no room for it */
        size_t member;
};

struct hardware_virtual {
        struct hardware hardware; /* first */
        struct virtual_device *device;
        struct source *source;
        struct hardware_description description;
        struct place places[VIRTUAL_POLICIES_MAX];
        size_t n_places;
        double network_packets_per_s;
};

static struct hardware_virtual *virtual_of(struct hardware *hardware)
{
        return (struct hardware_virtual *)hardware;
}

static int describe(struct hardware *hardware, struct hardware_description *ret)
{
        *ret = virtual_of(hardware)->description;
        return 0;
}

static uint64_t now_ns(struct hardware *hardware)
{
        return virtual_now_ns(virtual_of(hardware)->device);
}

static int read_sample(struct hardware *hardware, struct sample *sample)
{
        struct source *source = virtual_of(hardware)->source;

        return source->ops->read(source, sample);
}

static int64_t realtime_ns(struct hardware *hardware)
{
        struct sample sample = { 0 };
        int64_t now = read_sample(hardware, &sample) ? 0 : sample.realtime_ns;

        sample_clear(&sample);
        return now;
}

static int wait_until(struct hardware *hardware, uint64_t until_ns)
{
        struct virtual_device *device = virtual_of(hardware)->device;
        uint64_t now = virtual_now_ns(device);

        return until_ns > now ? virtual_advance(device, until_ns - now) : 0;
}

static uint32_t busy_in(const struct hardware_virtual *virtual, const struct place *place,
                        const struct mode *mode)
{
        if (place->group == SIZE_MAX)
                return 0;
        return group_busy(&virtual->description.policies[place->group], place->member,
                          mode->policy_cores[place->group]);
}

/* Members of a group without load stay at their lowest frequency, as under a governor. */
static uint32_t khz_in(const struct hardware_virtual *virtual, const struct place *place,
                       const struct mode *mode)
{
        bool busy = place->group != SIZE_MAX &&
                    (busy_in(virtual, place, mode) || !mode->policy_cores[place->group]);

        return busy && mode->policy_khz[place->group] ? mode->policy_khz[place->group] : place->lowest_khz;
}

/* One worker process with a thread on each busy core, as the real load has. */
static int set_work(struct hardware_virtual *virtual, const struct mode *mode)
{
        struct virtual_work work = {
                .instructions_per_spin = kernels[mode->kernel].instructions,
                .misses_per_kinstruction = kernels[mode->kernel].misses,
                .reference = mode->kernel == KERNEL_SPIN,
                .read_mb_per_s = mode->read_mb_per_s,
                .write_mb_per_s = mode->write_mb_per_s,
                .rx_mb_per_s = mode->rx_mb_per_s,
                .tx_mb_per_s = mode->tx_mb_per_s,
                .wakes_per_s = mode->wakes_per_s,
                .packets_per_s = mode->packets_per_s,
                .packet_bytes = mode->large_packets ? LARGE_PACKET_BYTES : SMALL_PACKET_BYTES,
                .burst_packets = MAX(mode->burst_packets, 1u),
                .pattern = mode->burst_packets ? VIRTUAL_BURSTS : VIRTUAL_STEADY,
                .radio = mode->air,
                .gpu = mode->gpu,
                .foreground = mode->screen_on,
        }, others = {
                .app = "network",
                .packets_per_s = virtual->network_packets_per_s,
                .packet_bytes = NETWORK_PACKET_BYTES,
                .burst_packets = 1,
                .pattern = VIRTUAL_POISSON,
        };
        size_t core = 0;

        snprintf(work.app, sizeof(work.app), "%s", kernels[mode->kernel].app);
        for (size_t i = 0; i < virtual->n_places; i++) {
                const struct place *place = &virtual->places[i];
                uint32_t busy = busy_in(virtual, place, mode);

                if (busy)
                        work.policy_khz[i] = khz_in(virtual, place, mode);
                for (uint32_t k = 0; k < place->n_cpus; k++, core++)
                        if (core < ARRAY_SIZE(work.utilisation))
                                work.utilisation[core] = k < busy ? 1 : 0;
        }
        return virtual_set_work(virtual->device, (struct virtual_work[]){ work, others },
                                others.packets_per_s > 0 ? 2 : 1);
}

static int set_frequencies(struct hardware_virtual *virtual, const struct mode *mode)
{
        for (size_t i = 0; i < virtual->n_places; i++) {
                const struct place *place = &virtual->places[i];
                uint32_t khz = khz_in(virtual, place, mode);
                int err = khz ? virtual_set_khz(virtual->device, place->policy, khz) : 0;

                if (err)
                        return err;
        }
        return 0;
}

static int apply(struct hardware *hardware, const struct mode *mode)
{
        struct hardware_virtual *virtual = virtual_of(hardware);
        int err = set_frequencies(virtual, mode);

        if (!err && virtual->description.max_brightness)
                err = virtual_set_screen(virtual->device, mode->screen_on, mode->brightness);
        if (!err && virtual->description.pictures)
                err = virtual_set_content(virtual->device, 1 - mode->dark);
        if (!err && virtual->description.wifi)
                err = virtual_set_wifi(virtual->device, mode->wifi_on);
        return err ? err : set_work(virtual, mode);
}

static int restore(struct hardware *hardware)
{
        static const struct mode idle = { .name = "idle", .wifi_on = true };

        return apply(hardware, &idle);
}

static void close_virtual(struct hardware *hardware)
{
        struct hardware_virtual *virtual = virtual_of(hardware);

        if (virtual->source)
                virtual->source->ops->close(virtual->source);
        virtual_free(virtual->device);
        free(virtual);
}

static const struct hardware_ops hardware_virtual_ops = {
        .name = "virtual",
        .describe = describe,
        .now_ns = now_ns,
        .realtime_ns = realtime_ns,
        .wait = wait_until,
        .read = read_sample,
        .apply = apply,
        .restore = restore,
        .close = close_virtual,
};

/* Describes one policy from a sample. */
static void describe_policy(const struct sample *sample, uint32_t number, struct hardware_policy *policy,
                            bool *package)
{
        uint32_t cpus[VIRTUAL_CPUS_MAX];

        *policy = (struct hardware_policy){ .policy = number };
        *package = false;
        for (size_t i = 0; i < sample->n_opps; i++)
                if (sample->opps[i].policy == number && policy->n_khz < ARRAY_SIZE(policy->khz))
                        policy->khz[policy->n_khz++] = sample->opps[i].khz;
        for (size_t i = 0; i < sample->n_cores; i++) {
                if (sample->cores[i].policy != number || policy->n_cpus == ARRAY_SIZE(cpus))
                        continue;
                cpus[policy->n_cpus++] = sample->cores[i].cpu;
                *package = sample->cores[i].package > 0;
        }
        cpu_print_list(cpus, policy->n_cpus, policy->cpus, sizeof(policy->cpus));
}

static bool are_alike(const struct hardware_policy *a, const struct hardware_policy *b)
{
        return a->n_cpus == b->n_cpus && a->n_khz == b->n_khz &&
               !memcmp(a->khz, b->khz, a->n_khz * sizeof(a->khz[0]));
}

/* Policies with the same frequencies and number of cores are of one kind. */
static uint32_t kind_of(const struct hardware_policy *policies, size_t n, size_t at)
{
        size_t first = n, count = 0;

        for (size_t i = 0; i < n; i++) {
                if (!are_alike(&policies[i], &policies[at]))
                        continue;
                first = MIN(first, i);
                count++;
        }
        return policies[count < CPU_KIND_MIN ? at : first].policy;
}

static void place_policy(struct hardware_virtual *virtual, const struct hardware_policy *policy,
                         uint32_t kind, bool package)
{
        struct hardware_description *description = &virtual->description;
        struct place *place = &virtual->places[virtual->n_places++];

        *place = (struct place){ .policy = policy->policy, .n_cpus = policy->n_cpus, .group = SIZE_MAX,
                                 .lowest_khz = policy->n_khz ? policy->khz[0] : 0 };
        if (group_add(description, policy, kind, package) < 0)
                return;
        for (place->group = 0; !group_has(&description->policies[place->group], policy->policy);)
                place->group++;
        place->member = description->policies[place->group].n_members - 1;
}

static int describe_cpus(struct hardware_virtual *virtual, const struct sample *sample)
{
        _cleanup_free_ struct hardware_policy *policies = calloc(VIRTUAL_POLICIES_MAX, sizeof(*policies));
        bool package[VIRTUAL_POLICIES_MAX];
        size_t n = 0;

        if (!policies)
                return -ENOMEM;
        for (size_t i = 0; i < sample->n_opps && n < VIRTUAL_POLICIES_MAX; i++)
                if (n == 0 || policies[n - 1].policy != sample->opps[i].policy) {
                        describe_policy(sample, sample->opps[i].policy, &policies[n], &package[n]);
                        n++;
                }
        for (size_t i = 0; i < n; i++)
                place_policy(virtual, &policies[i], kind_of(policies, n, i), package[i]);
        return 0;
}

static void describe_battery(const struct battery *battery, struct hardware_description *description)
{
        description->voltage = battery->have & BATTERY_VOLTAGE;
        description->current_sensor = battery->have & BATTERY_POWER;
        description->fine_level = battery->have & (BATTERY_CHARGE_NOW | BATTERY_ENERGY_NOW);
        description->energy_full_mwh =
                battery->have & BATTERY_ENERGY_FULL ? (double)battery->energy_full_uwh / 1e3 : NAN;
        description->rough_mwh = description->energy_full_mwh;
        if (battery->have & BATTERY_CHARGE_FULL && battery->have & BATTERY_VOLTAGE)
                description->rough_mwh = (double)battery->charge_full_uah * (double)battery->voltage_uv / 1e9;
}

/* Does the device have this component? A real one shows that by a sysfs node. Its power is not read. */
static bool has(const struct profile *truth, enum term first, enum term last)
{
        for (size_t i = 0; i < truth->n_coefficients; i++)
                if (truth->coefficients[i].term >= first && truth->coefficients[i].term <= last)
                        return true;
        return false;
}

/* The range of the backlight; without it, the highest level. 0: no display. */
static uint32_t brightest(const struct profile *truth)
{
        uint32_t highest = 0;

        for (size_t i = 0; i < truth->n_coefficients; i++)
                if (truth->coefficients[i].term == TERM_DISPLAY)
                        highest = MAX(highest, truth->coefficients[i].point);
        return highest ? MAX(highest, truth->max_brightness) : 0;
}

/* From one sample, as a real device is described by its kernel. */
static int learn_description(struct hardware_virtual *virtual, const struct profile *truth)
{
        struct hardware_description *description = &virtual->description;
        struct sample sample = { 0 };
        int err = read_sample(&virtual->hardware, &sample);

        if (!err) {
                util_printable(truth->device, description->device, sizeof(description->device));
                description->max_brightness = brightest(truth);
                description->pictures = description->max_brightness > 0;
                err = describe_cpus(virtual, &sample);
                describe_battery(&sample.battery, description);
                description->n_disks = has(truth, TERM_DISK_READ, TERM_DISK_WRITE) ? 1 : 0;
                description->wifi = has(truth, TERM_WIFI_ON, TERM_WIFI_WAKE) || radio_find(&truth->radios, "wifi");
                description->wifi_rx = description->wifi_tx = description->wifi;
                description->wifi_packets = description->wifi && sample.have & SAMPLE_BURSTS;
                description->cellular = radio_find(&truth->radios, "cellular") && sample.have & SAMPLE_BURSTS;
                description->counters = sample.have & SAMPLE_COUNTED;
                if (truth->virtual_device.counters == VIRTUAL_COUNTERS_ALL)
                        snprintf(description->miss_event, sizeof(description->miss_event), "l2d_cache");
                description->idle_states = truth->virtual_device.idle_states;
                description->gpu = has(truth, TERM_GPU, TERM_GPU);
        }
        sample_clear(&sample);
        return err;
}

int hardware_virtual_open(const struct profile *truth, uint64_t seed, double start_percent,
                          const struct log *log, struct hardware **ret)
{
        struct hardware_virtual *virtual = calloc(1, sizeof(*virtual));
        int err;

        if (!virtual)
                return -ENOMEM;
        virtual->hardware.ops = &hardware_virtual_ops;
        virtual->network_packets_per_s = truth->virtual_device.network_packets_per_s;
        err = virtual_open(truth, VIRTUAL_CALIBRATE, seed, start_percent, log, &virtual->device);
        if (!err)
                err = virtual_source_open(virtual->device, &virtual->source);
        if (!err)
                err = learn_description(virtual, truth);
        if (err) {
                close_virtual(&virtual->hardware);
                return err;
        }
        *ret = &virtual->hardware;
        return 0;
}

int hardware_virtual_load(const char *device, uint64_t seed, double start_percent, int64_t not_before_ns,
                          const struct log *log, struct hardware **ret)
{
        _cleanup_(profile_freep) struct profile *truth = NULL;
        int64_t now = (int64_t)time(NULL) * (int64_t)NS_PER_S;
        int err = virtual_load(device, log, &truth);

        if (err)
                return err;
        err = hardware_virtual_open(truth, seed, start_percent, log, ret);
        if (err)
                log_error(log, "%s: this virtual device cannot be opened: %s", device, strerror(-err));
        else
                virtual_set_realtime(virtual_of(*ret)->device, MAX(not_before_ns, now));
        return err;
}
