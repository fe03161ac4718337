/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The list of settings that calibration may change on this machine, with the range of each value. It checks the writes
 * of the parts and the content of a journal; nothing that is not listed can be changed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTING_VALUE_MAX 64
#define SETTING_NAME_MAX 180 /* fits a line of the journal */

/*
 * Settings that are not files of the kernel. Their names begin with @prefix, e.g. "nl80211:", and are in the
 * list like the others. @name is the full name. read: 0; -ENOENT: this machine has none.
 */
struct setting_medium {
        const char *prefix;
        int (*read)(int root_fd, const char *name, char *buf, size_t size);
        int (*write)(int root_fd, const char *name, const char *value);
};

extern const struct setting_medium power_save_medium, screen_medium;

struct attribute {
        const char *pattern;         /* fnmatch(3) with FNM_PATHNAME and FNM_PERIOD */
        const char *const *words;    /* allowed words, ended by NULL; else it is a number: */
        uint64_t min, max;           /* values that may be restored */
        uint64_t own_min;            /* lowest value that calibration itself may write; 0: @min */
        const char *none;            /* value that the kernel shows if nothing can be set */
        bool word;                   /* any lower-case word; the kernel checks it */
        bool bracketed;              /* the kernel lists all words and brackets the current one */
        bool watched;                /* read back after each state, see settings_repeat() */
        bool persists;               /* survives a reboot */
        const char *affects[2];      /* settings that a write changes too: in the same folder, or whole
                                        patterns */
};

/* NULL: not on the list. */
const struct attribute *attribute_find(const char *name);

/* May we write @value? May it be restored (and have been read)? */
bool attribute_writable(const struct attribute *attribute, const char *value);
bool attribute_restorable(const struct attribute *attribute, const char *value);

/* May a write to @name change @other as well? */
bool attribute_affects(const struct attribute *attribute, const char *name, const char *other);

/*
 * Can be stored in a line of the journal and read back unchanged: no comment character, no leading or
 * trailing blanks, no control characters.
 */
bool attribute_plain_text(const char *text);

/* Is it the path of a scratch file of ours: absolute, without "..", named .joulecast-disk-*? */
bool attribute_scratch_name(const char *path);

/* Is it "/" of the running machine, and not a machine tree? */
bool hold_is_running_machine(int root_fd);

/* The current value. 0; -ENOENT; -EBADMSG: not a valid value of this setting; -errno. */
int attribute_read(int root_fd, const char *name, char value[SETTING_VALUE_MAX]);
int attribute_write(int root_fd, const char *name, const char *value);

/*
 * Does the kernel show @now in place of @wanted because firmware or heat limits the clock? The request is
 * still in force and shows again once the limit is gone.
 */
bool attribute_held_down(int root_fd, const char *name, const char *now, const char *wanted);

/* The device that the name belongs to now: the target of its link in /sys/class; "" if there is none. */
void attribute_device(int root_fd, const char *name, char *buf, size_t size);
