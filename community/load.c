/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "load.h"
#include "util/util.h"
#include "util/words.h"
#include "writer.h"

#define DEPTH_MAX 8    /* of folders */
#define NAMED_MAX 20   /* bad lines of a file that have a sentence of their own */
#define BUFFER_SIZE 262144

struct loader {
        struct writer writer;
        struct load_counts *counts;
        const struct log *log;
        char *line;
        struct upload_sample *sample;

        const char *path;                 /* of the file that is read */
        uint64_t number, bad;             /* its line, and lines that were wrong */
        struct upload_header header;
        struct known *client;             /* NULL: no header yet, or a wrong one */
        bool told;                        /* that there is none */
        int64_t seq;
};

static void bad_line(struct loader *loader, const char *why)
{
        loader->counts->bad++;
        if (++loader->bad <= NAMED_MAX)
                log_warning(loader->log, "%s:%" PRIu64 ": this line is left out: %s", loader->path, loader->number, why);
}

static int take_header(struct loader *loader, size_t length)
{
        const char *why;
        int err;

        upload_header_clear(&loader->header);
        loader->client = NULL;
        loader->told = true;
        err = upload_read_header(loader->line, length, &loader->header, &why);
        if (err == -EINVAL) {
                bad_line(loader, why);
                return 0;
        }
        if (!err)
                err = writer_client(&loader->writer, &loader->header, &loader->client);
        loader->seq = loader->header.first;
        return err;
}

static int take_sample(struct loader *loader, size_t length)
{
        const char *why;
        int64_t seq = loader->seq++;
        int rc = upload_read_sample(loader->line, length, &loader->header, loader->sample, &why);

        if (rc == -EINVAL) {
                bad_line(loader, why);
                return 0;
        }
        if (!rc)
                rc = writer_add(&loader->writer, loader->client, seq, &loader->header, loader->sample);
        if (rc < 0)
                return rc;
        loader->counts->added += rc == 1;
        loader->counts->known += rc == 0;
        return 0;
}

static bool is_blank(const char *line, size_t length)
{
        return strspn(line, " \t\r\n") >= length;
}

static int take_line(struct loader *loader, size_t length)
{
        if (is_blank(loader->line, length))
                return 0;
        if (upload_is_header(loader->line, length))
                return take_header(loader, length);
        if (loader->client)
                return take_sample(loader, length);
        loader->counts->bad++;
        loader->bad++;
        if (!loader->told)
                log_warning(loader->log, "%s:%" PRIu64 ": lines are left out until there is a header: a line with \"v\" and \"client\"",
                            loader->path, loader->number);
        loader->told = true;
        return 0;
}

/* The next line into loader->line. 1; 0: the end; -EINVAL: too long or with a NUL, and skipped; -EIO. */
static int read_line(struct loader *loader, gzFile file, size_t *ret)
{
        size_t length = 0;
        bool fine = true;
        int c;

        while ((c = gzgetc(file)) >= 0 && c != '\n') {
                if (length + 1 >= UPLOAD_LINE_MAX || c == '\0')
                        fine = false;
                else
                        loader->line[length++] = (char)c;
        }
        if (c < 0 && length == 0 && fine)
                return 0;
        loader->line[length] = '\0';
        *ret = length;
        return fine ? 1 : -EINVAL;
}

static int load_open_file(struct loader *loader, gzFile file)
{
        size_t length;
        int rc, code;

        while ((rc = read_line(loader, file, &length)) != 0) {
                loader->number++;
                if (rc == -EINVAL) {
                        bad_line(loader, "it is longer than 2 MB, or has a NUL in it");
                        loader->seq++;
                        continue;
                }
                rc = take_line(loader, length);
                if (rc < 0)
                        return rc;
        }
        (void)gzerror(file, &code);
        if (code != Z_OK && code != Z_STREAM_END) {
                loader->counts->unread++;
                log_error(loader->log, "%s: cannot be read beyond line %" PRIu64 ": %s; what stands before is loaded", loader->path,
                          loader->number, code == Z_ERRNO ? strerror(errno) : _("the compressed data are damaged or cut off"));
        }
        return 0;
}

static int load_file(struct loader *loader, const char *path)
{
        gzFile file = gzopen(path, "rb");
        int err;

        if (!file) {
                log_error(loader->log, "%s: cannot be read: %s", path, strerror(errno));
                loader->counts->unread++;
                return 0;
        }
        gzbuffer(file, BUFFER_SIZE);
        loader->path = path;
        loader->number = loader->bad = 0;
        loader->client = NULL;
        loader->told = false;
        loader->counts->files++;
        err = load_open_file(loader, file);
        gzclose(file);
        upload_header_clear(&loader->header);
        if (loader->bad > NAMED_MAX)
                log_warning(loader->log, "%s: %" PRIu64 " lines are left out in all", path, loader->bad);
        return err;
}

static int visible(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static int load_path(struct loader *loader, const char *path, int depth);

static int load_folder(struct loader *loader, const char *path, int depth)
{
        struct dirent **entries;
        int n = scandir(path, &entries, visible, alphasort), err = 0;

        if (n < 0 || depth >= DEPTH_MAX) {
                log_error(loader->log, "%s: cannot be read: %s", path, n < 0 ? strerror(errno) : _("folders are nested too deep"));
                loader->counts->unread++;
        }
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *inner = NULL;

                if (!err && depth < DEPTH_MAX)
                        err = asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0 ? -ENOMEM : load_path(loader, inner, depth + 1);
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
        return err;
}

static int load_path(struct loader *loader, const char *path, int depth)
{
        struct stat status;

        if (stat(path, &status) < 0) {
                log_error(loader->log, "%s: cannot be read: %s", path, strerror(errno));
                loader->counts->unread++;
                return 0;
        }
        if (S_ISDIR(status.st_mode))
                return load_folder(loader, path, depth);
        return S_ISREG(status.st_mode) || depth == 0 ? load_file(loader, path) : 0;
}

static int load_all(struct loader *loader, char *const paths[])
{
        int err = writer_open(loader->writer.database, &loader->writer);

        if (err < 0)
                return err;
        for (size_t i = 0; !err && paths[i]; i++)
                err = load_path(loader, paths[i], 0);
        if (!err)
                err = writer_refresh(&loader->writer);
        writer_close(&loader->writer);
        return err;
}

int load_paths(struct database *database, char *const paths[], struct load_counts *ret)
{
        _cleanup_free_ char *line = malloc(UPLOAD_LINE_MAX);
        _cleanup_free_ struct upload_sample *sample = malloc(sizeof(*sample));
        struct loader loader = { .writer = { .database = database }, .counts = ret, .log = database->log, .line = line, .sample = sample };
        int err;

        *ret = (struct load_counts){ .files = 0 };
        if (!line || !sample)
                return -ENOMEM;
        err = database_run(database, database->ops->begin_write);
        if (err < 0)
                return err;
        err = load_all(&loader, paths);
        upload_header_clear(&loader.header);
        if (err < 0) {
                (void)database_run(database, "ROLLBACK");
                return err;
        }
        return database_run(database, "COMMIT");
}
