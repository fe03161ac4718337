/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "options.h"
#include "replay.h"
#include "util/text.h"
#include "util/util.h"

static int say(const char *path, int err)
{
        char printable[256];

        log_error(&program_log, "%s cannot be written: %s", util_printable(path, printable, sizeof(printable)), util_reason(err));
        return err;
}

int folder_open(const char *path, struct folder *ret)
{
        _cleanup_(folder_clear) struct folder folder = { 0 };
        _cleanup_free_ char *runs = NULL;
        size_t length = strlen(path);
        struct stat status;
        mode_t mask;

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
        if (asprintf(&folder.staging, "%s.new-XXXXXX", folder.path) < 0) {
                folder.staging = NULL;
                return -ENOMEM;
        }
        if (!mkdtemp(folder.staging)) {
                int err = say(folder.path, -errno);

                free(folder.staging);
                folder.staging = NULL;
                return err;
        }
        mask = umask(0);
        umask(mask);
        if (asprintf(&runs, "%s/runs", folder.staging) < 0)
                return -ENOMEM;
        if (chmod(folder.staging, 0777 & ~mask) < 0 || mkdir(runs, 0777) < 0)
                return say(folder.path, -errno);
        *ret = folder;
        folder = (struct folder){ 0 };
        return 0;
}

int folder_write(const struct folder *folder, const char *name, const char *text, size_t length)
{
        _cleanup_free_ char *path = NULL;
        int err;

        if (asprintf(&path, "%s/%s", folder->staging, name) < 0)
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
        fputs("stack\tsamples\tcpu_ns\tgpu_ns\tcpu_nj\tdisk_nj\twifi_nj\tgpu_nj\tvariance_nj2\tlargest_nj\tdisk_write_bytes\t"
              "disk_read_bytes\tnet_sent_bytes\tnet_received_bytes\twakeups\tradio_wakes\n", file);
        for (size_t i = 0; i < recording->n; i++) {
                const struct line *line = &recording->lines[i];

                if (!is_used(line))
                        continue;
                fputs("app;", file);
                print_stack(file, recording, i);
                fprintf(file, "\t%llu\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.6g\t%.6g\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%llu\n",
                        (unsigned long long)line->samples, line->cpu_ns, line->gpu_ns, line->energy_nj[COMPONENT_CPU],
                        line->energy_nj[COMPONENT_DISK], line->energy_nj[COMPONENT_WIFI], line->energy_nj[COMPONENT_GPU],
                        line->variance_nj2, line->largest_nj, line->count[EVENT_DIRTY], line->count[EVENT_READ], line->count[EVENT_SEND],
                        line->count[EVENT_RECEIVE], line->count[EVENT_SLEEP], (unsigned long long)line->radio_wakes);
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
        if (renameat2(AT_FDCWD, folder->staging, AT_FDCWD, folder->path, RENAME_NOREPLACE) < 0)
                return say(folder->path, -errno);
        free(folder->staging);
        folder->staging = NULL;
        return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
        (void)remove(path);
        return 0;
}

void folder_clear(struct folder *folder)
{
        if (folder->staging)
                nftw(folder->staging, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        free(folder->staging);
        free(folder->path);
        *folder = (struct folder){ 0 };
}
