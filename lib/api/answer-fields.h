/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The keys of the answers, for those who write them (lib/answer/, poller/) and who read them (the library, predict/):
 * a new key is a row here. docs/json.md says what each means.
 */

#include "forecast/timeline.h"
#include "forecast/usage-table.h"
#include "joulecast-private.h"
#include "util/fields.h"

extern const struct field forecast_fields[], budget_fields[], gain_fields[], advice_fields[], endurance_fields[];
extern const struct field cost_fields[], cost_app_fields[], cost_list_fields[], live_fields[], apps_fields[];
extern const struct field since_fields[], usage_table_fields[], usage_row_fields[], forgotten_fields[];
extern const struct field timeline_fields[];

/* Data that comes with the cost of the last seconds. */
struct answer_live {
        uint64_t number;  /* number of the last interval; to ask for the intervals that follow it */
        double suspend_s;
        double percent;   /* the battery's at the end of that interval; NaN: unknown */
        int plugged;      /* 1, 0; -1: unknown */
};

/* The recorded span, beside the apps (cost_list_fields). */
struct answer_apps {
        int64_t from_ns, to_ns;
        double percent;
        int plugged;
};

struct answer_since {
        int64_t times_ns[JOULECAST_SINCE_RESUME + 1]; /* by enum joulecast_event; INT64_MIN: never */
};

/* 0; -EBADMSG; -ENOMEM. @ret is written only on success. */
int answer_fields_read_cost(const struct cJSON *json, struct cost **ret);
