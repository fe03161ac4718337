/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answering.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define KEPT_MOST (1 << 20) /* most bytes kept, to keep the service small */

/* Data kept from the last forecast; its usage has no store. */
struct answering_kept {
        struct joulecast_context *context; /* NULL: nothing is kept, and the others are NULL, too */
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
        char fingerprint[SERVICE_FINGERPRINT_MAX];
};

static void free_opened(struct joulecast_context *context, struct joulecast_profile *profile,
                        struct joulecast_usage *usage)
{
        joulecast_usage_free(usage);
        joulecast_profile_free(profile);
        joulecast_context_free(context);
}

int answering_kept_new(struct answering_kept **ret)
{
        struct answering_kept *kept = calloc(1, sizeof(*kept));

        if (!kept)
                return -ENOMEM;
        *ret = kept;
        return 0;
}

bool answering_kept_drop(struct answering_kept *kept)
{
        if (!kept || !kept->context)
                return false;
        free_opened(kept->context, kept->profile, kept->usage);
        *kept = (struct answering_kept){ 0 };
        return true;
}

void answering_kept_free(struct answering_kept *kept)
{
        answering_kept_drop(kept);
        free(kept);
}

static void keep_message(void *data, enum joulecast_level level, const char *sentence)
{
        struct answering *answering = data;

        if (level == JOULECAST_ERROR)
                snprintf(answering->sentence, sizeof(answering->sentence), "%s", sentence);
}

/* A client with its own profile must not get an answer computed with another one. */
static int open_profile_of(struct answering *answering, const struct question_source *source,
                           const struct question *question)
{
        char fingerprint[SERVICE_FINGERPRINT_MAX];
        int err = joulecast_profile_load(answering->context, source->profile, &answering->profile);

        if (err == -ENOENT) {
                snprintf(answering->sentence, sizeof(answering->sentence),
                         "the service has no power model, as no battery shows what kind of device this is; sudo"
                         " joulecast profile use class-laptop takes a usual laptop's");
                return -ENODATA;
        }
        if (err == 0 && question->profile)
                err = service_fingerprint(answering->profile->profile, fingerprint);
        if (err == 0 && question->profile && strcmp(question->profile, fingerprint) != 0) {
                snprintf(answering->sentence, sizeof(answering->sentence),
                         "the service answers only by the machine's profile, /etc/joulecast/profile.ini");
                err = -EACCES;
        }
        return err;
}

int64_t answering_seen_by(uid_t uid)
{
        return uid != 0 && uid != geteuid() ? (int64_t)uid : -1;
}

static bool reads_history(enum ask ask)
{
        return ask == ASK_BUDGET || ask == ASK_PREDICT || ask == ASK_ADVISE || ask == ASK_WHATIF;
}

/* Is the kept history that of this user, and the kept profile the present one? */
static bool is_kept(const struct answering_kept *kept, const struct answering *answering, uid_t uid)
{
        char fingerprint[SERVICE_FINGERPRINT_MAX];

        return kept && kept->context && kept->usage->uid == answering_seen_by(uid) &&
               service_fingerprint(answering->profile->profile, fingerprint) == 0 &&
               strcmp(fingerprint, kept->fingerprint) == 0;
}

static int open_usage(struct answering *answering, const struct question_source *source, uid_t uid)
{
        int err = joulecast_usage_open(answering->context, source->database, &answering->usage);

        if (err < 0)
                return err;
        answering->usage->live = source->live;
        answering->usage->uid = answering_seen_by(uid);
        return 0;
}

static int take_kept(struct answering *answering, const struct question_source *source, uid_t uid)
{
        struct answering_kept *kept = source->kept;

        free_opened(answering->context, answering->profile, NULL);
        answering->context = kept->context;
        answering->profile = kept->profile;
        answering->usage = kept->usage;
        *kept = (struct answering_kept){ 0 };
        joulecast_context_set_log(answering->context, keep_message, answering);
        if (store_open(source->database, STORE_READ, &answering->context->log, &answering->usage->store) == 0)
                return 0;
        /* the database has changed, and the kept data is from the old one */
        joulecast_usage_free(answering->usage);
        answering->usage = NULL;
        return open_usage(answering, source, uid);
}

int answering_open(struct answering *answering, const struct question_source *source, uid_t uid,
                   struct question *question)
{
        int err = joulecast_context_new(&answering->context);

        if (err < 0)
                return err;
        joulecast_context_set_log(answering->context, keep_message, answering);
        err = joulecast_context_set_machine(answering->context, source->machine);
        if (err < 0)
                return err;
        if (question->ask != ASK_APPS && question->ask != ASK_FORGET && question->ask != ASK_SINCE &&
            question->ask != ASK_USAGE)
                err = open_profile_of(answering, source, question);
        if (err == 0 && question->ask == ASK_LIVE) /* a live question uses no stored data */
                return 0;
        if (err == 0 && reads_history(question->ask) && is_kept(source->kept, answering, uid))
                return take_kept(answering, source, uid);
        if (err == 0)
                err = open_usage(answering, source, uid);
        return err < 0 ? err : moment_find(answering->usage, &question->from, answering->sentence,
                                           sizeof(answering->sentence));
}

/*
 * Keeps the usage without its database connection: the connection has pages that it read, and the service
 * must have the only one when it ends.
 */
static bool keep(struct answering *answering, struct answering_kept *kept)
{
        struct joulecast_usage *usage = answering->usage;

        if (!kept || !usage || !usage->store || !usage->history || history_bytes(usage->history) > KEPT_MOST)
                return false;
        answering_kept_drop(kept);
        if (service_fingerprint(answering->profile->profile, kept->fingerprint) < 0)
                return false;
        store_close(usage->store);
        usage->store = NULL;
        joulecast_context_set_log(answering->context, NULL, NULL);
        kept->context = answering->context;
        kept->profile = answering->profile;
        kept->usage = usage;
        return true;
}

void answering_close(struct answering *answering, const struct question_source *source)
{
        if (!keep(answering, source->kept))
                free_opened(answering->context, answering->profile, answering->usage);
        answering->context = NULL;
        answering->profile = NULL;
        answering->usage = NULL;
}
