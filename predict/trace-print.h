/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Output of `joulecast trace` for an interval, live or recorded, and for the total of all. */

#include <stdbool.h>

#include "forecast/cost.h"
#include "trace-process.h"

struct trace_form {
        bool json;
        bool usage;             /* show the usage below each power */
        const char *app;        /* NULL: all */
        const struct profile *profile;
        const struct trace_processes *processes; /* NULL: rows are apps */
        bool narrow;            /* the terminal is narrow */
        int app_columns;
        size_t time_columns, state_columns;
        unsigned long long lines; /* intervals so far */
        char day[32];           /* day of the last line; "": none was printed */
};

struct trace_line {
        const struct cost *cost;
        double seconds, suspend_s;
        double measured;        /* W, or J for a total; NaN: unknown */
        bool total;             /* the total of all intervals: joules in place of power */
};

/* A component has a column if a device of this profile can use it. */
bool trace_component_is_shown(const struct profile *profile, size_t component);
bool trace_is_wanted(const struct trace_form *form, const struct cost_app *app);
/* Lays out the columns for this terminal. */
void trace_form_make(struct trace_form *form);
/* 0; -ENOMEM; -errno of stdout. */
int trace_print(struct trace_form *form, const struct trace_line *line);
