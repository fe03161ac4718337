/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a calibration would do, said before it does. */

#include "options.h"
#include "run/run.h"

struct dry_run {
        const struct options *options;
        const struct hardware_description *description;
        const struct plan *plan;
        const struct run_request *request;
        const struct plan_limits *limits;
        enum observation_method method;
        bool battery;               /* there is one */
        const char *profile, *observations;
};

/* The whole list: states, hours, battery, what is touched. */
void dry_run_print(const struct dry_run *dry_run);
