/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The first and the last sentence of `joulecast doctor`: what this machine is ready for, and what to do next. */

#include <string.h>

#include "doctor.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/words.h"

/* The reason why @what is missing; NULL: it is not. */
static const char *why_missing(const struct findings *findings, const char *what)
{
        for (size_t i = 0; i < findings->n_missing; i++)
                if (strcmp(findings->missing[i].what, what) == 0)
                        return findings->missing[i].why;
        return NULL;
}

void doctor_print_verdict(const struct findings *findings)
{
        const char *no_sensor = why_missing(findings, "current sensor");

        if (findings->n_collectors == 0)
                table_text(TABLE_HEAD, "Not ready to record: nothing here tells what processes use.");
        else if (findings->n_batteries == 0)
                table_text(TABLE_HEAD, "Ready to record; not ready to calibrate, because no battery of this "
                                       "machine is shown.");
        else if (no_sensor)
                table_text(TABLE_HEAD, "Ready to record, and to calibrate by percent; not ready to calibrate "
                                       "by gauge: %s.", no_sensor);
        else
                table_text(TABLE_HEAD, "Ready to record, and to calibrate by gauge.");
        printf("\n");
}

void doctor_print_next(const struct findings *findings)
{
        printf("\n");
        if (findings->n_batteries == 0 && !findings->model)
                table_text(TABLE_PLAIN, "Next: joulecast profile use class-laptop, for costs by a usual "
                                        "laptop's numbers.");
        else if (why_missing(findings, "usage"))
                table_text(TABLE_PLAIN, "Next: %s enable --now joulecastd, or joulecast poll as yourself.",
                           paths_systemctl());
        else if (findings->n_batteries > 0 && findings->model &&
                 strcmp(profile_basis(findings->model), "calibrated") != 0)
                table_text(TABLE_PLAIN, "Next: sudo joulecast calibrate --schedule 01:30, for numbers of "
                                        "this very device.");
        else
                table_text(TABLE_PLAIN, "Next: joulecast status.");
}
