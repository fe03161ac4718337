/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * restore.ini, the journal of the settings to restore:
 *
 *     [journal]
 *     version = 1
 *     boot_id = 0e1d1ef5-3a0c-4b62-a1ea-3b83b0c7f5d2
 *     [setting 1]
 *     name = /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
 *     original = 1800000
 *     state = ours
 *     written = 1199999
 *     read = 1200000
 *     [file 2]
 *     name = /var/tmp/.joulecast-disk-a8Vx2k
 *     [end]
 *     entries = 2
 *     checksum = 8c6f3c1d0a554e1b
 *
 * It is replaced atomically, so it is complete or does not exist; the checksum detects damage by a bad disk.
 */

#include "attribute.h"
#include "util/log.h"

#define JOURNAL_DEVICE_MAX 160
#define JOURNAL_BOOT_MAX 64
#define BOOT_ID "0123456789abcdefABCDEF-"

enum journal_state {
        JOURNAL_UNTOUCHED, /* not written by us */
        JOURNAL_PENDING,   /* perhaps written: any value that is not the original is ours */
        JOURNAL_OURS,      /* written: `written`, which the driver shows as `read` */
        JOURNAL_FILE,      /* a scratch file, by its path */
        JOURNAL_STATES,
};

struct journal_entry {
        char name[SETTING_NAME_MAX + 1];
        char device[JOURNAL_DEVICE_MAX];    /* the device it belonged to; "" unknown */
        char original[SETTING_VALUE_MAX];
        enum journal_state state;
        char written[SETTING_VALUE_MAX];    /* "" if another setting's write changed it */
        char read[SETTING_VALUE_MAX];       /* "" not known yet */
};

struct journal {
        char boot_id[JOURNAL_BOOT_MAX];
        struct journal_entry *entries;
        size_t n, capacity;
};

void journal_clear(struct journal *journal);

/* NULL: not in the journal. */
struct journal_entry *journal_find(const struct journal *journal, const char *name);
int journal_add(struct journal *journal, const struct journal_entry *entry);

/* 0; -EBADMSG, logged: not a journal, or a setting that is not listed; -ENOMEM. */
int journal_parse(const char *text, size_t length, const char *name, const struct log *log,
                  struct journal *ret);

/* The text of @journal, with @all_pending as if each setting might be ours; free() it. NULL: no memory. */
char *journal_print(const struct journal *journal, bool all_pending, size_t *ret_length);

/*
 * Writes the journal so that it survives a power cut; creates its folder, 0700. Loading refuses a file that others own
 * or can write; -ENOENT: there is none.
 */
int journal_save(const struct journal *journal, bool all_pending, const char *path, const struct log *log);
int journal_load(const char *path, const struct log *log, struct journal *ret);
int journal_remove(const char *path, const struct log *log);

/* Boot id of the machine at @root_fd; "" if it has none. */
void journal_boot_id(int root_fd, char boot_id[JOURNAL_BOOT_MAX]);
