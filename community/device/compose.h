/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes the next upload from usage.db, for `preview` and for sending. */

#include <stddef.h>
#include <stdint.h>

#include "member.h"
#include "model/profile.h"
#include "store/store.h"

/*
 * Most bytes that a device may send: compressed, per second that the upload covers; at least those of a day.
 */
#define COMPOSE_BYTES_PER_S 0.02
#define COMPOSE_BYTES_MIN 1728

struct compose_source {
        const struct member *member;
        struct store *store;
        const struct profile *profile;
        int root_fd;   /* root folder of the machine; -1: a virtual device */
        int64_t now_ns; /* later readings have a wrong clock and are left out */
};

struct compose_upload {
        char *text;             /* NDJSON */
        size_t length;
        uint8_t *packed;        /* the same, compressed by gzip */
        size_t packed_length;
        size_t n, awake;        /* number of samples, and of those without suspends */
        int64_t from_ns, until_ns; /* realtime: begin of the first, end of the last */
};

/* Returns 0; -ENODATA: there is no sample yet; another negative errno. End with compose_clear(). */
int compose_upload(const struct compose_source *source, struct compose_upload *ret);
void compose_clear(struct compose_upload *upload);
