/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Takes over the sums that the kernel made by user when the ring had no room (bpf/user.bpf.h). The sums only
 * grow.
 */

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

/* Row of a user: the uid, and the sums when they were last taken. */
static uint64_t *row_of(struct process_collector *collector, uint32_t uid)
{
        uint64_t *row;

        for (size_t i = 0; i < collector->n_users; i++) {
                row = collector->users + i * collector->user_row;
                if (row[0] == uid)
                        return row;
        }
        if (util_grow(&collector->users, &collector->users_capacity,
                      (collector->n_users + 1) * collector->user_row, sizeof(*row)) < 0)
                return NULL;
        row = collector->users + collector->n_users++ * collector->user_row;
        memset(row, 0, collector->user_row * sizeof(*row));
        row[0] = uid;
        return row;
}

static void subtract(const uint64_t *now, const uint64_t *old, size_t n, uint64_t *ret)
{
        for (size_t i = 0; i < n; i++)
                ret[i] = now[i] - old[i];
}

static int take_user(struct process_collector *collector, uint32_t uid, const uint64_t *now,
                     int (*take)(struct process_collector *collector, const struct process_record *record,
                                 const uint64_t *opps))
{
        struct process_record record = {
                .uid = uid, .kind = RECORD_EXIT, .start_ns = collector->bpf->bss->last_walk_ns
        };
        struct user_ends grown;
        uint64_t opps[BPF_OPPS_MAX] = { 0 }, *row = row_of(collector, uid);
        size_t n_ends = sizeof(grown) / sizeof(uint64_t), n = collector->user_row - 1;

        if (!row)
                return -ENOMEM;
        subtract(now, row + 1, n_ends, (uint64_t *)&grown);
        subtract(now + n_ends, row + 1 + n_ends, n - n_ends, opps);
        memcpy(row + 1, now, n * sizeof(*row));
        record.totals = grown.totals;
        record.net = grown.net;
        return grown.n > 0 ? take(collector, &record, collector->source.counts & COUNTS_OPPS ? opps : NULL) : 0;
}

int process_bpf_take_sums(struct process_collector *collector,
                          int (*take)(struct process_collector *collector, const struct process_record *record,
                                      const uint64_t *opps))
{
        uint64_t now[sizeof(struct user_ends) / sizeof(uint64_t) + BPF_OPPS_MAX];
        int fd = bpf_map__fd(collector->bpf->maps.users), err = 0;
        uint32_t uid, *before = NULL;

        collector->user_row = 1 + bpf_map__value_size(collector->bpf->maps.users) / sizeof(uint64_t);
        while (!err && bpf_map_get_next_key(fd, before, &uid) == 0) {
                before = &uid;
                if (bpf_map_lookup_elem(fd, &uid, now) == 0)
                        err = take_user(collector, uid, now, take);
        }
        return err;
}
