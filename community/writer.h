/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the writers of the database share: numbers of names, and the clients that need new sums. */

#include "community/upload.h"
#include "database.h"
#include "util/hash.h"

/* An app's name or a client's id, and its number in the database. */
struct known {
        int64_t id;
        bool changed; /* a client's sums are older than its samples */
        UT_hash_handle hh;
        char name[];
};

struct writer {
        struct database *database;
        struct known *apps, *clients;
        int64_t next_app, next_client;
        struct statement *find_app, *add_app, *find_client, *add_client, *set_header, *add_sample;
};

int writer_open(struct database *database, struct writer *ret); /* after begin_write */
void writer_close(struct writer *writer);
/* The client of a header, whose apps get no numbers yet. */
int writer_client(struct writer *writer, const struct upload_header *header, struct known **ret);
/* 1: it is new; 0: it was known. */
int writer_add(struct writer *writer, struct known *client, int64_t seq, struct upload_header *header,
               const struct upload_sample *sample);
/* New sums for all clients that have new samples. */
int writer_refresh(struct writer *writer);
