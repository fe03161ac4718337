/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <time.h>

#include "serve.h"
#include "util/util.h"

#define RETRY_S (uint64_t)60 /* wait after a failure, or while there is nothing to report */

static int make_one(struct shared_report *shared)
{
        _cleanup_(database_closep) struct database *database = NULL;
        struct report report;
        int err;

        refresh_before_report(shared->where, shared->log, &shared->stop);
        err = database_open(shared->where, DATABASE_READ, shared->log, &database);

        if (err < 0)
                return err;
        database->stop = &shared->stop;
        err = report_make(database, NULL, &report);
        if (err < 0)
                return err;
        pthread_rwlock_wrlock(&shared->lock);
        report_clear(&shared->report);
        shared->report = report;
        shared->there = true;
        shared->made_s = time(NULL);
        pthread_rwlock_unlock(&shared->lock);
        return 0;
}

static void *run(void *data)
{
        struct shared_report *shared = data;

        while (!atomic_load(&shared->stop)) {
                int err = make_one(shared);
                uint64_t wait_s = err < 0 || shared->report.samples == 0 ? MIN(RETRY_S, shared->every_s) :
                                  shared->every_s;
                struct timespec until;

                if (err < 0 && err != -ECANCELED)
                        log_error(shared->log, "serve: there is no new report; clients get the last one");
                clock_gettime(CLOCK_MONOTONIC, &until);
                until.tv_sec += (time_t)wait_s;
                pthread_mutex_lock(&shared->mutex);
                while (!atomic_load(&shared->stop) && pthread_cond_timedwait(&shared->wake, &shared->mutex, &until) !=
                       ETIMEDOUT)
                        ;
                pthread_mutex_unlock(&shared->mutex);
        }
        return NULL;
}

int shared_report_start(struct shared_report *shared, const char *where, uint64_t every_s, const struct log *log)
{
        pthread_condattr_t attributes;
        int err;

        *shared = (struct shared_report){ .where = where, .log = log, .every_s = every_s };
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_rwlock_init(&shared->lock, NULL);
        pthread_mutex_init(&shared->mutex, NULL);
        pthread_cond_init(&shared->wake, &attributes);
        pthread_condattr_destroy(&attributes);
        err = pthread_create(&shared->thread, NULL, run, shared);
        return -err;
}

void shared_report_stop(struct shared_report *shared)
{
        pthread_mutex_lock(&shared->mutex);
        atomic_store(&shared->stop, true);
        pthread_cond_signal(&shared->wake);
        pthread_mutex_unlock(&shared->mutex);
        pthread_join(shared->thread, NULL);
        report_clear(&shared->report);
        pthread_cond_destroy(&shared->wake);
        pthread_mutex_destroy(&shared->mutex);
        pthread_rwlock_destroy(&shared->lock);
}

bool shared_report_may_name(void *data, int64_t app)
{
        struct shared_report *shared = data;
        const struct app_report *found;
        bool may;

        pthread_rwlock_rdlock(&shared->lock);
        found = report_app(&shared->report, app);
        may = found && found->clients >= COMMUNITY_CLIENTS_MIN;
        pthread_rwlock_unlock(&shared->lock);
        return may;
}

int shared_report_answer(struct shared_report *shared, const char *hex, struct answer *ret)
{
        bool there;

        pthread_rwlock_rdlock(&shared->lock);
        there = shared->there;
        if (there)
                answer_json(ret, answer_report(&shared->report, hex, shared->made_s));
        pthread_rwlock_unlock(&shared->lock);
        return there ? 0 : -ENODATA;
}
