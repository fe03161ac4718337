/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "serve.h"
#include "util/options.h"
#include "util/util.h"

/* Switches SQLite to a mode in which readers continue during a write. Also creates missing tables. */
static int prepare_database(const struct serve_options *options, const struct log *log)
{
        _cleanup_(database_closep) struct database *database = NULL;
        int err = database_open(options->database, DATABASE_MAKE, log, &database);

        if (!err && !database_is_url(options->database))
                err = database_run(database, "PRAGMA journal_mode = WAL");
        return err;
}

/* Threads that only read requests or wait for a connection, so that some are free while large uploads wait. */
#define WAITING 15

static int serve_until_signal(const struct serve_options *options, struct server *server, const sigset_t *signals)
{
        struct MHD_Daemon *daemon;
        const struct timespec second = { .tv_sec = 1 };
        int number, err = http_start(server, options->address, (unsigned)server->receiver.pool->n + WAITING,
                                     &daemon);

        if (err < 0)
                return err;
        while ((number = sigtimedwait(signals, NULL, &second)) < 0 && (errno == EAGAIN || errno == EINTR))
                connections_expire(&server->connections);
        err = number < 0 ? -errno : 0;
        log_info(server->log, "serve: %s; what was begun is ended", strsignal(number));
        http_stop(daemon);
        return err;
}

int serve_run(const struct serve_options *options, const struct log *log)
{
        struct shared_report report;
        struct limits limits;
        struct quota quota;
        struct pool pool;
        struct server server = { .receiver = { .pool = &pool, .limits = &limits, .quota = &quota,
                                               .new_clients = options->new_clients,
                                               .may_name = shared_report_may_name, .data = &report },
                                 .report = &report, .profiles = options->profiles, .log = log };
        sigset_t signals;
        int err;

        /* Done before any thread starts, as threads inherit the mask. */
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        if (prepare_database(options, log) < 0)
                return CODE_FAILED;
        if (limits_init(&limits) < 0)
                return CODE_FAILED;
        connections_init(&server.connections);
        quota_init(&quota, &options->most);
        /* A database file has one writer at a time; a second connection would only wait. */
        pool_init(&pool, options->database, database_is_url(options->database) ? (int)options->connections : 1,
                  (int)options->deadline_s, log);
        err = shared_report_start(&report, options->database, options->report_every_s, log);
        if (!err) {
                err = serve_until_signal(options, &server, &signals);
                shared_report_stop(&report);
        }
        pool_clear(&pool);
        limits_clear(&limits);
        quota_clear(&quota);
        connections_clear(&server.connections);
        return err < 0 ? CODE_FAILED : CODE_OK;
}
