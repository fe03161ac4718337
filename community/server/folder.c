/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "answer.h"
#include "shared/upload.h"
#include "folder.h"
#include "forget.h"
#include "load.h"
#include "writer.h"
#include "util/util.h"

#define FORGET_SIZE_MAX 4096

/* Is @name the file of a client, CLIENT-...? @rest: the rest of the name. */
static bool is_of_client(const char *name, char client[UPLOAD_CLIENT_DIGITS + 1], const char **rest)
{
        if (strlen(name) <= UPLOAD_CLIENT_DIGITS || strspn(name, "0123456789abcdef") != UPLOAD_CLIENT_DIGITS ||
            name[UPLOAD_CLIENT_DIGITS] != '-')
                return false;
        memcpy(client, name, UPLOAD_CLIENT_DIGITS);
        client[UPLOAD_CLIENT_DIGITS] = '\0';
        *rest = name + UPLOAD_CLIENT_DIGITS + 1;
        return true;
}

static int write_beside(const char *folder, const char *client, const char *end, cJSON *object, const struct log *log)
{
        _cleanup_free_ char *path = NULL, *text = object ? cJSON_PrintUnformatted(object) : NULL;
        int err;

        if (!text || asprintf(&path, "%s/.%s-%s", folder, client, end) < 0)
                return -ENOMEM;
        err = util_write_file(path, text, strlen(text), 0644);
        if (err < 0)
                log_error(log, "%s: cannot be written: %s", path, util_reason(err));
        return err;
}

/* Does CLIENT-forget.json name this client and no other? */
static bool wants_to_go(int folder_fd, const char *name, const char *client)
{
        char text[FORGET_SIZE_MAX];
        struct upload_header header;
        const char *why;
        ssize_t length = util_read_at(folder_fd, name, text, sizeof(text));
        bool wants;

        if (length < 0 || upload_read_header(text, strcspn(text, "\r\n"), &header, &why) < 0)
                return false;
        wants = header.forget && strcmp(header.client, client) == 0;
        upload_header_clear(&header);
        return wants;
}

static int forget_one(struct database *database, const char *folder, int folder_fd, const char *name,
                      const char *client)
{
        struct forgotten forgotten;
        cJSON *object, *counts;
        int err;

        if (!wants_to_go(folder_fd, name, client)) {
                log_warning(database->log, "%s/%s: there is no line in it by which this client asks to be forgotten",
                            folder, name);
                return 0;
        }
        err = database_run(database, database->ops->begin_write);
        if (!err)
                err = forget_client(database, client, &forgotten);
        if (err >= 0)
                err = database_run(database, "COMMIT");
        if (err < 0)
                return err;
        object = cJSON_CreateObject();
        if (object && cJSON_AddStringToObject(object, "client", client)) {
                counts = cJSON_AddObjectToObject(object, "forgotten");
                (void)cJSON_AddNumberToObject(counts, "samples", (double)forgotten.samples);
                (void)cJSON_AddNumberToObject(counts, "apps", (double)forgotten.apps);
        }
        err = write_beside(folder, client, "forgotten.json", object, database->log);
        cJSON_Delete(object);
        if (!err) {
                _cleanup_free_ char *report = NULL;

                (void)unlinkat(folder_fd, name, 0);
                if (asprintf(&report, ".%s-report.json", client) >= 0)
                        (void)unlinkat(folder_fd, report, 0);
        }
        return err;
}

static int answer_one(const struct report *report, const char *folder, const char *client, const struct log *log)
{
        cJSON *object = answer_report(report, client, time(NULL));
        int err = write_beside(folder, client, "report.json", object, log);

        cJSON_Delete(object);
        return err;
}

/* Calls the function once per client: the sorted entries of a client are adjacent. */
static int each_client(struct database *database, const char *folder, struct dirent **entries, int n,
                       const struct report *report)
{
        _cleanup_close_ int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char client[UPLOAD_CLIENT_DIGITS + 1], last[UPLOAD_CLIENT_DIGITS + 1] = "";
        int err = folder_fd < 0 ? -errno : 0;

        for (int i = 0; !err && i < n; i++) {
                const char *rest;

                if (!is_of_client(entries[i]->d_name, client, &rest))
                        continue;
                if (!report && strcmp(rest, "forget.json") == 0)
                        err = forget_one(database, folder, folder_fd, entries[i]->d_name, client);
                else if (report && strcmp(rest, "forget.json") != 0 && strcmp(client, last) != 0)
                        err = answer_one(report, folder, client, database->log);
                if (report)
                        memcpy(last, client, sizeof(last));
        }
        return err;
}

static int visible(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

int folder_answer(struct database *database, const char *folder)
{
        char *paths[] = { (char *)(uintptr_t)folder, NULL };
        _cleanup_(report_clear) struct report report = { .clients = 0 };
        struct dirent **entries;
        struct load_counts counts;
        int n = scandir(folder, &entries, visible, alphasort), err;

        if (n < 0) {
                err = -errno;
                log_error(database->log, "%s: cannot be read: %s", folder, util_reason(err));
                return err;
        }
        err = each_client(database, folder, entries, n, NULL);
        if (!err)
                err = load_paths(database, paths, true, &counts);
        if (!err)
                err = refresh_pending(database, NULL);
        if (!err)
                err = report_make(database, NULL, &report);
        if (!err)
                err = each_client(database, folder, entries, n, &report);
        for (int i = 0; i < n; i++)
                free(entries[i]);
        free(entries);
        return err;
}
