/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "restore-now.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "settings.h"
#include "util.h"

static int restore(const char *journal, const struct log *log, struct restore_report *report)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : settings_restore(root_fd, journal, log, report);
}

int restore_first(const char *journal, const struct log *log)
{
        struct restore_report report;
        bool there = access(journal, F_OK) == 0;
        int err = restore(journal, log, &report);

        if (err == -EIO)
                log_error(log, "an earlier calibration was cut short, and %zu settings of it could not be put back; "
                          "none is started before they are", report.failed);
        else if (!err && there)
                log_warning(log, "an earlier calibration was cut short; %zu settings were put back, %zu were as before, "
                            "%zu were left as somebody else has set them", report.restored, report.kept, report.left);
        return err;
}

/* What is said of each setting that was put back is for the reader here, not for a debugger. */
static void on_sentence(void *data, enum log_level level, const char *sentence)
{
        const struct log *log = data;

        if (level == LOG_LEVEL_DEBUG)
                printf("%s\n", sentence);
        else
                log_write(log, level, "%s", sentence);
}

static void print_json(const struct restore_report *report)
{
        printf("{\"restored\": %zu, \"kept\": %zu, \"left\": %zu, \"failed\": %zu}\n", report->restored, report->kept,
               report->left, report->failed);
}

static void print_text(const struct restore_report *report)
{
        printf("%zu put back, %zu were as before, %zu left as somebody else has set them, %zu failed\n",
               report->restored, report->kept, report->left, report->failed);
}

int restore_by_hand(const char *journal, bool json, const struct log *log)
{
        struct log copy = *log, said = { .handler = on_sentence, .data = &copy };
        struct restore_report report;
        bool there = access(journal, F_OK) == 0;
        int err = restore(journal, json ? log : &said, &report);

        if (err && err != -EIO)
                return err; /* has said its sentence */
        if (json)
                print_json(&report);
        else if (there)
                print_text(&report);
        else
                printf("No calibration%s was interrupted; there is nothing to put back.\n",
                       geteuid() ? " of yours (root's are put back by root)" : "");
        return err;
}
