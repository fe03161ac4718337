/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Handles an upload that a client sends over HTTP, in one transaction. */

#include "answer.h"
#include "limits.h"
#include "pool.h"
#include "quota.h"

#define RECEIVE_BYTES_MAX 262144    /* size as sent */
#define RECEIVE_UNPACKED_MAX 4194304
#define RECEIVE_SAMPLES_MAX 2000
#define RECEIVE_USES_MAX 100000     /* apps in all samples of an upload */
#define RECEIVE_CLIENT_HOUR 60      /* most requests per client and hour */
#define RECEIVE_NETWORK_HOUR 6000   /* most requests per network and hour; more than any number of devices needs */

struct receiver {
        struct pool *pool;
        struct limits *limits;
        struct quota *quota;                      /* totals of the database */
        uint64_t new_clients;                     /* most new clients per network and hour */
        bool (*may_name)(void *data, int64_t app); /* do at least COMMUNITY_CLIENTS_MIN clients have this app? */
        void *data;
};

/**
 * receive_upload() - process an upload
 * @token:   SHA-256 of the client's token, as 64 digits
 * @network: the client's network; not stored
 * @limited: it has a share of the server's time and no more
 * @body:    plain or gzip, at most RECEIVE_BYTES_MAX bytes
 * @ret:     the response
 */
void receive_upload(struct receiver *receiver, const char *token, const char *network, bool limited, const char *body,
                    size_t length, struct answer *ret);
