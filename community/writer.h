/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the writers of the database share: clients and apps that are made when they are first seen, samples, and new sums
 * for the clients that have new samples.
 */

#include "community/upload.h"
#include "database.h"
#include "samples.h"
#include "util/hash.h"

struct known_client {
        int64_t id, context;
        int64_t n_samples;       /* before */
        int64_t next_seq;        /* one after the highest sequence number that it has */
        int64_t first_of_header; /* its newest header's, which had: */
        char os[UPLOAD_TEXT_MAX], model[UPLOAD_TEXT_MAX];
        bool had;                /* sums before */
        bool changed;            /* there may be new samples, or a new header */
        UT_hash_handle hh;
        char hex[UPLOAD_CLIENT_DIGITS + 1];
};

/* An app that the database has; by name, or only by hash. */
struct known_app {
        int64_t id;
        bool named;
        UT_hash_handle hh;
};

struct writer {
        struct database *database;
        struct known_app *apps;
        struct known_client *clients;
        uint64_t buffered;      /* samples since writer_flush() */
        struct client_samples samples;
        struct statement *add_app, *find_client, *add_client, *set_token, *add_context, *add_sample;
        struct statement *add_rates, *set_rates, *set_client;
};

int writer_open(struct database *database, struct writer *ret);
void writer_close(struct writer *writer);
/* Forgets whom it has seen, at the end of a transaction; @failed: apps, too, as they may not be there. */
void writer_forget(struct writer *writer, bool failed);

/* A client that may not be there: 1: it is, 0: it is not. @token: gets what is kept of it, or "". */
int writer_find(struct writer *writer, const char *hex, struct known_client **ret, char token[65], bool *quarantined);
/* Fixes the token of a client. */
int writer_set_token(struct writer *writer, struct known_client *client, const char *token);
/* The client of a header, made if there is none, and the context of the samples that follow. */
int writer_client(struct writer *writer, const struct upload_header *header, struct known_client **ret);
/* Takes a sample, of which writer_flush() says whether it is new. */
int writer_add(struct writer *writer, struct known_client *client, int64_t seq, struct upload_header *header,
               const struct upload_sample *sample);
/* All that was taken is in the database. Of the samples since the last flush: how many are new, and how many were there. */
int writer_flush(struct writer *writer, uint64_t *added, uint64_t *known);
/* refresh.c: after a flush, new sums for all clients that have new samples. */
int writer_refresh(struct writer *writer);
int refresh_open(struct writer *writer);
