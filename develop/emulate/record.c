/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include <errno.h>
#include <stdlib.h>

const char *const record_means[CPU_MEANS] = { "none", "stops", "quota-v1", "quota-v2" };

bool record_event(const struct packet_record *record, struct radio_event *ret)
{
        if (record->verdict == PACKET_DROPPED && !record->woke)
                return false;
        if (record->direction == RADIO_RX && record->verdict != PACKET_DELIVERED && !record->woke)
                return false;
        ret->time_ns = record->woke ? record->in_ns : record->direction == RADIO_TX ? record->link_ns : record->out_ns;
        ret->bytes = record->bytes;
        ret->direction = record->direction;
        return record->woke || record->direction == RADIO_TX || record->out_ns > 0;
}

static int compare(const void *a, const void *b)
{
        const struct radio_event *left = a, *right = b;

        if (left->time_ns != right->time_ns)
                return left->time_ns < right->time_ns ? -1 : 1;
        return left->number < right->number ? -1 : 1;
}

int record_events(const struct packet_record *records, size_t n, struct radio_event **ret, size_t *ret_n)
{
        struct radio_event *events = calloc(n + 1, sizeof(*events));
        size_t found = 0;

        if (!events)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                if (record_event(&records[i], &events[found]))
                        events[found++].number = i;
        qsort(events, found, sizeof(*events), compare);
        *ret = events;
        *ret_n = found;
        return 0;
}
