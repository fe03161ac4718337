/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The next upload, from usage.db: what `preview` prints, and what is sent. */

#include <stddef.h>
#include <stdint.h>

#include "member.h"
#include "model/profile.h"
#include "store/store.h"

/* What a device may send: bytes of an upload, packed, for each second that it covers; a day at least. */
#define COMPOSE_BYTES_PER_S 0.02
#define COMPOSE_BYTES_MIN 1728

struct compose_source {
        const struct member *member;
        struct store *store;
        const struct profile *profile;
        int root_fd;   /* of the machine; -1: a virtual device */
        int64_t now_ns; /* readings after it are of a clock that was wrong, and left out */
};

struct compose_upload {
        char *text;             /* NDJSON */
        size_t length;
        uint8_t *packed;        /* the same by gzip */
        size_t packed_length;
        size_t n, awake;        /* samples; those that are not of a suspend */
        int64_t from_ns, until_ns; /* realtime: begin of the first, end of the last */
};

/* 0; -ENODATA: there is no sample yet; another negative errno. compose_clear() it. */
int compose_upload(const struct compose_source *source, struct compose_upload *ret);
void compose_clear(struct compose_upload *upload);
