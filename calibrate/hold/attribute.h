/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The fixed list of what calibration may change on this machine, with the range of each value. It judges what
 * parts ask for, and what a journal says; nothing else can be changed through settings.h at all.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTING_VALUE_MAX 64
#define SETTING_NAME_MAX 180 /* a line of the journal holds it */

/*
 * Settings that are no file of the kernel. Their names begin with @prefix, "nl80211:", and have rows in the
 * list like the others. @name is whole. read: 0, a line without its end; -ENOENT: this machine has none.
 */
struct setting_medium {
        const char *prefix;
        int (*read)(int root_fd, const char *name, char *buf, size_t size);
        int (*write)(int root_fd, const char *name, const char *value);
};

extern const struct setting_medium power_save_medium, screen_medium;

struct attribute {
        const char *pattern;         /* fnmatch(3) with FNM_PATHNAME and FNM_PERIOD */
        const char *const *words;    /* what it may be, ended by NULL; else a number: */
        uint64_t min, max;           /* what it may be put back to */
        uint64_t own_min;            /* what calibration itself may write; 0: @min */
        const char *none;            /* what the kernel shows where there is nothing to set */
        bool word;                   /* any one lower-case word; the kernel knows which there are */
        bool bracketed;              /* the kernel lists all words and brackets the one of now */
        bool persists;               /* outlives a reboot */
        const char *affects[2];      /* a write changes these too: in the same folder, or whole patterns */
};

/* NULL: not on the list. */
const struct attribute *attribute_find(const char *name);

/* May @value be written by us; may it be put back (or have been read). */
bool attribute_writable(const struct attribute *attribute, const char *value);
bool attribute_restorable(const struct attribute *attribute, const char *value);

/* Whether a write to the setting @name may change the setting @other as well. */
bool attribute_affects(const struct attribute *attribute, const char *name, const char *other);

/*
 * A line of the journal can say it, and reads the same:
 * no comment in it, no blanks around it, no control characters.
 */
bool plain_text(const char *text);

/* A scratch file of ours: absolute, no "..", .joulecast-disk-* in its last part. */
bool scratch_name(const char *path);

/* The root of this machine, and not a folder with its files as some other shows them. */
bool is_running_machine(int root_fd);

/*
 * The value of now, cut to what can be compared.
 * 0; -ENOENT; -EBADMSG: not a value of such a setting; -errno.
 */
int attribute_read(int root_fd, const char *name, char value[SETTING_VALUE_MAX]);
int attribute_write(int root_fd, const char *name, const char *value);

/*
 * Whether the kernel shows @now in place of @wanted because firmware or a hot chip holds the clock down: the
 * request stands behind it unseen, and comes back when it is cool.
 */
bool attribute_held_down(int root_fd, const char *name, const char *now, const char *wanted);

/* Which device has the name: the link's target in /sys/class; "" where there is none, or no plain text. */
void attribute_device(int root_fd, const char *name, char *buf, size_t size);
