/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads recorded usage for the commands that show it as it is. */

#include "forecast/usage-table.h"
#include "options.h"

struct recorded {
        struct options options;
        const char *app;        /* NULL: all */
        struct moment from;
        int64_t to_ns;          /* INT64_MAX: to the last */
        bool times;             /* only the times of apps are needed */
};

/* Reads the database, or asks the service where that may not be read. An exit code, after its sentence. */
int recorded_read(struct recorded *recorded, struct usage_table **ret);
/*
 * Finds the id of the app that @recorded asks for by its name or a part of it. 0; -ENODATA: there is none in that time;
 * after a sentence: -EEXIST: several, -ENOENT: none, but one has a similar name.
 */
int recorded_find_app(const struct joulecast_usage *usage, const struct recorded *recorded, char *app);
void recorded_print_span(const struct usage_table *table);
