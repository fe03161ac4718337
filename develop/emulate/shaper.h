/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The link between the app and the world. Each packet gets its time of delivery at once when it comes: by the link's
 * rate, the packets before it, the weather, and the radio, which may have to wake first.
 */

#include "network.h"
#include "radio/radio-run.h"
#include "record.h"
#include "util/util.h"

struct shaper;

struct shaper_plan {
        const struct network *network;
        const struct radio *radio; /* the one that prices the run, or NULL: it never sleeps */
        enum radio_signal signal;
        uint64_t seed;
        bool heads;                /* packets' first bytes are to be recorded, too */
};

/* 0; -ENOMEM. The plan's pointers must outlive it. */
int shaper_new(const struct shaper_plan *plan, struct shaper **ret);
void shaper_free(struct shaper *shaper);
DEFINE_CLEANUP(struct shaper, shaper_free)

/*
 * Takes a packet at @now_ns since the run began. @host_ns: its delay in this machine's own network, before or after
 * the link. 0; -ENOMEM: the packet is lost.
 */
int shaper_take(struct shaper *shaper, enum radio_direction direction, const uint8_t *bytes, size_t length,
                int64_t host_ns, int64_t now_ns);
/* When the next packet is due; INT64_MAX: none waits. */
int64_t shaper_next_ns(const struct shaper *shaper);
/*
 * The next packet that is due by @now_ns, valid until the next call of any of these; NULL: none. Its record
 * is complete.
 */
struct shaped {
        struct packet_record record;
        uint8_t bytes[];
};
struct shaped *shaper_give(struct shaper *shaper, int64_t now_ns);
/* To be called when the app has ended: packets that still wait are not delivered, and their records are complete. */
void shaper_end(struct shaper *shaper);
/*
 * Gives at most @n records that are complete and were not given yet, also of packets that were not delivered, and with
 * plan.heads their first bytes. Returns their number.
 */
size_t shaper_records(struct shaper *shaper, struct packet_record *ret, struct packet_head *ret_heads, size_t n);
