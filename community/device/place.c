/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "place-folder.h"
#include "place-server.h"
#include "shared/card.h"
#include "util/util.h"

bool place_is_server(const char *where)
{
        return strstr(where, "://") != NULL;
}

static int check_folder(const char *where, const struct log *log, char **ret)
{
        char printable[256];
        _cleanup_free_ char *path = realpath(where, NULL);
        struct stat status;

        util_printable(where, printable, sizeof(printable));
        if (!path || stat(path, &status) < 0) {
                log_error(log, "%s is no folder here: %s", printable, strerror(errno));
                return -ENOENT;
        }
        if (!S_ISDIR(status.st_mode) || strlen(path) >= MEMBER_WHERE_MAX) {
                log_error(log, "%s is no folder", printable);
                return -ENOTDIR;
        }
        if (access(path, R_OK | W_OK | X_OK) < 0) {
                log_error(log, "%s cannot be written: %s", printable, strerror(errno));
                return -EACCES;
        }
        *ret = TAKE_PTR(path);
        return 0;
}

int place_check(const char *where, const struct log *log, char **ret)
{
        return place_is_server(where) ? server_check(where, log, ret) : check_folder(where, log, ret);
}

int place_send(struct member *member, const struct compose_upload *upload, const struct log *log,
               struct place_receipt *ret)
{
        return place_is_server(member->where) ? server_send(member, upload, log, ret) :
               folder_send(member, upload, log, ret);
}

int place_learn_named(struct member *member, const struct log *log)
{
        return place_is_server(member->where) ? 0 : folder_learn_named(member, log);
}

int place_forget(const struct member *member, const struct log *log, struct place_forgotten *ret)
{
        return place_is_server(member->where) ? server_forget(member, log, ret) : folder_forget(member, log, ret);
}

int place_report(const struct member *member, const char *state, const struct log *log, char **ret)
{
        return place_is_server(member->where) ? server_report(member, log, ret) :
               folder_report(member, state, log, ret);
}

int place_send_card(const struct member *member, const char *text, const struct log *log)
{
        return place_is_server(member->where) ? server_send_card(member, text, log) :
               folder_send_card(member, text, log);
}

int place_pool_from(const char *folder, const char *file, const struct log *log, char **ret)
{
        _cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        size_t length;
        int err = fd < 0 ? -errno : card_read_file(fd, file, POOL_BYTES_MAX, NULL, ret, &length);

        if (err && err != -ENOENT)
                log_error(log, "%s/%s: cannot be read: %s", folder, file, util_reason(err));
        return err == -ENOENT ? -ENODATA : err;
}

int place_pool(const struct member *member, const char *file, const struct log *log, char **ret)
{
        _cleanup_free_ char *folder = NULL;

        if (place_is_server(member->where))
                return server_pool(member, file, log, ret);
        if (asprintf(&folder, "%s/" FOLDER_POOLS, member->where) < 0)
                return -ENOMEM;
        return place_pool_from(folder, file, log, ret);
}

void place_drop_report(const char *state)
{
        folder_report_drop(state);
}

bool place_has_forgotten(const struct member *member, const char *client)
{
        return !place_is_server(member->where) && folder_has_forgotten(member, client);
}
