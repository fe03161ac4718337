/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The server, and the data that its threads share. */

#include <stdatomic.h>

#include "connections.h"
#include "receive.h"

struct serve_options {
        const char *database;
        const char *address;      /* ADDR:PORT or [ADDR]:PORT */
        uint64_t new_clients;     /* most new clients per network and hour */
        uint64_t connections;     /* connections to the database */
        uint64_t report_every_s;
        const char *profiles;     /* folder of shared profiles; NULL: none are kept */
        struct quota_counts most; /* in the database */
        uint64_t deadline_s;      /* seconds to wait for PostgreSQL in requests of devices */
};

/* A report that all responses share. It is made again at an interval. */
struct shared_report {
        const char *where;
        const struct log *log;
        uint64_t every_s;
        pthread_t thread;
        pthread_rwlock_t lock;
        pthread_mutex_t mutex; /* used with `wake` */
        pthread_cond_t wake;
        atomic_bool stop;
        bool there;            /* protected by `lock`: */
        int64_t made_s;
        struct report report;
};

/* serve-report.c */
int shared_report_start(struct shared_report *shared, const char *where, uint64_t every_s, const struct log *log);
void shared_report_stop(struct shared_report *shared);
/* Do at least COMMUNITY_CLIENTS_MIN clients have this app? */
bool shared_report_may_name(void *data, int64_t app);
/* Report for a client as JSON. NULL and 0: there is none yet; NULL and -ENOMEM. */
int shared_report_answer(struct shared_report *shared, const char *hex, struct answer *ret);

/* serve-http.c */
struct server {
        struct receiver receiver;
        struct shared_report *report;
        const char *profiles;
        struct connections connections;
        const struct log *log;
};
struct MHD_Daemon;
int http_start(struct server *server, const char *address, unsigned threads, struct MHD_Daemon **ret);
void http_stop(struct MHD_Daemon *daemon);

/* serve-me.c: requests about the client of a token. */
enum me_request {
        ME_GET,
        ME_DELETE,
        ME_REPORT,
        ME_PROFILE,
};
/* @body: of ME_PROFILE; else NULL. */
void me_answer(struct server *server, enum me_request request, const char *token, const char *body, struct answer *ret);

/* serve-profile.c */
/* Keeps the profile of a client. 0: @ret says what became of it; a negative errno. */
int profile_take(const char *folder, struct database *database, const char *hex, const char *text, struct answer *ret);
/* Answers with a pool by the name of its file. */
void profile_pool(const char *folder, const char *file, struct answer *ret);

/* Serves until SIGTERM or SIGINT. Returns an exit code. */
int serve_run(const struct serve_options *options, const struct log *log);
