/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a calibration would do, said before it does: the whole list, and the few lines that one agrees to. */

#include "night.h"

struct dry_run {
        const struct options *options;
        const struct hardware_description *description;
        const struct plan *plan;
        enum observation_method method;
        bool battery;               /* there is one */
        const char *profile, *observations;
};

void dry_run_print(const struct dry_run *dry_run);

/* Says in short what is to come and asks. 0: go on; -ECANCELED: no; -ENOTTY: nobody to ask. */
int consent_ask(const struct dry_run *dry_run);
