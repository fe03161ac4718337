/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "charge.h"
#include "replay.h"
#include "util/units.h"
#include "util/util.h"

#define PERIOD_NS (NS_PER_S / EVENTS_PER_S)
#define SECTOR_BYTES 512

static bool is_wifi(const char *interface)
{
        char path[96];

        snprintf(path, sizeof(path), "/sys/class/net/%.32s/phy80211", interface);
        return access(path, F_OK) == 0;
}

/* Samples of a socket do not tell the interface. */
static bool wifi_alone(void)
{
        _cleanup_closedir_ DIR *folder = opendir("/sys/class/net");
        bool wifi = false, other = false;
        struct dirent *entry;

        while (folder && (entry = readdir(folder))) {
                char path[300], state[16];

                snprintf(path, sizeof(path), "/sys/class/net/%s/operstate", entry->d_name);
                if (*entry->d_name == '.' || util_read_at(AT_FDCWD, path, state, sizeof(state)) < 0 ||
                    strncmp(state, "up", 2) != 0)
                        continue;
                *(is_wifi(entry->d_name) ? &wifi : &other) = true;
        }
        return wifi && !other;
}

int charge_open(struct charge *charge, struct prices *prices, const struct tracepoints *tracepoints)
{
        *charge = (struct charge){ .prices = prices, .tracepoints = tracepoints, .receives_by_air = wifi_alone() };
        charge->moment = calloc(CHARGE_CPUS_MAX, sizeof(*charge->moment));
        return charge->moment ? waking_open(&charge->waking, price_profile(prices)) : -ENOMEM;
}

void charge_clear(struct charge *charge)
{
        waking_close(&charge->waking);
        free(charge->moment);
}

static int find_line(struct recording *recording, uint32_t stack, struct line **ret)
{
        if (util_grow(&recording->lines, &recording->capacity, (size_t)stack + 1, sizeof(*recording->lines)) < 0)
                return -ENOMEM;
        while (recording->n <= stack)
                recording->lines[recording->n++] = (struct line){ 0 };
        *ret = &recording->lines[stack];
        return 0;
}

/* Adds the energy of an event; NaN (no price) adds none. @exact: part of such events that is seen; 1: no variance. */
static void add_energy(struct line *line, enum component component, double nj, double exact)
{
        if (isnan(nj))
                return;
        line->energy_nj[component] += nj;
        line->variance_nj2 += nj * nj * (1 - exact);
        line->largest_nj = fmax(line->largest_nj, nj * (1 - exact));
}

static unsigned count_busy(const struct charge *charge, const struct moment_cpu *of)
{
        uint32_t policy = price_policy(charge->prices, of->cpu);
        unsigned n = 0;

        for (size_t i = 0; i < charge->n_moment; i++) {
                bool before = false;

                for (size_t j = 0; j < i && !before; j++)
                        before = charge->moment[j].cpu == charge->moment[i].cpu;
                n += !before && price_policy(charge->prices, charge->moment[i].cpu) == policy;
        }
        return n;
}

static int finish_moment(struct charge *charge, struct recording *recording)
{
        for (size_t i = 0; i < charge->n_moment; i++) {
                const struct moment_cpu *moment = &charge->moment[i];
                double price = price_cpu_nj(charge->prices, moment->cpu, moment->time_ns, count_busy(charge, moment));
                struct line *line;
                int err = find_line(recording, moment->stack, &line);

                if (err)
                        return err;
                line->cpu_ns += (double)moment->period_ns;
                add_energy(line, COMPONENT_CPU, price * (double)moment->period_ns, 0);
        }
        charge->n_moment = 0;
        return 0;
}

static int add_cpu(struct charge *charge, const struct charged *charged, struct recording *recording)
{
        const struct record_sample *sample = charged->sample;
        struct line *line;
        int err = 0;

        if (charge->n_moment > 0 && (charge->n_moment == CHARGE_CPUS_MAX ||
                                     charge->moment[0].time_ns / PERIOD_NS != sample->time_ns / PERIOD_NS))
                err = finish_moment(charge, recording);
        if (!err)
                err = find_line(recording, charged->stack, &line);
        if (err)
                return err;
        charge->moment[charge->n_moment++] =
                (struct moment_cpu){ sample->time_ns, sample->period, sample->cpu, charged->stack };
        line->samples++;
        recording->samples++;
        recording->cut += !charged->whole;
        recording->without_app += !charged->has_app;
        return 0;
}

/* Name of the interface that a packet goes to; "" if it is not in the sample. */
static void interface_of(const struct charge *charge, const struct record_sample *sample, char *buf, size_t size)
{
        uint64_t at = tracepoints_number(&charge->tracepoints->list[EVENT_SEND].name, sample->raw, sample->raw_bytes);
        size_t offset = at & 0xffff, length = at >> 16 & 0xffff;

        *buf = '\0';
        if (offset < sample->raw_bytes && length <= sample->raw_bytes - offset)
                snprintf(buf, size, "%.*s", (int)length, sample->raw + offset);
}

/*
 * Charges a packet over WiFi: by its bytes, if the profile prices them, or by the automaton. The time that the radio is
 * up is charged to the stack that woke it.
 */
static int add_air(struct charge *charge, const struct charged *charged, double bytes, double events,
                   struct recording *recording)
{
        bool sent = charged->kind == EVENT_SEND;
        struct waking_charge air;
        struct line *line, *waker;
        int err = waking_packet(&charge->waking, charged->sample->time_ns, sent ? RADIO_TX : RADIO_RX,
                                (uint64_t)(bytes / fmax(1, events)), charged->stack, &air);

        if (!err)
                err = find_line(recording, MAX(air.waker, charged->stack), &line); /* makes room for both */
        if (!err)
                err = find_line(recording, charged->stack, &line);
        if (err)
                return err;
        waker = &recording->lines[air.waker];
        *(sent ? &recording->air_tx_bytes : &recording->air_rx_bytes) += bytes;
        line->radio_wakes += air.woke;
        add_energy(waker, COMPONENT_WIFI, air.waker_nj, 1);
        add_energy(line, COMPONENT_WIFI,
                   isnan(air.own_nj) ? bytes * price_nj(charge->prices,
                                                        sent ? AMOUNT_wifi_tx_bytes : AMOUNT_wifi_rx_bytes) :
                                       air.own_nj * events,
                   1 / fmax(1, events));
        return 0;
}

static int add_event(struct charge *charge, const struct charged *charged, struct recording *recording)
{
        const struct record_sample *sample = charged->sample;
        const struct tracepoint *point = &charge->tracepoints->list[charged->kind];
        double number = (double)tracepoints_number(&point->value, sample->raw, sample->raw_bytes), price = 0;
        double events = (double)sample->period * charge->factor[charged->kind];
        char interface[32] = "";
        struct line *line;
        int err;

        if (charged->kind == EVENT_SEND)
                interface_of(charge, sample, interface, sizeof(interface));
        if (strcmp(interface, "lo") == 0) /* no radio sends it */
                return 0;
        err = find_line(recording, charged->stack, &line);
        if (err)
                return err;
        number *= events;
        if (charged->kind == EVENT_SLEEP || charged->kind == EVENT_DRAW) {
                number = events;
        } else if (charged->kind == EVENT_DIRTY) {
                number = (double)sysconf(_SC_PAGESIZE) * events;
                price = price_nj(charge->prices, AMOUNT_write_bytes);
        } else if (charged->kind == EVENT_READ) {
                number *= SECTOR_BYTES;
                price = price_nj(charge->prices, AMOUNT_read_bytes);
        }
        line->count[charged->kind] += number;
        if (price > 0)
                add_energy(line, COMPONENT_DISK, price * number, 1 / fmax(1, events));
        if (is_wifi(interface) || (charged->kind == EVENT_RECEIVE && charge->receives_by_air))
                err = add_air(charge, charged, number, events, recording);
        return err;
}

int charge_add(struct charge *charge, const struct charged *charged, struct recording *recording)
{
        return charged->kind == EVENT_CPU ? add_cpu(charge, charged, recording) : add_event(charge, charged, recording);
}

int charge_finish(struct charge *charge, struct recording *recording)
{
        struct waking_charge air;
        struct line *line;
        int err = finish_moment(charge, recording);

        if (!err)
                err = waking_rest(&charge->waking, &air);
        if (err || air.waker_nj <= 0)
                return err;
        err = find_line(recording, air.waker, &line);
        if (!err)
                add_energy(line, COMPONENT_WIFI, air.waker_nj, 1);
        return err;
}

static void add_gpu(const struct charge *charge, struct line *line, double ns)
{
        line->gpu_ns += ns;
        add_energy(line, COMPONENT_GPU, ns * price_nj(charge->prices, AMOUNT_gpu_busy_ns), 1);
}

int charge_gpu(struct charge *charge, uint64_t gpu_ns, struct recording *recording)
{
        double jobs = 0;
        int64_t frame, stack;
        struct line *line;
        uint32_t one;
        int err;

        for (size_t i = 0; i < recording->n; i++)
                jobs += recording->lines[i].count[EVENT_DRAW];
        for (size_t i = 0; jobs > 0 && i < recording->n; i++)
                if (recording->lines[i].count[EVENT_DRAW] > 0)
                        add_gpu(charge, &recording->lines[i],
                                (double)gpu_ns * recording->lines[i].count[EVENT_DRAW] / jobs);
        if (jobs > 0)
                return 0;
        frame = words_number(recording->frames, "[gpu]", strlen("[gpu]"));
        one = (uint32_t)frame;
        stack = frame < 0 ? frame : words_number(recording->stacks, &one, sizeof(one));
        if (stack < 0)
                return (int)stack;
        err = find_line(recording, (uint32_t)stack, &line);
        if (err)
                return err;
        add_gpu(charge, line, (double)gpu_ns);
        return 0;
}
