/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * State of a writer of the database: clients and apps, which are added when first seen, samples, and the sums
 * of clients that have new samples.
 */

#include "shared/upload.h"
#include "database.h"
#include "quota.h"
#include "samples.h"
#include "util/hash.h"

struct known_client {
        int64_t id, context;
        int64_t n_samples;       /* samples before this upload */
        int64_t next_seq;        /* one after the client's highest sequence number */
        int64_t first_of_header; /* start of its newest header */
        char os[UPLOAD_TEXT_MAX], model[UPLOAD_TEXT_MAX];
        bool had;                /* it had sums before */
        bool changed;            /* it may have new samples or a new header */
        UT_hash_handle hh;
        char hex[UPLOAD_CLIENT_DIGITS + 1];
};

/* An app in the database, known by name or only by its hash. */
struct known_app {
        int64_t id;
        bool named;
        UT_hash_handle hh;
};

struct writer {
        struct database *database;
        struct known_app *apps;
        struct known_client *clients;
        uint64_t buffered;      /* samples since the last writer_flush() */
        int64_t names, contexts; /* new since the last writer_forget(), counted at a flush */
        struct client_samples samples;
        struct statement *add_app, *find_client, *add_client, *set_token, *add_context, *add_sample;
        struct statement *add_rates, *set_rates, *set_client, *set_header, *add_pending, *drop_pending, *add_joined;
        struct statement *find_quota, *set_quota;
};

int writer_open(struct database *database, struct writer *ret);
void writer_close(struct writer *writer);
/*
 * Forgets the clients at the end of a transaction; with @failed also the apps, as they may not have been
 * written.
 */
void writer_forget(struct writer *writer, bool failed);

/* Looks up a client. Returns 1 if it exists, 0 if not. @token: the stored hash of its token, or "". */
int writer_find(struct writer *writer, const char *hex, struct known_client **ret, char token[65], bool *quarantined);
/* Stores the hash of the token of a new client, and from where and when it came. */
int writer_set_token(struct writer *writer, struct known_client *client, const char *token, const char *network);
/* quota.c: reads how much is kept of a client; @client NULL: nothing. */
int writer_read_quota(struct writer *writer, const struct known_client *client, struct quota_counts *ret);
int writer_set_quota(struct writer *writer, const struct known_client *client, const struct quota_counts *counts);
/* Finds or adds the client of a header, and sets the context of the samples that follow. */
int writer_client(struct writer *writer, const struct upload_header *header, struct known_client **ret);
/* Adds a sample; writer_flush() finds out whether it is new. */
int writer_add(struct writer *writer, struct known_client *client, int64_t seq, struct upload_header *header,
               const struct upload_sample *sample);
/*
 * Writes all samples to the database. @added and @known: how many samples since the last flush are new, and
 * how many were there already.
 */
int writer_flush(struct writer *writer, uint64_t *added, uint64_t *known);
/* refresh.c: after a flush, recomputes the sums of clients with new samples. */
int writer_refresh(struct writer *writer);
/* Instead, notes that they have new samples, for refresh_pending(). */
int writer_defer(struct writer *writer);
/*
 * Makes the sums of all clients that have new samples. Their samples are read outside of a transaction, so that
 * uploads go on; a client that gets more meanwhile stays pending. @one: only of this client; NULL: of all.
 */
int refresh_pending(struct database *database, const char *one);
/*
 * Does that for a database that is only read otherwise. After a failure, which is a warning, reports are of the sums
 * that there are.
 */
void refresh_before_report(const char *where, const struct log *log, const atomic_bool *stop);
int refresh_open(struct writer *writer);
