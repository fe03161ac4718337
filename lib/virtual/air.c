/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets of a virtual device: when they come, how much energy they take, and how the counters show them. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "device.h"
#include "util/fnv.h"
#include "util/units.h"
#include "util/util.h"

#define RATE_PACKET_BYTES 1500  /* packet size where only bytes per second are given; */
#define RATE_PACKETS_PER_S 10e3 /* larger if there would be more a second, as with segmentation offload */
/* size of a burst by itself, such as a keepalive */
#define BURST_BYTES 100

static const char *const radio_of[AIR_COUNT] = { [AIR_WIFI] = "wifi", [AIR_CELLULAR] = "cellular" };

/* Time awake: a radio does not see the time in which the device is suspended. */
static uint64_t awake_ns(const struct virtual_device *device)
{
        return device->now_ns - device->suspended_ns;
}

int air_open(struct virtual_device *device, const struct profile *truth)
{
        for (unsigned air = 0; air < AIR_COUNT; air++) {
                const struct radio *radio = radio_find(&truth->radios, radio_of[air]);
                int err = radio ? automaton_init(&device->airs[air].automaton, radio, 0) : 0;

                if (err)
                        return err;
                device->airs[air].present = radio;
                device->airs[air].on = radio && air != AIR_WIFI;
        }
        if (device->airs[AIR_WIFI].present)
                device->model.wifi = true;
        return 0;
}

#define FAR_NS 1e18 /* time of a packet that never comes */

static bool traffic_is_same(const struct traffic *a, const struct traffic *b)
{
        return a->app == b->app && a->number == b->number && a->kind == b->kind && a->air == b->air &&
               a->pattern == b->pattern && a->packets_per_s == b->packets_per_s && a->bytes == b->bytes &&
               a->burst_packets == b->burst_packets;
}

static bool wanders(const struct traffic *traffic)
{
        return traffic->kind == TRAFFIC_RX || traffic->kind == TRAFFIC_TX;
}

static uint64_t later(uint64_t from_ns, double s)
{
        return from_ns + (uint64_t)llround(fmin(s * 1e9, FAR_NS));
}

static uint64_t gap_end(struct traffic *traffic)
{
        return later(traffic->next_ns, rng_exponential(&traffic->rng) / traffic->packets_per_s);
}

/* Two apps with the same row do not send at the same moments. @factor: present factor of the rate. */
static void traffic_start(struct traffic *traffic, uint64_t now_ns, uint64_t seed, const char *app, double factor)
{
        rng_seed(&traffic->rng, seed ^ fnv_add(FNV_BEGIN, app, strlen(app)), traffic->number);
        traffic->start_ns = traffic->next_ns = traffic->since_ns = now_ns;
        traffic->part = 1;
        traffic->factor = factor;
        if (traffic->kind == TRAFFIC_PACKETS && traffic->pattern == VIRTUAL_POISSON)
                traffic->next_ns = gap_end(traffic);
}

static void plan(struct traffic *traffic)
{
        double per_s = traffic->packets_per_s * traffic->factor;

        traffic->next_ns = later(traffic->since_ns, per_s > 0 ? fmax(0, 1 - traffic->part) / per_s : FAR_NS);
}

static void traffic_set_factor(struct traffic *traffic, uint64_t now_ns, double factor)
{
        if (!wanders(traffic) || factor == traffic->factor)
                return;
        traffic->part += (double)(now_ns - traffic->since_ns) / 1e9 * traffic->packets_per_s * traffic->factor;
        traffic->since_ns = now_ns;
        traffic->factor = factor;
        plan(traffic);
}

/* Takes the packet at next_ns and returns its direction. */
static enum radio_direction traffic_take(struct traffic *traffic)
{
        uint64_t n = traffic->n_packets++;

        if (wanders(traffic)) {
                traffic->part = 0;
                traffic->since_ns = traffic->next_ns;
                plan(traffic);
                return traffic->kind == TRAFFIC_TX ? RADIO_TX : RADIO_RX;
        }
        if (traffic->kind == TRAFFIC_PACKETS && traffic->pattern == VIRTUAL_POISSON) {
                traffic->next_ns = gap_end(traffic);
        } else {
                uint64_t burst = traffic->pattern == VIRTUAL_BURSTS ? traffic->burst_packets : 1;

                traffic->next_ns = later(traffic->start_ns, (double)((n + 1) / burst * burst) / traffic->packets_per_s);
        }
        return traffic->kind == TRAFFIC_PACKETS && n % 2 == 1 ? RADIO_RX : RADIO_TX;
}

void air_close(struct virtual_device *device)
{
        for (unsigned air = 0; air < AIR_COUNT; air++)
                automaton_clear(&device->airs[air].automaton);
        free(device->traffic);
        free(device->bursts);
}

void air_set_wifi(struct virtual_device *device, bool on)
{
        struct virtual_air *air = &device->airs[AIR_WIFI];

        if (!air->present || air->on == on)
                return;
        air->on = on;
        automaton_restart(&air->automaton, awake_ns(device));
}

double air_w(const struct virtual_device *device)
{
        double power_w = 0;

        for (unsigned air = 0; air < AIR_COUNT; air++)
                if (device->airs[air].on)
                        power_w += automaton_power_w(&device->airs[air].automaton);
        return power_w;
}

static void add_row(struct virtual_device *device, struct traffic row, double factor)
{
        traffic_start(&row, awake_ns(device), device->traffic_seed, device->apps[row.app].id, factor);
        device->traffic[device->n_traffic++] = row;
}

/* Makes a byte rate a row of packets, if the radio is an automaton. */
static void add_rate(struct virtual_device *device, struct traffic row, enum traffic_kind kind, enum rate rate,
                     double mb_per_s)
{
        if (!(mb_per_s > 0))
                return;
        row.kind = kind;
        row.bytes = (uint64_t)fmax(RATE_PACKET_BYTES, ceil(mb_per_s * BYTES_PER_MB / RATE_PACKETS_PER_S));
        row.packets_per_s = mb_per_s * BYTES_PER_MB / (double)row.bytes;
        add_row(device, row, device->noise.rate_factor[rate]);
}

static void add_rows(struct virtual_device *device, const struct virtual_work *work)
{
        struct traffic row = { .number = work->number, .air = work->radio };

        while (strcmp(device->apps[device->running[row.running].app].id, work->app) != 0)
                row.running++;
        row.app = device->running[row.running].app;
        if (device->airs[work->radio].present) {
                add_rate(device, row, TRAFFIC_RX, RATE_RX, work->rx_mb_per_s);
                add_rate(device, row, TRAFFIC_TX, RATE_TX, work->tx_mb_per_s);
        }
        if (device->airs[work->radio].present && work->wakes_per_s > 0) {
                row.kind = TRAFFIC_BURSTS;
                row.bytes = BURST_BYTES;
                row.packets_per_s = work->wakes_per_s;
                add_row(device, row, 1);
        }
        if (work->packets_per_s > 0) {
                row.kind = TRAFFIC_PACKETS;
                row.pattern = work->pattern;
                row.bytes = work->packet_bytes;
                row.packets_per_s = work->packets_per_s;
                row.burst_packets = work->burst_packets;
                add_row(device, row, 1);
        }
}

static bool has_packets(const struct virtual_device *device, const struct virtual_work *work, size_t n)
{
        bool has = device->airs[AIR_WIFI].present || device->airs[AIR_CELLULAR].present;

        for (size_t i = 0; i < n; i++)
                has |= work[i].packets_per_s > 0;
        return has;
}

int air_set_work(struct virtual_device *device, const struct virtual_work *work, size_t n)
{
        struct traffic *before = device->traffic, *rows;
        size_t n_before = device->n_traffic;

        device->n_traffic = 0;
        if (!has_packets(device, work, n))
                return 0;
        rows = calloc(4 * n + 1, sizeof(*rows));
        if (!rows)
                return -ENOMEM;
        device->traffic = rows;
        for (size_t i = 0; i < n; i++)
                add_rows(device, &work[i]);
        for (size_t i = 0; i < device->n_traffic; i++) {
                size_t running = device->traffic[i].running;

                for (size_t k = 0; k < n_before; k++)
                        if (traffic_is_same(&device->traffic[i], &before[k]))
                                device->traffic[i] = before[k];
                device->traffic[i].running = running;
        }
        free(before);
        return 0;
}

/* A burst is the first packet after a second of silence, counted as in lib/process/bpf/net.bpf.h. */
static bool count_burst(uint64_t *silent_ns, uint64_t now_ns)
{
        bool burst = now_ns >= *silent_ns;

        *silent_ns = now_ns + NS_PER_S;
        return burst;
}

static int end_burst(struct virtual_device *device, const struct app *app, enum air air,
                     const struct radio_burst *burst)
{
        if (burst->packets[RADIO_TX] + burst->packets[RADIO_RX] == 0)
                return 0;
        if (util_grow(&device->bursts, &device->bursts_capacity, device->n_bursts + 1, sizeof(*device->bursts)) < 0)
                return -ENOMEM;
        device->bursts[device->n_bursts++] = (struct process_burst){ { app->pid, app->began_ns }, air, *burst };
        return 0;
}

/*
 * Counts as lib/process/bpf/net-bursts.bpf.h does: a packet counts when it has been sent over the air, since
 * a full driver waits.
 */
static int add_to_burst(struct virtual_device *device, struct app *app, enum air air, enum radio_direction direction,
                        uint64_t bytes, uint64_t now_ns)
{
        struct radio_burst *burst = &app->bursts[air];
        int64_t boot_ns = (int64_t)(now_ns + device->suspended_ns);
        int err = 0;

        if (boot_ns - burst->last_ns >= RADIO_BURST_GAP_NS) {
                err = end_burst(device, app, air, burst);
                *burst = (struct radio_burst){ 0 };
        }
        if (burst->packets[RADIO_TX] + burst->packets[RADIO_RX] == 0)
                burst->first_ns = boot_ns;
        burst->last_ns = boot_ns;
        burst->packets[direction]++;
        burst->bytes[direction] += bytes;
        burst->large += bytes >= RADIO_LARGE_BYTES;
        return err;
}

int air_take_bursts(struct virtual_device *device, struct sample *sample)
{
        int err = 0;

        for (size_t i = 0; !err && i < device->n_apps; i++)
                for (enum air air = 0; !err && air < AIR_COUNT; air++) {
                        struct radio_burst *burst = &device->apps[i].bursts[air];

                        err = end_burst(device, &device->apps[i], air, burst);
                        *burst = (struct radio_burst){ .last_ns = burst->last_ns };
                }
        for (size_t i = 0; !err && i < device->n_bursts; i++) {
                struct process_burst *burst = sample_add_burst(sample);

                if (!burst)
                        return -ENOMEM;
                *burst = device->bursts[i];
        }
        device->n_bursts = 0;
        if (device->airs[AIR_WIFI].present || device->airs[AIR_CELLULAR].present)
                sample->have |= SAMPLE_BURSTS;
        return err;
}

/* Energy over WiFi for a device without [radio wifi]: a price per byte, and one per burst of the machine. */
static double priced_j(const struct virtual_device *device, enum radio_direction direction, uint64_t bytes, bool burst)
{
        enum rate rate = direction == RADIO_RX ? RATE_RX : RATE_TX;

        return (double)bytes * device->model.j_per_byte[rate] * device->reception.factor +
               (burst ? device->model.wake_j : 0);
}

static int packet(struct virtual_device *device, const struct traffic *row, uint64_t now_ns,
                  enum radio_direction direction, double *ret_j)
{
        struct running *running = &device->running[row->running];
        struct app *app = &device->apps[row->app];
        struct virtual_air *air = &device->airs[row->air];
        bool foreground = running->foreground && device->screen_on, burst = false;
        double energy_j;
        int err;

        if (row->air == AIR_WIFI ? !device->wifi_on : !air->present)
                return 0;
        if (device->watcher)
                device->watcher(device->watcher_data, row->air, now_ns, direction, row->bytes, app->id);
        app->packets[row->air][direction]++;
        if (row->air == AIR_WIFI) {
                app->bytes[direction == RADIO_RX ? RATE_RX : RATE_TX] += (double)row->bytes;
                app->wakes += count_burst(&app->silent_ns, now_ns);
                burst = count_burst(&device->silent_ns, now_ns);
                device->wakes_total += burst;
        } else {
                app->other_bytes[direction] += row->bytes;
                device->other_bytes[direction] += row->bytes;
        }
        if (air->present) {
                err = automaton_packet(&air->automaton, now_ns, direction, row->bytes, 2 * row->app + foreground);
                if (err == -ENOBUFS)
                        log_error(device->log, "[radio %s]: more than %d packets wait for a pulse; a shorter period,"
                                               " or "
                                  "fewer packets per second, makes them fit", radio_of[row->air], AUTOMATON_HELD_MAX);
                return err ? err : add_to_burst(device, app, row->air, direction, row->bytes,
                                                MAX(now_ns, air->automaton.air_ns));
        }
        energy_j = priced_j(device, direction, row->bytes, burst);
        app->energy_j[foreground] += energy_j;
        app->part_j[foreground][VIRTUAL_WIFI] += energy_j;
        *ret_j += energy_j;
        return 0;
}

static struct traffic *next_row(struct virtual_device *device)
{
        struct traffic *next = NULL;

        for (size_t i = 0; i < device->n_traffic; i++)
                if (!next || device->traffic[i].next_ns < next->next_ns)
                        next = &device->traffic[i];
        return next;
}

int air_step(struct virtual_device *device, uint64_t dt_ns, double *ret_j)
{
        uint64_t until_ns = awake_ns(device) + dt_ns;
        struct traffic *row;
        double energy_j = 0;
        int err = 0;

        while (!err && (row = next_row(device)) && row->next_ns < until_ns) {
                uint64_t now_ns = row->next_ns;

                err = packet(device, row, now_ns, traffic_take(row), &energy_j);
        }
        for (unsigned i = 0; !err && i < AIR_COUNT; i++) {
                struct virtual_air *air = &device->airs[i];
                fj total;

                if (air->on)
                        err = automaton_run(&air->automaton, until_ns);
                total = automaton_total(&air->automaton);
                energy_j += wide_to_double(total - air->seen) / 1e15;
                air->seen = total;
        }
        *ret_j = energy_j;
        return err;
}

void air_next_second(struct virtual_device *device)
{
        for (size_t i = 0; i < device->n_traffic; i++) {
                struct traffic *row = &device->traffic[i];

                traffic_set_factor(row, awake_ns(device),
                                   device->noise.rate_factor[row->kind == TRAFFIC_TX ? RATE_TX : RATE_RX]);
        }
}

double air_j(const struct virtual_device *device, enum air air, size_t app, bool foreground)
{
        return wide_to_double(automaton_of(&device->airs[air].automaton, 2 * app + foreground)) / 1e15;
}
