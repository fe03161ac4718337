/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util/drop-root.h"
#include "util/ini-text.h"
#include "util/paths.h"
#include "util/util.h"

#define STATE_NAME "community.json"

static int find_database(struct session *session)
{
        const struct options *options = &session->options;
        int err = 0;

        if (options->database)
                session->database = strdup(options->database);
        else
                err = paths_usage(options->device, false, &session->database);
        if (err || !session->database) {
                log_error(&program_log, "there is no database: %s; use --database FILE",
                          ini_text_error(err ? err : -ENOMEM));
                return CODE_FAILED;
        }
        return CODE_OK;
}

static int find_state(struct session *session)
{
        const char *name = util_base_name(session->database);
        int n = asprintf(&session->state, "%.*s" STATE_NAME, (int)(name - session->database), session->database);

        return n < 0 ? CODE_FAILED : CODE_OK;
}

/*
 * Files beside the database must belong to its owner, and a process that uses the network must not be root.
 */
static int become_owner(struct session *session)
{
        struct stat status;
        int err;

        if (geteuid() != 0 || stat(session->database, &status) < 0 || status.st_uid == 0)
                return CODE_OK;
        err = drop_root_to(status.st_uid, status.st_gid);
        if (err) {
                log_error(&program_log, "cannot become the owner of %s: %s", session->database, strerror(-err));
                return CODE_FAILED;
        }
        session->was_root = true;
        return CODE_OK;
}

static int check_access(const struct session *session)
{
        if (access(session->database, R_OK) == 0 || errno != EACCES)
                return CODE_OK;
        log_error(&program_log, "%s is the service's and has the use of all users: only root can share it and read "
                                "the reports (sudo joulecast community ...)",
                  session->database);
        return CODE_FAILED;
}

int session_open(struct session *session)
{
        const char *root = session->options.machine ? session->options.machine : "/";
        int code = find_database(session);

        session->root_fd = -1;
        if (code == CODE_OK)
                code = find_state(session);
        if (code == CODE_OK)
                code = become_owner(session);
        if (code == CODE_OK)
                code = check_access(session);
        if (code != CODE_OK || session->options.device)
                return code;
        session->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (session->root_fd < 0) {
                log_error(&program_log, "%s cannot be read: %s", root, strerror(errno));
                return CODE_FAILED;
        }
        return CODE_OK;
}

void session_close(struct session *session)
{
        closep(&session->root_fd);
        store_close(session->store);
        profile_free(session->profile);
        free(session->database);
        free(session->state);
}

int session_read_member(const struct session *session, struct member *ret)
{
        int err = member_read(session->state, &program_log, ret);

        if (err == -ENOENT)
                log_error(&program_log, "nothing is shared; joulecast community join URL|FOLDER begins");
        return err == 0 ? CODE_OK : err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
}

int session_open_files(struct session *session)
{
        int code = session->profile ? CODE_OK : open_profile(&session->options, &session->profile);

        if (code == CODE_OK && !session->store)
                code = open_check_usage(&session->options);
        if (code != CODE_OK || session->store)
                return code;
        return store_open(session->database, STORE_READ, &program_log, &session->store) < 0 ? CODE_FAILED : CODE_OK;
}

int session_compose(struct session *session, const struct member *member, struct compose_upload *ret)
{
        struct compose_source source = { .member = member, .root_fd = session->root_fd, .now_ns = values_now_ns() };
        int code = session_open_files(session), err;

        if (code != CODE_OK)
                return code == CODE_NO_DATA ? CODE_FAILED : code;
        source.store = session->store;
        source.profile = session->profile;
        err = compose_upload(&source, ret);
        return !err ? CODE_OK : err == -ENODATA ? CODE_NO_DATA : CODE_FAILED;
}
