/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "registers.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define BASE 0xff000000
#define MAGIC 0x56444556
#define PORT_P_STATE 0xe0
#define PORT_INTERRUPT 0x2005
#define PORT_VGA_RESET 0x3da /* reading it makes the next port show the index */
#define PORT_VGA_INDEX 0x3c0
#define KELVIN 273.15

static const char *const names[REG_COUNT] = {
        "MAGC", "ACON", "BSTA", "BRAT", "BREM", "BVOL", "BDES", "BFUL",
        "BLVL", "PPCL", "EVNT", "BPRS", "NBST", "NBCM", "NEVT", "TEMP", "BUNT", "SLEP",
};

int register_find(const char *name)
{
        for (int i = 0; i < REG_COUNT; i++)
                if (strcmp(names[i], name) == 0)
                        return i;
        return -EINVAL;
}

static uint64_t address(enum reg reg)
{
        return BASE + 4 * (uint64_t)reg;
}

static void put(struct registers *registers, enum reg reg, uint32_t value)
{
        if (registers->is_forced & 1u << reg)
                value = registers->forced[reg];
        if (registers->known & 1u << reg && registers->written[reg] == value)
                return;
        registers->known |= 1u << reg;
        registers->written[reg] = value;
        qtest_write_long(registers->qtest, address(reg), value);
}

static uint32_t to_word(double value)
{
        return value >= 0 && value < REG_UNKNOWN ? (uint32_t)value : REG_UNKNOWN;
}

static uint32_t full(const struct registers *registers, const struct world *world)
{
        if (registers->charge)
                return to_word(round((double)world->sample.battery.charge_full_uah / 1000));
        return to_word(round(world->truth->energy_full_mwh));
}

/*
 * A gauge in mWh has the steps of the shown charge: percent of charge times the energy of a full battery. It
 * is rounded up, so that the percent which Linux works out from it is the gauge's own.
 */
static uint32_t remaining(const struct registers *registers, const struct world *world)
{
        const struct battery *battery = &world->sample.battery;
        double share = battery->capacity_percent / 100.0;

        if (battery->have & BATTERY_CHARGE_NOW)
                share = (double)battery->charge_now_uah / (double)battery->charge_full_uah;
        if (battery->have & BATTERY_ENERGY_NOW)
                share = (double)battery->energy_now_uwh / (double)battery->energy_full_uwh;
        return to_word(ceil(share * full(registers, world) - 1e-6));
}

/*
 * Power is multiplied by the factor and voltage is not, so current is. Current is measured when the gauge measures, and
 * stays until the next time, while the voltage changes.
 */
static uint32_t rate(struct registers *registers, const struct world *world)
{
        const struct battery *battery = &world->sample.battery;
        double volts = registers->charge ? (double)battery->voltage_uv / 1e6 : 1;

        if (!(battery->have & BATTERY_POWER))
                return REG_UNKNOWN;
        if (battery->power_uw != registers->rate_uw) {
                registers->rate_uw = battery->power_uw;
                registers->rate = to_word(round((double)battery->power_uw / 1000 / volts * world->factor));
        }
        return registers->rate;
}

static void show_gauge(struct registers *registers, const struct world *world)
{
        const struct battery *battery = &world->sample.battery;
        enum gauge_fault fault = registers->fault;

        if (fault == GAUGE_STUCK)
                return;
        put(registers, REG_RATE,
            fault == GAUGE_MISSING ? REG_UNKNOWN : fault == GAUGE_ZERO ? 0 : rate(registers, world));
        put(registers, REG_REMAINING, fault == GAUGE_MISSING ? REG_UNKNOWN : remaining(registers, world));
        put(registers, REG_VOLTAGE,
            battery->have & BATTERY_VOLTAGE ? to_word(round((double)battery->voltage_uv / 1000)) : REG_UNKNOWN);
        if (battery->capacity_percent != registers->percent)
                registers->events |= EVENT_BATTERY;
        registers->percent = battery->capacity_percent;
}

static uint32_t state_word(enum battery_status status)
{
        return status == BATTERY_DISCHARGING ? 1 : status == BATTERY_CHARGING ? 2 : 0;
}

static void show_all(struct registers *registers, const struct world *world)
{
        put(registers, REG_ONLINE, world->charger_w > 0);
        put(registers, REG_STATE, state_word(world->sample.battery.status));
        put(registers, REG_DESIGN, full(registers, world));
        put(registers, REG_FULL, full(registers, world));
        put(registers, REG_UNIT, registers->charge);
        put(registers, REG_TEMPERATURE, to_word(round((virtual_temperature_c(world->device) + KELVIN) * 10)));
        show_gauge(registers, world);
}

int registers_open(struct registers *registers, struct qtest *qtest, const struct world *world, bool charge)
{
        uint64_t magic = 0;
        int err;

        *registers = (struct registers){
                .qtest = qtest,
                .charge = charge,
                .percent = world->sample.battery.capacity_percent,
        };
        qtest_read_long(qtest, address(REG_MAGIC), &magic);
        err = qtest_run(qtest);
        if (err)
                return err;
        show_all(registers, world);
        registers->events = EVENT_BATTERY | EVENT_BATTERY_INFO; /* a phone that is running knows another battery */
        if (magic != MAGIC) {
                registers->events = 0;
                put(registers, REG_PRESENT, 1);
                qtest_write_long(qtest, address(REG_BACKLIGHT), 100);
                put(registers, REG_MAGIC, MAGIC);
        }
        return qtest_run(qtest);
}

int registers_look(struct registers *registers, size_t n_cpus, struct phone_look *ret)
{
        uint64_t ignored;

        for (size_t i = 0; i < n_cpus; i++)
                qtest_in_byte(registers->qtest, (uint16_t)(PORT_P_STATE + i), &ret->p_state[i]);
        qtest_read_long(registers->qtest, address(REG_BACKLIGHT), &ret->backlight);
        qtest_read_long(registers->qtest, address(REG_EVENTS), &registers->pending);
        qtest_read_long(registers->qtest, address(REG_SLEEP), &ret->sleep);
        qtest_in_byte(registers->qtest, PORT_VGA_RESET, &ignored);
        qtest_in_byte(registers->qtest, PORT_VGA_INDEX, &ret->vga);
        return qtest_run(registers->qtest);
}

int registers_show(struct registers *registers, const struct world *world)
{
        show_all(registers, world);
        for (unsigned i = 0; i < REG_COUNT; i++)
                if (registers->is_forced & 1u << i)
                        put(registers, i, registers->forced[i]);
        if (registers->events) {
                qtest_write_long(registers->qtest, address(REG_EVENTS),
                                 registers->events | (uint32_t)registers->pending);
                qtest_out_byte(registers->qtest, PORT_INTERRUPT, 1);
                qtest_out_byte(registers->qtest, PORT_INTERRUPT, 0);
        }
        registers->events = 0;
        return registers->qtest->n_answers > 0 ? qtest_run(registers->qtest) : 0;
}
