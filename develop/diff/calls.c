/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree/labels.h"
#include "util/util.h"

struct calls {
        struct labels labels; /* as in the stacks: frame@dso */
        double *count;
        size_t capacity;
};

void calls_free(struct calls *calls)
{
        if (!calls)
                return;
        labels_clear(&calls->labels);
        free(calls->count);
        free(calls);
}

double calls_of(const struct calls *calls, const char *frame)
{
        int32_t label = labels_find(&calls->labels, frame, strlen(frame));

        return label < 0 ? NAN : calls->count[label];
}

int calls_set(struct calls **calls, const char *frame, size_t length, double count)
{
        int32_t label;

        if (!*calls)
                *calls = calloc(1, sizeof(**calls));
        if (!*calls)
                return -ENOMEM;
        label = labels_add(&(*calls)->labels, frame, length);
        if (label < 0)
                return label;
        if ((size_t)label >= (*calls)->capacity &&
            util_grow(&(*calls)->count, &(*calls)->capacity, (size_t)label + 1, sizeof(*(*calls)->count)) < 0)
                return -ENOMEM;
        (*calls)->count[label] = count;
        return 0;
}
