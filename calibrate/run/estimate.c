/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "estimate.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

#include "util/words.h"

const char *estimate_span_text(double hours, char *buf, size_t size)
{
        long minutes = lround(hours * 60);

        if (!isfinite(hours))
                snprintf(buf, size, "?");
        else if (minutes < 60)
                snprintf(buf, size, "%ld min", minutes);
        else
                snprintf(buf, size, "%ld h %02ld min", minutes / 60, minutes % 60);
        return buf;
}

const char *estimate_text(const struct run_estimate *estimate, char *buf)
{
        const struct run_amount *hours = &estimate->hours, *percent = &estimate->percent;
        char usual[32], low[32], high[32];
        int digits = percent->usual < 10;

        snprintf(buf, ESTIMATE_TEXT_MAX, _("%s (%s to %s) and %.*f %% of the battery (%.*f to %.*f %%)"),
                 estimate_span_text(hours->usual, usual, sizeof(usual)),
                 estimate_span_text(hours->low, low, sizeof(low)),
                 estimate_span_text(hours->high, high, sizeof(high)),
                 digits, percent->usual, digits, percent->low, digits, percent->high);
        return buf;
}

/* Four digits are enough. */
static void add(cJSON *json, const char *name, const char *end, double value)
{
        char key[48];

        snprintf(key, sizeof(key), "expected_%s%s", name, end);
        cJSON_AddNumberToObject(json, key, round(value * 1e4) / 1e4);
}

static void add_amount(cJSON *json, const char *name, const struct run_amount *amount)
{
        add(json, name, "", amount->usual);
        add(json, name, "_low", amount->low);
        add(json, name, "_high", amount->high);
}

void estimate_to_json(const struct run_estimate *estimate, cJSON *json)
{
        add_amount(json, "hours", &estimate->hours);
        add_amount(json, "percent", &estimate->percent);
}
