/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "shared/card.h"
#include "intake.h"
#include "load.h"
#include "util/util.h"
#include "util/words.h"

#define DEPTH_MAX 8    /* greatest nesting of folders */
#define NAMED_MAX 20   /* bad lines that are reported one by one, per file */
#define BUFFER_SIZE 262144
/* bytes read, after unpacking, of a file in a shared folder: the limit of an upload to a server */
#define SHARED_MAX (4u << 20)

struct loader {
        struct intake intake;
        struct load_counts *counts;
        const struct log *log;
        char *line;
        bool shared;      /* others can write to the folder */
        const char *path; /* the file that is read */
        size_t left;      /* bytes that may still be read from it */
        uint64_t bad;     /* bad lines of it that were reported */
};

static void bad_line(void *data, uint64_t line, const char *why)
{
        struct loader *loader = data;

        if (++loader->bad <= NAMED_MAX)
                log_warning(loader->log, "%s:%" PRIu64 ": this line is left out: %s", loader->path, line, why);
}

/*
 * Reads the next line into loader->line; @ret SIZE_MAX: it is too long or has a NUL. Returns false at the
 * end, or when no more bytes may be read.
 */
static bool read_line(struct loader *loader, gzFile file, size_t *ret)
{
        size_t length = 0;
        bool fine = true;
        int c = -1;

        while (loader->left > 0 && (c = gzgetc(file)) >= 0 && c != '\n') {
                loader->left--;
                if (length + 1 >= UPLOAD_LINE_MAX || c == '\0')
                        fine = false;
                else
                        loader->line[length++] = (char)c;
        }
        loader->line[length] = '\0';
        *ret = fine ? length : SIZE_MAX;
        return c >= 0 || length > 0 || !fine;
}

static int load_open_file(struct loader *loader, gzFile file)
{
        size_t length;
        int err = 0, code;

        intake_begin(&loader->intake);
        while (!err && read_line(loader, file, &length))
                err = intake_line(&loader->intake, loader->line, length);
        if (err < 0)
                return err;
        if (loader->left == 0)
                log_warning(loader->log, "%s: it has more than 4 MiB; what follows line %" PRIu64 " is left out",
                            loader->path, loader->intake.line);
        (void)gzerror(file, &code);
        if (code != Z_OK && code != Z_STREAM_END) {
                loader->counts->unread++;
                log_error(loader->log, "%s: cannot be read beyond line %" PRIu64 ": %s; what stands before is loaded",
                          loader->path,
                          loader->intake.line, code == Z_ERRNO ? strerror(errno) :
                          _("the compressed data are damaged or cut off"));
        }
        return 0;
}

static gzFile open_file(const struct loader *loader, const char *path)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | (loader->shared ? O_NOFOLLOW | O_NONBLOCK : 0));
        gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");

        if (file)
                (void)take_fd(&fd);
        return file;
}

static int load_file(struct loader *loader, const char *path)
{
        gzFile file = open_file(loader, path);
        uint64_t bad;
        int err;

        if (!file) {
                log_error(loader->log, "%s: cannot be read: %s", path, strerror(errno));
                loader->counts->unread++;
                return 0;
        }
        gzbuffer(file, BUFFER_SIZE);
        loader->path = path;
        loader->left = loader->shared ? SHARED_MAX : SIZE_MAX;
        loader->bad = 0;
        bad = loader->intake.counts.bad;
        loader->counts->files++;
        err = load_open_file(loader, file);
        gzclose(file);
        if (loader->bad > NAMED_MAX)
                log_warning(loader->log, "%s: %" PRIu64 " lines are left out in all", path,
                            loader->intake.counts.bad - bad);
        return err;
}

/* Hidden files, and what devices share of their power models, are no uploads. */
static int visible(const struct dirent *entry)
{
        size_t length = strlen(entry->d_name), end = strlen(CARD_SUFFIX);

        return entry->d_name[0] != '.' && (length < end || strcmp(entry->d_name + length - end, CARD_SUFFIX) != 0);
}

static int load_path(struct loader *loader, const char *path, int depth);

static int load_folder(struct loader *loader, const char *path, int depth)
{
        struct dirent **entries;
        int n = scandir(path, &entries, visible, alphasort), err = 0;

        if (n < 0 || depth >= DEPTH_MAX) {
                log_error(loader->log, "%s: cannot be read: %s", path, n < 0 ? strerror(errno) :
                          _("folders are nested too deep"));
                loader->counts->unread++;
        }
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *inner = NULL;

                if (!err && depth < DEPTH_MAX)
                        err = asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0 ? -ENOMEM :
                              load_path(loader, inner, depth + 1);
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
        return err;
}

static int load_path(struct loader *loader, const char *path, int depth)
{
        bool inside = loader->shared && depth > 0;
        struct stat status;

        if ((inside ? lstat(path, &status) : stat(path, &status)) < 0) {
                log_error(loader->log, "%s: cannot be read: %s", path, strerror(errno));
                loader->counts->unread++;
                return 0;
        }
        if (inside && !S_ISREG(status.st_mode)) {
                log_warning(loader->log, "%s: is no file, and is left out", path);
                return 0;
        }
        if (S_ISDIR(status.st_mode))
                return load_folder(loader, path, depth);
        return S_ISREG(status.st_mode) || depth == 0 ? load_file(loader, path) : 0;
}

static int load_all(struct loader *loader, char *const paths[])
{
        int err = 0;

        for (size_t i = 0; !err && paths[i]; i++)
                err = load_path(loader, paths[i], 0);
        if (!err)
                err = intake_flush(&loader->intake);
        /* Without new samples, no sums change. */
        return err || !loader->intake.counts.added ? err : writer_refresh(loader->intake.writer);
}

static int load_with(struct database *database, struct loader *loader, char *const paths[])
{
        int err = database_run(database, database->ops->begin_write);

        if (err < 0)
                return err;
        err = load_all(loader, paths);
        if (err < 0) {
                (void)database_run(database, "ROLLBACK");
                return err;
        }
        return database_run(database, "COMMIT");
}

int load_paths(struct database *database, char *const paths[], bool shared, struct load_counts *ret)
{
        _cleanup_free_ char *line = malloc(UPLOAD_LINE_MAX);
        struct writer writer = { .database = NULL };
        struct loader loader = { .intake = { .writer = &writer, .bad = bad_line }, .counts = ret, .log = database->log,
                                 .line = line, .shared = shared };
        int err = line ? intake_open(&loader.intake) : -ENOMEM;

        *ret = (struct load_counts){ .files = 0 };
        loader.intake.data = &loader;
        if (!err)
                err = writer_open(database, &writer);
        if (!err)
                err = load_with(database, &loader, paths);
        writer_close(&writer);
        intake_close(&loader.intake);
        ret->added = loader.intake.counts.added;
        ret->known = loader.intake.counts.known;
        ret->bad = loader.intake.counts.bad;
        ret->forgotten = loader.intake.counts.forgotten;
        return err;
}
