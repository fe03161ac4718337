/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "run/run.h"

/* The calibration that is about to run, for the consent question and the dry run. */
struct prospect {
        const struct options *options;
        const struct hardware_description *description;
        const struct plan *plan;
        const struct run_request *request;
        const struct plan_limits *limits;
        enum observation_method method;
        bool battery;               /* this machine has one */
        const char *profile, *observations;
};
