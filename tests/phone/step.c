/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One look at the phone, fifty times a second: what it did, what that takes, what its gauge shows of it. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "physics.h"
#include "util/units.h"
#include "util/util.h"

#define KHZ_PER_P_STATE 100000
#define VGA_PICTURE 0x20
#define SLEEP_TO_RAM 3

/*
 * Bytes that came since a look just before would be a rate beyond all devices,
 * which the virtual device refuses.
 */
#define STEP_MIN_NS 5000000

uint64_t physics_now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t top_khz(const struct physics *physics)
{
        uint32_t top = 1;

        for (size_t i = 0; i < physics->vcpus.n; i++)
                top = MAX(top, world_max_khz(&physics->world, i));
        return top;
}

/* Until a driver of the phone sets it, a P-state is the firmware's: full speed. */
static int apply_p_states(struct physics *physics, const struct phone_look *look, struct world_load *load)
{
        for (size_t i = 0; i < physics->vcpus.n; i++) {
                int err = 0;

                load->khz[i] = (uint32_t)look->p_state[i] * KHZ_PER_P_STATE;
                if (!physics->throttled || !load->khz[i])
                        continue;
                physics->vcpus.list[i].speed = (double)load->khz[i] / (double)top_khz(physics);
                err = throttle_set(&physics->throttle, i, physics->vcpus.list[i].speed);
                if (err)
                        return err;
        }
        return 0;
}

/* Counting starts from the first answer. */
static int look_at_disks(struct physics *physics, struct world_load *load)
{
        struct blocks *blocks = &physics->blocks;
        int err = blocks_look(blocks);

        if (err || blocks->fd < 0)
                return err;
        if (physics->blocks_heard && blocks->read_bytes >= physics->read_bytes &&
            blocks->write_bytes >= physics->write_bytes) {
                load->read_bytes = blocks->read_bytes - physics->read_bytes;
                load->write_bytes = blocks->write_bytes - physics->write_bytes;
        }
        physics->read_bytes = blocks->read_bytes;
        physics->write_bytes = blocks->write_bytes;
        physics->blocks_heard = true;
        return 0;
}

static int look_at_radio(struct physics *physics, struct world_load *load)
{
        struct phone_radio *radio = &physics->radio;
        int err = radio_look(radio);

        load->wifi_on = radio->associated;
        load->rx_bytes = radio->rx_bytes;
        load->tx_bytes = radio->tx_bytes;
        load->wakes = radio->wakes;
        radio->rx_bytes = radio->tx_bytes = radio->wakes = 0;
        return err;
}

int physics_step(struct physics *physics)
{
        struct world_load load = { 0 };
        struct phone_look look = { 0 };
        uint64_t now_ns;
        double dt_ns;
        int err;

        if (physics_now_ns() - physics->last_ns < STEP_MIN_NS)
                return 0;
        err = registers_look(&physics->registers, physics->vcpus.n, &look);
        now_ns = physics_now_ns();
        dt_ns = (double)(now_ns - physics->last_ns);
        if (!err)
                err = vcpus_read(&physics->vcpus, dt_ns, load.busy);
        if (!err)
                err = look_at_disks(physics, &load);
        if (!err)
                err = look_at_radio(physics, &load);
        if (err)
                return err == -ESRCH ? -EPIPE : err;
        load.asleep = look.sleep == SLEEP_TO_RAM;
        load.level_percent = (double)look.backlight;
        load.screen_on = (look.vga & VGA_PICTURE) && look.backlight > 0;
        /*
         * The time that passed did so at the frequencies of the look before:
         * a change is on average half a step late.
         */
        memcpy(load.khz, physics->load.khz, sizeof(load.khz));
        err = world_step(&physics->world, dt_ns / 1e9, &load);
        physics->last_ns = now_ns;
        physics->steps++;
        if (!err)
                err = apply_p_states(physics, &look, &load);
        physics->load = load;
        return err ? err : registers_show(&physics->registers, &physics->world);
}
