/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An upload that a client sends, in one transaction. */

#include "answer.h"
#include "limits.h"
#include "pool.h"

#define RECEIVE_BYTES_MAX 262144    /* as sent */
#define RECEIVE_UNPACKED_MAX 4194304
#define RECEIVE_SAMPLES_MAX 2000
#define RECEIVE_CLIENT_HOUR 60      /* requests of a client */

struct receiver {
        struct pool *pool;
        struct limits *limits;
        uint64_t new_clients;                     /* of one network in an hour */
        bool (*may_name)(void *data, int64_t app); /* do enough clients have an app? */
        void *data;
};

/**
 * receive_upload() - take an upload
 * @token:   SHA-256 of the client's token, as 64 digits
 * @network: of the client; not kept
 * @body:    plain or gzip, at most RECEIVE_BYTES_MAX bytes
 * @ret:     gets the answer
 */
void receive_upload(struct receiver *receiver, const char *token, const char *network, const char *body, size_t length,
                    struct answer *ret);
