/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The server: what its threads share. */

#include <stdatomic.h>

#include "receive.h"

struct serve_options {
        const char *database;
        const char *address;      /* ADDR:PORT or [ADDR]:PORT */
        uint64_t new_clients;     /* of a network, in an hour */
        uint64_t connections;     /* to the database */
        uint64_t report_every_s;
        uint64_t deadline_s;      /* of an answer of PostgreSQL, for what a device waits for */
};

/* A report that answers share, and that is made anew from time to time. */
struct shared_report {
        const char *where;
        const struct log *log;
        uint64_t every_s;
        pthread_t thread;
        pthread_rwlock_t lock;
        pthread_mutex_t mutex; /* with `wake` */
        pthread_cond_t wake;
        atomic_bool stop;
        bool there;            /* under `lock`: */
        int64_t made_s;
        struct report report;
};

/* serve-report.c */
int shared_report_start(struct shared_report *shared, const char *where, uint64_t every_s, const struct log *log);
void shared_report_stop(struct shared_report *shared);
/* Have at least COMMUNITY_CLIENTS_MIN clients an app? */
bool shared_report_may_name(void *data, int64_t app);
/* The report for a client as JSON; NULL and 0: there is none yet; NULL and -ENOMEM. */
int shared_report_answer(struct shared_report *shared, const char *hex, struct answer *ret);

/* serve-http.c */
struct server {
        struct receiver receiver;
        struct shared_report *report;
        const struct log *log;
};
struct MHD_Daemon;
int http_start(struct server *server, const char *address, unsigned threads, struct MHD_Daemon **ret);
void http_stop(struct MHD_Daemon *daemon);

/* serve-me.c: requests for the client of a token */
enum me_request {
        ME_GET,
        ME_DELETE,
        ME_REPORT,
};
void me_answer(struct server *server, enum me_request request, const char *token, struct answer *ret);

/* Serves until SIGTERM or SIGINT. An exit code. */
int serve_run(const struct serve_options *options, const struct log *log);
