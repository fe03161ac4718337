/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "util/log.h"
#include "world.h"

struct options {
        const char *device, *qtest, *qmp, *radio, *control, *state;
        double factor, percent, wake_us;
        uint64_t seed;
        bool no_throttle, charge;
        uint64_t starts; /* earlier starts with this state file */
};

void options_usage(FILE *file);
int options_parse(int argc, char **argv, struct options *options); /* 0; -EINVAL */

/*
 * The charge that the last power cut left, and how often the phone has started.
 * No file: a new phone. 0; -errno.
 */
int state_load(struct options *options, const struct log *log);
int state_save(const struct options *options, struct world *world);
