/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The physics of one virtual phone while it is on. */

#include "blocks.h"
#include "radio.h"
#include "registers.h"
#include "throttle.h"
#include "vcpu.h"
#include "world.h"

struct physics {
        struct world world;
        struct qtest qtest;
        struct registers registers;
        struct vcpus vcpus;
        struct throttle throttle;
        struct blocks blocks;
        struct phone_radio radio;
        bool throttled;
        uint64_t last_ns;
        uint64_t read_bytes, write_bytes; /* sums over the disks, at the last step */
        bool blocks_heard;
        uint64_t steps;
        bool quit;
        struct world_load load;           /* load during the last step */
};

uint64_t physics_now_ns(void);
/* Reads the phone's state, and advances the world accordingly. 0; -EPIPE: the phone is off; -errno. */
int physics_step(struct physics *physics);

/* One command of the harness; the answer is one line without its end, free() it. NULL without memory. */
char *control_answer(struct physics *physics, const char *line);
