/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "running.h"

#include <errno.h>
#include <string.h>

#include "discharge.h"
#include "util/units.h"
#include "util/util.h"

#define SPAN_NS (900 * (int64_t)NS_PER_S)

void running_clear(struct running *running)
{
        for (size_t i = 0; i < running->n; i++)
                free(running->names[i]);
        free(running->names);
        *running = (struct running){ .n = 0 };
}

static int take_row(void *data, const struct store_row *row)
{
        struct running *running = data;

        if (!discharge_is_app(row->app) || row->active_ns == 0)
                return 0;
        for (size_t i = 0; i < running->n; i++)
                if (strcmp(running->names[i], row->app) == 0)
                        return 0;
        if (util_grow(&running->names, &running->capacity, running->n + 1, sizeof(*running->names)) < 0)
                return -ENOMEM;
        running->names[running->n] = strdup(row->app);
        return running->names[running->n] ? (running->n++, 0) : -ENOMEM;
}

int running_read(struct store *store, struct running *ret)
{
        struct store_query query = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .grain = STORE_RAW, .uid = -1 };
        struct running running = { .n = 0 };
        struct store_battery battery;
        int err = store_battery(store, INT64_MIN, INT64_MAX, &battery);

        if (err)
                return err;
        query.from_ns = battery.last_ns - SPAN_NS;
        err = store_rows(store, &query, take_row, &running);
        if (err)
                running_clear(&running);
        else
                *ret = running;
        return err;
}
