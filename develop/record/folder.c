/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/options.h"
#include "side.h"
#include "replay.h"
#include "util/portable.h"
#include "util/text.h"
#include "util/util.h"

static int say(const char *path, int err)
{
        char printable[256];

        log_error(&program_log, "%s cannot be written: %s",
                  util_printable(path, printable, sizeof(printable)), util_reason(err));
        return err;
}

/* All in a folder, without following a link. @deep: folders below. */
static void empty(int fd, int deep)
{
        int copy = dup(fd);
        DIR *folder = copy < 0 ? NULL : fdopendir(copy);
        struct dirent *entry;

        while (folder && (entry = readdir(folder))) {
                _cleanup_close_ int below = -1;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                    unlinkat(fd, entry->d_name, 0) == 0)
                        continue;
                below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (below >= 0 && deep > 0)
                        empty(below, deep - 1);
                (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
        if (folder)
                closedir(folder);
        else
                closep(&copy);
}

/* A staging folder of ours that nobody holds, as its recording was killed. */
static void remove_stale(int around, const char *name)
{
        _cleanup_close_ int fd = openat(around, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0 || status.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return;
        empty(fd, 1);
        (void)unlinkat(around, name, AT_REMOVEDIR);
}

static void remove_all_stale(const char *path)
{
        const char *base = util_base_name(path);
        _cleanup_free_ char *around = strndup(path, (size_t)(base - path));
        DIR *folder = around ? opendir(*around ? around : ".") : NULL;
        size_t length = strlen(base);
        struct dirent *entry;

        while (folder && (entry = readdir(folder)))
                if (strncmp(entry->d_name, base, length) == 0 && strncmp(entry->d_name + length, ".new-", 5) == 0 &&
                    strlen(entry->d_name + length) == strlen(".new-XXXXXX"))
                        remove_stale(dirfd(folder), entry->d_name);
        if (folder)
                closedir(folder);
}

/*
 * The folder around may be another user's, who may put a link in its place: it counts by its descriptor from here
 * on. A link, or a folder that mkdtemp() did not make, is none.
 */
static int hold(struct folder *folder)
{
        struct stat status;

        folder->fd = open(folder->staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder->fd < 0)
                return -errno;
        if (fstat(folder->fd, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 07777) != 0700 ||
            flock(folder->fd, LOCK_EX | LOCK_NB) < 0) {
                closep(&folder->fd);
                return -EPERM;
        }
        snprintf(folder->inside, sizeof(folder->inside), "/proc/self/fd/%d", folder->fd);
        return 0;
}

static int make_staging(struct folder *folder)
{
        mode_t mask = umask(0);
        int err;

        umask(mask);
        if (asprintf(&folder->staging, "%s.new-XXXXXX", folder->path) < 0) {
                folder->staging = NULL;
                return -ENOMEM;
        }
        err = mkdtemp(folder->staging) ? hold(folder) : -errno;
        if (err) {
                free(TAKE_PTR(folder->staging));
                return err;
        }
        return fchmod(folder->fd, 0777 & ~mask) < 0 || mkdirat(folder->fd, "runs", 0777) < 0 ? -errno : 0;
}

int folder_open(const char *path, struct folder *ret)
{
        _cleanup_(folder_clear) struct folder folder = { 0 };
        size_t length = strlen(path);
        struct stat status;
        int err;

        while (length > 1 && path[length - 1] == '/')
                length--;
        folder.path = strndup(path, length);
        if (!folder.path)
                return -ENOMEM;
        if (lstat(folder.path, &status) == 0) {
                char printable[256];

                log_error(&program_log, "%s is there already; remove it, or choose another name for -o",
                          util_printable(folder.path, printable, sizeof(printable)));
                return -EEXIST;
        }
        remove_all_stale(folder.path);
        err = make_staging(&folder);
        if (err)
                return say(folder.path, err);
        *ret = folder;
        folder = (struct folder){ 0 };
        return 0;
}

int folder_write(const struct folder *folder, const char *name, const char *text, size_t length)
{
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/%s", folder->inside, name) < 0)
                return -ENOMEM;
        err = util_write_file(path, text, length, 0644);
        return err ? say(folder->path, err) : 0;
}

static double sum_nj(const struct line *line)
{
        double sum = 0;

        for (size_t i = 0; i < COMPONENT_COUNT; i++)
                sum += line->energy_nj[i];
        return sum;
}

static void print_stack(FILE *file, const struct recording *recording, size_t number)
{
        size_t length;
        const char *bytes = words_bytes(recording->stacks, (uint32_t)number, &length);

        for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
                uint32_t frame;

                memcpy(&frame, bytes + at, sizeof(frame));
                fprintf(file, "%s%s", at > 0 ? ";" : "", words_bytes(recording->frames, frame, NULL));
        }
}

static bool is_used(const struct line *line)
{
        double sum = (double)line->samples + line->gpu_ns;

        for (size_t i = 0; i < EVENT_COUNT; i++)
                sum += line->count[i];
        return sum > 0;
}

static void print_folded(FILE *file, const struct recording *recording)
{
        for (size_t i = 0; i < recording->n; i++) {
                if (!is_used(&recording->lines[i]))
                        continue;
                fputs("app;", file);
                print_stack(file, recording, i);
                fprintf(file, " %.0f\n", sum_nj(&recording->lines[i]));
        }
}

static void print_components(FILE *file, const struct recording *recording)
{
        fputs("stack\tsamples\tcpu_ns\tgpu_ns\tcpu_nj\tdisk_nj\twifi_nj\tgpu_nj\t"
              "variance_nj2\tlargest_nj\tdisk_write_bytes\t"
              "disk_read_bytes\tnet_sent_bytes\tnet_received_bytes\twakeups\tradio_wakes\n",
              file);
        for (size_t i = 0; i < recording->n; i++) {
                const struct line *line = &recording->lines[i];

                if (!is_used(line))
                        continue;
                fputs("app;", file);
                print_stack(file, recording, i);
                fprintf(file,
                        "\t%llu\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.6g\t%.6g\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%llu\n",
                        (unsigned long long)line->samples, line->cpu_ns, line->gpu_ns,
                        line->energy_nj[COMPONENT_CPU], line->energy_nj[COMPONENT_DISK],
                        line->energy_nj[COMPONENT_WIFI], line->energy_nj[COMPONENT_GPU], line->variance_nj2,
                        line->largest_nj, line->count[EVENT_DIRTY], line->count[EVENT_READ],
                        line->count[EVENT_SEND], line->count[EVENT_RECEIVE], line->count[EVENT_SLEEP],
                        (unsigned long long)line->radio_wakes);
        }
}

static int write_printed(const struct folder *folder, const char *name, const struct recording *recording,
                         void (*print)(FILE *, const struct recording *))
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;
        size_t length;

        if (!file)
                return -ENOMEM;
        print(file, recording);
        fflush(file);
        length = kept.length;
        text = text_close(file, &kept);
        return text ? folder_write(folder, name, text, length) : -ENOMEM;
}

int folder_write_run(const struct folder *folder, size_t number, const struct recording *recording)
{
        char name[64];
        int err;

        snprintf(name, sizeof(name), "runs/%zu.folded", number);
        err = write_printed(folder, name, recording, print_folded);
        snprintf(name, sizeof(name), "runs/%zu.components.tsv", number);
        return err ? err : write_printed(folder, name, recording, print_components);
}

int folder_finish(struct folder *folder)
{
        int err = portable_rename_new(folder->staging, folder->path);

        if (err < 0)
                return say(folder->path, err);
        free(TAKE_PTR(folder->staging));
        closep(&folder->fd);
        return 0;
}

void folder_clear(struct folder *folder)
{
        if (folder->staging) {
                empty(folder->fd, 1);
                (void)rmdir(folder->staging);
                closep(&folder->fd);
        }
        free(folder->staging);
        free(folder->path);
        *folder = (struct folder){ 0 };
}
